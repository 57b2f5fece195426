//! Gathering: callers that are close to each other gather in groups, and one of each group fetches
//! numbers for all.
//!
//! ```text
//!   locations 0..7   ─> group 0 ─┐           group:  the first to come leads: it waits until the
//!   locations 8..15  ─> group 1 ─┼─> root            batch before is answered, closes the batch,
//!   locations 16..23 ─> group 2 ─┘                   fetches as many numbers as were asked for,
//!                                                    and writes down the first: one store that
//!                                                    answers all waiting callers
//! ```
//!
//! The root is a word and hands out numbers by `fetch_add`. So it does not matter which groups a
//! caller passes. Some callers may gather while others go to the root directly, and groups may
//! gather in larger groups. [`Levels`] can therefore change at any time, call by call, with no
//! state to move, to close or to wait for. [`Counter`](crate::counter::Counter), the default,
//! relies on this.
//!
//! Groups are made by *location* ([`Cpu::location`]). Callers that share a cache gather in that
//! cache, and the root sees one caller from each group. This is what makes it fast. On the
//! simulated server and Alewife it is faster than every other method here from 16 processors on.
//!
//! *Linearizable*: the numbers of a batch are fixed by one `fetch_add`, while every caller of the
//! batch is inside its call. *Blocking*: a caller that stops while it leads, or is about to, stops
//! its group. *Memory*: 2 to 20 kB for each group. *When to use it*: where more cores ask at once
//! than one word can serve. [`Counter`](crate::counter::Counter) finds that out by itself and is
//! usually the better choice.
//!
//! One caller that fetches for many is the idea of combining trees and of the aggregating funnel
//! ([`Funnel`](crate::counter::Funnel)). There a caller takes a ticket by `fetch_add`, and batches
//! follow each other. New here:
//! - Groups are made by location.
//! - A batch is answered by a single store to a line that only its own callers watch.
//! - Whether answers may be overwritten is computed from numbers that every caller, leaders
//!   included, keeps on a line of its own.
//! - A group asks a larger group in the way a caller asks a group.
//!
//! `README.md` in this directory has the protocol, why nothing is lost or given twice, and the memory
//! orderings.

mod group;
mod levels;

pub use levels::Levels;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::AcqRel;

use super::method::{About, Consistency, Counting, Method, Progress, Shape};
use crate::ShapeError;
use crate::machine::{Cpu, Growing, Line, Machine, Native, Place, Word};
use group::{Group, MOST_AT_ONCE, Request};

/// The default number of answers in a bank. With fewer, leaders look for a settled bank more often;
/// more bring no gain.
pub(crate) const SLOTS: usize = 64;

/// All groups of all heights. A group is made when its first caller comes.
#[derive(Debug)]
pub(crate) struct Groups<M: Machine> {
    /// For each height h, the groups of height h.
    heights: Box<[Growing<OnceLock<Group<M>>>]>,
    slots: usize,
}

impl<M: Machine> Groups<M> {
    /// Returns groups that keep `slots` answers in a bank.
    pub(crate) fn new(slots: usize) -> Self {
        let growing = |_| Growing::new(1, |_| OnceLock::new());
        Groups { heights: (0..Levels::HEIGHTS).map(growing).collect(), slots }
    }

    /// Makes the groups of `levels` for `locations` locations at once, so that no later call has
    /// to.
    pub(crate) fn make(&self, levels: Levels, locations: usize) {
        for height in levels.heights() {
            for location in (0..locations).step_by(1 << height) {
                self.group(At { location, height });
            }
        }
    }

    /// Takes `asked` numbers, at least 1, through the groups of `levels`, and returns the first.
    /// `fetch` gets numbers from the root.
    #[inline]
    pub(crate) fn take(
        &self,
        cpu: &M::Cpu,
        levels: Levels,
        asked: u64,
        fetch: &impl Fn(u64) -> u64,
    ) -> u64 {
        // A request this large gains nothing from a group.
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

    /// Returns the group at `at`, and makes it if it is missing.
    #[inline]
    fn group(&self, at: At) -> &Group<M> {
        let index = at.location >> at.height;
        let members = 1 << at.height;
        self.heights[at.height as usize]
            .get(index)
            .get_or_init(|| Group::new(index << at.height, members, self.slots))
    }
}

/// The position of a call: its location, and the height up to which it has passed groups.
#[derive(Clone, Copy, Debug)]
struct At {
    location: usize,
    height: u32,
}

/// A linearizable counter whose callers gather in groups.
///
/// ```
/// use throng::structures::counter::gathering::{Gathering, Levels};
/// let counter = Gathering::new(Levels::of_heights(&[3])?);     // groups of 8
/// assert_eq!([counter.next(), counter.next(), counter.next()], [0, 1, 2]);
/// # Ok::<(), throng::structures::counter::ShapeError>(())
/// ```
pub struct Gathering<M: Machine = Native> {
    root: Line<M::Word>,
    groups: Groups<M>,
    levels: Levels,
}

impl<M: Machine> Gathering<M> {
    /// Returns a counter on machine `M` whose callers pass the groups of `levels`.
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
        // The groups are many, and in use, so they are left out.
        f.debug_struct("Gathering").field("levels", &self.levels).finish_non_exhaustive()
    }
}

impl Gathering {
    /// Returns a counter for real threads whose callers pass the groups of `levels`.
    #[must_use]
    pub fn new(levels: Levels) -> Self {
        Self::on_machine(levels)
    }

    /// Returns the next number.
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

    /// Builds a counter whose groups have as many callers as the shape's width.
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
