//! The same seed gives the same run, bit for bit.

use std::process::Command;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::thread;

use throng::machine::{Cpu, Line, PerCpu, Place, Word};
use throng_sim::spec::presets;
use throng_sim::{End, Faults, MachineSpec, Outcome, Sim, SimCpu, SimWord, Simulation};

/// A structure that has something of everything: hot and cold words, a lock that is waited for,
/// bounded spins, and words made while the processors run.
struct Everything {
    words: Vec<Line<SimWord>>,
    lock: Line<SimWord>,
    own: PerCpu<Line<SimWord>>,
}

fn setup() -> Everything {
    let word = |i| Line::word::<Sim>(0, Place::named("word").index(i));
    Everything {
        words: (0..16).map(word).collect(),
        lock: Line::word::<Sim>(0, Place::named("lock")),
        own: PerCpu::new(|id| Line::word::<Sim>(0, Place::named("own").index(id))),
    }
}

fn body(all: &Everything, cpu: &SimCpu) -> u64 {
    let mut sum = 0;
    for _ in 0..10 {
        sum += all.words[cpu.random_below(16)].fetch_add(1, AcqRel);
        all.own.get(cpu.id()).store(sum, Relaxed);
        all.words[0].spin_while(cpu, 8, Acquire, |v| v % 2 == 0);
        while all.lock.swap(1, Acquire) == 1 {
            all.lock.wait_while(cpu, Relaxed, |v| v == 1);
        }
        cpu.pause(cpu.random_below(20) as u32);
        all.lock.store(0, Release);
    }
    sum
}

fn run(seed: u64) -> Outcome<Everything, u64> {
    let outcome = Simulation::new()
        .processors(256)
        .seed(seed)
        .faults(Faults::none().random_delays(5, 300).random_stalls(9, 40, 5000))
        .record_trace(true)
        .run(setup, body)
        .unwrap();
    assert_eq!(outcome.end, End::Finished);
    outcome
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let (one, two) = (run(7), run(7));
    assert_eq!(one.trace_hash, two.trace_hash);
    assert_eq!(one.results, two.results);
    assert_eq!((one.cycles, one.steps), (two.cycles, two.steps));
    let (one, two) = (one.trace.unwrap(), two.trace.unwrap());
    assert!(one.len() > 256 * 50, "only {} accesses", one.len());
    assert_eq!(one, two);
}

#[test]
fn the_trace_is_ordered_by_time() {
    let trace = run(3).trace.unwrap();
    assert!(trace.is_sorted_by_key(|access| access.time));
}

#[test]
fn another_seed_gives_another_trace() {
    let (one, two) = (run(7), run(8));
    assert_ne!(one.trace_hash, two.trace_hash);
    assert_ne!(one.trace, two.trace);
}

fn hash_on(machine: &MachineSpec, processors: usize, seed: u64) -> (u64, u64) {
    let outcome = Simulation::new()
        .machine(machine.clone())
        .processors(processors)
        .seed(seed)
        .faults(Faults::none().random_delays(3, 100))
        .run(setup, body)
        .unwrap();
    assert_eq!(outcome.end, End::Finished, "{}", machine.name);
    (outcome.trace_hash, outcome.cycles)
}

#[test]
fn every_machine_is_determined_by_its_seed_whatever_ran_before() {
    let machines: Vec<_> = presets().iter().map(|preset| preset.spec()).collect();
    let first: Vec<_> = machines.iter().map(|machine| hash_on(machine, 40, 7)).collect();
    // In another order, after runs of other sizes and one that broke off, and on a fresh thread.
    for (machine, &first) in machines.iter().zip(&first).rev() {
        hash_on(machine, 13, 7);
        let broken_off = Simulation::new().machine(machine.clone()).processors(9).step_limit(100);
        let end = broken_off.run(setup, body).unwrap().end;
        assert!(matches!(end, End::StepLimit { .. }));
        assert_eq!(hash_on(machine, 40, 7), first, "{}", machine.name);
        let again = thread::scope(|scope| scope.spawn(|| hash_on(machine, 40, 7)).join().unwrap());
        assert_eq!(again, first, "{}", machine.name);
        assert_ne!(hash_on(machine, 40, 8).0, first.0, "{}", machine.name);
    }
    let mut hashes: Vec<_> = first.iter().map(|&(hash, _)| hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), machines.len(), "no two machines run alike");
}

#[test]
fn recording_changes_nothing() {
    let run = |record| {
        let simulation = Simulation::new().processors(20).record_trace(record);
        simulation.run(setup, body).unwrap()
    };
    let (recorded, hashed) = (run(true), run(false));
    assert_eq!(recorded.trace_hash, hashed.trace_hash);
    assert!(recorded.trace.is_some() && hashed.trace.is_none());
}

#[test]
fn threads_simulate_independently() {
    let alone = run(7).trace_hash;
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(|| run(7).trace_hash)).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), alone);
    }
}

/// Runs itself in another process, where memory lies elsewhere.
#[test]
fn another_process_gives_the_same_trace() {
    const CHILD: &str = "THRONG_SIM_TEST_CHILD";
    let hash = format!("hash {:016x}", run(7).trace_hash);
    if std::env::var_os(CHILD).is_some() {
        println!("{hash}");
        return;
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_gives_the_same_trace", "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    assert!(printed.contains(&hash), "{hash} is not in: {printed}");
}

#[test]
fn processors_draw_different_numbers_and_the_seed_decides_them() {
    let draw = |seed| {
        let simulation = Simulation::new().processors(100).seed(seed);
        let mut drawn = simulation.run(|| (), |(), cpu| cpu.random()).unwrap().results;
        drawn.sort_unstable();
        drawn.dedup();
        assert_eq!(drawn.len(), 100);
        drawn
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn who_watches_from_aside_changes_nothing() {
    let run = |watched: bool| {
        let body = move |all: &Everything, cpu: &SimCpu| {
            let mut seen = 0;
            let sum = body(all, cpu);
            if watched {
                seen = cpu.aside(|| all.words.iter().map(|word| word.load(Relaxed)).sum());
                seen += cpu.memory_so_far().total.accesses();
            }
            (body(all, cpu) + sum, seen)
        };
        Simulation::new().processors(8).run(setup, body).unwrap()
    };
    let (alone, watched) = (run(false), run(true));
    assert_eq!((alone.trace_hash, alone.cycles, alone.steps), {
        (watched.trace_hash, watched.cycles, watched.steps)
    });
    let seen: Vec<u64> = watched.results.into_iter().flatten().map(|(_, seen)| seen).collect();
    assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
}
