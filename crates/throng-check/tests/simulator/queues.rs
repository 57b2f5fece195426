//! Each queue with up to 64 processors, slowed, delayed, stalled, preempted, halted and killed, on the
//! ideal machine and on a small one of every preset.

use std::sync::atomic::Ordering::{Acquire, Release};

use libtest_mimic::Trial;
use throng::machine::{Cpu, Line, Place, Word};
use throng::pool::{Pool, PoolShape, Queue, QueueShape};
use throng_check::workload::{ForcedQueue, Kind, ObservedQueue, Step, kinds, program};
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
            .step_limit(10_000_000)
    }

    /// What there is to know about a run that failed: `trial` is the name of the test.
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

    /// What each processor does, when all do what they like.
    fn programs(&self, kind: Kind<Sim>) -> Vec<Vec<Step>> {
        let program = |id| program(kind.can, self.waits, self.seed, id, self.steps);
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

    /// Runs it, and checks that all come to an end but those who were halted, and what it promises.
    /// Tells how many were, if anybody could be.
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
        // Where nothing was accessed, nobody could be.
        (outcome.accesses > 0).then_some(killed)
    }

    /// All do what they like.
    fn check_at_random(&self, kind: Kind<Sim>, trial: &str) -> Option<usize> {
        let programs = self.programs(kind);
        self.check(kind, trial, move |observed, cpu| {
            observed.perform(cpu, cpu.id(), &programs[cpu.id()]);
        })
    }

    /// All push and pop in turn.
    fn check_in_turn(&self, kind: Kind<Sim>, trial: &str) {
        self.check(kind, trial, |observed, cpu| {
            let mut both = [Step::TryPush, Step::TryPop];
            both.rotate_left(cpu.id() % 2);
            observed.perform(cpu, cpu.id(), &both.repeat(6));
        });
    }

    /// Some push, the others wait for items until it is closed.
    fn check_shared(&self, kind: Kind<Sim>, trial: &str) {
        let producers = 1 + self.seed as usize / 7 % (self.processors - 1);
        let consumers = self.processors - producers;
        // All shares are alike, where it cannot be closed.
        let each = if kind.can.be_closed { 1 + 60 / self.processors } else { consumers };
        self.check(kind, trial, move |observed, cpu| {
            observed.share(cpu, cpu.id(), producers, each)
        });
    }
}

/// Two to 64 processors, all sizes of queues; nothing goes wrong.
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

/// Delays at every step, stalls long enough for everyone else to pass, and one that is slow throughout.
fn disturbed(seed: u64) -> Run {
    let run = full_speed(seed);
    let faults = Faults::none().random_delays(3, 100).random_stalls(run.processors / 2, 60, 20_000);
    let slow = seed as usize % run.processors;
    let faults = if seed.is_multiple_of(4) { faults.slow(slow, 50) } else { faults };
    Run { faults, ..run }
}

/// The same on another machine, with every processor preempted now and then.
fn disturbed_on(machine: &MachineSpec, seed: u64) -> Run {
    let run = disturbed(seed);
    let preempted = Faults::none().random_preemptions(2_000, 5_000);
    Run { machine: machine.clone(), faults: run.faults.clone().and(preempted), ..run }
}

/// Eight take turns in pushing and popping, and stop so long in the middle that consumers go without their
/// items, several at a time, and the memory around them is given back. (An item was lost when one had gone,
/// was made up for by its producer, and had not yet been counted.)
fn hasty(seed: u64) -> Run {
    let faults = Faults::none().random_delays(30, 500).random_stalls(8, 60, 10_000);
    Run { processors: 8, capacity: None, block: 1, waits: false, faults, ..full_speed(seed) }
}

/// Some stop for ever in the middle of what they do; nobody waits. What the halted have in their hands
/// may be missing, an item each; all others come to their end.
fn crippled(seed: u64) -> Run {
    let run = Run { waits: false, ..full_speed(seed) };
    let most = if seed.is_multiple_of(2) { 1 } else { run.processors / 2 };
    let halts = Faults::none().random_delays(3, 100).random_halts(most, 5 + seed % 40);
    Run { faults: halts, ..run }
}

/// One of three stops for ever before its `access`-th access; nobody waits. Tells whether it came so far.
fn stopped_at(kind: Kind<Sim>, trial: &str, access: u64, seed: u64) -> bool {
    let run = Run { processors: 3, steps: 8, waits: false, ..full_speed(seed) };
    let halt = Faults::none().random_delays(2, 60).halt_before(seed as usize % 3, access);
    Run { faults: halt, ..run }.check_at_random(kind, trial).is_some_and(|halted| halted > 0)
}

/// The same seed gives the same trace.
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
        // Tickets are not for those who wait: where a push is slow enough, pops that come again and again
        // spoil all its slots.
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
    trials.push(passes("queues::pool::empty_only_if_empty_at_once".into(), move || {
        seeds(300 * effort).for_each(empty_only_if_empty_at_once);
    }));
    trials.extend(broken_trials());
    trials
}

/// All force items in, push and pop; delayed and stalled, but not halted.
fn forced(seed: u64, setup: impl Fn(usize) -> ForcedQueue<Sim> + 'static) {
    let run = disturbed(seed);
    let processors = run.processors;
    let body = |forced: &ForcedQueue<Sim>, cpu: &SimCpu| forced.perform(cpu, cpu.id(), 4);
    let outcome = run.simulation().run(move || setup(processors), body);
    let outcome = outcome.expect("the simulation can be set up");
    assert_eq!(outcome.end, End::Finished, "seed {seed}");
    outcome.shared.settle(&SimCpu::outside(0));
}

/// A `try_` call that no other thread disturbs takes a bounded number of accesses, whatever a halted processor
/// has left behind; and without one, a dozen.
fn steps_of_a_call_alone() {
    /// Twice the polls for a stopped call, and what the call itself needs.
    const MOST: u64 = 2 * 128 + 100;
    for capacity in [None, Some(1), Some(2), Some(16)] {
        for calls in 1..12 {
            // The first processor stops before its last access at every place.
            for stop in 0..60 {
                let accesses = |probes: usize| {
                    let shape = QueueShape { capacity, ..QueueShape::UNBOUNDED };
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

/// When all calls are over, however they disturbed each other, a push and a pop take as few accesses as ever: nothing
/// that was left is still to be looked for.
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
    add("hasty", |kind, trial, effort| {
        for seed in seeds(1500 * effort) {
            hasty(seed).check_in_turn(kind, trial);
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
            let halted = |seed| crippled(seed).check_at_random(kind, trial);
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
                    let run = crippled(seed);
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
    // With a lock, or with tickets whose owner must come, one who is halted holds up all others.
    for kind in broken::sound::<_, 4000>().into_iter().filter(|kind| !kind.can.survive_halts) {
        let name = format!("queues::broken::{}-halted", kind.name);
        trials.push(is_caught(name.clone(), hangs, move || {
            for seed in seeds(400) {
                crippled(seed).check_at_random(kind, &name);
            }
        }));
    }
    trials
}
