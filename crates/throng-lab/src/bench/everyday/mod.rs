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
//! | [`report`] | the tables |

pub mod arrivals;
pub mod beside;
mod bytes;
pub mod cases;
pub mod contenders;
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
use serde_json::{Value, json};

use super::harness::{Benchmark, csv, in_turn};
use super::latency::Latency;
use super::queues::check::failed;
use super::queues::run::Failure;
use super::setup::{Pinning, Setup};
use crate::error::{self, Error};
use cases::Case;
use contenders::{Contender, Kind};
use groups::{Group, Unit};
use plan::EverydayPlan;
use summary::Cell;
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

impl Benchmark for EverydayPlan {
    type Sample = Sample;
    type Cell = Cell;

    const COLUMNS: &[&str] = &[
        "group",
        "case",
        "threads",
        "method",
        "repetition",
        "value",
        "unit",
        "p50_ns",
        "p99_ns",
        "p999_ns",
        "max_ns",
        "fairness",
        "checked",
    ];

    fn name(&self) -> &'static str {
        "everyday"
    }

    fn measure(&self, pinning: &Pinning) -> Result<Vec<Sample>, Error> {
        let places: Vec<_> = self.round().collect();
        let name =
            |(case, contender): &(&Case, &Contender)| format!("{}, {}", case.name, contender.name);
        let mut samples =
            in_turn(self.repetitions, &places, name, |&(case, contender), repetition| {
                // Bytes are the same each time.
                let is_known = case.group == Group::Bytes && repetition > 0;
                let found =
                    (!is_known).then(|| measure(self, case, contender, repetition, pinning));
                found.transpose()
            })?;
        samples.extend(self.beside.iter().flat_map(|beside| beside.samples.iter().cloned()));
        Ok(samples)
    }

    fn cells(&self, samples: &[Sample]) -> Vec<Cell> {
        summary::cells(&self.cases, &self.rows(), samples)
    }

    fn text(&self, setup: &Setup, cells: &[Cell]) -> String {
        report::text(self, setup, cells)
    }

    fn asked(&self, _: &[Cell]) -> Vec<(&'static str, Value)> {
        let group = |name: Group| {
            json!({
                "name": name,
                "unit": name.unit(),
                "less_is_better": name.unit().less_is_better(),
                "about": name.in_words().replace('\n', " "),
            })
        };
        vec![
            ("repetitions", json!(self.repetitions)),
            ("milliseconds", json!(self.time.as_secs_f64() * 1e3)),
            ("groups", Group::ALL.map(group).into()),
        ]
    }

    fn csv(&self, samples: &[Sample]) -> String {
        let rows = samples.iter().filter_map(|run| {
            let is_here = |case: &&Case| case.name == run.case;
            let group = self.cases.iter().find(is_here)?.group;
            Some(CsvRow { group, unit: group.unit(), run })
        });
        csv(Self::COLUMNS, &rows.collect::<Vec<_>>())
    }
}

/// A run, as the CSV has it.
#[derive(Serialize)]
struct CsvRow<'a> {
    group: Group,
    unit: Unit,
    #[serde(flatten)]
    run: &'a Sample,
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
