//! `throng bench start`: what the first use of a structure costs in a fresh process.
//!
//! Every number is from a process of its own, since much is done only once in a process: pages are touched
//! for the first time, the topology is read, threads register. The process itself reads the clock: when it
//! begins to construct the structure, when it has done so, and after the first operation.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`] | the arguments, resolved and checked |
//! | [`cases`] | what is made and used once |
//! | [`report`] | the table, and every single number |

pub mod cases;
pub mod plan;
pub mod report;

use std::time::Duration;

use serde::Serialize;

use super::beside::laps::say;
use super::beside::part::unknown;
use super::beside::process::{self, Ended};
use super::beside::this_program;
use super::setup::{Pinning, Setup};
use crate::error::Error;
use crate::output;
use cases::{Case, Cost};
use plan::StartPlan;

/// One process.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    /// What was made.
    pub structure: &'static str,
    /// Whose.
    pub method: &'static str,
    /// In which repetition, from 0.
    pub repetition: usize,
    /// What it cost.
    #[serde(flatten)]
    pub cost: Cost,
}

/// Measures first uses and says what came out.
///
/// # Errors
/// When processes cannot be had, one fails, or a result cannot be written.
pub fn start(mut plan: StartPlan) -> Result<(), Error> {
    let setup = Setup::look(&Pinning::none());
    let samples = measure_all(&plan)?;
    let cells = report::cells(&plan, &samples);
    let text = report::text(&plan, &setup, &cells);
    if let Some(csv) = &plan.csv {
        csv.write(&report::csv(&samples))?;
    }
    let json = plan.json.take();
    super::publish(&text, json, &report::Document::new(&plan, &setup, &samples, &cells))
}

/// Runs all cases in turn within each repetition, so that a disturbance from outside hits all of them alike.
fn measure_all(plan: &StartPlan) -> Result<Vec<Sample>, Error> {
    let progress = output::progress_bar(plan.cases.len() * plan.repetitions);
    let mut samples = Vec::new();
    for repetition in 0..plan.repetitions {
        for &case in &plan.cases {
            let Case { structure, method, .. } = case;
            progress.set_message(structure);
            let cost = measure(case)?;
            samples.push(Sample { structure, method, repetition, cost });
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    Ok(samples)
}

/// No process takes longer, unless its threads wait for ever.
const LIMIT: Duration = Duration::from_secs(30);

fn measure(case: Case) -> Result<Cost, Error> {
    let mut command = this_program()?;
    command.args(["part", "start", case.structure, case.method]);
    match process::run(&mut command, LIMIT, || {})? {
        Ended::Well(cost) => Ok(cost),
        Ended::TooSlow | Ended::Failed => {
            Err(Error::FirstUse { structure: case.structure, method: case.method })
        }
    }
}

/// Makes a structure and uses it once, in the process that is measured.
///
/// # Errors
/// When nothing has these names.
pub(super) fn part(structure: &str, method: &str) -> Result<(), Error> {
    let is_it = |case: &Case| case.structure == structure && case.method == method;
    let case = cases::all().into_iter().find(is_it);
    let cost = (case.ok_or_else(|| unknown("STRUCTURE METHOD", structure))?.run)();
    say(&serde_json::to_string(&cost).expect("numbers can always be written"));
    Ok(())
}
