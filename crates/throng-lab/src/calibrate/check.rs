//! A few workloads measured, to hold the simulated machine against.

use std::time::Duration;

use super::validate::{self, Asked};
use super::{Calibration, Validation};
use crate::bench::run::Memory;
use crate::bench::setup::Pinning;
use crate::bench::spot;
use crate::bench::stats::Stats;
use crate::error::{self, Error};
use crate::output;

/// What is measured.
const CHECKED: [(&str, &str); 12] = [
    ("numbers", "fetch_add"),
    ("numbers", "counter"),
    ("numbers", "locked-mcs"),
    ("numbers", "combining-tree"),
    ("numbers", "diffracting"),
    ("meeting", "team"),
    ("meeting", "central"),
    ("meeting", "dissemination"),
    ("meeting", "tournament"),
    ("exchange", "queue"),
    ("exchange", "queue-unbounded"),
    ("exchange", "pool"),
];

const REPETITIONS: usize = 5;

/// Measures some workloads, each several times in turn with all others, simulates them, and adds what
/// the machine would do with more cores.
pub(super) fn check(
    calibration: &Calibration,
    pinning: &Pinning,
    quick: bool,
) -> Result<Validation, Error> {
    let cores = calibration.cores.len().min(crate::plan::cores());
    let time = Duration::from_millis(if quick { 8 } else { 25 });
    let places: Vec<(&str, &str, usize)> = threads(cores)
        .into_iter()
        .flat_map(|threads| CHECKED.map(|(need, entrant)| (need, entrant, threads)))
        .filter(|&(need, _, threads)| need != "meeting" || threads > 1)
        .collect();
    let progress = output::progress_bar(places.len() * REPETITIONS);
    let mut memory = Memory::touched();
    let mut runs = vec![Vec::new(); places.len()];
    for _ in 0..REPETITIONS {
        for (&(need, entrant, threads), runs) in places.iter().zip(&mut runs) {
            progress.set_message(format!("{entrant}, {}", error::count(threads)));
            let found = match need {
                "numbers" => spot::numbers(entrant, threads, time, &mut memory, pinning)?,
                "meeting" => spot::meeting(entrant, threads, time, pinning)?,
                _ => spot::exchange(entrant, threads, time, pinning)?,
            };
            runs.extend(found);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    let asked: Vec<Asked> = places
        .into_iter()
        .zip(runs)
        .filter_map(|((need, entrant, threads), runs)| {
            let measured = Stats::of(runs.into_iter())?.median;
            let (need, entrant) = (need.to_owned(), entrant.to_owned());
            (measured > 0.0).then_some(Asked { need, entrant, threads, measured })
        })
        .collect();
    let progress = output::progress_bar(asked.len());
    progress.set_message("simulating");
    let mut rows = validate::validate(calibration, &asked, &progress)?;
    // By need and entrant, for people.
    rows.sort_by_key(|row| {
        CHECKED.iter().position(|&(need, entrant)| (need, entrant) == (&row.need, &row.entrant))
    });
    let prospects = validate::prospects(calibration, &progress)?;
    progress.finish_and_clear();
    Ok(Validation { rows, prospects })
}

/// Powers of two up to the cores, and the cores.
fn threads(cores: usize) -> Vec<usize> {
    let powers = (0..).map(|power| 1 << power).take_while(|&n| n < cores);
    powers.chain([cores]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_and_all_cores() {
        assert_eq!(threads(1), [1]);
        assert_eq!(threads(2), [1, 2]);
        assert_eq!(threads(12), [1, 2, 4, 8, 12]);
    }
}
