//! `throng bench barriers`, `queues` and `loop` with `--neighbours`: what is measured while other processes
//! want the cores, too.
//!
//! Every run is a process of its own, so that what one run has learned of the machine is not known to the
//! next, and programs in C are measured in the same way. In each repetition every setting (a number of busy
//! neighbours, or a copy of what is measured) is set up once, and under it every contender runs at every
//! place (a load and a number of threads), one contender after the other.
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
//! | [`plan`] | the arguments, resolved and checked |
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
mod neighbours;
pub mod part;
pub mod plan;
pub(super) mod process;
mod progress;
pub mod report;
mod rounds;
pub mod setting;
pub mod summary;

use serde::Serialize;

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
    /// On how many threads.
    pub threads: usize,
    /// What was beside it.
    pub neighbours: Setting,
    /// What was measured.
    pub method: &'static str,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// What came out, or [`None`] if it took too long.
    #[serde(flatten)]
    pub found: Option<Found>,
}

/// What came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Found {
    /// What the process measured.
    #[serde(flatten)]
    pub measured: Measured,
    /// How many cores the process kept busy, the mean.
    pub cores_used: f64,
    /// The speed of the neighbours, as a part of their speed when only they run. [`None`] without neighbours.
    pub neighbours_keep: Option<f64>,
}

/// Measures beside neighbours and says what came out.
///
/// # Errors
/// When a structure fails its check, processes cannot be had or a result cannot be written.
pub fn beside(mut plan: BesidePlan) -> Result<(), Error> {
    // Neighbours go where there is room; so must the threads beside them.
    let setup = Setup::look(&Pinning::none());
    let samples = course::measure_all(&plan)?;
    let summary = Summary::of(&plan, &samples);
    let text = report::text(&plan, &setup, &summary);
    if let Some(csv) = &plan.csv {
        csv.write(&document::csv(&samples))?;
    }
    let json = plan.json.take();
    super::publish(&text, json, &document::Document::new(&plan, &setup, &samples, &summary))
}
