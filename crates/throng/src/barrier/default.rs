//! The default barrier.

use std::borrow::Cow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::thread;
use std::time::Duration;

use super::team::team_with;
use super::{Anonymous, Broken, Member, ShapeError, Shaped};
use crate::machine::Patience;
use crate::topology::Topology;

/// A barrier for n threads, shaped like the machine. A drop-in for [`std::sync::Barrier`].
///
/// Threads meet by the method that suits their number and the machine ([`Shaped`]). A waiting thread spins for 20
/// microseconds and then sleeps; if it slept through a short wait, it spins for longer the next time, up to 200
/// ([`Patience`]). If there are more threads than cores it hardly spins, but yields for 50 microseconds. If other
/// programs take the cores of members, and rounds are shorter that way, members sleep at once.
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
///             // second half: everybody has done the first
///         });
///     }
/// });
/// ```
///
/// # When not all come
/// A thread that waits for one that will never come has three ways out: it waits with
/// [`wait_timeout`](Barrier::wait_timeout), another calls [`abort`](Barrier::abort), or the one that
/// dies kept the guard of [`abort_on_panic`](Barrier::abort_on_panic). From then on the barrier is
/// broken for good: every [`wait`](Barrier::wait) panics and says so,
/// [`wait_checked`](Barrier::wait_checked) returns an error, at once or, where a thread sleeps
/// already, after 20 ms or about as long as it has slept, but not more than 640 ms.
///
/// # Differs from the standard library's
/// - `new` allocates, and so is not `const`.
/// - There are at most 65 536 members.
/// - The result is a [`WaitResult`]. Which thread leads is not said there either.
/// - A thread that sleeps wakes up for a moment now and then: every 20 ms at first, then less often,
///   down to every 640 ms.
#[derive(Debug)]
pub struct Barrier {
    meeting: Anonymous<Shaped>,
}

/// What [`Barrier::wait`] tells: whether this thread leads. One thread of each round does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitResult {
    is_leader: bool,
}

/// The name that the standard library has for [`WaitResult`].
pub type BarrierWaitResult = WaitResult;

impl WaitResult {
    #[inline]
    pub(super) const fn new(is_leader: bool) -> Self {
        WaitResult { is_leader }
    }

    /// Whether this thread is the one that leads in this round.
    #[must_use]
    #[inline]
    pub const fn is_leader(&self) -> bool {
        self.is_leader
    }
}

/// How a [`Barrier`] should be.
#[derive(Clone, Debug)]
pub struct Builder {
    members: usize,
    topology: Option<Topology>,
    patience: Option<Patience>,
}

impl Builder {
    /// For a machine of this topology, instead of the one the program runs on.
    #[must_use]
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// Waits with this patience.
    #[must_use]
    pub fn patience(mut self, patience: Patience) -> Self {
        self.patience = Some(patience);
        self
    }

    /// The barrier.
    ///
    /// # Errors
    /// With no members, or more than [`Shape::MOST_MEMBERS`](super::Shape::MOST_MEMBERS).
    pub fn build(&self) -> Result<Barrier, ShapeError> {
        let (shaped, patience) = self.parts()?;
        Ok(Barrier { meeting: Anonymous::with(shaped, patience) })
    }

    /// The members of a team, by rank.
    ///
    /// # Errors
    /// With no members, or more than [`Shape::MOST_MEMBERS`](super::Shape::MOST_MEMBERS).
    pub fn build_team(&self) -> Result<Vec<Member<Shaped>>, ShapeError> {
        let (shaped, patience) = self.parts()?;
        Ok(team_with(shaped, patience))
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
        let usual = if is_crowded { Patience::CROWDED } else { Patience::ROOMY };
        Ok((Shaped::new(self.members, &topology)?, self.patience.unwrap_or(usual)))
    }
}

impl Barrier {
    /// A barrier for `n` threads. As in the standard library, 0 is taken for 1.
    ///
    /// # Panics
    /// If `n` is above [`Shape::MOST_MEMBERS`](super::Shape::MOST_MEMBERS): 65 536.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Barrier::builder(n.max(1)).build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A barrier for `n` threads, of which something is to be said.
    #[must_use]
    pub const fn builder(n: usize) -> Builder {
        Builder { members: n, topology: None, patience: None }
    }

    /// `n` handles with ranks 0 to n - 1, to be given to threads: a little faster than
    /// [`wait`](Barrier::wait) of a barrier for whoever comes, and a thread that dies is noticed. Give
    /// neighbouring ranks to threads on neighbouring cores.
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
    /// If `n` is 0 or above [`Shape::MOST_MEMBERS`](super::Shape::MOST_MEMBERS).
    #[must_use]
    pub fn team(n: usize) -> Vec<Member<Shaped>> {
        Barrier::builder(n).build_team().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until n threads have come. One of them leads.
    ///
    /// # Panics
    /// When the barrier is broken: see [above](Barrier#when-not-all-come).
    #[inline]
    pub fn wait(&self) -> WaitResult {
        self.meeting.wait()
    }

    /// Waits until n threads have come.
    ///
    /// # Errors
    /// When the barrier is broken.
    #[inline]
    pub fn wait_checked(&self) -> Result<WaitResult, Broken> {
        self.meeting.wait_checked()
    }

    /// Waits until n threads have come, but not longer than `timeout`. Who gives up breaks the
    /// barrier. Some of the others may have left the round by then as if nothing had happened: the last
    /// one may give up, too, where it waits for another to wake up.
    ///
    /// # Errors
    /// When the time is over, or when the barrier is broken.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<WaitResult, Broken> {
        self.meeting.wait_timeout(timeout)
    }

    /// Breaks the barrier: those who wait, and those who come, are told so.
    pub fn abort(&self) {
        self.meeting.abort();
    }

    /// A guard that [aborts](Barrier::abort) when it is dropped by a panic: a thread that keeps one
    /// does not hang the others by dying.
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

    /// Whether the barrier is broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.meeting.is_broken()
    }
}

// A member that panics outside `wait` has changed nothing; one that panics in it has broken the barrier.
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
