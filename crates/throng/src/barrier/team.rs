//! Members with fixed ranks.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::WaitResult;
use super::alarm::Alarm;
use super::shaped::Shaped;
use crate::classic::barrier::{Broken, Meeting};
use crate::machine::{Cpu, Machine, Native, Patience};

/// The state that the members of a team share.
#[derive(Debug)]
struct Team<B: Meeting<M>, M: Machine> {
    meeting: B,
    alarm: Alarm<M>,
    splits: Mutex<Splits<B, M>>,
}

/// Teams that are being made, by the round of the split and their colour.
type Splits<B, M> = BTreeMap<(u64, u64), Split<B, M>>;

/// A team that is being made from the members of one colour.
#[derive(Debug)]
struct Split<B: Meeting<M>, M: Machine> {
    /// The ranks of its members in the old team.
    ranks: Vec<usize>,
    /// The new handles, in the order of `ranks`, until they are taken. Empty until the first member
    /// fetches its handle.
    members: Vec<Option<Member<B, M>>>,
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
/// Once a member is dropped, its team cannot meet any more. The others get [`Broken`] in the first
/// round that it does not come to, and do not wait for ever. So a thread that panics does not hang
/// its team.
#[derive(Debug)]
#[repr(align(128))] // Each counts its rounds here; in a `Vec` they would be neighbours.
pub struct Member<B: Meeting<M>, M: Machine = Native> {
    team: Arc<Team<B, M>>,
    rank: usize,
    /// The number of the next round.
    round: u64,
}

/// Returns the members of a team that meets at `meeting`, in the order of their ranks.
///
/// ```
/// use std::thread;
/// use throng::structures::barrier::{Dissemination, Method, Shape, team};
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
    let patience = Patience::for_threads(meeting.members());
    team_with(meeting, patience)
}

pub(super) fn team_with<B: Meeting<M>, M: Machine>(
    meeting: B,
    patience: Patience,
) -> Vec<Member<B, M>> {
    let team = Arc::new(Team {
        meeting,
        alarm: Alarm::new(patience),
        splits: Mutex::new(BTreeMap::new()),
    });
    (0..team.meeting.members())
        .map(|rank| Member { team: Arc::clone(&team), rank, round: 0 })
        .collect()
}

impl<B: Meeting<M>, M: Machine> Member<B, M> {
    /// Returns the number of the member in its team, from 0 up.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of members of the team.
    #[must_use]
    pub fn members(&self) -> usize {
        self.team.meeting.members()
    }

    /// Returns the number of rounds that the member has completed.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.round
    }

    /// Breaks the barrier: members that wait, and members that come later, get [`Broken`].
    pub fn abort(&self) {
        self.team.alarm.raise(0, &self.team.meeting);
    }

    /// Returns whether the barrier is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.team.alarm.is_raised()
    }

    /// Waits, on processor `cpu`, until all members have come to this round, or until the clock
    /// reads `deadline`. A member that times out breaks the barrier.
    ///
    /// # Errors
    /// If the time is over, or not all members will come.
    #[inline]
    pub fn wait_on(&mut self, cpu: &M::Cpu, deadline: Option<u64>) -> Result<WaitResult, Broken> {
        let Team { meeting, alarm, .. } = &*self.team;
        let way_out = alarm.way_out(self.round, deadline);
        // A member that comes to a broken barrier must not complete a round that others have given
        // up.
        if alarm.is_raised_at(self.round)
            || meeting.meet_on(cpu, self.rank, self.round, &way_out).is_err()
        {
            alarm.raise(self.round, meeting);
            return Err(Broken);
        }
        self.round += 1;
        let is_leader = self.rank == 0;
        if is_leader {
            alarm.round_is_over(cpu);
        }
        Ok(WaitResult::new(is_leader))
    }
}

impl<B: Meeting> Member<B> {
    /// Waits until all members have come to this round. The member of rank 0 leads.
    ///
    /// # Panics
    /// If not all members will come, because one was dropped, timed out or aborted.
    #[inline]
    pub fn wait(&mut self) -> WaitResult {
        self.wait_on(&Native::cpu(), None).unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Waits until all members have come to this round.
    ///
    /// # Errors
    /// If not all members will come, because one was dropped, timed out or aborted.
    #[inline]
    pub fn wait_checked(&mut self) -> Result<WaitResult, Broken> {
        self.wait_on(&Native::cpu(), None)
    }

    /// Waits until all members have come to this round, but not longer than `timeout`. A member
    /// that times out breaks the barrier, because the others have seen it come. Some of them may
    /// already have left the round normally. Even the last member to come may time out, while it
    /// waits for another to wake up.
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
        let cpu = Native::cpu();
        let deadline =
            cpu.clock().saturating_add(timeout.as_nanos().try_into().unwrap_or(u64::MAX));
        self.wait_on(&cpu, Some(deadline))
    }
}

impl Member<Shaped> {
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
        let key = (self.round, colour);
        let untouched = || Split { ranks: Vec::new(), members: Vec::new() };
        self.splits().entry(key).or_insert_with(untouched).ranks.push(self.rank);
        self.wait_checked()?;
        // All members have entered their colours.
        let mut splits = self.splits();
        let split = splits.get_mut(&key).expect("it is removed when its last member has gone");
        if split.members.is_empty() {
            split.ranks.sort_unstable();
            let shaped = self.team.meeting.part(split.ranks.len());
            let shaped = shaped.expect("a part of a team is not larger than the team");
            split.members =
                team_with(shaped, self.team.alarm.patience()).into_iter().map(Some).collect();
        }
        let place = split.ranks.binary_search(&self.rank).expect("it has said its colour");
        let member = split.members[place].take().expect("each takes its own");
        if split.members.iter().all(Option::is_none) {
            splits.remove(&key);
        }
        Ok(member)
    }

    fn splits(&self) -> MutexGuard<'_, Splits<Shaped, Native>> {
        self.team.splits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<B: Meeting<M>, M: Machine> Drop for Member<B, M> {
    fn drop(&mut self) {
        self.team.alarm.raise(self.round, &self.team.meeting);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Barrier;
    use std::thread;

    #[test]
    fn a_team_can_be_split_again_and_again() {
        let ranks: Vec<Vec<usize>> = thread::scope(|scope| {
            let threads: Vec<_> = Barrier::team(7)
                .into_iter()
                .map(|mut member| {
                    scope.spawn(move || {
                        let mut ranks = Vec::new();
                        for round in 0..50 {
                            let mut part = member.split((member.rank() % 3) as u64).unwrap();
                            let mut alone = part.split(part.rank() as u64 + round).unwrap();
                            part.wait();
                            alone.wait();
                            ranks.push(part.rank());
                        }
                        member.wait();
                        assert!(member.0.splits().is_empty(), "all have taken their handles");
                        member.wait();
                        ranks
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for (rank, ranks) in ranks.into_iter().enumerate() {
            assert_eq!(ranks, [rank / 3; 50]);
        }
    }

    #[test]
    fn a_dropped_member_breaks_the_rounds_it_does_not_come_to() {
        let mut members = Barrier::team(2);
        let mut second = members.pop().unwrap();
        let mut first = members.pop().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                first.wait();
                // It is dropped here, and does not wait for the other member to have left that
                // round.
            });
            scope.spawn(move || {
                assert!(second.wait_checked().is_ok());
                assert_eq!(second.wait_checked(), Err(Broken));
                assert_eq!(second.wait_checked(), Err(Broken), "and it stays broken");
            });
        });
    }
}
