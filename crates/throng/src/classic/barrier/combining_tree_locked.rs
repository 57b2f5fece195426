//! A tree of counters under locks.

use super::locked_arrivals::LockedArrivals;
use super::method::{About, Method, Shape};
use super::senses::{Senses, sense_of};
use super::tree::Tree;
use super::{Broken, Meeting};
use crate::ShapeError;
use crate::machine::{Line, Machine, Native, Place, WayOut};

/// The software combining tree with a lock at every node, as GV93 measured it (sections 2.2 and 5.1): members lock the
/// counter of their node, add one, and unlock it. The last one of a node sets the counter back and goes on to the node
/// above. The last one at the root reverses the sense that all wait for.
///
/// [`CombiningTree`](super::CombiningTree) beside it adds by `fetch_add`.
///
/// Fan-in 4 unless said otherwise, which Yew, Tzeng and Lawrie found best.
///
/// ```
/// use throng::machine::Native;
/// use throng::structures::barrier::{LockedCombiningTree, Method, Shape, team};
///
/// let members = team(LockedCombiningTree::<Native>::build(&Shape::for_members(3))?);
/// std::thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || (0..10).for_each(|_round| drop(member.wait())));
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # Differs from the paper
/// - The lock is a word on the counter's line, not the KSR-1's lock of the whole subpage.
///
/// ## Memory ordering
/// At each node the lock passes on what members did before. The last one's release of the sense tells all.
#[derive(Debug)]
pub struct LockedCombiningTree<M: Machine = Native> {
    tree: Tree,
    /// How many came to each node in this round.
    arrivals: Vec<Line<LockedArrivals<M>>>,
    senses: Senses<M>,
}

impl<M: Machine> Method<M> for LockedCombiningTree<M> {
    const ABOUT: About = About {
        name: "combining-tree-locked",
        summary: "a tree of counters under locks; the last to come to a node goes on",
        paper: "Yew, Tzeng, Lawrie 1987; GV93 sections 2.2 and 5.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let tree = Tree::new(shape.checked_members()?, &shape.levels()?);
        let node = |(index, home)| {
            let place = Place::named("arrived").index(index).near(home);
            Line::new::<M>(place, LockedArrivals::new)
        };
        let arrivals = tree.homes().enumerate().map(node).collect();
        let senses = Senses::new(shape.wake_up, tree.homes());
        Ok(LockedCombiningTree { tree, arrivals, senses })
    }
}

impl<M: Machine> Meeting<M> for LockedCombiningTree<M> {
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
        let sense = sense_of(round);
        let path = self.tree.path(rank);
        let mut passed = 0;
        for step in path {
            if !self.arrivals[step.node].arrive(cpu, self.tree.size(step.node), way_out)? {
                self.senses.wait(cpu, step.node, sense, way_out)?;
                break;
            }
            passed += 1;
        }
        self.senses.reverse_back(path, passed, sense);
        Ok(())
    }
}
