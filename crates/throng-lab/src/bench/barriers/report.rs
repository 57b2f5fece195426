//! The table and the sentence below it.

use std::fmt::Write as _;

use serde::Serialize;
use throng_papers::numbers::{counted, short};

use super::plan::{BarriersPlan, Question};
use super::rows::REFERENCE;
use super::witness::SAMPLED;
use super::{Found, Sample};
use crate::bench::grid::{Grid, ratio};
use crate::bench::noise;
use crate::bench::setup::Setup;
use crate::bench::stats::Stats;
use crate::error::count;

/// The results of all repetitions of one barrier on one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The barrier.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// The results.
    #[serde(flatten)]
    pub figures: Figures,
}

/// The numbers of a cell.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Figures {
    /// The time of a round.
    Rounds {
        /// Nanoseconds.
        ns_a_round: Stats,
        /// Speed-up over the reference, on the same number of threads.
        ratio: Option<f64>,
    },
    /// The cost of waiting for a late thread.
    Idle {
        /// Processor time of a waiting thread, in milliseconds.
        cpu_ms: Stats,
        /// Microseconds from the arrival of the late thread to the return of the last other.
        release_us: Stats,
    },
}

/// Sums up the samples: row by row, and within a row by the number of threads.
pub fn cells(plan: &BarriersPlan, samples: &[Sample]) -> Vec<Cell> {
    let stats = |method, threads, number: fn(&Found) -> Option<f64>| {
        let same = samples.iter().filter(|s| s.method == method && s.threads == threads);
        Stats::of(same.filter_map(|sample| number(&sample.found)))
    };
    let figures = |method, threads| {
        if let Some(ns_a_round) = stats(method, threads, ns_a_round) {
            let reference = stats(REFERENCE, threads, self::ns_a_round);
            let ratio = reference.filter(|_| ns_a_round.median > 0.0);
            let ratio = ratio.map(|reference| reference.median / ns_a_round.median);
            return Some(Figures::Rounds { ns_a_round, ratio });
        }
        let (cpu_ms, release_us) =
            (stats(method, threads, cpu_ms)?, stats(method, threads, release_us)?);
        Some(Figures::Idle { cpu_ms, release_us })
    };
    let places = plan.rows.iter().flat_map(|row| plan.threads.iter().map(|&n| (row.name, n)));
    let cell =
        |(method, threads)| Some(Cell { method, threads, figures: figures(method, threads)? });
    places.filter_map(cell).collect()
}

fn ns_a_round(found: &Found) -> Option<f64> {
    if let Found::Rounds { ns_a_round, .. } = found { Some(*ns_a_round) } else { None }
}

fn cpu_ms(found: &Found) -> Option<f64> {
    if let Found::Idle { cpu_ms, .. } = found { Some(*cpu_ms) } else { None }
}

fn release_us(found: &Found) -> Option<f64> {
    if let Found::Idle { release_us, .. } = found { Some(*release_us) } else { None }
}

/// Returns the text for the terminal.
pub fn text(plan: &BarriersPlan, setup: &Setup, cells: &[Cell]) -> String {
    let runs = counted(plan.repetitions as u64, "run");
    let run = match plan.question {
        Question::Rounds { time, rounds: None } => format!("{runs} of {} ms", time.as_millis()),
        Question::Rounds { rounds: Some(rounds), .. } => {
            format!("{runs} of {}", counted(rounds, "round"))
        }
        Question::Idle { late } => format!("{runs}; one thread comes {} ms late", late.as_millis()),
    };
    let mut text = format!("{}; each number from {run}\n\n", setup.in_words());
    for block in grid(plan, cells).blocks() {
        let _ = writeln!(text, "{block}");
    }
    let _ = writeln!(text, "{}", legend(plan, &runs));
    if cells.len() < plan.rows.len() * plan.threads.len() {
        let _ = writeln!(text, "-         not measured: it only spins, too slow on many threads");
    }
    text += &noise::line(plan.repetitions, spreads(cells));
    if let Some(verdict) = plan.threads.last().and_then(|&most| verdict(cells, most)) {
        let _ = writeln!(text, "\n{verdict}");
    }
    text
}

fn grid(plan: &BarriersPlan, cells: &[Cell]) -> Grid {
    let labels = match plan.question {
        Question::Rounds { .. } => ["ns", "ratio"],
        Question::Idle { .. } => ["CPU ms", "out us"],
    };
    let pair = |cell: &Cell| match &cell.figures {
        Figures::Rounds { ns_a_round, ratio: times } => {
            [short(ns_a_round.median.round()), ratio(*times)]
        }
        Figures::Idle { cpu_ms, release_us } => {
            [format!("{:.2}", cpu_ms.median), short(release_us.median.round())]
        }
    };
    let names = plan.rows.iter().map(|row| row.name);
    Grid::by_threads("barrier", labels, &plan.threads, names, |method, threads| {
        cells.iter().find(|cell| cell.method == method && cell.threads == threads).map(pair)
    })
}

fn legend(plan: &BarriersPlan, runs: &str) -> String {
    match plan.question {
        Question::Rounds { .. } => format!(
            "ns        of one round, median of {runs} (one round in {SAMPLED} checked, while \
             warming up all)\n\
             ratio     speed-up over std::sync::Barrier on the same number of threads"
        ),
        Question::Idle { .. } => format!(
            "CPU ms    processor time of a waiting thread, median of {runs}\n\
             out us    from the arrival of the late thread to the return of the last other"
        ),
    }
}

fn spreads(cells: &[Cell]) -> Vec<(f64, String)> {
    let spread = |cell: &Cell| match &cell.figures {
        Figures::Rounds { ns_a_round, .. } => {
            Some((ns_a_round.spread()?, format!("{}, {}", cell.method, count(cell.threads))))
        }
        Figures::Idle { .. } => None,
    };
    cells.iter().filter_map(spread).collect()
}

/// Returns a sentence that names the fastest barrier on `threads` threads.
fn verdict(cells: &[Cell], threads: usize) -> Option<String> {
    let here = cells.iter().filter(|cell| cell.threads == threads);
    let rounds = here.filter_map(|cell| match cell.figures {
        Figures::Rounds { ns_a_round, ratio } => Some((ns_a_round.median, ratio?, cell.method)),
        Figures::Idle { .. } => None,
    });
    let (ns, ratio, method) = rounds.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "On {} here the fastest is {method}: {} ns a round, {ratio:.2} times as fast as std.",
        count(threads),
        short(ns.round())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::bench::barriers::rows;

    fn plan() -> BarriersPlan {
        let mut rows = rows::all();
        rows.retain(|row| row.name == REFERENCE || row.name == "team");
        BarriersPlan {
            rows,
            threads: vec![2],
            question: Question::Rounds { time: Duration::from_millis(40), rounds: None },
            repetitions: 9,
        }
    }

    fn sample(method: &'static str, ns_a_round: f64) -> Sample {
        let found = Found::Rounds { rounds: 1, seconds: ns_a_round / 1e9, ns_a_round, looks: 1 };
        Sample { method, threads: 2, repetition: 0, found }
    }

    #[test]
    fn the_table_holds_medians_and_ratios() {
        let plan = plan();
        let samples = [
            sample("std", 1200.0),
            sample("team", 200.0),
            sample("std", 900.0),
            sample("team", 500.0),
            sample("std", 1000.0),
            sample("team", 250.0),
        ];
        let cells = cells(&plan, &samples);
        let expected = [
            "              2 threads",
            "barrier        ns ratio",
            "std         1 000  1.00",
            "team          250  4.00",
            "",
        ];
        assert_eq!(grid(&plan, &cells).blocks(), [expected.join("\n")]);
        assert_eq!(
            verdict(&cells, 2).unwrap(),
            "On 2 threads here the fastest is team: 250 ns a round, 4.00 times as fast as std."
        );
        assert_eq!(spreads(&cells).len(), 2);
        let without_team = super::cells(&plan, &samples[..1]);
        let block = grid(&plan, &without_team).blocks().remove(0);
        assert!(block.lines().last().unwrap().ends_with("-     -"), "{block}");
    }

    #[test]
    fn what_waiting_costs_has_a_table_of_its_own() {
        let plan = BarriersPlan { question: Question::Idle { late: Default::default() }, ..plan() };
        let found = Found::Idle { cpu_ms: 0.123, release_us: 60.0 };
        let samples =
            ["std", "team"].map(|method| Sample { method, threads: 2, repetition: 0, found });
        let cells = cells(&plan, &samples);
        let block = grid(&plan, &cells).blocks().remove(0);
        assert!(block.contains("CPU ms") && block.contains("0.12"), "{block}");
        assert!(verdict(&cells, 2).is_none() && spreads(&cells).is_empty());
    }
}
