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
//! | [`report`] | tables |

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
use serde_json::{Value, json};

use super::harness::{Benchmark, in_turn};
use super::latency::Latency;
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
use mixes::Mix;
use plan::QueuesPlan;
use rows::{REFERENCE, Row};
use run::{Failure, Measured};
use summary::Cell;

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

impl Benchmark for QueuesPlan {
    type Sample = Sample;
    type Cell = Cell;

    fn name(&self) -> &'static str {
        "queues"
    }

    fn measure(&self, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
        let times = Times { warm_up: self.time / 4, measure: self.time };
        let mut ballast = Vec::new();
        let name = |&(mix, threads, row): &(Mix, usize, &Row)| {
            format!("{}, {}, {}", row.name, mix.name(), error::count(threads))
        };
        let places: Vec<_> = self.round().collect();
        in_turn(self.repetitions, &places, name, |&(mix, threads, row), repetition| {
            let found = measure(row, mix, threads, times, self.work_ns, pinning)?;
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

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        summary::cells(self, samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        let mixes: Vec<&str> = self.mixes.iter().map(|mix| mix.name()).collect();
        vec![
            ("reference", json!(REFERENCE)),
            ("mixes", json!(mixes)),
            ("threads", json!(self.threads)),
            ("repetitions", json!(self.repetitions)),
            ("milliseconds", json!(self.time.as_secs_f64() * 1e3)),
            ("work_ns", json!(self.work_ns)),
        ]
    }
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
