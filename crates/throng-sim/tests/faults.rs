//! Preemptions cost the time they should, and schedules can be written down.

use throng::machine::Cpu;
use throng::structures::counter::{Counting, Registered, Shape, methods};
use throng_sim::{Faults, Outcome, Sim, SimCpu, Simulation};

const PROCESSORS: usize = 12;

fn method(name: &str) -> Registered<Sim> {
    methods().into_iter().find(|method| method.about.name == name).unwrap()
}

/// Every processor counts 20 times, and thinks in between.
fn count(name: &str, seed: u64, faults: Faults) -> Outcome<Counter, ()> {
    let method = method(name);
    let setup = move || method.build(&Shape::for_processors(PROCESSORS)).unwrap();
    // Processors that wait for a halted one may retry for ever.
    let simulation = Simulation::new().processors(PROCESSORS).step_limit(100_000);
    simulation.seed(seed).faults(faults).run(setup, count_and_think).unwrap()
}

type Counter = Box<dyn Counting<Sim>>;

fn count_and_think(counter: &Counter, cpu: &SimCpu) {
    for _ in 0..20 {
        counter.next_on(cpu);
        cpu.pause(30);
    }
}

/// How long one processor takes that pauses three times for 100 cycles and retries once.
fn pauses(faults: Faults) -> u64 {
    let body = |_: &(), cpu: &_| {
        (0..3).for_each(|_| Cpu::pause(cpu, 100));
        Cpu::retry(cpu, 0);
    };
    Simulation::new().faults(faults).run(|| (), body).unwrap().cycles
}

#[test]
fn a_processor_that_pauses_or_retries_is_preempted_too() {
    let plain = pauses(Faults::none());
    assert_eq!(pauses(Faults::none().preempt(0, 0, 7)), plain + 7);
    assert_eq!(pauses(Faults::none().preempt(0, 150, 7)), plain + 7, "at the third pause");
    assert_eq!(pauses(Faults::none().preempt(0, 300, 7)), plain + 7, "at the retry");
    assert_eq!(pauses(Faults::none().preempt(0, 301, 7)), plain, "too late");
    let both = Faults::none().preempt(0, 0, 1000).preempt(0, 1, 50);
    assert_eq!(pauses(both), plain + 1050);
}

#[test]
fn random_preemptions_slow_everyone_and_are_the_same_for_the_same_seed() {
    let shared = || Faults::none().random_preemptions(300, 5000);
    let (once, again) = (count("hardware", 5, shared()), count("hardware", 5, shared()));
    assert_eq!(once.trace_hash, again.trace_hash);
    assert_ne!(once.trace_hash, count("hardware", 6, shared()).trace_hash);
    let quiet = count("hardware", 5, Faults::none());
    assert!(once.cycles > quiet.cycles + 5000, "{} {}", once.cycles, quiet.cycles);
}

#[test]
fn a_schedule_found_by_a_seed_can_be_written_down_and_replayed() {
    let faults = Faults::none()
        .random_halts(2, 60)
        .random_delays(5, 90)
        .random_stalls(6, 100, 700)
        .random_preemptions(400, 300);
    for name in ["hardware", "diffracting", "combining-tree"] {
        for seed in 0..20 {
            let found = count(name, seed, faults.clone());
            let written = faults.chosen(PROCESSORS, seed).to_string();
            let replayed = count(name, seed, written.parse().unwrap());
            assert_eq!(replayed.trace_hash, found.trace_hash, "{name}, seed {seed}: {written}");
            assert_eq!(replayed.halted, found.halted);
            assert!(!written.contains("any"), "{written}");
        }
    }
}
