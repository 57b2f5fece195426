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
//! | [`report`], [`document`] | tables, and every single number |

pub mod contenders;
mod course;
pub mod document;
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
use throng_papers::output;

use super::setup::{Pinning, Setup};
use crate::error::Error;
pub use laps::Measured;
pub(super) use neighbours::this_program;
use plan::BesidePlan;
use setting::Setting;
use summary::Summary;

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

/// Measures beside neighbours and reports.
///
/// # Errors
/// When a structure fails its check, processes cannot be started or a result cannot be written.
pub fn beside(mut plan: BesidePlan) -> Result<(), Error> {
    // Neighbours are not pinned, so the threads beside them must not be either.
    let setup = Setup::look(&Pinning::none());
    let samples = course::measure_all(&plan)?;
    let summary = Summary::of(&plan, &samples);
    let text = report::text(&plan, &setup, &summary);
    if let Some(csv) = &plan.csv {
        csv.write(&document::csv(&samples))?;
    }
    let json = plan.json.take();
    Ok(output::publish(&text, json, &document::Document::new(&plan, &setup, &samples, &summary))?)
}
