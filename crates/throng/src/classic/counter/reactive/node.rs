//! A node of the tree: its state, and the numbers that it hands out if it is a counter.
//!
//! A node on level k that is reached by the sides s0, s1, .. (0 for left) stands for the numbers
//! that are s0 + 2 s1 + .. modulo 2^k. They are counted here by their *ordinals*: 0 is the first of
//! them, 1 the second. The left child of a node stands for its even ordinals, the right child for
//! the odd ones.

use std::sync::atomic::Ordering::{Acquire, Release};

use super::policy::Streaks;
use super::state::{Role, State};
use crate::classic::counter::diffracting::Side;
use crate::lock::{Guarded, McsLock};
use crate::machine::{Line, Machine, Place, Word};

/// A node of the tree.
#[derive(Debug)]
pub(super) struct Node<M: Machine> {
    /// Changed under the counter's lock. It is on a line of its own, because every token that comes
    /// by reads it, and it is rarely changed.
    state: Line<M::Word>,
    pub(super) counter: Guarded<Counter, McsLock<M>, M>,
}

/// The numbers that a node hands out, and the waits of its last callers.
#[derive(Debug, Default)]
pub(super) struct Counter {
    /// The ordinal of the next number.
    pub(super) next: u64,
    /// If the node is draining: one past the last ordinal that it may hand out.
    pub(super) limit: u64,
    pub(super) streaks: Streaks,
}

impl<M: Machine> Node<M> {
    pub(super) fn new(index: usize, role: Role) -> Self {
        let place = Place::named("node state").index(index);
        let state = Line::word::<M>(State::first(role).pack(), place);
        Node { state, counter: Guarded::new(Counter::default()) }
    }

    #[inline]
    pub(super) fn state(&self) -> State {
        State::unpack(self.state.load(Acquire))
    }

    /// Stores the state. The caller must hold the counter's lock.
    pub(super) fn set_state(&self, state: State) {
        self.state.store(state.pack(), Release);
    }
}

/// Returns the number with this ordinal at the node `index`.
#[inline]
pub(super) const fn number(index: usize, ordinal: u64) -> u64 {
    let level = index.ilog2();
    // The highest bit of the index is no side. The next one is the first side, and has the lowest
    // weight.
    let first = (index as u64).reverse_bits() >> (63 - level) >> 1;
    first + (ordinal << level)
}

/// The result of folding two counters.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    /// The ordinal at which the parent continues.
    pub(super) next: u64,
    /// The child that is behind, and its limit, if it has numbers left that the parent will not
    /// hand out (RDT97 Figure 3, second case).
    pub(super) behind: Option<(Side, u64)>,
}

/// Folds children with these next ordinals.
///
/// The parent continues right below the larger of the two, counted in its own ordinals. If they are
/// adjacent, that is the smaller one. Ordinals left below it belong to the child with the smaller
/// one.
pub(super) fn fold(left: u64, right: u64) -> Folded {
    let (in_left, in_right) = (2 * left, 2 * right + 1);
    let next = in_left.max(in_right) - 1;
    let (behind, ordinal) =
        if in_left < in_right { (Side::Left, left) } else { (Side::Right, right) };
    let limit = next / 2;
    Folded { next, behind: (ordinal < limit).then_some((behind, limit)) }
}

/// Unfolds a counter with this next ordinal. Returns the next ordinals of its left and right child,
/// and the side to which the first token has to go (RDT97 Figure 4).
pub(super) fn unfold(next: u64) -> (u64, u64, Side) {
    (next.div_ceil(2), next / 2, Side::of(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_and_its_children_stand_for_the_same_numbers() {
        assert_eq!((number(1, 7), number(2, 3), number(3, 3)), (7, 6, 7));
        // Left, then right: 2, 6, 10, ...
        assert_eq!([number(5, 0), number(5, 1), number(5, 2)], [2, 6, 10]);
        for index in 1..200 {
            for ordinal in 0..20 {
                let child = 2 * index + (ordinal % 2) as usize;
                assert_eq!(number(index, ordinal), number(child, ordinal / 2));
            }
        }
    }

    #[test]
    fn adjacent_children_fold_into_the_smaller() {
        assert_eq!(fold(3, 3), Folded { next: 6, behind: None });
        assert_eq!(fold(4, 3), Folded { next: 7, behind: None });
    }

    #[test]
    fn a_child_that_is_behind_keeps_what_it_has_left() {
        // Left has 2, 4, 6 .. to give, right 7, 9, ..: 2 and 4 are left, and the parent continues
        // at 6.
        assert_eq!(fold(1, 3), Folded { next: 6, behind: Some((Side::Left, 3)) });
        // Left has 8, 10, .., right 1, 3, 5, 7: the parent continues at 7.
        assert_eq!(fold(4, 0), Folded { next: 7, behind: Some((Side::Right, 3)) });
    }

    #[test]
    fn folding_what_was_unfolded_changes_nothing() {
        for next in 0..50 {
            let (left, right, first) = unfold(next);
            assert_eq!(fold(left, right), Folded { next, behind: None });
            let of_first = if first == Side::Left { 2 * left } else { 2 * right + 1 };
            assert_eq!(of_first, next, "the first token gets the next number");
        }
    }

    /// Folding two children loses no number and gives none twice, whatever the children have given.
    #[test]
    fn every_ordinal_has_one_owner() {
        for (left, right) in (0..12).flat_map(|left| (0..12).map(move |right| (left, right))) {
            let Folded { next, behind } = fold(left, right);
            let owners = |ordinal: u64| {
                let given = if Side::of(ordinal) == Side::Left {
                    ordinal / 2 < left
                } else {
                    ordinal / 2 < right
                };
                let drained = behind.is_some_and(|(side, limit)| {
                    side == Side::of(ordinal) && ordinal / 2 < limit && !given
                });
                u32::from(given) + u32::from(drained) + u32::from(ordinal >= next)
            };
            assert!((0..40).all(|ordinal| owners(ordinal) == 1), "{left} {right}");
        }
    }
}
