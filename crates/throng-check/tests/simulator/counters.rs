//! Hundreds of processors, delayed, stalled, preempted and halted: each counter on the ideal machine,
//! and on a small one of every preset.
//!
//! A failure names the seed, the faults that it chose, and the command that replays it:
//! `THRONG_SEED=17 cargo test -p throng-check --test simulator -- --exact hardware::disturbed`.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::counter::diffracting::{
    Adaptive, Balancer, Locations, Node, Original, SecondChance, Side, StarvationFree, Toggle,
    Token, WaitFree,
};
use throng::structures::counter::{
    Builder, Counter, Counting, Funnel, FunnelShape, Progress, ReactiveTree, Registered, Shape,
    methods,
};
use throng_check::history::Recorder;
use throng_check::spec::{check_counting, check_step};
use throng_check::workload::Observed;
use throng_sim::spec::{Preset, presets};
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, SimCpu, Simulation};

use crate::broken::counters as broken;
use crate::harness::{self, is_caught, passes, seeds};

const STEP_LIMIT: u64 = 2_000_000;

/// One run of a counter.
#[derive(Clone)]
struct Run {
    machine: MachineSpec,
    processors: usize,
    calls: usize,
    seed: u64,
    shape: Shape,
    faults: Faults,
    /// A run that works takes a hundredth of this.
    step_limit: u64,
}

impl Run {
    fn simulation(&self) -> Simulation {
        Simulation::new()
            .machine(self.machine.clone())
            .processors(self.processors)
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(self.step_limit)
    }

    /// Describes a run that failed; `trial` is the name of the test.
    fn known(&self, trial: &str) -> String {
        let Run { processors, seed, faults, .. } = self;
        let (machine, faults) = (&self.machine.name, faults.chosen(*processors, *seed));
        format!(
            "on {machine}, {processors} processors, seed {seed}, faults: {faults}\nagain: \
             THRONG_SEED={seed} cargo test -p throng-check --test simulator -- --exact {trial}"
        )
    }

    fn of(&self, method: Registered<Sim>) -> Outcome<Observed<Sim>, ()> {
        let (shape, calls) = (self.shape, self.calls);
        let setup = move || Observed::new(&method, &shape);
        let outcome = self.simulation().run(setup, move |observed, cpu| observed.count(cpu, calls));
        outcome.expect("the simulation can be set up")
    }

    /// Runs to the end and checks what the counter promises.
    fn check(&self, method: Registered<Sim>, trial: &str) -> Outcome<Observed<Sim>, ()> {
        let outcome = self.of(method);
        self.check_numbers(method, &outcome, trial);
        if outcome.end != End::Finished {
            let name = method.about.name;
            panic!("{name} did not come to an end: {}\n{}", outcome.end, self.known(trial));
        }
        outcome
    }

    fn check_numbers(
        &self,
        method: Registered<Sim>,
        outcome: &Outcome<Observed<Sim>, ()>,
        trial: &str,
    ) {
        if let Err(violation) = outcome.shared.verdict() {
            let name = method.about.name;
            panic!("{name} broke its promise: {violation}\n{}", self.known(trial));
        }
    }
}

/// Runs 256 processors: it counts, and the same seed gives the same trace.
fn same_trace_twice(method: Registered<Sim>, trial: &str) {
    let run = |seed| Run {
        machine: MachineSpec::ideal(10),
        processors: 256,
        calls: 4,
        seed,
        shape: Shape::for_processors(256),
        faults: Faults::none().random_delays(20, 300),
        step_limit: STEP_LIMIT,
    };
    let check = |seed| run(seed).check(method, trial);
    let (once, again, other) = (check(1), check(1), check(2));
    assert!(once.accesses >= 1024, "every call accesses something");
    assert_eq!(
        (once.trace_hash, once.cycles, once.accesses),
        (again.trace_hash, again.cycles, again.accesses)
    );
    assert_eq!(once.shared.calls(), again.shared.calls());
    assert_ne!(once.trace_hash, other.trace_hash, "another seed, another run");
}

/// Returns a run of few to many processors, with delays at every step, and stalls long enough for
/// all others to pass.
fn disturbed(seed: u64) -> Run {
    let processors = [3, 5, 8, 17, 40][seed as usize % 5];
    let width = [Some(1), Some(2), Some(4), None][seed as usize % 4];
    let patience = [0, 0, 1, 3, 80][seed as usize % 7 % 5];
    let usual = Shape::for_processors(processors);
    let shape = usual.width(width).spin(1 << (seed % 6)).bank(2).patience(patience);
    let faults = Faults::none().random_delays(3, 100).random_stalls(processors / 2, 30, 20_000);
    let machine = MachineSpec::ideal(10);
    Run { machine, processors, calls: 4, seed, shape, faults, step_limit: STEP_LIMIT }
}

/// Returns the same on a machine on which some accesses are much slower than others, with every
/// processor preempted now and then.
fn disturbed_on(machine: &MachineSpec, seed: u64) -> Run {
    let run = disturbed(seed);
    let preempted = Faults::none().random_preemptions(2_000, 5_000);
    Run { machine: machine.clone(), faults: run.faults.clone().and(preempted), ..run }
}

/// Eight processors count with a counter that changes all the time if it ever does. Each stops several times in the
/// middle of a call. A stop lasts longer than the others need to change the counter and go on.
fn stalled(seed: u64) -> Run {
    let width = [2, 4, 8][seed as usize % 3];
    let shape = Shape::tiny(8, width).spin(1 << (seed % 4)).bank(1 + seed as usize % 3).patience(0);
    let faults = Faults::none().random_delays(30, 500).random_stalls(8, 60, 10_000);
    Run { processors: 8, calls: 12, shape, faults, ..disturbed(seed) }
}

/// Some processors of such a machine stop for ever.
fn with_halts_on(machine: &MachineSpec, seed: u64) -> Run {
    // Without caches, processors that wait for ever poll for ever.
    Run { machine: machine.clone(), step_limit: 200_000, ..with_halts(seed) }
}

/// Returns a run in which some processors halt for ever, each at a random step.
fn with_halts(seed: u64) -> Run {
    let halted = 1 + seed as usize % 3;
    let faults = Faults::none().random_delays(3, 100).random_halts(halted, 25);
    Run { faults, ..disturbed(seed) }
}

/// With processors halted, nothing is counted twice, and only what the halted processors may hold
/// is lost. The others finish if that is promised. (That a wait-free call takes a bounded number of
/// steps is argued in its docs, not checked.)
fn halts(method: Registered<Sim>, trial: &str, runs: impl Iterator<Item = Run>) {
    let (mut stuck, mut tried) = (0, 0);
    for run in runs {
        let outcome = run.of(method);
        run.check_numbers(method, &outcome, trial);
        tried += 1;
        if outcome.end != End::Finished {
            stuck += 1;
            let (name, progress) = (method.about.name, method.about.progress);
            let may_block = progress == Progress::Blocking;
            assert!(may_block, "{name} is not {progress}: {}\n{}", outcome.end, run.known(trial));
        }
    }
    if method.about.progress == Progress::Blocking && tried > 1 {
        assert!(stuck > 0, "said to block, but never did: is the check blind, or the docs wrong?");
    }
}

/// A reactive tree that changes with nearly every call. A stall lasts until it has changed many
/// times before a processor continues. It counts, and everything possible happens: nodes are folded
/// and unfolded on every level, and counters that were behind are drained.
fn changes_all_the_time(effort: u64) {
    let trial = "reactive::changes_all_the_time";
    let method = Registered::of::<ReactiveTree<Sim>>();
    let (mut folded, mut unfolded, mut drained) = ([0; 8], [0; 8], 0);
    for seed in seeds(60 * effort) {
        let processors = [4, 9, 25][seed as usize % 3];
        let width = [2, 4, 8][seed as usize / 3 % 3];
        let run = Run {
            processors,
            calls: 30,
            shape: Shape::tiny(processors, width).spin(4),
            faults: Faults::none().random_delays(5, 200).random_stalls(processors / 2, 600, 50_000),
            ..disturbed(seed)
        };
        let notes = run.check(method, trial).notes;
        for node in 1..8 {
            folded[node] += notes.count("folded", node);
            unfolded[node] += notes.count("unfolded", node);
        }
        drained += (2..16).map(|node| notes.count("drained", node)).sum::<u64>();
    }
    if seeds(2).count() > 1 {
        let often = |counts: [u64; 8]| counts[1..].iter().all(|&count| count > 100);
        assert!(often(folded) && often(unfolded), "folded {folded:?}, unfolded {unfolded:?}");
        assert!(drained > 100, "{drained} drained");
    }
}

/// A counter that changes its shape after every number. A stall lasts until it has changed
/// hundreds of times before a processor continues, and some processors halt for ever. It counts,
/// and it has every depth hundreds of times in a run.
fn counter_changes_all_the_time(effort: u64) {
    let trial = "counter::changes_all_the_time";
    let method = Registered::of::<Counter<Sim>>();
    let mut depths = [0; 3];
    for seed in seeds(60 * effort) {
        let processors = [4, 9, 25][seed as usize % 3];
        let stalls = Faults::none().random_delays(5, 200);
        let run = Run {
            processors,
            calls: 60,
            shape: Shape::tiny(processors, 8).bank(1 + seed as usize % 3),
            faults: stalls.clone().random_stalls(processors / 2, 600, 50_000),
            ..disturbed(seed)
        };
        let notes = run.check(method, trial).notes;
        let looks = [0, 1, 2].map(|depth| notes.count("looked at depth", depth));
        assert!(looks.iter().sum::<u64>() > 50, "{looks:?}\n{}", run.known(trial));
        (0..3).for_each(|depth| depths[depth] += looks[depth]);

        let with_halts = Run { faults: stalls.random_halts(2, 400), ..run };
        with_halts.check_numbers(method, &with_halts.of(method), trial);
    }
    if seeds(2).count() > 1 {
        assert!(depths.iter().all(|&looks| looks > 500), "{depths:?}");
    }
}

/// On a machine on which groups pay off, many processors come, and all but one go. The counter
/// becomes groups and then one word again, and counts throughout.
fn a_crowd_comes_and_goes(effort: u64) {
    let server = MachineSpec::preset("server").expect("it comes with the simulator");
    for seed in seeds(4 * effort) {
        let processors = [16, 32, 40, 64][seed as usize % 4];
        let setup = || (Builder::default().on_machine::<Sim>(), Recorder::default());
        let body = |(counter, recorder): &(Counter<Sim>, Recorder), cpu: &SimCpu| {
            let count = |calls| {
                for _ in 0..calls {
                    recorder.call(|| counter.next_on(cpu));
                }
                counter.stats()
            };
            let crowded = count(1500);
            (crowded, if cpu.id() == 0 { count(60_000) } else { crowded })
        };
        let simulation = Simulation::new().machine(server.clone()).processors(processors);
        let outcome = simulation.seed(seed).run(setup, body).expect("the simulation can be set up");
        let known = format!("{processors} processors, seed {seed}");
        assert_eq!(outcome.end, End::Finished, "{known}");
        if let Err(violation) = check_counting(&outcome.shared.1.calls()) {
            panic!("counter broke its promise: {violation}, {known}");
        }
        let (crowded, alone) = outcome.results[0].expect("it came to its end");
        assert!(crowded.levels.depth() > 0, "{crowded:?}, {known}");
        assert_eq!(alone.levels.depth(), 0, "{alone:?}, {known}");
    }
}

/// Checks a bare balancer, without leaves: the tokens that left on either side form a step.
fn balances<B: Balancer<Sim>>(count: u64) {
    let trial = format!("{}::balances", B::ABOUT.name);
    for seed in seeds(count) {
        let run = disturbed(seed);
        let (spin, calls) = (run.shape.spin, run.calls);
        let node = Node::new(1, 1 + seed as usize % 3, spin);
        let traverse =
            move |(balancer, locations): &(B, Locations<Sim>), cpu: &SimCpu| -> Vec<Side> {
                let token = Token::new(cpu, locations);
                (0..calls).map(|_| balancer.traverse(&token)).collect()
            };
        let outcome = run.simulation().run(move || (B::new(node), Locations::new(2)), traverse);
        let outcome = outcome.expect("the simulation can be set up");
        assert_eq!(outcome.end, End::Finished, "{}", run.known(&trial));
        let exits = outcome.results.into_iter().flatten().flatten().map(|side| side as usize);
        if let Err(violation) = check_step(2, exits) {
            panic!("{} broke its promise: {violation}\n{}", B::ABOUT.name, run.known(&trial));
        }
    }
}

fn balancer_trial<B: Balancer<Sim>>(count: u64) -> Trial {
    passes(format!("{}::balances", B::ABOUT.name), move || balances::<B>(count))
}

/// Stops a caller of a funnel at any two steps of its call, while the other one uses all banks again and again.
///
/// At the first stop its batch is published and disappears from the board. Then it looks for the batch in a bank.
fn a_slow_caller_of_a_funnel_finds_its_bank() {
    const STEPS: u64 = 24;
    /// As long as two to four calls of the other.
    const SHORT: u64 = 500;
    const LONG: u64 = 1_000_000;
    for (first, second) in (2..STEPS).flat_map(|first| (first + 1..=STEPS).map(move |s| (first, s)))
    {
        for leader in 2..5 {
            // The leader stops before it counts its batch, so that the other's ticket is in it.
            let faults = Faults::none().stall(0, leader, SHORT);
            let faults = faults.stall(1, first, SHORT).stall(1, second, LONG);
            let simulation = Simulation::new()
                .machine(MachineSpec::ideal(10))
                .processors(2)
                .faults(faults)
                .step_limit(STEP_LIMIT);
            let setup = || {
                let shape = FunnelShape::of_aggregators(1).bank(1);
                let funnel = Funnel::<Sim>::on_machine(shape).expect("a shape that can be");
                (funnel, Recorder::default())
            };
            let body = |(funnel, recorder): &(Funnel<Sim>, Recorder), cpu: &SimCpu| {
                for _ in 0..if cpu.id() == 0 { 16 } else { 1 } {
                    recorder.call(|| funnel.next_on(cpu));
                }
            };
            let outcome = simulation.run(setup, body).expect("the simulation can be set up");
            assert_eq!(outcome.end, End::Finished);
            if let Err(violation) = check_counting(&outcome.shared.1.calls()) {
                panic!("{violation}: stopped at steps {leader}, {first} and {second}");
            }
        }
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for method in methods::<Sim>() {
        let mut add = |what: &str, check: fn(Registered<Sim>, &str, u64)| {
            let name = format!("{}::{what}", method.about.name);
            let trial = name.clone();
            trials.push(passes(name, move || check(method, &trial, effort)));
        };
        add("same_trace_twice", |method, trial, _| same_trace_twice(method, trial));
        add("disturbed", |method, trial, effort| {
            for seed in seeds(800 * effort) {
                disturbed(seed).check(method, trial);
            }
        });
        add("stalled", |method, trial, effort| {
            for seed in seeds(400 * effort) {
                stalled(seed).check(method, trial);
            }
        });
        add("halted", |method, trial, effort| {
            halts(method, trial, seeds(400 * effort).map(with_halts));
        });
        add("disturbed_on_machines", |method, trial, effort| {
            for machine in presets().iter().map(Preset::spec) {
                for seed in seeds(200 * effort) {
                    disturbed_on(&machine, seed).check(method, trial);
                }
            }
        });
        add("halted_on_machines", |method, trial, effort| {
            for machine in presets().iter().map(Preset::spec) {
                halts(method, trial, seeds(100 * effort).map(|seed| with_halts_on(&machine, seed)));
            }
        });
    }

    let changes = move || changes_all_the_time(effort);
    trials.push(passes("reactive::changes_all_the_time".into(), changes));
    let changes = move || counter_changes_all_the_time(effort);
    trials.push(passes("counter::changes_all_the_time".into(), changes));
    let comes_and_goes = move || a_crowd_comes_and_goes(effort);
    trials.push(passes("counter::a_crowd_comes_and_goes".into(), comes_and_goes));

    let name = "funnel::a_slow_caller_finds_its_bank";
    trials.push(passes(name.into(), a_slow_caller_of_a_funnel_finds_its_bank));

    let count = 400 * effort;
    trials.extend([
        balancer_trial::<Toggle<Sim>>(count),
        balancer_trial::<Original<Sim>>(count),
        balancer_trial::<Adaptive<Sim>>(count),
        balancer_trial::<SecondChance<Sim>>(count),
        balancer_trial::<StarvationFree<Sim>>(count),
        balancer_trial::<WaitFree<Sim>>(count),
    ]);

    let promise = "broke its promise";
    for method in broken::miscounting::<Sim>() {
        let name = format!("broken::{}", method.about.name);
        trials.push(is_caught(name.clone(), promise, move || {
            for seed in seeds(400) {
                disturbed(seed).check(method, &name);
            }
        }));
        let name = format!("broken_stalled::{}", method.about.name);
        trials.push(is_caught(name.clone(), promise, move || {
            for seed in seeds(400) {
                stalled(seed).check(method, &name);
            }
        }));
        let name = format!("broken_on_machines::{}", method.about.name);
        trials.push(is_caught(name.clone(), promise, move || {
            for seed in seeds(400) {
                for machine in presets().iter().map(Preset::spec) {
                    disturbed_on(&machine, seed).check(method, &name);
                }
            }
        }));
    }
    trials.push(is_caught("broken::no-step".into(), "no step", move || {
        balances::<broken::SplitToggle<Sim>>(100);
    }));
    let turns = Registered::of::<broken::TakesTurns<Sim>>();
    let name = "broken::takes-turns";
    trials.push(is_caught(name.into(), "is not wait-free", move || {
        halts(turns, name, seeds(300).map(with_halts));
    }));
    trials
}
