//! Computes medians, ratios and fairness from single runs.

use serde::Serialize;

use super::Sample;
use crate::bench::stats::{median, sorted};

/// The results of all repetitions of one method on one number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The method.
    pub method: &'static str,
    /// Number of threads.
    pub threads: usize,
    /// Million values a second: the median of the repetitions.
    pub million_per_second: f64,
    /// The slowest repetition.
    pub million_per_second_min: f64,
    /// The fastest repetition.
    pub million_per_second_max: f64,
    /// Ratio to the median of the reference on the same number of threads; `None` where that is 0.
    pub ratio: Option<f64>,
    /// Median over the repetitions of the slowest thread's share divided by the fastest's: 1 is
    /// perfectly even. `None` where no thread got any value.
    pub fairness: Option<f64>,
}

impl Cell {
    fn of(method: &'static str, threads: usize, samples: &[&Sample]) -> Self {
        let rates = sorted(samples.iter().map(|s| million_per_second(s)));
        let fairness = sorted(samples.iter().filter_map(|s| fairness(&s.per_thread)));
        Cell {
            method,
            threads,
            million_per_second: median(&rates).unwrap_or(0.0),
            million_per_second_min: rates.first().copied().unwrap_or(0.0),
            million_per_second_max: rates.last().copied().unwrap_or(0.0),
            ratio: None,
            fairness: median(&fairness),
        }
    }

    /// Returns the range of the repetitions, relative to their median.
    pub fn spread(&self) -> Option<f64> {
        let range = self.million_per_second_max - self.million_per_second_min;
        (self.million_per_second > 0.0).then(|| range / self.million_per_second)
    }
}

/// Sums up the samples: method by method, the reference first; within a method by the number of threads.
pub fn cells(methods: &[&'static str], threads: &[usize], samples: &[Sample]) -> Vec<Cell> {
    let cell = |method, threads| {
        let same = |s: &&Sample| s.method == method && s.threads == threads;
        Cell::of(method, threads, &samples.iter().filter(same).collect::<Vec<_>>())
    };
    let row = |&method| threads.iter().map(move |&count| cell(method, count));
    let mut cells: Vec<Cell> = methods.iter().flat_map(row).collect();
    let of_reference: Vec<f64> =
        cells.iter().take(threads.len()).map(|cell| cell.million_per_second).collect();
    for (cell, reference) in cells.iter_mut().zip(of_reference.into_iter().cycle()) {
        cell.ratio = (reference > 0.0).then(|| cell.million_per_second / reference);
    }
    cells
}

fn million_per_second(sample: &Sample) -> f64 {
    if sample.seconds > 0.0 { sample.values as f64 / sample.seconds / 1e6 } else { 0.0 }
}

fn fairness(per_thread: &[u64]) -> Option<f64> {
    let fastest = *per_thread.iter().max()?;
    let slowest = *per_thread.iter().min()?;
    (fastest > 0).then(|| slowest as f64 / fastest as f64)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a sample of one second on threads that got this many million values each.
    pub(in crate::bench) fn sample(method: &'static str, millions_per_thread: &[u64]) -> Sample {
        let per_thread: Vec<u64> = millions_per_thread.iter().map(|m| m * 1_000_000).collect();
        Sample {
            method,
            threads: per_thread.len(),
            repetition: 0,
            values: per_thread.iter().sum(),
            seconds: 1.0,
            checked: per_thread.iter().sum(),
            per_thread,
        }
    }

    #[test]
    fn cells_hold_medians_ratios_and_fairness() {
        let samples = [
            sample("a", &[20, 20]),
            sample("b", &[10, 40]),
            sample("a", &[30, 10]),
            sample("b", &[5, 5]),
            sample("a", &[50, 50]),
            sample("b", &[10, 10]),
        ];
        let cells = cells(&["a", "b"], &[2], &samples);
        let [a, b] = &cells[..] else { panic!("{cells:?}") };
        assert_eq!((a.million_per_second, a.ratio), (40.0, Some(1.0)));
        assert_eq!((b.million_per_second, b.ratio), (20.0, Some(0.5)));
        assert_eq!(a.fairness, Some(1.0));
        assert_eq!(b.spread(), Some(2.0));
    }

    #[test]
    fn nothing_measured_gives_no_ratio_and_no_nonsense() {
        let mut idle = sample("a", &[0, 0]);
        idle.seconds = 0.0;
        let cell = &cells(&["a"], &[2], &[idle])[0];
        assert_eq!(cell.million_per_second, 0.0);
        assert_eq!((cell.ratio, cell.fairness, cell.spread()), (None, None, None));
    }
}
