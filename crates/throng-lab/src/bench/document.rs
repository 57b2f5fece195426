//! The numbers of a measurement of counters, for other programs.

use serde::Serialize;

use super::Sample;
use super::setup::Setup;
use super::summary::{Cell, Summary};
use crate::plan::CountersPlan;

/// What is written, in the order of the fields.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    setup: &'a Setup,
    reference: &'static str,
    threads: &'a [usize],
    width: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pace: Option<String>,
    repetitions: usize,
    milliseconds: f64,
    summary: Vec<&'a Cell>,
    runs: &'a [Sample],
}

impl<'a> Document<'a> {
    pub(super) fn new(
        plan: &'a CountersPlan,
        setup: &'a Setup,
        samples: &'a [Sample],
        summary: &'a Summary,
    ) -> Self {
        Document {
            throng: env!("CARGO_PKG_VERSION"),
            benchmark: "counters",
            setup,
            reference: crate::peers::reference().about.name,
            threads: &plan.threads,
            width: plan.width,
            pace: plan.pace.in_words(),
            repetitions: plan.repetitions,
            milliseconds: plan.run_time.as_secs_f64() * 1e3,
            summary: summary.cells().collect(),
            runs: samples,
        }
    }
}
