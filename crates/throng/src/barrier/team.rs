//! Members with fixed ranks.

use std::sync::Arc;
use std::time::Duration;

use super::alarm::Alarm;
use super::{Broken, Meeting, WaitResult};
use crate::machine::{Cpu, Machine, Native, Patience};

/// What the members of a team share.
#[derive(Debug)]
struct Team<B, M: Machine> {
    meeting: B,
    alarm: Alarm<M>,
    patience: Patience,
}

/// A member of a team: a handle that one thread keeps, with a rank of its own.
///
/// A member waits with `&mut self`, so that it cannot be used twice at once:
///
/// ```compile_fail
/// let members = throng::Barrier::team(2);
/// std::thread::scope(|s| {
///     s.spawn(|| members[0].wait());
///     s.spawn(|| members[0].wait());
/// });
/// ```
///
/// Once a member is dropped, its team cannot meet any more: the others are told so
/// ([`Broken`]) in the first round that it does not come to, and do not wait for ever. So a thread
/// that panics does not hang its team.
#[derive(Debug)]
#[repr(align(128))] // Each counts its rounds here; in a `Vec` they would be neighbours.
pub struct Member<B: Meeting<M>, M: Machine = Native> {
    team: Arc<Team<B, M>>,
    rank: usize,
    /// The round it comes to next.
    round: u64,
}

/// The members of a team that meets at `meeting`, by rank.
///
/// ```
/// use std::thread;
/// use throng::barrier::{Dissemination, Method, Shape, team};
/// use throng::machine::Native;
///
/// let members = team(Dissemination::<Native>::build(&Shape::for_members(3))?);
/// thread::scope(|scope| {
///     for mut member in members {
///         scope.spawn(move || {
///             for _round in 0..10 {
///                 member.wait();
///             }
///         });
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
pub fn team<B: Meeting<M>, M: Machine>(meeting: B) -> Vec<Member<B, M>> {
    team_with(meeting, Patience::default())
}

pub(super) fn team_with<B: Meeting<M>, M: Machine>(
    meeting: B,
    patience: Patience,
) -> Vec<Member<B, M>> {
    let team = Arc::new(Team { meeting, alarm: Alarm::new(), patience });
    (0..team.meeting.members())
        .map(|rank| Member { team: Arc::clone(&team), rank, round: 0 })
        .collect()
}

impl<B: Meeting<M>, M: Machine> Member<B, M> {
    /// The member's number in its team, from 0 up.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many members the team has.
    #[must_use]
    pub fn members(&self) -> usize {
        self.team.meeting.members()
    }

    /// How many rounds the member has come to.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.round
    }

    /// Breaks the barrier: those who wait, and those who come, are told that it is [`Broken`].
    pub fn abort(&self) {
        self.team.alarm.raise(0);
    }

    /// Whether the team will not meet any more.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.team.alarm.is_raised()
    }

    /// Waits, on processor `cpu`, until all members have come to this round, or until the time is
    /// `deadline`. Who gives up breaks the barrier.
    ///
    /// # Errors
    /// When not all members will come.
    #[inline]
    pub fn wait_on(&mut self, cpu: &M::Cpu, deadline: Option<u64>) -> Result<WaitResult, Broken> {
        let Team { meeting, alarm, patience } = &*self.team;
        let way_out = alarm.way_out(self.round, deadline, *patience);
        // Whoever comes to a broken barrier must not complete a round that others have given up.
        if alarm.is_raised_at(self.round)
            || meeting.meet_on(cpu, self.rank, self.round, &way_out).is_err()
        {
            alarm.raise(self.round);
            return Err(Broken);
        }
        self.round += 1;
        Ok(WaitResult::new(self.rank == 0))
    }
}

impl<B: Meeting> Member<B> {
    /// Waits until all members have come to this round. The member of rank 0 leads.
    ///
    /// # Panics
    /// When not all members will come, because one was dropped, gave up or aborted.
    #[inline]
    pub fn wait(&mut self) -> WaitResult {
        self.wait_on(&Native::cpu(), None).unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Waits until all members have come to this round.
    ///
    /// # Errors
    /// When not all members will come, because one was dropped, gave up or aborted.
    #[inline]
    pub fn wait_checked(&mut self) -> Result<WaitResult, Broken> {
        self.wait_on(&Native::cpu(), None)
    }

    /// Waits until all members have come to this round, but not longer than `timeout`. Who gives up
    /// breaks the barrier, for the others have been told that it had come.
    ///
    /// # Errors
    /// When the time is over, or when not all members will come.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Barrier;
    ///
    /// let mut members = Barrier::team(2);
    /// assert!(members[0].wait_timeout(Duration::from_millis(1)).is_err());
    /// assert!(members[1].is_broken());
    /// ```
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<WaitResult, Broken> {
        let cpu = Native::cpu();
        let deadline =
            cpu.clock().saturating_add(timeout.as_nanos().try_into().unwrap_or(u64::MAX));
        self.wait_on(&cpu, Some(deadline))
    }
}

impl<B: Meeting<M>, M: Machine> Drop for Member<B, M> {
    fn drop(&mut self) {
        self.team.alarm.raise(self.round);
    }
}
