//! The table and the sentence below it.

use std::fmt::Write as _;

use throng_papers::numbers::counted;

use super::plan::CountersPlan;
use super::summary::Cell;
use crate::bench::grid::{Grid, Row};
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::error::count;

/// Returns the text for the terminal.
pub fn text(plan: &CountersPlan, setup: &Setup, cells: &[Cell]) -> String {
    let mut text = format!("{}\n\n", setup_line(plan, setup));
    for block in blocks(cells) {
        let _ = writeln!(text, "{block}");
    }
    let noise = noise::line(plan.repetitions, spreads(cells));
    let _ = writeln!(text, "{}\n{noise}\n{}", legend(plan), advice(cells, plan.repetitions));
    text
}

/// Describes the machine and the measurement in a line.
fn setup_line(plan: &CountersPlan, setup: &Setup) -> String {
    let mut line = setup.in_words();
    if let Some(width) = plan.width {
        let _ = write!(line, ", width {width}");
    }
    if let Some(pace) = plan.pace.in_words() {
        let _ = write!(line, ", {pace}");
    }
    let _ = write!(
        line,
        "; each number from {} of up to {} ms",
        counted(plan.repetitions as u64, "run"),
        plan.run_time.as_millis()
    );
    line
}

/// Returns the table, in several blocks where the numbers of threads do not fit side by side.
fn blocks(cells: &[Cell]) -> Vec<String> {
    let rows = || cells.chunk_by(|one, next| one.method == next.method);
    let heads = rows().next().unwrap_or_default().iter().map(|cell| count(cell.threads)).collect();
    let row = |cells: &[Cell]| Row {
        name: cells[0].method.to_owned(),
        pairs: (cells.iter())
            .map(|cell| [short(Some(cell.million_per_second)), short(cell.ratio)])
            .collect(),
        last: Some(short(cells.last().and_then(|cell| cell.fairness))),
    };
    let grid = Grid {
        name: "counter",
        heads,
        labels: ["M/s", "ratio"],
        last: Some(FAIRNESS),
        rows: rows().map(row).collect(),
    };
    grid.blocks()
}

const FAIRNESS: &str = "fairness";

/// Formats two digits after the point. Small numbers are marked as small instead of 0.
fn short(number: Option<f64>) -> String {
    match number {
        None => "-".to_owned(),
        Some(number) if number > 0.0 && number < 0.01 => "<0.01".to_owned(),
        Some(number) => format!("{number:.2}"),
    }
}

/// Explains the columns.
fn legend(plan: &CountersPlan) -> String {
    let most_threads = count(plan.threads.last().copied().unwrap_or(1));
    format!(
        "M/s       million values a second, median of {} (every value checked)\n\
         ratio     times the bare fetch_add of std on the same number of threads\n\
         fairness  the slowest thread's share over the fastest's, {most_threads} (1: even)",
        counted(plan.repetitions as u64, "run"),
    )
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let spread =
        |cell: &Cell| Some((cell.spread()?, format!("{}, {}", cell.method, count(cell.threads))));
    cells.iter().filter_map(spread).collect()
}

/// Smallest speed-up over the reference that is clear, if it also holds in all runs.
const CLEARLY: f64 = 1.05;
/// Fewest runs that say anything about what is faster.
const FEWEST_RUNS: usize = 3;

/// Returns a sentence: the counter to use on this machine.
fn advice(cells: &[Cell], repetitions: usize) -> String {
    if repetitions < FEWEST_RUNS {
        return format!("Too few runs for advice: it takes --repetitions {FEWEST_RUNS} or more.");
    }
    let rows = cells.chunk_by(|one, next| one.method == next.method);
    let mut most_threads = rows.filter_map(|cells| cells.last());
    let Some(reference) = most_threads.next().filter(|r| r.million_per_second > 0.0) else {
        return "The runs were too short to measure anything.".to_owned();
    };
    let on = count(reference.threads);
    // `hardware` is the reference behind the library's trait, so it is no alternative.
    let best = most_threads
        .filter(|cell| cell.method != "hardware")
        .max_by(|a, b| a.million_per_second.total_cmp(&b.million_per_second));
    let Some(best) = best else {
        return format!(
            "fetch_add hands out {} million values a second on {on}.",
            short(Some(reference.million_per_second))
        );
    };
    if best.million_per_second == 0.0 {
        return format!("The runs were too short to measure {} on {on}.", best.method);
    }
    let (name, ratio) = (best.method, short(best.ratio));
    if is_clearly_faster(best, reference) {
        format!(
            "On {on} here, use {name}: {ratio} times as fast as the bare fetch_add,\n\
             {} million values a second.",
            short(Some(best.million_per_second))
        )
    } else {
        let rest = match best.ratio {
            Some(r) if r > 1.0 => format!("{name} is {ratio} times as fast, within the spread"),
            _ => format!("The nearest is {name}, {ratio} times as fast"),
        };
        format!(
            "On {on} here, nothing is clearly faster than the bare fetch_add: use that.\n{rest}."
        )
    }
}

fn is_clearly_faster(best: &Cell, reference: &Cell) -> bool {
    best.ratio.is_some_and(|ratio| ratio >= CLEARLY)
        && best.million_per_second_min > reference.million_per_second_max
}

#[cfg(test)]
mod tests {
    use super::super::Sample;
    use super::super::summary::tests::sample;
    use super::*;
    use crate::bench::grid;

    const FETCH_ADD: &str = "fetch_add";

    fn cells(samples: &[Sample], methods: &[&'static str], threads: &[usize]) -> Vec<Cell> {
        super::super::summary::cells(methods, threads, samples)
    }

    #[test]
    fn columns_line_up_and_hold_rate_ratio_and_fairness() {
        let samples = [
            sample(FETCH_ADD, &[100]),
            sample("tree", &[20]),
            sample(FETCH_ADD, &[30, 10]),
            sample("tree", &[30, 30]),
        ];
        let blocks = blocks(&cells(&samples, &[FETCH_ADD, "tree"], &[1, 2]));
        let expected = [
            "                 1 thread       2 threads",
            "counter         M/s ratio       M/s ratio  fairness",
            "fetch_add    100.00  1.00     40.00  1.00      0.33",
            "tree          20.00  0.20     60.00  1.50      1.00",
            "",
        ];
        assert_eq!(blocks, [expected.join("\n")]);
    }

    #[test]
    fn many_thread_counts_go_to_several_blocks_within_the_line() {
        let threads: Vec<usize> = (1..=9).collect();
        let samples: Vec<Sample> =
            threads.iter().map(|&n| sample(FETCH_ADD, &vec![1; n])).collect();
        let blocks = blocks(&cells(&samples, &[FETCH_ADD], &threads));
        assert!(blocks.len() > 1);
        for line in blocks.iter().flat_map(|block| block.lines()) {
            assert!(line.len() <= grid::LINE_WIDTH, "{line}");
        }
        let with_fairness = blocks.iter().filter(|block| block.contains(FAIRNESS));
        assert_eq!(with_fairness.count(), 1);
    }

    #[test]
    fn the_advice_is_honest() {
        let advise = |reference: &[u64], rival: &[u64]| {
            let mut samples: Vec<Sample> = Vec::new();
            samples.extend(reference.iter().map(|&m| sample(FETCH_ADD, &[m])));
            samples.extend(rival.iter().map(|&m| sample("tree", &[m])));
            advice(&cells(&samples, &[FETCH_ADD, "tree"], &[1]), reference.len())
        };
        let faster = advise(&[100, 101, 99], &[150, 151, 149]);
        assert!(faster.contains("use tree: 1.50 times"), "{faster}");
        let slower = advise(&[100, 101, 99], &[50, 51, 49]);
        assert!(slower.contains("nothing is clearly faster"), "{slower}");
        assert!(slower.contains("tree, 0.50 times"), "{slower}");
        let noisy = advise(&[100, 160, 99], &[150, 151, 149]);
        assert!(noisy.contains("nothing is clearly faster"), "{noisy}");
        assert!(noisy.contains("within the spread"), "{noisy}");
        let idle = advise(&[0, 0, 0], &[0, 0, 0]);
        assert!(idle.contains("too short to measure anything"), "{idle}");
        let idle = advise(&[9, 9, 9], &[0, 0, 0]);
        assert!(idle.contains("too short to measure tree"), "{idle}");
        let once = advise(&[100], &[300]);
        assert!(once.contains("Too few runs"), "{once}");
    }

    #[test]
    fn the_reference_by_another_name_is_not_advised() {
        let samples: Vec<Sample> = [(FETCH_ADD, 100), ("hardware", 300), ("tree", 50)]
            .iter()
            .flat_map(|&(name, m)| vec![sample(name, &[m]); 3])
            .collect();
        let text = advice(&cells(&samples, &[FETCH_ADD, "hardware", "tree"], &[1]), 3);
        assert!(text.contains("The nearest is tree"), "{text}");
    }

    #[test]
    fn numbers_are_short_and_never_wrongly_zero() {
        assert_eq!(short(Some(147.034)), "147.03");
        assert_eq!(short(Some(0.001)), "<0.01");
        assert_eq!(short(Some(0.0)), "0.00");
        assert_eq!(short(None), "-");
    }
}
