//! The common part of the barriers with fixed roles: a tree in which it is fixed which member waits
//! for which. The barriers differ in the tree.

use std::sync::atomic::Ordering::Acquire;

use super::flags::{FlagAt, FlagBoard};
use super::wake_up::Bells;
use super::{Broken, Flags, WakeUp};
use crate::machine::{Machine, WayOut, Word};

/// A node at which the parent waits for its children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
}

/// How flags are made ready for the next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reinit {
    /// The parent clears them when it has seen them all (GV93 Figure 12).
    Clear,
    /// They are never cleared: each holds the number of rounds to which its child came. This is
    /// sense reversal with more than two senses.
    Count,
}

/// The part of one member in a round.
#[derive(Debug)]
struct Part {
    /// The nodes of which it is the parent, from the leaves up: the index, and the flags it waits
    /// for.
    nodes: Vec<(usize, Vec<FlagAt>)>,
    /// The flag that its parent reads, and the node of that flag. The root has none.
    above: Option<(FlagAt, usize)>,
}

/// A barrier whose members have fixed roles.
#[derive(Debug)]
pub(super) struct FixedTree<M: Machine> {
    board: FlagBoard<M>,
    bells: Bells<M>,
    parts: Vec<Part>,
    reinit: Reinit,
}

impl<M: Machine> FixedTree<M> {
    /// Returns a barrier with `nodes` from the leaves up. A member that is a parent several times
    /// climbs in that order. Every member but one is a child, once.
    pub(super) fn new(
        members: usize,
        nodes: &[Node],
        flags: Flags,
        wake_up: WakeUp,
        reinit: Reinit,
    ) -> Self {
        let board =
            FlagBoard::new("arrived", flags, nodes.iter().map(|n| (n.children.len(), n.parent)));
        let bells = Bells::new(wake_up, nodes.iter().map(|n| n.children[0]));
        let mut parts: Vec<Part> =
            (0..members).map(|_| Part { nodes: Vec::new(), above: None }).collect();
        for (index, node) in nodes.iter().enumerate() {
            let at: Vec<FlagAt> = (0..node.children.len()).map(|i| board.at(index, i)).collect();
            for (&child, &at) in node.children.iter().zip(&at) {
                debug_assert!(parts[child].above.is_none(), "{child} is a child twice");
                parts[child].above = Some((at, index));
            }
            parts[node.parent].nodes.push((index, at));
        }
        FixedTree { board, bells, parts, reinit }
    }

    pub(super) fn members(&self) -> usize {
        self.parts.len()
    }

    #[inline]
    pub(super) fn meet(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let part = &self.parts[rank];
        let arrived = match self.reinit {
            Reinit::Clear => 1,
            Reinit::Count => round + 1,
        };
        for (_, children) in &part.nodes {
            for &child in children {
                let flag = self.board.word(child);
                flag.sleep_while(cpu, Acquire, way_out, |flag| flag < arrived).ok_or(Broken)?;
            }
            if self.reinit == Reinit::Clear {
                for &child in children {
                    // The child reads this no more, and comes back only after the bell.
                    self.board.word(child).store(0, std::sync::atomic::Ordering::Relaxed);
                }
            }
        }
        match part.above {
            Some((flag, node)) => {
                self.board.word(flag).signal(arrived);
                self.bells.wait(cpu, node, round, way_out)?;
            }
            None => self.bells.ring_all(round),
        }
        for &(node, _) in part.nodes.iter().rev() {
            self.bells.ring(node, round);
        }
        Ok(())
    }
}
