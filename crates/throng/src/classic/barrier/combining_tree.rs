//! A barrier of a tree of counters.

use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use super::method::{About, Method, Shape};
use super::tree::Tree;
use super::wake_up::Bells;
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// The software combining tree (Yew, Tzeng, Lawrie; GV93 section 2.2): members add themselves to
/// the counter of their node, and the last one of a node continues to the node above.
///
/// The default fan-in is 4, which its authors found best.
///
/// ## Memory ordering
/// As in [`Central`](super::Central), at each node.
#[derive(Debug)]
pub struct CombiningTree<M: Machine = Native> {
    tree: Tree,
    /// The number of members that have come to each node in this round.
    arrived: Vec<Line<M::Word>>,
    bells: Bells<M>,
}

impl<M: Machine> Method<M> for CombiningTree<M> {
    const ABOUT: About = About {
        name: "combining-tree",
        summary: "a tree of counters; the last to come to a node continues",
        paper: "Yew, Tzeng, Lawrie 1987; GV93 section 2.2",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let tree = Tree::new(shape.checked_members()?, &shape.levels()?);
        let home = |(index, node): (usize, usize)| Place::named("arrived").index(index).near(node);
        let arrived = tree.homes().enumerate().map(|at| Line::word::<M>(0, home(at))).collect();
        let bells = Bells::new(shape.wake_up, tree.homes());
        Ok(CombiningTree { tree, arrived, bells })
    }
}

impl<M: Machine> Meeting<M> for CombiningTree<M> {
    fn members(&self) -> usize {
        self.tree.members()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let path = self.tree.path(rank);
        let mut passed = 0;
        for step in path {
            let arrived = &self.arrived[step.node];
            if arrived.fetch_add(1, AcqRel) + 1 < self.tree.size(step.node) as u64 {
                self.bells.wait(cpu, step.node, round, way_out)?;
                break;
            }
            // No member comes back to this node before the round is over.
            arrived.store(0, Relaxed);
            passed += 1;
        }
        self.bells.ring_back(path, passed, round);
        Ok(())
    }
}
