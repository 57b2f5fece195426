//! `throng bench counters`: how many numbers a second each counter hands out.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured |
//! | [`run`] | one measured run |
//! | [`verify`] | the exact check of what was handed out |
//! | [`summary`] | medians, ratios, fairness |
//! | [`report`] | the table and the sentence below it |

pub mod plan;
pub mod report;
pub mod run;
pub mod summary;
pub mod verify;

use std::alloc::Layout;

use serde::Serialize;
use serde_json::{Value, json};
use throng::machine::Native;
use throng::structures::counter::{Registered, Shape};

use super::harness::{Benchmark, in_turn};
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
use plan::CountersPlan;
use run::{Failure, Memory};
use summary::Cell;

/// One run of one method.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The method.
    pub method: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// Number of values that the threads got in the measured time.
    pub values: u64,
    /// The time measured.
    pub seconds: f64,
    /// Values of each thread in the measured time.
    pub per_thread: Vec<u64>,
    /// Number of checked values, including those before the measured time.
    pub checked: u64,
}

impl Benchmark for CountersPlan {
    type Sample = Sample;
    type Cell = Cell;

    fn name(&self) -> &'static str {
        "counters"
    }

    fn measure(&self, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
        let mut memory = Memory::touched();
        let mut ballast = Vec::new();
        let on_threads =
            |&threads: &usize| self.methods.iter().map(move |method| (method, threads));
        let places: Vec<_> = self.threads.iter().flat_map(on_threads).collect();
        let name = |&(method, threads): &(&Registered<Native>, usize)| {
            format!("{}, {}", method.about.name, error::count(threads))
        };
        in_turn(self.repetitions, &places, name, |&(method, threads), repetition| {
            let times = Times { warm_up: self.warm_up_time(), measure: self.run_time };
            let crew = run::Plan { threads, times, pace: self.pace };
            let (measured, layout) =
                measure(method, &self.shape(threads), crew, &mut memory, pinning)?;
            // Keeps the counter's memory, so that no other counter gets its address. The
            // distance of a line from the cores depends on it, and each repetition should have
            // another one.
            let lines = layout.size().div_ceil(size_of::<super::Line>());
            ballast.push(Vec::<super::Line>::with_capacity(lines));
            Ok(Some(Sample {
                method: method.about.name,
                threads,
                repetition,
                values: measured.per_thread.iter().sum(),
                seconds: measured.seconds,
                per_thread: measured.per_thread,
                checked: measured.checked,
            }))
        })
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        let names: Vec<&'static str> = self.methods.iter().map(|m| m.about.name).collect();
        summary::cells(&names, &self.threads, samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        let mut asked = vec![
            ("reference", json!(crate::peers::reference().about.name)),
            ("threads", json!(self.threads)),
            ("width", json!(self.width)),
        ];
        asked.extend(self.pace.in_words().map(|pace| ("pace", json!(pace))));
        asked.push(("repetitions", json!(self.repetitions)));
        asked.push(("milliseconds", json!(self.run_time.as_secs_f64() * 1e3)));
        asked
    }
}

/// Makes one run of one method, on a new counter. Returns the counter's memory layout as well.
pub(crate) fn measure(
    method: &Registered<Native>,
    shape: &Shape,
    crew: run::Plan,
    memory: &mut Memory,
    pinning: &Pinning,
) -> Result<(run::Measured, Layout), Error> {
    let name = method.about.name;
    let counter = method.build(shape).map_err(|source| Error::shape(name, source))?;
    let measured = run::run(&*counter, crew, memory, pinning)
        .map_err(|failure| explain(failure, name, crew.threads))?;
    Ok((measured, Layout::for_value(&*counter)))
}

fn explain(failure: Failure, method: &'static str, threads: usize) -> Error {
    match failure {
        Failure::Spawn(source) => Error::Spawn { threads, source },
        Failure::Panicked => Error::Panicked { method, threads },
        Failure::Wrong(wrong) => {
            Error::check(method, format_args!("miscounted on {}: {wrong}", error::count(threads)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::pace;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;
    use throng::machine::NativeCpu;
    use throng::structures::counter::{About, Consistency, Counting, Method, Progress, ShapeError};

    /// A counter that hands out every value twice.
    struct Twice(AtomicU64);

    impl Counting<Native> for Twice {
        fn next_on(&self, _cpu: &NativeCpu) -> u64 {
            self.0.fetch_add(1, Relaxed) / 2
        }
    }

    impl Method<Native> for Twice {
        const ABOUT: About =
            About::new("twice", "wrong", "none", Consistency::Linearizable, Progress::WaitFree);
        fn build(_shape: &Shape) -> Result<Self, ShapeError> {
            Ok(Twice(AtomicU64::new(0)))
        }
    }

    #[test]
    fn a_lying_counter_fails_the_measurement_by_name() {
        let plan = CountersPlan {
            methods: vec![crate::peers::reference(), Registered::of::<Twice>()],
            threads: vec![3],
            width: None,
            pace: pace::Pace::InARow,
            repetitions: 1,
            // Long enough for the threads to get their turn on a busy machine.
            run_time: Duration::from_millis(300),
        };
        let error = plan.measure(&Pinning::find()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "twice miscounted on 3 threads: value 0 was handed out more than once"
        );
        assert_eq!(error.exit_code(), 1);
    }
}
