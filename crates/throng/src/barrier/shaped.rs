//! The default's method: the machine decides.

use super::method::{About, Method, Shape};
use super::{
    Broken, Central, Dissemination, FanIn, Flags, Meeting, Reinit, ShapeError, StaticFway, WakeUp,
};
use crate::machine::{Machine, Native, WayOut};
use crate::topology::Topology;

/// The method that suits the number of members and the machine best, by what was measured.
#[derive(Debug)]
pub struct Shaped<M: Machine = Native>(Chosen<M>);

#[derive(Debug)]
enum Chosen<M: Machine> {
    /// Two members: each tells the other.
    Pair(Dissemination<M>),
    /// A core for each member.
    Roomy(StaticFway<M>),
    /// More members than cores: only the last one to come has something to do.
    Crowded(Central<M>),
}

/// The largest fan-in.
const MOST: usize = 16;

impl<M: Machine> Shaped<M> {
    /// For `members` on a machine with this topology.
    ///
    /// # Errors
    /// With no members, or more than [`Shape::MOST_MEMBERS`].
    pub fn new(members: usize, topology: &Topology) -> Result<Self, ShapeError> {
        let shape = Shape { flags: Flags::Padded, ..Shape::for_members(members) };
        let members = shape.checked_members()?;
        if members > topology.processors() {
            return Central::build(&shape).map(Chosen::Crowded).map(Shaped);
        }
        if members == 2 {
            return Dissemination::build(&shape).map(Chosen::Pair).map(Shaped);
        }
        let levels = FanIn::Machine { most: MOST, topology: topology.clone() }.levels(members);
        let tree = StaticFway::with(members, &levels, shape.flags, WakeUp::Global, Reinit::Count);
        Ok(Shaped(Chosen::Roomy(tree)))
    }
}

impl<M: Machine> Method<M> for Shaped<M> {
    const ABOUT: About = About {
        name: "shaped",
        summary: "the default's: what suits the machine and the number of members best",
        paper: "ours",
    };

    /// By the topology in [`FanIn::Machine`]; else as if all cores were alike.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        match &shape.fan_in {
            FanIn::Machine { topology, .. } => Shaped::new(shape.members, topology),
            _ => Shaped::new(shape.members, &Topology::of_groups(&[])),
        }
    }
}

impl<M: Machine> Meeting<M> for Shaped<M> {
    fn members(&self) -> usize {
        match &self.0 {
            Chosen::Pair(pair) => pair.members(),
            Chosen::Roomy(tree) => tree.members(),
            Chosen::Crowded(central) => central.members(),
        }
    }

    #[inline]
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        match &self.0 {
            Chosen::Pair(pair) => pair.meet_on(cpu, rank, round, way_out),
            Chosen::Roomy(tree) => tree.meet_on(cpu, rank, round, way_out),
            Chosen::Crowded(central) => central.meet_on(cpu, rank, round, way_out),
        }
    }
}
