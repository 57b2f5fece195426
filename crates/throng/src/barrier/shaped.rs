//! The method of the default barrier, chosen by the machine and the number of members.

use super::count_and_release::CountAndRelease;
use super::grouped::Grouped;
use super::switching::Switching;
use super::tally::Tally;
use crate::ShapeError;
use crate::classic::barrier::{About, Method, Shape};
use crate::classic::barrier::{
    Broken, Dissemination, FanIn, Flags, Meeting, Reinit, StaticFway, WakeUp,
};
use crate::machine::{Machine, Native, WayOut};
use crate::topology::Topology;

/// The method that suits the number of members and the machine best, by measurement.
///
/// | members | method | why |
/// |---|---|---|
/// | more than cores | count and release | only the last arrival has work to do, the others sleep |
/// | up to 3 | tally | the last arrival of a round is the first of the next, and still has the line |
/// | on several caches | grouped | one step between caches |
/// | on one of several caches, or 4 | dissemination | few steps, in which all members work at once |
/// | others | static f-way, one flag on each line | every line moves once there and once back |
///
/// All but the first two [switch](Switching) to count and release while other threads want the
/// cores.
///
/// Up to 16 members on one cache were measured on 16 cores; several caches were measured on
/// simulated machines. Member i is taken to be close to member i + 1.
#[derive(Debug)]
pub struct Shaped<M: Machine = Native> {
    chosen: Chosen<M>,
    /// The numbers of cores in the groups of the machine, for parts of the team.
    groups: Vec<usize>,
    is_crowded: bool,
}

#[derive(Debug)]
enum Chosen<M: Machine> {
    CountAndRelease(CountAndRelease<M>),
    Tally(Tally<M>),
    Dissemination(Switching<Dissemination<M>, M>),
    Grouped(Switching<Grouped<M>, M>),
    Tree(Switching<StaticFway<M>, M>),
}

/// The largest fan-in of the tree.
const MOST: usize = 16;

/// The sizes of groups that meet by themselves. The two threads of a core are too few. A socket is
/// too large: a meeting within it takes as long as a meeting of all members.
const GROUPS: std::ops::RangeInclusive<usize> = 4..=32;

impl<M: Machine> Shaped<M> {
    /// Returns a barrier for `members` that sleep at once when they wait.
    pub(super) fn for_sleepers(members: usize) -> Result<Self, ShapeError> {
        Shaped::new(members, &Topology::flat(0))
    }

    /// Returns a barrier for `members` on a machine with this topology.
    ///
    /// # Errors
    /// If there are no members, or more than [`Shape::MOST_MEMBERS`].
    pub fn new(members: usize, topology: &Topology) -> Result<Self, ShapeError> {
        let shape = Shape { flags: Flags::Padded, ..Shape::for_members(members) };
        let is_crowded = members > topology.processors();
        let chosen = Chosen::new(&shape, topology.groups(), is_crowded)?;
        Ok(Shaped { chosen, groups: topology.groups().to_vec(), is_crowded })
    }

    /// Returns a barrier for `members` of the members of this one.
    pub(super) fn part(&self, members: usize) -> Result<Self, ShapeError> {
        let shape = Shape { flags: Flags::Padded, ..Shape::for_members(members) };
        let (groups, is_crowded) = (self.groups.clone(), self.is_crowded);
        Ok(Shaped { chosen: Chosen::new(&shape, &groups, is_crowded)?, groups, is_crowded })
    }
}

impl<M: Machine> Chosen<M> {
    /// Chooses by the table in the docs of [`Shaped`].
    fn new(shape: &Shape, groups: &[usize], is_crowded: bool) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        if is_crowded {
            return CountAndRelease::build(shape).map(Chosen::CountAndRelease);
        }
        if members <= Topology::FEW {
            return Tally::build(shape).map(Chosen::Tally);
        }
        // Each member reads the words of members / size / size groups, which must not be more than
        // `size`.
        let are_few = |size: usize| members.div_ceil(size) <= size * size;
        let sizes = groups.iter().copied().filter(|size| GROUPS.contains(size));
        let group = sizes.into_iter().find(|&size| are_few(size));
        if let Some(group) = group.filter(|&group| group < members) {
            return Switching::new(Grouped::new(shape, group)?).map(Chosen::Grouped);
        }
        if group.is_some() || members == 4 {
            let dissemination = Dissemination::build(shape)?;
            return Switching::new(dissemination).map(Chosen::Dissemination);
        }
        let fan_in = FanIn::Machine { most: MOST, topology: Topology::of_groups(groups) };
        let levels = fan_in.levels(members);
        let (flags, wake_up, reinit) = (shape.flags, WakeUp::Global, Reinit::Count);
        let tree = StaticFway::with(members, &levels, flags, wake_up, reinit);
        Switching::new(tree).map(Chosen::Tree)
    }
}

impl<M: Machine> Method<M> for Shaped<M> {
    const ABOUT: About = About {
        name: "shaped",
        summary: "the default: the method that suits the machine and the number of members",
        paper: "ours",
    };

    /// Builds by the topology in [`FanIn::Machine`]. Without one, all cores are taken to be alike.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        match &shape.fan_in {
            FanIn::Machine { topology, .. } => Shaped::new(shape.members, topology),
            _ => Shaped::new(shape.members, &Topology::of_groups(&[])),
        }
    }
}

impl<M: Machine> Meeting<M> for Shaped<M> {
    fn members(&self) -> usize {
        match &self.chosen {
            Chosen::CountAndRelease(chosen) => chosen.members(),
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
        match &self.chosen {
            Chosen::CountAndRelease(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Tally(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Dissemination(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Grouped(chosen) => chosen.meet_on(cpu, rank, round, way_out),
            Chosen::Tree(chosen) => chosen.meet_on(cpu, rank, round, way_out),
        }
    }

    fn wake_members(&self) {
        match &self.chosen {
            Chosen::CountAndRelease(chosen) => chosen.wake_members(),
            Chosen::Tally(chosen) => chosen.wake_members(),
            Chosen::Dissemination(chosen) => chosen.wake_members(),
            Chosen::Grouped(chosen) => chosen.wake_members(),
            Chosen::Tree(chosen) => chosen.wake_members(),
        }
    }

    #[inline]
    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        match &self.chosen {
            Chosen::CountAndRelease(chosen) => chosen.meet_unranked(cpu, way_out),
            Chosen::Tally(chosen) => chosen.meet_unranked(cpu, way_out),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(members: usize, groups: &[usize], cores: usize) -> &'static str {
        let topology = match groups {
            [] => Topology::flat(cores),
            _ => Topology::of_groups(groups),
        };
        match Shaped::<Native>::new(members, &topology).expect("some members").chosen {
            Chosen::CountAndRelease(_) => "count and release",
            Chosen::Tally(_) => "tally",
            Chosen::Dissemination(_) => "dissemination",
            Chosen::Grouped(_) => "grouped",
            Chosen::Tree(_) => "tree",
        }
    }

    #[test]
    fn the_machine_and_the_number_of_members_decide() {
        assert_eq!(
            [1, 3, 4, 5, 16].map(|n| chosen(n, &[], 16)),
            ["tally", "tally", "dissemination", "tree", "tree"]
        );
        assert_eq!(chosen(17, &[], 16), "count and release", "more than cores");
        assert_eq!(chosen(8, &[8, 96], 0), "dissemination", "one cache of several");
        assert_eq!(chosen(9, &[8, 96], 0), "grouped");
        assert_eq!(chosen(16, &[2], 0), "tree", "two threads of a core are no group");
        assert_eq!(chosen(128, &[2, 64], 0), "tree", "nor is a large socket");
        assert_eq!(chosen(128, &[2, 16, 64], 0), "grouped");
    }
}
