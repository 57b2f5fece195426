//! `throng bench barriers`, `queues` and `loop` with `--neighbours`: measures while other processes
//! compete for the cores.
//!
//! Every run is a process of its own, so that it has learned nothing of the machine from the run
//! before, and programs in C are measured in the same way. A *setting* is a number of busy
//! neighbours, or a copy of what is measured. A *place* is a load and a number of threads. Each
//! repetition sets up every setting once, and under it runs every contender at every place, one
//! after the other.
//!
//! ```text
//! lab          | neighbours start | they run alone |        |       beside       |
//! a process                                        | warm-up | operations, timed  | numbers
//! neighbours              their speed: |<--------->|          |<-----------------|
//! ```
//!
//! | module | what it does |
//! |---|---|
//! | [`load`] | what is done in a run |
//! | [`setting`] | what is beside it |
//! | [`contenders`] | what is measured, and how its process is started |
//! | [`plan`] | what is measured, and how |
//! | `course` | all runs, in their order |
//! | `process` | one measured process, as the lab sees it |
//! | `neighbours`, `progress` | processes that are beside, and how far they have come |
//! | [`part`] | the other side: a process that is measured or beside |
//! | `laps` | its phases, and the time of each operation |
//! | `rounds`, `exchange`, `loops` | what it does: barriers, queues, loops |
//! | [`summary`] | medians, and ours beside the best reference |
//! | [`report`] | tables |

pub mod contenders;
mod course;
mod exchange;
pub(super) mod laps;
pub mod load;
mod loops;
pub(crate) mod neighbours;
pub mod part;
pub mod plan;
pub(super) mod process;
mod progress;
pub mod report;
mod rounds;
pub mod setting;
pub mod summary;

use serde::Serialize;
use serde_json::{Value, json};

use super::harness::Benchmark;
use super::setup::{Pinning, Setup};
use crate::error::Error;
pub use laps::Measured;
pub(super) use neighbours::this_program;
use plan::BesidePlan;
use setting::Setting;
use summary::Cell;

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The load, as text.
    pub load: String,
    /// Number of threads.
    pub threads: usize,
    /// The processes beside it.
    pub neighbours: Setting,
    /// The contender.
    pub method: &'static str,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// The result, or [`None`] if it took too long.
    #[serde(flatten)]
    pub found: Option<Found>,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The results of the process.
    #[serde(flatten)]
    pub measured: Measured,
    /// Mean number of cores that the process kept busy.
    pub cores_used: f64,
    /// The speed of the neighbours, as a part of their speed when only they run. [`None`] without
    /// neighbours.
    pub neighbours_keep: Option<f64>,
}

impl Benchmark for BesidePlan {
    type Sample = Sample;
    type Cell = Cell;

    const COLUMNS: &[&str] = &[
        "load",
        "threads",
        "neighbours",
        "method",
        "repetition",
        "operations",
        "ns",
        "p50_ns",
        "p99_ns",
        "p999_ns",
        "max_ns",
        "seconds",
        "cpu_seconds",
        "cores_used",
        "neighbours_keep",
    ];

    /// Neighbours are not pinned, so the threads beside them must not be either.
    fn pinning(&self) -> Pinning {
        Pinning::none()
    }

    fn name(&self) -> &'static str {
        self.subject.name()
    }

    fn measure(&self, _: &Pinning) -> Result<Vec<Sample>, Error> {
        course::measure_all(self)
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        summary::cells(self, samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, cells: &[Cell]) -> Vec<(&'static str, Value)> {
        let loads: Vec<String> = self.loads.iter().map(|load| load.text()).collect();
        vec![
            ("loads", json!(loads)),
            ("threads", json!(self.threads)),
            ("neighbours", json!(self.settings)),
            ("repetitions", json!(self.repetitions)),
            ("milliseconds", json!(self.times.measure.as_secs_f64() * 1e3)),
            ("seconds", json!(self.budget.as_secs())),
            ("ratios", json!(summary::ratios(self, cells))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::Record;
    use summary::tests::{plan, sample};

    #[test]
    fn every_run_is_a_row_and_what_was_not_found_is_empty() {
        let samples = [
            sample("std", Setting::Busy(0), Some(100.0)),
            sample("barrier", Setting::Copy, Some(50.0)),
            sample("pthread", Setting::Copy, None),
        ];
        let text = plan().csv(&samples);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "rounds:0,2,0,std,0,10,100,100,300,400,500,1,1.5,1.5,");
        assert_eq!(lines[2], "rounds:0,2,copy,barrier,0,10,50,50,150,200,250,1,1.5,1.5,0.5");
        assert_eq!(lines[3], "rounds:0,2,copy,pthread,0,,,,,,,,,,");
    }

    #[test]
    fn the_document_has_all_runs_with_their_numbers_side_by_side() {
        let (plan, setup) = (plan(), Setup::look(&Pinning::none()));
        let samples = [
            sample("std", Setting::Busy(0), Some(100.0)),
            sample("barrier", Setting::Busy(0), Some(50.0)),
            sample("barrier", Setting::Copy, None),
        ];
        let cells = plan.cells(&samples);
        let record = Record { benchmark: &plan, setup: &setup, summary: &cells, runs: &samples };
        let document = serde_json::to_value(record).unwrap();
        assert_eq!(document["benchmark"], "barriers-beside");
        assert_eq!(document["neighbours"], serde_json::json!(["0", "copy"]));
        let run = &document["runs"][1];
        assert_eq!(run["neighbours"], "0");
        assert_eq!((run["ns"].as_f64(), run["cores_used"].as_f64()), (Some(50.0), Some(1.5)));
        assert_eq!(run["latency"]["p99_ns"], 150.0);
        assert_eq!(document["runs"][2].get("ns"), None, "it was too slow");
        assert_eq!(document["ratios"][0]["ratio"], 2.0);
        assert_eq!(document["ratios"][0]["reference"], "std");
    }
}
