//! The tables and the sentences below them.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};

use super::mixes::Mix;
use super::plan::QueuesPlan;
use super::rows::REFERENCE;
use super::summary::{Cell, find};
use crate::bench::Origin;
use crate::bench::grid::{Grid, ratio};
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::error::count;

/// Returns the text for the terminal.
pub fn text(plan: &QueuesPlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let ms = plan.time.as_millis();
    let mut text = format!("{}; each number from {runs} of {ms} ms\n", setup.in_words());
    if plan.work_ns > 0 {
        let work = plan.work_ns;
        let _ = writeln!(text, "before each push and each pop 0 to {work} ns of something else");
    }
    for &mix in &plan.mixes {
        let _ = writeln!(text, "\n{}: {}\n", mix.name(), mix.in_words());
        for block in grid(plan, mix, cells).blocks() {
            let _ = writeln!(text, "{block}");
        }
        for block in ours_grid(plan, mix, cells).iter().flat_map(Grid::blocks) {
            let _ = writeln!(text, "{block}");
        }
        if let Some(line) = best_peers(mix, cells) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "\n{}", legend(plan, &runs));
    text += &noise::line(plan.repetitions, spreads(cells));
    let worst = worst(plan, cells);
    if !worst.is_empty() {
        let _ = writeln!(text, "\n{worst}");
    }
    text
}

/// Returns the headings and the rows of a table, with a function for each cell.
fn table(
    plan: &QueuesPlan,
    mix: Mix,
    cells: &[Cell],
    labels: [&'static str; 2],
    pair: impl Fn(&Cell) -> [String; 2],
    is_in: impl Fn(Origin) -> bool,
) -> Grid {
    let threads: Vec<usize> =
        plan.threads.iter().copied().filter(|&n| n >= mix.least_threads()).collect();
    // Leaves out a row that suits no number of threads.
    let rows = plan.rows.iter().filter(|row| {
        is_in(row.origin) && threads.iter().any(|&n| find(cells, mix, row.name, n).is_some())
    });
    Grid::by_threads("queue", labels, &threads, rows.map(|row| row.name), |name, threads| {
        find(cells, mix, name, threads).map(&pair)
    })
}

fn grid(plan: &QueuesPlan, mix: Mix, cells: &[Cell]) -> Grid {
    let pair = |cell: &Cell| [short(cell.million_per_second.median), ratio(cell.ratio)];
    table(plan, mix, cells, ["M/s", "ratio"], pair, |_| true)
}

/// Returns the table of ours beside the best of others, or `None` where none of ours was measured.
fn ours_grid(plan: &QueuesPlan, mix: Mix, cells: &[Cell]) -> Option<Grid> {
    let pair = |cell: &Cell| [ratio(cell.of_best.map(|best| best.ratio)), ratio(cell.ratio)];
    let grid = table(plan, mix, cells, ["of best", "ratio"], pair, Origin::is_ours);
    (!grid.rows.is_empty()).then_some(grid)
}

/// Names the best of others on each number of threads.
fn best_peers(mix: Mix, cells: &[Cell]) -> Option<String> {
    let mut names: Vec<(usize, &str)> = cells
        .iter()
        .filter(|cell| cell.mix == mix.name())
        .filter_map(|cell| Some((cell.threads, cell.of_best?.peer)))
        .collect();
    names.dedup();
    let names: Vec<String> =
        names.iter().map(|(threads, name)| format!("{name} ({})", count(*threads))).collect();
    (!names.is_empty()).then(|| format!("best of others: {}", names.join(", ")))
}

fn legend(plan: &QueuesPlan, runs: &str) -> String {
    let mut text = format!(
        "M/s       million items popped in a second, median of {runs}; in the mix empty, polls \
         (every\n          item checked: popped once, and in the order of its producer)\n\
         ratio     times crossbeam's ArrayQueue, in the same mix on the same number of threads\n\
         of best   times the fastest queue of others, likewise"
    );
    if plan.rows.iter().any(|row| row.origin == Origin::Nothing) {
        text += "\nnothing   no queue: what the loop, the items and the check take by themselves";
    }
    text
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let spread = |cell: &Cell| {
        let name = format!("{}, {}, {}", cell.method, cell.mix, count(cell.threads));
        Some((cell.million_per_second.spread()?, name))
    };
    cells.iter().filter_map(spread).collect()
}

/// Returns, for each of ours, the place where it is farthest behind the others.
fn worst(plan: &QueuesPlan, cells: &[Cell]) -> String {
    let ours = plan.rows.iter().filter(|row| row.origin.is_ours());
    let lines = ours.filter_map(|row| {
        let mine = || cells.iter().filter(move |cell| cell.method == row.name);
        let place = |cell: &Cell| format!("{}, {}", cell.mix, count(cell.threads));
        let of_best = mine().filter_map(|cell| Some((cell.of_best?, cell)));
        let (best, cell) = of_best.min_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))?;
        let of_reference = mine().filter_map(|cell| Some((cell.ratio?, cell)));
        let (ratio, other) = of_reference.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(format!(
            "{} is at worst {:.2} times the best of others ({}: {}), {ratio:.2} times {REFERENCE} ({}).",
            row.name,
            best.ratio,
            place(cell),
            best.peer,
            place(other),
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::{plan, sample};
    use super::*;

    #[test]
    fn tables_hold_medians_and_ratios_and_who_is_best() {
        let plan = plan("even");
        let samples = [
            sample(Mix::Even, "array-queue", 2, 20.0),
            sample(Mix::Even, "seg-queue", 2, 40.0),
            sample(Mix::Even, "queue", 2, 10.0),
            sample(Mix::Even, "queue-try", 2, 60.0),
        ];
        let cells = super::super::summary::cells(&plan, &samples);
        let expected = [
            "                 2 threads",
            "queue             M/s ratio",
            "array-queue        20  1.00",
            "queue              10  0.50",
            "queue-try          60  3.00",
            "seg-queue          40  2.00",
            "",
        ];
        let blocks = grid(&plan, Mix::Even, &cells).blocks();
        assert_eq!(without_blanks(&blocks.concat()), without_blanks(&expected.join("\n")));
        let ours = ours_grid(&plan, Mix::Even, &cells).unwrap().blocks().concat();
        assert!(without_blanks(&ours).ends_with("queue 0.25 0.50\nqueue-try 1.50 3.00"), "{ours}");
        let best = best_peers(Mix::Even, &cells).unwrap();
        assert_eq!(best, "best of others: seg-queue (2 threads)");
        assert_eq!(
            worst(&plan, &cells).lines().next().unwrap(),
            "queue is at worst 0.25 times the best of others (even, 2 threads: seg-queue), 0.50 \
             times array-queue (even, 2 threads)."
        );
        assert_eq!(spreads(&cells).len(), 4);
    }

    /// Replaces several blanks by one.
    fn without_blanks(text: &str) -> String {
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
    }
}
