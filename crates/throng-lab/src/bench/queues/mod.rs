//! `throng bench queues`: measures how many items a second go through a queue.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured, and how |
//! | [`mixes`] | the workloads: which threads push and which pop |
//! | [`items`] | the items of a queue |
//! | [`seats`] | the common interface of all queues, without dynamic dispatch |
//! | [`ours`], [`peers`], `deque` | its implementations |
//! | [`rows`] | the measured queues |
//! | [`run`] | one measured run |
//! | `sampled` | one run that samples the latency of calls |
//! | `brake` | keeps producers from filling the memory |
//! | `ending` | ends a run, also where threads never finish |
//! | [`check`] | checks that every item came out exactly once |
//! | [`summary`] | medians, and ours compared with the best of others |
//! | [`report`] | tables, and every single number |

pub(in crate::bench) mod brake;
pub mod check;
pub(crate) mod deque;
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
use throng_papers::output;

use super::harness::in_turn;
use super::latency::Latency;
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
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
    /// Number of threads.
    pub threads: usize,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// Number of items popped in the measured time; in the mix `empty`, the number of polls.
    pub items: u64,
    /// The measured time in seconds.
    pub seconds: f64,
    /// Millions of items or polls a second.
    pub million_per_second: f64,
    /// Number of checked items, including those before and after the measured time.
    pub checked: u64,
}

/// Runs `throng bench queues`.
///
/// # Errors
/// When a queue loses an item or panics, threads cannot be started or a result cannot be written.
pub fn queues(mut plan: QueuesPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let samples = measure_all(&plan, &pinning)?;
    let summary = Summary::of(&plan, &samples);
    let text = report::text(&plan, &setup, &summary);
    let json = plan.json.take();
    Ok(output::publish(&text, json, &report::record(&plan, &setup, &samples, &summary))?)
}

/// Runs everything.
fn measure_all(plan: &QueuesPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    let times = Times { warm_up: plan.time / 4, measure: plan.time };
    let mut ballast = Vec::new();
    let name = |&(mix, threads, row): &(Mix, usize, &Row)| {
        format!("{}, {}, {}", row.name, mix.name(), error::count(threads))
    };
    let places: Vec<_> = plan.round().collect();
    in_turn(plan.repetitions, &places, name, |&(mix, threads, row), repetition| {
        let found = measure(row, mix, threads, times, plan.work_ns, pinning)?;
        // Keeps some of the free memory, so that the next queue gets another address. The
        // distance of a line from the cores depends on it.
        ballast.push(Vec::<super::Line>::with_capacity(1 + ballast.len() % 7));
        Ok(Some(Sample {
            mix: mix.name(),
            method: row.name,
            threads,
            repetition,
            items: found.items,
            seconds: found.seconds,
            million_per_second: found.items as f64 / found.seconds.max(1e-9) / 1e6,
            checked: found.checked,
        }))
    })
}

/// Makes one run of a new queue.
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

/// Makes one run of a new queue that samples the latency of calls.
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
        Failure::Threads(failure) => failure.explain(method, threads),
        Failure::Wrong(wrong) => check::failed(method, &mix.of_messages(), threads, wrong),
    }
}
