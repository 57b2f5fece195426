//! Histograms of latencies, and their percentiles.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::stats::{median, sorted};

/// Percentiles of a latency, in nanoseconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Latency {
    /// Half of all latencies are no longer.
    pub p50_ns: f64,
    /// 99 % are no longer.
    pub p99_ns: f64,
    /// 99.9 % are no longer.
    pub p999_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

impl Latency {
    /// Returns the median of each percentile, or [`None`] if `all` is empty.
    pub fn medians(all: &[Latency]) -> Option<Latency> {
        let middle = |of: fn(&Latency) -> f64| median(&sorted(all.iter().map(of)));
        Some(Latency {
            p50_ns: middle(|latency| latency.p50_ns)?,
            p99_ns: middle(|latency| latency.p99_ns)?,
            p999_ns: middle(|latency| latency.p999_ns)?,
            max_ns: middle(|latency| latency.max_ns)?,
        })
    }
}

/// Latencies that one thread measured, to 1 %.
#[derive(Clone, Debug)]
pub struct Recorder(Histogram<u64>);

/// Longest recorded latency; longer ones are recorded as this.
const LONGEST_NS: u64 = 60_000_000_000;
/// Significant digits. Two keep the histogram in the cache of a core: 30 kB instead of 230.
const DIGITS: u8 = 2;

impl Recorder {
    /// Returns an empty recorder.
    pub fn new() -> Self {
        Recorder(
            Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are in order"),
        )
    }

    /// Records a latency.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns);
    }

    /// Adds the latencies of another recorder.
    pub fn add(&mut self, other: &Recorder) {
        self.0.add(&other.0).expect("all recorders have the same bounds");
    }

    /// Returns the number of latencies recorded.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the percentiles of all recorders together, or [`None`] if nothing was recorded.
    pub fn together<'a>(all: impl Iterator<Item = &'a Recorder>) -> Option<Latency> {
        let mut sum = Recorder::new();
        all.for_each(|recorder| sum.add(recorder));
        let at = |quantile| sum.0.value_at_quantile(quantile) as f64;
        (!sum.0.is_empty()).then(|| Latency {
            p50_ns: at(0.5),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: sum.0.max() as f64,
        })
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_several_threads_are_those_of_all_times() {
        let mut threads = [Recorder::new(), Recorder::new()];
        (1..=1000).for_each(|ns| threads[ns % 2].record(ns as u64));
        let latency = Recorder::together(threads.iter()).unwrap();
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.02;
        assert!(near(latency.p50_ns, 500.0) && near(latency.p99_ns, 990.0), "{latency:?}");
        assert!(near(latency.p999_ns, 999.0) && near(latency.max_ns, 1000.0), "{latency:?}");
        assert_eq!(Recorder::together([Recorder::new()].iter()), None);
    }

    #[test]
    fn medians_are_taken_of_each_percentile() {
        let of = |p50_ns, max_ns| Latency { p50_ns, p99_ns: 5.0, p999_ns: 6.0, max_ns };
        let all = [of(1.0, 30.0), of(3.0, 10.0), of(2.0, 20.0)];
        assert_eq!(Latency::medians(&all), Some(of(2.0, 20.0)));
        assert_eq!(Latency::medians(&[]), None);
    }

    #[test]
    fn no_time_is_too_long() {
        let mut recorder = Recorder::new();
        recorder.record(u64::MAX);
        assert!(Recorder::together([recorder].iter()).unwrap().max_ns >= LONGEST_NS as f64);
    }
}
