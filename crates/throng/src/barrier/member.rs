//! A member of a [`Barrier::team`](super::Barrier::team).

use std::time::{Duration, Instant};

use super::shaped::Shaped;
use super::{Broken, WaitResult, team};

/// A handle of one thread in a team of threads that meet at a barrier, with a rank of its own.
///
/// [`Barrier::team`](super::Barrier::team) makes the members. A member waits with `&mut self`, so that it cannot be used
/// twice at once:
///
/// ```compile_fail
/// let members = throng::Barrier::team(2);
/// std::thread::scope(|s| {
///     s.spawn(|| members[0].wait());
///     s.spawn(|| members[0].wait());
/// });
/// ```
///
/// Once a member is dropped, its team cannot meet any more. The other members get [`Broken`] in the first round
/// that it does not come to, and do not wait for ever. So a thread that panics does not hang its team.
#[derive(Debug)]
pub struct Member(pub(super) team::Member<Shaped>);

impl Member {
    /// Returns the number of the member in its team, from 0 on.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Returns the number of members of the team.
    #[must_use]
    pub fn members(&self) -> usize {
        self.0.members()
    }

    /// Returns the number of rounds that the member has completed.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.0.rounds()
    }

    /// Waits until all members have come to this round. The member of rank 0 leads.
    ///
    /// # Panics
    /// If not all members will come, because one was dropped, gave up or aborted.
    #[inline]
    pub fn wait(&mut self) -> WaitResult {
        self.0.wait()
    }

    /// Waits until all members have come to this round.
    ///
    /// # Errors
    /// If not all members will come, because one was dropped, gave up or aborted.
    #[inline]
    pub fn wait_checked(&mut self) -> Result<WaitResult, Broken> {
        self.0.wait_checked()
    }

    /// Waits until all members have come to this round, but not longer than `timeout`.
    ///
    /// A member that times out breaks the barrier, because the other members have seen it come.
    /// Some of them may already have left the round normally. Even the last member to come may time
    /// out, while it waits for another to wake up.
    ///
    /// # Errors
    /// If the time is over, or not all members will come.
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
        self.0.wait_timeout(timeout)
    }

    /// Waits until all members have come to this round, but not longer than until `deadline`.
    /// Otherwise like [`wait_timeout`](Member::wait_timeout).
    ///
    /// # Errors
    /// If the time is over, or not all members will come.
    pub fn wait_deadline(&mut self, deadline: Instant) -> Result<WaitResult, Broken> {
        self.wait_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Breaks the barrier: members that wait, and members that come later, get [`Broken`].
    pub fn abort(&self) {
        self.0.abort();
    }

    /// Returns whether the barrier is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.0.is_broken()
    }

    /// Splits the team. All members must call this. Members with the same `colour` become a team of
    /// their own, in the order of their ranks. The old team can still be used. (Like
    /// `MPI_Comm_split`.)
    ///
    /// # Errors
    /// If not all members will come.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Barrier;
    ///
    /// thread::scope(|scope| {
    ///     for mut member in Barrier::team(6) {
    ///         scope.spawn(move || {
    ///             let mut half = member.split(member.rank() as u64 % 2).unwrap();
    ///             assert_eq!((half.members(), half.rank()), (3, member.rank() / 2));
    ///             half.wait();        // with half of them
    ///             member.wait();      // with all of them
    ///         });
    ///     }
    /// });
    /// ```
    pub fn split(&mut self, colour: u64) -> Result<Self, Broken> {
        self.0.split(colour).map(Member)
    }
}
