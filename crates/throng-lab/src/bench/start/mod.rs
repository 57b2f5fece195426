//! `throng bench start`: measures the first use of a structure in a fresh process.
//!
//! Every number is from a process of its own, since much happens only once in a process: pages are
//! touched for the first time, the topology is read, threads register. The process itself reads the
//! clock before and after it constructs the structure, and after the first operation.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | what is measured, and how |
//! | [`cases`] | what is made and used once |
//! | [`report`] | the table |

pub mod cases;
pub mod plan;
pub mod report;

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::beside::laps::say;
use super::beside::part::unknown;
use super::beside::process::{self, Ended};
use super::beside::this_program;
use super::harness::{Benchmark, in_turn};
use super::setup::{Pinning, Setup};
use crate::error::Error;
use cases::{Case, Cost, REFERENCE};
use plan::StartPlan;
use report::Cell;

/// One process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    /// The structure.
    pub structure: &'static str,
    /// Its library.
    pub method: &'static str,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// The result.
    #[serde(flatten)]
    pub cost: Cost,
}

impl Benchmark for StartPlan {
    type Sample = Sample;
    type Cell = Cell;

    const COLUMNS: &[&str] = &["structure", "method", "repetition", "new_ns", "first_ns"];

    fn pinning(&self) -> Pinning {
        Pinning::none()
    }

    fn name(&self) -> &'static str {
        "start"
    }

    fn measure(&self, _: &Pinning) -> Result<Vec<Sample>, Error> {
        let name = |case: &Case| case.structure.to_owned();
        in_turn(self.repetitions, &self.cases, name, |&case, repetition| {
            let Case { structure, method, .. } = case;
            Ok(Some(Sample { structure, method, repetition, cost: first_use(case)? }))
        })
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        report::cells(self, samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        vec![("reference", json!(REFERENCE)), ("repetitions", json!(self.repetitions))]
    }
}

/// Longest time of a process, unless its threads wait for ever.
const LIMIT: Duration = Duration::from_secs(30);

fn first_use(case: Case) -> Result<Cost, Error> {
    let mut command = this_program()?;
    command.args(["part", "start", case.structure, case.method]);
    match process::run(&mut command, LIMIT, || {})? {
        Ended::Well(cost) => Ok(cost),
        Ended::TooSlow | Ended::Failed => {
            Err(Error::FirstUse { structure: case.structure, method: case.method })
        }
    }
}

/// Builds a structure and uses it once, in the measured process.
///
/// # Errors
/// When there is no case of these names.
pub(crate) fn part(structure: &str, method: &str) -> Result<(), Error> {
    let is_it = |case: &Case| case.structure == structure && case.method == method;
    let case = cases::all().into_iter().find(is_it);
    let cost = (case.ok_or_else(|| unknown("STRUCTURE METHOD", structure))?.run)();
    say(&serde_json::to_string(&cost).expect("numbers can always be written"));
    Ok(())
}
