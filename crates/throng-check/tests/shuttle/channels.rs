//! Channels with 2 to 5 processors, which run tasks and block as threads.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_check::worlds::{Schedules, Shuttle};

use super::SEED;
use crate::awaiting::Step::{
    AwaitAll, AwaitRecv, AwaitRecvBeside, AwaitSend, AwaitSendBeside, BlockRecv, BlockSend, Close,
    GiveUpRecv,
};
use crate::awaiting::{Awaiting, CASES, Case, Make, broken, buffered};
use crate::harness::{self, is_caught, passes};

const WAYS: [(&str, Schedules); 3] =
    [("random", Schedules::Random), ("pct", Schedules::Pct(8)), ("uniform", Schedules::Uniform)];

/// Larger than those for every schedule.
const LARGE: [Case; 4] = [
    Case {
        name: "tasks_and_threads",
        preemptions: 0,
        capacities: &[0, 1, 3],
        programs: &[
            &[AwaitSend, AwaitSend, AwaitSend],
            &[BlockSend, BlockSend, BlockSend],
            &[AwaitRecv, AwaitRecv, AwaitRecv],
            &[BlockRecv, BlockRecv, BlockRecv],
        ],
    },
    Case {
        name: "receivers_give_up",
        preemptions: 0,
        capacities: &[0, 9],
        programs: &[
            &[GiveUpRecv, GiveUpRecv, GiveUpRecv],
            &[GiveUpRecv, GiveUpRecv],
            &[AwaitRecv, AwaitRecv],
            &[AwaitRecv, BlockRecv],
            &[AwaitSend, BlockSend, BlockSend, AwaitSend],
        ],
    },
    // Found a task that was woken while it got an earlier item, and used up the wake-up of a later one.
    Case {
        name: "both_give_up",
        preemptions: 0,
        capacities: &[1, 2],
        programs: &[
            &[AwaitSendBeside, AwaitSendBeside],
            &[AwaitSendBeside, AwaitSend],
            &[AwaitSend, BlockSend],
            &[AwaitRecv, AwaitRecvBeside, AwaitRecv],
            &[BlockRecv, AwaitRecvBeside, AwaitRecvBeside],
        ],
    },
    Case {
        name: "all_are_told",
        preemptions: 0,
        capacities: &[0, 1],
        programs: &[&[AwaitAll], &[AwaitAll], &[AwaitAll], &[AwaitSend, AwaitSend, Close]],
    },
];

fn run(case: Case, make: Make<Shuttle>, capacity: usize, schedules: Schedules, count: usize) {
    let capacity = (capacity > 0).then_some(capacity);
    let processors = case.programs.len();
    Shuttle::explore_to_the_end(
        schedules,
        count,
        SEED,
        processors,
        move || Awaiting::new(make, capacity, processors),
        move |awaiting, cpu| awaiting.perform(cpu, cpu.id(), case.programs[cpu.id()]),
        Awaiting::settle,
    );
}

/// What shuttle says when a wait never ends.
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
