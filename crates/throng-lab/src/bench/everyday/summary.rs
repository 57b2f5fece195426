//! Computes medians of the runs, and compares ours with the best peer of the same kind.

use serde::Serialize;

use super::cases::Case;
use super::contenders::Kind;
use super::groups::Group;
use super::{Sample, contenders::Row};
use crate::bench::latency::Latency;
use crate::bench::stats::{Stats, median, sorted};

/// The results of all repetitions of one contender in one case.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The group of the case.
    pub group: Group,
    /// The case.
    pub case: String,
    /// Number of threads.
    pub threads: usize,
    /// The contender.
    pub method: String,
    /// Its promise.
    pub kind: Kind,
    /// Whether it is of this library.
    pub is_ours: bool,
    /// The result, in the unit of the group.
    pub value: Stats,
    /// Medians of the percentiles of the runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
    /// Median of the slowest thread divided by the fastest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fairness: Option<f64>,
    /// Of ours: compared with the peer with the best value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_best: Option<OfBest>,
    /// Of ours: compared with the peer with the shortest p99.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_of_best: Option<OfBest>,
    /// Of ours: compared with the peer with the shortest p99.9.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p999_of_best: Option<OfBest>,
}

/// One of ours, compared with the best peer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfBest {
    /// The peer.
    pub peer: String,
    /// Its median.
    pub value: f64,
    /// Ratio of ours to the peer: above 1 ours is better, whatever the unit.
    pub ratio: f64,
}

/// Sums up the samples, case by case in the order of `cases`, contenders in the order of `rows`.
pub fn cells(cases: &[Case], rows: &[Row], samples: &[Sample]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for case in cases {
        let here: Vec<Cell> = rows.iter().filter_map(|row| cell(case, row, samples)).collect();
        cells.extend(here.iter().map(|cell| beside_peers(cell, &here)));
    }
    cells
}

fn cell(case: &Case, row: &Row, samples: &[Sample]) -> Option<Cell> {
    let is_here = |sample: &&Sample| {
        sample.case == case.name && sample.threads == case.threads && sample.method == row.name
    };
    let here = || samples.iter().filter(is_here);
    let middle = |values: &mut dyn Iterator<Item = f64>| median(&sorted(values));
    let latencies: Vec<Latency> = here().filter_map(|sample| sample.latency).collect();
    Some(Cell {
        group: case.group,
        case: case.name.clone(),
        threads: case.threads,
        method: row.name.clone(),
        kind: row.kind,
        is_ours: row.is_ours,
        value: Stats::of(here().map(|sample| sample.value))?,
        latency: Latency::medians(&latencies),
        fairness: middle(&mut here().filter_map(|sample| sample.fairness)),
        of_best: None,
        p99_of_best: None,
        p999_of_best: None,
    })
}

/// Returns the cell with its ratios, if it is one of ours.
fn beside_peers(cell: &Cell, here: &[Cell]) -> Cell {
    if !cell.is_ours {
        return cell.clone();
    }
    let peers = peers(cell, here);
    let less_is_better = cell.group.unit().less_is_better();
    Cell {
        of_best: of_best(cell, &peers, less_is_better, |cell| Some(cell.value.median)),
        p99_of_best: of_best(cell, &peers, true, |cell| Some(cell.latency?.p99_ns)),
        p999_of_best: of_best(cell, &peers, true, |cell| Some(cell.latency?.p999_ns)),
        ..cell.clone()
    }
}

/// Returns the peers of the same kind. An unordered contender has the unbounded ones as peers where
/// a case has no other unordered one.
fn peers<'a>(cell: &Cell, here: &'a [Cell]) -> Vec<&'a Cell> {
    let of = |kind| here.iter().filter(move |peer| !peer.is_ours && peer.kind == kind).collect();
    let same: Vec<&Cell> = of(cell.kind);
    if same.is_empty() && cell.kind == Kind::Jobs { of(Kind::Unbounded) } else { same }
}

fn of_best(
    cell: &Cell,
    peers: &[&Cell],
    less_is_better: bool,
    value: impl Fn(&Cell) -> Option<f64>,
) -> Option<OfBest> {
    let ours = value(cell)?;
    let known = peers.iter().filter_map(|peer| Some((value(peer)?, peer)));
    // A peer that did nothing gives no ratio.
    let known = known.filter(|(value, _)| *value > 0.0);
    let goodness = |value: f64| if less_is_better { 1.0 / value } else { value };
    let (best, peer) = known.max_by(|(a, _), (b, _)| goodness(*a).total_cmp(&goodness(*b)))?;
    let ratio = goodness(ours) / goodness(best);
    ratio.is_finite().then(|| OfBest { peer: peer.method.clone(), value: best, ratio })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bench::everyday::cases::{self, Threads};
    use crate::bench::everyday::contenders;

    pub(in crate::bench::everyday) fn case(name: &str) -> Case {
        let all = cases::all(&Threads::exactly(vec![2]));
        all.into_iter().find(|case| case.name == name).unwrap()
    }

    pub(in crate::bench::everyday) fn rows() -> Vec<Row> {
        contenders::all().iter().map(Row::of).collect()
    }

    pub(in crate::bench::everyday) fn sample(case: &Case, method: &str, value: f64) -> Sample {
        Sample {
            case: case.name.clone(),
            threads: case.threads,
            method: method.to_owned(),
            repetition: 0,
            value,
            latency: None,
            fairness: None,
            checked: 1,
        }
    }

    fn of<'a>(cells: &'a [Cell], method: &str) -> &'a Cell {
        cells.iter().find(|cell| cell.method == method).unwrap()
    }

    #[test]
    fn ours_stand_beside_the_best_of_their_kind() {
        let case = case("stream-8");
        let samples = [
            sample(&case, "queue", 30.0),
            sample(&case, "queue", 10.0),
            sample(&case, "queue", 20.0),
            sample(&case, "array-queue", 40.0),
            sample(&case, "flume-bounded", 5.0),
            sample(&case, "seg-queue", 99.0),
            sample(&case, "queue-unbounded", 33.0),
        ];
        let cells = cells(&[case], &rows(), &samples);
        let best = OfBest { peer: "array-queue".to_owned(), value: 40.0, ratio: 0.5 };
        assert_eq!(
            of(&cells, "queue").of_best,
            Some(best),
            "the median beside the best bounded one"
        );
        let unbounded = of(&cells, "queue-unbounded").of_best.clone().unwrap();
        assert_eq!((unbounded.peer.as_str(), unbounded.value), ("seg-queue", 99.0));
        assert_eq!(of(&cells, "seg-queue").of_best, None, "a peer");
        assert_eq!(cells.len(), 5);
    }

    #[test]
    fn less_is_better_of_time_and_memory() {
        for name in ["burst-2", "bytes-small"] {
            let case = case(name);
            let samples = [
                sample(&case, "queue-try", 20.0),
                sample(&case, "array-queue", 10.0),
                sample(&case, "concurrent-bounded", 40.0),
            ];
            let cells = cells(&[case], &rows(), &samples);
            let best = OfBest { peer: "array-queue".to_owned(), value: 10.0, ratio: 0.5 };
            assert_eq!(of(&cells, "queue-try").of_best, Some(best));
        }
    }

    #[test]
    fn a_pool_is_compared_with_pools_and_else_with_unbounded_queues() {
        let case = case("tree-20");
        let pool = sample(&case, "pool", 50.0);
        let (queue, rayon) = (sample(&case, "seg-queue", 25.0), sample(&case, "rayon-join", 100.0));
        let ratio = |samples: &[Sample]| {
            let cells = cells(std::slice::from_ref(&case), &rows(), samples);
            of(&cells, "pool").of_best.as_ref().map(|best| best.ratio)
        };
        assert_eq!(ratio(&[pool.clone(), queue.clone(), rayon]), Some(0.5));
        assert_eq!(ratio(&[pool.clone(), queue]), Some(2.0));
        assert_eq!(ratio(&[pool]), None, "alone");
    }

    #[test]
    fn a_latency_is_compared_with_the_shortest() {
        let case = case("pairs-100");
        let with = |method, p99_ns| {
            let latency = Latency { p50_ns: 1.0, p99_ns, p999_ns: 2.0 * p99_ns, max_ns: 1e6 };
            Sample { latency: Some(latency), ..sample(&case, method, 1.0) }
        };
        let samples =
            [with("queue", 300.0), with("array-queue", 900.0), with("flume-bounded", 600.0)];
        let cells = cells(std::slice::from_ref(&case), &rows(), &samples);
        let p99 = of(&cells, "queue").p99_of_best.clone().unwrap();
        assert_eq!((p99.peer.as_str(), p99.ratio), ("flume-bounded", 2.0));
        assert_eq!(of(&cells, "queue").p999_of_best.as_ref().unwrap().value, 1200.0);
    }

    #[test]
    fn a_peer_that_did_nothing_is_no_measure() {
        let case = case("stream-8");
        let samples = [sample(&case, "queue", 3.0), sample(&case, "array-queue", 0.0)];
        assert_eq!(of(&cells(&[case], &rows(), &samples), "queue").of_best, None);
    }
}
