//! A diffracting tree whose leaf counters are under locks: "DTree" as DT96 Figures 8 to 12 have it.
//!
//! Section 3.2 of DT96 replaces locks by fetch-and-increment at the leaves to make the tree fault tolerant. So the tree that
//! was measured before has locks there, as the balancers of its Figure 4 have. [`DiffractingTree`] has a `fetch_add` at
//! each leaf. Here a leaf is a [`LockedNumber`]: the lock of the paper's other counters, test-and-test-and-set with
//! exponential backoff. The two differ when many processors reach the same leaf at once.
//!
//! *Quiescently consistent*. *Blocking*: a processor that stops while it holds a leaf's lock stops that leaf. *Memory*: as
//! the tree without locks. *When to use it*: to compare with.
//!
//! Differs from the paper: nothing but what the balancer's own list says. The paper does not name the lock of the leaves.
//!
//! ## Memory ordering
//! As the balancers and [`LockedNumber`].

use super::{Balancer, DiffractingTree, Prisms, SecondChance, TreeShape};
use crate::classic::counter::{
    About, Consistency, Counting, LockedNumber, Method, Number, Progress, Shape, ShapeError,
};
use crate::counter::method::MAX_DEPTH;
use crate::lock::MOST_BACKOFF;
use crate::machine::{Machine, Native, Place};

/// A diffracting tree whose leaves are numbers under locks.
///
/// ```
/// use throng::structures::counter::diffracting::{LockedLeaves, TreeShape};
/// let counter = LockedLeaves::new(&TreeShape::of_depth(3))?;
/// let values: Vec<u64> = (0..20).map(|_| counter.next()).collect();
/// assert_eq!(values, Vec::from_iter(0..20));
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct LockedLeaves<M: Machine = Native, B = SecondChance<M>> {
    tree: DiffractingTree<M, B>,
    leaves: Box<[LockedNumber<M>]>,
}

impl<M: Machine, B: Balancer<M>> LockedLeaves<M, B> {
    /// Returns a tree on machine `M` with balancers `B`. A processor that finds a leaf's lock taken idles for at most
    /// `backoff` units of [`Cpu::pause`](crate::machine::Cpu::pause) before it looks again.
    ///
    /// # Errors
    /// When the depth is above 16, the prism sizes do not fit the depth, or are too many in all.
    pub fn on_machine(shape: &TreeShape, backoff: u32) -> Result<Self, ShapeError> {
        let leaf = |i: usize| LockedNumber::new(i as u64, Place::named("leaf").index(i), backoff);
        let (tree, leaves) = DiffractingTree::with_leaves(shape, leaf)?;
        Ok(LockedLeaves { tree, leaves })
    }
}

impl LockedLeaves {
    /// Returns a tree of the balancers that DT96 measured, for real threads.
    ///
    /// # Errors
    /// When the depth is above 16, the prism sizes do not fit the depth, or are too many in all.
    pub fn new(shape: &TreeShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape, MOST_BACKOFF)
    }
}

impl<B: Balancer<Native>> LockedLeaves<Native, B> {
    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, B: Balancer<M>> Counting<M> for LockedLeaves<M, B> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        self.leaves[self.tree.leaf_on(cpu)].fetch_add(cpu, self.leaves.len() as u64)
    }
}

impl<M: Machine> Method<M> for LockedLeaves<M, SecondChance<M>> {
    const ABOUT: About = About {
        name: "diffracting-locked-leaves",
        summary: "the one with a second chance, a counter under a lock at each leaf",
        paper: "DT96, DTree",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let depth = shape.tree_depth(MAX_DEPTH)?;
        let tree = TreeShape { depth, prisms: Prisms::Dt96, spin: shape.spin };
        Self::on_machine(&tree, shape.backoff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_visited_in_turn() {
        for depth in 0..6 {
            let tree = LockedLeaves::new(&TreeShape::of_depth(depth)).unwrap();
            let values: Vec<u64> = (0..100).map(|_| tree.next()).collect();
            assert_eq!(values, Vec::from_iter(0..100), "one caller alone counts in order");
        }
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        assert!(LockedLeaves::new(&TreeShape::of_depth(40)).is_err());
        let shape = Shape::for_processors(8).width(Some(6));
        assert!(LockedLeaves::<Native>::build(&shape).is_err());
    }
}
