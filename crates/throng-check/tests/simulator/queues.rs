//! Each queue with up to 64 processors, slowed, delayed, stalled, preempted, halted and killed, on the
//! ideal machine and on a small one of every preset. One file, because all tests share the list of disturbances and one
//! way to run a queue.

use std::sync::atomic::Ordering::{Acquire, Release};

use libtest_mimic::Trial;
use throng::machine::{Cpu, Line, Place, Word};
use throng::structures::pool::{Pool, PoolShape, PopError, Queue, QueueShape};
use throng_check::workload::{Can, ForcedQueue, Kind, ObservedQueue, Step, kinds, program};
use throng_sim::spec::{Preset, presets};
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, SimCpu, SimWord, Simulation};

use crate::broken::queues as broken;
use crate::harness::{self, is_caught, is_caught_by_either, passes, seeds};

/// One run of a queue.
#[derive(Clone)]
struct Run {
    machine: MachineSpec,
    processors: usize,
    seed: u64,
    capacity: Option<usize>,
    block: usize,
    steps: usize,
    /// Whether processors wait for items and room.
    waits: bool,
    faults: Faults,
}

impl Run {
    fn simulation(&self) -> Simulation {
        Simulation::new()
            .machine(self.machine.clone())
            .processors(self.processors)
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(100_000_000)
    }

    /// Describes a run that failed; `trial` is the name of the test.
    fn known(&self, trial: &str) -> String {
        let Run { machine, processors, seed, capacity, block, faults, .. } = self;
        let faults = faults.chosen(*processors, *seed);
        format!(
            "on {}, {processors} processors, capacity {capacity:?}, block {block}, seed {seed}, \
             faults: {faults}\nagain: THRONG_SEED={seed} cargo test -p throng-check --test simulator \
             -- --exact {trial}",
            machine.name
        )
    }

    /// Returns the steps of each processor, all at random.
    fn programs(&self, kind: Kind<Sim>) -> Vec<Vec<Step>> {
        // The checks allow for one item for each processor that was halted.
        let can = Can { pop_many: kind.can.pop_many && !self.faults.may_halt(), ..kind.can };
        let program = |id| program(can, self.waits, self.seed, id, self.steps);
        (0..self.processors).map(program).collect()
    }

    fn of(
        &self,
        kind: Kind<Sim>,
        body: impl Fn(&ObservedQueue<Sim>, &SimCpu) + 'static,
    ) -> Outcome<ObservedQueue<Sim>, ()> {
        let Run { capacity, block, processors, .. } = *self;
        let setup = move || ObservedQueue::ticking(&kind, capacity, block, processors);
        self.simulation().run(setup, body).expect("the simulation can be set up")
    }

    /// Runs it. Checks its promises, and that all processors end except the halted ones. Returns
    /// the number of halted ones, or `None` if none could be.
    fn check(
        &self,
        kind: Kind<Sim>,
        trial: &str,
        body: impl Fn(&ObservedQueue<Sim>, &SimCpu) + 'static,
    ) -> Option<usize> {
        let outcome = self.of(kind, body);
        let known = self.known(trial);
        if outcome.end != End::Finished {
            panic!("{} did not come to an end: {}\n{known}", kind.name, outcome.end);
        }
        let killed = outcome.halted.len();
        if self.seed.is_multiple_of(5) {
            outcome.shared.abandon(killed, &known);
        } else {
            outcome.shared.settle_after_deaths(&SimCpu::outside(0), killed, &known);
        }
        // Where nothing was accessed, no processor could be halted.
        (outcome.accesses > 0).then_some(killed)
    }

    /// All processors make random calls.
    fn check_at_random(&self, kind: Kind<Sim>, trial: &str) -> Option<usize> {
        let programs = self.programs(kind);
        self.check(kind, trial, move |observed, cpu| {
            observed.perform(cpu, cpu.id(), &programs[cpu.id()]);
        })
    }

    /// All processors push and pop in turn.
    fn check_in_turn(&self, kind: Kind<Sim>, trial: &str) {
        self.check(kind, trial, |observed, cpu| {
            let mut both = [Step::TryPush, Step::TryPop];
            both.rotate_left(cpu.id() % 2);
            observed.perform(cpu, cpu.id(), &both.repeat(6));
        });
    }

    /// Some push, and the others wait for items until it is closed.
    fn check_shared(&self, kind: Kind<Sim>, trial: &str) {
        let producers = 1 + self.seed as usize / 7 % (self.processors - 1);
        let consumers = self.processors - producers;
        // Equal shares, where it cannot be closed.
        let each = if kind.can.be_closed { 1 + 60 / self.processors } else { consumers };
        self.check(kind, trial, move |observed, cpu| {
            observed.share(cpu, cpu.id(), producers, each)
        });
    }
}

/// Returns a run of two to 64 processors, with all sizes of queues, without faults.
fn full_speed(seed: u64) -> Run {
    let processors = [2, 3, 5, 8, 17, 33, 64][seed as usize % 7];
    let capacity = [None, Some(1), Some(2), None, Some(3), Some(8)][seed as usize / 7 % 6];
    Run {
        machine: MachineSpec::ideal(10),
        processors,
        seed,
        capacity,
        block: [1, 2, 4][seed as usize / 2 % 3],
        steps: if processors > 8 { 8 } else { 20 },
        waits: !seed.is_multiple_of(3),
        faults: Faults::none(),
    }
}

/// Returns a run with delays at every step, stalls long enough for all others to pass, and one
/// processor that is slow throughout.
fn disturbed(seed: u64) -> Run {
    let run = full_speed(seed);
    let faults = Faults::none().random_delays(3, 100).random_stalls(run.processors / 2, 60, 20_000);
    let slow = seed as usize % run.processors;
    let faults = if seed.is_multiple_of(4) { faults.slow(slow, 50) } else { faults };
    Run { faults, ..run }
}

/// Returns the same on another machine, with every processor preempted now and then.
fn disturbed_on(machine: &MachineSpec, seed: u64) -> Run {
    let run = disturbed(seed);
    let preempted = Faults::none().random_preemptions(2_000, 5_000);
    Run { machine: machine.clone(), faults: run.faults.clone().and(preempted), ..run }
}

/// Eight processors take turns in pushing and popping. They stall in the middle for long enough
/// that consumers leave without their items, several at a time, and the memory around them is
/// freed. (This found a lost item: its consumer had left, its producer had made up for that, and it
/// had not been counted yet.)
fn stalled(seed: u64) -> Run {
    let faults = Faults::none().random_delays(30, 500).random_stalls(8, 60, 10_000);
    Run { processors: 8, capacity: None, block: 1, waits: false, faults, ..full_speed(seed) }
}

/// Some processors halt for ever in the middle of their calls; no call waits. One item may be
/// missing for each halted processor; all others must finish.
fn with_halts(seed: u64) -> Run {
    let run = Run { waits: false, ..full_speed(seed) };
    let most = if seed.is_multiple_of(2) { 1 } else { run.processors / 2 };
    let halts = Faults::none().random_delays(3, 100).random_halts(most, 5 + seed % 40);
    Run { faults: halts, ..run }
}

/// One of three halts for ever before its `access`-th access; no call waits. Returns whether it
/// made that many.
fn stopped_at(kind: Kind<Sim>, trial: &str, access: u64, seed: u64) -> bool {
    let run = Run { processors: 3, steps: 8, waits: false, ..full_speed(seed) };
    let halt = Faults::none().random_delays(2, 60).halt_before(seed as usize % 3, access);
    Run { faults: halt, ..run }.check_at_random(kind, trial).is_some_and(|halted| halted > 0)
}

/// Checks that the same seed gives the same trace.
fn same_trace_twice(kind: Kind<Sim>) {
    let trace = |seed| {
        let run = Run { seed, ..disturbed(11) };
        let programs = run.programs(kind);
        let outcome = run.of(kind, move |observed, cpu| {
            observed.perform(cpu, cpu.id(), &programs[cpu.id()]);
        });
        (outcome.trace_hash, outcome.cycles, outcome.shared.requests())
    };
    assert!(trace(11) == trace(11), "the same seed, the same run");
    assert!(trace(11).2 != trace(12).2, "another seed, another run");
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for kind in kinds::<Sim>() {
        trials.extend(trials_of(kind, effort));
    }
    for kind in broken::sound::<_, 4000>() {
        // Tickets are not for waiting calls: with a slow enough push, repeated pops spoil all its
        // slots.
        let is_apt = |trial: &Trial| kind.name != "tickets" || trial.name().contains("halted");
        trials.extend(trials_of(kind, 1).into_iter().filter(is_apt));
    }
    trials.push(passes("queues::forced".into(), move || {
        for seed in seeds(300 * effort) {
            let capacity = [1, 2, 3, 8][seed as usize % 4];
            forced(seed, move |processors| ForcedQueue::new(capacity, processors));
        }
    }));
    trials.push(is_caught("queues::broken::pops-then-pushes".into(), "broke its promise", || {
        seeds(100).for_each(|seed| forced(seed, |number| broken::pops_then_pushes(1, number)));
    }));
    trials.push(passes("queues::queue::steps_of_a_call_alone".into(), steps_of_a_call_alone));
    trials.push(passes("queues::queue::steps_after_disorder".into(), move || {
        seeds(400 * effort).for_each(steps_after_disorder);
    }));
    trials.push(passes("queues::queue::len_is_of_one_instant".into(), len_is_of_one_instant));
    trials.push(passes("queues::pool::stopped_in_is_empty".into(), stopped_in_is_empty));
    trials.push(passes("queues::pool::stopped_while_closed".into(), stopped_while_closed));
    trials.push(passes("queues::pool::stopped_while_jobs_move".into(), stopped_while_jobs_move));
    trials.push(passes("queues::pool::empty_only_if_empty_at_once".into(), move || {
        seeds(300 * effort).for_each(empty_only_if_empty_at_once);
    }));
    trials.extend(broken_trials());
    trials
}

/// All processors force items in, push and pop; delayed and stalled, but not halted.
fn forced(seed: u64, setup: impl Fn(usize) -> ForcedQueue<Sim> + 'static) {
    let run = disturbed(seed);
    let processors = run.processors;
    let body = |forced: &ForcedQueue<Sim>, cpu: &SimCpu| forced.perform(cpu, cpu.id(), 4);
    let outcome = run.simulation().run(move || setup(processors), body);
    let outcome = outcome.expect("the simulation can be set up");
    assert_eq!(outcome.end, End::Finished, "seed {seed}");
    outcome.shared.settle(&SimCpu::outside(0));
}

/// A `try_` call that no other thread disturbs takes a bounded number of accesses, whatever a
/// halted processor has left behind. Without a halted processor it takes a dozen.
fn steps_of_a_call_alone() {
    /// Twice the polls for a stopped call, and the accesses of the call itself.
    const MOST: u64 = 2 * 128 + 100;
    for capacity in [None, Some(1), Some(2), Some(16)] {
        for calls in 1..12 {
            // The first processor stops before each of its accesses.
            for stop in 0..60 {
                let accesses = |probes: usize| {
                    let shape = QueueShape::UNBOUNDED.capacity(capacity);
                    let setup = move || Queue::<u32, Sim>::on_machine(shape).expect("a queue");
                    let body = move |queue: &Queue<u32, Sim>, cpu: &SimCpu| {
                        if cpu.id() == 0 {
                            for call in 0..calls {
                                let _ = queue.try_push_on(cpu, call);
                                let _ = queue.try_pop_on(cpu);
                            }
                        } else {
                            cpu.pause(1_000_000);
                            for probe in 0..probes {
                                match probe % 2 {
                                    0 => drop(queue.try_push_on(cpu, 7)),
                                    _ => drop(queue.try_pop_on(cpu)),
                                }
                            }
                        }
                    };
                    let halt = Faults::none().halt_before(0, 1 + stop);
                    let outcome = Simulation::new().processors(2).faults(halt).run(setup, body);
                    outcome.expect("the simulation can be set up").accesses
                };
                for probe in 0..4 {
                    let taken = accesses(probe + 1) - accesses(probe);
                    assert!(taken <= MOST, "{taken} accesses, {capacity:?}, stopped before {stop}");
                }
            }
        }
    }
}

/// When all calls are over, whatever their disturbances, a push and a pop take as few accesses as
/// ever: no leftovers are still searched.
fn steps_after_disorder(seed: u64) {
    const MOST: u64 = 40;
    let capacity = [Some(1), Some(2), None][seed as usize % 3];
    let accesses = |pairs: u32| {
        let setup = move || {
            let shape = QueueShape::tiny(capacity, 0);
            Queue::<u32, Sim>::on_machine(shape).expect("a queue")
        };
        let body = move |queue: &Queue<u32, Sim>, cpu: &SimCpu| {
            let calls = |count| {
                for call in 0..count {
                    let _ = queue.try_push_on(cpu, call);
                    let _ = queue.try_pop_on(cpu);
                }
            };
            calls(10);
            if cpu.id() == 0 {
                cpu.pause(10_000_000);
                calls(pairs);
            }
        };
        let faults = Faults::none().random_delays(3, 100).random_stalls(4, 60, 20_000);
        let simulation = Simulation::new().processors(4).seed(seed).faults(faults);
        simulation.run(setup, body).expect("the simulation can be set up").accesses
    };
    // The first may pass tickets that were drawn to pop with and not yet to push with.
    let taken = accesses(31) - accesses(30);
    assert!(taken <= MOST, "a push and a pop take {taken} accesses, {capacity:?}, seed {seed}");
}

/// A stall during which all other processors end, in cycles.
const LONG: u64 = 1_000_000;

/// More accesses than a processor makes in one of the calls below: a pop makes 22.
const MOST_ACCESSES: u64 = 60;

/// Runs `body` on three processors. The last one begins late, and is stopped before each of its first accesses in turn.
fn stopped_before_each_access<S: 'static>(
    setup: impl Fn() -> S + Copy + 'static,
    body: impl Fn(&S, &SimCpu) + Copy + 'static,
) {
    for access in 1..=MOST_ACCESSES {
        run_to_the_end(Faults::none().stall(2, access, LONG), setup, body);
    }
}

/// Runs `body` on three processors, and checks that all of them end.
fn run_to_the_end<S: 'static>(
    faults: Faults,
    setup: impl Fn() -> S + 'static,
    body: impl Fn(&S, &SimCpu) + 'static,
) {
    let simulation = Simulation::new().processors(3).faults(faults.clone());
    let outcome = simulation.run(setup, body).expect("the simulation can be set up");
    assert_eq!(outcome.end, End::Finished, "{faults}");
}

/// One processor calls `len`, and another one pops the oldest item. Both stop for a while before any of their accesses.
/// Meanwhile other items come and go one by one: at most two items are inside at any time.
fn len_is_of_one_instant() {
    let setup = || Queue::<u32, Sim>::on_machine(QueueShape::UNBOUNDED).expect("a queue");
    let body = |queue: &Queue<u32, Sim>, cpu: &SimCpu| match cpu.id() {
        0 => {
            queue.try_push_on(cpu, 0).expect("there is room");
            cpu.pause(100_000);
            for item in 1..6 {
                queue.try_push_on(cpu, item).expect("there is room");
                let _ = queue.try_pop_on(cpu);
            }
        }
        1 => {
            cpu.pause(20_000);
            let _ = queue.try_pop_on(cpu);
        }
        _ => {
            cpu.pause(10_000);
            assert!(queue.len() <= 2, "{} items inside", queue.len());
        }
    };
    for pop in 1..=MOST_ACCESSES {
        for len in 1..=10 {
            run_to_the_end(Faults::none().stall(1, pop, 2 * LONG).stall(2, len, LONG), setup, body);
        }
    }
}

fn pool() -> Pool<u32, Sim> {
    Pool::on_machine(&PoolShape::DEFAULT).expect("a good shape")
}

/// A job comes into a leaf before the older one is taken: the leaf is never empty, and `is_empty` never says so.
fn stopped_in_is_empty() {
    stopped_before_each_access(pool, |pool, cpu| match cpu.id() {
        0 => {
            pool.push_on(cpu, 0).expect("it is open");
            cpu.pause(20_000);
            pool.push_on(cpu, 1).expect("it is open");
        }
        1 => {
            cpu.pause(30_000);
            assert_eq!(pool.try_pop_on(cpu), Ok(0));
        }
        _ => {
            cpu.pause(10_000);
            assert!(!pool.is_empty(), "a job was inside all the time");
        }
    });
}

/// The only job is taken after the pool was closed: no pop says that the pool is empty and open.
fn stopped_while_closed() {
    stopped_before_each_access(pool, |pool, cpu| {
        match cpu.id() {
            0 => {
                pool.push_on(cpu, 0).expect("it is open");
                cpu.pause(20_000);
                pool.close_on(cpu);
            }
            1 => return,
            _ => cpu.pause(10_000),
        }
        assert_ne!(pool.try_pop_on(cpu), Err(PopError::Empty));
    });
}

/// A thief is stopped with two jobs, one of which it moves to its own leaf. There are as many jobs as pops, so no pop
/// fails.
fn stopped_while_jobs_move() {
    stopped_before_each_access(pool, |pool, cpu| {
        match cpu.id() {
            0 => {
                (0..3).for_each(|job| pool.push_on(cpu, job).expect("it is open"));
                cpu.pause(20_000);
            }
            1 => cpu.pause(30_000),
            _ => cpu.pause(10_000),
        }
        pool.try_pop_on(cpu).expect("a job for each processor");
    });
}

/// Two processors in turn take out the job that they put in before, and put another in: there is always one inside, though
/// each leaf is empty at times. A third looks for it, puts back what it gets, and must never hear that there is none.
fn empty_only_if_empty_at_once(seed: u64) {
    const TURNS: u64 = 40;
    struct Shared {
        pool: Pool<u32, Sim>,
        turn: Line<SimWord>,
    }
    let setup = || Shared {
        pool: Pool::on_machine(&PoolShape::DEFAULT).expect("a good shape"),
        turn: Line::word::<Sim>(0, Place::named("turn")),
    };
    let body = |Shared { pool, turn }: &Shared, cpu: &SimCpu| {
        let push = |job| pool.push_on(cpu, job).expect("it is open");
        if cpu.id() == 2 {
            turn.wait_while(cpu, Acquire, |turn| turn == 0);
            while turn.load(Acquire) < TURNS {
                push(pool.try_pop_on(cpu).expect("a job is inside"));
            }
            return;
        }
        for mine in (0..TURNS).filter(|turn| turn % 2 == cpu.id() as u64) {
            turn.wait_while(cpu, Acquire, |turn| turn != mine);
            // The third may have both jobs in its hands and leaf.
            while mine > 1 && pool.try_pop_on(cpu).is_err() {}
            push(7);
            turn.store(mine + 1, Release);
        }
    };
    let faults = Faults::none().random_delays(3, 100).random_stalls(3, 30, 2_000);
    let simulation = Simulation::new().processors(3).seed(seed).faults(faults);
    let outcome = simulation.run(setup, body).expect("the simulation can be set up");
    assert_eq!(outcome.end, End::Finished, "seed {seed}");
}

fn trials_of(kind: Kind<Sim>, effort: u64) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut add = |what: &str, check: fn(Kind<Sim>, &str, u64)| {
        let name = format!("queues::{}::{what}", kind.name);
        let trial = name.clone();
        trials.push(passes(name, move || check(kind, &trial, effort)));
    };
    add("same_trace_twice", |kind, _, _| same_trace_twice(kind));
    add("full_speed", |kind, trial, effort| {
        for seed in seeds(210 * effort) {
            full_speed(seed).check_at_random(kind, trial);
        }
    });
    add("disturbed", |kind, trial, effort| {
        for seed in seeds(420 * effort) {
            disturbed(seed).check_at_random(kind, trial);
        }
    });
    add("shared", |kind, trial, effort| {
        for seed in seeds(240 * effort) {
            disturbed(seed).check_shared(kind, trial);
        }
    });
    add("stalled", |kind, trial, effort| {
        for seed in seeds(1500 * effort) {
            stalled(seed).check_in_turn(kind, trial);
        }
    });
    add("disturbed_on_machines", |kind, trial, effort| {
        for machine in presets().iter().map(Preset::spec) {
            for seed in seeds(42 * effort) {
                disturbed_on(&machine, seed).check_at_random(kind, trial);
                disturbed_on(&machine, seed).check_shared(kind, trial);
            }
        }
    });
    if kind.can.survive_halts {
        add("halted", |kind, trial, effort| {
            let halted = |seed| with_halts(seed).check_at_random(kind, trial);
            let halted: Vec<usize> = seeds(840 * effort).filter_map(halted).collect();
            let (runs, halted) = (halted.len(), halted.iter().sum::<usize>());
            assert!(halted >= runs, "{halted} were halted in {runs} runs");
        });
        add("halted_at_every_step", |kind, trial, effort| {
            for seed in seeds(126 * effort) {
                let stops = (1..).take_while(|&access| stopped_at(kind, trial, access, seed));
                assert!(stops.count() < 10_000, "calls are short");
            }
        });
        add("halted_on_machines", |kind, trial, effort| {
            for machine in presets().iter().map(Preset::spec) {
                for seed in seeds(84 * effort) {
                    let run = with_halts(seed);
                    Run { machine: machine.clone(), ..run }.check_at_random(kind, trial);
                }
            }
        });
    }
    trials
}

fn broken_trials() -> Vec<Trial> {
    let promise = "broke its promise";
    let hangs = "did not come to an end";
    let all_seeds = |kind: Kind<Sim>, name: &str| {
        for seed in seeds(400) {
            disturbed(seed).check_at_random(kind, name);
        }
    };
    let name = |kind: &Kind<Sim>| format!("queues::broken::{}", kind.name);
    let mut trials = Vec::new();
    for kind in broken::mistaken().into_iter().chain(broken::racy()) {
        let name = name(&kind);
        trials.push(is_caught(name.clone(), promise, move || all_seeds(kind, &name)));
    }
    for kind in broken::overlapping() {
        let (name, either) = (name(&kind), [promise, hangs]);
        trials.push(is_caught_by_either(name.clone(), either, move || all_seeds(kind, &name)));
    }
    trials.push(is_caught("queues::broken::deaf".into(), hangs, || {
        disturbed(1).check_shared(broken::deaf(), "queues::broken::deaf");
    }));
    // With a lock, or with tickets whose owner must come, a halted processor blocks all others.
    for kind in broken::sound::<_, 4000>().into_iter().filter(|kind| !kind.can.survive_halts) {
        let name = format!("queues::broken::{}-halted", kind.name);
        trials.push(is_caught(name.clone(), hangs, move || {
            for seed in seeds(400) {
                with_halts(seed).check_at_random(kind, &name);
            }
        }));
    }
    trials
}
