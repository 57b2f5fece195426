//! `throng bench barriers`: how long a round takes, and what waiting costs.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | the arguments, resolved and checked |
//! | [`rows`], [`posix`] | what is measured |
//! | [`run`] | one measured run |
//! | [`witness`] | whether the barrier holds, watched while it is measured |
//! | [`idle`] | what it costs to wait for one that is late |
//! | [`report`] | tables, and every single number |

pub mod idle;
pub mod plan;
pub mod posix;
pub mod report;
pub mod rows;
pub mod run;
pub mod witness;

use serde::Serialize;

use super::crew::CrewFailure;
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
use crate::output;
use plan::{BarriersPlan, Question};
use rows::{Parties, Party, Row};
use run::Failure;

/// One run of one barrier.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The barrier.
    pub method: &'static str,
    /// On how many threads.
    pub threads: usize,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// What came out.
    #[serde(flatten)]
    pub found: Found,
}

/// What came out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// How long a round takes.
    Rounds {
        /// So many were measured.
        rounds: u64,
        /// The time they took.
        seconds: f64,
        /// The time of one.
        ns_a_round: f64,
        /// How often a thread looked whether another had come.
        looks: u64,
    },
    /// What it cost to wait for one that was late.
    Idle {
        /// Processor time of a waiting thread.
        cpu_ms: f64,
        /// From when the late one came until the last of the others was let out.
        release_us: f64,
    },
}

/// Measures barriers and says what came out.
///
/// # Errors
/// When a barrier does not hold or panics, threads cannot be had or a result cannot be written.
pub fn barriers(mut plan: BarriersPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let samples = measure_all(&plan, &pinning)?;
    let cells = report::cells(&plan, &samples);
    let text = report::text(&plan, &setup, &cells);
    let json = plan.json.take();
    super::publish(&text, json, &report::Document::new(&plan, &setup, &samples, &cells))
}

/// Runs everything, the barriers in turn within each repetition, so that a disturbance from outside
/// hits all of them alike and none in every repetition.
fn measure_all(plan: &BarriersPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    let progress = output::progress_bar(plan.round().count() * plan.repetitions);
    // All barriers are kept to the end. Where one is, no other will be: how far a line is from the
    // cores depends on its address, and each repetition should have another one.
    let mut kept = Vec::new();
    let mut samples = Vec::new();
    for repetition in 0..plan.repetitions {
        for (row, threads) in plan.round() {
            let method = row.name;
            progress.set_message(format!("{method}, {}", error::count(threads)));
            let (found, parties) = measure(row, threads, plan.question, pinning)?;
            kept.push(parties);
            samples.push(Sample { method, threads, repetition, found });
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// One run of one barrier, which is new, and is given back when it is over.
pub(crate) fn measure(
    row: &Row,
    threads: usize,
    question: Question,
    pinning: &Pinning,
) -> Result<(Found, Parties), Error> {
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::Shape { method, source })?;
    let found = answer(&mut parties, question, pinning)
        .map_err(|failure| explain(failure, method, threads))?;
    Ok((found, parties))
}

fn answer(
    parties: &mut [Box<dyn Party>],
    question: Question,
    pinning: &Pinning,
) -> Result<Found, Failure> {
    match question {
        Question::Rounds { time, rounds } => {
            let plan = run::Plan { times: Times { warm_up: time / 4, measure: time }, rounds };
            let run::Measured { rounds, seconds, looks } = run::run(parties, plan, pinning)?;
            let ns_a_round = seconds * 1e9 / rounds.max(1) as f64;
            Ok(Found::Rounds { rounds, seconds, ns_a_round, looks })
        }
        Question::Idle { late } => {
            let idle::Idled { cpu_ms, release_us } =
                idle::idle(parties, late, pinning).map_err(Failure::Crew)?;
            Ok(Found::Idle { cpu_ms, release_us })
        }
    }
}

pub(in crate::bench) fn explain(failure: Failure, method: &'static str, threads: usize) -> Error {
    match failure {
        Failure::Crew(CrewFailure::Spawn(source)) => Error::Spawn { threads, source },
        Failure::Crew(CrewFailure::Panicked) => Error::Panicked { method, threads },
        Failure::Early(early) => Error::LetThrough { method, threads, early },
    }
}
