//! The pieces that balancers with a prism share: the prism, where tokens meet, and the locked
//! toggle, for those that met nobody.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{Node, Side, Token};
use crate::machine::{Cpu, Line, Machine, Place, Word};

/// An empty slot; processor `id` is written as `id + 1`.
const NOBODY: u64 = 0;

/// An array of slots in which tokens leave word of themselves.
#[derive(Debug)]
pub(super) struct Prism<M: Machine> {
    /// Each the last processor that passed, which may be long gone.
    slots: Box<[Line<M::Word>]>,
    /// The balancer this prism belongs to.
    node: u64,
}

impl<M: Machine> Prism<M> {
    pub(super) fn new(node: Node) -> Self {
        let slot = |_| Line::word::<M>(NOBODY, Place::named("prism").index(node.index));
        Prism { slots: (0..node.prism).map(slot).collect(), node: node.index as u64 }
    }

    /// Leaves word of this token in a random slot; returns the other processor that was there.
    #[inline]
    pub(super) fn leave_word(&self, token: &Token<'_, M>) -> Option<usize> {
        let slot = &self.slots[token.cpu.random_below(self.slots.len())];
        let me = token.id() as u64 + 1;
        let found = slot.swap(me, AcqRel);
        (found != NOBODY && found != me).then(|| found as usize - 1)
    }

    /// Phase 1: tries to pair with the token that was last in a random slot.
    ///
    /// The token must be announced. `None`: it met nobody and is announced still.
    #[inline]
    pub(super) fn meet(&self, token: &Token<'_, M>) -> Option<Side> {
        let other = self.leave_word(token)?;
        // Whoever pairs with another must not be paired with meanwhile.
        if !token.withdraw(self.node) {
            return Some(Side::Right);
        }
        if token.diffract(other, self.node) {
            return Some(Side::Left);
        }
        token.announce(self.node);
        None
    }
}

/// What came of an attempt at the toggle.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// Someone else holds the lock.
    Busy,
    /// The toggle sent the token this way.
    Toggled(Side),
    /// Someone had diffracted the token meanwhile.
    Diffracted,
}

/// A toggle under a lock, neighbours on one line.
#[derive(Debug)]
pub(super) struct LockedToggle<M: Machine> {
    line: Line<Inner<M>>,
    node: u64,
}

#[derive(Debug)]
struct Inner<M: Machine> {
    lock: M::Word,
    /// Tokens that have passed the toggle. Changed under the lock.
    passed: M::Word,
}

impl<M: Machine> LockedToggle<M> {
    pub(super) fn new(node: Node) -> Self {
        let place = Place::named("toggle").index(node.index);
        let inner =
            |spot: &M::Spot| Inner { lock: M::Word::new(0, spot), passed: M::Word::new(0, spot) };
        LockedToggle { line: Line::new::<M>(place, inner), node: node.index as u64 }
    }

    /// Phase 2: tries once to take the lock and pass the toggle. The token must be announced; it
    /// is announced still if the answer is `Busy`.
    #[inline]
    pub(super) fn attempt(&self, token: &Token<'_, M>) -> Attempt {
        let Inner { lock, passed } = &*self.line;
        if lock.load(Relaxed) != 0 || lock.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            return Attempt::Busy;
        }
        let outcome = if token.withdraw(self.node) {
            let before = passed.load(Relaxed);
            passed.store(before.wrapping_add(1), Relaxed);
            Attempt::Toggled(Side::of(before))
        } else {
            Attempt::Diffracted
        };
        lock.store(0, Release);
        outcome
    }
}
