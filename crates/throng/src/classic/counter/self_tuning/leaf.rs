//! A leaf: its next number, its visitors, and the state of its policy.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::conditional_lock::ConditionalLock;
use super::policy::Account;
use super::trace::Trace;
use crate::machine::{Cell, Line, Machine, Place, Word};

/// A leaf, on five lines: tokens that arrive do not disturb the one that holds the lock, nor those
/// the one that decides.
#[derive(Debug)]
pub(super) struct Leaf<M: Machine> {
    counter: Line<Counter<M>>,
    /// The number of tokens that have come and not yet gone.
    visitors: Line<M::Word>,
    /// The state that decides when the leaf moves.
    pub(super) mind: Mind<M>,
}

#[derive(Debug)]
struct Counter<M: Machine> {
    lock: ConditionalLock<M>,
    /// The next number. Read and written under the lock.
    next: M::Word,
}

impl<M: Machine> Leaf<M> {
    pub(super) fn new(node: usize, account: Account) -> Self {
        Leaf {
            counter: Line::new::<M>(Place::named("leaf").index(node), |spot| Counter {
                lock: ConditionalLock::new(spot, node),
                next: M::Word::new(0, spot),
            }),
            visitors: Line::word::<M>(0, Place::named("visitors").index(node)),
            mind: Mind::new(node, account),
        }
    }

    pub(super) fn lock(&self) -> &ConditionalLock<M> {
        &self.counter.lock
    }

    /// Returns the next number. The caller must hold the lock.
    pub(super) fn next(&self) -> u64 {
        self.counter.next.load(Relaxed)
    }

    /// Sets the next number. The caller must hold the lock.
    pub(super) fn set_next(&self, next: u64) {
        self.counter.next.store(next, Relaxed);
    }

    /// Counts a token that comes. Returns the number of tokens that are there now.
    #[inline]
    pub(super) fn come(&self) -> u64 {
        self.visitors.fetch_add(1, Relaxed) + 1
    }

    /// Counts a token that goes.
    #[inline]
    pub(super) fn go(&self) {
        self.visitors.fetch_sub(1, Relaxed);
    }

    /// Returns the number of tokens that are there.
    pub(super) fn visitors(&self) -> u64 {
        self.visitors.load(Relaxed)
    }

    /// Takes the next of every `stride` numbers.
    ///
    /// The token leaves its trace under the lock. So for the holder of the lock, a token at the
    /// leaf is a token that has not got its number.
    #[inline]
    pub(super) fn take(&self, cpu: &M::Cpu, trace: &Trace<M>, stride: u64) -> u64 {
        self.lock().with(cpu, || {
            let number = self.next();
            self.set_next(number + stride);
            trace.leave();
            number
        })
    }
}

/// The state that decides when a leaf moves. One token at a time uses it; others do not wait for it
/// (`TokenToReact` of ST07).
///
/// | `taken` | |
/// |---|---|
/// | 0 | no token is deciding |
/// | 1 | a token at the leaf is deciding, or carrying out its decision |
///
/// | `vote` | |
/// |---|---|
/// | 0 | the leaf wants to stay, or to grow |
/// | l + 1 | it wants to shrink to level l |
#[derive(Debug)]
pub(super) struct Mind<M: Machine>(Line<Thoughts<M>>);

#[derive(Debug)]
struct Thoughts<M: Machine> {
    taken: M::Word,
    vote: M::Word,
    account: M::Cell<Account>,
}

impl<M: Machine> Mind<M> {
    fn new(node: usize, account: Account) -> Self {
        Mind(Line::new::<M>(Place::named("mind").index(node), |spot| Thoughts {
            taken: M::Word::new(0, spot),
            vote: M::Word::new(0, spot),
            account: M::Cell::new(account, spot),
        }))
    }

    /// Takes the account, to use and give back. Returns `None` if another token has it.
    #[inline]
    pub(super) fn try_take(&self) -> Option<Account> {
        self.0.taken.compare_exchange(0, 1, Acquire, Relaxed).ok()?;
        // SAFETY: only the token that turned 0 into 1 comes here until `give_back` writes 0.
        Some(unsafe { self.0.account.with_mut(|account| *account) })
    }

    /// Gives the account back, with its new value. Only after `try_take` returned it.
    #[inline]
    pub(super) fn give_back(&self, now: Account) {
        // SAFETY: the caller has taken it and no other token can until the store below.
        unsafe { self.0.account.with_mut(|account| *account = now) };
        self.0.taken.store(0, Release);
    }

    /// Starts anew with this account, at a leaf without tokens.
    pub(super) fn begin_with(&self, account: Account) {
        self.0.vote.store(0, Relaxed);
        // No token is there, so none has it. Otherwise only a decision would suffer.
        if self.try_take().is_some() {
            self.give_back(account);
        }
    }

    /// Votes to shrink to this level, or withdraws the vote.
    pub(super) fn vote(&self, level: Option<u32>) {
        let vote = level.map_or(0, |level| u64::from(level) + 1);
        if self.0.vote.load(Relaxed) != vote {
            self.0.vote.store(vote, Relaxed);
        }
    }

    /// Returns whether the leaf votes to shrink to this level or further.
    pub(super) fn votes_for(&self, level: u32) -> bool {
        let vote = self.0.vote.load(Relaxed);
        vote != 0 && vote <= u64::from(level) + 1
    }

    /// Returns whether no token is deciding.
    pub(super) fn is_free(&self) -> bool {
        self.0.taken.load(Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn one_at_a_time_decides() {
        let mind = Mind::<Native>::new(1, Account::new(8));
        let account = mind.try_take().unwrap();
        assert!(mind.try_take().is_none() && !mind.is_free());
        mind.give_back(account);
        assert_eq!(mind.try_take(), Some(account));
    }

    #[test]
    fn a_vote_is_for_a_level_and_all_below_it() {
        let mind = Mind::<Native>::new(9, Account::new(8));
        assert!(!mind.votes_for(2));
        mind.vote(Some(1));
        assert_eq!([0, 1, 2].map(|level| mind.votes_for(level)), [false, true, true]);
        mind.vote(None);
        assert!(!mind.votes_for(2));
    }
}
