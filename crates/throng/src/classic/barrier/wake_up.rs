//! Releasing waiting members after all have come.

use std::sync::atomic::Ordering::Acquire;

use super::Broken;
use super::tree::Step;
use crate::machine::{Line, Machine, Place, WayOut, Word};

/// How waiting members learn that all have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeUp {
    /// By one word that all read.
    Global,
    /// Down the tree of arrival: a member that waits at a node reads that node's word.
    Tree,
}

/// The words that members read while they wait. Each is the number of rounds whose end has been
/// announced to its readers.
#[derive(Debug)]
pub(super) struct Bells<M: Machine> {
    bells: Vec<Line<M::Word>>,
    wake_up: WakeUp,
}

impl<M: Machine> Bells<M> {
    /// Returns the words of a tree whose nodes have these homes.
    pub(super) fn new(wake_up: WakeUp, homes: impl IntoIterator<Item = usize>) -> Self {
        let bell = |(index, home)| Line::word::<M>(0, Place::named("bell").index(index).near(home));
        let bells = match wake_up {
            WakeUp::Global => vec![Line::word::<M>(0, Place::named("bell"))],
            WakeUp::Tree => homes.into_iter().enumerate().map(bell).collect(),
        };
        Bells { bells, wake_up }
    }

    /// Waits at `node` until round `round` is over.
    #[inline]
    pub(super) fn wait(
        &self,
        cpu: &M::Cpu,
        node: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let bell = match self.wake_up {
            WakeUp::Global => &self.bells[0],
            WakeUp::Tree => &self.bells[node],
        };
        bell.sleep_while(cpu, Acquire, way_out, |over| over <= round).map(drop).ok_or(Broken)
    }

    /// Reports that all have come to `round`, which the root has found. A global word releases all.
    #[inline]
    pub(super) fn ring_all(&self, round: u64) {
        if self.wake_up == WakeUp::Global {
            self.bells[0].signal(round + 1);
        }
    }

    /// Reports that round `round` is over, by a member that continued at the first `passed` nodes
    /// of its `path`. If those were all nodes, it is the root.
    #[inline]
    pub(super) fn ring_back(&self, path: &[Step], passed: usize, round: u64) {
        if passed == path.len() {
            self.ring_all(round);
        }
        for step in path[..passed].iter().rev() {
            self.ring(step.node, round);
        }
    }

    /// Reports that round `round` is over, by a member that continued at `node`. In a tree it
    /// releases the members that wait there.
    #[inline]
    pub(super) fn ring(&self, node: usize, round: u64) {
        if self.wake_up == WakeUp::Tree {
            self.bells[node].signal(round + 1);
        }
    }
}
