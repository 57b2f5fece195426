//! Gathering: callers that are close to each other gather in groups, and one of each group fetches
//! numbers for all.
//!
//! ```text
//!   locations 0..7   ─> group 0 ─┐           group:  the first to come leads: it waits until the
//!   locations 8..15  ─> group 1 ─┼─> root            batch before is answered, closes the batch,
//!   locations 16..23 ─> group 2 ─┘                   fetches as many numbers as were asked for,
//!                                                    and writes down the first: one store that
//!                                                    answers everyone who waits
//! ```
//!
//! The root is a word and hands out numbers by `fetch_add`. So it does not matter who passes which
//! groups: some may gather while others go to the root directly, and groups may gather in larger
//! groups. That makes [`Levels`] a matter of taste that can change at any time, call by call, with
//! nothing to move, to close or to wait for; [`Counter`](crate::counter::Counter), the default, lives
//! from it.
//!
//! Groups are made by *location* ([`Cpu::location`]): the callers that share a cache gather in that
//! cache, and the root sees one caller a group. This is what makes it fast. On the simulated
//! server and Alewife it is faster than every other method here from 16 processors on.
//!
//! *Linearizable*: the numbers of a batch are fixed by one `fetch_add`, while every caller of the
//! batch is inside its call. *Blocking*: a caller that stops while it leads, or is about to, stops
//! its group. *Memory*: 2 to 20 kB a group. *When to use it*: where more cores ask at once than one
//! word can serve, or rather [`Counter`](crate::counter::Counter), which finds out.
//!
//! The idea that one fetches for many is that of combining trees and of the aggregating funnel
//! ([`Funnel`](crate::counter::Funnel)), where a caller takes a ticket by `fetch_add` and one batch
//! follows the other. What is new here: groups by location; a batch is answered by a single store to
//! a line that only its own callers watch; whether answers may be overwritten is seen from numbers
//! that every caller keeps on a line of its own, leaders included; and a group asks a larger group in
//! the way a caller asks a group.
//!
//! `README.md` in this directory has the protocol, why nothing is lost or given twice, and the memory
//! orderings.

mod group;
mod levels;

pub use levels::Levels;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::AcqRel;

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Cpu, Growing, Line, Machine, Native, Place, Word};
use group::{Group, MOST_AT_ONCE, Request};

/// Answers a bank keeps, where nothing else is said: with fewer, leaders look for a free bank more
/// often; with more, there is no gain.
pub(crate) const SLOTS: usize = 64;

/// All groups of all heights, each made when the first caller comes to it.
#[derive(Debug)]
pub(crate) struct Groups<M: Machine> {
    /// The groups of height h.
    heights: Box<[Growing<OnceLock<Group<M>>>]>,
    slots: usize,
}

impl<M: Machine> Groups<M> {
    /// Groups that keep `slots` answers in a bank.
    pub(crate) fn new(slots: usize) -> Self {
        let growing = |_| Growing::new(1, |_| OnceLock::new());
        Groups { heights: (0..Levels::HEIGHTS).map(growing).collect(), slots }
    }

    /// Makes the groups of `levels` for this many locations at once, so that nobody has to later.
    pub(crate) fn make(&self, levels: Levels, locations: usize) {
        for height in levels.heights() {
            for location in (0..locations).step_by(1 << height) {
                self.group(At { location, height });
            }
        }
    }

    /// `asked` numbers, which must be from 1 on, by way of the groups of `levels`; `fetch` gets them
    /// from the root. Returns the first.
    #[inline]
    pub(crate) fn take(
        &self,
        cpu: &M::Cpu,
        levels: Levels,
        asked: u64,
        fetch: &impl Fn(u64) -> u64,
    ) -> u64 {
        // So many at once do not need company.
        if asked > MOST_AT_ONCE {
            return fetch(asked);
        }
        self.pass(cpu, levels, asked, At { location: cpu.location(), height: 0 }, fetch)
    }

    fn pass(
        &self,
        cpu: &M::Cpu,
        levels: Levels,
        asked: u64,
        at: At,
        fetch: &impl Fn(u64) -> u64,
    ) -> u64 {
        let Some((height, above)) = levels.split() else {
            return fetch(asked);
        };
        let request = Request { asked, member: at.location >> at.height };
        let at = At { height, ..at };
        self.group(at).take(cpu, request, |batch| self.pass(cpu, above, batch, at, fetch))
    }

    /// The group at `at`.
    #[inline]
    fn group(&self, at: At) -> &Group<M> {
        let index = at.location >> at.height;
        let members = 1 << at.height;
        self.heights[at.height as usize]
            .get(index)
            .get_or_init(|| Group::new(index << at.height, members, self.slots))
    }
}

/// Where a call is: at a location, having passed groups up to a height.
#[derive(Clone, Copy, Debug)]
struct At {
    location: usize,
    height: u32,
}

/// A linearizable counter whose callers gather in groups.
///
/// ```
/// use throng::counter::gathering::{Gathering, Levels};
/// let counter = Gathering::new(Levels::of_heights(&[3])?);     // groups of 8
/// assert_eq!([counter.next(), counter.next(), counter.next()], [0, 1, 2]);
/// # Ok::<(), throng::counter::ShapeError>(())
/// ```
pub struct Gathering<M: Machine = Native> {
    root: Line<M::Word>,
    groups: Groups<M>,
    levels: Levels,
}

impl<M: Machine> Gathering<M> {
    /// A counter on machine `M` whose callers pass the groups of `levels`.
    #[must_use]
    pub fn on_machine(levels: Levels) -> Self {
        Self::with_slots(levels, SLOTS)
    }

    fn with_slots(levels: Levels, slots: usize) -> Self {
        let root = Line::word::<M>(0, Place::named("root"));
        Gathering { root, groups: Groups::new(slots), levels }
    }
}

impl<M: Machine> fmt::Debug for Gathering<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its groups are many, and in use.
        f.debug_struct("Gathering").field("levels", &self.levels).finish_non_exhaustive()
    }
}

impl Gathering {
    /// A counter for real threads whose callers pass the groups of `levels`.
    #[must_use]
    pub fn new(levels: Levels) -> Self {
        Self::on_machine(levels)
    }

    /// The next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine> Counting<M> for Gathering<M> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        cpu.note("depth", self.levels.depth().into());
        self.groups.take(cpu, self.levels, 1, &|asked| self.root.fetch_add(asked, AcqRel))
    }
}

impl<M: Machine> Method<M> for Gathering<M> {
    const ABOUT: About = About {
        name: "gathering",
        summary: "callers that are close gather in groups; one fetches numbers for all",
        paper: "ours, after Roh et al.",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    /// The width is how many callers there are in a group.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        ShapeError::check_range("batches in a bank", shape.bank, 1..=4096)?;
        let levels = match shape.width {
            None => Levels::for_processors(shape.processors),
            Some(1) => Levels::FLAT,
            Some(width) => {
                ShapeError::check_range("width", width, 1..=1 << Levels::MAX_HEIGHT)?;
                Levels::of_heights(&[ShapeError::check_width(width)?])?
            }
        };
        let counter = Self::with_slots(levels, shape.bank.min(SLOTS));
        counter.groups.make(levels, shape.processors);
        Ok(counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn groups_gather_in_groups_and_anyone_may_go_by_another_way() {
        let groups = Groups::<Native>::new(2);
        let root = Line::word::<Native>(0, Place::named("root"));
        let ways = [&[][..], &[1], &[2], &[1, 3], &[2, 4, 6]];
        let ways = ways.map(|heights| Levels::of_heights(heights).unwrap());
        let fetch = |asked| root.fetch_add(asked, AcqRel);
        let mut drawn: Vec<u64> = thread::scope(|s| {
            let threads: Vec<_> = (0..6)
                .map(|t| {
                    let groups = &groups;
                    s.spawn(move || {
                        let way = |i: usize| ways[(t + i / 10) % ways.len()];
                        let draw =
                            |i| groups.take(&Native::cpu(), way(i), 1 + i as u64 % 3, &fetch);
                        (0..3000)
                            .flat_map(|i| {
                                let first = draw(i);
                                first..first + 1 + i as u64 % 3
                            })
                            .collect::<Vec<u64>>()
                    })
                })
                .collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(0..36_000));
    }

    #[test]
    fn very_many_at_once_go_to_the_root() {
        let groups = Groups::<Native>::new(2);
        let levels = Levels::of_heights(&[3]).unwrap();
        let take = |asked| groups.take(&Native::cpu(), levels, asked, &|batch| batch);
        assert_eq!(take(u64::MAX), u64::MAX);
    }
}
