//! Describes how far to trust a measurement.

use super::stats::median;

/// Largest typical spread of runs, relative to their median. Above it, runs say more about other
/// load than about what was measured.
const BUSY: f64 = 0.5;
const WARNING: &str = "\n          \
    This machine was busy with other things: measure again when it is quiet.";

/// Returns the line below a table that describes the spread, or nothing after a single repetition.
pub(crate) fn line(repetitions: usize, spreads: Vec<(f64, String)>) -> String {
    let noise = in_words(spreads).filter(|_| repetitions > 1);
    noise.map_or(String::new(), |noise| format!("spread    {noise}\n"))
}

/// Describes the spread of the repetitions in general and at worst, from spreads that have a name
/// each. Returns `None` if there are none.
pub(crate) fn in_words(mut spreads: Vec<(f64, String)>) -> Option<String> {
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let values: Vec<f64> = spreads.iter().map(|(spread, _)| *spread).collect();
    let (worst, name) = spreads.last()?;
    let usual = median(&values)?;
    let warning = if usual > BUSY { WARNING } else { "" };
    Some(format!(
        "of the runs about {:.0} % of the median, at worst {:.0} % ({name}){warning}",
        100.0 * usual,
        100.0 * worst,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_named_and_a_busy_machine_warned_of() {
        let quiet =
            vec![(0.9, "b, 2 threads".to_owned()), (0.1, "a".to_owned()), (0.2, "c".to_owned())];
        assert_eq!(
            in_words(quiet).unwrap(),
            "of the runs about 20 % of the median, at worst 90 % (b, 2 threads)"
        );
        assert!(in_words(vec![(0.6, "a".to_owned())]).unwrap().contains("busy"));
        assert_eq!(in_words(Vec::new()), None);
    }
}
