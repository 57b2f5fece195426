//! Computes medians of the runs, and compares ours with the best of the others.

use serde::Serialize;

use super::Sample;
use super::mixes::Mix;
use super::plan::QueuesPlan;
use super::rows::REFERENCE;
use crate::bench::Origin;
use crate::bench::stats::Stats;

/// The results of all repetitions of one queue in one mix on one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The mix.
    pub mix: &'static str,
    /// The queue.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Million items a second; in the mix `empty`, polls.
    pub million_per_second: Stats,
    /// Ratio to the median of the reference in the same place.
    pub ratio: Option<f64>,
    /// Of ours: compared with the best queue of others in the same place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_best: Option<OfBest>,
}

/// One of ours, compared with the best of others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OfBest {
    /// The best of others.
    pub peer: &'static str,
    /// Its median.
    pub million_per_second: f64,
    /// Ratio to that median.
    pub ratio: f64,
}

/// Sums up the samples of a plan: mix by mix, in each by the number of threads.
pub fn cells(plan: &QueuesPlan, samples: &[Sample]) -> Vec<Cell> {
    let cell = |(mix, threads, row): (Mix, usize, &super::rows::Row)| {
        let same =
            |s: &&Sample| s.mix == mix.name() && s.method == row.name && s.threads == threads;
        let rates = samples.iter().filter(same).map(|sample| sample.million_per_second);
        let million_per_second = Stats::of(rates)?;
        let (mix, method) = (mix.name(), row.name);
        Some(Cell { mix, method, threads, million_per_second, ratio: None, of_best: None })
    };
    let mut cells: Vec<Cell> = plan.round().filter_map(cell).collect();
    let compared: Vec<_> = cells.iter().map(|cell| compare(plan, cell, &cells)).collect();
    for (cell, (ratio, of_best)) in cells.iter_mut().zip(compared) {
        (cell.ratio, cell.of_best) = (ratio, of_best);
    }
    cells
}

/// Returns the cell of this queue, where it was measured.
pub fn find<'a>(cells: &'a [Cell], mix: Mix, method: &str, threads: usize) -> Option<&'a Cell> {
    let is =
        |cell: &&Cell| cell.mix == mix.name() && cell.method == method && cell.threads == threads;
    cells.iter().find(is)
}

/// Compares a cell with the reference, and one of ours with the best of others.
fn compare(plan: &QueuesPlan, cell: &Cell, all: &[Cell]) -> (Option<f64>, Option<OfBest>) {
    let here = || all.iter().filter(|other| other.mix == cell.mix && other.threads == cell.threads);
    let is_of = |cell: &Cell, is_wanted: fn(Origin) -> bool| {
        plan.rows.iter().any(|row| row.name == cell.method && is_wanted(row.origin))
    };
    let times = |other: &Cell| {
        let median = other.million_per_second.median;
        (median > 0.0).then(|| cell.million_per_second.median / median)
    };
    let ratio = here().find(|other| other.method == REFERENCE).and_then(times);
    if !is_of(cell, Origin::is_ours) {
        return (ratio, None);
    }
    let peers = here().filter(|other| is_of(other, |origin| origin == Origin::Peer));
    let best =
        peers.max_by(|a, b| a.million_per_second.median.total_cmp(&b.million_per_second.median));
    let of_best = best.and_then(|best| {
        let million_per_second = best.million_per_second.median;
        Some(OfBest { peer: best.method, million_per_second, ratio: times(best)? })
    });
    (ratio, of_best)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::time::Duration;

    use crate::bench::queues::rows;

    /// Returns a plan with two of ours and two of others, on one and two threads.
    pub(in crate::bench::queues) fn plan(mixes: &str) -> QueuesPlan {
        let names = [REFERENCE, "queue", "queue-try", "seg-queue", "nothing"];
        let mixes: Vec<&str> = mixes.split(',').collect();
        QueuesPlan {
            rows: rows::all().into_iter().filter(|row| names.contains(&row.name)).collect(),
            mixes: Mix::ALL.into_iter().filter(|mix| mixes.contains(&mix.name())).collect(),
            threads: vec![1, 2],
            repetitions: 5,
            time: Duration::from_millis(100),
            work_ns: 0,
        }
    }

    /// Returns a run with this many million items a second.
    pub(in crate::bench::queues) fn sample(
        mix: Mix,
        method: &'static str,
        threads: usize,
        rate: f64,
    ) -> Sample {
        Sample {
            mix: mix.name(),
            method,
            threads,
            repetition: 0,
            items: 1,
            seconds: 1e-6 / rate,
            million_per_second: rate,
            checked: 1,
        }
    }

    #[test]
    fn ours_are_compared_with_the_best_of_others_in_the_same_place() {
        let samples = [
            sample(Mix::Pairs, "array-queue", 2, 20.0),
            sample(Mix::Pairs, "seg-queue", 2, 30.0),
            sample(Mix::Pairs, "seg-queue", 2, 50.0),
            sample(Mix::Pairs, "seg-queue", 2, 40.0),
            sample(Mix::Pairs, "queue", 2, 10.0),
            sample(Mix::Pairs, "nothing", 2, 999.0),
            sample(Mix::Pairs, "array-queue", 1, 80.0),
        ];
        let cells = cells(&plan("pairs"), &samples);
        let queue = find(&cells, Mix::Pairs, "queue", 2).unwrap();
        assert_eq!(queue.ratio, Some(0.5));
        let best = OfBest { peer: "seg-queue", million_per_second: 40.0, ratio: 0.25 };
        assert_eq!(queue.of_best, Some(best));
        let peer = find(&cells, Mix::Pairs, "seg-queue", 2).unwrap();
        assert_eq!((peer.ratio, peer.of_best), (Some(2.0), None));
        assert!(find(&cells, Mix::Pairs, "queue", 1).is_none(), "not measured");
        assert_eq!(cells.len(), 5);
    }
}
