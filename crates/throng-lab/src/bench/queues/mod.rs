//! `throng bench queues`: how many items a second go through a queue.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | the arguments, resolved and checked |
//! | [`mixes`] | who pushes and who pops: the workloads |
//! | [`items`] | what goes through a queue |
//! | [`seats`] | one way into all queues, without a call through a pointer |
//! | [`ours`], [`peers`] | the way into each |
//! | [`rows`] | what is measured |
//! | [`run`] | one measured run |
//! | `sampled` | one run that samples the latency of calls |
//! | `brake` | what keeps producers from filling the memory |
//! | `ending` | all threads come home, or the program does not wait for ever |
//! | [`check`] | whether every item came out exactly once, watched while it is measured |
//! | [`summary`] | medians, and ours beside the best of others |
//! | [`report`] | tables, and every single number |

pub(in crate::bench) mod brake;
pub mod check;
pub(in crate::bench) mod ending;
pub mod items;
pub mod mixes;
pub mod ours;
pub mod peers;
pub mod plan;
pub mod report;
pub mod rows;
pub mod run;
mod sampled;
pub mod seats;
pub mod summary;

use serde::Serialize;

use super::crew::CrewFailure;
use super::latency::Latency;
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
use crate::output;
use mixes::Mix;
use plan::QueuesPlan;
use rows::Row;
use run::{Failure, Measured};
use summary::Summary;

/// One run of one queue.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The mix.
    pub mix: &'static str,
    /// The queue.
    pub method: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// How many items were popped in the time measured; in the mix `empty`, how many looks there were.
    pub items: u64,
    /// The time measured.
    pub seconds: f64,
    /// Millions of them a second.
    pub million_per_second: f64,
    /// How many items were checked, with those from before and after the time measured.
    pub checked: u64,
}

/// Measures queues and says what came out.
///
/// # Errors
/// When a queue loses an item or panics, threads cannot be had or a result cannot be written.
pub fn queues(mut plan: QueuesPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let samples = measure_all(&plan, &pinning)?;
    let summary = Summary::of(&plan, &samples);
    let text = report::text(&plan, &setup, &summary);
    let json = plan.json.take();
    super::publish(&text, json, &report::Document::new(&plan, &setup, &samples, &summary))
}

/// Runs everything, the queues in turn within each repetition, so that a disturbance from outside hits
/// all of them alike and none in every repetition.
fn measure_all(plan: &QueuesPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    let progress = output::progress_bar(plan.round().count() * plan.repetitions);
    let times = Times { warm_up: plan.time / 4, measure: plan.time };
    let mut ballast = Vec::new();
    let mut samples = Vec::new();
    for repetition in 0..plan.repetitions {
        for (mix, threads, row) in plan.round() {
            let method = row.name;
            progress.set_message(format!("{method}, {}, {}", mix.name(), error::count(threads)));
            let found = measure(row, mix, threads, times, plan.work_ns, pinning)?;
            // Some of the memory that is free now stays taken, so that the next queue lies elsewhere: how
            // far a line is from the cores depends on its address.
            ballast.push(Vec::<super::Line>::with_capacity(1 + samples.len() % 7));
            samples.push(Sample {
                mix: mix.name(),
                method,
                threads,
                repetition,
                items: found.items,
                seconds: found.seconds,
                million_per_second: found.items as f64 / found.seconds.max(1e-9) / 1e6,
                checked: found.checked,
            });
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// One run of one queue, which is new.
pub(crate) fn measure(
    row: &Row,
    mix: Mix,
    threads: usize,
    times: Times,
    work_ns: u32,
    pinning: &Pinning,
) -> Result<Measured, Error> {
    row.measure(mix, threads, times, work_ns, pinning)
        .map_err(|failure| explain(failure, row.name, mix, threads))
}

/// One run of one queue, which is new, to sample the latency of calls.
pub(crate) fn latency(
    row: &Row,
    mix: Mix,
    threads: usize,
    times: Times,
    pinning: &Pinning,
) -> Result<Option<Latency>, Error> {
    row.latency(mix, threads, times, pinning)
        .map_err(|failure| explain(failure, row.name, mix, threads))
}

fn explain(failure: Failure, method: &'static str, mix: Mix, threads: usize) -> Error {
    match failure {
        Failure::Crew(CrewFailure::Spawn(source)) => Error::Spawn { threads, source },
        Failure::Crew(CrewFailure::Panicked) => Error::Panicked { method, threads },
        Failure::Wrong(wrong) => Error::Mixed { method, load: mix.of_messages(), threads, wrong },
    }
}
