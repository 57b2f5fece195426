//! The lock of a leaf: tokens wait for it, and adjustments give way to those of nodes above (ST07
//! section 5.4, `AcquireLock_cond`).
//!
//! A token that finds the lock taken, or others in the queue, draws a ticket and waits for its turn
//! to wait for the lock. So when the lock is freed, at most one token tries to get it, besides
//! adjustments and tokens that have just seen an empty queue. No token passes the queue for long:
//! when it comes back it finds the queue, and goes to its end.
//!
//! # The lock word
//!
//! | `holder` | the holder |
//! |---|---|
//! | 0 | none |
//! | n, a node | an adjustment of node n: a grow of leaf n or a shrink of balancer n |
//! | 2^64 - 1 | a token that takes its number |
//!
//! `drawn` and `turn` count tickets: the token that drew t waits while `turn` is less than t. While
//! they differ there is a queue.
//!
//! ## Memory ordering
//! The compare-exchange that finds the lock free acquires what the store in `release` released.
//! Tickets order nothing: a token that sees an old value is once more out of turn, or in a queue of
//! one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::machine::{Line, Machine, Place, Word};

const FREE: u64 = 0;
const TOKEN: u64 = u64::MAX;

/// Returns whether node `above` is `node` or one of its ancestors.
#[inline]
pub(super) fn is_same_or_above(above: usize, node: usize) -> bool {
    above <= node && node >> (node.ilog2() - above.ilog2()) == above
}

/// A lock that an adjustment gets unless an adjustment of the same node or of an ancestor has it.
#[derive(Debug)]
pub(super) struct ConditionalLock<M: Machine> {
    holder: M::Word,
    /// The number of tickets drawn.
    drawn: Line<M::Word>,
    /// The ticket whose token may wait for the lock.
    turn: Line<M::Word>,
}

impl<M: Machine> ConditionalLock<M> {
    /// Returns the lock of leaf `node`, placed beside the data that it protects.
    pub(super) fn new(spot: &M::Spot, node: usize) -> Self {
        let word = |name| Line::word::<M>(0, Place::named(name).index(node));
        ConditionalLock {
            holder: M::Word::new(FREE, spot),
            drawn: word("ticket"),
            turn: word("turn"),
        }
    }

    #[inline]
    fn try_acquire(&self, me: u64) -> Result<(), u64> {
        self.holder.compare_exchange(FREE, me, Acquire, Relaxed).map(drop)
    }

    /// Waits for the lock, whatever the holder, takes it for a token, runs `f` and frees it.
    #[inline]
    pub(super) fn with<R>(&self, cpu: &M::Cpu, f: impl FnOnce() -> R) -> R {
        let queued = self.drawn.load(Relaxed) != self.turn.load(Relaxed);
        let in_turn = queued || self.try_acquire(TOKEN).is_err();
        let ticket = in_turn.then(|| self.acquire_in_turn(cpu));
        let result = f();
        self.release();
        if let Some(ticket) = ticket {
            // Not before: the next in turn would take the line away while `f` runs.
            self.turn.store(ticket + 1, Relaxed);
        }
        result
    }

    #[cold]
    fn acquire_in_turn(&self, cpu: &M::Cpu) -> u64 {
        let ticket = self.drawn.fetch_add(1, Relaxed);
        self.turn.wait_while(cpu, Relaxed, |turn| turn != ticket);
        let got = self.acquire_unless(cpu, TOKEN, |_| false);
        debug_assert!(got, "a token waits without limit");
        ticket
    }

    /// Waits for the lock and takes it for an adjustment of `node`. Returns false as soon as an
    /// adjustment of the same node or of an ancestor has it.
    pub(super) fn acquire_for(&self, cpu: &M::Cpu, node: usize) -> bool {
        let goes_first = |holder: u64| holder != TOKEN && is_same_or_above(holder as usize, node);
        self.acquire_unless(cpu, node as u64, goes_first)
    }

    fn acquire_unless(&self, cpu: &M::Cpu, me: u64, goes_first: impl Fn(u64) -> bool) -> bool {
        let goes_first = |holder: u64| holder != FREE && goes_first(holder);
        loop {
            match self.try_acquire(me) {
                Ok(()) => return true,
                Err(holder) if goes_first(holder) => return false,
                Err(_) => {}
            }
            let blocked = |holder: u64| holder != FREE && !goes_first(holder);
            if goes_first(self.holder.wait_while(cpu, Relaxed, blocked)) {
                return false;
            }
        }
    }

    /// Frees the lock, which the caller must hold.
    #[inline]
    pub(super) fn release(&self) {
        self.holder.store(FREE, Release);
    }

    /// Returns whether the lock is free.
    pub(super) fn is_free(&self) -> bool {
        self.holder.load(Acquire) == FREE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;
    use std::sync::mpsc::{self, RecvTimeoutError};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn ancestors_are_distinguished_from_other_nodes() {
        for (above, node) in [(1, 1), (1, 2), (1, 13), (3, 13), (6, 13), (13, 13)] {
            assert!(is_same_or_above(above, node), "{above} {node}");
        }
        for (above, node) in [(2, 1), (2, 3), (2, 13), (7, 13), (26, 13)] {
            assert!(!is_same_or_above(above, node), "{above} {node}");
        }
    }

    #[test]
    fn an_adjustment_gives_way_to_those_above() {
        let lock = Line::new::<Native>(Place::named("test"), |spot| {
            ConditionalLock::<Native>::new(spot, 13)
        });
        let cpu = Native::cpu();
        assert!(lock.acquire_for(&cpu, 3));
        thread::scope(|scope| {
            let (is_done, done) = mpsc::channel::<()>();
            // An adjustment that waits in place of giving way gets the lock from here, and the test fails.
            let lock = &lock;
            scope.spawn(move || {
                while done.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                    lock.release();
                }
            });
            assert!(!lock.acquire_for(&cpu, 3), "the same node");
            assert!(!lock.acquire_for(&cpu, 13), "below");
            drop(is_done);
        });
        lock.release();
        lock.with(&cpu, || assert!(!lock.is_free()));
        assert!(lock.acquire_for(&cpu, 13));
    }
}
