//! Poisson arrivals: the time at which each item of an open loop is due.

use throng::machine::SplitMix64;

/// The times at which items are due, in nanoseconds from the start of a run.
///
/// The gaps between two arrivals are independent and exponentially distributed. The schedule does not know
/// the queue: an item that is pushed late is late by its own schedule.
#[derive(Clone, Debug)]
pub struct Arrivals {
    random: SplitMix64,
    mean_gap_ns: f64,
    due_ns: f64,
}

impl Arrivals {
    /// Returns a schedule with `per_second` arrivals a second on average. The same seed gives the
    /// same schedule.
    pub fn new(per_second: f64, seed: u64) -> Self {
        let random = SplitMix64::from_state(SplitMix64::mix(seed));
        Arrivals { random, mean_gap_ns: 1e9 / per_second, due_ns: 0.0 }
    }
}

impl Iterator for Arrivals {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        // 53 random bits: a number from 0 to 1, without 1.
        let uniform = (self.random.draw() >> 11) as f64 / (1_u64 << 53) as f64;
        self.due_ns -= self.mean_gap_ns * (1.0 - uniform).ln();
        Some(self.due_ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 100_000;

    fn gaps(per_second: f64, seed: u64) -> Vec<f64> {
        let due: Vec<u64> = Arrivals::new(per_second, seed).take(COUNT).collect();
        due.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect()
    }

    #[test]
    fn the_mean_rate_is_as_asked_for() {
        for per_second in [1e3, 1e6, 4e6] {
            let last_ns = Arrivals::new(per_second, 1).nth(COUNT - 1).unwrap() as f64;
            let rate = COUNT as f64 / last_ns * 1e9;
            assert!((rate / per_second - 1.0).abs() < 0.02, "{rate} instead of {per_second}");
        }
    }

    #[test]
    fn gaps_are_exponential() {
        let gaps = gaps(1e6, 7);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03, "deviation equals the mean");
        let long = gaps.iter().filter(|&&gap| gap > mean).count() as f64 / gaps.len() as f64;
        assert!((long - (-1.0_f64).exp()).abs() < 0.01, "{long} of the gaps are above the mean");
    }

    #[test]
    fn the_schedule_never_goes_back_and_follows_its_seed() {
        let due: Vec<u64> = Arrivals::new(1e6, 3).take(1000).collect();
        assert!(due.is_sorted());
        assert_eq!(due, Arrivals::new(1e6, 3).take(1000).collect::<Vec<_>>());
        assert_ne!(due, Arrivals::new(1e6, 4).take(1000).collect::<Vec<_>>());
    }
}
