//! Ha, Papatriantafilou and Tsigas, *Self-tuning reactive diffracting trees* (2007), section 7:
//! trees that tune themselves against one that was tuned by hand, on an Origin2000 of 30
//! processors.
//!
//! ST has toggles that are one fetch-op at memory, ST(P) has prisms, and RDT is the reactive tree
//! of RDT97 with the thresholds that the paper found for this machine. The self-tuning trees decide
//! for the 30 processors of the machine, regardless of how many take part.

pub mod figure_13;
pub mod figure_14;
pub mod figure_15;
pub mod policy;

use throng::structures::counter::diffracting::Prisms;
use throng::structures::counter::reactive::Policy as HandTuned;
use throng::structures::counter::self_tuning::policy::Policy;
use throng_sim::MachineSpec;

use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::Lab;
use super::surges::{Surges, over_time, surges};
use super::{Figure, Findings, Panel};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::workloads::CounterChoice;
use crate::workloads::reactive::{self, Behaviour};
use crate::workloads::self_tuning::{self, Tuned};
use crate::workloads::surge::{Interval, Surge, SurgeRun};

/// Processors of the machine.
const MACHINE: usize = 30;
const FEW: usize = 4;
const MANY: usize = 28;
const MANY_SMOKE: usize = 8;

/// Largest depth: no more leaves than processors.
const DEEPEST: u32 = MACHINE.ilog2();

/// Cycles in a microsecond, at 250 MHz.
const CYCLES_A_US: u64 = 250;
/// The thresholds found by hand: "The folding and unfolding thresholds are 3 and 10 us"; 10 timings
/// in a row.
const BY_HAND: HandTuned =
    HandTuned::PAPER.fold_below(3 * CYCLES_A_US).unfold_above(10 * CYCLES_A_US).run(10);

/// Largest factor between a measured ratio and the paper's at which they agree.
const ABOUT: f64 = 2.0;
/// Relative differences below this are noise.
const NOISE: f64 = 0.05;

const ST: &str = "ST";
const ST_P: &str = "ST(P)";
const RDT: &str = "RDT";
/// ST with a census of the processors, where the paper's estimates their number from one leaf.
const COUNTED: &str = "(ours) ST, census";

/// Returns the machine of the paper.
fn origin2000() -> MachineSpec {
    MachineSpec::preset("origin2000").expect("it comes with the simulator")
}

/// Returns the three trees of the paper and one of ours, in the order of the legend.
fn contenders() -> [(&'static str, CounterChoice); 4] {
    [
        (ST, toggles(Policy::Threat)),
        (ST_P, with_prisms(DEEPEST, Policy::Threat)),
        (RDT, by_hand(BY_HAND)),
        (COUNTED, toggles(Policy::Census)),
    ]
}

/// Returns the self-tuning tree of toggles.
fn toggles(policy: Policy) -> CounterChoice {
    let tuned = Tuned { policy, processors: MACHINE };
    self_tuning::tree("self-tuning", DEEPEST, tuned).expect("a method of the library")
}

/// Returns the self-tuning tree with prisms, of depth at most `deepest`.
fn with_prisms(deepest: u32, policy: Policy) -> CounterChoice {
    let tuned = Tuned { policy, processors: MACHINE };
    self_tuning::tree("self-tuning-prism", deepest, tuned).expect("a method of the library")
}

/// Returns the reactive tree with these thresholds.
fn by_hand(policy: HandTuned) -> CounterChoice {
    reactive::with_prisms(&prisms(DEEPEST), Behaviour::Changing(policy))
}

/// Returns the prism sizes of all trees of this depth that have prisms.
fn prisms(depth: u32) -> Vec<usize> {
    Prisms::St07.sizes(depth).expect("they fit any depth")
}

/// Returns the contender of this name.
fn of<'a, T>(all: &'a [(&'static str, T)], name: &str) -> &'a T {
    &all.iter().find(|(other, _)| *other == name).expect("one of the contenders").1
}

/// Measures runs in which processors come and go: each contender from several seeds, on the whole
/// machine.
fn all_surges(
    lab: &Lab,
    figure: &'static str,
    repetitions: u64,
    run: impl Fn(CounterChoice) -> SurgeRun,
) -> Result<Vec<Surges>, Error> {
    let whole = |counter| SurgeRun { nodes: Some(MACHINE), ..run(counter) };
    let runs = contenders().map(|(name, counter)| (name, whole(counter))).to_vec();
    surges(lab, figure, repetitions, runs)
}

/// Returns a number over time, in ms since `zero_cycle`.
fn over_ms(
    surges: &Surges,
    zero_cycle: u64,
    interval_cycles: u64,
    number: fn(&Interval) -> f64,
) -> Curve {
    let curve = over_time(surges, zero_cycle, interval_cycles, number);
    let in_ms = |point: &Point| Point { x: ms(point.x), ..*point };
    Curve { points: curve.points.iter().map(in_ms).collect(), ..curve }
}

/// Judges the ratio to RDT's throughput, `times`, against the paper's.
fn by_about(lab: &Lab, name: &str, papers: f64, times: f64, when: &str) -> Claim {
    Claim::new(
        format!("{name} by about {papers} times"),
        format!("above {} and within a factor of {ABOUT} of {papers} {when}", 1.0 + NOISE),
    )
    .judged(
        format!("{times:.2} times"),
        lab.judge(times > 1.0 + NOISE && (papers / ABOUT..=papers * ABOUT).contains(&times)),
    )
}

fn ms(cycles: f64) -> f64 {
    cycles / (1000 * CYCLES_A_US) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_those_of_the_paper_in_cycles() {
        assert_eq!(u64::from(origin2000().clock_mhz), CYCLES_A_US);
        assert_eq!(origin2000().processors, MACHINE);
        let command = of(&contenders(), RDT).options.clone();
        assert_eq!(command, "--prisms 8,4,2,1 --policy 750,2500,10");
    }
}
