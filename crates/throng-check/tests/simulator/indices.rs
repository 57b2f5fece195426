//! Indices shared out among hundreds of processors, which are delayed and stalled, with work that
//! differs by index.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_sim::spec::{Preset, presets};
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, Simulation};

use crate::harness::{passes, seeds};
use crate::sharing::Sharing;

/// Makes one run in which index i takes `cycles(i)`.
fn share_out(
    simulation: Simulation,
    indices: usize,
    threads: usize,
    cycles: impl Fn(usize) -> u32 + Copy + Send + Sync + 'static,
) -> Outcome<Sharing<Sim>, ()> {
    let setup = move || Sharing::new(3..3 + indices, threads);
    let outcome = simulation
        .step_limit(20_000_000)
        .run(setup, move |sharing, cpu| sharing.take(cpu, |index| cpu.pause(cycles(index))))
        .expect("the simulation can be set up");
    assert_eq!(outcome.end, End::Finished);
    outcome.shared.assert_once();
    outcome
}

fn disturbed(seed: u64) {
    let processors = [3, 8, 17, 40][seed as usize % 4];
    let indices = [0, 5, 700, 5000][seed as usize / 4 % 4];
    let faults = Faults::none().random_delays(3, 100).random_stalls(processors / 2, 30, 20_000);
    let machine = MachineSpec::ideal(10);
    let simulation =
        Simulation::new().machine(machine).processors(processors).seed(seed).faults(faults);
    share_out(simulation, indices, processors, |index| (index % 100) as u32);
}

/// Few indices for eight processors, each of which stops several times. A stop lasts longer than the others need for all the rest.
fn stalled(seed: u64) {
    let faults = Faults::none().random_delays(30, 500).random_stalls(8, 60, 10_000);
    let simulation = Simulation::new().machine(MachineSpec::ideal(10)).processors(8);
    let indices = [1, 9, 60, 300][seed as usize % 4];
    share_out(simulation.seed(seed).faults(faults), indices, 8, |index| (index % 7) as u32);
}

/// All processors end at about the same time, and taking indices costs little beside the work.
fn ends_together(processors: usize, indices: usize, most: u32) {
    let cycles = move |index: usize| (index as u64 * u64::from(most) / indices as u64) as u32;
    let all: u64 = (3..3 + indices).map(|index| u64::from(cycles(index))).sum();
    let simulation = Simulation::new().machine(MachineSpec::ideal(10)).processors(processors);
    let outcome = share_out(simulation, indices, processors, cycles);
    let fair = all / processors as u64 + u64::from(most);
    assert!(outcome.cycles < fair + fair / 5, "{} cycles, {fair} at best", outcome.cycles);
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        passes("indices::disturbed".to_owned(), || seeds(48).for_each(disturbed)),
        passes("indices::stalled".to_owned(), || seeds(400).for_each(stalled)),
        passes("indices::end_together::of_many_short".to_owned(), || {
            ends_together(32, 100_000, 400);
        }),
        passes("indices::end_together::of_few_long".to_owned(), || ends_together(32, 2000, 20_000)),
    ];
    for machine in presets().iter().map(Preset::spec) {
        let name = format!("indices::on_{}", machine.name);
        trials.push(passes(name, move || {
            let simulation = Simulation::new().machine(machine).processors(16);
            share_out(simulation, 3000, 16, |index| (index % 50) as u32);
        }));
    }
    trials
}
