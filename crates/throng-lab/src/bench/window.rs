//! The phases of a run, and their times.
//!
//! ```text
//! gathering --> warming --> measuring --> done
//!           all there   time up, or the memory   time up, or
//!                       is a quarter full        it is full
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Gathering = 0,
    Warming = 1,
    Measuring = 2,
    Done = 3,
}

/// The times of the phases.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Time of the warm-up.
    pub warm_up: Duration,
    /// Time of the measurement.
    pub measure: Duration,
}

impl Times {
    /// No time at all.
    pub const NONE: Times = Times { warm_up: Duration::ZERO, measure: Duration::ZERO };
}

/// The phase of a run, and when it changed.
///
/// # Memory ordering
/// A change of phase is a release, and reading the phase an acquire. The times are read after all
/// threads have been joined, which orders everything.
#[repr(align(128))]
pub(super) struct Window {
    /// Alone on its line except for words that are written once a run.
    phase: AtomicU64,
    created: Instant,
    began_ns: AtomicU64,
    ended_ns: AtomicU64,
    /// The thread that keeps the time, unparked when full memory ends a phase early.
    conductor: Thread,
}

impl Window {
    pub(super) fn new() -> Self {
        Window {
            phase: AtomicU64::new(Phase::Gathering as u64),
            created: Instant::now(),
            began_ns: AtomicU64::new(0),
            ended_ns: AtomicU64::new(0),
            conductor: thread::current(),
        }
    }

    #[inline]
    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Acquire) {
            0 => Phase::Gathering,
            1 => Phase::Warming,
            2 => Phase::Measuring,
            _ => Phase::Done,
        }
    }

    /// Blocks a thread of the crew until the run starts.
    pub(super) fn await_start(&self) {
        while self.phase() == Phase::Gathering {
            thread::park();
        }
    }

    pub(super) fn start(&self) {
        self.phase.store(Phase::Warming as u64, Release);
    }

    /// Ends the crew's threads before the run has started.
    pub(super) fn cancel(&self) {
        self.phase.store(Phase::Done as u64, Release);
    }

    pub(super) fn begin_measuring(&self) {
        self.advance(Phase::Warming, Phase::Measuring, &self.began_ns);
    }

    pub(super) fn finish(&self) {
        self.advance(Phase::Measuring, Phase::Done, &self.ended_ns);
    }

    /// Advances from one phase to the next, unless another thread has done so.
    fn advance(&self, from: Phase, to: Phase, time_ns: &AtomicU64) {
        // Read first: a failing exchange would take the line from all other threads.
        if self.phase() != from {
            return;
        }
        let now_ns = self.created.elapsed().as_nanos() as u64;
        if self.phase.compare_exchange(from as u64, to as u64, Release, Relaxed).is_ok() {
            time_ns.store(now_ns, Relaxed);
            self.conductor.unpark();
        }
    }

    /// Keeps the time, on the thread that made the window.
    pub(super) fn conduct(&self, times: Times) {
        self.sleep_through(Phase::Warming, times.warm_up);
        self.begin_measuring();
        self.sleep_through(Phase::Measuring, times.measure);
        self.finish();
    }

    fn sleep_through(&self, phase: Phase, time: Duration) {
        let start = Instant::now();
        while self.phase() == phase {
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
        }
    }

    pub(super) fn seconds(&self) -> f64 {
        let (began_ns, ended_ns) = (self.began_ns.load(Relaxed), self.ended_ns.load(Relaxed));
        ended_ns.saturating_sub(began_ns) as f64 / 1e9
    }
}
