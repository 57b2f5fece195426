//! The reactive diffracting tree (Della-Libera and Shavit, *Reactive Diffracting Trees*, 1997:
//! RDT97).
//!
//! A [diffracting tree](super::diffracting) that grows where callers wait long and shrinks where
//! they do not wait. It ranges from one counter under a queue lock, through irregular trees, to the
//! largest depth it was made for. A counter under high contention *unfolds* into a balancer with
//! two counters. Two counters under low contention *fold* into their parent, which was a balancer
//! and becomes a counter.
//!
//! ```text
//!                                         ┌─ 0, 2, 4 ..           ┌─ 0, 2, 4 ..
//!   [0, 1, 2 ..]  ── unfold ──>  calls ─[b]        ── unfold ──> [b]    ┌─ 1, 5, 9 ..
//!                <── fold ──              └─ 1, 3, 5 ..           └─[b]┤
//!                                                  <── fold ──         └─ 3, 7, 11 ..
//! ```
//!
//! Each change is local: three locks are taken, and tokens elsewhere do not wait. Tokens on their
//! way are not informed. Instead every node has a *version*, and its parent gives each token the
//! version to expect. A token that finds another version goes back up and tries again. Two counters
//! that are folded may be out of step, because tokens are still on their way to the one that is
//! behind. That one stays on for them, *draining* (`Counter_Limit` in the paper), until it has
//! given the numbers that it is behind.
//!
//! *Quiescently consistent*. *Blocking*: a processor that stops while it holds a lock stops callers
//! that need it. *Memory*: for each of the 2^(d + 1) nodes that a tree of depth d may have, three
//! lines (128 bytes) and one for each thread; for each balancer its toggle and prism. *When to use
//! it*: where numbers need not follow the order of calls, and the number of callers is not known or
//! changes slowly. A change takes hundreds of calls, so it does not help against short bursts; and
//! each call reads the clock twice.
//!
//! ```
//! use throng::structures::counter::reactive::{Policy, ReactiveShape, ReactiveTree};
//!
//! // At most 16 counters at the leaves, one at the beginning; changes after 20 calls in a row.
//! let shape = ReactiveShape::of_depth(4).policy(Policy::PAPER.run(20));
//! let tree = ReactiveTree::new(&shape)?;
//! assert_eq!([tree.next(), tree.next(), tree.next()], [0, 1, 2]);
//! # Ok::<(), throng::structures::counter::ShapeError>(())
//! ```
//!
//! On the simulator a tree [notes](Cpu::note) what diffracting trees note (`toggled`, and `depth`
//! with the level of the counter that served the token). It also notes `folded` and `unfolded` with
//! the index of the node that became a counter or a balancer, and `drained` with that of a draining
//! counter that served a token.
//!
//! # Differs from the paper
//!
//! The paper describes the algorithm in words and pictures. Where they leave something open or do
//! not work, this list says what is done here. `README.md` in this directory has the protocol and
//! the proof.
//!
//! - Versions are raised when a node *unfolds*, not when it folds. With the paper's rule a draining
//!   counter would turn away the very tokens that it is there for, and its numbers would be lost.
//! - A token also belongs to one *setting* of a balancer. It meets only tokens of the same setting,
//!   and does not pass the toggle once it has been set anew. Otherwise a token that slept from
//!   before a fold until after the next unfold could pair with a new one, or flip the new toggle,
//!   then be sent back, and leave the balancer out of balance for ever.
//! - A fold writes the parent before the children, an unfold the children before the parent: a token
//!   that is turned away by a child finds its parent changed already.
//! - The three locks are waited for, in the order of their indices, instead of tried.
//! - Both cases of folding are one: the parent continues right below the larger of its children.
//! - The state and both versions of a node are one word, as the paper's footnote suggests; they have
//!   31 bits each, so a token would have to sleep through 2^31 changes of a node to be misled.
//! - A change is not asked for if it cannot be made: at the root, at the deepest level, next to a
//!   balancer, above a draining counter.
//! - The paper does not say how large its prisms are: here they are those of SS98 for the deepest
//!   tree. ST07 section 7 says that they follow the depth that processors estimate, without saying how they do: see
//!   [`ReactiveShape::prisms_follow_depth`], where the estimate is the average of a processor's last walks.
//!
//! ## Memory ordering
//!
//! - A state word is stored with release and loaded with acquire. So a token that sees a balancer
//!   sees its children switched on and its toggle set. A token that sees a child switched off sees
//!   its parent as a counter, or in a later state.
//! - Numbers are handed out under a lock, which orders them. The toggle is set under its own lock, so
//!   a token either passes it before, and sees the old setting, or after, and sees the new one.
//! - `diffracting/README.md` has the needs of balancers. No order between a state and a location is
//!   needed: a token that comes too late is turned away at the toggle or at the child.

mod depths;
mod node;
mod policy;
mod state;

pub use policy::Policy;

use super::diffracting::{Balancer, Locations, Node as BalancerNode, Prisms, Side, StarvationFree};
use super::diffracting::{Setting, Token};
use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Cpu, Machine, Native};
use crate::setters::setters;
use depths::{Depths, slots};
use node::{Counter, Node, number};
use policy::{Change, Streaks};
use state::{Role, State};

/// The depth of the deepest tree. Every node has a queue entry for every thread.
const MAX_DEPTH: u32 = 12;

/// The shape of a reactive tree.
///
/// ```
/// use throng::structures::counter::reactive::ReactiveShape;
/// let shape = ReactiveShape::of_depth(5).first_depth(2);
/// assert_eq!(shape.policy.run, 80);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReactiveShape {
    /// The largest number of levels of balancers, up to 12.
    pub max_depth: u32,
    /// The number of levels of balancers at the beginning.
    pub first_depth: u32,
    /// When the tree changes its shape.
    pub policy: Policy,
    /// The sizes of the prisms, for `max_depth` levels.
    pub prisms: Prisms,
    /// The largest number of polls of a token for a partner.
    pub spin: u32,
    /// Whether a token at level l uses the first `0.5 * 2^(d - l)` slots of a prism, where d is the average depth of the
    /// last walks of its processor (ST07 section 7). Otherwise it uses all slots.
    pub prisms_follow_depth: bool,
}

impl ReactiveShape {
    /// Returns a shape with at most `max_depth` levels of balancers, none at the beginning, all
    /// else as in the paper.
    #[must_use]
    pub const fn of_depth(max_depth: u32) -> Self {
        ReactiveShape {
            max_depth,
            first_depth: 0,
            policy: Policy::PAPER,
            prisms: Prisms::Ss98,
            spin: 128,
            prisms_follow_depth: false,
        }
    }

    setters!(const fn first_depth: u32, policy: Policy, spin: u32, prisms_follow_depth: bool);
    setters!(fn prisms: Prisms);
}

/// A counter that is a tree of balancers under high contention, and a number under a lock under low
/// contention.
///
/// ```
/// use throng::structures::counter::reactive::{ReactiveShape, ReactiveTree};
/// let counter = ReactiveTree::new(&ReactiveShape::of_depth(3))?;
/// let values: Vec<u64> = (0..20).map(|_| counter.next()).collect();
/// assert_eq!(values, Vec::from_iter(0..20));
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
#[derive(Debug)]
pub struct ReactiveTree<M: Machine = Native> {
    /// Node n is at n - 1: the root is node 1, and 2n and 2n + 1 are the children of n.
    nodes: Box<[Node<M>]>,
    /// The balancer of node n is at n - 1; the deepest nodes have none.
    balancers: Box<[StarvationFree<M>]>,
    locations: Locations<M>,
    policy: Policy,
    /// Where prisms follow the depth.
    depths: Option<Depths>,
}

/// A token's path from the root to its present node.
#[derive(Debug)]
struct Way {
    node: usize,
    /// For each level down to here, the version that the node above foretold; 0 at the root.
    versions: [Setting; MAX_DEPTH as usize + 1],
}

impl Way {
    const START: Way = Way { node: 1, versions: [0; MAX_DEPTH as usize + 1] };

    /// Returns the version that the node must have.
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
    /// Returns a tree on machine `M`.
    ///
    /// # Errors
    /// If the depth is above 12 or smaller than that at the beginning, or the prism sizes do not
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
            locations: Locations::new(width),
            policy: shape.policy,
            depths: shape.prisms_follow_depth.then(|| Depths::new(shape.first_depth)),
        })
    }

    /// The prism slots that a token of processor `id` uses at node `index`.
    #[inline]
    fn slots(&self, id: usize, index: usize) -> usize {
        self.depths.as_ref().map_or(usize::MAX, |depths| slots(depths.of(id), index.ilog2()))
    }

    #[inline]
    fn node(&self, index: usize) -> &Node<M> {
        &self.nodes[index - 1]
    }

    /// Takes a number from the counter at the end of the way. Returns `None` if it is not a counter
    /// of the expected version any more.
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
                    counter.streaks.add(&self.policy, waited);
                    self.wanted_change(cpu, index, counter.streaks)
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
            // Locks are taken from the root down, so the child's lock had to be freed first.
            self.fold(cpu, index / 2);
        }
        Some(number(index, ordinal))
    }

    /// Returns the change that a counter with these recent waits should make, if it can be made as
    /// far as visible without more locks.
    fn wanted_change(&self, cpu: &M::Cpu, index: usize, streaks: Streaks) -> Option<Change> {
        let role = |index: usize| self.node(index).state().role;
        let can_fold = index > 1 && role(index ^ 1) == Role::Counting;
        let has_children = index <= self.balancers.len();
        let can_unfold =
            has_children && role(2 * index) == Role::Off && role(2 * index + 1) == Role::Off;
        streaks.asks(&self.policy, can_fold, can_unfold, cpu)
    }

    /// Makes the node a balancer with two counters below it. The caller must hold its lock, and
    /// must have seen under it that the node is a counter and both children are off. They stay so.
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

    /// Makes a node that is off a counter that continues at `next`.
    fn switch_on(&self, cpu: &M::Cpu, index: usize, version: Setting, next: u64) {
        let node = self.node(index);
        node.counter.with(cpu, |counter| {
            *counter = Counter { next, ..Counter::default() };
            node.set_state(State { role: Role::Counting, version, ..node.state() });
        });
    }

    /// Makes a balancer a counter and switches off the two counters below it, if the three still
    /// have these roles.
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
                    // First: a token that is turned away below must find a counter here.
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
    /// Returns a tree for real threads.
    ///
    /// # Errors
    /// If the depth is above 12 or smaller than that at the beginning, or the prism sizes do not
    /// fit the depth.
    pub fn new(shape: &ReactiveShape) -> Result<Self, ShapeError> {
        Self::on_machine(shape)
    }

    /// Returns the next number.
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for ReactiveTree<M> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let token = Token::new(cpu, &self.locations);
        let mut way = Way::START;
        // This is not a wait. Each round but the last goes a step down, or finds that another
        // processor, which has a number by now, has changed the tree.
        loop {
            let state = self.node(way.node).state();
            if !state.is_open_to(way.version()) {
                way.go_up();
            } else if state.role == Role::Balancing {
                let balancer = &self.balancers[way.node - 1];
                let slots = self.slots(token.id(), way.node);
                if let Some(side) = balancer.traverse_within(state.setting, &token, slots) {
                    way.go_down(side, state.setting);
                }
            } else if let Some(number) = self.take(cpu, &way) {
                if let Some(depths) = &self.depths {
                    depths.add(token.id(), way.node.ilog2());
                }
                return number;
            }
        }
    }
}

impl<M: Machine> Method<M> for ReactiveTree<M> {
    const ABOUT: About = About {
        name: "reactive",
        summary: "a diffracting tree that grows where callers wait long and shrinks where they do not",
        paper: "RDT97",
        consistency: Consistency::Quiescent,
        progress: Progress::Blocking,
    };

    /// Builds a tree of at most the width of a diffracting tree for the shape's processors. It has
    /// a single counter at the beginning.
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
    fn a_tree_begins_with_the_depth_of_its_shape() {
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
    fn prisms_follow_the_depth_if_the_shape_says_so() {
        let tree = |follow| {
            let shape = ReactiveShape { first_depth: 3, ..ReactiveShape::of_depth(5) };
            ReactiveTree::new(&shape.prisms_follow_depth(follow)).unwrap()
        };
        let (fixed, following) = (tree(false), tree(true));
        assert_eq!([1, 2, 4, 31].map(|index| fixed.slots(0, index)), [usize::MAX; 4]);
        assert_eq!([1, 2, 4, 31].map(|index| following.slots(0, index)), [4, 2, 1, 1]);
        let id = Native::cpu().id();
        following.depths.as_ref().unwrap().add(id, 11);
        assert_eq!(following.slots(id, 1), 8, "the average is 4");
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!((0..500).all(|_| following.next() < 2000)));
            }
        });
        assert_eq!(following.next(), 2000);
    }

    #[test]
    fn one_caller_alone_folds_a_tree_that_is_too_deep() {
        // Whatever the machine does meanwhile, no other caller is ahead in the queue for a second.
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
            // No numbers are left to drain, and the next number follows the last.
            assert!(!roles(&tree).contains(&Role::Draining), "in round {round}");
            assert_eq!(tree.next(), round * 2001 - 1);
        }
    }
}
