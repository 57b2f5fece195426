//! Barriers: n members meet, round after round; nobody leaves a round before all have come to it.
//!
//! | method | idea | critical path |
//! |---|---|---|
//! | [`Shaped`] | the default's: the one of the others that suits the machine and the number of members | |
//! | [`Grouped`] | groups that are close meet, look at each other, and meet again | log of the group, and one step |
//! | [`Tally`] | one word that counts all arrivals | n |
//! | [`CountAndRelease`] | one word that counts arrivals, and one to wait at | n |
//! | [`Switching`] | another method while members spin, [`CountAndRelease`] while they sleep | |
//! | [`Central`] | one counter, one word to wait on | n |
//! | [`CombiningTree`] | a tree of counters; the last to come to a node goes on | log n |
//! | [`Dissemination`] | in step k, member i tells member i + 2^k | log2 n |
//! | [`Tournament`] | a tree of pairs; who wins is known beforehand | log2 n |
//! | [`McsTree`] | a tree with a member at every node | log4 n |
//! | [`StaticFway`] | a tournament of f | log_f n |
//! | [`DynamicFway`] | a tournament of f in which the last to come goes on | log_f n |
//!
//! Every method implements [`Meeting`], in which members have ranks and rounds. There are two ways
//! in for threads: a [`Member`] is a handle with a fixed rank, made by [`team`]; an [`Anonymous`]
//! barrier takes whoever comes. [`Barrier`] is the default of both kinds.

mod alarm;
mod anonymous;
mod central;
mod combining_tree;
mod count_and_release;
mod default;
mod dissemination;
mod dynamic_fway;
mod fan_in;
mod fixed_tree;
mod flags;
mod grouped;
mod mcs_tree;
mod method;
mod shaped;
mod static_fway;
mod switching;
mod tally;
mod team;
mod tournament;
mod tree;
mod wake_up;

pub use anonymous::Anonymous;
pub use central::Central;
pub use combining_tree::CombiningTree;
pub use count_and_release::CountAndRelease;
pub use default::{AbortOnPanic, Barrier, BarrierWaitResult, Builder, WaitResult};
pub use dissemination::Dissemination;
pub use dynamic_fway::DynamicFway;
pub use fan_in::FanIn;
pub use flags::Flags;
pub use grouped::Grouped;
pub use mcs_tree::McsTree;
pub use method::{About, Method, Registered, Shape, methods};
pub use shaped::Shaped;
pub use static_fway::{Reinit, StaticFway};
pub use switching::Switching;
pub use tally::Tally;
pub use team::{Member, team};
pub use tournament::Tournament;
pub use wake_up::WakeUp;

use std::error::Error;
use std::fmt;

pub use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};

/// Members that meet, round after round, on machine `M`.
///
/// Each member has a rank below [`members`](Meeting::members), and its rounds are 0, 1, 2, ..., one
/// at a time. A rank that is used twice at once, or skips a round, makes a barrier that does not hold, and
/// nothing worse: [`Member`] and [`Anonymous`] prevent that.
pub trait Meeting<M: Machine = Native>: Send + Sync {
    /// How many members meet.
    fn members(&self) -> usize;

    /// Member `rank` comes to round `round`, and returns when all have come to it. What members did
    /// before they came is visible to all when they leave.
    ///
    /// # Errors
    /// When the way out opened while it waited. Then this barrier is of no use any more.
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken>;

    /// The same for somebody without a rank, where the method needs none: it knows the round itself.
    /// Tells whether the caller leads in this round.
    fn meet_unranked(
        &self,
        _cpu: &M::Cpu,
        _way_out: &WayOut<'_, M>,
    ) -> Option<Result<bool, Broken>> {
        None
    }

    /// Wakes members whose way out has opened. Needed only for those that are
    /// [always woken](WayOut::is_always_woken): the others look at it from time to time. A method that is made of another
    /// one must pass this on.
    fn wake_members(&self) {}
}

impl<M: Machine, B: Meeting<M> + ?Sized> Meeting<M> for Box<B> {
    fn members(&self) -> usize {
        (**self).members()
    }

    fn wake_members(&self) {
        (**self).wake_members();
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        (**self).meet_on(cpu, rank, round, way_out)
    }

    fn meet_unranked(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<Result<bool, Broken>> {
        (**self).meet_unranked(cpu, way_out)
    }
}

/// A barrier whose members will not all meet again: one gave up waiting, left, panicked, or called
/// `abort`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the barrier is broken: a member left, panicked, gave up waiting or aborted it; \
             make a new one",
        )
    }
}

impl Error for Broken {}
