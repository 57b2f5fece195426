//! The table and the sentence below it.

use std::fmt::Write as _;

use serde::Serialize;
use throng_papers::numbers::{counted, short};
use throng_papers::table::{Align, aligned};

use super::Sample;
use super::cases::{Case, Cost, OURS, REFERENCE};
use super::plan::StartPlan;
use crate::bench::latency::Recorder;
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;

/// Largest additional cost of ours over the reference, in microseconds.
const ENOUGH_US: f64 = 50.0;

/// The results of all processes of one case. All times are in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The structure.
    pub structure: &'static str,
    /// Its library.
    pub method: &'static str,
    /// Time to construct it.
    pub new_us: Stats,
    /// Time of the first operation.
    pub first_us: Stats,
    /// Sum of both.
    pub sum_us: Stats,
    /// 99th percentile of the sum.
    pub p99_us: f64,
    /// Median of the sum, less that of the reference.
    pub more_us: f64,
}

/// Sums up the samples.
pub fn cells(plan: &StartPlan, samples: &[Sample]) -> Vec<Cell> {
    let cells = plan.cases.iter().filter_map(|case| cell(case, samples));
    let mut cells: Vec<Cell> = cells.collect();
    let references: Vec<Cell> =
        cells.iter().filter(|cell| cell.method == REFERENCE).cloned().collect();
    for cell in &mut cells {
        let is_same = |reference: &&Cell| reference.structure == cell.structure;
        if let Some(reference) = references.iter().find(is_same) {
            cell.more_us = cell.sum_us.median - reference.sum_us.median;
        }
    }
    cells
}

fn cell(case: &Case, samples: &[Sample]) -> Option<Cell> {
    let is_here = |one: &&Sample| one.structure == case.structure && one.method == case.method;
    let costs = || samples.iter().filter(is_here).map(|sample| sample.cost);
    let us = |ns: fn(Cost) -> u64| Stats::of(costs().map(|cost| ns(cost) as f64 / 1e3));
    let mut recorder = Recorder::new();
    costs().for_each(|cost| recorder.record(cost.sum_ns()));
    Some(Cell {
        structure: case.structure,
        method: case.method,
        new_us: us(|cost| cost.new_ns)?,
        first_us: us(|cost| cost.first_ns)?,
        sum_us: us(Cost::sum_ns)?,
        p99_us: Recorder::together([&recorder].into_iter())?.p99_ns / 1e3,
        more_us: 0.0,
    })
}

/// Returns the text for the terminal.
pub fn text(plan: &StartPlan, setup: &Setup, cells: &[Cell]) -> String {
    let processes = counted(plan.repetitions as u64, "fresh process");
    let processes = processes.replace("processs", "processes");
    let mut text = format!("{}; each number from {processes}\n\n", setup.in_words());
    text.push_str(&table(cells));
    text.push_str(
        "\nnew       us to construct it, median\n\
         first     us of the first operation: a round of a barrier, whose threads are parked before; a push and \
         a\n          pop; a number\n\
         both      of the two together, median; p99: 99 of 100 took no longer\n\
         more      us that both take longer than those of std, by the medians\n",
    );
    for cell in cells.iter().filter(|cell| cell.method == OURS && cell.more_us > ENOUGH_US) {
        let _ = writeln!(
            text,
            "\n{} costs {} us more than std's: above {ENOUGH_US} us.",
            cell.structure,
            short(cell.more_us)
        );
    }
    text
}

fn table(cells: &[Cell]) -> String {
    let head = ["structure", "whose", "new us", "first us", "both us", "p99 us", "more us"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(cells.iter().map(|cell| {
        vec![
            cell.structure.to_owned(),
            cell.method.to_owned(),
            short(cell.new_us.median),
            short(cell.first_us.median),
            short(cell.sum_us.median),
            short(cell.p99_us),
            short(cell.more_us),
        ]
    }));
    let mut aligns = vec![Align::Right; head.len()];
    aligns[..2].fill(Align::Left);
    aligned(&rows, &aligns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::Benchmark;
    use crate::bench::setup::Pinning;
    use crate::bench::start::cases;

    fn sample(method: &'static str, new_ns: u64, first_ns: u64) -> Sample {
        let cost = Cost { new_ns, first_ns };
        Sample { structure: "counter", method, repetition: 0, cost }
    }

    #[test]
    fn ours_are_compared_with_the_reference() {
        let mut cases = cases::all();
        cases.retain(|case| case.structure == "counter");
        let plan = StartPlan { cases, repetitions: 200 };
        let samples = [
            sample(REFERENCE, 100, 900),
            sample(OURS, 1_000, 500),
            sample(OURS, 60_000, 3_000),
            sample(OURS, 70_000, 2_000),
        ];
        let cells = cells(&plan, &samples);
        assert_eq!((cells[1].new_us.median, cells[1].first_us.median), (60.0, 2.0));
        assert_eq!((cells[0].more_us, cells[1].more_us), (0.0, 62.0));
        assert!((cells[1].p99_us / 72.0 - 1.0).abs() < 0.02, "{:?}", cells[1]);
        let expected = [
            "structure  whose   new us  first us  both us  p99 us  more us",
            "counter    std       0.10      0.90        1    1.00        0",
        ];
        assert!(table(&cells).starts_with(&expected.join("\n")), "{}", table(&cells));
        let text = text(&plan, &Setup::look(&Pinning::none()), &cells);
        assert!(text.contains("from 200 fresh processes\n"), "{text}");
        assert!(text.ends_with("counter costs 62 us more than std's: above 50 us.\n"), "{text}");
        assert!(plan.csv(&samples).contains("\ncounter,throng,0,60000,3000\n"));
    }
}
