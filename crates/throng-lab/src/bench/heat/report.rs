//! The tables and the sentences below them.

use std::fmt::Write as _;

use serde::Serialize;
use throng_papers::numbers::{counted, short};

use super::plan::HeatPlan;
use super::{BARRIERS, RAYON, SERIAL, Sample};
use crate::bench::barriers::rows::REFERENCE;
use crate::bench::grid::{Grid, ratio};
use crate::bench::harness::by_place;
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;
use crate::error::count;

/// The results of all repetitions of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The barrier, or another way to synchronise the threads.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Cells of the plate on a side.
    pub size: usize,
    /// Microseconds a step.
    pub us_a_step: Stats,
}

/// Sums up the samples, in their order.
pub fn cells(samples: &[Sample]) -> Vec<Cell> {
    let place = |sample: &Sample| (sample.method, sample.threads, sample.size);
    let cell = |((method, threads, size), us_a_step)| Cell { method, threads, size, us_a_step };
    by_place(samples, place, |sample| sample.us_a_step).map(cell).collect()
}

fn median(cells: &[Cell], method: &str, threads: usize, size: usize) -> Option<f64> {
    let is_it =
        |cell: &&Cell| cell.method == method && cell.threads == threads && cell.size == size;
    cells.iter().find(is_it).map(|cell| cell.us_a_step.median)
}

/// Returns the text for the terminal.
pub fn text(plan: &HeatPlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let mut text = format!("{}; each number from {runs}\n\n", setup.in_words());
    for &size in &plan.sizes {
        let serial = median(cells, SERIAL, 1, size).map_or("-".to_owned(), short);
        let steps = plan.steps(size).measured as u64;
        let _ = writeln!(
            text,
            "{size} x {size} cells, {} a run; one thread alone: {serial} us a step",
            counted(steps, "step")
        );
        for block in grid(plan, cells, size).blocks() {
            let _ = writeln!(text, "{block}");
        }
    }
    let _ = writeln!(
        text,
        "us        of one step, median of {runs} (every result compared with that of one thread)\n\
         ratio     speed-up over std::sync::Barrier on the same number of threads"
    );
    text += &noise::line(plan.repetitions, spreads(cells));
    text.push('\n');
    for line in verdicts(plan, cells) {
        let _ = writeln!(text, "{line}");
    }
    text
}

fn grid(plan: &HeatPlan, cells: &[Cell], size: usize) -> Grid {
    let ways = BARRIERS.into_iter().chain([RAYON]);
    Grid::by_threads("barrier", ["us", "ratio"], &plan.threads, ways, |method, threads| {
        let us = median(cells, method, threads, size)?;
        let reference = median(cells, REFERENCE, threads, size);
        Some([short(us), ratio(reference.map(|reference| reference / us))])
    })
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let name = |cell: &Cell| {
        let Cell { method, threads, size, .. } = cell;
        format!("{method}, {}, {size} x {size}", count(*threads))
    };
    cells.iter().filter_map(|cell| Some((cell.us_a_step.spread()?, name(cell)))).collect()
}

/// Returns a sentence for each size: where the library's team is fastest, with its speed-ups.
fn verdicts(plan: &HeatPlan, cells: &[Cell]) -> Vec<String> {
    let verdict = |&size: &usize| {
        let of_team = plan.threads.iter().map(|&threads| {
            let [team, std, rayon] =
                ["team", REFERENCE, RAYON].map(|method| median(cells, method, threads, size));
            Some((team?, std?, rayon?, threads))
        });
        let (team, std, rayon, threads) = of_team.flatten().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let serial = median(cells, SERIAL, 1, size)?;
        Some(format!(
            "{size} x {size}: a team is at its best on {}, {:.2} times as fast as std, {:.2} times \
             as rayon,\n  {:.2} times as one thread.",
            count(threads),
            std / team,
            rayon / team,
            serial / team
        ))
    };
    plan.sizes.iter().filter_map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_team_is_held_against_all_others() {
        let plan = HeatPlan {
            threads: vec![2],
            sizes: vec![64],
            steps: None,
            quick: false,
            repetitions: 9,
        };
        let sample = |method, threads, us_a_step| Sample {
            method,
            threads,
            size: 64,
            repetition: 0,
            steps: 1,
            us_a_step,
        };
        let samples = [
            sample(SERIAL, 1, 3.0),
            sample(REFERENCE, 2, 8.0),
            sample("barrier", 2, 3.0),
            sample("team", 2, 2.0),
            sample(RAYON, 2, 10.0),
        ];
        let cells = cells(&samples);
        assert_eq!(
            verdicts(&plan, &cells),
            [
                "64 x 64: a team is at its best on 2 threads, 4.00 times as fast as std, 5.00 times as \
              rayon,\n  1.50 times as one thread."
            ]
        );
        let block = grid(&plan, &cells, 64).blocks().remove(0);
        assert!(block.contains("team") && block.contains("4.00"), "{block}");
    }
}
