//! How well simulated results put the methods in order: factors, Spearman's rank correlation, and
//! the pairs of methods whose order is inverted.

use std::fmt::Write as _;

use serde::Serialize;
use throng_papers::numbers::short;

use crate::bench::stats::Stats;
use crate::calibrate::Compared;
use crate::survey::document::Unit;

/// Smallest ratio of two results, measured and simulated alike, that makes an order of them. Nearer
/// ones are ties, which cannot be inverted.
const APART: f64 = 1.05;

/// The results of one need on one number of threads, simulated beside measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranked {
    /// The need, by its name.
    pub need: String,
    /// The number of threads.
    pub threads: usize,
    /// The methods, the best measured one first.
    pub rows: Vec<Compared>,
    /// The median factor by which a simulated result is off, in either direction.
    pub median_off: f64,
    /// The largest of these factors.
    pub worst_off: f64,
    /// Spearman's rank correlation of simulated and measured results; `None` for fewer than three
    /// methods.
    pub rank_correlation: Option<f64>,
    /// The pairs of methods of which the first is the better one as measured, and the second as
    /// simulated, both by more than 5 %.
    pub inverted: Vec<(String, String)>,
}

/// Ranks the results by need and number of threads, in the order in which they come.
#[must_use]
pub fn rank(rows: &[Compared]) -> Vec<Ranked> {
    let mut places: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        let place = (row.need.as_str(), row.threads);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let of_place = |(need, threads): (&str, usize)| {
        let rows = rows.iter().filter(|row| row.need == need && row.threads == threads);
        ranked(need, threads, rows.cloned().collect())
    };
    places.into_iter().map(of_place).collect()
}

fn ranked(need: &str, threads: usize, mut rows: Vec<Compared>) -> Ranked {
    let unit = if need == "meeting" { Unit::NanosecondsARound } else { Unit::MillionPerSecond };
    let better = |this: f64, that: f64| unit.times_as_good(this, that);
    rows.sort_by(|a, b| 1.0_f64.total_cmp(&better(a.measured, b.measured)));
    let off = Stats::of(rows.iter().map(Compared::off));
    let (median_off, worst_off) = off.map_or((1.0, 1.0), |off| (off.median, off.max));
    let mut inverted = Vec::new();
    for (i, one) in rows.iter().enumerate() {
        for other in &rows[i + 1..] {
            if better(one.measured, other.measured) > APART
                && better(other.simulated, one.simulated) > APART
            {
                inverted.push((one.entrant.clone(), other.entrant.clone()));
            }
        }
    }
    let pairs: Vec<(f64, f64)> = rows.iter().map(|row| (row.measured, row.simulated)).collect();
    Ranked {
        need: need.to_owned(),
        threads,
        rank_correlation: spearman(&pairs),
        rows,
        median_off,
        worst_off,
        inverted,
    }
}

/// Returns Spearman's rank correlation: that of Pearson between the ranks. Equal values share the
/// mean of their ranks. `None` for fewer than three pairs, or if all values of a side are equal.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let ones = ranks(pairs.iter().map(|pair| pair.0).collect());
    let others = ranks(pairs.iter().map(|pair| pair.1).collect());
    // The mean of all ranks, with or without ties.
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let scale = (product(&ones, &ones) * product(&others, &others)).sqrt();
    (scale > 0.0).then(|| product(&ones, &others) / scale)
}

/// Returns the rank of each value, from 1 on.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Formats the ranked results as a table and a list of the inverted pairs.
#[must_use]
pub(crate) fn text(ranked: &[Ranked]) -> String {
    let mut text = String::from(
        "Simulated beside measured, by need and number of threads\n\n  \
         need        threads  methods  off, median  worst                       rank correlation  inverted pairs\n",
    );
    for place in ranked {
        let worst = place.rows.iter().max_by(|a, b| a.off().total_cmp(&b.off()));
        let worst =
            worst.map_or(String::new(), |row| format!("{} {}", short(row.factor()), row.entrant));
        let correlation = place.rank_correlation.map_or("-".to_owned(), |r| format!("{r:.2}"));
        let (count, inverted) = (place.rows.len(), place.inverted.len());
        let _ = writeln!(
            text,
            "  {:<10} {:>8} {count:>8} {:>12} {worst:<28} {correlation:>15} {:>11} of {}",
            place.need,
            place.threads,
            short(place.median_off),
            inverted,
            count * count.saturating_sub(1) / 2,
        );
    }
    for place in ranked {
        let _ = writeln!(
            text,
            "\n{}, {} threads (measured, simulated, factor)",
            place.need, place.threads
        );
        for row in &place.rows {
            let _ = writeln!(
                text,
                "  {:<28} {:>9} {:>9} {:>7}",
                row.entrant,
                short(row.measured),
                short(row.simulated),
                short(row.factor())
            );
        }
        if !place.inverted.is_empty() {
            let pairs: Vec<String> =
                place.inverted.iter().map(|(one, other)| format!("{one} > {other}")).collect();
            let _ = writeln!(text, "  measured better, simulated worse: {}", pairs.join(", "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(need: &str, results: &[(&str, f64, f64)]) -> Vec<Compared> {
        let row = |&(entrant, measured, simulated): &(&str, f64, f64)| Compared {
            need: need.to_owned(),
            entrant: entrant.to_owned(),
            threads: 8,
            measured,
            simulated,
        };
        results.iter().map(row).collect()
    }

    #[test]
    fn a_correlation_worked_out_by_hand() {
        // Differences of ranks: 1, 1, 0, 1, 1: 1 - 6 * 4 / (5 * 24) = 0.8.
        let pairs = [(1.0, 20.0), (2.0, 10.0), (3.0, 30.0), (4.0, 50.0), (5.0, 40.0)];
        assert!((spearman(&pairs).unwrap() - 0.8).abs() < 1e-12);
        assert_eq!(spearman(&pairs.map(|(a, _)| (a, a * a))), Some(1.0));
        assert_eq!(spearman(&pairs.map(|(a, _)| (a, -a))), Some(-1.0));
        assert_eq!(spearman(&pairs[..2]), None);
        assert_eq!(spearman(&pairs.map(|(a, _)| (a, 1.0))), None);
        // Two equal values share rank 1.5.
        assert_eq!(ranks(vec![7.0, 9.0, 7.0]), [1.5, 3.0, 1.5]);
    }

    #[test]
    fn factors_and_inverted_pairs_are_named_for_rates_and_for_times() {
        let results = [("slow", 100.0, 300.0), ("fast", 400.0, 200.0), ("near", 102.0, 100.0)];
        let rates = &rank(&rows("numbers", &results))[0];
        assert_eq!((rates.median_off, rates.worst_off), (2.0, 3.0));
        let named: Vec<&str> = rates.rows.iter().map(|row| row.entrant.as_str()).collect();
        assert_eq!(named, ["fast", "near", "slow"]);
        // near is 2 % faster than slow, which makes no order.
        assert_eq!(rates.inverted, [("fast".to_owned(), "slow".to_owned())]);
        let times = &rank(&rows("meeting", &results))[0];
        assert_eq!(times.rows[0].entrant, "slow");
        assert_eq!(times.inverted, [("slow".to_owned(), "fast".to_owned())]);
    }

    #[test]
    fn places_are_told_apart_by_need_and_threads() {
        let mut all = rows("numbers", &[("a", 1.0, 1.0), ("b", 2.0, 2.0), ("c", 3.0, 3.0)]);
        all.extend(rows("meeting", &[("a", 1.0, 1.0)]));
        all.push(Compared { threads: 2, ..all[0].clone() });
        let found = rank(&all);
        let places: Vec<_> =
            found.iter().map(|place| (place.need.as_str(), place.threads)).collect();
        assert_eq!(places, [("numbers", 8), ("meeting", 8), ("numbers", 2)]);
        assert_eq!(found[0].rank_correlation, Some(1.0));
        assert_eq!(found[1].rank_correlation, None);
        assert!(text(&found).contains("numbers"));
    }
}
