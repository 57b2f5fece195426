//! Channels with up to 5 processors, which run tasks and block as threads, and stop in the middle of calls.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_sim::{End, Faults, Sim, SimCpu, Simulation};

use crate::awaiting::{Awaiting, CASES, Case, LARGE, Make, broken, buffered};
use crate::harness::{self, is_caught, passes, seeds};

/// Processors stop several times in the middle of a call. A stop lasts longer than all calls of the others.
fn stalled(make: Make<Sim>, case: Case, seed: u64, trial: &str) {
    for &capacity in case.capacities {
        let capacity = (capacity > 0).then_some(capacity);
        let processors = case.programs.len();
        let faults = Faults::none().random_delays(30, 500).random_stalls(processors, 60, 10_000);
        let known = || {
            let faults = faults.chosen(processors, seed);
            format!(
                "capacity {capacity:?}, seed {seed}, faults: {faults}\nagain: THRONG_SEED={seed} cargo test \
                 -p throng-check --test simulator -- --exact {trial}"
            )
        };
        let simulation = Simulation::new().processors(processors).seed(seed).faults(faults.clone());
        let outcome = simulation.step_limit(1_000_000).run(
            move || Awaiting::<Sim>::new(make, capacity, processors),
            move |awaiting, cpu| awaiting.perform(cpu, cpu.id(), case.programs[cpu.id()]),
        );
        let outcome = outcome.expect("the simulation can be set up");
        if outcome.end != End::Finished {
            panic!("{} did not come to an end: {}\n{}", case.name, outcome.end, known());
        }
        outcome.shared.settle(&SimCpu::outside(0));
    }
}

fn all_cases(make: Make<Sim>, count: u64, trial: &str) {
    for case in CASES.into_iter().chain(LARGE) {
        seeds(count).for_each(|seed| stalled(make, case, seed, trial));
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let count = 2_000 * harness::effort() as u64;
    let mut trials = Vec::new();
    for case in CASES.into_iter().chain(LARGE) {
        let name = format!("channels::{}::stalled", case.name);
        trials.push(passes(name.clone(), move || {
            seeds(count).for_each(|seed| stalled(buffered, case, seed, &name));
        }));
    }
    let sound = broken::make::<Sim, { broken::SOUND }>;
    let name = "channels::fenced::stalled";
    trials.push(passes(name.to_owned(), move || all_cases(sound, 200, name)));
    let mut caught = |name: &str, make, count| {
        let name = format!("channels::broken::{name}");
        trials.push(is_caught(name.clone(), "did not come to an end", move || {
            all_cases(make, count, &name);
        }));
    };
    broken::racy().into_iter().for_each(|(name, make)| caught(name, make, 2_000));
    // One seed in some 2000 shows it.
    caught("leaves-the-rest", broken::leaves_the_rest(), 40_000);
    caught("silent-close", broken::silent_close(), 2_000);
    trials
}
