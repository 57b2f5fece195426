//! Telling those who wait that all have come.

use std::sync::atomic::Ordering::Acquire;

use super::Broken;
use super::tree::Step;
use crate::machine::{Line, Machine, Place, WayOut, Word};

/// How those who wait learn that all have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeUp {
    /// By one word that all look at.
    Global,
    /// Down the tree of arrival: who waits at a node looks at that node's word.
    Tree,
}

/// The words that members look at while they wait: each is the number of rounds that are over, as
/// far as those who look at it know.
#[derive(Debug)]
pub(super) struct Bells<M: Machine> {
    bells: Vec<Line<M::Word>>,
    wake_up: WakeUp,
}

impl<M: Machine> Bells<M> {
    /// For a tree whose nodes have these homes.
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

    /// The root has learned that all have come to `round`: with a global word it tells all.
    #[inline]
    pub(super) fn ring_all(&self, round: u64) {
        if self.wake_up == WakeUp::Global {
            self.bells[0].signal(round + 1);
        }
    }

    /// Somebody knows that round `round` is over who went on at the first `passed` nodes of its `path`:
    /// from the root, if those were all.
    #[inline]
    pub(super) fn ring_back(&self, path: &[Step], passed: usize, round: u64) {
        if passed == path.len() {
            self.ring_all(round);
        }
        for step in path[..passed].iter().rev() {
            self.ring(step.node, round);
        }
    }

    /// Somebody who went on at `node` knows that round `round` is over: in a tree it tells those who
    /// wait there.
    #[inline]
    pub(super) fn ring(&self, node: usize, round: u64) {
        if self.wake_up == WakeUp::Tree {
            self.bells[node].signal(round + 1);
        }
    }
}
