//! Runs in which processors come and go, and numbers of them over time.

use super::curve::{Curve, Point};
use super::lab::{Lab, Row};
use crate::error::Error;
use crate::workloads::surge::{Interval, Surge, SurgeRun};

/// The same run from several seeds, and its name in the legend.
pub type Surges = Row<Surge>;

/// Measures each run several times, from consecutive seeds.
///
/// # Errors The error of the first run that failed.
pub fn surges(
    lab: &Lab,
    figure: &'static str,
    repetitions: u64,
    runs: Vec<(&'static str, SurgeRun)>,
) -> Result<Vec<Surges>, Error> {
    let rows = runs.into_iter().map(|(name, run)| (name.to_owned(), vec![(0.0, run)])).collect();
    lab.sweep(figure, repetitions, rows)
}

/// Returns `number` over time, in cycles since `zero_cycle`: the mean of all runs, at the middle of
/// each interval of `interval_cycles` cycles.
pub fn over_time(
    row: &Surges,
    zero_cycle: u64,
    interval_cycles: u64,
    number: fn(&Interval) -> f64,
) -> Curve {
    let surges = &row.cells[0].1;
    let intervals = surges.iter().map(|surge| surge.intervals.len()).min().unwrap_or(0);
    let point = |i: usize| {
        let numbers: Vec<f64> = surges.iter().map(|surge| number(&surge.intervals[i])).collect();
        let middle = (i as f64 + 0.5) * interval_cycles as f64;
        Point::of(middle - zero_cycle as f64, &numbers)
    };
    Curve::measured(row.name.clone(), (0..intervals).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::CounterChoice;
    use crate::workloads::surge::Phase;
    use throng_sim::MachineSpec;

    #[test]
    fn numbers_over_time_are_means_of_all_seeds() {
        let run = |processors| {
            let counter = CounterChoice::named("hardware", None).unwrap();
            let phases = vec![Phase::new(0, processors)];
            SurgeRun::new(counter, MachineSpec::ideal(10), phases, 1000, 3000)
        };
        let runs = || vec![("one", run(1)), ("four", run(4))];
        let all = surges(&Lab::new(false, 1, 2), "x", 3, runs()).unwrap();
        assert_eq!(
            all.iter().map(|row| (row.name.as_str(), row.cells[0].1.len())).collect::<Vec<_>>(),
            [("one", 3), ("four", 3)]
        );
        let processors = over_time(&all[1], 1000, 1000, |interval| interval.processors as f64);
        let points: Vec<(f64, f64)> = processors.points.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(points, [(-500.0, 4.0), (500.0, 4.0), (1500.0, 4.0)]);
        assert_eq!(surges(&Lab::new(true, 1, 2), "x", 3, runs()).unwrap()[0].cells[0].1.len(), 1);
    }
}
