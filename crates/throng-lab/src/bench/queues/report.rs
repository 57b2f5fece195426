//! The tables, the sentences below them, and every single number.

use std::fmt::Write as _;

use serde_json::json;
use throng_papers::numbers::{counted, short};

use super::Sample;
use super::mixes::Mix;
use super::plan::QueuesPlan;
use super::rows::{Kind, REFERENCE};
use super::summary::{Cell, Summary};
use crate::bench::grid::{Grid, Row};
use crate::bench::harness::Record;
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::error::count;

/// Returns the text for the terminal.
#[must_use]
pub fn text(plan: &QueuesPlan, setup: &Setup, summary: &Summary) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let ms = plan.time.as_millis();
    let mut text = format!("{}; each number from {runs} of {ms} ms\n", setup.in_words());
    if plan.work_ns > 0 {
        let work = plan.work_ns;
        let _ = writeln!(text, "before each push and each pop 0 to {work} ns of something else");
    }
    for &mix in &plan.mixes {
        let _ = writeln!(text, "\n{}: {}\n", mix.name(), mix.in_words());
        for block in grid(plan, mix, summary).blocks() {
            let _ = writeln!(text, "{block}");
        }
        for block in ours_grid(plan, mix, summary).iter().flat_map(Grid::blocks) {
            let _ = writeln!(text, "{block}");
        }
        if let Some(line) = best_peers(mix, summary) {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = writeln!(text, "\n{}", legend(plan, &runs));
    if plan.repetitions > 1
        && let Some(noise) = noise::in_words(spreads(summary))
    {
        let _ = writeln!(text, "spread    {noise}");
    }
    let worst = worst(plan, summary);
    if !worst.is_empty() {
        let _ = writeln!(text, "\n{worst}");
    }
    text
}

/// Returns the headings and the rows of a table, with a function for each cell.
fn table(
    plan: &QueuesPlan,
    mix: Mix,
    summary: &Summary,
    labels: [&'static str; 2],
    pair: impl Fn(&Cell) -> [String; 2],
    is_in: impl Fn(Kind) -> bool,
) -> Grid {
    let threads = || plan.threads.iter().filter(|&&threads| threads >= mix.least_threads());
    let row = |row: &super::rows::Row| {
        let pair = |&threads| match summary.find(mix, row.name, threads) {
            Some(cell) => pair(cell),
            None => ["-", "-"].map(str::to_owned),
        };
        Row { name: row.name.to_owned(), pairs: threads().map(pair).collect(), last: None }
    };
    // Leaves out a row that suits no number of threads.
    let rows = plan.rows.iter().filter(|row| {
        is_in(row.kind) && threads().any(|&n| summary.find(mix, row.name, n).is_some())
    });
    Grid {
        name: "queue",
        heads: threads().map(|&threads| count(threads)).collect(),
        labels,
        last: None,
        rows: rows.map(row).collect(),
    }
}

fn grid(plan: &QueuesPlan, mix: Mix, summary: &Summary) -> Grid {
    let pair = |cell: &Cell| [short(cell.million_per_second.median), ratio(cell.ratio)];
    table(plan, mix, summary, ["M/s", "ratio"], pair, |_| true)
}

/// Returns the table of ours beside the best of others, or `None` where none of ours was measured.
fn ours_grid(plan: &QueuesPlan, mix: Mix, summary: &Summary) -> Option<Grid> {
    let pair = |cell: &Cell| [ratio(cell.of_best.map(|best| best.ratio)), ratio(cell.ratio)];
    let grid = table(plan, mix, summary, ["of best", "ratio"], pair, |kind| kind == Kind::Ours);
    (!grid.rows.is_empty()).then_some(grid)
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Names the best of others on each number of threads.
fn best_peers(mix: Mix, summary: &Summary) -> Option<String> {
    let mut names: Vec<(usize, &str)> = summary
        .cells()
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
    if plan.rows.iter().any(|row| row.kind == Kind::Nothing) {
        text += "\nnothing   no queue: what the loop, the items and the check take by themselves";
    }
    text
}

fn spreads(summary: &Summary) -> Vec<(f64, String)> {
    let spread = |cell: &Cell| {
        let name = format!("{}, {}, {}", cell.method, cell.mix, count(cell.threads));
        Some((cell.million_per_second.spread()?, name))
    };
    summary.cells().filter_map(spread).collect()
}

/// Returns, for each of ours, the place where it is farthest behind the others.
fn worst(plan: &QueuesPlan, summary: &Summary) -> String {
    let ours = plan.rows.iter().filter(|row| row.kind == Kind::Ours);
    let lines = ours.filter_map(|row| {
        let mine = || summary.cells().filter(move |cell| cell.method == row.name);
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

/// Returns what is written for other programs.
pub(super) fn record<'a>(
    plan: &QueuesPlan,
    setup: &'a Setup,
    runs: &'a [Sample],
    summary: &'a Summary,
) -> Record<'a, Vec<&'a Cell>, Sample> {
    let mixes: Vec<&str> = plan.mixes.iter().map(|mix| mix.name()).collect();
    let asked = vec![
        ("reference", json!(REFERENCE)),
        ("mixes", json!(mixes)),
        ("threads", json!(plan.threads)),
        ("repetitions", json!(plan.repetitions)),
        ("milliseconds", json!(plan.time.as_secs_f64() * 1e3)),
        ("work_ns", json!(plan.work_ns)),
    ];
    Record { benchmark: "queues", setup, asked, summary: summary.cells().collect(), runs }
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
        let summary = Summary::of(&plan, &samples);
        let expected = [
            "                 2 threads",
            "queue             M/s ratio",
            "array-queue        20  1.00",
            "queue              10  0.50",
            "queue-try          60  3.00",
            "seg-queue          40  2.00",
            "",
        ];
        let blocks = grid(&plan, Mix::Even, &summary).blocks();
        assert_eq!(without_blanks(&blocks.concat()), without_blanks(&expected.join("\n")));
        let ours = ours_grid(&plan, Mix::Even, &summary).unwrap().blocks().concat();
        assert!(without_blanks(&ours).ends_with("queue 0.25 0.50\nqueue-try 1.50 3.00"), "{ours}");
        let best = best_peers(Mix::Even, &summary).unwrap();
        assert_eq!(best, "best of others: seg-queue (2 threads)");
        assert_eq!(
            worst(&plan, &summary).lines().next().unwrap(),
            "queue is at worst 0.25 times the best of others (even, 2 threads: seg-queue), 0.50 \
             times array-queue (even, 2 threads)."
        );
        assert_eq!(spreads(&summary).len(), 4);
    }

    /// Replaces several blanks by one.
    fn without_blanks(text: &str) -> String {
        let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
    }
}
