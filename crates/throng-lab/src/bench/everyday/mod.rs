//! `throng bench everyday`: loads as most programs have them, ours beside the best peer of the same kind.
//!
//! | module | what it does |
//! |---|---|
//! | [`plan`], `select` | what is measured, and how; cases by name |
//! | [`groups`], [`cases`] | the list of cases: which load on how many threads |
//! | [`contenders`], `ours` | what is measured |
//! | [`team`] | threads that run one case together |
//! | `single`, `tally` | one thread alone, and its check |
//! | `bytes` | memory |
//! | `stream` | one producer and one consumer |
//! | `open`, [`arrivals`] | Poisson arrivals, and their latency from the intended arrival |
//! | `pairs` | every thread pushes and pops, with the latency of every call |
//! | `pipeline` | three stages |
//! | `tree` | jobs that make jobs |
//! | [`beside`] | numbers of other programs |
//! | [`summary`] | medians, and ratios to the best peer |
//! | [`report`], `document` | the tables, and every single number |

pub mod arrivals;
pub mod beside;
mod bytes;
pub mod cases;
pub mod contenders;
pub(crate) mod document;
pub mod groups;
mod open;
mod ours;
mod pairs;
mod pipeline;
pub mod plan;
pub mod report;
pub(crate) mod select;
mod single;
mod stream;
pub mod summary;
mod tally;
pub mod team;
mod tree;

use serde::Serialize;
use throng_papers::output;

use super::harness::in_turn;
use super::latency::Latency;
use super::queues::check::failed;
use super::queues::run::Failure;
use super::setup::{Pinning, Setup};
use crate::error::{self, Error};
use cases::Case;
use contenders::{Contender, Kind};
use document::Document;
use groups::Group;
use plan::EverydayPlan;
use team::Order;

/// One run of one contender in one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sample {
    /// The case.
    pub case: String,
    /// Number of threads.
    pub threads: usize,
    /// The contender.
    pub method: String,
    /// Number of the repetition, from 0.
    pub repetition: usize,
    /// The result, in the unit of the case's group.
    pub value: f64,
    /// Latencies, where the case has them.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Pairs of the slowest thread divided by those of the fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Number of checked items.
    pub checked: u64,
}

/// Measures everyday loads and says what came out.
///
/// # Errors
/// When a contender loses an item or panics, threads cannot be had or a result cannot be written.
pub fn everyday(mut plan: EverydayPlan) -> Result<(), Error> {
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let mut samples = measure_all(&plan, &pinning)?;
    samples.extend(plan.beside.iter().flat_map(|beside| beside.samples.iter().cloned()));
    let cells = summary::cells(&plan.cases, &plan.rows(), &samples);
    let text = report::text(&plan, &setup, &cells);
    let json = plan.json.take();
    let document = Document::new(&plan, &setup, &samples, &cells);
    if let Some(file) = &plan.csv {
        file.write(&document::csv(&plan, &samples))?;
    }
    if let Some(folder) = &plan.out {
        document::write_folder(folder, &text, &document, &document::csv(&plan, &samples))?;
    }
    Ok(output::publish(&text, json, &document)?)
}

/// Runs everything.
fn measure_all(plan: &EverydayPlan, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
    let places: Vec<_> = plan.round().collect();
    let name =
        |(case, contender): &(&Case, &Contender)| format!("{}, {}", case.name, contender.name);
    in_turn(plan.repetitions, &places, name, |&(case, contender), repetition| {
        // Bytes are the same each time.
        let is_known = case.group == Group::Bytes && repetition > 0;
        let found = (!is_known).then(|| measure(plan, case, contender, repetition, pinning));
        found.transpose()
    })
}

fn measure(
    plan: &EverydayPlan,
    case: &Case,
    contender: &Contender,
    repetition: usize,
    pinning: &Pinning,
) -> Result<Sample, Error> {
    let order = Order {
        method: contender.name,
        case,
        bounded: contender.kind == Kind::Bounded,
        in_order: contender.kind != Kind::Jobs,
        times: plan.times(case),
        depth: plan.depth,
        pinning,
    };
    let found = contender.measure(&order).map_err(|failure| explain(failure, &order))?;
    Ok(Sample {
        case: case.name.clone(),
        threads: case.threads,
        method: contender.name.to_owned(),
        repetition,
        value: found.value,
        latency: found.latency,
        fairness: found.fairness,
        checked: found.checked,
    })
}

fn explain(failure: Failure, order: &Order<'_>) -> Error {
    let (method, threads) = (order.method, order.case.threads);
    match failure {
        Failure::Threads(failure) => failure.explain(method, threads),
        Failure::Wrong(wrong) => failed(method, &order.case.of_messages(), threads, wrong),
    }
}

/// Returns the name of a case with its threads: "pairs-0, 4 threads".
fn threads(case: &str, count: usize) -> String {
    format!("{case}, {}", error::count(count))
}
