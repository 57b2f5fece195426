//! Medians and spreads.

use serde::Serialize;

/// Statistics of several measurements of the same quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Stats {
    /// Returns the statistics of these numbers, or `None` if there are none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values = sorted(values);
        let (&min, &max) = (values.first()?, values.last()?);
        Some(Stats { median: median(&values)?, min, max })
    }

    /// Returns the range of the numbers, relative to the median.
    pub fn spread(&self) -> Option<f64> {
        (self.median > 0.0).then(|| (self.max - self.min) / self.median)
    }
}

/// Returns the values in ascending order.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Returns the median of sorted values: the mean of the middle two where their number is even.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some((sorted[low] + sorted[high]) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_even_and_none() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[1.0, 3.0]), Some(2.0));
        assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
    }

    #[test]
    fn the_spread_is_a_part_of_the_median() {
        let stats = Stats::of([4.0, 1.0, 2.0].into_iter()).unwrap();
        assert_eq!((stats.median, stats.min, stats.max), (2.0, 1.0, 4.0));
        assert_eq!(stats.spread(), Some(1.5));
        assert_eq!(Stats::of([].into_iter()), None);
        assert_eq!(Stats::of([0.0].into_iter()).unwrap().spread(), None);
    }
}
