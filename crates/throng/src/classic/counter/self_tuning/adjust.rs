//! Growing and shrinking (ST07 sections 3.3, 3.4, 5.2, 5.3; Figures 7 to 10). `README.md` has the
//! proof; the comments name its lemmas.

use super::policy::{Account, Sight};
use super::settled::Settled;
use super::trace::{Kind, Position};
use super::{Quorum, SelfTuning, is_same_or_above, level_of, values};
use crate::classic::counter::diffracting::Side;
use crate::machine::{Cpu, Machine};

impl<M: Machine, B: Settled<M>> SelfTuning<M, B> {
    /// Checks whether leaf `node` is on the right level, and moves it if not. Called by a token at
    /// the leaf, which has `visitors` visitors. Does nothing if another token is doing so, or if
    /// the leaf is not in use any more.
    pub(super) fn react(&self, cpu: &M::Cpu, node: usize, visitors: u64) {
        let mind = &self.leaf(node).mind;
        let Some(mut account) = mind.try_take() else {
            return;
        };
        // From here on no other processor can switch this link (Lemma 1).
        if self.link(node).kind() == Kind::Leaf {
            let sight = Sight { level: level_of(node), deepest: self.deepest, visitors };
            let below = |bound| cpu.random_below(bound);
            let census = || self.count(|at| at != Position::Outside);
            let wanted = self.policy.decide(&mut account, sight, below, census);
            if wanted < sight.level {
                mind.vote(Some(wanted));
                self.elect(cpu, node, wanted, account);
            } else {
                mind.vote(None);
                if wanted > sight.level {
                    self.grow(cpu, node, wanted, account);
                }
            }
        }
        mind.give_back(account);
    }

    /// Shrinks to the highest balancer above leaf `node`, from level `wanted` down, for which
    /// enough leaves have voted.
    fn elect(&self, cpu: &M::Cpu, node: usize, wanted: u32, account: Account) {
        let above = |level: u32| node >> (level_of(node) - level);
        let mut candidates = (wanted..level_of(node)).map(above);
        if let Some(elected) = candidates.find(|&balancer| self.is_elected(balancer)) {
            self.shrink(cpu, elected, account);
        }
    }

    /// Returns whether enough leaves below `balancer` want to shrink to it. Each has as many votes
    /// as there would be leaves below it on the deepest level (ST07 Definition 1).
    ///
    /// The tree may change meanwhile. Then the answer is about a tree that never existed. The
    /// shrink that follows from it is still correct, but may not be worth it.
    pub(super) fn is_elected(&self, balancer: usize) -> bool {
        let level = level_of(balancer);
        let weight = |node: usize| 1_u64 << (self.deepest - level_of(node));
        let mut votes = 0;
        let mut to_ask = vec![2 * balancer, 2 * balancer + 1];
        while let Some(node) = to_ask.pop() {
            if level_of(node) < self.deepest && self.link(node).kind() == Kind::Balancer {
                to_ask.extend([2 * node, 2 * node + 1]);
            } else if self.leaf(node).mind.votes_for(level) {
                votes += weight(node);
            }
        }
        match self.quorum {
            Quorum::Any => votes > 0,
            Quorum::Majority => 2 * votes > weight(balancer),
            Quorum::All => votes == weight(balancer),
        }
    }

    /// Turns leaf `node` into a subtree whose leaves are on level `to`. The caller's token is at
    /// the leaf and holds its mind.
    fn grow(&self, cpu: &M::Cpu, node: usize, to: u32, account: Account) {
        let level = level_of(node);
        let levels = to - level;
        if self.count(|at| self.is_in_subtree(node, at)) > 0 {
            return;
        }
        // No processor is below and none can come there, so building needs no lock (Lemma 2).
        self.build(node, to, account);
        // After the switch the toggles change.
        let next_is_right = |node: usize| self.balancer(node).next_side() == Side::Right;
        let order = values::grown(node, levels, &next_is_right);
        // Tokens that come after the switch have to wait for their numbers.
        let mut locked = Vec::with_capacity((1 << levels) + 1);
        let leaves = (node << levels..(node + 1) << levels).rev();
        let all = leaves.chain([node]).all(|leaf| self.lock_for(cpu, leaf, node, &mut locked));
        if !all || !self.is_reachable(node) {
            self.release(&locked);
            return;
        }
        self.link(node).set(Kind::Balancer);
        let pending = self.count(|at| at == Position::At(Kind::Leaf, node));
        let first = self.leaf(node).next() + (pending << level);
        // The old leaf is used again at once: its tokens, this one included, have numbers there.
        self.release(&[node]);
        for (leaf, turn) in (order.into_iter()).zip(0..) {
            self.leaf(leaf).set_next(first + (turn << level));
        }
        locked.pop();
        self.release(&locked);
        cpu.note("grown", levels.into());
    }

    /// Sets the links below `node` for leaves on level `to`, and gives these the account of the
    /// leaf that grows.
    fn build(&self, node: usize, to: u32, account: Account) {
        for below in 1..to - level_of(node) {
            (node << below..(node + 1) << below).for_each(|n| self.link(n).set(Kind::Balancer));
        }
        let levels = to - level_of(node);
        for leaf in node << levels..(node + 1) << levels {
            self.link(leaf).set(Kind::Leaf);
            self.leaf(leaf).mind.begin_with(account);
        }
    }

    /// Turns balancer `node` into a leaf that begins with `account`. The caller's token is at a
    /// leaf below.
    fn shrink(&self, cpu: &M::Cpu, node: usize, account: Account) {
        let mut locked = Vec::new();
        let old_leaf = Position::At(Kind::Leaf, node);
        let may = self.lock_for(cpu, node, node, &mut locked)
            && self.link(node).kind() == Kind::Balancer
            && self.is_reachable(node)
            && self.count(|at| at == old_leaf) == 0
            && self.lock_below(cpu, node, &mut locked);
        if !may {
            self.release(&locked);
            return;
        }
        self.leaf(node).mind.begin_with(account);
        self.link(node).set(Kind::Leaf);
        let effective = self.count(|at| self.is_effective(node, at));
        let leaves: Vec<values::Start> = (locked[1..].iter())
            .filter(|&&below| self.link(below).kind() == Kind::Leaf)
            .map(|&leaf| (level_of(leaf), self.leaf(leaf).next()))
            .collect();
        let level = level_of(node);
        self.leaf(node).set_next(values::shrunk(level, &leaves, effective));
        self.release(&locked);
        let deepest = leaves.iter().map(|leaf| leaf.0).max().unwrap_or(level);
        cpu.note("shrunk", (deepest - level).into());
    }

    /// Locks every node in use below balancer `node`, from the top down and from left to right.
    /// `locked` has `node` itself. Below a leaf no node is in use. Returns false if an adjustment
    /// from above has a lock.
    fn lock_below(&self, cpu: &M::Cpu, node: usize, locked: &mut Vec<usize>) -> bool {
        let mut next = 0;
        while let Some(&parent) = locked.get(next) {
            next += 1;
            // A link cannot be switched while its leaf is locked.
            if self.link(parent).kind() == Kind::Balancer {
                let children = [2 * parent, 2 * parent + 1];
                if !children.into_iter().all(|child| self.lock_for(cpu, child, node, locked)) {
                    return false;
                }
            }
        }
        true
    }

    /// Locks leaf `leaf` on behalf of `node` and adds it to `locked`. Returns whether the lock was
    /// not refused.
    fn lock_for(&self, cpu: &M::Cpu, leaf: usize, node: usize, locked: &mut Vec<usize>) -> bool {
        let got = self.leaf(leaf).lock().acquire_for(cpu, node);
        if got {
            locked.push(leaf);
        }
        got
    }

    fn release(&self, locked: &[usize]) {
        locked.iter().for_each(|&leaf| self.leaf(leaf).lock().release());
    }

    /// Returns the number of processors at a position for which `is_such` holds.
    fn count(&self, is_such: impl Fn(Position) -> bool) -> u64 {
        self.traces.positions(|node| self.link(node)).filter(|&at| is_such(at)).count() as u64
    }

    /// Returns whether a token that comes from the root can get to `node`, which may be a balancer
    /// or a leaf. Exact while its leaf is locked (Lemma 3).
    fn is_reachable(&self, node: usize) -> bool {
        (1..=level_of(node)).all(|up| self.link(node >> up).kind() == Kind::Balancer)
    }

    /// Returns whether `at` is balancer `node` or below.
    fn is_in_subtree(&self, node: usize, at: Position) -> bool {
        match at {
            Position::Outside => false,
            Position::At(kind, place) if place == node => kind == Kind::Balancer,
            Position::At(_, place) => is_same_or_above(node, place),
        }
    }

    /// Returns whether `at` is in the subtree of `node` and its processor will get its number from
    /// a leaf in use there. That excludes a leaf that has grown since, and a part that has shrunk
    /// since: their processors were counted then (ST07 Definition 10).
    fn is_effective(&self, node: usize, at: Position) -> bool {
        let Position::At(kind, place) = at else {
            return false;
        };
        if !self.is_in_subtree(node, at) {
            return false;
        }
        let between = |up: &u32| place >> up != node;
        let mut ups = (1..=level_of(place)).take_while(between);
        place == node
            || self.link(place).kind() == kind
                && ups.all(|up| self.link(place >> up).kind() == Kind::Balancer)
    }
}
