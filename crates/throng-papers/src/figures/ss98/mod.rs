//! Shavit, Upfal and Zemach, *A Steady State Analysis of Diffracting Trees* (1998), section 4: the
//! new balancer on an Alewife-like machine.
//!
//! Measured is the latency of the index distribution benchmark with almost no work, over up to 20
//! 000 numbers of which the first 2000 are ignored.

pub mod figure_11;
pub mod figure_12;
pub mod figure_9_10;
pub mod model;
pub mod validation;

use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::{Lab, Row};
use super::{Figure, Findings, Panel};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::numbers::short;
use crate::workloads::measured::Measured;
use crate::workloads::{CounterChoice, CountingRun, trees};

/// Numbers handed out in a run.
const VALUES: u64 = 20_000;
const VALUES_SMOKE: u64 = 400;
/// Numbers handed out before the measurement begins.
const WARM_UP: u64 = 2000;
const WARM_UP_SMOKE: u64 = 50;
/// Runs of each kind, from different seeds.
const REPETITIONS: u64 = 3;

/// Relative differences below this are noise.
const NOISE: f64 = 0.05;

/// The new algorithm (Figure 6).
const NEW: &str = "diffracting";
/// The original algorithm (Figure 5).
const ORIGINAL: &str = "diffracting-original";
/// The original algorithm with the spin that each processor learns (DT96 Figure 6).
const ADAPTIVE: &str = "diffracting-adaptive";

/// Returns a tree with `cells` prism slots on each level: level i has 2^i prisms of `cells` / 2^i
/// slots, rounded up (section 4).
fn tree(method: &str, depth: u32, cells: usize) -> CounterChoice {
    let sizes: Vec<usize> = (0..depth).map(|level| cells.div_ceil(1 << level)).collect();
    trees::tree(method, &sizes).expect("a tree of the library")
}

/// Returns a run of the benchmark.
fn run(lab: &Lab, counter: CounterChoice, processors: usize) -> CountingRun {
    CountingRun {
        processors,
        values: lab.pick(VALUES, VALUES_SMOKE),
        warm_up: lab.pick(WARM_UP, WARM_UP_SMOKE),
        ..CountingRun::new(counter, lab.alewife())
    }
}

fn latency(run: &Measured) -> f64 {
    run.latency_cycles_mean
}

/// Describes the circumstances in a line.
fn setup(lab: &Lab, what: &str) -> String {
    format!(
        "alewife, {what}, {} values of which {} are ignored, {} from seed {}",
        lab.pick(VALUES, VALUES_SMOKE),
        lab.pick(WARM_UP, WARM_UP_SMOKE),
        lab.runs_in_words(REPETITIONS),
        lab.seed
    )
}
