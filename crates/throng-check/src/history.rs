//! Histories: calls with their times and results.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

mod queue;

pub use queue::{Answer, Asked, Journal, Request};

/// One call of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The time when it began, or earlier.
    pub started: u64,
    /// The time when it ended, or later, and the number it got; `None` while it is in progress.
    pub ended: Option<(u64, u64)>,
}

impl Call {
    /// Returns a finished call.
    #[must_use]
    pub const fn finished(started: u64, ended: u64, value: u64) -> Self {
        Call { started, ended: Some((ended, value)) }
    }

    /// Returns a call that never ended.
    #[must_use]
    pub const fn in_progress(started: u64) -> Self {
        Call { started, ended: None }
    }
}

/// Records calls in a world where one processor runs at a time: loom, shuttle, the simulator.
///
/// Its clock ticks at the start and at the end of every call, so no two events are at the same
/// time. Neither clock nor log is part of the machine, so recording disturbs nothing.
///
/// ```
/// use throng_check::history::{Call, Recorder};
/// let recorder = Recorder::default();
/// recorder.call(|| 7);
/// assert_eq!(recorder.calls(), [Call::finished(0, 1, 7)]);
/// ```
#[derive(Debug, Default)]
pub struct Recorder {
    clock: AtomicU64,
    calls: Mutex<Vec<Call>>,
}

impl Recorder {
    /// Makes a call and records it.
    pub fn call(&self, call: impl FnOnce() -> u64) -> u64 {
        let started = Call::in_progress(self.tick());
        let index = {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.push(started);
            calls.len() - 1
        };
        let value = call();
        let ended = Some((self.tick(), value));
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)[index].ended = ended;
        value
    }

    /// Returns the calls so far, in the order in which they started.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }
}

/// One visit to a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The time when it began, or earlier.
    pub entered: u64,
    /// The time when it ended, or later, and whether the visitor led. `None` while it waits, and if
    /// the barrier was broken.
    pub left: Option<(u64, bool)>,
}

impl Visit {
    /// Returns a visit that has ended.
    #[must_use]
    pub const fn over(entered: u64, left: u64, leads: bool) -> Self {
        Visit { entered, left: Some((left, leads)) }
    }

    /// Returns a visit that did not end with a meeting.
    #[must_use]
    pub const fn in_progress(entered: u64) -> Self {
        Visit { entered, left: None }
    }
}

/// Records visits as [`Recorder`] records calls, separately for each visitor.
///
/// ```
/// use throng_check::history::{Register, Visit};
/// let register = Register::for_visitors(2);
/// assert_eq!(register.visit(1, || Ok::<_, ()>(true)), Ok(true));
/// assert_eq!(register.visits(), [vec![], vec![Visit::over(0, 1, true)]]);
/// ```
#[derive(Debug)]
pub struct Register {
    clock: AtomicU64,
    visits: Vec<Mutex<Vec<Visit>>>,
}

impl Register {
    /// Returns a register for `count` visitors.
    #[must_use]
    pub fn for_visitors(count: usize) -> Self {
        Register {
            clock: AtomicU64::new(0),
            visits: (0..count).map(|_| Mutex::default()).collect(),
        }
    }

    /// Returns the number of visitors.
    #[must_use]
    pub fn visitors(&self) -> usize {
        self.visits.len()
    }

    /// Makes a visit of `visitor`, which returns whether it leads, and records it. A visit that
    /// fails is recorded as one that has not ended.
    ///
    /// # Errors
    /// The error of `visit`.
    pub fn visit<E>(
        &self,
        visitor: usize,
        visit: impl FnOnce() -> Result<bool, E>,
    ) -> Result<bool, E> {
        let visits = || self.visits[visitor].lock().unwrap_or_else(PoisonError::into_inner);
        visits().push(Visit::in_progress(self.tick()));
        let leads = visit()?;
        let left = self.tick();
        if let Some(visit) = visits().last_mut() {
            visit.left = Some((left, leads));
        }
        Ok(leads)
    }

    /// Returns the visits so far, for each visitor in order.
    #[must_use]
    pub fn visits(&self) -> Vec<Vec<Visit>> {
        let visits = |visits: &Mutex<Vec<Visit>>| {
            visits.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        self.visits.iter().map(visits).collect()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }
}
