//! `throng bench`: measuring, checking, reporting.
//!
//! | module | what it does |
//! |---|---|
//! | [`setup`] | what machine this is, and how it feels right now |
//! | [`window`] | the phases of a run, and the time they change |
//! | `crew` | threads that begin together |
//! | [`stats`] | medians, and how far numbers lie apart |
//! | [`latency`] | histograms and percentiles |
//! | `grid`, `noise` | the table, and how far to trust it |
//! | [`json`] | where every single number goes, for other programs |
//! | [`barriers`] | `throng bench barriers` |
//! | [`beside`] | the same, queues and loops beside busy neighbours |
//! | [`everyday`] | `throng bench everyday` |
//! | [`heat`] | `throng bench heat` |
//! | [`index`] | `throng bench loop` |
//! | [`queues`] | `throng bench queues` |
//! | [`start`] | `throng bench start` |
//!
//! and for counters:
//!
//! | module | what it does |
//! |---|---|
//! | [`run`] | one measured run |
//! | [`pace`] | how a thread takes its values, with work in between or not |
//! | [`verify`] | the exact check of what was handed out |
//! | [`summary`] | medians, ratios, fairness |
//! | [`report`] | the table and the sentence below it |
//! | `document` | every single number |

pub mod barriers;
pub mod beside;
mod crew;
mod document;
pub mod everyday;
pub(crate) mod grid;
pub mod heat;
pub mod index;
pub mod json;
pub mod latency;
pub(crate) mod noise;
pub mod pace;
pub mod queues;
pub mod report;
pub mod run;
pub mod setup;
pub mod start;
pub mod stats;
pub mod summary;
pub mod verify;
pub mod window;

use std::alloc::Layout;

use serde::Serialize;
use throng::counter::{Registered, Shape};
use throng::machine::Native;

use crate::error::{self, Error};
use crate::output;
use crate::plan::CountersPlan;
use document::Document;
use json::JsonTarget;
use run::{Failure, Memory};
use setup::{Pinning, Setup};
use summary::Summary;
use window::Times;

/// One run of one method.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The method.
    pub method: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// How many values the threads got in the time measured.
    pub values: u64,
    /// The time measured.
    pub seconds: f64,
    /// How many of the values each thread got.
    pub per_thread: Vec<u64>,
    /// How many values were checked, with those from before the time measured.
    pub checked: u64,
}

/// Measures counters and says what came out.
///
/// # Errors
/// When a counter miscounts or panics, threads cannot be had or a result cannot be written.
pub fn counters(mut plan: CountersPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let samples = measure_all(&plan, &pinning)?;
    let summary = Summary::of(&plan, &samples);
    let text = report::text(&plan, &setup, &summary);
    let json = plan.json.take();
    publish(&text, json, &Document::new(&plan, &setup, &samples, &summary))
}

/// Prints the text, and writes the numbers where that was asked for. Where they go to standard
/// output, the text goes to standard error.
fn publish(text: &str, json: Option<JsonTarget>, document: &impl Serialize) -> Result<(), Error> {
    match json {
        Some(target) if target.is_stdout() => {
            output::say(text);
            target.write(document)
        }
        Some(target) => {
            output::print(text)?;
            target.write(document)
        }
        None => output::print(text),
    }
}

/// Runs everything, the methods in turn within each repetition, so that a disturbance from outside
/// hits all of them alike and none in every repetition.
fn measure_all(plan: &CountersPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    // It moves between runs only, so that drawing it disturbs no measurement.
    let progress = output::progress_bar(plan.runs());
    let mut memory = Memory::touched();
    let mut ballast = Vec::new();
    let mut samples = Vec::with_capacity(plan.runs());
    for repetition in 0..plan.repetitions {
        for &threads in &plan.threads {
            for method in &plan.methods {
                let name = method.about.name;
                progress.set_message(format!("{name}, {}", error::count(threads)));
                let times = Times { warm_up: plan.warm_up_time(), measure: plan.run_time };
                let crew = run::Plan { threads, times, pace: plan.pace };
                let (measured, layout) =
                    measure(method, &plan.shape(threads), crew, &mut memory, pinning)?;
                // Where the counter was, no other will be: how far a line is from the cores depends
                // on its address, and each repetition should have another one.
                ballast.push(Vec::<Line>::with_capacity(layout.size().div_ceil(size_of::<Line>())));
                samples.push(Sample {
                    method: name,
                    threads,
                    repetition,
                    values: measured.per_thread.iter().sum(),
                    seconds: measured.seconds,
                    per_thread: measured.per_thread,
                    checked: measured.checked,
                });
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// A line of memory, as counters are made of.
#[repr(align(128))]
pub(crate) struct Line(#[expect(dead_code, reason = "it takes up room")] [u8; 128]);

/// One run of one method, on a counter that is new. Tells how much memory that took.
pub(crate) fn measure(
    method: &Registered<Native>,
    shape: &Shape,
    crew: run::Plan,
    memory: &mut Memory,
    pinning: &Pinning,
) -> Result<(run::Measured, Layout), Error> {
    let name = method.about.name;
    let counter = method.build(shape).map_err(|source| Error::Shape { method: name, source })?;
    let measured = run::run(&*counter, crew, memory, pinning)
        .map_err(|failure| explain(failure, name, crew.threads))?;
    Ok((measured, Layout::for_value(&*counter)))
}

fn explain(failure: Failure, method: &'static str, threads: usize) -> Error {
    match failure {
        Failure::Spawn(source) => Error::Spawn { threads, source },
        Failure::Panicked => Error::Panicked { method, threads },
        Failure::Wrong(wrong) => Error::Miscounted { method, threads, wrong },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;
    use throng::counter::{About, Consistency, Counting, Method, Progress, ShapeError};
    use throng::machine::NativeCpu;

    /// Hands out every value twice.
    struct Twice(AtomicU64);

    impl Counting<Native> for Twice {
        fn next_on(&self, _cpu: &NativeCpu) -> u64 {
            self.0.fetch_add(1, Relaxed) / 2
        }
    }

    impl Method<Native> for Twice {
        const ABOUT: About = About {
            name: "twice",
            summary: "wrong",
            paper: "none",
            consistency: Consistency::Linearizable,
            progress: Progress::WaitFree,
        };
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
            json: None,
        };
        let error = measure_all(&plan, &Pinning::find()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "twice miscounted on 3 threads: value 0 was handed out more than once"
        );
        assert_eq!(error.exit_code(), 1);
    }
}
