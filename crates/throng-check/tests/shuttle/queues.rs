//! Each queue with 3 to 5 processors that make all kinds of calls.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng_check::workload::{ForcedQueue, Kind, ObservedQueue, Step, kinds, program};
use throng_check::worlds::{Schedules, Shuttle};

use super::seed;
use crate::broken::queues as broken;
use crate::harness::{self, is_caught, is_caught_by_either, passes};

const WAYS: [(&str, Schedules); 3] =
    [("random", Schedules::Random), ("pct", Schedules::Pct(8)), ("uniform", Schedules::Uniform)];

/// A kind of schedules and their number, the number of processors, and the shape of the queue.
#[derive(Clone, Copy)]
struct Plan {
    schedules: Schedules,
    count: usize,
    processors: usize,
    capacity: Option<usize>,
    block: usize,
}

/// Runs random programs, which never wait for ever. Items inside at the end are popped, or dropped
/// with the queue.
fn at_random(kind: Kind<Shuttle>, plan: Plan, steps: usize, seed: u64) {
    let Plan { schedules, count, processors, capacity, block } = plan;
    let program = |processor| program(kind.can, true, seed, processor, steps);
    let programs: Vec<Vec<Step>> = (0..processors).map(program).collect();
    Shuttle::explore_to_the_end(
        schedules,
        count,
        super::seed() + seed,
        processors,
        move || ObservedQueue::ticking(&kind, capacity, block, processors),
        move |observed, cpu| observed.perform(cpu, cpu.id(), &programs[cpu.id()]),
        move |observed, cpu| {
            if seed.is_multiple_of(4) {
                observed.abandon(0, "");
            } else {
                observed.settle(cpu);
            }
        },
    );
}

/// Producers push, and consumers wait for items until it is closed.
fn share(kind: Kind<Shuttle>, plan: Plan, producers: usize, each: usize) {
    let Plan { schedules, count, processors, capacity, block } = plan;
    Shuttle::explore_to_the_end(
        schedules,
        count,
        seed(),
        processors,
        move || ObservedQueue::ticking(&kind, capacity, block, processors),
        move |observed, cpu| observed.share(cpu, cpu.id(), producers, each),
        ObservedQueue::settle,
    );
}

/// Unbounded, and bounds of 1, 2, 3 and more; pieces of memory of 1, 2 and 4.
const SIZES: [(Option<usize>, usize); 5] =
    [(None, 1), (None, 2), (Some(1), 2), (Some(2), 1), (Some(3), 4)];

fn trials_of(kind: Kind<Shuttle>, ways: &[(&str, Schedules)], effort: usize) -> Vec<Trial> {
    let mut trials = Vec::new();
    let sizes = SIZES.into_iter().filter(|size| kind.can.be_bounded || size.0.is_none());
    for (capacity, block) in sizes {
        for &(way, schedules) in ways {
            let plan = Plan { schedules, count: 40 * effort, processors: 4, capacity, block };
            let size = format!("capacity_{}::block_{block}", capacity.unwrap_or(0));
            let name = format!("queues::{}::{way}::{size}", kind.name);
            trials.push(passes(format!("{name}::at_random"), move || {
                for seed in 0..24 {
                    let processors = 3 + seed as usize % 3;
                    at_random(kind, Plan { processors, ..plan }, 6, seed);
                }
            }));
            for (producers, consumers) in [(1, 2), (2, 2), (3, 1)] {
                let processors = producers + consumers;
                let plan = Plan { processors, count: 200 * effort, ..plan };
                trials.push(passes(format!("{name}::{producers}_to_{consumers}"), move || {
                    share(kind, plan, producers, 4);
                }));
            }
        }
    }
    trials
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for kind in kinds::<Shuttle>() {
        trials.extend(trials_of(kind, &WAYS, harness::effort()));
    }
    for kind in broken::sound::<_, 1>() {
        trials.extend(trials_of(kind, &WAYS[..1], 1));
    }
    // A forced push may wait for another, which schedules by priority do not let run.
    for (way, schedules) in WAYS.into_iter().filter(|(name, _)| *name != "pct") {
        let setup = || ForcedQueue::new(2, 3);
        trials.push(passes(format!("queues::forced::{way}"), move || {
            forced(schedules, 2_000 * harness::effort(), setup);
        }));
    }
    trials.push(is_caught("queues::broken::pops-then-pushes".into(), "broke its promise", || {
        forced(Schedules::Random, 2_000, || broken::pops_then_pushes(1, 3));
    }));
    trials.extend(broken_trials());
    trials
}

/// Runs three processors, with three forced pushes each.
fn forced(
    schedules: Schedules,
    count: usize,
    setup: impl Fn() -> ForcedQueue<Shuttle> + Send + Sync + 'static,
) {
    let body = |forced: &ForcedQueue<Shuttle>, cpu: &_| {
        forced.perform(cpu, Cpu::id(cpu), 3);
    };
    Shuttle::explore_to_the_end(schedules, count, seed(), 3, setup, body, ForcedQueue::settle);
}

/// Shuttle's message when a wait never ends.
const HANGS: &str = "exceeded max_steps";

fn broken_trials() -> Vec<Trial> {
    let plan = Plan {
        schedules: Schedules::Random,
        count: 300,
        processors: 4,
        capacity: Some(2),
        block: 2,
    };
    let promise = "broke its promise";
    let all_seeds = move |kind| (0..200).for_each(|seed| at_random(kind, plan, 6, seed));
    let name = |kind: &Kind<Shuttle>| format!("queues::broken::{}", kind.name);
    let mut trials = Vec::new();
    for kind in broken::mistaken().into_iter().chain(broken::racy()) {
        trials.push(is_caught(name(&kind), promise, move || all_seeds(kind)));
    }
    for kind in broken::overlapping() {
        trials.push(is_caught_by_either(name(&kind), [promise, HANGS], move || all_seeds(kind)));
    }
    trials.push(is_caught("queues::broken::deaf".into(), HANGS, move || {
        share(broken::deaf(), plan, 2, 3);
    }));
    trials
}
