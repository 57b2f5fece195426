//! `throng bench barriers`: measures the time of a round, and the cost of waiting.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured, and how |
//! | [`rows`], [`posix`] | what is measured |
//! | [`run`] | one measured run |
//! | [`witness`] | whether the barrier holds, watched while it is measured |
//! | [`idle`] | what it costs to wait for one that is late |
//! | [`report`] | tables |

pub mod idle;
pub mod plan;
pub mod posix;
pub mod report;
pub mod rows;
pub mod run;
pub mod witness;

use serde::Serialize;
use serde_json::{Value, json};

use super::harness::{Benchmark, in_turn};
use super::setup::{Pinning, Setup};
use super::window::Times;
use crate::error::{self, Error};
use plan::{BarriersPlan, Question};
use report::Cell;
use rows::{Parties, Party, REFERENCE, Row};
use run::Failure;

/// One run of one barrier.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    /// The barrier.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// The result.
    #[serde(flatten)]
    pub found: Found,
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// The time of a round.
    Rounds {
        /// Number of measured rounds.
        rounds: u64,
        /// Their time in seconds.
        seconds: f64,
        /// Nanoseconds of a round.
        ns_a_round: f64,
        /// How often a thread checked whether another had arrived.
        looks: u64,
    },
    /// The cost of waiting for a late thread.
    Idle {
        /// Processor time of a waiting thread, in milliseconds.
        cpu_ms: f64,
        /// Microseconds from the arrival of the late thread to the return of the last other.
        release_us: f64,
    },
}

impl Benchmark for BarriersPlan {
    type Sample = Sample;
    type Cell = Cell;

    fn name(&self) -> &'static str {
        match self.question {
            Question::Rounds { .. } => "barriers",
            Question::Idle { .. } => "barriers-idle",
        }
    }

    fn measure(&self, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
        // All barriers are kept to the end, so that no two have the same address. The distance of a
        // line from the cores depends on it, and each repetition should have another one.
        let mut kept = Vec::new();
        let places: Vec<_> = self.round().collect();
        let name =
            |&(row, threads): &(&Row, usize)| format!("{}, {}", row.name, error::count(threads));
        in_turn(self.repetitions, &places, name, |&(row, threads), repetition| {
            let (found, parties) = measure(row, threads, self.question, pinning)?;
            kept.push(parties);
            Ok(Some(Sample { method: row.name, threads, repetition, found }))
        })
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        report::cells(self, samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        let (Question::Rounds { time, .. } | Question::Idle { late: time }) = self.question;
        vec![
            ("reference", json!(REFERENCE)),
            ("threads", json!(self.threads)),
            ("repetitions", json!(self.repetitions)),
            ("milliseconds", json!(time.as_secs_f64() * 1e3)),
        ]
    }
}

/// Makes one run of a new barrier, and returns the barrier's parties.
pub(crate) fn measure(
    row: &Row,
    threads: usize,
    question: Question,
    pinning: &Pinning,
) -> Result<(Found, Parties), Error> {
    let method = row.name;
    let mut parties = row.build(threads).map_err(|source| Error::shape(method, source))?;
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
                idle::idle(parties, late, pinning).map_err(Failure::Threads)?;
            Ok(Found::Idle { cpu_ms, release_us })
        }
    }
}

pub(in crate::bench) fn explain(failure: Failure, method: &'static str, threads: usize) -> Error {
    match failure {
        Failure::Threads(failure) => failure.explain(method, threads),
        Failure::Early(early) => {
            Error::check(method, format_args!("did not hold on {}: {early}", error::count(threads)))
        }
    }
}
