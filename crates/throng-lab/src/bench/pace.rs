//! How a thread takes its values: in chunks, or one by one with other work in between.

use std::hint::black_box;
use std::time::Instant;

use throng::machine::{Cpu, Native, NativeCpu, SplitMix64};
use throng::structures::counter::Counting;

/// How threads take values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// In chunks, behind one dynamic dispatch: nothing but the counter is measured.
    InARow,
    /// One by one, each behind a dispatch of its own. After each comes random other work of 0 to
    /// `work_ns` nanoseconds.
    OneByOne {
        /// Upper bound of the work in nanoseconds.
        work_ns: u32,
    },
}

impl Pace {
    /// Describes the pace, for the line above a table; `None` for the default.
    pub fn in_words(self) -> Option<String> {
        match self {
            Pace::InARow => None,
            Pace::OneByOne { work_ns: 0 } => Some("values one by one".to_owned()),
            Pace::OneByOne { work_ns } => {
                Some(format!("0 to {work_ns} ns of work after each value"))
            }
        }
    }
}

/// A thread that takes values.
#[derive(Debug)]
pub struct Worker {
    pace: Pace,
    work: Option<Work>,
}

impl Worker {
    /// Returns the worker of the calling thread.
    pub fn new(pace: Pace) -> Self {
        let work = match pace {
            Pace::InARow => None,
            Pace::OneByOne { work_ns } => Work::up_to(work_ns),
        };
        Worker { pace, work }
    }

    /// Fills a chunk.
    pub fn fill(&mut self, counter: &dyn Counting<Native>, cpu: &NativeCpu, chunk: &mut [u64]) {
        match self.pace {
            Pace::InARow => counter.fill_on(cpu, chunk),
            Pace::OneByOne { .. } => {
                for value in chunk {
                    *value = counter.next_on(cpu);
                    if let Some(work) = &mut self.work {
                        work.once();
                    }
                }
            }
        }
    }
}

/// Work of a thread, of random length.
#[derive(Debug)]
pub struct Work {
    random: SplitMix64,
    most_rounds: u64,
}

impl Work {
    /// Returns work of 0 to `nanoseconds` each time, or `None` if that is 0.
    pub fn up_to(nanoseconds: u32) -> Option<Self> {
        (nanoseconds > 0).then(|| Work {
            random: SplitMix64::from_state(Native::cpu().id() as u64),
            most_rounds: rounds_a_us() * u64::from(nanoseconds) / 1000,
        })
    }

    /// Does the work once.
    #[inline(never)]
    pub fn once(&mut self) {
        work(self.random.below(self.most_rounds + 1));
    }
}

/// Work that takes the same time each time.
#[derive(Clone, Copy, Debug)]
pub struct SteadyWork {
    rounds: u64,
}

impl SteadyWork {
    /// Returns work of about `nanoseconds`, calibrated on the calling thread.
    pub fn of(nanoseconds: u32) -> Self {
        SteadyWork { rounds: rounds_a_us() * u64::from(nanoseconds) / 1000 }
    }

    /// Does the work once.
    #[inline]
    pub fn once(self) {
        work(self.rounds);
    }
}

/// Computes `rounds` rounds, each from the result of the one before, without memory accesses.
fn work(rounds: u64) {
    let mut bits = black_box(rounds);
    for _ in 0..rounds {
        bits = SplitMix64::mix(bits);
    }
    black_box(bits);
}

/// Measures the rounds in a microsecond.
fn rounds_a_us() -> u64 {
    const ROUNDS: u64 = 20_000;
    // Each try is short against a time slice, so that some are not interrupted by busy neighbours.
    let tries = (0..9).map(|_| {
        let start = Instant::now();
        work(ROUNDS);
        start.elapsed().as_nanos().max(1) as u64
    });
    ROUNDS * 1000 / tries.min().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng::structures::counter::Hardware;

    #[test]
    fn values_are_taken_either_way() {
        for pace in [Pace::InARow, Pace::OneByOne { work_ns: 0 }, Pace::OneByOne { work_ns: 50 }] {
            let (counter, mut chunk) = (Hardware::new(), [0; 5]);
            Worker::new(pace).fill(&counter, &Native::cpu(), &mut chunk);
            assert_eq!(chunk, [0, 1, 2, 3, 4], "{pace:?}");
        }
    }

    #[test]
    fn work_takes_about_as_long_as_it_should() {
        let (counter, mut chunk) = (Hardware::new(), [0; 1000]);
        let mut worker = Worker::new(Pace::OneByOne { work_ns: 10_000 });
        let start = Instant::now();
        worker.fill(&counter, &Native::cpu(), &mut chunk);
        // 5 us on average; longer where other programs use the core too.
        assert!(start.elapsed().as_micros() > 2000);
    }
}
