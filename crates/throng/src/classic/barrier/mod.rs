//! The barriers of the papers: their common part, and a file for each.

mod byte_flags;
mod central;
mod central_locked;
mod combining_tree;
mod combining_tree_locked;
mod dissemination;
mod dynamic_fway;
mod dynamic_fway_bytes;
mod fan_in;
mod fixed_tree;
mod flags;
mod locked_arrivals;
mod mcs_tree;
mod mcs_tree_bytes;
mod method;
mod senses;
mod static_fway;
mod tournament;
mod tree;
mod wake_up;

pub use central::Central;
pub use central_locked::LockedCentral;
pub use combining_tree::CombiningTree;
pub use combining_tree_locked::LockedCombiningTree;
pub use dissemination::Dissemination;
pub use dynamic_fway::DynamicFway;
pub use dynamic_fway_bytes::DynamicFwayBytes;
pub use fan_in::FanIn;
pub use flags::Flags;
pub use mcs_tree::McsTree;
pub use mcs_tree_bytes::McsTreeBytes;
pub use method::{About, Method, Registered, Shape};
pub use static_fway::{Reinit, StaticFway};
pub use tournament::Tournament;
pub use wake_up::WakeUp;

use std::error::Error;
use std::fmt;

pub use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};

/// Members that meet, round after round, on machine `M`.
///
/// Each member has a rank below [`members`](Meeting::members), and its rounds are 0, 1, 2, ..., one
/// at a time. If a rank is used twice at once, or skips a round, members may leave a round early;
/// nothing worse happens. [`Member`](crate::structures::barrier::Member) and
/// [`Anonymous`](crate::structures::barrier::Anonymous) prevent that.
pub trait Meeting<M: Machine = Native>: Send + Sync {
    /// Returns the number of members that meet.
    fn members(&self) -> usize;

    /// Makes member `rank` come to round `round`, and returns when all have come to it. What
    /// members did before they came is visible to all when they leave.
    ///
    /// # Errors
    /// If the way out opened while it waited. Then this barrier cannot be used any more.
    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken>;

    /// Meets without a rank, if the method needs none: it knows the round itself. Returns whether
    /// the caller leads in this round, or `None` if the method needs ranks.
    fn meet_unranked(
        &self,
        _cpu: &M::Cpu,
        _way_out: &WayOut<'_, M>,
    ) -> Option<Result<bool, Broken>> {
        None
    }

    /// Wakes members whose way out has opened. It is needed only for those that are [always
    /// woken](WayOut::is_always_woken): the others check it from time to time. A method that is
    /// made of another one must pass this on.
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

/// The error of a barrier whose members will not all meet again: one timed out, was dropped,
/// panicked, or called `abort`.
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
