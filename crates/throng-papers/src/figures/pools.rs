//! Common parts of figures about job pools: settings, runs and curves.

use super::curve::{Curve, Point, composite, highest};
use super::lab::{Lab, Row, hottest};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::numbers::short;
use crate::workloads::jobs::{JobsMeasured, JobsRun, PoolChoice, Workload};

/// An experiment with pools: the same workload on growing numbers of processors.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) figure: &'static str,
    pub(super) workload: Workload,
    /// Processors of the machine.
    pub(super) nodes: usize,
    pub(super) processors: &'static [usize],
    /// Runs of each kind, from different seeds.
    pub(super) repetitions: u64,
}

/// The runs of one pool: for each number of processors, its repetitions.
pub(super) type PoolRow = Row<JobsMeasured>;

impl Setting {
    /// Measures all pools on an Alewife-like machine.
    pub(super) fn measure(&self, lab: &Lab, pools: &[PoolChoice]) -> Result<Vec<PoolRow>, Error> {
        let run = |pool: &PoolChoice, processors: usize| JobsRun {
            processors,
            nodes: Some(self.nodes.max(processors)),
            ..JobsRun::new(pool.clone(), self.workload, lab.alewife())
        };
        let row = |pool: &PoolChoice| {
            let runs = self.processors.iter().map(|&p| (p as f64, run(pool, p)));
            (pool.name.to_owned(), runs.collect())
        };
        lab.sweep(self.figure, self.repetitions, pools.iter().map(row).collect())
    }

    /// Describes the machine and the runs in a line.
    pub(super) fn in_words(&self, lab: &Lab) -> String {
        format!(
            "alewife of {} processors, {} from seed {}",
            self.nodes,
            lab.runs_in_words(self.repetitions),
            lab.seed
        )
    }
}

impl PoolRow {
    /// Describes where processors waited longest in the runs at `x`. Lines of one name count as one
    /// place.
    fn hottest_pool_place(&self, x: f64) -> String {
        let places = self.at(x).flat_map(|run| &run.places);
        hottest(places.map(|(&name, traffic)| (name.to_owned(), traffic.waited_cycles)))
    }

    /// Describes what a pool's calls took at `x` and where they waited, in a line. Includes depth
    /// and balancing where the pool has them.
    pub(super) fn told(&self, x: f64) -> String {
        let mean = |number: fn(&JobsMeasured) -> f64| self.mean(x, number);
        let mut text = format!(
            "{} at P = {x}: {} cycles a put, {} a take, {} misses a job",
            self.name,
            short(mean(|run| run.put_cycles_mean)),
            short(mean(|run| run.take_cycles_mean)),
            short(mean(misses_a_job))
        );
        let depth = mean(JobsMeasured::depth_mean);
        if depth.is_finite() {
            text.push_str(&format!(", mean depth {depth:.1}"));
        }
        let tries = mean(|run| run.balancing().map_or(f64::NAN, |(tries, _)| tries));
        if tries.is_finite() {
            let moved = mean(|run| run.balancing().map_or(f64::NAN, |(_, moved)| moved));
            text.push_str(&format!(
                ", {} tries to balance a job, of which {:.1} % moved any",
                short(tries),
                100.0 * moved
            ));
        }
        format!("{text}; waited at: {}", self.hottest_pool_place(x))
    }
}

/// Returns the cycles of a job's two calls: the one that puts it in and the one that takes it out.
pub(super) fn calls_a_job_cycles(run: &JobsMeasured) -> f64 {
    run.put_cycles_mean + run.take_cycles_mean
}

pub(super) fn misses_a_job(run: &JobsMeasured) -> f64 {
    let misses: u64 = run.places.values().map(|traffic| traffic.misses).sum();
    misses as f64 / run.jobs.max(1) as f64
}

/// Returns the time until all jobs are done.
pub(super) fn elapsed(run: &JobsMeasured) -> f64 {
    run.cycles as f64
}

/// Returns the row of this name.
pub(super) fn row<'a>(rows: &'a [PoolRow], name: &str) -> &'a PoolRow {
    rows.iter().find(|row| row.name == name).expect("every pool has a row")
}

/// Returns the ratio of `over` to `under`: its mean over all points from `least` to `most`, its
/// largest value, and where that is.
pub(super) fn times(over: &Curve, under: &Curve, least: f64, most: f64) -> Option<Times> {
    let ratios = over.over(under).between(least, most);
    let Point { x: at, y: largest, .. } = highest(&ratios)?;
    let mean = ratios.iter().map(|ratio| ratio.y).sum::<f64>() / ratios.len() as f64;
    Some(Times { mean, largest, at })
}

/// The ratio of one curve to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    pub(super) mean: f64,
    pub(super) largest: f64,
    /// Where the ratio is largest.
    pub(super) at: f64,
}

/// Returns the lowest of some curves at each x.
pub(super) fn fastest<'a>(curves: impl IntoIterator<Item = &'a Curve>) -> Curve {
    composite("fastest", curves, f64::min)
}

pub(super) fn elapsed_axis() -> Axis {
    Axis::new("elapsed (cycles)", Scale::Log10)
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn ratios_are_taken_where_both_were_measured() {
        let slow = curve("slow", &[(2.0, 30.0), (4.0, 20.0), (8.0, 5.0), (16.0, 99.0)]);
        let fast = curve("fast", &[(2.0, 10.0), (4.0, 20.0), (8.0, 10.0)]);
        let both = times(&slow, &fast, 2.0, 256.0).unwrap();
        assert_eq!(both, Times { mean: 1.5, largest: 3.0, at: 2.0 });
        assert_eq!(times(&slow, &fast, 4.0, 8.0).unwrap().mean, 0.75);
        assert_eq!(times(&slow, &fast, 32.0, 64.0), None);
        assert_eq!(fastest([&slow, &fast]).at(8.0), Some(5.0));
    }

    #[test]
    fn rows_keep_their_order_and_tell_where_time_went() {
        let setting = Setting {
            figure: "x",
            workload: Workload::InTurns { jobs: 40, work: 10 },
            nodes: 16,
            processors: &[2, 4],
            repetitions: 2,
        };
        let pools = [PoolChoice::rsu(), PoolChoice::queue()];
        let rows = setting.measure(&Lab::new(false, 1, 2), &pools).unwrap();
        assert_eq!(rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["RSU", "Queue"]);
        assert!(row(&rows, "RSU").curve(elapsed).at(4.0).unwrap() > 0.0);
        let told = rows[0].told(4.0);
        assert!(told.contains("RSU at P = 4: ") && told.contains("tries to balance"), "{told}");
    }
}
