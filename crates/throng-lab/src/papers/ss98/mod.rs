//! Shavit, Upfal and Zemach, *A Steady State Analysis of Diffracting Trees* (1998), section 4: the
//! new balancer on an Alewife-like machine.
//!
//! Latency of the index distribution benchmark with almost no work, over up to 20 000 numbers of
//! which the first 2000 are ignored.

pub mod figure_11;
pub mod figure_12;
pub mod figure_9_10;

use throng::counter::Counting;
use throng::counter::diffracting::{
    Adaptive, Balancer, DiffractingTree, Original, Prisms, StarvationFree, TreeShape,
};
use throng_sim::Sim;

use super::lab::Lab;
use crate::simulated::measured::Measured;
use crate::simulated::{CounterChoice, CountingRun};

/// Numbers handed out in a run.
const VALUES: u64 = 20_000;
const VALUES_SMOKE: u64 = 400;
/// Numbers handed out before the measurement begins.
const WARM_UP: u64 = 2000;
const WARM_UP_SMOKE: u64 = 50;
/// Runs of each kind, from different seeds.
const REPETITIONS: u64 = 3;

/// Differences smaller than this part are noise.
const NOISE: f64 = 0.05;

/// A tree with `cells` prism slots on each level, 2^i prisms of `cells` / 2^i, rounded up, on level
/// i (section 4).
fn tree<B: Balancer<Sim>>(depth: u32, cells: usize) -> CounterChoice {
    let sizes: Vec<usize> = (0..depth).map(|level| cells.div_ceil(1 << level)).collect();
    let typed = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let options = format!("--width {} --prisms {typed}", 1 << depth);
    CounterChoice::custom(B::ABOUT.name, options, move |_| {
        let prisms = Prisms::Sizes(sizes.clone());
        let shape = TreeShape { prisms, ..TreeShape::of_depth(depth) };
        let tree = DiffractingTree::<Sim, B>::on_machine(&shape)?;
        Ok(Box::new(tree) as Box<dyn Counting<Sim>>)
    })
}

/// The new algorithm (Figure 6).
fn new_tree(depth: u32, cells: usize) -> CounterChoice {
    tree::<StarvationFree<Sim>>(depth, cells)
}

/// The original algorithm (Figure 5).
fn original_tree(depth: u32, cells: usize) -> CounterChoice {
    tree::<Original<Sim>>(depth, cells)
}

/// The original algorithm with the spin that each processor learns (DT96 Figure 6).
fn adaptive_tree(depth: u32, cells: usize) -> CounterChoice {
    tree::<Adaptive<Sim>>(depth, cells)
}

/// The benchmark.
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

/// The circumstances, in a line.
fn setup(lab: &Lab, what: &str) -> String {
    format!(
        "alewife, {what}, {} values, {} from seed {}",
        lab.pick(VALUES, VALUES_SMOKE),
        lab.pick(format!("mean of {REPETITIONS} runs"), "1 run".to_owned()),
        lab.seed
    )
}
