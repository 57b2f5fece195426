//! The default's method: the machine decides.

use super::method::{About, Method, Shape};
use super::{
    Broken, Dissemination, FanIn, Flags, Grouped, Meeting, Reinit, ShapeError, StaticFway, Tally,
    WakeUp,
};
use crate::machine::{Machine, Native, WayOut};
use crate::topology::Topology;

/// The method that suits the number of members and the machine best, by what was measured.
///
/// | members | method | why |
/// |---|---|---|
/// | more than cores | tally | only the last one to come has something to do, the others sleep |
/// | up to 3 | tally | the last of a round is the first of the next, and has the line still |
/// | of several caches | grouped | one step between caches |
/// | of one of several caches, or 4 | dissemination | few steps, in which all work at once |
/// | others | static f-way, a flag a line | every line moves once there and once back |
///
/// Up to 16 members of one cache were measured on 16 cores; several caches on simulated machines.
/// Member i is taken to be close to member i + 1.
#[derive(Debug)]
pub struct Shaped<M: Machine = Native>(Chosen<M>);

#[derive(Debug)]
enum Chosen<M: Machine> {
    Tally(Tally<M>),
    Dissemination(Dissemination<M>),
    Grouped(Grouped<M>),
    Tree(StaticFway<M>),
}

/// The largest fan-in of the tree.
const MOST: usize = 16;

impl<M: Machine> Shaped<M> {
    /// For `members` on a machine with this topology.
    ///
    /// # Errors
    /// With no members, or more than [`Shape::MOST_MEMBERS`].
    pub fn new(members: usize, topology: &Topology) -> Result<Self, ShapeError> {
        let shape = Shape { flags: Flags::Padded, ..Shape::for_members(members) };
        let members = shape.checked_members()?;
        let is_crowded = members > topology.processors();
        Ok(Shaped(match topology.groups().first() {
            _ if is_crowded || members <= 3 => Chosen::Tally(Tally::build(&shape)?),
            Some(&group) if group < members => Chosen::Grouped(Grouped::new(&shape, group)?),
            None if members > 4 => {
                let levels = FanIn::Fixed(MOST).levels(members);
                let (flags, wake_up, reinit) = (shape.flags, WakeUp::Global, Reinit::Count);
                Chosen::Tree(StaticFway::with(members, &levels, flags, wake_up, reinit))
            }
            _ => Chosen::Dissemination(Dissemination::build(&shape)?),
        }))
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
            Chosen::Tally(chosen) => chosen.members(),
            Chosen::Dissemination(chosen) => chosen.members(),
            Chosen::Grouped(chosen) => chosen.members(),
            Chosen::Tree(chosen) => chosen.members(),
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
            Chosen::Tally(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Dissemination(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Grouped(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Tree(chosen) => chosen.meet_on(cpu, rank, round, way_out),
        }
    }

    #[inline]
    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        match &self.0 {
            Chosen::Tally(chosen) => chosen.meet_unranked(cpu, way_out),
            _ => None,
        }
    }
}
