//! Computes medians of the repetitions, and compares ours with the best reference of the same run.

use serde::Serialize;

use super::contenders::Role;
use super::plan::BesidePlan;
use super::setting::Setting;
use super::{Found, Sample};
use crate::bench::stats::Stats;

/// A place: a load, a number of threads and a setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The load, as text.
    pub load: String,
    /// Number of threads.
    pub threads: usize,
    /// The processes beside it.
    pub neighbours: Setting,
}

/// The results of all repetitions of one contender in one place.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// The contender.
    pub method: &'static str,
    /// Number of runs with a result.
    pub runs: usize,
    /// Number of runs that took too long.
    pub too_slow: usize,
    /// Nanoseconds an operation, or [`None`] if there is no result.
    pub ns: Option<Stats>,
    /// The 99th percentile of single operations, in nanoseconds.
    pub p99_ns: Option<Stats>,
    /// Number of cores kept busy.
    pub cores_used: Option<Stats>,
    /// The part of their speed that the neighbours kept.
    pub neighbours_keep: Option<Stats>,
}

/// One of ours, compared with the best reference.
#[derive(Clone, Debug, Serialize)]
pub struct Ratio {
    /// The place.
    #[serde(flatten)]
    pub place: Place,
    /// The one of ours.
    pub method: &'static str,
    /// The best reference here.
    pub reference: &'static str,
    /// Speed-up over that; 0 if ours took too long.
    pub ratio: f64,
    /// The shortest 99th percentile of a reference, divided by that of ours.
    pub p99_ratio: f64,
}

/// A number of a cell, or [`None`] if there is no result.
type Number = fn(&Cell) -> Option<f64>;

/// Sums up the samples: every contender in every place.
pub fn cells(plan: &BesidePlan, samples: &[Sample]) -> Vec<Cell> {
    let here =
        |place: Place| plan.contenders.iter().map(move |one| cell(&place, one.name, samples));
    places(plan).flat_map(here).collect()
}

/// Compares every one of ours in every place where a reference has a result.
pub fn ratios(plan: &BesidePlan, cells: &[Cell]) -> Vec<Ratio> {
    let ours = || plan.contenders.iter().filter(|contender| contender.role == Role::Ours);
    let pairs = places(plan).flat_map(|place| ours().map(move |one| (place.clone(), one.name)));
    pairs.filter_map(|(place, method)| ratio(plan, cells, &place, method)).collect()
}

/// Returns the cell of a contender in a place.
pub fn find<'a>(cells: &'a [Cell], place: &Place, method: &str) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.place == *place && cell.method == method)
}

fn ratio(plan: &BesidePlan, cells: &[Cell], place: &Place, method: &'static str) -> Option<Ratio> {
    let ours = find(cells, place, method).filter(|cell| cell.runs + cell.too_slow > 0)?;
    let references = plan.contenders.iter().filter(|one| one.role == Role::Reference);
    let references: Vec<&Cell> =
        references.filter_map(|one| find(cells, place, one.name)).collect();
    let least = |number: Number| {
        let numbers = references.iter().filter_map(|cell| Some((number(cell)?, cell.method)));
        numbers.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let ns: Number = |cell| Some(cell.ns?.median);
    let p99: Number = |cell| Some(cell.p99_ns?.median);
    let (best_ns, reference) = least(ns)?;
    let (best_p99, _) = least(p99)?;
    let by = |best: f64, own: Option<f64>| own.map_or(0.0, |own| best / own);
    Some(Ratio {
        place: place.clone(),
        method,
        reference,
        ratio: by(best_ns, ns(ours)),
        p99_ratio: by(best_p99, p99(ours)),
    })
}

/// Returns all places, in the order of the tables.
pub fn places(plan: &BesidePlan) -> impl Iterator<Item = Place> {
    plan.places().flat_map(|(load, threads)| {
        let load = load.text();
        plan.settings.iter().map(move |&neighbours| Place {
            load: load.clone(),
            threads,
            neighbours,
        })
    })
}

fn cell(place: &Place, method: &'static str, samples: &[Sample]) -> Cell {
    let is_here = |sample: &&Sample| {
        sample.method == method
            && sample.load == place.load
            && sample.threads == place.threads
            && sample.neighbours == place.neighbours
    };
    let here: Vec<&Sample> = samples.iter().filter(is_here).collect();
    let found: Vec<Found> = here.iter().filter_map(|sample| sample.found).collect();
    let stats = |number: fn(&Found) -> Option<f64>| Stats::of(found.iter().filter_map(number));
    Cell {
        place: place.clone(),
        method,
        runs: found.len(),
        too_slow: here.len() - found.len(),
        ns: stats(|found| Some(found.measured.ns)),
        p99_ns: stats(|found| Some(found.measured.latency.p99_ns)),
        cores_used: stats(|found| Some(found.cores_used)),
        neighbours_keep: stats(|found| found.neighbours_keep),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::time::Duration;

    use crate::bench::beside::Measured;
    use crate::bench::beside::contenders;
    use crate::bench::beside::load::Load;
    use crate::bench::beside::plan::Subject;
    use crate::bench::latency::Latency;
    use crate::bench::window::Times;

    pub(in crate::bench::beside) fn plan() -> BesidePlan {
        let mut contenders = contenders::barriers(None).unwrap();
        contenders.retain(|barrier| barrier.role == Role::Reference || barrier.name == "barrier");
        BesidePlan {
            subject: Subject::Barriers,
            loads: vec![Load::Rounds { work_ns: 0 }],
            threads: vec![2],
            settings: vec![Setting::Busy(0), Setting::Copy],
            contenders,
            repetitions: 5,
            times: Times::NONE,
            budget: Duration::from_secs(300),
        }
    }

    pub(in crate::bench::beside) fn sample(
        method: &'static str,
        neighbours: Setting,
        ns: Option<f64>,
    ) -> Sample {
        let found = ns.map(|ns| {
            let latency =
                Latency { p50_ns: ns, p99_ns: 3.0 * ns, p999_ns: 4.0 * ns, max_ns: 5.0 * ns };
            let measured = Measured { operations: 10, ns, latency, seconds: 1.0, cpu_seconds: 1.5 };
            let keep = (neighbours != Setting::Busy(0)).then_some(0.5);
            Found { measured, cores_used: 1.5, neighbours_keep: keep }
        });
        let load = "rounds:0".to_owned();
        Sample { load, threads: 2, neighbours, method, repetition: 0, found }
    }

    #[test]
    fn ours_are_held_against_the_best_reference_of_each_place() {
        let (quiet, copy) = (Setting::Busy(0), Setting::Copy);
        let samples = [
            sample("std", quiet, Some(900.0)),
            sample("pthread", quiet, Some(300.0)),
            sample("barrier", quiet, Some(100.0)),
            sample("barrier", quiet, Some(300.0)),
            sample("barrier", quiet, Some(200.0)),
            sample("std", copy, Some(50.0)),
            sample("pthread", copy, Some(60.0)),
            sample("barrier", copy, None),
        ];
        let cells = cells(&plan(), &samples);
        let ratios = ratios(&plan(), &cells);
        let find_ratio = |place| ratios.iter().find(|ratio| ratio.place == place).unwrap();
        let place = |neighbours| Place { load: "rounds:0".to_owned(), threads: 2, neighbours };
        let cell = find(&cells, &place(quiet), "barrier").unwrap();
        assert_eq!((cell.runs, cell.too_slow, cell.ns.unwrap().median), (3, 0, 200.0));
        assert_eq!(cell.p99_ns.unwrap().max, 900.0);
        let ratio = find_ratio(place(quiet));
        assert_eq!((ratio.reference, ratio.ratio, ratio.p99_ratio), ("pthread", 1.5, 1.5));
        let ratio = find_ratio(place(copy));
        assert_eq!((ratio.reference, ratio.ratio), ("std", 0.0), "ours was too slow");
    }

    #[test]
    fn where_nothing_was_measured_nothing_is_said() {
        let only_ours = [sample("barrier", Setting::Busy(0), Some(1.0))];
        assert!(ratios(&plan(), &cells(&plan(), &only_ours)).is_empty());
        let only_std = [sample("std", Setting::Busy(0), Some(1.0))];
        assert!(ratios(&plan(), &cells(&plan(), &only_std)).is_empty());
    }
}
