//! Ha, Papatriantafilou and Tsigas, *Self-tuning reactive diffracting trees* (2007), section 7: trees
//! that tune themselves against one that was tuned by hand, on an Origin2000 of 30 processors.
//!
//! ST has toggles that are one fetch-op at memory, ST(P) has prisms, RDT is the reactive tree of RDT97
//! with the thresholds that the paper found for this machine. The self-tuning trees decide for the 30
//! processors of the machine, however many take part.

pub mod figure_13;
pub mod figure_14;
pub mod figure_15;
pub mod policy;

use throng::counter::diffracting::Prisms;
use throng::counter::reactive::Policy as HandTuned;
use throng::counter::self_tuning::policy::Policy;
use throng_sim::MachineSpec;

use super::curve::{Curve, Point};
use super::lab::Lab;
use crate::error::Error;
use crate::simulated::CounterChoice;
use crate::simulated::parallel::parallel;
use crate::simulated::reactive::{self, Behaviour};
use crate::simulated::self_tuning::{self, Tuned};
use crate::simulated::surge::{Interval, Surge, SurgeRun};

/// How many processors the machine has.
const MACHINE: usize = 30;
const FEW: usize = 4;
const MANY: usize = 28;
const MANY_SMOKE: usize = 8;

/// No more leaves than processors.
const DEEPEST: u32 = MACHINE.ilog2();

/// At 250 MHz.
const CYCLES_A_US: u64 = 250;
/// "The folding and unfolding thresholds are 3 and 10 us"; 10 timings in a row.
const BY_HAND: HandTuned =
    HandTuned { fold_below: 3 * CYCLES_A_US, unfold_above: 10 * CYCLES_A_US, run: 10 };

const ST: &str = "ST";
const ST_P: &str = "ST(P)";
const RDT: &str = "RDT";
/// ST that counts who is there instead of guessing from one leaf.
const COUNTED: &str = "(ours) ST, census";

/// The machine of the paper.
fn origin2000() -> MachineSpec {
    MachineSpec::preset("origin2000").expect("it comes with the simulator")
}

/// The three trees of the paper and one of ours, in the order of the legend.
fn contenders() -> [(&'static str, CounterChoice); 4] {
    let tuning = |method, policy| {
        let tuned = Tuned { policy, processors: MACHINE };
        self_tuning::tree(method, DEEPEST, tuned).expect("a method of the library")
    };
    [
        (ST, tuning("self-tuning", Policy::Threat)),
        (ST_P, tuning("self-tuning-prism", Policy::Threat)),
        (RDT, reactive::with_prisms(&prisms(DEEPEST), Behaviour::Changing(BY_HAND))),
        (COUNTED, tuning("self-tuning", Policy::Census)),
    ]
}

/// The prisms that all trees of this depth have which have any.
fn prisms(depth: u32) -> Vec<usize> {
    Prisms::St07.sizes(depth).expect("they fit any depth")
}

/// The contender of this name.
fn of<'a, T>(all: &'a [(&'static str, T)], name: &str) -> &'a T {
    &all.iter().find(|(other, _)| *other == name).expect("one of the contenders").1
}

/// Runs in which processors come and go: each contender from several seeds.
fn surges(
    lab: &Lab,
    figure: &'static str,
    repetitions: u64,
    run: impl Fn(CounterChoice) -> SurgeRun,
) -> Result<Vec<(&'static str, Vec<Surge>)>, Error> {
    let seeds = lab.seed..lab.seed + lab.pick(repetitions, 1);
    let job = |counter: &CounterChoice, seed| SurgeRun {
        seed,
        replay: format!("throng figure {figure} --seed {seed}"),
        ..run(counter.clone())
    };
    let contenders = contenders();
    let jobs: Vec<SurgeRun> = (contenders.iter())
        .flat_map(|(_, counter)| seeds.clone().map(|seed| job(counter, seed)))
        .collect();
    let progress = crate::output::progress_bar(jobs.len());
    progress.set_message(figure);
    let mut measured = parallel(&jobs, lab.threads, &progress, SurgeRun::measure).into_iter();
    progress.finish_and_clear();
    let mut all = Vec::new();
    for (name, _) in contenders {
        let one = measured.by_ref().take(seeds.clone().count()).collect::<Result<_, _>>()?;
        all.push((name, one));
    }
    Ok(all)
}

/// A number over time, in ms since `zero_cycle`: the mean of all runs, in the middle of each interval
/// of so many cycles.
fn over_time(
    (name, surges): &(&'static str, Vec<Surge>),
    zero_cycle: u64,
    interval_cycles: u64,
    number: fn(&Interval) -> f64,
) -> Curve {
    let intervals = surges.iter().map(|surge| surge.intervals.len()).min().unwrap_or(0);
    let point = |i: usize| {
        let numbers: Vec<f64> = surges.iter().map(|surge| number(&surge.intervals[i])).collect();
        let middle = (i as f64 + 0.5) * interval_cycles as f64;
        Point::of(ms(middle - zero_cycle as f64), &numbers)
    };
    Curve::measured(*name, (0..intervals).map(point).collect())
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
