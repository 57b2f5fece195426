//! The positions of the processors in the tree: the `Tracing` array of ST07, and the
//! read-and-follow-link operation of its section 5.4 (Figures 11 and 12).
//!
//! A processor that changes the tree must know exactly which tokens went the old way. A token that
//! reads a link and then writes its new position could be missed in between. So it first writes
//! *which link* it is about to follow. A processor that finds that entry reads the link in its
//! place and completes the entry. In the end the token goes to the position in its own word.
//!
//! # The trace word of a processor
//!
//! | bits 0..2 | bits 2..20 | bits 20..64 | the processor |
//! |---|---|---|---|
//! | 0 | 0 | moves so far | is not in the tree |
//! | 1 | n | moves so far | is following the link to node n |
//! | 2 | n | moves so far | is at balancer n |
//! | 3 | n | moves so far | is at leaf n and has not got its number yet |
//!
//! Its own processor writes it with a store. Others may only complete a move in progress, from 1 to
//! 2 or 3, by a compare-exchange. The number of moves makes the word of every move different: see
//! *Differs from the paper* in the [module docs](super).

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::machine::{Line, Machine, PerCpu, Place, Word};

/// The target of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A balancer.
    Balancer,
    /// A leaf.
    Leaf,
}

/// The link to a node: to its balancer, or to the leaf that takes the balancer's place.
///
/// | value | it leads to |
/// |---|---|
/// | 0 | the leaf |
/// | 1 | the balancer |
#[derive(Debug)]
pub struct Link<M: Machine>(Line<M::Word>);

impl<M: Machine> Link<M> {
    /// Returns a link that leads to the leaf.
    pub fn new(node: usize) -> Self {
        Link(Line::word::<M>(0, Place::named("link").index(node)))
    }

    /// Returns the kind of the target.
    #[inline]
    pub fn kind(&self) -> Kind {
        if self.0.load(Acquire) == 0 { Kind::Leaf } else { Kind::Balancer }
    }

    /// Switches the link.
    pub fn set(&self, kind: Kind) {
        self.0.store(u64::from(kind == Kind::Balancer), Release);
    }
}

/// The position of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Not in the tree.
    Outside,
    /// At the balancer or the leaf of a node.
    At(Kind, usize),
}

const OUTSIDE: u64 = 0;
const FOLLOWING: u64 = 1;
const AT_BALANCER: u64 = 2;
const AT_LEAF: u64 = 3;

const STATE_BITS: u32 = 2;
const NODE_BITS: u32 = 18;
const ONE_MOVE: u64 = 1 << (STATE_BITS + NODE_BITS);

const fn state(word: u64) -> u64 {
    word & ((1 << STATE_BITS) - 1)
}

const fn node(word: u64) -> usize {
    (word >> STATE_BITS) as usize & ((1 << NODE_BITS) - 1)
}

/// Returns the word of the same move, in another state.
const fn with_state(word: u64, state: u64) -> u64 {
    word & !((1 << STATE_BITS) - 1) | state
}

/// Returns the word of the move after that of `word`.
const fn next_move(word: u64, node: usize, state: u64) -> u64 {
    (word & !(ONE_MOVE - 1)).wrapping_add(ONE_MOVE) | (node as u64) << STATE_BITS | state
}

/// Returns the word of the same move, completed.
const fn arrived(word: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Balancer => with_state(word, AT_BALANCER),
        Kind::Leaf => with_state(word, AT_LEAF),
    }
}

/// Returns the position of a processor with this word, or `None` while it is moving.
const fn position(word: u64) -> Option<Position> {
    match state(word) {
        OUTSIDE => Some(Position::Outside),
        AT_BALANCER => Some(Position::At(Kind::Balancer, node(word))),
        AT_LEAF => Some(Position::At(Kind::Leaf, node(word))),
        _ => None,
    }
}

/// The trace of one processor.
#[derive(Debug)]
pub struct Trace<M: Machine>(Line<M::Word>);

impl<M: Machine> Trace<M> {
    /// Follows `link`, the link to `node`, and returns the kind of its target. Only for the
    /// processor itself.
    #[inline]
    pub fn follow(&self, node: usize, link: &Link<M>) -> Kind {
        let under_way = next_move(self.0.load(Relaxed), node, FOLLOWING);
        self.0.store(under_way, Release);
        // Either this processor sees a link that was switched, or the processor that switched it
        // sees this trace.
        M::fence(SeqCst);
        let arrived = arrived(under_way, link.kind());
        let word = match self.0.compare_exchange(under_way, arrived, AcqRel, Acquire) {
            Ok(_) => arrived,
            Err(completed_by_another) => completed_by_another,
        };
        if state(word) == AT_LEAF { Kind::Leaf } else { Kind::Balancer }
    }

    /// Records that the processor leaves the tree. Only for the processor itself, and under the
    /// lock of its leaf.
    #[inline]
    pub fn leave(&self) {
        self.0.store(next_move(self.0.load(Relaxed), 0, OUTSIDE), Release);
    }

    /// Returns the position of the processor, after completing its move.
    fn position<'a>(&self, link: impl Fn(usize) -> &'a Link<M>) -> Position {
        let mut word = self.0.load(Acquire);
        loop {
            if let Some(position) = position(word) {
                return position;
            }
            // As for the processor itself: the trace before the link.
            M::fence(SeqCst);
            let arrived = arrived(word, link(node(word)).kind());
            word = match self.0.compare_exchange(word, arrived, AcqRel, Acquire) {
                Ok(_) => arrived,
                Err(moved_on) => moved_on,
            };
        }
    }
}

/// The traces of all processors that have ever come.
#[derive(Debug)]
pub struct Traces<M: Machine>(PerCpu<Trace<M>>);

impl<M: Machine> Default for Traces<M> {
    fn default() -> Self {
        let place = |id: usize| Place::named("trace").index(id).near(id);
        Traces(PerCpu::new(move |id| Trace(Line::word::<M>(OUTSIDE, place(id)))))
    }
}

impl<M: Machine> Traces<M> {
    /// Returns the trace of processor `id`.
    #[inline]
    pub fn of(&self, id: usize) -> &Trace<M> {
        self.0.get(id)
    }

    /// Returns the position of each processor, one after another. `link` finds the link to a node.
    ///
    /// A link switched before this call is seen by every processor that is not found to have
    /// followed it.
    pub fn positions<'a>(
        &'a self,
        link: impl Fn(usize) -> &'a Link<M>,
    ) -> impl Iterator<Item = Position> {
        M::fence(SeqCst);
        self.0.iter().map(move |trace| trace.position(&link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn words_say_where_tokens_are_and_every_move_is_another() {
        let start = 7 * ONE_MOVE;
        let following = next_move(start, (1 << 17) - 1, FOLLOWING);
        assert_eq!((node(following), position(following)), ((1 << 17) - 1, None));
        for kind in [Kind::Leaf, Kind::Balancer] {
            let arrived = arrived(following, kind);
            assert_eq!(position(arrived), Some(Position::At(kind, (1 << 17) - 1)));
        }
        assert_ne!(following, next_move(following, (1 << 17) - 1, FOLLOWING));
        assert_eq!(position(next_move(u64::MAX, 0, OUTSIDE)), Some(Position::Outside));
    }

    #[test]
    fn a_move_under_way_is_completed_by_any_processor_that_looks() {
        let traces = Traces::<Native>::default();
        let links: Vec<Link<Native>> = (0..4).map(Link::new).collect();
        let trace = traces.of(3);
        assert_eq!(trace.follow(1, &links[1]), Kind::Leaf);
        links[2].set(Kind::Balancer);
        trace.0.store(next_move(0, 2, FOLLOWING), Release);
        let inside: Vec<Position> =
            traces.positions(|node| &links[node]).filter(|&at| at != Position::Outside).collect();
        assert_eq!(inside, [Position::At(Kind::Balancer, 2)]);
        trace.leave();
        assert!(traces.positions(|node| &links[node]).all(|at| at == Position::Outside));
    }
}
