//! The reactive diffracting tree (Della-Libera and Shavit, *Reactive Diffracting Trees*, 1997:
//! RDT97).
//!
//! A [diffracting tree](super::diffracting) that grows where callers queue up and shrinks where
//! nobody does: from one counter under a queue lock, through irregular trees, to as deep a tree as
//! it was made for. A counter that is crowded *unfolds* into a balancer with two counters; two
//! counters that are idle *fold* into their parent, which was a balancer and becomes a counter.
//!
//! ```text
//!                                         ┌─ 0, 2, 4 ..           ┌─ 0, 2, 4 ..
//!   [0, 1, 2 ..]  ── unfold ──>  calls ─[b]        ── unfold ──> [b]    ┌─ 1, 5, 9 ..
//!                <── fold ──              └─ 1, 3, 5 ..           └─[b]┤
//!                                                  <── fold ──         └─ 3, 7, 11 ..
//! ```
//!
//! Each change is local: three locks are taken, and nobody waits who is elsewhere. Tokens that are
//! on their way are not told. Instead every node has a *version*, its parent tells each token which
//! one to expect, and a token that finds another goes back up and tries again. When two counters are
//! folded that are not in step, because tokens are still on their way to the one that is behind,
//! that one stays on for them, *draining* (`Counter_Limit` in the paper), until it has given what it
//! is behind.
//!
//! *Quiescently consistent*. *Blocking*: a processor that stops while it holds a lock stops those
//! who need it. *Memory*: for each of the 2^(d + 1) nodes that a tree of depth d may have, three
//! lines (128 bytes) and one for each thread; for each balancer its toggle and prism. *When to use
//! it*: where numbers need not follow the order of calls, and the number of callers is not known or
//! changes slowly. A change takes hundreds of calls, so it is of no use against short bursts; and
//! each call reads the clock twice.
//!
//! ```
//! use throng::counter::reactive::{Policy, ReactiveShape, ReactiveTree};
//!
//! // At most 16 counters at the leaves, one at the beginning; changes after 20 calls in a row.
//! let policy = Policy { run: 20, ..Policy::PAPER };
//! let tree = ReactiveTree::new(&ReactiveShape { policy, ..ReactiveShape::of_depth(4) })?;
//! assert_eq!([tree.next(), tree.next(), tree.next()], [0, 1, 2]);
//! # Ok::<(), throng::counter::ShapeError>(())
//! ```
//!
//! On the simulator a tree [notes](Cpu::note) what diffracting trees do (`toggled`, and `depth`
//! with the level of the counter that served the token), `folded` and `unfolded` with the index of
//! the node that became a counter or a balancer, and `drained` with that of a draining counter that
//! served a token.
//!
//! # Differs from the paper
//!
//! The paper describes the algorithm in words and pictures. Where they leave something open or do
//! not work, this is what is done here; `README.md` in this directory has the protocol and the
//! proof.
//!
//! - Versions are raised when a node *unfolds*, not when it folds. With the paper's rule a draining
//!   counter would turn away the very tokens that it is there for, and its numbers would be lost.
//! - A token also belongs to one *setting* of a balancer. It meets only tokens of the same, and finds
//!   the toggle shut once it has been set anew. Otherwise a token that slept from before a fold
//!   until after the next unfold could pair with a new one, or flip the new toggle, then be sent
//!   back, and leave the balancer out of balance for ever.
//! - A fold writes the parent before the children, an unfold the children before the parent: a token
//!   that is turned away by a child finds its parent changed already.
//! - The three locks are waited for, in the order of their indices, instead of tried.
//! - Both cases of folding are one: the parent goes on right below the larger of its children.
//! - The state and both versions of a node are one word, as the paper's footnote suggests; they have
//!   31 bits each, so a token would have to sleep through 2^31 changes of a node to be misled.
//! - A change is not asked for where it cannot be made: at the root, at the deepest level, next to a
//!   balancer, above a draining counter.
//! - The paper does not say how large its prisms are: here they are those of SS98 for the deepest
//!   tree.
//!
//! ## Memory ordering
//!
//! - A state word is stored with release and loaded with acquire, so whoever sees a balancer sees
//!   its children switched on and its toggle set, and whoever sees a child switched off sees its
//!   parent as a counter or as whatever it became later.
//! - Numbers are handed out under a lock, which orders them. The toggle is set under its own lock, so
//!   a token either passes it before, and sees the old setting, or after, and sees the new one.
//! - What balancers need is said in `diffracting/README.md`. No order between a state and a location
//!   is needed: who comes too late is turned away at the toggle or at the child.

mod node;
mod policy;
mod state;

pub use policy::Policy;

use super::diffracting::{Balancer, Crowd, Node as BalancerNode, Prisms, Side, StarvationFree};
use super::diffracting::{Setting, Token};
use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Cpu, Machine, Native};
use node::{Counter, Node, number};
use policy::{Change, Mood};
use state::{Role, State};

/// The deepest tree that can be built. Every node has a place for every thread in its queue.
const MAX_DEPTH: u32 = 12;

/// The shape of a reactive tree.
///
/// ```
/// use throng::counter::reactive::ReactiveShape;
/// let shape = ReactiveShape { first_depth: 2, ..ReactiveShape::of_depth(5) };
/// assert_eq!(shape.policy.run, 80);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactiveShape {
    /// Levels of balancers at most, up to 12.
    pub max_depth: u32,
    /// Levels of balancers at the beginning.
    pub first_depth: u32,
    /// When it changes.
    pub policy: Policy,
    /// The sizes of the prisms, for `max_depth` levels.
    pub prisms: Prisms,
    /// How many times a token looks for a partner, at most.
    pub spin: u32,
}

impl ReactiveShape {
    /// At most so many levels of balancers, none at the beginning, all else as in the paper.
    #[must_use]
    pub const fn of_depth(max_depth: u32) -> Self {
        ReactiveShape {
            max_depth,
            first_depth: 0,
            policy: Policy::PAPER,
            prisms: Prisms::Ss98,
            spin: 128,
        }
    }
}

/// A counter that is a tree of balancers where it is crowded, and a number under a lock where it is
/// not.
///
/// ```
/// use throng::counter::reactive::{ReactiveShape, ReactiveTree};
/// let counter = ReactiveTree::new(&ReactiveShape::of_depth(3))?;
/// let values: Vec<u64> = (0..20).map(|_| counter.next()).collect();
/// assert_eq!(values, Vec::from_iter(0..20));
/// # Ok::<(), throng::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct ReactiveTree<M: Machine = Native> {
    /// Node n is at n - 1: the root is node 1, and 2n and 2n + 1 are the children of n.
    nodes: Box<[Node<M>]>,
    /// That of node n is at n - 1; the deepest nodes have none.
    balancers: Box<[StarvationFree<M>]>,
    crowd: Crowd<M>,
    policy: Policy,
}

/// A token's way from the root to where it is.
#[derive(Debug)]
struct Way {
    node: usize,
    /// For each level down to here, the version that the node above foretold; 0 at the root.
    versions: [Setting; MAX_DEPTH as usize + 1],
}

impl Way {
    const START: Way = Way { node: 1, versions: [0; MAX_DEPTH as usize + 1] };

    /// The version that the node must have.
    #[inline]
    fn version(&self) -> Setting {
        self.versions[self.node.ilog2() as usize]
    }

    #[inline]
    fn go_down(&mut self, side: Side, version: Setting) {
        self.node = 2 * self.node + side as usize;
        self.versions[self.node.ilog2() as usize] = version;
    }

    fn go_up(&mut self) {
        debug_assert!(self.node > 1, "the root is never off, and its version never changes");
        self.node /= 2;
    }
}

impl<M: Machine> ReactiveTree<M> {
    /// A tree on machine `M`.
    ///
    /// # Errors
    /// When the depth is above 12 or smaller than that at the beginning, or the prism sizes do not
    /// fit the depth.
    pub fn on_machine(shape: &ReactiveShape) -> Result<Self, ShapeError> {
        ShapeError::check_range("depth", shape.max_depth as usize, 0..=MAX_DEPTH as usize)?;
        let (first, most) = (shape.first_depth as usize, shape.max_depth as usize);
        ShapeError::check_range("first depth", first, 0..=most)?;
        let sizes = shape.prisms.sizes(shape.max_depth)?;
        let width = 1_usize << shape.max_depth;
        let node = |index: usize| {
            let role = match index.ilog2().cmp(&shape.first_depth) {
                std::cmp::Ordering::Less => Role::Balancing,
                std::cmp::Ordering::Equal => Role::Counting,
                std::cmp::Ordering::Greater => Role::Off,
            };
            Node::new(index, role)
        };
        let balancer = |index: usize| {
            let prism = sizes[index.ilog2() as usize];
            StarvationFree::new(BalancerNode { index, prism, spin: shape.spin })
        };
        Ok(ReactiveTree {
            nodes: (1..2 * width).map(node).collect(),
            balancers: (1..width).map(balancer).collect(),
            crowd: Crowd::new(width),
            policy: shape.policy,
        })
    }

    #[inline]
    fn node(&self, index: usize) -> &Node<M> {
        &self.nodes[index - 1]
    }

    /// Takes a number from the counter at the end of the way; `None` if there is none any more.
    fn take(&self, cpu: &M::Cpu, way: &Way) -> Option<u64> {
        let index = way.node;
        let node = self.node(index);
        let asked = cpu.clock();
        let (ordinal, change) = node.counter.with(cpu, |counter| {
            let waited = cpu.clock().saturating_sub(asked);
            let state = node.state();
            if !state.is_open_to(way.version()) {
                return None;
            }
            let change = match state.role {
                Role::Off | Role::Balancing => return None,
                Role::Draining => {
                    cpu.note("drained", index as u64);
                    if counter.next + 1 == counter.limit {
                        node.set_state(state.with_role(Role::Off));
                    }
                    None
                }
                Role::Counting => {
                    counter.mood.add(&self.policy, waited);
                    self.wanted_change(cpu, index, counter.mood)
                }
            };
            let ordinal = counter.next;
            counter.next += 1;
            if change == Some(Change::Unfold) {
                self.unfold(cpu, index, counter);
            }
            Some((ordinal, change))
        })?;
        cpu.note("depth", index.ilog2().into());
        if change == Some(Change::Fold) {
            // Locks are taken from the root down: the child's had to be given back first.
            self.fold(cpu, index / 2);
        }
        Some(number(index, ordinal))
    }

    /// What should be done at a counter in this mood, and can be, as far as one can see without
    /// more locks.
    fn wanted_change(&self, cpu: &M::Cpu, index: usize, mood: Mood) -> Option<Change> {
        let role = |index: usize| self.node(index).state().role;
        let can_fold = index > 1 && role(index ^ 1) == Role::Counting;
        let has_children = index <= self.balancers.len();
        let can_unfold =
            has_children && role(2 * index) == Role::Off && role(2 * index + 1) == Role::Off;
        mood.asks(&self.policy, can_fold, can_unfold, cpu)
    }

    /// Makes the node a balancer with two counters below it. Whoever calls this holds its lock, and
    /// has seen under it that it is a counter and both children are off: so they stay.
    fn unfold(&self, cpu: &M::Cpu, index: usize, counter: &mut Counter) {
        let state = self.node(index).state().unfolded();
        let (left_next, right_next, first) = node::unfold(counter.next);
        self.switch_on(cpu, 2 * index, state.setting, left_next);
        self.switch_on(cpu, 2 * index + 1, state.setting, right_next);
        self.balancers[index - 1].set(cpu, state.setting, first);
        // Last: from now on tokens go to the children.
        self.node(index).set_state(state);
        cpu.note("unfolded", index as u64);
    }

    /// Makes a node that is off a counter that goes on at `next`.
    fn switch_on(&self, cpu: &M::Cpu, index: usize, version: Setting, next: u64) {
        let node = self.node(index);
        node.counter.with(cpu, |counter| {
            *counter = Counter { next, ..Counter::default() };
            node.set_state(State { role: Role::Counting, version, ..node.state() });
        });
    }

    /// Makes a balancer a counter and switches off the two counters below it, if that is what they
    /// still are.
    fn fold(&self, cpu: &M::Cpu, index: usize) {
        let [top, left, right] = [index, 2 * index, 2 * index + 1].map(|index| self.node(index));
        top.counter.with(cpu, |top_counter| {
            left.counter.with(cpu, |left_counter| {
                right.counter.with(cpu, |right_counter| {
                    let roles = [top, left, right].map(|node| node.state().role);
                    if roles != [Role::Balancing, Role::Counting, Role::Counting] {
                        return;
                    }
                    let folded = node::fold(left_counter.next, right_counter.next);
                    *top_counter = Counter { next: folded.next, ..Counter::default() };
                    // First: who is turned away below must find a counter here.
                    top.set_state(top.state().with_role(Role::Counting));
                    for (side, node, counter) in
                        [(Side::Left, left, left_counter), (Side::Right, right, right_counter)]
                    {
                        let limit = folded.behind.filter(|behind| behind.0 == side);
                        let role = if limit.is_some() { Role::Draining } else { Role::Off };
                        counter.limit = limit.map_or(0, |behind| behind.1);
                        node.set_state(node.state().with_role(role));
                    }
                    cpu.note("folded", index as u64);
                });
            });
        });
    }
}

impl ReactiveTree {
    /// A tree for real threads.
    ///
    /// # Errors
    /// When the depth is above 12 or smaller than that at the beginning, or the prism sizes do not
    /// fit the depth.
    pub fn new(shape: &ReactiveShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }

    /// The next number.
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for ReactiveTree<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let token = Token::new(cpu, &self.crowd);
        let mut way = Way::START;
        // Not a wait: each turn but the last goes a step down, or finds that somebody else, who has
        // a number by now, has changed the tree.
        loop {
            let state = self.node(way.node).state();
            if !state.is_open_to(way.version()) {
                way.go_up();
            } else if state.role == Role::Balancing {
                let balancer = &self.balancers[way.node - 1];
                if let Some(side) = balancer.traverse_in(state.setting, &token) {
                    way.go_down(side, state.setting);
                }
            } else if let Some(number) = self.take(cpu, &way) {
                return number;
            }
        }
    }
}

impl<M: Machine> Method<M> for ReactiveTree<M> {
    const ABOUT: About = About {
        name: "reactive",
        summary: "a diffracting tree that grows where callers queue up and shrinks where none do",
        paper: "RDT97",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    /// At most as wide as a diffracting tree for so many processors; a single counter at the
    /// beginning.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let max_depth = shape.tree_depth(MAX_DEPTH)?;
        let policy = match shape.patience {
            0 => Policy::RESTLESS,
            run => Policy { run, ..Policy::PAPER },
        };
        let spin = shape.spin;
        Self::on_machine(&ReactiveShape { policy, spin, ..ReactiveShape::of_depth(max_depth) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn roles(tree: &ReactiveTree) -> Vec<Role> {
        tree.nodes.iter().map(|node| node.state().role).collect()
    }

    #[test]
    fn shapes_that_cannot_be_are_refused() {
        let error = |shape: &ReactiveShape| ReactiveTree::new(shape).unwrap_err().to_string();
        assert_eq!(error(&ReactiveShape::of_depth(13)), "depth 13: must be from 0 to 12");
        let deep = ReactiveShape { first_depth: 4, ..ReactiveShape::of_depth(3) };
        assert_eq!(error(&deep), "first depth 4: must be from 0 to 3");
    }

    #[test]
    fn a_tree_begins_as_deep_as_it_is_told() {
        use Role::{Balancing, Counting, Off};
        let tree = |first_depth| {
            ReactiveTree::new(&ReactiveShape { first_depth, ..ReactiveShape::of_depth(2) }).unwrap()
        };
        assert_eq!(roles(&tree(0)), [Counting, Off, Off, Off, Off, Off, Off]);
        assert_eq!(roles(&tree(1)), [Balancing, Counting, Counting, Off, Off, Off, Off]);
        for depth in 0..=2 {
            let tree = tree(depth);
            let values: Vec<u64> = (0..50).map(|_| tree.next()).collect();
            assert_eq!(values, Vec::from_iter(0..50), "one caller alone counts in order");
        }
    }

    #[test]
    fn one_caller_alone_folds_a_tree_that_is_too_deep() {
        // Whatever the machine does meanwhile, nobody is ahead in the queue for a second.
        let policy = Policy { fold_below: 1_000_000_000, unfold_above: u64::MAX, run: 3 };
        let shape = ReactiveShape { first_depth: 3, policy, ..ReactiveShape::of_depth(3) };
        let tree = ReactiveTree::new(&shape).unwrap();
        let values: Vec<u64> = (0..200).map(|_| tree.next()).collect();
        assert_eq!(values, Vec::from_iter(0..200));
        assert_eq!(roles(&tree)[0], Role::Counting);
        assert!(roles(&tree)[1..].iter().all(|&role| role == Role::Off));
    }

    #[test]
    fn a_restless_tree_counts_in_order_for_one_caller() {
        for max_depth in 0..=4 {
            let policy = Policy::RESTLESS;
            let shape = ReactiveShape { policy, ..ReactiveShape::of_depth(max_depth) };
            let tree = ReactiveTree::new(&shape).unwrap();
            let values: Vec<u64> = (0..3000).map(|_| tree.next()).collect();
            assert_eq!(values, Vec::from_iter(0..3000), "at most {max_depth} deep");
        }
    }

    #[test]
    fn at_rest_nothing_is_missing_however_often_it_changed() {
        let shape = ReactiveShape { policy: Policy::RESTLESS, ..ReactiveShape::of_depth(3) };
        let tree = ReactiveTree::new(&shape).unwrap();
        for round in 1..=20 {
            thread::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|| (0..500).map(|_| tree.next()).max());
                }
            });
            // Nothing is left to drain, and the next number is the next.
            assert!(!roles(&tree).contains(&Role::Draining), "in round {round}");
            assert_eq!(tree.next(), round * 2001 - 1);
        }
    }
}
