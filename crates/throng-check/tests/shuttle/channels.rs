//! Channels with 2 to 5 processors, which run tasks and block as threads.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_check::worlds::{Schedules, Shuttle};

use super::seed;
use crate::awaiting::{Awaiting, CASES, Case, LARGE, Make, broken, buffered};
use crate::harness::{self, is_caught, passes};

const WAYS: [(&str, Schedules); 3] =
    [("random", Schedules::Random), ("pct", Schedules::Pct(8)), ("uniform", Schedules::Uniform)];

fn run(case: Case, make: Make<Shuttle>, capacity: usize, schedules: Schedules, count: usize) {
    let capacity = (capacity > 0).then_some(capacity);
    let processors = case.programs.len();
    Shuttle::explore_to_the_end(
        schedules,
        count,
        seed(),
        processors,
        move || Awaiting::new(make, capacity, processors),
        move |awaiting, cpu| awaiting.perform(cpu, cpu.id(), case.programs[cpu.id()]),
        Awaiting::settle,
    );
}

/// Shuttle's message when a wait never ends.
const HANGS: &str = "exceeded max_steps";

fn all_cases(make: Make<Shuttle>) {
    for case in CASES.into_iter().chain(LARGE) {
        for &capacity in case.capacities {
            for (_, schedules) in WAYS {
                run(case, make, capacity, schedules, 2_000);
            }
        }
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let count = 3_000 * harness::effort();
    let mut trials = Vec::new();
    for case in CASES.into_iter().chain(LARGE) {
        for &capacity in case.capacities {
            for (way, schedules) in WAYS {
                let name = format!("channels::{way}::{}::capacity_{capacity}", case.name);
                trials.push(passes(name, move || run(case, buffered, capacity, schedules, count)));
            }
        }
    }
    let sound = broken::make::<Shuttle, { broken::SOUND }>;
    trials.push(passes("channels::fenced".to_owned(), move || all_cases(sound)));
    let mut caught = |name: &str, make| {
        let name = format!("channels::broken::{name}");
        trials.push(is_caught(name, HANGS, move || all_cases(make)));
    };
    broken::racy().into_iter().for_each(|(name, make)| caught(name, make));
    caught("leaves-the-rest", broken::leaves_the_rest());
    caught("silent-close", broken::silent_close());
    trials
}
