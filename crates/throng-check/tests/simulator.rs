//! Hundreds of processors, delayed, stalled and halted: each counter on the simulated machine.
//!
//! A failure names the seed; `Simulation::seed` replays it.

mod broken;
mod harness;

use harness::{is_caught, passes};
use libtest_mimic::Trial;
use throng::counter::diffracting::{
    Adaptive, Balancer, Crowd, Node, Original, SecondChance, Side, StarvationFree, Toggle, Token,
    WaitFree,
};
use throng::counter::{Progress, Registered, Shape, methods};
use throng_check::spec::check_step;
use throng_check::workload::Observed;
use throng_sim::{End, Faults, Outcome, Sim, SimCpu, Simulation};

/// One run of a counter.
#[derive(Clone)]
struct Run {
    processors: usize,
    calls: usize,
    seed: u64,
    shape: Shape,
    faults: Faults,
}

impl Run {
    fn simulation(&self) -> Simulation {
        Simulation::new()
            .processors(self.processors)
            .seed(self.seed)
            .faults(self.faults.clone())
            // A run that works takes a hundredth of this.
            .step_limit(2_000_000)
    }

    fn of(&self, method: Registered<Sim>) -> Outcome<Observed<Sim>, ()> {
        let (shape, calls) = (self.shape, self.calls);
        let setup = move || Observed::new(&method, &shape);
        let outcome = self.simulation().run(setup, move |observed, cpu| observed.count(cpu, calls));
        outcome.expect("the simulation can be set up")
    }

    /// Runs to the end and checks what the counter promises.
    fn check(&self, method: Registered<Sim>) -> Outcome<Observed<Sim>, ()> {
        let outcome = self.of(method);
        let (name, seed) = (method.about.name, self.seed);
        if let Err(violation) = outcome.shared.verdict() {
            panic!("{name} broke its promise: {violation} (seed {seed})");
        }
        assert_eq!(outcome.end, End::Finished, "{name} did not come to an end (seed {seed})");
        outcome
    }
}

/// 256 processors: it counts, and the same seed gives the same trace.
fn same_trace_twice(method: Registered<Sim>) {
    let run = |seed| Run {
        processors: 256,
        calls: 4,
        seed,
        shape: Shape::for_processors(256),
        faults: Faults::none().random_delays(20, 300),
    };
    let (once, again, other) = (run(1).check(method), run(1).check(method), run(2).check(method));
    assert!(once.accesses >= 1024, "every call accesses something");
    assert_eq!(
        (once.trace_hash, once.cycles, once.accesses),
        (again.trace_hash, again.cycles, again.accesses)
    );
    assert_eq!(once.shared.calls(), again.shared.calls());
    assert_ne!(once.trace_hash, other.trace_hash, "another seed, another run");
}

/// Few to many processors, delays at every step, stalls long enough for everyone else to pass.
fn disturbed(seed: u64) -> Run {
    let processors = [3, 5, 8, 17, 40][seed as usize % 5];
    let width = [Some(1), Some(2), Some(4), None][seed as usize % 4];
    let shape =
        Shape { width, spin: 1 << (seed % 6), bank: 2, ..Shape::for_processors(processors) };
    let faults = Faults::none().random_delays(3, 100).random_stalls(processors / 2, 30, 20_000);
    Run { processors, calls: 4, seed, shape, faults }
}

/// Some processors stop for ever, each at a random step.
fn crippled(seed: u64) -> Run {
    let halted = 1 + seed as usize % 3;
    let faults = Faults::none().random_delays(3, 100).random_halts(halted, 25);
    Run { faults, ..disturbed(seed) }
}

/// With processors halted, nothing is counted twice or lost but what the halted may hold; and the
/// others finish if that is promised. (That a wait-free call takes a bounded number of steps is
/// argued in its docs, not checked.)
fn halts(method: Registered<Sim>, seeds: u64) {
    let mut stuck = 0;
    for seed in 0..seeds {
        let outcome = crippled(seed).of(method);
        let name = method.about.name;
        if let Err(violation) = outcome.shared.verdict() {
            panic!("{name} broke its promise: {violation} (seed {seed})");
        }
        if outcome.end != End::Finished {
            stuck += 1;
            let progress = method.about.progress;
            let may_block = progress == Progress::Blocking;
            assert!(may_block, "{name} is not {progress}: {} (seed {seed})", outcome.end);
        }
    }
    if method.about.progress == Progress::Blocking {
        assert!(stuck > 0, "said to block, but never did: is the check blind, or the docs wrong?");
    }
}

/// A bare balancer, without leaves: the tokens that left on either side form a step.
fn balances<B: Balancer<Sim>>(seeds: u64) {
    for seed in 0..seeds {
        let run = disturbed(seed);
        let (spin, calls) = (run.shape.spin, run.calls);
        let node = Node { index: 1, prism: 1 + seed as usize % 3, spin };
        let traverse = move |(balancer, crowd): &(B, Crowd<Sim>), cpu: &SimCpu| -> Vec<Side> {
            let token = Token::new(cpu, crowd);
            (0..calls).map(|_| balancer.traverse(&token)).collect()
        };
        let outcome = run.simulation().run(move || (B::new(node), Crowd::new(2)), traverse);
        let outcome = outcome.expect("the simulation can be set up");
        assert_eq!(outcome.end, End::Finished, "{} (seed {seed})", B::ABOUT.name);
        let exits = outcome.results.into_iter().flatten().flatten().map(|side| side as usize);
        if let Err(violation) = check_step(2, exits) {
            panic!("{} broke its promise: {violation} (seed {seed})", B::ABOUT.name);
        }
    }
}

fn balancer_trial<B: Balancer<Sim>>(seeds: u64) -> Trial {
    passes(format!("{}::balances", B::ABOUT.name), move || balances::<B>(seeds))
}

fn main() {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for method in methods::<Sim>() {
        let name = method.about.name;
        let mut add = |what: &str, check: Box<dyn FnOnce() + Send>| {
            trials.push(passes(format!("{name}::{what}"), check));
        };
        add("same_trace_twice", Box::new(move || same_trace_twice(method)));
        add(
            "disturbed",
            Box::new(move || {
                for seed in 0..1200 * effort {
                    disturbed(seed).check(method);
                }
            }),
        );
        add("halted", Box::new(move || halts(method, 600 * effort)));
    }

    let seeds = 400 * effort;
    trials.extend([
        balancer_trial::<Toggle<Sim>>(seeds),
        balancer_trial::<Original<Sim>>(seeds),
        balancer_trial::<Adaptive<Sim>>(seeds),
        balancer_trial::<SecondChance<Sim>>(seeds),
        balancer_trial::<StarvationFree<Sim>>(seeds),
        balancer_trial::<WaitFree<Sim>>(seeds),
    ]);

    let promise = "broke its promise";
    for method in broken::miscounting::<Sim>() {
        let name = format!("broken::{}", method.about.name);
        trials.push(is_caught(name, promise, move || {
            for seed in 0..400 {
                disturbed(seed).check(method);
            }
        }));
    }
    trials.push(is_caught("broken::no-step".into(), "no step", move || {
        balances::<broken::SplitToggle<Sim>>(100);
    }));
    let turns = Registered::of::<broken::TakesTurns<Sim>>();
    trials.push(is_caught("broken::takes-turns".into(), "is not wait-free", move || {
        halts(turns, 300);
    }));
    harness::run(trials);
}
