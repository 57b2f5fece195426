//! Measures the number of accesses simulated in a second of real time.
//!
//! `cargo run --release -p throng-sim --example speed`. Add `smoke` to run it small.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Instant;

use throng::machine::{Cpu, Line, Place, Word};
use throng::structures::counter::{Shape, methods};
use throng_sim::{End, Faults, MachineSpec, Sim, SimCpu, SimWord, Simulation};

type Words = Vec<Line<SimWord>>;

/// Returns `count` words, each on its own line.
fn words(count: usize) -> Words {
    let place = Place::named("word");
    (0..count).map(|i| Line::word::<Sim>(0, place.index(i))).collect()
}

/// All processors add to the same word.
fn one_word(words: &Words, _cpu: &SimCpu, rounds: u64) {
    for _ in 0..rounds {
        words[0].fetch_add(1, Relaxed);
    }
}

/// All processors add to words drawn at random.
fn random_words(words: &Words, cpu: &SimCpu, rounds: u64) {
    for _ in 0..rounds {
        words[cpu.random_below(words.len())].fetch_add(1, Relaxed);
    }
}

/// A token goes around: each processor waits for its word and then writes its neighbour's.
fn ring(words: &Words, cpu: &SimCpu, rounds: u64) {
    let next = (cpu.id() + 1) % words.len();
    for round in 1..=rounds {
        if cpu.id() != 0 || round != 1 {
            words[cpu.id()].wait_while(cpu, Acquire, |v| v < round);
        }
        words[next].store(round + u64::from(next == 0), Release);
    }
}

/// All processors count, by a method of the library, on a machine with caches.
fn measure_counter(
    machine: &str,
    method: &str,
    width: Option<usize>,
    processors: usize,
    values: u64,
) {
    let spec = MachineSpec::preset(machine).expect("a preset");
    let method = methods::<Sim>().into_iter().find(|m| m.about.name == method).expect("a method");
    let shape = Shape::for_processors(processors).width(width);
    let simulation = Simulation::new().machine(spec).processors(processors).step_limit(u64::MAX);
    let run = || {
        let start = Instant::now();
        let outcome = simulation
            .run(
                move || method.build(&shape).expect("a sound shape"),
                move |counter, cpu| while counter.next_on(cpu) < values {},
            )
            .expect("a sound simulation");
        assert_eq!(outcome.end, End::Finished);
        outcome.accesses as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    let best = (0..3).map(|_| run()).fold(0.0, f64::max);
    let width = width.map_or(String::new(), |width| format!(" of {width}"));
    let name = format!("{machine}, {}{width}", method.about.name);
    println!("{name:<36} {processors:>6} processors {best:>8.1} M accesses/s");
}

fn measure(
    name: &str,
    processors: usize,
    accesses: u64,
    faults: Faults,
    body: fn(&Words, &SimCpu, u64),
) {
    let rounds = (accesses / processors as u64).max(1);
    let simulation = Simulation::new().processors(processors).step_limit(u64::MAX).faults(faults);
    let run = || {
        let start = Instant::now();
        let outcome = simulation
            .run(move || words(processors), move |w, cpu| body(w, cpu, rounds))
            .expect("a sound simulation");
        assert_eq!(outcome.end, End::Finished);
        outcome.accesses as f64 / start.elapsed().as_secs_f64() / 1e6
    };
    let best = (0..3).map(|_| run()).fold(0.0, f64::max);
    println!("{name:<36} {processors:>6} processors {best:>8.1} M accesses/s");
}

/// Runs many small simulations, as checks do: one for each seed.
fn measure_seeds(processors: usize, seeds: u64) {
    let start = Instant::now();
    for seed in 0..seeds {
        Simulation::new()
            .processors(processors)
            .seed(seed)
            .run(|| words(1), |w, cpu| one_word(w, cpu, 4))
            .expect("a sound simulation");
    }
    let each_us = start.elapsed().as_secs_f64() / seeds as f64 * 1e6;
    println!("a simulation with 4 accesses each of {processors} processors: {each_us:.0} us");
}

fn main() {
    let smoke = std::env::args().any(|arg| arg == "smoke");
    let accesses = if smoke { 20_000 } else { 10_000_000 };
    for processors in [1, 16, 256, 1024, 4096] {
        measure("one word", processors, accesses, Faults::none(), one_word);
        measure("random words", processors, accesses, Faults::none(), random_words);
        measure("ring of waits", processors, accesses / 3, Faults::none(), ring);
    }
    let values = if smoke { 500 } else { 200_000 };
    for processors in [16, 64, 256, 1024, 4096] {
        // In the size that the number of processors asks for; and in one size for all, to see the
        // cost of more processors alone.
        for method in ["counting-network", "diffracting-second-chance", "diffracting"] {
            measure_counter("alewife", method, None, processors, values);
        }
        measure_counter("alewife", "diffracting", Some(32), processors, values);
    }
    let delays = Faults::none().random_delays(4, 100);
    measure("random words, delays", 256, accesses, delays, random_words);
    measure_seeds(256, if smoke { 10 } else { 1000 });
}
