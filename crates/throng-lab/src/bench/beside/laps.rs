//! The measured process: its phases, the time of each operation, and its messages to the lab.
//!
//! ```text
//! warming up | "measuring" | operations, each one timed | "measured" | the numbers, as JSON
//! ```
//!
//! The lab reads these lines as they come, and reads the neighbours' progress at the first two. A
//! process that is a neighbour publishes its own progress instead, and never measures.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::progress::Publisher;
use crate::bench::latency::{Latency, Recorder};
use crate::bench::window::Times;

/// The line before the measured time.
pub(super) const MEASURING: &str = "measuring";
/// The line after it.
pub(super) const MEASURED: &str = "measured";

/// The results of one process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Measured {
    /// Number of measured operations.
    pub operations: u64,
    /// Mean nanoseconds of an operation.
    pub ns: f64,
    /// Latencies of single operations. In a stream: from before the push of an item to after its
    /// pop.
    pub latency: Latency,
    /// Measured time in seconds.
    pub seconds: f64,
    /// Processor time that the process used meanwhile, in seconds.
    pub cpu_seconds: f64,
}

/// The reader of a process's results.
#[derive(Debug)]
pub(super) enum Audience {
    /// The lab, which measures it for these times.
    Lab(Times),
    /// The lab, which reads the progress of a neighbour.
    Progress(Publisher),
}

/// The measured time.
#[derive(Debug)]
pub(super) struct Span {
    began: Instant,
    cpu_before: Duration,
}

impl Span {
    /// Begins now, and prints [`MEASURING`].
    pub(super) fn begin() -> Self {
        say(MEASURING);
        Span { cpu_before: cpu_time(), began: Instant::now() }
    }

    /// Ends now, and prints [`MEASURED`]. Returns its length, and the processor time used.
    pub(super) fn end(&self) -> (Duration, Duration) {
        let times = (self.began.elapsed(), cpu_time().saturating_sub(self.cpu_before));
        say(MEASURED);
        times
    }
}

/// Prints a line. If the lab no longer reads, it has ended this process, or will.
pub(in crate::bench) fn say(line: &str) {
    let mut stdout = io::stdout().lock();
    let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
}

/// Returns the processor time of all threads of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Times the consecutive operations of one thread.
#[derive(Debug)]
pub(super) struct Laps {
    audience: Audience,
    started: Instant,
    span: Option<Span>,
    last: Instant,
    sum: Duration,
    recorder: Recorder,
    measured: Option<Measured>,
}

impl Laps {
    /// Begins the warm-up.
    pub(super) fn new(audience: Audience) -> Self {
        let now = Instant::now();
        Laps {
            audience,
            started: now,
            span: None,
            last: now,
            sum: Duration::ZERO,
            recorder: Recorder::new(),
            measured: None,
        }
    }

    /// Begins an operation now; the time since the last one is not counted.
    pub(super) fn restart(&mut self) {
        self.last = Instant::now();
    }

    /// Ends an operation and begins the next one. Returns whether it was the last one to measure.
    pub(super) fn lap(&mut self) -> bool {
        let now = Instant::now();
        let lap = now.saturating_duration_since(self.last);
        self.last = now;
        let times = match &mut self.audience {
            Audience::Lab(times) => *times,
            Audience::Progress(publisher) => return publisher.add(1, now),
        };
        let Some(span) = &self.span else {
            if now.saturating_duration_since(self.started) >= times.warm_up {
                self.span = Some(Span::begin());
                self.restart();
            }
            return false;
        };
        self.sum += lap;
        self.recorder.record(lap.as_nanos().try_into().unwrap_or(u64::MAX));
        if now.saturating_duration_since(span.began) < times.measure {
            return false;
        }
        self.measured = measured(span.end(), self.sum, [&self.recorder].into_iter());
        true
    }

    /// Returns the results, or [`None`] from a neighbour.
    pub(super) fn measured(self) -> Option<Measured> {
        self.measured
    }
}

/// Returns the results of a span in which these recorders recorded every operation and all
/// operations took `sum`, or [`None`] if there was no operation.
pub(super) fn measured<'a>(
    (time, cpu): (Duration, Duration),
    sum: Duration,
    recorders: impl Iterator<Item = &'a Recorder> + Clone,
) -> Option<Measured> {
    let operations: u64 = recorders.clone().map(Recorder::count).sum();
    Some(Measured {
        operations,
        ns: sum.as_secs_f64() * 1e9 / operations as f64,
        latency: Recorder::together(recorders)?,
        seconds: time.as_secs_f64(),
        cpu_seconds: cpu.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laps_are_timed_one_by_one_and_what_is_between_them_is_left_out() {
        let (warm_up, measure) = (Duration::from_millis(1), Duration::from_millis(20));
        let mut laps = Laps::new(Audience::Lab(Times { warm_up, measure }));
        let mut rounds = 0;
        loop {
            std::thread::sleep(Duration::from_millis(2));
            laps.restart();
            std::thread::sleep(Duration::from_millis(1));
            rounds += 1;
            if laps.lap() {
                break;
            }
        }
        let measured = laps.measured().unwrap();
        assert!(measured.operations < rounds, "the first one was warm-up");
        let in_laps = measured.ns * measured.operations as f64 / 1e9;
        assert!(measured.seconds >= 0.02 && in_laps < 0.9 * measured.seconds, "{measured:?}");
        assert!(measured.latency.p50_ns >= 1e6 * 0.99, "{measured:?}");
        assert!(measured.cpu_seconds >= 0.0);
    }

    #[test]
    fn of_no_operation_nothing_is_said() {
        let none = measured((Duration::ZERO, Duration::ZERO), Duration::ZERO, [].into_iter());
        assert_eq!(none, None);
    }
}
