//! Diffracting trees (Shavit and Zemach 1996, DT96; Shavit, Upfal and Zemach 1998, SS98).
//!
//! A tree of balancers. A call walks from the root to a leaf. Each balancer sends the callers that
//! come to it alternately left and right, so when no call is in progress, the leaves have been
//! visited in turn. The leaf, a counter of its own, completes the number.
//!
//! ```text
//!                    ┌─ 0, 4, 8 ..          The first balancer decides the lowest bit of the
//!               ┌─[b]┤                      number, the second the next: leaves are numbered
//!               │    └─ 2, 6, 10 ..         bit-reversed.
//!   calls ─> [b]┤
//!               │    ┌─ 1, 5, 9 ..
//!               └─[b]┤
//!                    └─ 3, 7, 11 ..
//! ```
//!
//! A balancer that is one toggle would be as hot as the counter that it replaces. But two callers
//! that pass it together leave the toggle as it was. So if they meet beforehand, one can go left
//! and the other right, and neither has to touch it. The *prism* in front of the toggle is where
//! they meet. The more callers come at once, the more of them meet, so the tree is fastest under
//! high contention.
//!
//! The ways to meet are the [`Balancer`]s:
//!
//! | balancer | from | waits for the toggle |
//! |---|---|---|
//! | [`Toggle`] | no prism | never |
//! | [`Original`] | DT96 Figure 4 | behind a lock, without a bound |
//! | [`Adaptive`] | DT96 Figure 6 | the same; each processor learns how long to poll for a partner |
//! | [`SecondChance`] | DT96 section 3.1 | the same; and the token is put into the prism again |
//! | [`StarvationFree`] | SS98 Figure 6 | the token goes back to the prism whenever the lock is taken |
//! | [`WaitFree`] | DT96 Figure 7 | never: one atomic toggle, no lock |
//!
//! All are quiescently consistent. *Progress*: [`Toggle`] and [`WaitFree`] are wait-free; the
//! others block if a processor stops while it holds a toggle's lock. *Memory*: a line (128 bytes)
//! for each leaf and prism slot, one or two for each balancer, and two for each thread; with
//! [`Adaptive`], [`SecondChance`] and [`StarvationFree`] also four bytes for each balancer and
//! thread. The deepest tree with the prisms of SS98 takes about 170 MB. *When to use it*: where
//! more cores ask at once than one word can serve, and numbers need not follow the order of calls.
//! A depth of log2(cores / 8), as in DT96, is a good start. With few callers, a tree costs more
//! than it saves.
//!
//! ```
//! use throng::structures::counter::diffracting::{DiffractingTree, Prisms, TreeShape, WaitFree};
//! use throng::machine::Native;
//!
//! // The default balancer, and another one with the prisms that its paper used:
//! let tree = DiffractingTree::new(&TreeShape::of_depth(3))?;
//! let shape = TreeShape::of_depth(3).prisms(Prisms::Dt96);
//! let wait_free = DiffractingTree::<Native, WaitFree>::on_machine(&shape)?;
//! assert_eq!((tree.next(), wait_free.next()), (0, 0));
//! # Ok::<(), throng::structures::counter::ShapeError>(())
//! ```
//!
//! On the simulator a tree [notes](Cpu::note) `toggled` with the index of each node whose toggle a
//! token passes, and `depth` with the depth of the leaf it comes to. All tokens that came to a node
//! and did not pass its toggle were diffracted.
//!
//! `README.md` in this directory has the protocol and why nothing is lost or given twice.

mod locations;
mod locked_leaves;
mod original;
mod prism;
mod starvation_free;
mod toggle;
mod wait_free;

pub use locations::{Locations, Token};
pub use locked_leaves::LockedLeaves;
pub use original::{Adaptive, Original, PrismThenLock, SecondChance};
pub use starvation_free::StarvationFree;
pub use toggle::Toggle;
pub use wait_free::WaitFree;

pub(super) use prism::{LAST_SETTING, Setting};

use std::sync::atomic::Ordering::AcqRel;

use super::{About, Counting, Method, Shape, ShapeError};
use crate::counter::method::MAX_DEPTH;
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};
use crate::setters::setters;

/// The output by which a token leaves a balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// To the subtree that has the next number: the first token of all goes there.
    Left = 0,
    /// To the other subtree.
    Right = 1,
}

impl Side {
    /// Returns left for even, right for odd counts.
    #[inline]
    pub(super) const fn of(count: u64) -> Self {
        if count & 1 == 0 { Side::Left } else { Side::Right }
    }
}

/// The place of a balancer in its tree, and the size of its prism.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Node {
    /// Its index: 1 for the root, 2n and 2n + 1 for the children of n.
    pub index: usize,
    /// The number of slots in its prism.
    pub prism: usize,
    /// The largest number of polls of a token for a partner.
    pub spin: u32,
}

impl Node {
    /// Returns node `index`, with `prism` slots in its prism and at most `spin` polls for a
    /// partner.
    #[must_use]
    pub const fn new(index: usize, prism: usize, spin: u32) -> Self {
        Node { index, prism, spin }
    }

    /// Returns the number of polls for a partner before a processor has learned a better one: an
    /// eighth of the largest. Long polls are wasted on a caller that is alone.
    #[must_use]
    pub fn first_spin(&self) -> u32 {
        (self.spin / 8).max(1)
    }
}

/// A node of the tree: sends tokens left and right in turn.
///
/// In any state without a token inside, as many have gone left as right, or one more.
pub trait Balancer<M: Machine>: Send + Sync + Sized + 'static {
    /// The description of a tree of such balancers.
    const ABOUT: About;

    /// Whether tokens meet, and so must have ids.
    const MEETS: bool = true;

    /// Whether each processor remembers how long to poll for a partner ([`Token::set_own_spin`]).
    const LEARNS: bool = false;

    /// The prism sizes that the paper of this balancer used.
    const PRISMS: Prisms = Prisms::Dt96;

    /// Returns the balancer at `node`.
    fn new(node: Node) -> Self;

    /// Takes a token through, and returns the side on which it leaves.
    fn traverse(&self, token: &Token<'_, M>) -> Side;
}

/// The largest number of prism slots of a tree: 256 MB. The deepest tree has half of them as in
/// SS98.
const MAX_SLOTS: usize = 1 << 21;

/// The sizes of the prisms, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prisms {
    /// As in DT96 section 3.1, for a tree of width 32: 8, 4, 2, 2, 1 from the root down. A
    /// shallower tree has the last of them; a deeper one continues to double above the root.
    Dt96,
    /// As in SS98 section 4: as many slots in each level as the tree has leaves.
    Ss98,
    /// As in ST07 section 7: half as many as in SS98, and at least one.
    St07,
    /// These sizes, from the root down.
    Sizes(Vec<usize>),
}

impl Prisms {
    /// Returns the size for each level of a tree of `depth`, from the root down.
    ///
    /// # Errors
    /// If the sizes do not fit the depth, or are too many in all.
    pub fn sizes(&self, depth: u32) -> Result<Vec<usize>, ShapeError> {
        let levels = depth as usize;
        let sizes = match self {
            Prisms::Dt96 => (1..=depth)
                .rev()
                .map(|above_leaves| match above_leaves {
                    1 => 1,
                    2 | 3 => 2,
                    _ => 1 << (above_leaves - 2),
                })
                .collect(),
            Prisms::Ss98 => (0..depth).map(|level| 1 << (depth - level)).collect(),
            Prisms::St07 => (0..depth).map(|level| 1 << (depth - level - 1)).collect(),
            Prisms::Sizes(sizes) => sizes.clone(),
        };
        if sizes.len() != levels {
            let allowed = format!("{levels}, one for each level of the tree");
            return Err(ShapeError::new("number of prism sizes", sizes.len(), allowed));
        }
        let mut slots = 0;
        for (level, &size) in sizes.iter().enumerate() {
            ShapeError::check_range("prism size", size, 1..=1 << MAX_DEPTH)?;
            slots += size << level;
        }
        ShapeError::check_range("prism slots in all", slots, 0..=MAX_SLOTS)?;
        Ok(sizes)
    }
}

/// The shape of a diffracting tree.
///
/// ```
/// use throng::structures::counter::diffracting::{Prisms, TreeShape};
/// let shape = TreeShape::of_depth(3).prisms(Prisms::Sizes(vec![4, 2, 1]));
/// assert_eq!(shape.spin, 128);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeShape {
    /// The number of levels of balancers; the tree has 2^depth leaves.
    pub depth: u32,
    /// The sizes of the prisms.
    pub prisms: Prisms,
    /// The largest number of polls of a token for a partner.
    pub spin: u32,
}

impl TreeShape {
    /// Returns a shape with `depth` levels of balancers, the prisms of SS98 and a spin of at most
    /// 128 polls.
    #[must_use]
    pub const fn of_depth(depth: u32) -> Self {
        TreeShape { depth, prisms: Prisms::Ss98, spin: 128 }
    }

    setters!(fn prisms: Prisms);
    setters!(const fn spin: u32);
}

/// A counter that is a tree of balancers.
///
/// ```
/// use throng::structures::counter::diffracting::{DiffractingTree, TreeShape};
/// let counter = DiffractingTree::new(&TreeShape::of_depth(3))?;
/// let mut values: Vec<u64> = (0..20).map(|_| counter.next()).collect();
/// assert_eq!(values, Vec::from_iter(0..20));
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct DiffractingTree<M: Machine = Native, B = StarvationFree<M>> {
    depth: u32,
    /// Balancer n is at n - 1.
    balancers: Box<[B]>,
    /// The next number of each leaf.
    leaves: Box<[Line<M::Word>]>,
    locations: Locations<M>,
}

impl<M: Machine, B: Balancer<M>> DiffractingTree<M, B> {
    /// Returns a tree on machine `M` with balancers `B`.
    ///
    /// # Errors
    /// If the depth is above 16, or the prism sizes do not fit the depth, or are too many in all.
    pub fn on_machine(shape: &TreeShape) -> Result<Self, ShapeError> {
        let leaf = |i: usize| Line::word::<M>(i as u64, Place::named("leaf").index(i));
        let (tree, leaves) = Self::with_leaves(shape, leaf)?;
        Ok(DiffractingTree { leaves, ..tree })
    }

    /// Returns the tree above its leaves, and `leaf` of each of their indices.
    fn with_leaves<L>(
        shape: &TreeShape,
        leaf: impl Fn(usize) -> L,
    ) -> Result<(Self, Box<[L]>), ShapeError> {
        ShapeError::check_range("depth", shape.depth as usize, 0..=MAX_DEPTH as usize)?;
        let sizes = shape.prisms.sizes(shape.depth)?;
        let width = 1_usize << shape.depth;
        let balancer = |index: usize| {
            B::new(Node { index, prism: sizes[index.ilog2() as usize], spin: shape.spin })
        };
        let balancers = (1..width).map(balancer).collect();
        let leaves = (0..width).map(leaf).collect();
        let locations = Locations::new(if B::LEARNS { width } else { 0 });
        Ok((
            DiffractingTree { depth: shape.depth, balancers, leaves: Box::default(), locations },
            leaves,
        ))
    }

    /// Takes a token of processor `cpu` through the tree, and returns the index of its leaf.
    #[inline]
    fn leaf_on(&self, cpu: &M::Cpu) -> usize {
        let new = if B::MEETS { Token::new } else { Token::anonymous };
        let token = new(cpu, &self.locations);
        let (mut node, mut leaf) = (1, 0);
        for level in 0..self.depth {
            let side = self.balancers[node - 1].traverse(&token) as usize;
            node = 2 * node + side;
            leaf |= side << level;
        }
        cpu.note("depth", self.depth.into());
        leaf
    }
}

impl DiffractingTree {
    /// Returns a tree of starvation-free balancers for real threads.
    ///
    /// # Errors
    /// If the depth is above 16, or the prism sizes do not fit the depth, or are too many in all.
    pub fn new(shape: &TreeShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }
}

impl<B: Balancer<Native>> DiffractingTree<Native, B> {
    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, B: Balancer<M>> Counting<M> for DiffractingTree<M, B> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        self.leaves[self.leaf_on(cpu)].fetch_add(self.leaves.len() as u64, AcqRel)
    }
}

impl<M: Machine, B: Balancer<M>> Method<M> for DiffractingTree<M, B> {
    const ABOUT: About = B::ABOUT;

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let depth = shape.tree_depth(MAX_DEPTH)?;
        Self::on_machine(&TreeShape { depth, prisms: B::PRISMS, spin: shape.spin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prisms_are_those_of_the_papers() {
        assert_eq!(Prisms::Dt96.sizes(5).unwrap(), [8, 4, 2, 2, 1]);
        assert_eq!(Prisms::Dt96.sizes(2).unwrap(), [2, 1]);
        assert_eq!(Prisms::Dt96.sizes(6).unwrap(), [16, 8, 4, 2, 2, 1]);
        assert_eq!(Prisms::Ss98.sizes(3).unwrap(), [8, 4, 2]);
        assert_eq!(Prisms::St07.sizes(3).unwrap(), [4, 2, 1]);
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let error = |shape: TreeShape| DiffractingTree::new(&shape).unwrap_err().to_string();
        assert_eq!(error(TreeShape::of_depth(40)), "depth 40: must be from 0 to 16");
        let sizes = |sizes| TreeShape { prisms: Prisms::Sizes(sizes), ..TreeShape::of_depth(2) };
        assert_eq!(
            error(sizes(vec![1])),
            "number of prism sizes 1: must be 2, one for each level of the tree"
        );
        assert_eq!(error(sizes(vec![4, 0])), "prism size 0: must be from 1 to 65536");
        let huge = TreeShape { prisms: Prisms::Sizes(vec![65_536; 16]), ..TreeShape::of_depth(16) };
        assert_eq!(error(huge), "prism slots in all 4294901760: must be from 0 to 2097152");
    }

    #[test]
    fn leaves_are_visited_in_turn() {
        for depth in 0..6 {
            let tree = DiffractingTree::new(&TreeShape::of_depth(depth)).unwrap();
            let values: Vec<u64> = (0..100).map(|_| tree.next()).collect();
            assert_eq!(values, Vec::from_iter(0..100), "one caller alone counts in order");
        }
    }
}
