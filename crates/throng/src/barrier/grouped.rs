//! A barrier of groups: each group meets, reads the words of the other groups, and meets again.

use std::sync::atomic::Ordering::Acquire;

use crate::ShapeError;
use crate::classic::barrier::{About, Method, Shape};
use crate::classic::barrier::{Broken, Dissemination, FanIn, Meeting};
use crate::machine::{Line, Machine, Native, Place, WayOut, Word};

/// A barrier for machines where some cores are much closer to each other than to the rest.
///
/// 1. The members of a group, which share a cache, meet by [`Dissemination`].
/// 2. One of them writes the group's word: the whole group is here.
/// 3. The words of the other groups are shared out among the members, which read them in parallel.
/// 4. The group meets again. Now each member knows what all members of the group have read.
///
/// So a round has one step between groups: one line is written and read. No wake-up crosses groups.
/// All else is within groups.
///
/// ## Memory ordering
/// Within a group as in [`Dissemination`]. A group's word is written with release ordering after
/// its members have met, and read with acquire ordering. The second meeting passes on what was
/// read.
#[derive(Debug)]
pub struct Grouped<M: Machine = Native> {
    groups: Vec<Dissemination<M>>,
    /// For each group, the number of rounds that all of its members have come to.
    words: Vec<Line<M::Word>>,
    members: usize,
    group_size: usize,
}

impl<M: Machine> Grouped<M> {
    /// Returns a barrier of `shape.members` in groups of `group_size`. The last group may be
    /// smaller.
    pub(super) fn new(shape: &Shape, group_size: usize) -> Result<Self, ShapeError> {
        let members = shape.checked_members()?;
        let firsts: Vec<usize> = (0..members).step_by(group_size).collect();
        let size = |first: usize| group_size.min(members - first);
        let group = |&first: &usize| Dissemination::starting_at(first, size(first), shape.flags);
        let word = |(index, &first): (usize, &usize)| {
            Line::word::<M>(0, Place::named("group is here").index(index).near(first))
        };
        Ok(Grouped {
            groups: firsts.iter().map(group).collect(),
            words: firsts.iter().enumerate().map(word).collect(),
            members,
            group_size,
        })
    }

    /// Returns the groups whose words `rank` reads.
    #[inline]
    fn share(&self, rank: usize) -> impl Iterator<Item = usize> {
        let (own, place) = (rank / self.group_size, rank % self.group_size);
        let (count, size) = (self.groups.len(), self.groups[own].members());
        // The first member writes the group's word, so the shares begin with the last member.
        (size - place..count).step_by(size).map(move |distance| {
            let other = own + distance;
            if other < count { other } else { other - count }
        })
    }
}

impl<M: Machine> Method<M> for Grouped<M> {
    const ABOUT: About = About {
        name: "grouped",
        summary: "groups meet, read the words of other groups, and meet again",
        paper: "ours",
    };

    /// Uses the smallest groups of the machine, or groups of the fixed fan-in, or groups of 4.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        shape.levels()?;
        let group_size = match &shape.fan_in {
            FanIn::Fixed(size) => *size,
            FanIn::Machine { topology, .. } => {
                topology.groups().first().copied().unwrap_or(shape.members)
            }
            FanIn::Usual | FanIn::Fullest { .. } => 4,
        };
        Grouped::new(shape, group_size)
    }
}

impl<M: Machine> Meeting<M> for Grouped<M> {
    fn members(&self) -> usize {
        self.members
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let (index, place) = (rank / self.group_size, rank % self.group_size);
        let group = &self.groups[index];
        group.meet_on(cpu, place, 2 * round, way_out)?;
        if place == 0 {
            self.words[index].signal(round + 1);
        }
        for other in self.share(rank) {
            let word = &self.words[other];
            word.sleep_while(cpu, Acquire, way_out, |rounds| rounds <= round).ok_or(Broken)?;
        }
        group.meet_on(cpu, place, 2 * round + 1, way_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_group_looks_at_every_other_once() {
        for members in 1..40 {
            for size in [1, 3, 4, 8] {
                let shape = Shape::for_members(members);
                let grouped = Grouped::<Native>::new(&shape, size).expect("a group has members");
                for own in 0..grouped.groups.len() {
                    let ranks = own * size..members.min((own + 1) * size);
                    let mut seen: Vec<usize> = ranks.flat_map(|rank| grouped.share(rank)).collect();
                    seen.push(own);
                    let all: BTreeSet<usize> = seen.iter().copied().collect();
                    assert_eq!(all.len(), seen.len(), "{members} in groups of {size}");
                    assert_eq!(all.len(), grouped.words.len(), "{members} in groups of {size}");
                }
            }
        }
    }
}
