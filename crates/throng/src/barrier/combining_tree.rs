//! A tree of counters.

use super::method::{About, Method, Shape};
use super::tree::Tree;
use super::wake_up::Bells;
use super::{Broken, Meeting, ShapeError};
use crate::counter::{AtomicNumber, LockedNumber, Number};
use crate::lock::MOST_BACKOFF;
use crate::machine::{Machine, Native, Place, WayOut};

/// The software combining tree (Yew, Tzeng, Lawrie; GV93 section 2.2): members add themselves to the
/// counter of their node, and the last one of a node goes on to the node above. Counters are
/// [`Number`]s: such that the machine adds to, or under locks, as the paper's KSR-1 has them.
///
/// Fan-in 4 unless said otherwise, which its authors found best.
///
/// # Differs from the paper
/// Counters go on counting from round to round instead of being set back to 0.
///
/// ## Memory ordering
/// As in [`Central`](super::Central), at each node.
#[derive(Debug)]
pub struct CombiningTree<M: Machine = Native, N: Number<M> = AtomicNumber<M>> {
    tree: Tree,
    /// How many came to each node, in all rounds together.
    arrived: Vec<N>,
    bells: Bells<M>,
}

impl<M: Machine, N: Number<M>> CombiningTree<M, N> {
    fn of(shape: &Shape) -> Result<Self, ShapeError> {
        let tree = Tree::new(shape.checked_members()?, &shape.levels()?);
        let number = |(index, home)| {
            N::new(0, Place::named("arrived").index(index).near(home), MOST_BACKOFF)
        };
        let arrived = tree.homes().enumerate().map(number).collect();
        let bells = Bells::new(shape.wake_up, tree.homes());
        Ok(CombiningTree { tree, arrived, bells })
    }
}

impl<M: Machine> Method<M> for CombiningTree<M> {
    const ABOUT: About = About {
        name: "combining-tree",
        summary: "a tree of counters; the last to come to a node goes on",
        paper: "Yew, Tzeng, Lawrie 1987; GV93 section 2.2",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        CombiningTree::of(shape)
    }
}

impl<M: Machine> Method<M> for CombiningTree<M, LockedNumber<M>> {
    const ABOUT: About = About {
        name: "combining-tree-locked",
        summary: "a tree of counters under locks; the last to come to a node goes on",
        paper: "GV93 section 2.2, as on the KSR-1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        CombiningTree::of(shape)
    }
}

impl<M: Machine, N: Number<M>> Meeting<M> for CombiningTree<M, N> {
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
            let size = self.tree.size(step.node) as u64;
            // Nobody comes to this node in the next round before this one is over.
            if self.arrived[step.node].fetch_add(cpu, 1) + 1 < size * (round + 1) {
                self.bells.wait(cpu, step.node, round, way_out)?;
                break;
            }
            passed += 1;
        }
        if passed == path.len() {
            self.bells.ring_all(round);
        }
        for step in path[..passed].iter().rev() {
            self.bells.ring(step.node, round);
        }
        Ok(())
    }
}
