//! Measures a few workloads, to compare the simulated machine with.

use std::time::Duration;

use throng_papers::output;

use super::{self as validate, Asked};
use crate::bench::setup::Pinning;
use crate::bench::stats::Stats;
use crate::calibrate::probe::{self, Patience};
use crate::calibrate::survey::BUSY;
use crate::calibrate::{Calibration, Validation};
use crate::error::{self, Error};
use crate::survey::needs::{self, Bench};

/// The workloads measured: (need, entrant).
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
    ("jobs", "pool"),
];

const REPETITIONS: usize = 5;

/// Smallest factor between a transfer time now and before that counts as another distance. Then the
/// system has moved its cores.
const MOVED: f64 = 1.5;

/// Results measured and simulated, and warnings as sentences.
pub(crate) struct Checked {
    pub(crate) validation: Validation,
    pub(crate) notes: Vec<String>,
}

/// Measures some workloads, each several times in turn with all others, and simulates them. Adds
/// what the machine would do with more cores.
pub(crate) fn check(
    calibration: &Calibration,
    pinning: &Pinning,
    quick: bool,
) -> Result<Checked, Error> {
    let cores = calibration.cores.len().min(crate::threads::cores());
    let time = Duration::from_millis(if quick { 8 } else { 25 });
    let places: Vec<(&str, &str, usize)> = threads(cores)
        .into_iter()
        .flat_map(|threads| CHECKED.map(|(need, entrant)| (need, entrant, threads)))
        .collect();
    let (needs, mut bench) = (needs::all(), Bench::new());
    let progress = output::progress_bar(places.len() * REPETITIONS);
    let mut runs = vec![Vec::new(); places.len()];
    for _ in 0..REPETITIONS {
        for (&(need, entrant, threads), runs) in places.iter().zip(&mut runs) {
            progress.set_message(format!("{entrant}, {}", error::count(threads)));
            let candidate = needs::find(&needs, need, entrant);
            if let Some(candidate) = candidate.filter(|candidate| candidate.suits(threads)) {
                runs.push(candidate.measure(&mut bench, threads, time)?);
            }
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    let spreads = runs.iter().filter_map(|runs| Stats::of(runs.iter().copied())?.spread());
    let mut notes = Vec::new();
    notes.extend(Stats::of(spreads).filter(|spread| spread.median > BUSY).map(|spread| {
        format!(
            "Runs of the same workload lie {:.0} % of their median apart: this machine was busy with other things, and \
             the measured results are too slow.",
            100.0 * spread.median
        )
    }));
    notes.extend(moved(calibration, pinning));
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
    // By need and entrant, for readers.
    rows.sort_by_key(|row| {
        CHECKED.iter().position(|&(need, entrant)| (need, entrant) == (&row.need, &row.entrant))
    });
    let prospects = validate::prospects(calibration, &progress)?;
    progress.finish_and_clear();
    Ok(Checked { validation: Validation { rows, prospects }, notes })
}

/// Returns a warning if the distance between the first two cores has changed.
fn moved(calibration: &Calibration, pinning: &Pinning) -> Option<String> {
    let numbers = pinning.cores();
    let place = |index: usize| {
        let number = numbers.get(index)?;
        calibration.cores.iter().position(|core| core == number)
    };
    let before = calibration.transfer_ns[place(0)?][place(1)?];
    let patience = Patience { time: Duration::from_millis(20) };
    let now = probe::transfer(pinning, (0, 1), patience)?.ns;
    (now > before * MOVED || before > now * MOVED).then(|| {
        format!(
            "A flag between the first two cores took {before:.0} ns at first and {now:.0} ns at the end: the \
             system moves its cores, so the measured machine is not the simulated one."
        )
    })
}

/// Returns the powers of two below the number of cores, and that number.
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
