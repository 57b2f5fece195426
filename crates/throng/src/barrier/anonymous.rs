//! A barrier for threads without ranks.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::time::Duration;

use super::WaitResult;
use super::alarm::Alarm;
use crate::classic::barrier::{Broken, Meeting};
use crate::machine::{Cpu, Line, Machine, Native, Patience, Place, Word};
use crate::topology::Topology;

/// A barrier for threads without ranks: any n threads meet, as at [`std::sync::Barrier`].
///
/// There is a seat for each rank of the meeting. A thread takes a seat for one round, and tries
/// first the seat that it had the last time. So a thread that keeps coming back writes to a cache
/// line of its own. When more than n threads come at once, the others wait for a seat. If the
/// method needs no ranks ([`Tally`](super::tally::Tally)), no seats are taken.
///
/// ```
/// use throng::structures::barrier::{Anonymous, DynamicFway, Method, Shape};
/// use throng::machine::Native;
///
/// let barrier = Anonymous::new(DynamicFway::<Native>::build(&Shape::for_members(4))?);
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| barrier.wait());
///     }
/// });
/// # Ok::<(), throng::ShapeError>(())
/// ```
///
/// # The seats
/// | word | means |
/// |---|---|
/// | 2r | free, to be taken for round r |
/// | 2r + 1 | taken for round r |
///
/// A seat is freed when its owner has left the round. So rounds at a seat do not overlap, and no
/// seat is more than one round ahead of another. A thread that finds no free seat waits for the
/// seat that is taken for the earliest round. If other seats are ahead of it, its round is
/// complete. If none is ahead, all n members have come. Either way it will be freed without the
/// waiting thread.
///
/// # More threads than members
/// A thread keeps its seat until it has left the round, so a round needs the threads of the round
/// before to have run. If all n are released and none of them gets a core, n other threads cannot
/// complete the next round. The barrier of the standard library has no such rule. It is needed here
/// because a released thread may still have to pass the release on, or to read a flag that the next
/// round at its seat would change. A method without seats does not have this rule.
///
/// ## Memory ordering
/// Taking a seat acquires what freeing it released: the round at that seat is over. The meeting
/// does the rest.
#[derive(Debug)]
pub struct Anonymous<B: Meeting<M>, M: Machine = Native> {
    meeting: B,
    seats: Vec<Line<M::Word>>,
    alarm: Alarm<M>,
    /// Unique among all barriers.
    id: u64,
}

impl<B: Meeting<M>, M: Machine> Anonymous<B, M> {
    /// Returns a barrier for the members of `meeting`. Waiting threads have the default
    /// [`Patience`] for that number of members.
    pub fn new(meeting: B) -> Self {
        let patience = Patience::for_threads(meeting.members());
        Anonymous::with(meeting, patience)
    }

    pub(super) fn with(meeting: B, patience: Patience) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let seat = |rank| Line::word::<M>(0, Place::named("seat").index(rank).near(rank));
        Anonymous {
            seats: (0..meeting.members()).map(seat).collect(),
            meeting,
            alarm: Alarm::new(patience),
            id: NEXT.fetch_add(1, Relaxed),
        }
    }

    /// Returns the number of threads that meet in a round.
    #[must_use]
    pub fn members(&self) -> usize {
        self.seats.len()
    }

    /// Breaks the barrier: threads that wait, and threads that come later, get [`Broken`].
    pub fn abort(&self) {
        self.alarm.raise(0, &self.meeting);
    }

    /// Returns whether the barrier is broken: no further round will be complete.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.alarm.is_raised()
    }

    /// Waits, on processor `cpu`, until n threads have come to this round, or until the clock reads
    /// `deadline`. Tries `seat` first, and stores there the seat that it took. A thread that times
    /// out breaks the barrier.
    ///
    /// # Errors
    /// If the time is over, or the barrier is broken.
    #[inline]
    pub fn wait_on(
        &self,
        cpu: &M::Cpu,
        deadline: Option<u64>,
        seat: &mut usize,
    ) -> Result<WaitResult, Broken> {
        match self.meet_unranked(cpu, deadline) {
            Some(met) => met,
            None => self.meet_seated(cpu, deadline, seat),
        }
    }

    /// Meets without a seat, or returns `None` if the method needs ranks.
    #[inline]
    fn meet_unranked(
        &self,
        cpu: &M::Cpu,
        deadline: Option<u64>,
    ) -> Option<Result<WaitResult, Broken>> {
        // A thread that comes to a broken barrier must not complete a round that others have given
        // up.
        if self.alarm.is_raised() {
            return Some(Err(Broken));
        }
        let anytime = self.alarm.way_out(u64::MAX, deadline);
        let met = self.meeting.meet_unranked(cpu, &anytime)?;
        match met {
            Ok(true) => self.alarm.round_is_over(cpu),
            Ok(false) => {}
            Err(Broken) => self.alarm.raise(0, &self.meeting),
        }
        Some(met.map(WaitResult::new))
    }

    #[inline]
    fn meet_seated(
        &self,
        cpu: &M::Cpu,
        deadline: Option<u64>,
        seat: &mut usize,
    ) -> Result<WaitResult, Broken> {
        let round = match self.take(*seat) {
            Some(round) => round,
            None => self.look_for_a_seat(cpu, deadline, seat)?,
        };
        let way_out = self.alarm.way_out(round, deadline);
        if self.meeting.meet_on(cpu, *seat, round, &way_out).is_err() {
            self.alarm.raise(round, &self.meeting);
            return Err(Broken);
        }
        let is_leader = *seat == 0;
        if is_leader {
            self.alarm.round_is_over(cpu);
        }
        self.seats[*seat].signal(2 * round + 2);
        Ok(WaitResult::new(is_leader))
    }

    /// Takes `seat` if it is free, and returns the round for which it was taken.
    #[inline]
    fn take(&self, seat: usize) -> Option<u64> {
        let word = self.seats.get(seat)?;
        let seen = word.load(Relaxed);
        let is_taken = seen.is_multiple_of(2)
            && word.compare_exchange(seen, seen + 1, Acquire, Relaxed).is_ok();
        is_taken.then_some(seen / 2)
    }

    /// Takes any free seat, beginning the search at `seat`, and returns the round. Waits if no seat
    /// is free.
    #[cold]
    fn look_for_a_seat(
        &self,
        cpu: &M::Cpu,
        deadline: Option<u64>,
        seat: &mut usize,
    ) -> Result<u64, Broken> {
        // A round is broken by a thread that came to it, so the rounds before it are complete. The
        // round of this call will therefore be broken, whichever number it gets. A thread that got
        // `Broken` does not free its seat.
        let way_out = self.alarm.way_out(u64::MAX, deadline);
        let first = *seat % self.seats.len();
        loop {
            let mut earliest = (u64::MAX, 0);
            for candidate in (first..self.seats.len()).chain(0..first) {
                if let Some(round) = self.take(candidate) {
                    *seat = candidate;
                    return Ok(round);
                }
                earliest = earliest.min((self.seats[candidate].load(Relaxed), candidate));
            }
            let (seen, candidate) = earliest;
            if seen.is_multiple_of(2) {
                continue;
            }
            let freed =
                self.seats[candidate].sleep_while(cpu, Acquire, &way_out, |word| word == seen);
            if freed.is_none() {
                // All seats were taken for this round or later ones: this round has its members.
                self.alarm.raise(seen / 2 + 1, &self.meeting);
                return Err(Broken);
            }
        }
    }
}

/// The number of barriers for which a thread remembers its seat.
const REMEMBERED: usize = 8;

thread_local! {
    /// The ids of barriers, and the seat that the thread last had at each.
    static SEATS: [Cell<(u64, usize)>; REMEMBERED] = const { [const { Cell::new((0, 0)) }; REMEMBERED] };
}

impl<B: Meeting> Anonymous<B> {
    /// Waits until n threads have come to this round. One of them leads.
    ///
    /// # Panics
    /// If the barrier is broken.
    #[inline]
    pub fn wait(&self) -> WaitResult {
        self.wait_checked().unwrap_or_else(|broken| panic!("{broken}"))
    }

    /// Waits until n threads have come to this round.
    ///
    /// # Errors
    /// If the barrier is broken.
    #[inline]
    pub fn wait_checked(&self) -> Result<WaitResult, Broken> {
        self.wait_until(None)
    }

    /// Waits until n threads have come to this round, but not longer than `timeout`. A thread that
    /// times out breaks the barrier, because other threads may have counted its arrival.
    ///
    /// # Errors
    /// If the time is over, or the barrier is broken.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<WaitResult, Broken> {
        let timeout = timeout.as_nanos().try_into().unwrap_or(u64::MAX);
        self.wait_until(Some(Native::cpu().clock().saturating_add(timeout)))
    }

    #[inline]
    fn wait_until(&self, deadline: Option<u64>) -> Result<WaitResult, Broken> {
        if let Some(met) = self.meet_unranked(&Native::cpu(), deadline) {
            return met;
        }
        SEATS.with(|seats| {
            let remembered = &seats[self.id as usize % REMEMBERED];
            let (id, mut seat) = remembered.get();
            if id != self.id {
                seat = self.first_choice();
            }
            let before = seat;
            let result = self.meet_seated(&Native::cpu(), deadline, &mut seat);
            if id != self.id || seat != before {
                remembered.set((self.id, seat));
            }
            result
        })
    }

    /// Returns the seat to try first: threads on neighbouring cores should have seats side by side. The topology
    /// is read only if the barrier was shaped by the places of cores.
    #[cold]
    fn first_choice(&self) -> usize {
        let core = Native::cpu().location();
        let Some(here) = Topology::here_if_read() else { return core };
        let place = here.place(core);
        let cores = here.processors();
        if cores > self.members() { place * self.members() / cores } else { place }
    }
}
