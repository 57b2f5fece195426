//! A barrier of a tree with a member at every node.

use super::fixed_tree::{FixedTree, Node};
use super::method::{About, Method, Shape};
use super::{Broken, FanIn, Meeting, Reinit};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};

/// The tree barrier of Mellor-Crummey and Scott (GV93 section 2.5): member i waits for members
/// 4i + 1 to 4i + 4, then signals member (i - 1) / 4. It is built from the root down, so it is
/// balanced for few numbers of members, and neighbours are far from each other.
///
/// The fan-in is 4 unless a fixed one is asked for. Other kinds of fan-in are ignored.
#[derive(Debug)]
pub struct McsTree<M: Machine = Native>(FixedTree<M>);

impl<M: Machine> Method<M> for McsTree<M> {
    const ABOUT: About = About {
        name: "mcs-tree",
        summary: "a tree with a member at every node",
        paper: "Mellor-Crummey, Scott 1991; GV93 section 2.5",
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        let fan_in = match shape.fan_in {
            FanIn::Fixed(fan_in) => fan_in,
            _ => 4,
        };
        shape.levels()?;
        // Children have higher ranks than their parents, so this is the order from the leaves up.
        let nodes: Vec<Node> = (0..members)
            .rev()
            .map(|parent| {
                let children = fan_in * parent + 1..members.min(fan_in * parent + fan_in + 1);
                Node { parent, children: children.collect() }
            })
            .filter(|node| !node.children.is_empty())
            .collect();
        Ok(McsTree(FixedTree::new(members, &nodes, shape.flags, shape.wake_up, Reinit::Count)))
    }
}

impl<M: Machine> Meeting<M> for McsTree<M> {
    fn members(&self) -> usize {
        self.0.members()
    }

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
