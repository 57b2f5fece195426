//! The default barrier, and the methods that it chooses from.

mod alarm;
pub(crate) mod anonymous;
pub(crate) mod count_and_release;
pub(crate) mod grouped;
mod member;
pub(crate) mod shaped;
pub(crate) mod switching;
pub(crate) mod tally;
pub(crate) mod team;

pub use member::Member;

use std::borrow::Cow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread;
use std::time::{Duration, Instant};

use self::anonymous::Anonymous;
use self::shaped::Shaped;
use self::team::team_with;
use crate::ShapeError;
pub use crate::classic::barrier::Broken;
use crate::classic::barrier::Shape;
pub use crate::machine::Patience;
use crate::topology::Topology;

/// A barrier for n threads, shaped like the machine. A drop-in for [`std::sync::Barrier`].
///
/// Threads meet by the method that suits their number and the machine ([`Shaped`]). A waiting
/// thread spins for 20 microseconds and then sleeps. If it slept through a short wait, it spins
/// longer the next time, up to 200 microseconds ([`Patience`]). If there are more threads than
/// cores it hardly spins, but yields for 50 microseconds. If other programs take the cores of
/// members, and rounds are shorter that way, members sleep at once.
///
/// ```
/// use std::thread;
/// use throng::Barrier;
///
/// let barrier = Barrier::new(4);
/// thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             // first half of the work
///             barrier.wait();
///             // second half: all threads have done the first
///         });
///     }
/// });
/// ```
///
/// # When not all come
/// A thread can stop waiting for a thread that will never come in three ways: it waits with
/// [`wait_timeout`](Barrier::wait_timeout), another thread calls [`abort`](Barrier::abort), or the
/// thread that panics holds the guard of [`abort_on_panic`](Barrier::abort_on_panic). From then on
/// the barrier is broken for good: every [`wait`](Barrier::wait) panics and says so, and
/// [`wait_checked`](Barrier::wait_checked) returns an error. A thread that is already asleep
/// notices after 20 ms, or after about as long as it has slept, and after 640 ms at the latest.
///
/// The child of a `fork` has only the thread that called `fork`. Other members do not come, so a
/// child needs a [new barrier](crate#after-a-fork).
///
/// # What differs from the standard library
/// - `new` allocates, and so is not `const`.
/// - There are at most 65 536 members.
/// - The result is a [`WaitResult`], with the alias [`BarrierWaitResult`]. It does not say which thread leads.
/// - A thread that sleeps wakes up for a moment every 20 ms at first, then less often, down to every 640 ms.
#[derive(Debug)]
pub struct Barrier {
    meeting: Anonymous<Shaped>,
}

/// Says whether a thread leads. Returned by [`Barrier::wait`]. One thread of each round leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitResult {
    is_leader: bool,
}

/// The name that the standard library has for [`WaitResult`].
///
/// ```
/// use throng::barrier::{Barrier, BarrierWaitResult};   // as from `std::sync`
///
/// let met: BarrierWaitResult = Barrier::new(1).wait();
/// assert!(met.is_leader());
/// ```
pub type BarrierWaitResult = WaitResult;

impl WaitResult {
    #[inline]
    pub(super) const fn new(is_leader: bool) -> Self {
        WaitResult { is_leader }
    }

    /// Returns whether this thread leads in this round.
    #[must_use]
    #[inline]
    pub const fn is_leader(&self) -> bool {
        self.is_leader
    }
}

/// Builds a [`Barrier`] or a team.
///
/// ```
/// use throng::Barrier;
/// use throng::barrier::Patience;
///
/// let sleeps_at_once = Barrier::builder(2).patience(Patience::NONE).build()?;
/// assert!(!sleeps_at_once.is_broken());
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder makes nothing until `build` is called"]
pub struct BarrierBuilder {
    members: usize,
    topology: Option<Topology>,
    patience: Option<Patience>,
}

impl BarrierBuilder {
    /// Shapes the barrier for a machine of this topology instead of the one that the program runs on.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Sets how long a thread spins and yields before it sleeps.
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Returns the barrier.
    ///
    /// # Errors
    /// If the number of threads is 0 or above [`Barrier::MAX_THREADS`].
    pub fn build(&self) -> Result<Barrier, ShapeError> {
        let (shaped, patience) = self.parts()?;
        Ok(Barrier { meeting: Anonymous::with(shaped, patience) })
    }

    /// Returns the members of a team, by rank.
    ///
    /// # Errors
    /// If the number of threads is 0 or above [`Barrier::MAX_THREADS`].
    pub fn build_team(&self) -> Result<Vec<Member>, ShapeError> {
        let (shaped, patience) = self.parts()?;
        Ok(team_with(shaped, patience).into_iter().map(Member).collect())
    }

    fn parts(&self) -> Result<(Shaped, Patience), ShapeError> {
        if self.patience == Some(Patience::NONE) {
            return Ok((Shaped::for_sleepers(self.members)?, Patience::NONE));
        }
        let topology = match &self.topology {
            Some(topology) => Cow::Borrowed(topology),
            None => Topology::for_meeting(self.members),
        };
        let is_crowded = self.members > topology.processors();
        let usual = if is_crowded { Patience::OVERSUBSCRIBED } else { Patience::DEDICATED };
        Ok((Shaped::new(self.members, &topology)?, self.patience.unwrap_or(usual)))
    }
}

impl Barrier {
    /// The largest number of threads that can meet at a barrier: 65 536.
    pub const MAX_THREADS: usize = Shape::MOST_MEMBERS;

    /// Returns a barrier for `n` threads. As in the standard library, 0 means 1.
    ///
    /// # Panics
    /// If `n` is above [`Barrier::MAX_THREADS`].
    #[must_use]
    pub fn new(n: usize) -> Self {
        Barrier::builder(n.max(1)).build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns a builder of a barrier for `n` threads.
    pub const fn builder(n: usize) -> BarrierBuilder {
        BarrierBuilder { members: n, topology: None, patience: None }
    }

    /// Returns `n` handles with ranks 0 to n - 1, one for each thread. They are a little faster
    /// than [`wait`](Barrier::wait) of a barrier without ranks, and a dropped handle breaks the
    /// barrier. Give neighbouring ranks to threads on neighbouring cores.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Barrier;
    ///
    /// thread::scope(|scope| {
    ///     for mut member in Barrier::team(4) {
    ///         scope.spawn(move || {
    ///             for _step in 0..100 {
    ///                 if member.wait().is_leader() {
    ///                     // the member of rank 0
    ///                 }
    ///             }
    ///         });
    ///     }
    /// });
    /// ```
    ///
    /// # Panics
    /// If `n` is 0 or above [`Barrier::MAX_THREADS`].
    #[must_use]
    pub fn team(n: usize) -> Vec<Member> {
        Barrier::builder(n).build_team().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until n threads have come. One of them leads.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Barrier;
    ///
    /// let barrier = Barrier::new(3);
    /// let leaders: usize = thread::scope(|scope| {
    ///     let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| barrier.wait().is_leader())).collect();
    ///     threads.into_iter().filter_map(|thread| thread.join().ok()).filter(|leads| *leads).count()
    /// });
    /// assert_eq!(leaders, 1);
    /// ```
    ///
    /// # Panics
    /// If the barrier is broken: see [above](Barrier#when-not-all-come).
    #[inline]
    pub fn wait(&self) -> WaitResult {
        self.meeting.wait()
    }

    /// Waits until n threads have come.
    ///
    /// ```
    /// use throng::Barrier;
    /// use throng::barrier::Broken;
    ///
    /// let barrier = Barrier::new(2);
    /// barrier.abort();
    /// assert_eq!(barrier.wait_checked(), Err(Broken));
    /// ```
    ///
    /// # Errors
    /// If the barrier is broken.
    #[inline]
    pub fn wait_checked(&self) -> Result<WaitResult, Broken> {
        self.meeting.wait_checked()
    }

    /// Waits until n threads have come, but not longer than `timeout`. A thread that times out
    /// breaks the barrier. Some of the other threads may already have left the round normally. Even
    /// the last thread to come may time out, while it waits for another to wake up.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// assert!(barrier.wait_timeout(Duration::from_millis(1)).is_err());
    /// assert!(barrier.is_broken());
    /// ```
    ///
    /// # Errors
    /// If the time is over, or the barrier is broken.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<WaitResult, Broken> {
        self.meeting.wait_timeout(timeout)
    }

    /// Waits until n threads have come, but not longer than until `deadline`. Otherwise like
    /// [`wait_timeout`](Barrier::wait_timeout).
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use throng::Barrier;
    ///
    /// let deadline = Instant::now() + Duration::from_millis(1);
    /// assert!(Barrier::new(1).wait_deadline(deadline).is_ok());
    /// assert!(Barrier::new(2).wait_deadline(deadline).is_err());
    /// ```
    ///
    /// # Errors
    /// If the time is over, or the barrier is broken.
    pub fn wait_deadline(&self, deadline: Instant) -> Result<WaitResult, Broken> {
        self.wait_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Breaks the barrier: threads that wait, and threads that come later, get [`Broken`].
    pub fn abort(&self) {
        self.meeting.abort();
    }

    /// Returns a guard that [aborts](Barrier::abort) when a panic drops it. So a thread that panics
    /// does not leave the others waiting.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Barrier;
    ///
    /// let barrier = Barrier::new(2);
    /// thread::scope(|scope| {
    ///     let dies = scope.spawn(|| {
    ///         let _guard = barrier.abort_on_panic();
    ///         panic!("a mistake");
    ///     });
    ///     assert!(barrier.wait_checked().is_err());
    ///     assert!(dies.join().is_err());
    /// });
    /// ```
    #[must_use = "it aborts when it is dropped"]
    pub fn abort_on_panic(&self) -> AbortOnPanic<'_> {
        AbortOnPanic(self)
    }

    /// Returns whether the barrier is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.meeting.is_broken()
    }
}

// A panic outside `wait` has changed nothing. A panic in `wait` has broken the barrier.
impl UnwindSafe for Barrier {}
impl RefUnwindSafe for Barrier {}

/// Aborts a [`Barrier`] when a panic drops it: see [`Barrier::abort_on_panic`].
#[derive(Debug)]
pub struct AbortOnPanic<'a>(&'a Barrier);

impl Drop for AbortOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abort();
        }
    }
}
