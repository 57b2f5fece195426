//! Writes every single number, for other programs.

use std::path::Path;

use serde::Serialize;
use throng_papers::output::{self, OutputFile};

use super::Sample;
use super::cases::Case;
use super::groups::{Group, Unit};
use super::plan::EverydayPlan;
use super::summary::Cell;
use crate::bench::setup::Setup;
use crate::error::Error;

/// The JSON output, in the order of the fields.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    setup: &'a Setup,
    repetitions: usize,
    milliseconds: f64,
    groups: Vec<About>,
    summary: &'a [Cell],
    runs: &'a [Sample],
}

/// The description of a group.
#[derive(Serialize)]
struct About {
    name: Group,
    unit: Unit,
    less_is_better: bool,
    about: String,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        plan: &EverydayPlan,
        setup: &'a Setup,
        runs: &'a [Sample],
        summary: &'a [Cell],
    ) -> Self {
        let about = |name: Group| About {
            name,
            unit: name.unit(),
            less_is_better: name.unit().less_is_better(),
            about: name.in_words().replace('\n', " "),
        };
        Document {
            throng: env!("CARGO_PKG_VERSION"),
            benchmark: "everyday",
            setup,
            repetitions: plan.repetitions,
            milliseconds: plan.time.as_secs_f64() * 1e3,
            groups: Group::ALL.map(about).into(),
            summary,
            runs,
        }
    }
}

/// Returns every run as CSV.
pub(super) fn csv(plan: &EverydayPlan, samples: &[Sample]) -> String {
    let header = [
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
    let row = |sample: &Sample| {
        let is_here = |case: &&Case| case.name == sample.case;
        let group = plan.cases.iter().find(is_here)?.group;
        let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let at = sample.latency;
        Some(vec![
            group.name().to_owned(),
            sample.case.clone(),
            sample.threads.to_string(),
            sample.method.clone(),
            sample.repetition.to_string(),
            sample.value.to_string(),
            group.unit().head().to_owned(),
            optional(at.map(|at| at.p50_ns)),
            optional(at.map(|at| at.p99_ns)),
            optional(at.map(|at| at.p999_ns)),
            optional(at.map(|at| at.max_ns)),
            optional(sample.fairness),
            sample.checked.to_string(),
        ])
    };
    let rows: Vec<Vec<String>> = samples.iter().filter_map(row).collect();
    throng_papers::csv::csv(&header, &rows)
}

/// Writes the tables and all numbers into a folder.
pub(super) fn write_folder(
    folder: &Path,
    text: &str,
    document: &Document<'_>,
    csv: &str,
) -> Result<(), Error> {
    for (name, content) in
        [("everyday.txt", text), ("everyday.json", &output::json(document)), ("everyday.csv", csv)]
    {
        OutputFile { path: folder.join(name) }.write(content)?;
    }
    Ok(())
}
