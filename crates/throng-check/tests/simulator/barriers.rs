//! Each barrier with up to a hundred members, delayed, stalled, preempted, slowed and halted, on
//! the ideal machine and on a small one of every preset. Also members that leave, and waits that
//! end.

use libtest_mimic::Trial;
use throng::machine::Cpu;
use throng::structures::barrier::{
    Anonymous, FanIn, Flags, Registered, Reinit, Shape, WakeUp, methods,
};
use throng::topology::Topology;
use throng_check::workload::{ObservedEntrance, ObservedMeeting, ObservedTeam, alternating};
use throng_sim::spec::{Preset, presets};
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, SimCpu, Simulation};

use crate::broken::barriers as broken;
use crate::harness::{self, is_caught, passes, seeds};

/// One run of a barrier.
#[derive(Clone)]
struct Run {
    machine: MachineSpec,
    rounds: u64,
    seed: u64,
    shape: Shape,
    faults: Faults,
}

impl Run {
    fn simulation(&self) -> Simulation {
        Simulation::new()
            .machine(self.machine.clone())
            .processors(self.shape.members)
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(2_000_000)
    }

    /// Describes a run that failed; `trial` is the name of the test.
    fn known(&self, trial: &str) -> String {
        let Run { machine, seed, shape, faults, .. } = self;
        let faults = faults.chosen(shape.members, *seed);
        format!(
            "on {}, {shape:?}, seed {seed}, faults: {faults}\nagain: THRONG_SEED={seed} cargo test \
             -p throng-check --test simulator -- --exact {trial}",
            machine.name
        )
    }

    fn of(&self, method: Registered<Sim>) -> Outcome<ObservedMeeting<Sim>, ()> {
        let (shape, rounds) = (self.shape.clone(), self.rounds);
        let setup = move || ObservedMeeting::new(&method, &shape);
        let meet = move |observed: &ObservedMeeting<Sim>, cpu: &SimCpu| {
            observed.meet(cpu, cpu.id(), rounds);
        };
        self.simulation().run(setup, meet).expect("the simulation can be set up")
    }

    /// Runs to the end and checks what the barrier promises.
    fn check(&self, method: Registered<Sim>, trial: &str) -> Outcome<ObservedMeeting<Sim>, ()> {
        let outcome = self.of(method);
        let name = method.about.name;
        if let Err(violation) = outcome.shared.verdict() {
            panic!("{name} broke its promise: {violation}\n{}", self.known(trial));
        }
        if outcome.end != End::Finished {
            panic!("{name} did not come to an end: {}\n{}", outcome.end, self.known(trial));
        }
        outcome
    }

    /// Runs anonymous callers, more of them than seats. Those that are left over must get an error.
    fn check_anonymous(&self, method: Registered<Sim>, visitors: usize, trial: &str) {
        let (shape, rounds) = (self.shape.clone(), self.rounds);
        let outcome = self.simulation().processors(visitors).run(
            move || ObservedEntrance::anonymous(&method, &shape, visitors),
            move |observed, cpu| observed.visit(cpu, cpu.id(), rounds),
        );
        let outcome = outcome.expect("the simulation can be set up");
        let name = method.about.name;
        if let Err(violation) = outcome.shared.verdict() {
            panic!("{name} broke its promise: {violation}\n{}", self.known(trial));
        }
        assert_eq!(outcome.end, End::Finished, "{name}, {}", self.known(trial));
    }

    /// Runs a team, each member of which does `body`, and returns the results.
    fn of_team<R: 'static>(
        &self,
        method: Registered<Sim>,
        trial: &str,
        body: impl Fn(&ObservedTeam<Sim>, &SimCpu) -> R + 'static,
    ) -> Outcome<ObservedTeam<Sim>, R> {
        let shape = self.shape.clone();
        let setup = move || ObservedTeam::new(&method, &shape);
        let outcome = self.simulation().run(setup, body).expect("the simulation can be set up");
        if let Err(violation) = outcome.shared.verdict() {
            let name = method.about.name;
            panic!("{name} broke its promise: {violation}\n{}", self.known(trial));
        }
        outcome
    }
}

/// Returns a run of one to a hundred members, in all kinds of trees, without faults.
fn full_speed(seed: u64) -> Run {
    let members = [1, 2, 3, 5, 7, 13, 33, 64, 100][seed as usize % 9];
    let fan_in = match seed % 5 {
        0 => FanIn::Usual,
        1 => FanIn::Fixed(2),
        2 => FanIn::Fixed(3),
        3 => FanIn::Fullest { least: 3, most: 8 },
        _ => FanIn::Machine { most: 4, topology: Topology::of_groups(&[4, 24]) },
    };
    let is_odd = |bits: u64| (seed / bits) % 2 == 1;
    let shape = Shape::for_members(members)
        .fan_in(fan_in)
        .flags(if is_odd(1) { Flags::Padded } else { Flags::Packed })
        .wake_up(if is_odd(2) { WakeUp::Tree } else { WakeUp::Global })
        .reinit(if is_odd(4) { Reinit::Count } else { Reinit::Clear });
    Run { machine: MachineSpec::ideal(10), rounds: 5, seed, shape, faults: Faults::none() }
}

/// Returns a run with delays at every step, stalls long enough for all others to come round again,
/// and some processors that are slow throughout.
fn disturbed(seed: u64) -> Run {
    let run = full_speed(seed);
    let members = run.shape.members;
    let faults = Faults::none().random_delays(3, 100).random_stalls(members / 2, 30, 20_000);
    let faults = if seed.is_multiple_of(3) { faults.slow(members / 2, 50) } else { faults };
    Run { faults, ..run }
}

/// Returns the same on another machine, with every processor preempted now and then.
fn disturbed_on(machine: &MachineSpec, seed: u64) -> Run {
    let run = disturbed(seed);
    let preempted = Faults::none().random_preemptions(2_000, 5_000);
    Run { machine: machine.clone(), faults: run.faults.clone().and(preempted), ..run }
}

/// A few members come to many rounds. Each stops several times on its way. A stop lasts until all other members come as far as
/// they can without it, and a member that goes on finds flags of the round after.
fn stalled(seed: u64) -> Run {
    let members = [2, 3, 4, 8][seed as usize % 4];
    let run = full_speed(seed);
    let faults = Faults::none().random_delays(30, 500).random_stalls(8, 60, 10_000);
    Run { rounds: 16, shape: run.shape.clone().members(members), faults, ..run }
}

/// The same seed gives the same trace.
fn same_trace_twice(method: Registered<Sim>, trial: &str) {
    let check = |seed| {
        let run = disturbed(8);
        Run { seed, ..run }.check(method, trial)
    };
    let (once, again, other) = (check(8), check(8), check(17));
    assert_eq!((once.trace_hash, once.cycles), (again.trace_hash, again.cycles));
    assert_eq!(once.shared.visits(), again.shared.visits());
    assert_ne!(once.trace_hash, other.trace_hash, "another seed, another run");
}

/// A member is halted without a way out: the others wait for ever, and the run reports it. No
/// member leaves the round that the halted one did not enter. Returns whether a member waited.
fn halted(method: Registered<Sim>, trial: &str, seed: u64) -> bool {
    let run = disturbed(seed);
    let run = Run { faults: run.faults.clone().random_halts(1, 12), ..run };
    let outcome = run.of(method);
    let (name, known) = (method.about.name, run.known(trial));
    if let Err(violation) = outcome.shared.verdict() {
        panic!("{name} broke its promise: {violation}\n{known}");
    }
    match outcome.end {
        End::Stuck { .. } => true,
        // It was to stop at an access that it never made, or was alone, or had nothing left to do
        // but read what the others wrote.
        End::Finished => false,
        end => panic!("{name} is not stuck: {end}\n{known}"),
    }
}

/// A member leaves after some rounds. The others complete the rounds that it entered, and then get
/// an error.
fn one_leaves(method: Registered<Sim>, trial: &str, seed: u64) {
    let run = disturbed(seed);
    let (leaver, rounds) = (seed as usize % run.shape.members, seed % run.rounds);
    let all = run.rounds;
    let outcome = run.of_team(method, trial, move |team, cpu| {
        let mut member = team.member(cpu.id());
        let rounds = if cpu.id() == leaver { rounds } else { all };
        let result = member.meet(cpu, rounds);
        (result.is_ok(), member.member.rounds())
    });
    let known = run.known(trial);
    assert_eq!(outcome.end, End::Finished, "{known}");
    for (rank, result) in outcome.results.into_iter().enumerate() {
        assert_eq!(result, Some((rank == leaver, rounds)), "member {rank}, {known}");
    }
}

/// A member is halted for ever. The others wait until a deadline, and then get an error. Returns
/// whether some did.
fn deadline(method: Registered<Sim>, trial: &str, seed: u64) -> bool {
    const PATIENCE: u64 = 300_000;
    let run = disturbed(seed);
    let members = run.shape.members;
    let dead = seed as usize % members;
    let faults = run.faults.clone().halt_before(dead, 1 + seed % 40);
    let run = Run { faults, ..run };
    let rounds = run.rounds;
    let outcome = run.of_team(method, trial, move |team, cpu| {
        let mut member = team.member(cpu.id());
        (0..rounds).try_for_each(|_| {
            let begun = cpu.clock();
            let result = member.wait_on(cpu, Some(begun + PATIENCE));
            result.map(drop).map_err(|_| cpu.clock() - begun)
        })
    });
    let known = run.known(trial);
    assert_eq!(outcome.end, End::Finished, "{known}");
    let died = !outcome.halted.is_empty();
    let mut told = 0;
    for (rank, result) in outcome.results.into_iter().enumerate() {
        match result {
            Some(Ok(())) => {}
            Some(Err(waited)) => {
                told += 1;
                assert!(died, "member {rank}: no processor died, {known}");
                // A stall or two, and the time between two checks of the way out.
                assert!(waited < 2 * PATIENCE, "member {rank} waited {waited} cycles, {known}");
            }
            None => assert!(died && rank == dead, "member {rank}, {known}"),
        }
    }
    told > 0
}

/// Anonymous callers, more of them than seats. One comes again and again, and gives up when it has
/// to wait for long. All others get an error, also callers that find the seats taken by others that
/// got one before and never free them.
fn one_gives_up(method: Registered<Sim>, trial: &str, seed: u64) {
    let run = disturbed(seed);
    let members = run.shape.members.max(2);
    let run = Run { shape: run.shape.clone().members(members), ..run };
    let visitors = members + 1 + seed as usize % 5;
    let (shape, rounds, with_deadline) = (run.shape.clone(), run.rounds, seed as usize % visitors);
    let outcome = run.simulation().processors(visitors).run(
        move || Anonymous::new(method.build(&shape).expect("a shape that can be")),
        move |barrier, cpu| {
            let mut seat = cpu.id();
            let has_deadline = cpu.id() == with_deadline;
            let deadline = || has_deadline.then(|| cpu.clock() + 1_000);
            let mut meet = || barrier.wait_on(cpu, deadline(), &mut seat).is_ok();
            (0..if has_deadline { u64::MAX } else { rounds }).all(|_| meet())
        },
    );
    let outcome = outcome.expect("the simulation can be set up");
    let (name, known) = (method.about.name, run.known(trial));
    assert!(
        outcome.shared.is_broken() && outcome.results[with_deadline] == Some(false),
        "{name}, {known}"
    );
    assert_eq!(outcome.end, End::Finished, "{name}, {known}");
}

/// One aborts in the middle: no member hangs, and no wrong members meet.
fn aborted(method: Registered<Sim>, trial: &str, seed: u64) {
    let run = disturbed(seed);
    let (aborter, rounds) = (seed as usize % run.shape.members, run.rounds);
    let outcome = run.of_team(method, trial, move |team, cpu| {
        let mut member = team.member(cpu.id());
        let halfway = if cpu.id() == aborter { rounds / 2 } else { rounds };
        let result = member.meet(cpu, halfway);
        if cpu.id() == aborter {
            member.member.abort();
            assert!(member.member.is_broken());
            return member.wait_on(cpu, None).is_err();
        }
        result.is_err()
    });
    let known = run.known(trial);
    assert_eq!(outcome.end, End::Finished, "{known}");
    assert!(outcome.results.iter().all(|&broken| broken == Some(true)), "{known}");
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort() as u64;
    let mut trials = Vec::new();
    for method in methods::<Sim>().into_iter().chain([alternating()]) {
        let mut add = |what: &str, check: fn(Registered<Sim>, &str, u64)| {
            let name = format!("barriers::{}::{what}", method.about.name);
            let trial = name.clone();
            trials.push(passes(name, move || check(method, &trial, effort)));
        };
        add("same_trace_twice", |method, trial, _| same_trace_twice(method, trial));
        add("full_speed", |method, trial, effort| {
            for seed in seeds(240 * effort) {
                full_speed(seed).check(method, trial);
            }
        });
        add("disturbed", |method, trial, effort| {
            for seed in seeds(480 * effort) {
                disturbed(seed).check(method, trial);
            }
        });
        add("stalled", |method, trial, effort| {
            for seed in seeds(200 * effort) {
                let run = stalled(seed);
                run.check(method, trial);
                run.check_anonymous(method, run.shape.members + seed as usize % 3, trial);
            }
        });
        add("disturbed_on_machines", |method, trial, effort| {
            for machine in presets().iter().map(Preset::spec) {
                for seed in seeds(48 * effort) {
                    disturbed_on(&machine, seed).check(method, trial);
                }
            }
        });
        add("anonymous", |method, trial, effort| {
            for seed in seeds(240 * effort) {
                let run = disturbed(seed);
                let members = run.shape.members;
                run.check_anonymous(method, members + [0, 1, members][seed as usize % 3], trial);
            }
        });
        add("halted", |method, trial, effort| {
            let stuck = seeds(240 * effort).filter(|&seed| halted(method, trial, seed)).count();
            let tried = seeds(240 * effort).count();
            assert!(tried == 1 || stuck > tried / 2, "{stuck} of {tried} runs were stuck");
        });
        add("one_leaves", |method, trial, effort| {
            seeds(180 * effort).for_each(|seed| one_leaves(method, trial, seed));
        });
        add("deadline", |method, trial, effort| {
            let told = seeds(180 * effort).filter(|&seed| deadline(method, trial, seed)).count();
            let tried = seeds(180 * effort).count();
            assert!(tried == 1 || told > tried / 2, "{told} of {tried} runs ended with an error");
        });
        add("one_gives_up", |method, trial, effort| {
            seeds(90 * effort).for_each(|seed| one_gives_up(method, trial, seed));
        });
        add("aborted", |method, trial, effort| {
            seeds(180 * effort).for_each(|seed| aborted(method, trial, seed));
        });
    }
    trials.extend(broken_trials());
    trials
}

fn broken_trials() -> Vec<Trial> {
    // One word has the flags of all members, and one step must be too few.
    let run = |seed| {
        let members = [3, 5, 9, 17][seed as usize % 4];
        let run = disturbed(seed);
        let faults = Faults::none().random_delays(3, 100).random_stalls(members / 2, 30, 20_000);
        Run { shape: run.shape.clone().members(members), faults, ..run }
    };
    let caught = |method: Registered<Sim>, words| {
        let name = format!("barriers::broken::{}", method.about.name);
        is_caught(name.clone(), words, move || {
            for seed in seeds(400) {
                run(seed).check(method, &name);
            }
        })
    };
    let caught_stalled = |method: Registered<Sim>, words| {
        let name = format!("barriers::broken::{}::stalled", method.about.name);
        is_caught(name.clone(), words, move || {
            for seed in seeds(400) {
                let run = stalled(seed);
                // With two members one step is enough.
                let shape = run.shape.clone().members(run.shape.members.max(3));
                Run { shape, ..run }.check(method, &name);
            }
        })
    };
    let mut trials: Vec<Trial> = broken::hanging()
        .into_iter()
        .map(|method| caught(method, "did not come to an end"))
        .collect();
    let stops_short = Registered::of::<broken::StopsShort<Sim>>();
    trials.push(caught_stalled(stops_short, "broke its promise: a member left"));
    trials.push(caught(stops_short, "broke its promise: a member left"));
    let sound = Registered::of::<broken::CountsDown<Sim, { broken::SOUND }>>();
    let name = "barriers::broken::but-for-its-faults::figure-14";
    trials.push(passes(name.into(), move || {
        for seed in seeds(400) {
            run(seed).check(sound, name);
        }
    }));
    trials.push(is_caught("barriers::broken::two-leaders".into(), "had 2 leaders", move || {
        for seed in seeds(400) {
            let run = run(seed);
            let members = run.shape.members;
            let outcome = run.simulation().run(
                move || {
                    let entrance = Box::new(broken::TwoLeaders::<Sim>::new(members));
                    ObservedEntrance::new("two-leaders", entrance, members)
                },
                |observed, cpu| observed.visit(cpu, cpu.id(), 4),
            );
            outcome.expect("the simulation can be set up").shared.assert_kept();
        }
    }));
    trials
}
