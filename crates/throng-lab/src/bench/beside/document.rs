//! Writes every single number, for other programs.

use serde::Serialize;

use super::Sample;
use super::plan::BesidePlan;
use super::summary::{Cell, Ratio, Summary};
use crate::bench::setup::Setup;

/// The JSON output, in the order of the fields.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    setup: &'a Setup,
    loads: Vec<String>,
    threads: &'a [usize],
    neighbours: Vec<String>,
    repetitions: usize,
    milliseconds: f64,
    seconds: u64,
    ratios: &'a [Ratio],
    summary: &'a [Cell],
    runs: &'a [Sample],
}

impl<'a> Document<'a> {
    pub(super) fn new(
        plan: &'a BesidePlan,
        setup: &'a Setup,
        runs: &'a [Sample],
        summary: &'a Summary,
    ) -> Self {
        Document {
            throng: env!("CARGO_PKG_VERSION"),
            benchmark: plan.subject.name(),
            setup,
            loads: plan.loads.iter().map(|load| load.text()).collect(),
            threads: &plan.threads,
            neighbours: plan.settings.iter().map(ToString::to_string).collect(),
            repetitions: plan.repetitions,
            milliseconds: plan.times.measure.as_secs_f64() * 1e3,
            seconds: plan.budget.as_secs(),
            ratios: &summary.ratios,
            summary: &summary.cells,
            runs,
        }
    }
}

/// Returns every run as CSV. Where a run took too long, its numbers are left out.
pub(super) fn csv(samples: &[Sample]) -> String {
    let header = [
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
    let row = |sample: &Sample| {
        let mut row = vec![
            sample.load.clone(),
            sample.threads.to_string(),
            sample.neighbours.to_string(),
            sample.method.to_owned(),
            sample.repetition.to_string(),
        ];
        if let Some(found) = sample.found {
            let measured = found.measured;
            let at = measured.latency;
            row.push(measured.operations.to_string());
            let numbers = [
                measured.ns,
                at.p50_ns,
                at.p99_ns,
                at.p999_ns,
                at.max_ns,
                measured.seconds,
                measured.cpu_seconds,
                found.cores_used,
            ];
            row.extend(numbers.map(|number| number.to_string()));
            row.extend(found.neighbours_keep.map(|part| part.to_string()));
        }
        row.resize(header.len(), String::new());
        row
    };
    let rows: Vec<Vec<String>> = samples.iter().map(row).collect();
    throng_papers::csv::csv(&header, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::beside::setting::Setting;
    use crate::bench::beside::summary::tests::{plan, sample};

    #[test]
    fn every_run_is_a_row_and_what_was_not_found_is_empty() {
        let samples = [
            sample("std", Setting::Busy(0), Some(100.0)),
            sample("barrier", Setting::Copy, Some(50.0)),
            sample("pthread", Setting::Copy, None),
        ];
        let text = csv(&samples);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "rounds:0,2,0,std,0,10,100,100,300,400,500,1,1.5,1.5,");
        assert_eq!(lines[2], "rounds:0,2,copy,barrier,0,10,50,50,150,200,250,1,1.5,1.5,0.5");
        assert_eq!(lines[3], "rounds:0,2,copy,pthread,0,,,,,,,,,,");
    }

    #[test]
    fn the_document_has_all_runs_with_their_numbers_side_by_side() {
        let (plan, setup) = (plan(), Setup::look(&crate::bench::setup::Pinning::none()));
        let samples = [
            sample("std", Setting::Busy(0), Some(100.0)),
            sample("barrier", Setting::Busy(0), Some(50.0)),
            sample("barrier", Setting::Copy, None),
        ];
        let summary = Summary::of(&plan, &samples);
        let document =
            serde_json::to_value(Document::new(&plan, &setup, &samples, &summary)).unwrap();
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
