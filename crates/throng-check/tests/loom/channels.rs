//! Channels with 2 and 3 processors, which run tasks and block as threads.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_check::worlds::Loom;

use crate::awaiting::{Awaiting, CASES, Case, Make, broken, buffered};
use crate::harness::{self, is_caught, passes};

fn run(case: Case, make: Make<Loom>, capacity: usize, preemptions: usize) {
    let capacity = (capacity > 0).then_some(capacity);
    let processors = case.programs.len();
    Loom::explore_to_the_end(
        processors,
        preemptions,
        move || Awaiting::new(make, capacity, processors),
        move |awaiting, cpu| awaiting.perform(cpu, cpu.id(), case.programs[cpu.id()]),
        Awaiting::settle,
    );
}

/// What loom says when a wait never ends.
const HANGS: &str = "exceeded maximum number of branches";

/// All cases with one preemption, until one complains.
fn all_cases(make: Make<Loom>) {
    for case in CASES {
        for &capacity in case.capacities {
            run(case, make, capacity, case.preemptions.min(1));
        }
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let more = usize::from(harness::effort() > 1);
    let mut trials = Vec::new();
    for case in CASES {
        for &capacity in case.capacities {
            let preemptions = case.preemptions + more;
            let name = |kind| {
                format!(
                    "channels::{kind}{}::capacity_{capacity}::preempted_{preemptions}",
                    case.name
                )
            };
            trials.push(passes(name(""), move || run(case, buffered, capacity, preemptions)));
            let sound = broken::make::<Loom, { broken::SOUND }>;
            trials.push(passes(name("fenced::"), move || {
                run(case, sound, capacity, case.preemptions.min(1))
            }));
        }
    }
    let mut caught = |name: &str, make| {
        let name = format!("channels::broken::{name}");
        trials.push(is_caught(name, HANGS, move || all_cases(make)));
    };
    broken::racy().into_iter().for_each(|(name, make)| caught(name, make));
    caught("silent-close", broken::silent_close());
    caught("no-fences", broken::no_fences());
    trials
}
