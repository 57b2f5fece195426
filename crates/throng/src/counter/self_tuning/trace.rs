//! Who is where in the tree: the `Tracing` array of ST07, and the read-and-follow-link operation of
//! its section 5.4 (Figures 11 and 12).
//!
//! Whoever changes the tree must know exactly which tokens went the old way. A token that reads a
//! link and then writes down where it goes could be missed in between. So it first writes down
//! *which link* it is about to follow; whoever finds that note reads the link in its place and
//! completes it, and the token goes where its own word says in the end.
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
//! Its own processor writes it with a store; others may only complete a move that is under way, 1 to
//! 2 or 3, by a compare-exchange. The number of moves makes every move another word: see *Differs
//! from the paper* in the [module docs](super).

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use crate::machine::{Line, Machine, PerCpu, Place, Word};

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Balancer,
    Leaf,
}

/// The link to a node: to its balancer, or to the leaf that stands in for it.
///
/// | value | it leads to |
/// |---|---|
/// | 0 | the leaf |
/// | 1 | the balancer |
#[derive(Debug)]
pub(super) struct Link<M: Machine>(Line<M::Word>);

impl<M: Machine> Link<M> {
    pub(super) fn new(node: usize) -> Self {
        Link(Line::word::<M>(0, Place::named("link").index(node)))
    }

    #[inline]
    pub(super) fn kind(&self) -> Kind {
        if self.0.load(Acquire) == 0 { Kind::Leaf } else { Kind::Balancer }
    }

    pub(super) fn set(&self, kind: Kind) {
        self.0.store(u64::from(kind == Kind::Balancer), Release);
    }
}

/// Where a processor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Outside,
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

/// The same move, in another state.
const fn with_state(word: u64, state: u64) -> u64 {
    word & !((1 << STATE_BITS) - 1) | state
}

/// The next move after that of `word`.
const fn next_move(word: u64, node: usize, state: u64) -> u64 {
    (word & !(ONE_MOVE - 1)).wrapping_add(ONE_MOVE) | (node as u64) << STATE_BITS | state
}

/// The move of `word`, completed.
const fn arrived(word: u64, kind: Kind) -> u64 {
    match kind {
        Kind::Balancer => with_state(word, AT_BALANCER),
        Kind::Leaf => with_state(word, AT_LEAF),
    }
}

/// Where a processor with this word is; none while it is under way.
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
pub(super) struct Trace<M: Machine>(Line<M::Word>);

impl<M: Machine> Trace<M> {
    /// Follows `link`, the link to `node`, and tells where it led. Only for the processor itself.
    #[inline]
    pub(super) fn follow(&self, node: usize, link: &Link<M>) -> Kind {
        let under_way = next_move(self.0.load(Relaxed), node, FOLLOWING);
        self.0.store(under_way, Release);
        // Either we see a link that was switched, or whoever switched it sees us.
        M::fence(SeqCst);
        let arrived = arrived(under_way, link.kind());
        let word = match self.0.compare_exchange(under_way, arrived, AcqRel, Acquire) {
            Ok(_) => arrived,
            Err(completed_by_another) => completed_by_another,
        };
        if state(word) == AT_LEAF { Kind::Leaf } else { Kind::Balancer }
    }

    /// The processor leaves the tree. Only for the processor itself, and under the lock of its leaf.
    #[inline]
    pub(super) fn leave(&self) {
        self.0.store(next_move(self.0.load(Relaxed), 0, OUTSIDE), Release);
    }

    /// Where the processor is, after helping it to arrive.
    fn position<'a>(&self, link: impl Fn(usize) -> &'a Link<M>) -> Position {
        let mut word = self.0.load(Acquire);
        loop {
            if let Some(position) = position(word) {
                return position;
            }
            // As the processor itself: its note before the link.
            M::fence(SeqCst);
            let arrived = arrived(word, link(node(word)).kind());
            word = match self.0.compare_exchange(word, arrived, AcqRel, Acquire) {
                Ok(_) => arrived,
                Err(moved_on) => moved_on,
            };
        }
    }
}

/// The traces of all processors that ever came.
#[derive(Debug)]
pub(super) struct Traces<M: Machine>(PerCpu<Trace<M>>);

impl<M: Machine> Traces<M> {
    pub(super) fn new() -> Self {
        let place = |id: usize| Place::named("trace").index(id).near(id);
        Traces(PerCpu::new(move |id| Trace(Line::word::<M>(OUTSIDE, place(id)))))
    }

    /// The trace of processor `id`.
    #[inline]
    pub(super) fn of(&self, id: usize) -> &Trace<M> {
        self.0.get(id)
    }

    /// Where each processor is, one after another; `link` finds the link to a node.
    ///
    /// A link switched before this is seen by everyone who is not found to have followed it.
    pub(super) fn positions<'a>(
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
    fn words_tell_who_is_where_and_every_move_is_another() {
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
    fn a_move_under_way_is_completed_by_whoever_looks() {
        let traces = Traces::<Native>::new();
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
