//! Self-tuning reactive diffracting trees (Ha, Papatriantafilou and Tsigas 2007, ST07).
//!
//! A tree of balancers whose leaves decide by themselves how deep it should be. Every node has two
//! roles, a balancer and a *matching leaf*; the link to the node says which one is in use. A leaf
//! with many visitors *grows*: the link to it is switched to the balancer, and the tokens that come
//! from now on spread over a subtree of any number of levels. Leaves with few visitors *vote*, and
//! when enough have voted a whole subtree *shrinks* into the leaf above it.
//!
//! ```text
//!                     ┌─ leaf 4                  ┌─ leaf 4
//!             ┌─[2]───┤                  ┌─[2]───┤         leaf 3 has become a subtree two
//!   ── [1] ───┤       └─ leaf 5  ── [1] ─┤       └─ leaf 5 levels deep, in one step; a token
//!             │                          │     ┌─[6]< 12   at leaf 3 before the switch still
//!             └─ leaf 3                  └─[3]─┤     13    gets a number there
//!                                              └─[7]< 14
//!                                                    15
//! ```
//!
//! No token goes back and none is stopped for long: tokens that went the old way get their numbers
//! there. For that, the processor that switches a link must know how many they are. So every
//! processor keeps a *trace* of its position, and writes it in such a way that no switch can come
//! between reading a link and following it. Adjustments lock the leaves that they need; those of
//! deeper nodes give way.
//!
//! The right depth is an online problem: it must be decided without knowledge of future calls. The
//! [policy] is the threat-based one. It is never worse than c = O(log P) times the best possible,
//! and needs no tuning: its only parameter is P, the number of processors. It counts processors,
//! not time, so no costs have to be measured, on real threads or elsewhere. As in the paper, a tree
//! that has become deep stays so when its callers have gone ([`Policy::Threat`] says why); with
//! [`Policy::Census`] it shrinks again.
//!
//! *Quiescently consistent*. *Blocking*: a processor that stops while it holds a leaf's lock stops
//! callers that come there. *Memory*: six lines (768 bytes) and a balancer for each of 2 · 2^depth
//! nodes, about 26 kB for 16 leaves; two lines for each thread; with prisms the memory of these
//! ([`diffracting`](super::diffracting)). *When to use it*: where the number of callers varies
//! widely, reaches dozens, and numbers need not follow the order of calls. An uncontended call
//! costs five read-modify-writes and a fence; a bare `fetch_add` is one.
//!
//! | tree | balancers | from |
//! |---|---|---|
//! | `SelfTuning<M, Toggle<M>>` | one `fetch_add` each | ST07 "ST-tree" |
//! | `SelfTuning<M, StarvationFree<M>>` | prisms, spin of at most 128 | ST07 "ST-tree(P)" |
//!
//! ```
//! use throng::structures::counter::SelfTuning;
//! use throng::structures::counter::self_tuning::TuningShape;
//!
//! let counter = SelfTuning::new(&TuningShape::for_processors(64))?;
//! let numbers: Vec<u64> = (0..10).map(|_| counter.next()).collect();
//! assert_eq!(numbers, Vec::from_iter(0..10));
//! assert_eq!(counter.leaves()[0].depth, 0, "one caller alone needs no tree");
//! # Ok::<(), throng::structures::counter::ShapeError>(())
//! ```
//!
//! On the simulator a tree [notes](Cpu::note) `toggled` and `depth` like all trees, and `grown` and
//! `shrunk` with the number of levels.
//!
//! # Differs from the paper
//! - *Traces count moves.* Figure 11 as printed has an ABA fault: a helper that has read a link and
//!   is then delayed can complete, with that old value, a *later* visit of the same processor to the
//!   same link.
//! - *Tokens leave their trace under the lock of their leaf.* In Figure 6 it is reset after the lock
//!   is free; an adjustment in between counts a token that has its number already.
//! - *No ACTIVE and OLD flags.* A node is in use if the links lead to it, so the two cannot
//!   disagree.
//! - *Growing sets the links inside the new subtree*, which Figure 7 forgets: an earlier shrink left
//!   them as they were.
//! - *Toggles are read, not reset.* Left is first. (The paper's tree sends the first token right,
//!   and its formulas name the rightmost leaf.)
//! - *Shrinking locks only nodes in use*, from the top down, and any of these locks may be refused.
//!   Figure 7 ignores the answer in step S4, but an adjustment from above that is just ending may
//!   still hold one. An adjustment also gives way to one of the same node.
//! - *Shrinking locks the leaf before it counts the pending tokens there*; Figure 7 counts in step
//!   S1 and locks in S2. In between another processor may shrink the same balancer and grow the
//!   leaf again, and leave tokens there.
//! - *The new number of a leaf comes from a sum* (see `values.rs`) instead of a distribution of the
//!   pending tokens.
//! - *Tokens wait for a leaf's lock in turn*, and none goes past a queue that it sees. With the
//!   paper's exponential backoff, two processors can hand the lock to each other as long as they
//!   come back. All others starve, and so does the leaf, which needs its own lock to grow.
//! - *Votes are counted in the leaves.* The paper keeps an array of votes in every balancer. Leaves
//!   that are no longer in use would have to be taken out of it.
//! - *A leaf that comes into use takes over the account* of the leaf that grew, or of the leaf that
//!   carried out the shrink; the paper does not say.
//! - *Prisms have a fixed size*, that of a tree of the largest depth. In the paper processors
//!   estimate the depth while they walk.
//! - The [policy] has its own list.
//!
//! ## Memory ordering
//! - *Trace and link.* A token stores its trace (release), makes a sequentially consistent fence,
//!   then loads the link. A switch stores the link (release), makes a fence, then loads the traces.
//!   So either the token sees the new link or the switch sees the trace. A processor that completes
//!   another's move has a fence between the two as well.
//! - *Locks* acquire and release; a leaf's number is read and written relaxed under its lock.
//! - *Links* are stored with release and loaded with acquire: a token that follows one to a
//!   balancer sees the subtree that was built below it.
//! - *Toggles* of a subtree without tokens are read after all traces of tokens that left it, which
//!   release.
//! - *Votes and visitors* are relaxed: they affect when a leaf moves, never the numbers.
//!
//! `README.md` in this directory has the protocol and why no number is lost or given twice.

mod adjust;
mod conditional_lock;
mod leaf;
pub mod policy;
mod settled;
mod trace;
mod values;

pub use settled::Settled;

/// The parts that the crate `throng-check` checks on other machines.
#[doc(hidden)]
pub mod parts {
    pub use super::trace::{Kind, Link, Position, Trace, Traces};
}

use conditional_lock::is_same_or_above;
use leaf::Leaf;
use policy::Policy;
use trace::{Kind, Link, Position, Traces};

use super::diffracting::{Locations, Node, Prisms, Toggle, Token};
use super::{About, Counting, Method, Shape, ShapeError};
use crate::counter::method::MAX_DEPTH;
use crate::machine::{Cpu, Machine, Native};
use crate::setters::setters;

/// The share of the leaves below a balancer, by weight, that must vote for it before it shrinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// One leaf.
    Any,
    /// More than half, as in the paper.
    Majority,
    /// All leaves, so that no leaf gets crowded again (ST07 section 3.4).
    All,
}

/// The shape of a self-tuning tree.
///
/// ```
/// use throng::structures::counter::self_tuning::{Quorum, TuningShape};
/// let shape = TuningShape::for_processors(30).quorum(Quorum::All);
/// assert_eq!((shape.deepest, shape.spin), (4, 128));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuningShape {
    /// P: the number of processors that are expected at once. More may come.
    pub processors: usize,
    /// The deepest level that leaves can have; at most 16.
    pub deepest: u32,
    /// When leaves move.
    pub policy: Policy,
    /// The share of leaves that must agree before they shrink.
    pub quorum: Quorum,
    /// The sizes of the prisms, for `deepest` levels, if the balancers have prisms.
    pub prisms: Prisms,
    /// The largest number of polls of a token for a partner, if there are prisms.
    pub spin: u32,
}

impl TuningShape {
    /// Returns the shape of the paper: at most as many leaves as processors, a majority to shrink,
    /// its prisms, a spin of at most 128 polls.
    #[must_use]
    pub const fn for_processors(processors: usize) -> Self {
        let leaves = if processors == 0 { 1 } else { processors };
        let deepest = if leaves.ilog2() < MAX_DEPTH { leaves.ilog2() } else { MAX_DEPTH };
        TuningShape {
            processors,
            deepest,
            policy: Policy::Threat,
            quorum: Quorum::Majority,
            prisms: Prisms::St07,
            spin: 128,
        }
    }

    setters!(const fn deepest: u32, policy: Policy, quorum: Quorum, spin: u32);
    setters!(fn prisms: Prisms);
}

/// A leaf in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeafInUse {
    /// Its level: it gives every 2^depth-th number.
    pub depth: u32,
    /// The number that it gives next.
    pub next: u64,
}

/// A counter that is a tree of balancers and finds its own depth.
///
/// ```
/// use throng::structures::counter::SelfTuning;
/// use throng::structures::counter::diffracting::StarvationFree;
/// use throng::structures::counter::self_tuning::TuningShape;
/// use throng::machine::Native;
///
/// let shape = TuningShape::for_processors(30);
/// let toggles = SelfTuning::new(&shape)?;
/// let prisms = SelfTuning::<Native, StarvationFree>::on_machine(&shape)?;
/// assert_eq!((toggles.next(), prisms.next()), (0, 0));
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct SelfTuning<M: Machine = Native, B = Toggle<M>> {
    deepest: u32,
    policy: Policy,
    quorum: Quorum,
    /// The link to node n is at n - 1; so is leaf n.
    links: Box<[Link<M>]>,
    leaves: Box<[Leaf<M>]>,
    /// Balancer n is at n - 1; there are none on the deepest level.
    balancers: Box<[B]>,
    traces: Traces<M>,
    locations: Locations<M>,
}

/// Returns the level of a node; that of the root, 1, is 0.
#[inline]
const fn level_of(node: usize) -> u32 {
    node.ilog2()
}

impl<M: Machine, B: Settled<M>> SelfTuning<M, B> {
    /// Returns a tree on machine `M` with balancers `B`. It has one leaf at the beginning.
    ///
    /// # Errors
    /// If `deepest` is above 16, or the prism sizes do not fit it.
    pub fn on_machine(shape: &TuningShape) -> Result<Self, ShapeError> {
        ShapeError::check_range("depth", shape.deepest as usize, 0..=MAX_DEPTH as usize)?;
        let width = 1_usize << shape.deepest;
        let sizes = shape.prisms.sizes(shape.deepest)?;
        let account = shape.policy.account(shape.processors);
        let balancer = |index: usize| {
            let prism = sizes[level_of(index) as usize];
            B::new(Node { index, prism, spin: shape.spin })
        };
        Ok(SelfTuning {
            deepest: shape.deepest,
            policy: shape.policy,
            quorum: shape.quorum,
            links: (1..2 * width).map(Link::new).collect(),
            leaves: (1..2 * width).map(|n| Leaf::new(n, account)).collect(),
            balancers: (1..width).map(balancer).collect(),
            traces: Traces::default(),
            locations: Locations::new(if B::LEARNS { width } else { 0 }),
        })
    }

    /// Returns the leaves in use, from left to right. Approximate while calls are in progress.
    #[must_use]
    pub fn leaves(&self) -> Vec<LeafInUse> {
        let mut found = Vec::new();
        let mut to_visit = vec![1];
        while let Some(node) = to_visit.pop() {
            match self.link(node).kind() {
                Kind::Balancer => to_visit.extend([2 * node + 1, 2 * node]),
                Kind::Leaf => {
                    let (depth, next) = (level_of(node), self.leaf(node).next());
                    found.push(LeafInUse { depth, next });
                }
            }
        }
        found
    }

    /// Returns whether no call is in progress, as far as the tree can tell: no processor is on its
    /// way, none is counted at a leaf, and no lock is held.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        let outside = |at| at == Position::Outside;
        self.traces.positions(|node| self.link(node)).all(outside)
            && self
                .leaves
                .iter()
                .all(|leaf| leaf.visitors() == 0 && leaf.lock().is_free() && leaf.mind.is_free())
    }

    #[inline]
    fn link(&self, node: usize) -> &Link<M> {
        &self.links[node - 1]
    }

    #[inline]
    fn leaf(&self, node: usize) -> &Leaf<M> {
        &self.leaves[node - 1]
    }

    #[inline]
    fn balancer(&self, node: usize) -> &B {
        &self.balancers[node - 1]
    }
}

impl SelfTuning {
    /// Returns a tree of toggles for real threads.
    ///
    /// # Errors
    /// If `deepest` is above 16, or the prism sizes do not fit it.
    pub fn new(shape: &TuningShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }
}

impl<B: Settled<Native>> SelfTuning<Native, B> {
    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, B: Settled<M>> Counting<M> for SelfTuning<M, B> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let token = Token::new(cpu, &self.locations);
        let trace = self.traces.of(token.id());
        let mut node = 1;
        while trace.follow(node, self.link(node)) == Kind::Balancer {
            node = 2 * node + self.balancer(node).traverse(&token) as usize;
        }
        let leaf = self.leaf(node);
        let visitors = leaf.come();
        self.react(cpu, node, visitors);
        let level = level_of(node);
        let number = leaf.take(cpu, trace, 1 << level);
        cpu.note("depth", level.into());
        leaf.go();
        number
    }
}

impl<M: Machine, B: Settled<M>> Method<M> for SelfTuning<M, B> {
    const ABOUT: About = B::TREE;

    /// Builds a tree with at most as many leaves as the shape's width. It decides for the shape's
    /// number of processors.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let deepest = shape.width.map(ShapeError::check_width).transpose()?;
        let usual = TuningShape::for_processors(shape.processors);
        let (policy, quorum) = if shape.patience == 0 {
            (Policy::Restless, Quorum::Any)
        } else {
            (usual.policy, usual.quorum)
        };
        Self::on_machine(&TuningShape {
            deepest: deepest.unwrap_or(usual.deepest),
            policy,
            quorum,
            spin: shape.spin,
            ..usual
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_alone_counts_in_order_however_the_tree_changes() {
        for deepest in 0..5 {
            let usual = TuningShape::for_processors(16);
            let (policy, quorum) = (Policy::Restless, Quorum::Any);
            let shape = TuningShape { deepest, policy, quorum, ..usual };
            let tree = SelfTuning::new(&shape).unwrap();
            let mut shapes = std::collections::HashSet::new();
            for number in 0..500 {
                assert_eq!(tree.next(), number);
                shapes.insert(tree.leaves().iter().map(|leaf| leaf.depth).collect::<Vec<_>>());
            }
            assert!(shapes.len() > deepest as usize, "{shapes:?}");
            assert!(tree.is_at_rest());
        }
    }

    /// The root is a balancer, its left child a leaf, and its right child a balancer of two leaves, which weigh half as
    /// much.
    #[test]
    fn votes_count_by_the_weight_of_their_leaves() {
        let (policy, usual) = (Policy::Restless, TuningShape::for_processors(16));
        for (quorum, elects) in [
            (Quorum::Any, [true, true, true, true]),
            (Quorum::Majority, [false, false, true, true]),
            (Quorum::All, [false, false, false, true]),
        ] {
            let shape = TuningShape { deepest: 2, policy, quorum, ..usual.clone() };
            let tree = SelfTuning::new(&shape).unwrap();
            for balancer in [1, 3] {
                tree.link(balancer).set(Kind::Balancer);
            }
            let votes = [&[6][..], &[2], &[2, 6], &[2, 6, 7]];
            for (voters, is_elected) in votes.into_iter().zip(elects) {
                for leaf in [2, 6, 7] {
                    tree.leaf(leaf).mind.vote(voters.contains(&leaf).then_some(0));
                }
                assert_eq!(tree.is_elected(1), is_elected, "{quorum:?}: {voters:?}");
            }
            tree.leaf(6).mind.vote(Some(0));
            tree.leaf(7).mind.vote(Some(1));
            assert!(
                tree.is_elected(3),
                "{quorum:?}: a vote for the root is one for a node on the way"
            );
            tree.leaf(2).mind.vote(Some(0));
            tree.leaf(6).mind.vote(None);
            assert_eq!(tree.is_elected(1), quorum == Quorum::Any, "{quorum:?}: not for the root");
        }
    }

    #[test]
    fn shapes_are_those_of_the_paper_and_impossible_ones_are_refused() {
        assert_eq!(TuningShape::for_processors(0).deepest, 0);
        assert_eq!(TuningShape::for_processors(28).deepest, 4);
        assert_eq!(TuningShape::for_processors(usize::MAX).deepest, 16);
        let shape = TuningShape { deepest: 40, ..TuningShape::for_processors(4) };
        let error = SelfTuning::new(&shape).unwrap_err().to_string();
        assert_eq!(error, "depth 40: must be from 0 to 16");
    }
}
