//! Self-tuning reactive diffracting trees (Ha, Papatriantafilou and Tsigas 2007, ST07).
//!
//! A tree of balancers whose leaves decide for themselves how deep it should be. Every node has two
//! roles, a balancer and a *matching leaf*; the link to the node says which is in use. A leaf that
//! sees a crowd *grows*: the link to it is switched to the balancer, and the tokens that come from
//! now on spread over a subtree of any number of levels. Leaves that are lonely *vote*, and when
//! enough have voted a whole subtree *shrinks* into the leaf above it.
//!
//! ```text
//!                     ┌─ leaf 4                  ┌─ leaf 4
//!             ┌─[2]───┤                  ┌─[2]───┤         leaf 3 has become a subtree two
//!   ── [1] ───┤       └─ leaf 5  ── [1] ─┤       └─ leaf 5 levels deep, in one step; who was
//!             │                          │     ┌─[6]< 12   at leaf 3 before the switch still
//!             └─ leaf 3                  └─[3]─┤     13    gets a number there
//!                                              └─[7]< 14
//!                                                    15
//! ```
//!
//! Nobody goes back and nobody is stopped for long: tokens that went the old way get their numbers
//! there. For that, whoever switches a link must know how many they are. So every processor leaves a
//! *trace* of where it is, and writes it in such a way that a switch cannot slip in between reading
//! a link and following it. Adjustments lock the leaves that they need; those of deeper nodes give
//! way.
//!
//! How deep is an online problem: one has to decide without knowing what comes. The
//! [policy] is the threat-based one, never worse than c = O(log P) times the best
//! possible, and needs no tuning: its only parameter is P, the number of processors. It counts
//! processors, not time, so there are no costs to measure, on real threads as little as elsewhere.
//! As the paper has it, a tree that has become deep stays so when the crowd is gone
//! ([`Policy::Threat`] says why); with [`Policy::Census`] it comes back.
//!
//! *Quiescently consistent*. *Blocking*: a processor that stops while it holds a leaf's lock stops
//! those who come there. *Memory*: six lines (768 bytes) and a balancer for each of 2 · 2^depth
//! nodes, about 26 kB for 16 leaves; two lines for each thread; with prisms what those take
//! ([`diffracting`](super::diffracting)). *When to use it*: where the number of callers varies
//! widely, reaches dozens, and numbers need not follow the order of calls. A call that finds nobody
//! costs five read-modify-writes and a fence where a bare `fetch_add` is one.
//!
//! | tree | balancers | from |
//! |---|---|---|
//! | `SelfTuning<M, Toggle<M>>` | one `fetch_add` each | ST07 "ST-tree" |
//! | `SelfTuning<M, StarvationFree<M>>` | prisms, spin of at most 128 | ST07 "ST-tree(P)" |
//!
//! ```
//! use throng::counter::SelfTuning;
//! use throng::counter::self_tuning::TuningShape;
//!
//! let counter = SelfTuning::new(&TuningShape::for_processors(64))?;
//! let numbers: Vec<u64> = (0..10).map(|_| counter.next()).collect();
//! assert_eq!(numbers, Vec::from_iter(0..10));
//! assert_eq!(counter.leaves()[0].depth, 0, "one caller alone needs no tree");
//! # Ok::<(), throng::counter::ShapeError>(())
//! ```
//!
//! On the simulator a tree [notes](Cpu::note) `toggled` and `depth` as all trees do, and `grown` and
//! `shrunk` with the number of levels.
//!
//! # Differs from the paper
//! - *Traces count moves.* Figure 11 as printed has an ABA fault: a helper that has read a link and
//!   is then delayed can complete, with that old value, a *later* visit of the same processor to the
//!   same link.
//! - *Tokens leave their trace under the lock of their leaf.* In Figure 6 it is reset after the lock
//!   is free; an adjustment in between counts a token that has its number already.
//! - *No ACTIVE and OLD flags.* A node is in use if the links lead to it; that cannot disagree with
//!   the links.
//! - *Growing sets the links inside the new subtree*, which Figure 7 forgets: an earlier shrink left
//!   them as they were.
//! - *Toggles are read, not reset.* Left is first. (The paper's tree sends the first token right, and
//!   its formulas name the rightmost leaf.)
//! - *Shrinking locks only what is in use*, from the top down, and any of these locks may be refused;
//!   Figure 7 ignores the answer in step S4, but an adjustment from above that is just ending may
//!   still hold one. An adjustment also gives way to one of the same node.
//! - *Shrinking locks the leaf before it looks who is pending there*; Figure 7 looks in step S1 and
//!   locks in S2. In between another may shrink the same balancer and grow the leaf again, and leave
//!   tokens there.
//! - *The new number of a leaf comes from a sum* (see `values.rs`) instead of a distribution of the
//!   pending tokens.
//! - *Tokens wait for a leaf's lock in turn*, and none goes past a queue that it sees. With the paper's
//!   exponential backoff, two processors can hand the lock to each other for as long as they come
//!   back: all others starve, and so does the leaf, which needs its own lock to grow.
//! - *Votes are counted in the leaves.* The paper keeps an array of votes in every balancer, which
//!   leaves that are no longer in use would have to be taken out of.
//! - *A leaf that comes into use takes over the account* of the leaf that grew, or of the one that
//!   carried out the shrink; the paper does not say.
//! - *Prisms have a fixed size*, as for a tree that is as deep as it can be. In the paper processors
//!   estimate the depth while they walk.
//! - The [policy] has its own list.
//!
//! ## Memory ordering
//! - *Trace and link.* A token stores its trace (release), a sequentially consistent fence, then
//!   loads the link. A switch stores the link (release), a fence, then loads the traces. So either
//!   the token sees the new link or the switch sees the trace. Whoever completes a foreign move has a
//!   fence between the two as well.
//! - *Locks* acquire and release; a leaf's number is read and written relaxed under its lock.
//! - *Links* are stored with release and loaded with acquire: who follows one to a balancer sees the
//!   subtree that was built below it.
//! - *Toggles* of a subtree where nobody is are read after all traces of tokens that left it, which
//!   release.
//! - *Votes and visitors* are relaxed: they decide when, never what.
//!
//! `README.md` in this directory has the protocol and why nothing is lost or given twice.

mod adjust;
mod conditional_lock;
mod leaf;
pub mod policy;
mod settled;
mod trace;
mod values;

pub use settled::Settled;

use conditional_lock::is_same_or_above;
use leaf::Leaf;
use policy::Policy;
use trace::{Kind, Link, Position, Traces};

use super::diffracting::{Crowd, Node, Prisms, Toggle, Token};
use super::method::MAX_DEPTH;
use super::{About, Counting, Method, Shape, ShapeError};
use crate::machine::{Cpu, Machine, Native};

/// How many of the leaves below a balancer must want it before it shrinks, by their weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quorum {
    /// One.
    Any,
    /// More than half: what the paper does.
    Majority,
    /// All: where no leaf should get crowded again (ST07 section 3.4).
    All,
}

/// The shape of a self-tuning tree.
///
/// ```
/// use throng::counter::self_tuning::{Quorum, TuningShape};
/// let shape = TuningShape { quorum: Quorum::All, ..TuningShape::for_processors(30) };
/// assert_eq!((shape.deepest, shape.spin), (4, 128));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuningShape {
    /// P: how many processors are expected at once. More may come.
    pub processors: usize,
    /// The deepest level that leaves can have; at most 16.
    pub deepest: u32,
    /// When leaves move.
    pub policy: Policy,
    /// How many leaves must agree before they shrink.
    pub quorum: Quorum,
    /// The sizes of the prisms, for `deepest` levels, where there are any.
    pub prisms: Prisms,
    /// How many times a token looks for a partner, at most, where there are prisms.
    pub spin: u32,
}

impl TuningShape {
    /// As in the paper: at most as many leaves as processors, a majority to shrink, its prisms, a
    /// spin of at most 128.
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
}

/// A leaf of a tree, in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeafInUse {
    /// Its level: it gives every 2^depth-th number.
    pub depth: u32,
    /// The number it gives next.
    pub next: u64,
}

/// A counter that is a tree of balancers and finds its own depth.
///
/// ```
/// use throng::counter::SelfTuning;
/// use throng::counter::diffracting::StarvationFree;
/// use throng::counter::self_tuning::TuningShape;
/// use throng::machine::Native;
///
/// let shape = TuningShape::for_processors(30);
/// let toggles = SelfTuning::new(&shape)?;
/// let prisms = SelfTuning::<Native, StarvationFree>::on_machine(&shape)?;
/// assert_eq!((toggles.next(), prisms.next()), (0, 0));
/// # Ok::<(), throng::counter::ShapeError>(())
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
    crowd: Crowd<M>,
}

/// The level of a node; that of the root, 1, is 0.
#[inline]
const fn level_of(node: usize) -> u32 {
    node.ilog2()
}

impl<M: Machine, B: Settled<M>> SelfTuning<M, B> {
    /// A tree on machine `M` with balancers `B`: one leaf, to begin with.
    ///
    /// # Errors
    /// When `deepest` is above 16, or the prism sizes do not fit it.
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
            traces: Traces::new(),
            crowd: Crowd::new(if B::LEARNS { width } else { 0 }),
        })
    }

    /// The leaves in use, from left to right. While calls are in progress, an impression.
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

    /// Whether no call is in progress, as far as the tree can tell: no processor is on its way, none
    /// is counted at a leaf, and nothing is locked.
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
    /// A tree of toggles for real threads.
    ///
    /// # Errors
    /// When `deepest` is above 16, or the prism sizes do not fit it.
    pub fn new(shape: &TuningShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }
}

impl<B: Settled<Native>> SelfTuning<Native, B> {
    /// The next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, B: Settled<M>> Counting<M> for SelfTuning<M, B> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let token = Token::new(cpu, &self.crowd);
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

    /// At most as many leaves as said; decides for as many processors as expected.
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
