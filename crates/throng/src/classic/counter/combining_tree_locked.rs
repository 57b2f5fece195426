//! A combining tree with a lock in every node: the protocol of Goodman, Vernon and Woest (1989) as modified by Herlihy,
//! Lim and Shavit (1995), in the form that DT96 measured (section 3.3.1 "CTree", Figures 8 to 10).
//!
//! [`CombiningTree`](super::CombiningTree) beside it has the same idea and the same layout, but one state word for each
//! node and no locks. Here a processor takes the lock of each node on its way up and keeps it until its way down. A
//! processor that comes too late to combine waits for the lock.
//!
//! A call has four parts:
//! 1. *Find a path*: lock a node, mark it `COMBINE`, unlock it, and go to its parent. Stop at a node that is marked already
//!    (the caller becomes its second), or at the root. Keep the lock of that last node.
//! 2. *Combine*: lock all nodes of the path below the last one, from the leaf up. Add what the second of each node asks
//!    for. A second keeps its node's lock until it has written its request, so the first of a node waits for it here.
//! 3. *Operate*: at the root, add the sum to the total. At another last node, write the sum as the second's request,
//!    unlock the node, wait for `RESULT`, and lock it again. Then unlock the last node.
//! 4. *Distribute*: from the node below the last one down to the leaf, write the second's result, and unlock.
//!
//! # States of a node
//!
//! | `status` | `waits` | meaning | next |
//! |---|---|---|---|
//! | `FREE` | 0 | no caller is on its way through | part 1 of a first: `COMBINE`, 0 |
//! | `COMBINE` | 0 | a first is there; a second may come while the lock is free | part 3 of a second: `COMBINE`, 1; part 4 of the first: `FREE` |
//! | `COMBINE` | 1 | the second's sum is in `second` | part 4 of the first: `RESULT`, 1 |
//! | `RESULT` | 1 | the second's first number is in `result` | part 3 of the second: `FREE`, 0 |
//! | `ROOT` | 0 | `result` is the total | never |
//!
//! `lock` is 0 (free) or 1 (taken). Every other word of a node changes under its lock. Two words are also read
//! without it: a second reads `status` until it is `RESULT`, and a newcomer that found a second there reads `waits` until it
//! is 0.
//!
//! A processor that waits for a lock in part 1 holds none. In part 2 it waits for seconds, which wait for nodes that are
//! lower in the tree. So some processor always moves.
//!
//! *Linearizable*: the numbers of a batch are fixed under the root's lock, while every caller of the batch is inside its
//! call. *Blocking*: a processor that stops holds up all that come through its nodes. *Memory*: a line for each node, as
//! many as processors, rounded up to a power of two. *When to use it*: to compare with.
//!
//! Differs from the paper:
//! - Neither DT96 nor its figures print the code. Parts, marks and locks follow the description in section 3.3.1 and the
//!   published protocol. The lock is DT96's other spin lock: test-and-test-and-set with exponential backoff.
//! - A newcomer at a node in `RESULT` waits by reading, and then locks the node again.
//! - Any number of processors may share a leaf: a third one at a node waits, as at a node in `RESULT`. Two processors a
//!   leaf, as in the paper, never meet this case.
//!
//! ## Memory ordering
//! Words other than the lock are read and written relaxed: taking the lock acquires what its last holder released. A second
//! that has seen `RESULT` takes the lock before it reads the result.

use std::sync::atomic::Ordering::Relaxed;

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::counter::method::MAX_DEPTH;
use crate::lock::{MOST_BACKOFF, SpinLock};
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

const FREE: u64 = 0;
const COMBINE: u64 = 1;
const RESULT: u64 = 2;
const ROOT: u64 = 3;

/// Two for each leaf of the deepest tree.
const MAX_PROCESSORS: usize = 2 << MAX_DEPTH;

/// A combining tree with a lock in every node.
///
/// ```
/// let counter = throng::structures::counter::LockedCombiningTree::new(16)?;
/// assert_eq!([counter.next(), counter.next()], [0, 1]);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct LockedCombiningTree<M: Machine = Native> {
    /// Node n is at n - 1; its children are 2n and 2n + 1; node 1 is the root.
    nodes: Box<[Line<Node<M>>]>,
    leaves: usize,
}

#[derive(Debug)]
struct Node<M: Machine> {
    lock: SpinLock<M>,
    status: M::Word,
    /// 1 while a second waits for its result.
    waits: M::Word,
    /// What the first had gathered when it came here.
    first: M::Word,
    /// What the second asks for.
    second: M::Word,
    /// The second's first number; at the root, the total.
    result: M::Word,
}

impl<M: Machine> LockedCombiningTree<M> {
    /// Returns a tree on machine `M` with one leaf for every two of `processors`. More may come; they share.
    ///
    /// # Errors
    /// When `processors` is 0 or needs more than 65 536 leaves.
    pub fn on_machine(processors: usize) -> Result<Self, ShapeError> {
        ShapeError::check_range("processors", processors, 1..=MAX_PROCESSORS)?;
        Ok(Self::with_leaves(leaves_for(processors), MOST_BACKOFF))
    }

    fn with_leaves(leaves: usize, most_backoff: u32) -> Self {
        let nodes = (1..2 * leaves).map(|index| Node::new(index, most_backoff)).collect();
        LockedCombiningTree { nodes, leaves }
    }

    /// The node at `height` above leaf `leaf`.
    fn node(&self, leaf: usize, height: usize) -> &Node<M> {
        &self.nodes[(leaf >> height) - 1]
    }
}

/// A leaf for every two processors.
fn leaves_for(processors: usize) -> usize {
    processors.div_ceil(2).next_power_of_two()
}

impl LockedCombiningTree {
    /// Returns a tree for about `threads` threads. More may come.
    ///
    /// # Errors
    /// When `threads` is 0 or needs more than 65 536 leaves.
    pub fn new(threads: usize) -> Result<Self, ShapeError> {
        Self::on_machine(threads)
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for LockedCombiningTree<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        // The number of leaves is a power of two.
        let leaf = self.leaves | ((cpu.id() / 2) & (self.leaves - 1));

        let mut height = 0;
        while self.node(leaf, height).reserve(cpu) {
            height += 1;
        }
        let mut total = 1;
        for height in 0..height {
            total += self.node(leaf, height).combine(cpu, total);
        }
        let value = self.node(leaf, height).operate(cpu, total);
        for height in (0..height).rev() {
            self.node(leaf, height).distribute(value);
        }
        value
    }
}

impl<M: Machine> Node<M> {
    fn new(index: usize, most_backoff: u32) -> Line<Self> {
        let status = if index == 1 { ROOT } else { FREE };
        Line::new::<M>(Place::named("combining node").index(index), |spot| Node {
            lock: SpinLock::new(spot, most_backoff),
            status: M::Word::new(status, spot),
            waits: M::Word::new(0, spot),
            first: M::Word::new(0, spot),
            second: M::Word::new(0, spot),
            result: M::Word::new(0, spot),
        })
    }

    /// Part 1: becomes the node's first (true), or keeps its lock as the second or at the root (false).
    fn reserve(&self, cpu: &M::Cpu) -> bool {
        loop {
            self.lock.acquire(cpu);
            match self.status.load(Relaxed) {
                FREE => {
                    self.status.store(COMBINE, Relaxed);
                    self.lock.release();
                    return true;
                }
                ROOT => return false,
                COMBINE if self.waits.load(Relaxed) == 0 => return false,
                _ => {}
            }
            self.lock.release();
            // A second waits for its result or has yet to take it.
            self.waits.wait_while(cpu, Relaxed, |waits| waits == 1);
        }
    }

    /// Part 2, as the first, which has gathered `total` so far: locks the node, and returns what its second asks for.
    fn combine(&self, cpu: &M::Cpu, total: u64) -> u64 {
        self.lock.acquire(cpu);
        self.first.store(total, Relaxed);
        if self.waits.load(Relaxed) == 1 { self.second.load(Relaxed) } else { 0 }
    }

    /// Part 3, at the last node, whose lock is held: asks for `total` numbers and returns the first of them. Unlocks.
    fn operate(&self, cpu: &M::Cpu, total: u64) -> u64 {
        if self.status.load(Relaxed) == ROOT {
            let value = self.result.load(Relaxed);
            self.result.store(value + total, Relaxed);
            self.lock.release();
            return value;
        }
        self.second.store(total, Relaxed);
        self.waits.store(1, Relaxed);
        self.lock.release();
        self.status.wait_while(cpu, Relaxed, |status| status == COMBINE);
        self.lock.acquire(cpu);
        let value = self.result.load(Relaxed);
        self.waits.store(0, Relaxed);
        self.status.store(FREE, Relaxed);
        self.lock.release();
        value
    }

    /// Part 4, as the first, whose first number is `value`: gives the second its first number, and unlocks.
    fn distribute(&self, value: u64) {
        if self.waits.load(Relaxed) == 1 {
            self.result.store(value + self.first.load(Relaxed), Relaxed);
            self.status.store(RESULT, Relaxed);
        } else {
            self.status.store(FREE, Relaxed);
        }
        self.lock.release();
    }
}

impl<M: Machine> Method<M> for LockedCombiningTree<M> {
    const ABOUT: About = About {
        name: "combining-tree-locked",
        summary: "a combining tree with a lock in every node",
        paper: "Goodman et al. 1989, Herlihy et al. 1995; DT96, CTree",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let usual = leaves_for(shape.processors.clamp(1, MAX_PROCESSORS));
        let leaves = shape.width.unwrap_or(usual);
        ShapeError::check_width(leaves)?;
        Ok(Self::with_leaves(leaves, shape.backoff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn shapes() {
        assert_eq!(LockedCombiningTree::new(1).unwrap().leaves, 1);
        assert_eq!(LockedCombiningTree::new(256).unwrap().leaves, 128);
        assert_eq!(LockedCombiningTree::new(5).unwrap().leaves, 4);
        assert!(LockedCombiningTree::new(0).is_err());
        assert!(LockedCombiningTree::new(usize::MAX).is_err());
        let shape = Shape::for_processors(8).width(Some(6));
        assert!(LockedCombiningTree::<Native>::build(&shape).is_err());
    }

    #[test]
    fn two_that_meet_get_two_numbers_by_one_visit_to_the_root() {
        let tree = LockedCombiningTree::new(4).unwrap();
        let (leaf, root) = (tree.node(2, 0), tree.node(2, 1));
        let cpu = Native::cpu();
        assert!(leaf.reserve(&cpu), "the first");
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let cpu = Native::cpu();
                assert!(!leaf.reserve(&cpu), "the second");
                leaf.operate(&cpu, 1)
            });
            leaf.waits.wait_while(&cpu, Relaxed, |waits| waits == 0);
            assert!(!root.reserve(&cpu), "the root has no first");
            let total = 1 + leaf.combine(&cpu, 1);
            let value = root.operate(&cpu, total);
            leaf.distribute(value);
            assert_eq!((total, value, second.join().unwrap()), (2, 0, 1));
        });
        assert_eq!(tree.next(), 2);
    }

    #[test]
    fn every_node_is_left_as_it_was_found() {
        let tree = LockedCombiningTree::new(4).unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!((0..500).all(|_| tree.next() < 4000)));
            }
        });
        assert_eq!(tree.next(), 4000);
        for (node, status) in tree.nodes.iter().zip([ROOT, FREE, FREE]) {
            assert_eq!((node.status.load(Relaxed), node.waits.load(Relaxed)), (status, 0));
        }
    }
}
