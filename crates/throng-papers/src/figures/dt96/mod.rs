//! Shavit and Zemach, *Diffracting Trees* (1996): section 3, shared memory on an Alewife-like
//! machine, and section 4, message passing.
//!
//! In the index distribution benchmark (section 3.3.1), 1 to 256 processors take numbers from a
//! counter and idle up to `work` cycles after each. Measurement begins at the 100th number. Section
//! 3.3.2 has the same counters in a job queue. Section 4 has counters made of messages on four
//! networks (`messages.rs`, `compared.rs` and Figures 18 to 24).

mod compared;
pub mod figure_10;
pub mod figure_11;
pub mod figure_12;
pub mod figure_14_15;
pub mod figure_18;
pub mod figure_19;
pub mod figure_20;
pub mod figure_21;
pub mod figure_22;
pub mod figure_23;
pub mod figure_24;
pub mod figure_7;
pub mod figure_8;
pub mod figure_8b;
pub mod figure_9;
mod messages;
pub mod table_2;

use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::{Lab, Row};
use super::{Figure, Findings, Panel, processors_axis, throughput_axis};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::numbers::short;
use crate::workloads::measured::Measured;
use crate::workloads::{CounterChoice, CountingRun, Tuning};

/// Numbers of processors.
const PROCESSORS: [usize; 15] = [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 160, 192, 224, 240, 256];
const PROCESSORS_SMOKE: [usize; 4] = [1, 2, 4, 8];

/// The largest number of processors.
const MOST: f64 = 256.0;
/// The smallest number that counts as many processors.
const MANY: f64 = 128.0;
/// The smallest number that counts as several processors. Growth is measured from here to [`MOST`].
const SEVERAL: f64 = 16.0;

/// Processors of the machine. Some of them take numbers ("the rest of our study uses a 256
/// processor machine", a footnote of section 3.3.1).
const MACHINE: usize = 256;

/// Numbers handed out in a run.
const VALUES: u64 = 20_000;
const VALUES_SMOKE: u64 = 300;
/// Numbers handed out before the measurement begins.
const WARM_UP: u64 = 100;
/// Runs of each kind, from different seeds.
const REPETITIONS: u64 = 3;

/// Smallest relative difference at which the mean of the calls that returned is reported beside the
/// latency.
const RETURNED: f64 = 0.1;

/// Relative differences below this are noise.
const NOISE: f64 = 0.05;

/// A counter of the paper: its name there, our method, its width.
struct Contender {
    label: &'static str,
    method: &'static str,
    /// `None`: the method has no width, or it is the combining tree with one leaf for two
    /// processors.
    width: Option<usize>,
    /// Longest backoff. `None`: 1024 cycles, or the method has no backoff.
    backoff: Option<u32>,
}

/// Exponential backoff with the best of the longest backoffs tried, at each number of processors
/// (`results/2026-11-15-rivals`). With longer ones, one processor gets the counter for itself.
const EXP_BACKOFF: Contender =
    Contender { backoff: Some(65_536), ..Contender::new("ExpBackoff", "locked-backoff", None) };
const MCS: Contender = Contender::new("MCS", "locked-mcs", None);
/// The combining tree of "optimal width": half as many leaves as processors.
const CTREE: Contender = Contender::new("CTree", "combining-tree", None);
/// The counting network: toggles and counters under locks with exponential backoff.
const CNET: Contender = Contender::new("CNet[64]", "counting-network-locked", Some(64));
/// The diffracting tree: prisms of 8, 4, 2, 2, 1 from the root down, an adaptive spin of at most
/// 128, and a second chance to diffract for tokens that wait for the toggle (section 3.1).
const DTREE: Contender = Contender::new("DTree[32]", "diffracting-second-chance", Some(32));

const CONTENDERS: [Contender; 5] = [EXP_BACKOFF, MCS, CTREE, CNET, DTREE];

impl Contender {
    const fn new(label: &'static str, method: &'static str, width: Option<usize>) -> Self {
        Contender { label, method, width, backoff: None }
    }

    fn counter(&self) -> CounterChoice {
        let tuning = Tuning { width: self.width, backoff: self.backoff, ..Tuning::default() };
        CounterChoice::tuned(self.method, tuning).expect("a method of the library")
    }

    /// Returns the runs of the benchmark, one for each number of processors.
    fn runs(&self, lab: &Lab, work: u32) -> Runs {
        runs(lab, self.label, &self.counter(), processors(lab), work)
    }
}

/// The name of a curve and its runs.
type Runs = (String, Vec<(f64, CountingRun)>);

fn processors(lab: &Lab) -> &'static [usize] {
    lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..])
}

/// Returns the runs of the benchmark for these numbers of processors.
fn runs(lab: &Lab, label: &str, counter: &CounterChoice, processors: &[usize], work: u32) -> Runs {
    let run = |&processors: &usize| {
        let run = CountingRun {
            processors,
            values: lab.pick(VALUES, VALUES_SMOKE),
            warm_up: WARM_UP,
            work,
            nodes: Some(MACHINE.max(processors)),
            ..CountingRun::new(counter.clone(), lab.alewife())
        };
        (processors as f64, run)
    };
    (label.to_owned(), processors.iter().map(run).collect())
}

/// Measures the index distribution benchmark for some counters.
fn benchmark(
    lab: &Lab,
    figure: &str,
    contenders: &[Contender],
    work: u32,
) -> Result<Vec<Row>, Error> {
    let rows = contenders.iter().map(|contender| contender.runs(lab, work)).collect();
    lab.sweep(figure, REPETITIONS, rows)
}

fn throughput(run: &Measured) -> f64 {
    run.throughput_per_million_cycles
}

/// Computes latency by Little's law over the measured window, as the paper does (section 3.3.1, "T
/// = n t / L"). Each of the P processors is either in a call or at work.
///
/// The mean of the calls that returned would leave out calls that starve. Where a lock is not fair,
/// nearly all do.
fn latency(run: &Measured, work: u32) -> f64 {
    let round = run.per_processor.len() as f64 * 1e6 / run.throughput_per_million_cycles;
    round - f64::from(work) / 2.0
}

/// Returns the latency of each row, with a note where the calls that returned differ from it.
fn latencies(rows: &[Row], work: u32) -> Vec<Curve> {
    let curve = |row: &Row| {
        let all = row.curve(|run| latency(run, work));
        let returned = row.curve(|run| run.latency_cycles_mean);
        Curve { note: difference(&all, &returned), ..all }
    };
    rows.iter().map(curve).collect()
}

/// Describes the difference between `returned` and `all`, or returns `None` where it is small.
fn difference(all: &Curve, returned: &Curve) -> Option<String> {
    let ratios = returned.over(all).points;
    let off = |ratio: &Point| ratio.y.ln().abs();
    let Point { x, y: ratio, .. } = ratios.into_iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
    let far = (ratio - 1.0).abs() > RETURNED;
    far.then(|| {
        format!(
            "calls that returned took {ratio:.3} times this on the average (P = {x}); those that \
             still waited are not among them"
        )
    })
}

/// Returns a log scale: on the paper's linear axis the locks decide the scale.
fn latency_axis() -> Axis {
    Axis::new("latency (cycles)", Scale::Log10)
}

/// Describes how latency was computed, with the circumstances.
fn latency_setup(lab: &Lab, work: u32) -> String {
    let less = if work > 0 { format!(" - {}, the mean work", work / 2) } else { String::new() };
    format!(
        "{}; latency = P / throughput{less} (Little's law: calls that starve count); the paper's \
         axis is linear",
        setup(lab, work)
    )
}

/// Describes the circumstances in a line.
fn setup(lab: &Lab, work: u32) -> String {
    format!(
        "alewife of {MACHINE} processors, work {work}, {} values, {} from seed {}",
        lab.pick(VALUES, VALUES_SMOKE),
        lab.runs_in_words(REPETITIONS),
        lab.seed
    )
}

/// Returns the curve of this contender.
fn named<'a>(curves: &'a [Curve], contender: &Contender) -> &'a Curve {
    let is_it = |curve: &&Curve| curve.name == contender.label;
    curves.iter().find(is_it).expect("every contender has a curve")
}

/// Returns the row of this contender.
fn row<'a>(rows: &'a [Row], contender: &Contender) -> &'a Row {
    rows.iter().find(|row| row.name == contender.label).expect("every contender has a row")
}

/// Returns findings with one chart over the number of processors.
fn findings(lab: &Lab, work: u32, y: Axis, series: Vec<Curve>) -> Findings {
    let panel = Panel::new(processors_axis(), y, series);
    Findings { setup: setup(lab, work), panels: vec![panel], claims: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn those_who_starve_count() {
        let lab = Lab::new(true, 1, 1);
        let row = |contender: &Contender, work| {
            let runs = runs(&lab, contender.label, &contender.counter(), &[8], work);
            lab.sweep("x", 1, vec![runs]).unwrap().remove(0)
        };
        // With a fair lock, both ways to compute latency agree.
        for work in [0, 1000] {
            let fair = row(&MCS, work);
            let returned = fair.curve(|run| run.latency_cycles_mean).at(8.0).unwrap();
            let all = &latencies(&[fair], work)[0];
            let ratio = returned / all.at(8.0).unwrap();
            assert!((0.8..1.25).contains(&ratio), "{ratio} with work {work}");
        }
        // With an unfair lock, about one of eight processors is served.
        let unfair = row(&EXP_BACKOFF, 0);
        let throughput = unfair.curve(throughput).at(8.0).unwrap();
        let returned = unfair.curve(|run| run.latency_cycles_mean).at(8.0).unwrap();
        let all = &latencies(&[unfair], 0)[0];
        assert!((all.at(8.0).unwrap() * throughput / 1e6 - 8.0).abs() < 1e-9);
        assert!(all.at(8.0).unwrap() > 2.0 * returned);
        assert!(all.note.is_some());
    }

    #[test]
    fn a_difference_is_said_where_it_is_large() {
        let all = curve("a", &[(1.0, 100.0), (2.0, 200.0)]);
        assert_eq!(difference(&all, &curve("r", &[(1.0, 95.0), (2.0, 210.0)])), None);
        let said = difference(&all, &curve("r", &[(1.0, 95.0), (2.0, 20.0)])).unwrap();
        assert!(said.contains("0.100 times this") && said.contains("(P = 2)"), "{said}");
    }
}
