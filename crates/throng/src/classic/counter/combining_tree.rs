//! A combining tree: callers that meet on the way up combine their requests, and one of them
//! continues for both (Goodman, Vernon and Woest 1989, as modified by Herlihy, Lim and Shavit 1995;
//! DT96 section 3.3.1 "CTree").
//!
//! ```text
//!               total             one fetch_add for all callers that combined
//!              /     \
//!          node       node        the first to come goes up for the second
//!          /  \       /  \
//!        leaf leaf  leaf leaf     processors 0,1   2,3   4,5   6,7
//! ```
//!
//! A call has four phases:
//! 1. *Reserve* a path: walk up as the first caller at each node, to a node that has a first caller
//!    already (this caller becomes its second), or to the root.
//! 2. *Combine*: walk the same path again and close each node. If a second has come, wait for its
//!    request and add it to the own one.
//! 3. At the last node: the second hands its sum to the first and waits for a result. At the root,
//!    add the sum to the total.
//! 4. *Distribute*: walk down and give every second its result.
//!
//! # States of a node
//!
//! | state | callers at the node | next state |
//! |---|---|---|
//! | `IDLE` | none | an arrival sets `FIRST` |
//! | `FIRST` | a first, still open to a partner | an arrival sets `SECOND`; the first sets `CLOSED` |
//! | `SECOND` | a first, and a second that still gathers its sum | the second sets `DEPOSITED` |
//! | `DEPOSITED` | the second's sum is in `request` | the first sets `RESULT` |
//! | `RESULT` | the second's value is in `result` | the second sets `IDLE` |
//! | `CLOSED` | a first that goes up alone | the first sets `IDLE` |
//!
//! Arrivals wait in the last four states, for a pair that waits only for callers higher up. A first
//! that combines waits for its second, which waits only for seconds lower in the tree. So some
//! caller can always make progress.
//!
//! *Linearizable*: the numbers of a batch are fixed by one `fetch_add`, while every caller of the
//! batch is inside its call. *Blocking*: a processor that stops holds up every caller that comes
//! through its nodes. *Memory*: a line for each node, as many as processors, rounded up to a power
//! of two. *When to use it*: for comparison; it combines well only when callers arrive close
//! together.
//!
//! Differs from the paper: each node is one state word, changed by compare-exchange, instead of a
//! monitor. Any number of processors may share a leaf (a third waits until the pair is done). The
//! root is one `fetch_add` instead of a locked number.
//!
//! ## Memory ordering
//! `request` and `result` are written before the release that publishes `DEPOSITED` or `RESULT`,
//! and read after the acquire that saw it. `IDLE` is released, too, because the next pair
//! overwrites both.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::counter::method::MAX_DEPTH;
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

const IDLE: u64 = 0;
const FIRST: u64 = 1;
const SECOND: u64 = 2;
const DEPOSITED: u64 = 3;
const RESULT: u64 = 4;
const CLOSED: u64 = 5;

/// The largest number of processors: two for each leaf of the deepest tree.
const MAX_PROCESSORS: usize = 2 << MAX_DEPTH;

/// The index of the root; the children of node n are 2n and 2n + 1.
const ROOT: usize = 1;

/// A counter in which callers that meet combine their requests.
///
/// ```
/// let counter = throng::structures::counter::CombiningTree::new(16)?;
/// assert_eq!([counter.next(), counter.next()], [0, 1]);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct CombiningTree<M: Machine = Native> {
    /// The root: the count of numbers given out.
    total: Line<M::Word>,
    /// Nodes 2 and up, in the order of their indices.
    nodes: Box<[Line<Node<M>>]>,
    leaves: usize,
}

#[derive(Debug)]
struct Node<M: Machine> {
    state: M::Word,
    /// The second's sum; valid from `DEPOSITED` on.
    request: M::Word,
    /// The second's value; valid in `RESULT`.
    result: M::Word,
}

impl<M: Machine> CombiningTree<M> {
    /// Returns a tree on machine `M` with one leaf for every two of `processors`. If more
    /// processors come, they share leaves.
    ///
    /// # Errors
    /// If `processors` is 0 or needs more than 65 536 leaves.
    pub fn on_machine(processors: usize) -> Result<Self, ShapeError> {
        ShapeError::check_range("processors", processors, 1..=MAX_PROCESSORS)?;
        Ok(Self::with_leaves(processors.div_ceil(2).next_power_of_two()))
    }

    fn with_leaves(leaves: usize) -> Self {
        CombiningTree {
            total: Line::word::<M>(0, Place::named("total")),
            nodes: (ROOT + 1..2 * leaves).map(Node::new).collect(),
            leaves,
        }
    }

    fn node(&self, index: usize) -> &Node<M> {
        &self.nodes[index - ROOT - 1]
    }
}

impl CombiningTree {
    /// Returns a tree for about `threads` threads. More may come.
    ///
    /// # Errors
    /// If `threads` is 0 or needs more than 65 536 leaves.
    pub fn new(threads: usize) -> Result<Self, ShapeError> {
        Self::on_machine(threads)
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for CombiningTree<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        // The number of leaves is a power of two.
        let leaf = self.leaves | ((cpu.id() / 2) & (self.leaves - 1));

        let mut height = 0;
        while leaf >> height != ROOT && self.node(leaf >> height).reserve(cpu) {
            height += 1;
        }
        let last = leaf >> height;

        let mut sum = 1;
        // The sum gathered before the caller came to the node at each height: the second's share of
        // the result starts there.
        let mut before = [0; MAX_DEPTH as usize];
        for (height, before) in before[..height].iter_mut().enumerate() {
            *before = sum;
            sum += self.node(leaf >> height).combine(cpu);
        }

        let value = if last == ROOT {
            self.total.fetch_add(sum, AcqRel)
        } else {
            self.node(last).hand_over(cpu, sum)
        };

        for (height, before) in before[..height].iter().enumerate().rev() {
            self.node(leaf >> height).distribute(value + before);
        }
        value
    }
}

impl<M: Machine> Node<M> {
    fn new(index: usize) -> Line<Self> {
        Line::new::<M>(Place::named("combining node").index(index), |spot| Node {
            state: M::Word::new(IDLE, spot),
            request: M::Word::new(0, spot),
            result: M::Word::new(0, spot),
        })
    }

    /// Becomes the node's first (returns true) or second (returns false), as soon as it has a free
    /// place.
    fn reserve(&self, cpu: &M::Cpu) -> bool {
        loop {
            let free = |state| state == IDLE || state == FIRST;
            let seen = self.state.wait_while(cpu, Acquire, |state| !free(state));
            let next = if seen == IDLE { FIRST } else { SECOND };
            if self.state.compare_exchange(seen, next, AcqRel, Relaxed).is_ok() {
                return seen == IDLE;
            }
        }
    }

    /// Closes the node and returns the second's sum, or 0 if there is no second. Called by the
    /// first.
    fn combine(&self, cpu: &M::Cpu) -> u64 {
        if self.state.compare_exchange(FIRST, CLOSED, AcqRel, Relaxed).is_ok() {
            return 0;
        }
        self.state.wait_while(cpu, Acquire, |state| state == SECOND);
        self.request.load(Relaxed)
    }

    /// Asks the first for `sum` numbers, and waits for the first of them. Called by the second.
    fn hand_over(&self, cpu: &M::Cpu, sum: u64) -> u64 {
        self.request.store(sum, Relaxed);
        self.state.store(DEPOSITED, Release);
        self.state.wait_while(cpu, Acquire, |state| state == DEPOSITED);
        let value = self.result.load(Relaxed);
        self.state.store(IDLE, Release);
        value
    }

    /// Gives the second, if any, its first number, and leaves. Called by the first.
    fn distribute(&self, value: u64) {
        // Only the first moves a node on from CLOSED or DEPOSITED.
        if self.state.load(Relaxed) == CLOSED {
            self.state.store(IDLE, Release);
        } else {
            self.result.store(value, Relaxed);
            self.state.store(RESULT, Release);
        }
    }
}

impl<M: Machine> Method<M> for CombiningTree<M> {
    const ABOUT: About = About {
        name: "combining-tree",
        summary: "callers that meet on the way up a tree combine",
        paper: "Goodman et al. 1989, Herlihy et al. 1995; DT96, CTree",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        match shape.width {
            Some(leaves) => {
                ShapeError::check_width(leaves)?;
                Ok(Self::with_leaves(leaves))
            }
            None => Self::on_machine(shape.processors.clamp(1, MAX_PROCESSORS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(CombiningTree::new(1).unwrap().leaves, 1);
        assert_eq!(CombiningTree::new(256).unwrap().leaves, 128);
        assert_eq!(CombiningTree::new(5).unwrap().leaves, 4);
        assert!(CombiningTree::new(0).is_err());
        assert!(CombiningTree::new(usize::MAX).is_err());
    }
}
