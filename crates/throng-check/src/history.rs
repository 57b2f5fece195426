//! What was called when, and what came back.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// One call of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began, or earlier.
    pub started: u64,
    /// When it was over, or later, and the number it got; `None` while it is in progress.
    pub ended: Option<(u64, u64)>,
}

impl Call {
    /// A finished call.
    #[must_use]
    pub const fn finished(started: u64, ended: u64, value: u64) -> Self {
        Call { started, ended: Some((ended, value)) }
    }

    /// A call that never came back.
    #[must_use]
    pub const fn in_progress(started: u64) -> Self {
        Call { started, ended: None }
    }
}

/// Records calls in a world where one processor runs at a time: loom, shuttle, the simulator.
///
/// Its clock ticks at the start and at the end of every call, so no two events are at the same
/// time. Neither clock nor log is part of the machine: recording disturbs nothing.
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

    /// The calls so far, in the order in which they started.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }
}
