//! Properties that no cost may change. On every machine values are those of some sequential order,
//! every write wakes the waiting processors, requests are served in order, and time never goes back.

use std::sync::atomic::Ordering::SeqCst;

use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::spec::{CoherenceSpec, presets};
use throng_sim::{Access, End, Faults, MachineSpec, Operation, Sim, SimCpu, SimWord, Simulation};

/// The presets, and variants of them that take other ways through the memories.
fn machines() -> Vec<MachineSpec> {
    let mut machines: Vec<_> = presets().iter().map(|preset| preset.spec()).collect();
    let directory = |change: fn(&mut CoherenceSpec)| {
        let mut spec = MachineSpec::preset("alewife").unwrap();
        change(&mut spec.coherence);
        spec
    };
    machines.push(directory(|coherence| {
        let CoherenceSpec::Directory { pointers, overflow_cycles, fetch_op_cycles, .. } = coherence
        else {
            panic!("a directory")
        };
        (*pointers, *overflow_cycles, *fetch_op_cycles) = (Some(2), 50, Some(3));
    }));
    machines.push(directory(|coherence| {
        let CoherenceSpec::Directory { forward, exclusive, .. } = coherence else {
            panic!("a directory")
        };
        (*forward, *exclusive) = (true, true);
    }));
    // Small groups, so that few processors have near and far ones; slow fills.
    let mut small = MachineSpec::preset("server").unwrap();
    if let throng_sim::spec::NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, .. } =
        &mut small.network
    {
        (*chiplet_nodes, *socket_chiplets) = (2, 2);
    }
    (small.processor.fill_cycles, small.processor.instruction_cycles) = (200, 1);
    machines.push(small);
    // Everything as fast as it can be: most events at the same time.
    let mut fast = MachineSpec::preset("origin2000").unwrap();
    fast.processor = throng_sim::spec::ProcessorSpec {
        hit_cycles: 1,
        rmw_hit_cycles: None,
        instruction_cycles: 0,
        miss_cycles: 0,
        fill_cycles: 0,
        per_node: 3,
    };
    fast.network = throng_sim::spec::NetworkSpec::Uniform { message_cycles: 0 };
    machines.push(fast.clone());
    fast.coherence =
        CoherenceSpec::Nearest { holder_cycles: 0, memory_cycles: 1, hold_accesses: 3 };
    machines.push(fast);
    machines.push(MachineSpec::ideal(10));
    machines
}

/// Faults that change only times.
fn delays(seed: u64) -> Faults {
    match seed % 3 {
        0 => Faults::none(),
        1 => Faults::none().random_delays(4, 300),
        _ => Faults::none().slow(0, 7).random_stalls(3, 20, 2000),
    }
}

/// Six words on three lines: one alone, two together, three together.
struct Words(Vec<Line<Vec<SimWord>>>);

impl Words {
    const COUNT: usize = 6;

    fn new() -> Self {
        let line = |i: usize| {
            Line::new::<Sim>(Place::named("words").index(i), |spot| {
                (0..=i).map(|_| SimWord::new(0, spot)).collect()
            })
        };
        Words((0..3).map(line).collect())
    }

    /// By its number, in the order of making.
    fn get(&self, number: usize) -> &SimWord {
        let (line, word) = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)][number];
        &self.0[line][word]
    }
}

/// One access drawn at random; what it saw, if it can see anything.
fn any_access(words: &Words, cpu: &SimCpu) -> Option<u64> {
    let word = words.get(cpu.random_below(Words::COUNT));
    let value = cpu.random() >> 40;
    match cpu.random_below(8) {
        0..=2 => Some(word.load(SeqCst)),
        3 => {
            word.store(value, SeqCst);
            None
        }
        4 => Some(word.swap(value, SeqCst)),
        5 => {
            let guess = word.load(SeqCst);
            let _ = word.compare_exchange(guess, value, SeqCst, SeqCst);
            Some(guess)
        }
        6 => Some(word.fetch_add(value, SeqCst)),
        _ => Some(word.spin_while(cpu, 1 + value as u32 % 100, SeqCst, |seen| seen % 2 == 0)),
    }
}

/// Every access must have found what the last write before it wrote; events must be in order, and a
/// processor's accesses must take time.
fn assert_sequential(trace: &[Access], processors: usize) -> Vec<u64> {
    let mut values = vec![0; Words::COUNT];
    let mut before = vec![0; processors];
    assert!(trace.is_sorted_by_key(|access| access.time));
    for access in trace {
        assert_eq!(access.found, values[access.word as usize], "{access:?}");
        if let Some(written) = access.written {
            values[access.word as usize] = written;
        }
        assert!(access.time > before[access.processor], "{access:?}");
        before[access.processor] = access.time;
    }
    values
}

#[test]
fn every_access_finds_what_was_written_last() {
    for (number, spec) in machines().into_iter().enumerate() {
        for seed in 0..60 {
            let processors = [1, 2, 7, 19][(number + seed as usize) % 4];
            let outcome = Simulation::new()
                .machine(spec.clone())
                .processors(processors)
                .seed(seed)
                .faults(delays(seed))
                .record_trace(true)
                .run(Words::new, |words, cpu| {
                    let access = |_| {
                        cpu.pause([0, 0, 3, 150][cpu.random_below(4)]);
                        any_access(words, cpu)
                    };
                    (0..40).filter_map(access).collect::<Vec<_>>()
                })
                .unwrap();
            let name = &spec.name;
            assert_eq!(outcome.end, End::Finished, "{name}, seed {seed}");
            let trace = outcome.trace.unwrap();
            let values = assert_sequential(&trace, processors);
            for (number, value) in values.into_iter().enumerate() {
                assert_eq!(outcome.shared.get(number).load(SeqCst), value, "{name}, seed {seed}");
            }
            // What the bodies saw is in the trace, in their order.
            for (id, seen) in outcome.results.into_iter().enumerate() {
                let found = |a: &&Access| a.processor == id && a.operation != Operation::Store;
                let mut found = trace.iter().filter(found).map(|access| access.found);
                for value in seen.unwrap() {
                    assert!(found.any(|found| found == value), "{name}, seed {seed}, {id}");
                }
            }
        }
    }
}

/// A processor that hits is simulated ahead of the others. Bursts of hits, read and written, with
/// others taking the lines away in between: in the order of time, each must find what was written
/// last.
#[test]
fn whoever_runs_ahead_is_not_seen_to() {
    for spec in machines() {
        for seed in 0..60 {
            let processors = [2, 3, 9][seed as usize % 3];
            let outcome = Simulation::new()
                .machine(spec.clone())
                .processors(processors)
                .seed(seed)
                .record_trace(true)
                .run(Words::new, |words, cpu| {
                    for _ in 0..20 {
                        let word = words.get(cpu.random_below(Words::COUNT));
                        let writes = cpu.random_below(3) == 0;
                        for i in 0..cpu.random_below(30) {
                            match i % 7 {
                                0 if writes => drop(word.fetch_add(1, SeqCst)),
                                6 => drop(word.spin_while(cpu, 9, SeqCst, |seen| seen % 2 == 0)),
                                _ => drop(word.load(SeqCst)),
                            }
                        }
                    }
                    cpu.clock()
                })
                .unwrap();
            assert_eq!(outcome.end, End::Finished, "{}, seed {seed}", spec.name);
            assert_sequential(&outcome.trace.unwrap(), processors);
            let last = outcome.results.into_iter().flatten().max();
            assert_eq!(Some(outcome.cycles), last, "{}, seed {seed}", spec.name);
        }
    }
}

/// A token goes round: each processor waits for its number and then passes the token on, by one of
/// several operations. Meanwhile processors read and write other words of the line at random.
fn pass_the_token(words: &Words, cpu: &SimCpu, processors: u64) {
    let token = words.get(3);
    for round in 0..4 {
        let mine = round * processors + cpu.id() as u64;
        let seen = if cpu.random_below(3) == 0 {
            let mut seen = 0;
            while seen != mine {
                let polls = 1 + cpu.random_below(60) as u32;
                seen = token.spin_while(cpu, polls, SeqCst, |value| value != mine);
                any_access_but_the_token(words, cpu);
            }
            seen
        } else {
            token.wait_while(cpu, SeqCst, |value| {
                if cpu.random_below(20) == 0 {
                    any_access_but_the_token(words, cpu);
                }
                value != mine
            })
        };
        assert_eq!(seen, mine);
        match cpu.random_below(4) {
            0 => token.store(mine + 1, SeqCst),
            1 => assert_eq!(token.swap(mine + 1, SeqCst), mine),
            2 => assert_eq!(token.fetch_add(1, SeqCst), mine),
            _ => {
                assert_eq!(token.compare_exchange(mine, mine + 1, SeqCst, SeqCst), Ok(mine));
            }
        }
    }
}

fn any_access_but_the_token(words: &Words, cpu: &SimCpu) {
    let word = words.get([0, 1, 2, 4, 5][cpu.random_below(5)]);
    if cpu.random_below(3) == 0 {
        word.store(cpu.random(), SeqCst);
    } else {
        word.load(SeqCst);
    }
}

#[test]
fn nobody_sleeps_through_a_write() {
    for spec in machines() {
        for seed in 0..6 {
            let processors = [2, 5, 33][seed as usize % 3];
            let outcome = Simulation::new()
                .machine(spec.clone())
                .processors(processors)
                .seed(seed)
                .faults(delays(seed / 2))
                .run(Words::new, move |words, cpu| pass_the_token(words, cpu, processors as u64))
                .unwrap();
            assert_eq!(outcome.end, End::Finished, "{}, seed {seed}", spec.name);
            let passed = outcome.shared.get(3).load(SeqCst);
            assert_eq!(passed, 4 * processors as u64);
        }
    }
}

#[test]
fn one_write_wakes_all_who_wait() {
    for spec in machines() {
        let outcome = Simulation::new()
            .machine(spec.clone())
            .processors(150)
            .run(Words::new, |words, cpu| {
                let flag = words.get(1);
                if cpu.id() == 149 {
                    // Some wait by now, others are still on their way.
                    cpu.pause(400);
                    flag.store(1, SeqCst);
                    return cpu.clock();
                }
                cpu.pause(cpu.random_below(800) as u32);
                flag.wait_while(cpu, SeqCst, |value| value == 0);
                cpu.clock()
            })
            .unwrap();
        assert_eq!(outcome.end, End::Finished, "{}", spec.name);
        let written = outcome.results[149].unwrap();
        let woken = outcome.results[..149].iter().flatten();
        assert!(woken.min().unwrap() >= &written, "{}: seen before it was written", spec.name);
    }
}

#[test]
fn who_comes_first_is_served_first() {
    // Each exchanges its name for that of the one before. They come one after the other, further
    // apart than their ways to the home differ, and faster than a line goes from one to the next.
    for (name, apart, processors) in [
        ("alewife", 10, 16),
        ("ksr1", 40, 32),
        ("sequent", 5, 20),
        ("tc2000", 8, 42),
        ("origin2000", 60, 16),
        ("server", 20, 8),
        ("server", 100, 192),
    ] {
        let outcome = Simulation::new()
            .machine(MachineSpec::preset(name).unwrap())
            .processors(processors)
            .run(
                || Line::word::<Sim>(0, Place::named("line").near(0)),
                move |word, cpu| {
                    // Not in the order of their ids, and the one at home comes first.
                    let turn = cpu.id() * 11 % processors;
                    cpu.pause(turn as u32 * apart);
                    (turn, word.swap(turn as u64 + 1, SeqCst))
                },
            )
            .unwrap();
        for (turn, found) in outcome.results.into_iter().flatten() {
            assert_eq!(found, turn as u64, "{name}");
        }
    }
}
