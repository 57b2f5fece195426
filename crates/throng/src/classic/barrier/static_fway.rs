//! A tournament of groups of f with fixed winners.

use super::fixed_tree::{FixedTree, Node};
use super::method::{About, Method, Shape};
use super::tree::Tree;
use super::{Broken, FanIn, Flags, Meeting, WakeUp};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};

pub use super::fixed_tree::Reinit;

/// The static f-way tournament (GV93 section 3.1, Figures 4, 12 and 13): f members meet at a node.
/// The member of lowest rank waits for the others and continues to the node above. The tree is
/// built from the leaves up, so neighbours meet first, and the fan-in may differ from level to
/// level.
///
/// # Differs from the paper
/// - Flags are words, not bytes of a word; packed ones are neighbours on a line.
/// - `LOGN` and `LOGP` are the same. `my_parent` of Figure 13 is off by one level of distance (it
///   divides by the fan-in and multiplies by the distance without it, and subtracts 1). The parent
///   of `me` is `me - me mod (distance * fanin)`, as the test of Figure 13's first line says.
/// - With [`Reinit::Count`] no flag is ever cleared; the paper's way is [`Reinit::Clear`].
///
/// ## Memory ordering
/// A child's flag is written by a release and acquired by its parent, so the root sees what all did
/// before they came. The bell passes that on to all. A flag is cleared before the bell rings, so
/// relaxed is enough.
#[derive(Debug)]
pub struct StaticFway<M: Machine = Native>(FixedTree<M>);

impl<M: Machine> StaticFway<M> {
    /// Returns a barrier with these fan-ins, from the leaves up.
    pub(crate) fn with(
        members: usize,
        levels: &[usize],
        flags: Flags,
        wake_up: WakeUp,
        reinit: Reinit,
    ) -> Self {
        let nodes = tournament_nodes(members, levels);
        StaticFway(FixedTree::new(members, &nodes, flags, wake_up, reinit))
    }
}

/// Returns the nodes of a tournament: the member of lowest rank at a node continues.
pub(super) fn tournament_nodes(members: usize, levels: &[usize]) -> Vec<Node> {
    let tree = Tree::new(members, levels);
    let node =
        |children: &Vec<usize>| Node { parent: children[0], children: children[1..].to_vec() };
    tree.nodes().iter().map(node).collect()
}

/// The fan-ins of the paper on the KSR-1, whose words have eight bytes.
pub(super) const OF_THE_PAPER: FanIn = FanIn::Fullest { least: 3, most: 8 };

impl<M: Machine> Method<M> for StaticFway<M> {
    const ABOUT: About = About {
        name: "static-fway",
        summary: "a tournament of groups of f with fixed winners",
        paper: "GV93 section 3.1",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        let levels = shape.levels_or(&OF_THE_PAPER)?;
        Ok(StaticFway::with(members, &levels, shape.flags, shape.wake_up, shape.reinit))
    }
}

impl<M: Machine> Meeting<M> for StaticFway<M> {
    fn members(&self) -> usize {
        self.0.members()
    }

    #[inline]
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        self.0.meet(cpu, rank, round, way_out)
    }
}
