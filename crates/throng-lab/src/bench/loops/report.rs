//! The tables and the sentences below them.

use std::fmt::Write as _;

use serde::Serialize;
use throng_papers::numbers::{counted, grouped, short};

use super::Sample;
use super::plan::LoopPlan;
use super::ways::{OURS, REFERENCE, Way};
use super::work::Shape;
use super::work::Size;
use crate::bench::grid::{Grid, ratio};
use crate::bench::harness::by_place;
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;
use crate::error::count;

/// The results of all repetitions of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The way to share the indices out.
    pub method: &'static str,
    /// The distribution of work over the indices.
    pub shape: Shape,
    /// Number of indices, and their time together on one thread.
    #[serde(flatten)]
    pub size: Size,
    /// Number of threads.
    pub threads: usize,
    /// Microseconds a loop.
    pub us_a_loop: Stats,
}

/// Sums up the samples, in their order.
pub fn cells(samples: &[Sample]) -> Vec<Cell> {
    let place = |sample: &Sample| (sample.method, sample.shape, sample.size, sample.threads);
    let cell = |((method, shape, size, threads), us_a_loop)| Cell {
        method,
        shape,
        size,
        threads,
        us_a_loop,
    };
    by_place(samples, place, |sample| sample.us_a_loop).map(cell).collect()
}

/// Returns the median of one cell.
fn median(cells: &[Cell], way: &str, load: (Shape, Size), threads: usize) -> Option<f64> {
    let is_it = |cell: &&Cell| {
        cell.method == way && (cell.shape, cell.size) == load && cell.threads == threads
    };
    cells.iter().find(is_it).map(|cell| cell.us_a_loop.median)
}

/// Returns the speed-up over the reference.
fn speed_up(cells: &[Cell], way: &str, load: (Shape, Size), threads: usize) -> Option<f64> {
    let [us, reference] = [way, REFERENCE.name()].map(|way| median(cells, way, load, threads));
    Some(reference? / us?)
}

fn load_in_words((shape, size): (Shape, Size)) -> String {
    let Size { indices, microseconds } = size;
    let what = if indices == 1 { "index" } else { "indices" };
    let [indices, microseconds] = [indices, microseconds].map(|number| grouped(number as u64));
    format!("{}, {indices} {what}, {microseconds} us of work", shape.name())
}

/// Returns the text for the terminal.
pub fn text(plan: &LoopPlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let mut text = format!("{}; each number from {runs}\n\n", setup.in_words());
    for load in plan.loads() {
        let _ = writeln!(text, "{}", load_in_words(load));
        for block in grid(plan, cells, load).blocks() {
            let _ = writeln!(text, "{block}");
        }
    }
    let _ = writeln!(
        text,
        "us        of one loop, median of {runs} (every index was done once in every loop)\n\
         ratio     speed-up over rayon on the same number of threads"
    );
    if !plan.gap.is_zero() {
        let _ = writeln!(text, "gap       {} us between two loops", plan.gap.as_micros());
    }
    text += &noise::line(plan.repetitions, spreads(cells));
    let _ = writeln!(text, "\n{}", verdict(plan, cells));
    text
}

fn grid(plan: &LoopPlan, cells: &[Cell], load: (Shape, Size)) -> Grid {
    Grid::by_threads(
        "loop",
        ["us", "ratio"],
        &plan.threads,
        Way::ALL.map(Way::name),
        |way, threads| {
            let us = median(cells, way, load, threads)?;
            Some([short(us), ratio(speed_up(cells, way, load, threads))])
        },
    )
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let name = |cell: &Cell| {
        let load = load_in_words((cell.shape, cell.size));
        format!("{}, {}, {load}", cell.method, count(cell.threads))
    };
    cells.iter().filter_map(|cell| Some((cell.us_a_loop.spread()?, name(cell)))).collect()
}

/// Returns a sentence: the best and the worst speed-up of the library's loop over rayon's.
fn verdict(plan: &LoopPlan, cells: &[Cell]) -> String {
    let places = plan.loads().flat_map(|load| plan.threads.iter().map(move |&n| (load, n)));
    let ratios = places.filter_map(|(load, threads)| {
        Some((speed_up(cells, OURS.name(), load, threads)?, load, threads))
    });
    let mut ratios: Vec<_> = ratios.collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(worst), Some(best)) = (ratios.first(), ratios.last()) else {
        return String::new();
    };
    let words = |&(ratio, load, threads): &(f64, (Shape, Size), usize)| {
        format!("{ratio:.2} times as fast as rayon ({}, {})", count(threads), load_in_words(load))
    };
    format!("for_each_index is at worst {},\n  at best {}.", words(worst), words(best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_loop_is_held_against_rayon_at_its_best_and_worst() {
        let plan = LoopPlan {
            threads: vec![2, 4],
            shapes: vec![Shape::Growing],
            sizes: vec![Size { indices: 10, microseconds: 50 }],
            gap: Duration::ZERO,
            quick: false,
            repetitions: 9,
        };
        let (shape, size) = plan.loads().next().unwrap();
        let sample = |way: Way, threads, us_a_loop| Sample {
            method: way.name(),
            shape,
            size,
            threads,
            repetition: 0,
            loops: 1,
            us_a_loop,
        };
        let samples = [
            sample(REFERENCE, 2, 30.0),
            sample(OURS, 2, 20.0),
            sample(REFERENCE, 4, 30.0),
            sample(OURS, 4, 40.0),
        ];
        let cells = cells(&samples);
        assert_eq!(
            verdict(&plan, &cells),
            "for_each_index is at worst 0.75 times as fast as rayon (4 threads, growing, 10 indices, 50 \
             us of work),\n  at best 1.50 times as fast as rayon (2 threads, growing, 10 indices, 50 us of \
             work)."
        );
        let block = grid(&plan, &cells, (shape, size)).blocks().remove(0);
        assert!(block.contains("for_each_index") && block.contains("1.50"), "{block}");
    }
}
