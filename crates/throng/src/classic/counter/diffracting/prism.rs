//! The parts that balancers with a prism share: the prism, where tokens meet, and the locked
//! toggle, for tokens that met no other.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{Node, Side, Token};
use crate::machine::{Cpu, Line, Machine, Place, Word};

/// The value of an empty slot; processor `id` is written as `id + 1`.
const NO_TOKEN: u64 = 0;

/// An array of slots into which tokens write their ids.
#[derive(Debug)]
pub(super) struct Prism<M: Machine> {
    /// Each has the last processor that passed, which may have left long ago.
    slots: Box<[Line<M::Word>]>,
}

impl<M: Machine> Prism<M> {
    pub(super) fn new(node: Node) -> Self {
        let slot = |_| Line::word::<M>(NO_TOKEN, Place::named("prism").index(node.index));
        Prism { slots: (0..node.prism).map(slot).collect() }
    }

    /// A random slot among the first `most`.
    #[inline]
    fn random_slot(&self, token: &Token<'_, M>, most: usize) -> &M::Word {
        &self.slots[token.cpu.random_below(self.slots.len().min(most))]
    }

    /// Writes the id of this token into a random slot.
    #[inline]
    pub(super) fn leave_word(&self, token: &Token<'_, M>) {
        self.random_slot(token, usize::MAX).store(token.id() as u64 + 1, Release);
    }

    /// Phase 1: writes the id of this token into a random slot and tries to pair with the token
    /// whose id was there.
    ///
    /// The token must be announced at `node`. Returns `None` if it met no token; then it is still
    /// announced.
    #[inline]
    pub(super) fn meet(&self, token: &Token<'_, M>, node: u64) -> Option<Side> {
        self.meet_within(token, node, usize::MAX)
    }

    /// Does the same as [`meet`](Self::meet) in one of the first `most` slots, at least one.
    #[inline]
    pub(super) fn meet_within(&self, token: &Token<'_, M>, node: u64, most: usize) -> Option<Side> {
        let me = token.id() as u64 + 1;
        let found = self.random_slot(token, most).swap(me, AcqRel);
        if found == NO_TOKEN || found == me {
            return None;
        }
        // A token that tries to pair must not be paired with meanwhile.
        if !token.withdraw(node) {
            return Some(Side::Right);
        }
        if token.diffract(found as usize - 1, node) {
            return Some(Side::Left);
        }
        token.announce(node);
        None
    }
}

/// The result of an attempt at the toggle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// Another token holds the lock.
    Busy,
    /// The toggle sent the token this way.
    Toggled(Side),
    /// Another token had diffracted this one meanwhile.
    Diffracted,
    /// The toggle has been set anew since the token came; the token is not announced any more.
    Over,
}

/// The setting of a toggle for which a token has come, if a balancer is used more than once: 0 for
/// the first. Tokens of different settings never meet.
pub(in crate::classic::counter) type Setting = u64;

/// The largest setting; the next one is 0 again.
pub(in crate::classic::counter) const LAST_SETTING: Setting = (1 << 31) - 1;

/// Returns the value that a token announces at balancer `node`. For the first setting it is the
/// node alone.
#[inline]
pub(super) const fn spot(node: u64, setting: Setting) -> u64 {
    node | setting << 32
}

/// A toggle and its lock, on one line.
#[derive(Debug)]
pub(super) struct LockedToggle<M: Machine>(Line<Inner<M>>);

#[derive(Debug)]
struct Inner<M: Machine> {
    lock: M::Word,
    /// Twice the setting, and 1 if the next token goes right. Changed under the lock.
    turn: M::Word,
}

impl<M: Machine> LockedToggle<M> {
    pub(super) fn new(node: Node) -> Self {
        let place = Place::named("toggle").index(node.index);
        LockedToggle(Line::new::<M>(place, |spot| Inner {
            lock: M::Word::new(0, spot),
            turn: M::Word::new(0, spot),
        }))
    }

    /// Returns the side of the next token. Only while no token is inside.
    pub(super) fn next(&self) -> Side {
        Side::of(self.0.turn.load(Relaxed))
    }

    /// Phase 2: tries once to take the lock and pass the toggle. The token must be announced at the
    /// spot of `node` and `setting`. It is still announced if the result is `Busy`.
    #[inline]
    pub(super) fn attempt(&self, token: &Token<'_, M>, node: u64, setting: Setting) -> Attempt {
        let Inner { lock, turn } = &*self.0;
        if lock.load(Relaxed) != 0 || lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return Attempt::Busy;
        }
        let outcome = if !token.withdraw(spot(node, setting)) {
            Attempt::Diffracted
        } else {
            let before = turn.load(Relaxed);
            if before >> 1 == setting {
                turn.store(before ^ 1, Relaxed);
                token.note_toggled(node);
                Attempt::Toggled(Side::of(before))
            } else {
                Attempt::Over
            }
        };
        lock.store(0, Release);
        outcome
    }

    /// Sets the toggle anew: from now on, tokens of `setting` pass, the next of them to `side`.
    pub(super) fn set(&self, cpu: &M::Cpu, setting: Setting, side: Side) {
        let Inner { lock, turn } = &*self.0;
        while lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            lock.wait_while(cpu, Relaxed, |lock| lock != 0);
        }
        turn.store(setting << 1 | side as u64, Relaxed);
        lock.store(0, Release);
    }
}
