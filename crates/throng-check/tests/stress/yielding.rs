//! Each structure on real threads that yield at random between any two accesses.
//!
//! Shapes are small, so that rings are replaced, jobs move, tickets are left and members change their method within a
//! few calls. Each run has a seed, which a failure prints. The seed repeats what threads do and where they yield, but
//! not what the system does.

use std::sync::Barrier;
use std::thread;

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::barrier;
use throng::structures::counter::{self, Shape};
use throng_check::history::Call;
use throng_check::spec::check_counter;
use throng_check::workload::{
    Can, ForcedQueue, Kind, ObservedEntrance, ObservedMeeting, ObservedQueue, alternating, kinds,
    program,
};
use throng_check::worlds::{Yielding, YieldingCpu};

use crate::awaiting::{Awaiting, CASES, Case, LARGE, Make, broken as broken_channels, buffered};
use crate::broken::{counters as broken_counters, queues as broken};
use crate::harness::{self, each_seed, is_caught, passes};
use crate::sharing::Sharing;

/// Runs `body` on `threads` threads at once, and returns what they return.
fn on_threads<R: Send>(
    seed: u64,
    threads: usize,
    body: impl Fn(&YieldingCpu, usize) -> R + Sync,
) -> Vec<R> {
    let (body, start) = (&body, &Barrier::new(threads));
    thread::scope(|scope| {
        let run = |number| {
            move || {
                let cpu = Yielding::cpu(seed, number);
                start.wait();
                body(&cpu, number)
            }
        };
        let all: Vec<_> = (0..threads).map(|number| scope.spawn(run(number))).collect();
        all.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

/// The processor of the thread that looks at what is left when all others have ended.
fn afterwards(seed: u64) -> YieldingCpu {
    Yielding::cpu(seed, 0)
}

/// A number below `bound` for each seed; `what` is drawn independently for each choice.
fn choice(seed: u64, what: u64, bound: usize) -> usize {
    let drawn = throng::machine::SplitMix64::mix(seed ^ what << 56);
    (drawn % bound as u64) as usize
}

/// Threads push and pop as their programs say, and wait for microseconds at most.
fn queue_at_random(kind: Kind<Yielding>, seed: u64) {
    let capacity = [None, None, Some(1), Some(2), Some(3)][choice(seed, 1, 5)];
    let block = [1, 1, 2, 4][choice(seed, 2, 4)];
    let threads = 2 + choice(seed, 3, 4);
    let observed = ObservedQueue::timed(&kind, capacity, block, threads);
    // Most queues stay open.
    let can = Can { be_closed: kind.can.be_closed && seed.is_multiple_of(4), ..kind.can };
    on_threads(seed, threads, |cpu, number| {
        observed.perform(cpu, number, &program(can, true, seed, number, 40));
    });
    if seed.is_multiple_of(5) {
        observed.abandon(0, "");
    } else {
        observed.settle(&afterwards(seed));
    }
}

/// Producers push, consumers sleep until there are items or it is closed.
fn queue_shared(kind: Kind<Yielding>, seed: u64) {
    let capacity = [None, Some(1), Some(2)][choice(seed, 1, 3)];
    let [producers, consumers] = [[1, 1], [2, 2], [3, 1], [1, 3]][choice(seed, 2, 4)];
    let threads = producers + consumers;
    let observed = ObservedQueue::timed(&kind, capacity, 1, threads);
    on_threads(seed, threads, |cpu, number| observed.share(cpu, number, producers, 30));
    observed.settle(&afterwards(seed));
}

fn forced(seed: u64, queue: ForcedQueue<Yielding>) {
    on_threads(seed, 3, |cpu, number| queue.perform(cpu, number, 40));
    queue.settle(&afterwards(seed));
}

/// Tasks and threads that share a channel; a wake-up that is lost is a run without an end.
fn channel(make: Make<Yielding>, case: Case, seed: u64) {
    for &capacity in case.capacities {
        let capacity = (capacity > 0).then_some(capacity);
        let processors = case.programs.len();
        let awaiting = Awaiting::<Yielding>::new(make, capacity, processors);
        on_threads(seed, processors, |cpu, number| {
            awaiting.perform(cpu, number, case.programs[number]);
        });
        awaiting.settle(&afterwards(seed));
    }
}

/// Threads that count, with a counter that changes its shape all the time if it ever does.
fn count(method: counter::Registered<Yielding>, seed: u64) {
    let threads = 2 + choice(seed, 1, 5);
    let shape = match seed % 3 {
        0 => Shape::for_processors(threads),
        1 => Shape::for_processors(threads).patience(0).bank(2),
        _ => Shape::tiny(threads, 2).spin(2).bank(2),
    };
    let counter = method.build(&shape).expect("a shape for threads");
    let calls = on_threads(seed, threads, |cpu, _| -> Vec<Call> {
        let call = |_| {
            let started = cpu.clock();
            let value = counter.next_on(cpu);
            Call::finished(started, cpu.clock(), value)
        };
        (0..40).map(call).collect()
    });
    if let Err(violation) = check_counter(&method.about, &calls.concat()) {
        panic!("{} broke its promise: {violation}", method.about.name);
    }
}

/// Members meet, and write to each other in cells.
fn meet(method: barrier::Registered<Yielding>, seed: u64) {
    let members = 2 + choice(seed, 1, 4);
    let shape = barrier::Shape::for_members(members);
    let observed = ObservedMeeting::watched(&method, &shape);
    on_threads(seed, members, |cpu, rank| observed.meet(cpu, rank, 12));
    observed.assert_kept();
}

/// More visitors come than meet.
fn visit(method: barrier::Registered<Yielding>, seed: u64) {
    let members = 2 + choice(seed, 1, 3);
    let visitors = members + choice(seed, 2, 2);
    let shape = barrier::Shape::for_members(members);
    let observed = ObservedEntrance::anonymous(&method, &shape, visitors);
    on_threads(seed, visitors, |cpu, visitor| observed.visit(cpu, visitor, 12));
    observed.assert_kept();
}

fn share_indices(seed: u64) {
    let threads = 2 + choice(seed, 1, 4);
    let indices = [0, 1, 40, 300][choice(seed, 2, 4)];
    let sharing = Sharing::<Yielding>::new(3..3 + indices, threads);
    if seed.is_multiple_of(4) {
        on_threads(seed, threads, |cpu, _| sharing.take_some(cpu, 2));
        sharing.assert_no_more_than_once();
    } else {
        on_threads(seed, threads, |cpu, _| sharing.take(cpu, |_| {}));
        sharing.assert_once();
    }
}

/// A trial that runs `run` with `count` seeds.
fn seeded(name: String, count: u64, run: impl Fn(u64) + Send + 'static) -> Trial {
    let trial = name.clone();
    passes(name, move || each_seed(&trial, count, run))
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for kind in kinds::<Yielding>() {
        let name = format!("yielding::queues::{}", kind.name);
        let run = move |seed| queue_at_random(kind, seed);
        trials.push(seeded(format!("{name}::at_random"), 1000 * effort, run));
        let run = move |seed| queue_shared(kind, seed);
        trials.push(seeded(format!("{name}::shared"), 400 * effort, run));
    }
    trials.push(seeded("yielding::queues::forced".into(), 400 * effort, |seed| {
        forced(seed, ForcedQueue::new(1 + choice(seed, 1, 3), 3));
    }));
    for case in CASES.into_iter().chain(LARGE) {
        let name = format!("yielding::channels::{}", case.name);
        trials.push(seeded(name, 120 * effort, move |seed| channel(buffered, case, seed)));
    }
    for method in counter::methods::<Yielding>() {
        let name = format!("yielding::counters::{}", method.about.name);
        trials.push(seeded(name, 120 * effort, move |seed| count(method, seed)));
    }
    for method in barrier::methods::<Yielding>().into_iter().chain([alternating()]) {
        let name = format!("yielding::barriers::{}", method.about.name);
        trials
            .push(seeded(format!("{name}::members"), 120 * effort, move |seed| meet(method, seed)));
        trials.push(seeded(format!("{name}::visitors"), 120 * effort, move |seed| {
            visit(method, seed)
        }));
    }
    trials.push(seeded("yielding::indices".into(), 200 * effort, share_indices));
    trials.extend(broken_trials());
    trials
}

fn broken_trials() -> Vec<Trial> {
    let promise = "broke its promise";
    let mut trials = Vec::new();
    // Other than where threads do not yield, each race is found.
    for kind in broken::mistaken().into_iter().chain(broken::racy()) {
        let name = format!("yielding::broken::{}", kind.name);
        let trial = name.clone();
        trials.push(is_caught(name, promise, move || {
            each_seed(&trial, 2_000, |seed| queue_at_random(kind, seed));
        }));
    }
    for kind in broken::sound::<_, 4000>() {
        let name = format!("yielding::broken::but-for-its-faults::{}", kind.name);
        trials.push(seeded(name, 30, move |seed| queue_at_random(kind, seed)));
    }
    trials.push(is_caught("yielding::broken::pops-then-pushes".into(), promise, || {
        each_seed("", 200, |seed| forced(seed, broken::pops_then_pushes(1, 3)));
    }));
    for method in broken_counters::miscounting::<Yielding>() {
        let name = format!("yielding::broken::{}", method.about.name);
        trials.push(is_caught(name, promise, move || {
            each_seed("", 2_000, |seed| count(method, seed));
        }));
    }
    let sound = broken_channels::make::<Yielding, { broken_channels::SOUND }>;
    for case in CASES {
        let name = format!("yielding::broken::but-for-its-faults::fenced::{}", case.name);
        trials.push(seeded(name, 20, move |seed| channel(sound, case, seed)));
    }
    trials
}
