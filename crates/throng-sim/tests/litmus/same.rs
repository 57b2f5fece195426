//! Changes of a machine or a load of which the effect is known without working out a time.

use std::sync::atomic::Ordering::SeqCst;

use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::spec::{CoherenceSpec, NetworkSpec, presets};
use throng_sim::{MachineSpec, Sim, SimCpu, SimWord, Simulation};

use crate::bench::preset;

/// The machine with every time doubled.
fn doubled(mut spec: MachineSpec) -> MachineSpec {
    let processor = &mut spec.processor;
    for cycles in [
        &mut processor.hit_cycles,
        &mut processor.instruction_cycles,
        &mut processor.miss_cycles,
        &mut processor.fill_cycles,
    ] {
        *cycles *= 2;
    }
    processor.rmw_hit_cycles = processor.rmw_hit_cycles.map(|cycles| 2 * cycles);
    match &mut spec.network {
        NetworkSpec::Uniform { message_cycles } => *message_cycles *= 2,
        NetworkSpec::Bus { arbitration_cycles } => *arbitration_cycles *= 2,
        NetworkSpec::Mesh { message_cycles, hop_cycles }
        | NetworkSpec::Hypercube { message_cycles, hop_cycles, .. } => {
            (*message_cycles, *hop_cycles) = (2 * *message_cycles, 2 * *hop_cycles);
        }
        NetworkSpec::Rings { near_cycles, far_cycles, slot_cycles, .. } => {
            (*near_cycles, *far_cycles) = (2 * *near_cycles, 2 * *far_cycles);
            *slot_cycles *= 2;
        }
        NetworkSpec::Butterfly { message_cycles, stage_cycles, .. } => {
            (*message_cycles, *stage_cycles) = (2 * *message_cycles, 2 * *stage_cycles);
        }
        NetworkSpec::Chiplets {
            chiplet_cycles, socket_cycles, far_cycles, port_cycles, ..
        } => {
            (*chiplet_cycles, *socket_cycles) = (2 * *chiplet_cycles, 2 * *socket_cycles);
            (*far_cycles, *port_cycles) = (2 * *far_cycles, 2 * *port_cycles);
        }
    }
    match &mut spec.coherence {
        CoherenceSpec::Ideal { access_cycles } => *access_cycles *= 2,
        CoherenceSpec::Directory {
            home_cycles,
            holder_cycles,
            invalidate_cycles,
            overflow_cycles,
            fetch_op_cycles,
            ..
        } => {
            for cycles in [home_cycles, holder_cycles, invalidate_cycles, overflow_cycles] {
                *cycles *= 2;
            }
            *fetch_op_cycles = fetch_op_cycles.map(|cycles| 2 * cycles);
        }
        CoherenceSpec::Snoop { fetch_cycles, upgrade_cycles } => {
            (*fetch_cycles, *upgrade_cycles) = (2 * *fetch_cycles, 2 * *upgrade_cycles);
        }
        CoherenceSpec::Nearest { holder_cycles, memory_cycles, .. } => {
            (*holder_cycles, *memory_cycles) = (2 * *holder_cycles, 2 * *memory_cycles);
        }
        CoherenceSpec::None { memory_cycles, rmw_cycles } => {
            (*memory_cycles, *rmw_cycles) = (2 * *memory_cycles, 2 * *rmw_cycles);
        }
    }
    spec
}

struct Shared {
    words: Vec<Line<SimWord>>,
    flags: Vec<Line<SimWord>>,
}

fn shared(processors: usize) -> Shared {
    let lines = |name: &'static str, count: usize| {
        let place = Place::named(name);
        (0..count).map(|i| Line::word::<Sim>(0, place.index(i).near(i))).collect()
    };
    Shared { words: lines("word", 3), flags: lines("flag", processors) }
}

/// Adds, reads and writes of few words, waits for a flag that comes around, and pauses that take
/// `scale` times as long.
fn mixed(shared: &Shared, cpu: &SimCpu, processors: usize, scale: u32) -> u64 {
    for round in 1..=8 {
        shared.words[(cpu.id() + round as usize) % 3].fetch_add(1, SeqCst);
        cpu.pause(scale * (cpu.id() as u32 * 7 % 31));
        for word in &shared.words {
            word.load(SeqCst);
        }
        if cpu.id() != 0 || round > 1 {
            let before = round - u64::from(cpu.id() == 0);
            shared.flags[cpu.id()].wait_while(cpu, SeqCst, |seen| seen < before);
        }
        shared.flags[(cpu.id() + 1) % processors].store(round, SeqCst);
        if cpu.id().is_multiple_of(4) {
            shared.words[0].store(round, SeqCst);
        }
    }
    cpu.clock()
}

#[test]
fn doubling_every_time_doubles_every_time() {
    for preset in presets() {
        // Where there are no copies a waiting processor polls, and the time of a poll stays.
        if preset.name() == "tc2000" {
            continue;
        }
        let clocks = |spec, scale| {
            let simulation = Simulation::new().machine(spec).processors(20).ties_by_id();
            let body = move |shared: &Shared, cpu: &SimCpu| mixed(shared, cpu, 20, scale);
            let outcome = simulation.run(|| shared(20), body).unwrap();
            outcome.results.into_iter().map(Option::unwrap).collect::<Vec<u64>>()
        };
        let once: Vec<u64> =
            clocks(preset.spec(), 1).into_iter().map(|cycles| 2 * cycles).collect();
        assert_eq!(clocks(doubled(preset.spec()), 2), once, "{}", preset.name());
    }
}

#[test]
fn an_idle_processor_changes_nothing() {
    for preset in presets() {
        let times = |processors| {
            let body = |shared: &Shared, cpu: &SimCpu| match cpu.id() {
                0..15 => mixed(shared, cpu, 15, 1),
                _ => 0,
            };
            // On a machine of 16, so that the first 15 have the same places.
            let simulation = Simulation::new().machine(preset.spec()).processors(processors);
            let outcome =
                simulation.machine_processors(16).seed(5).run(|| shared(15), body).unwrap();
            (outcome.results[..15].to_vec(), outcome.cycles, outcome.memory)
        };
        assert_eq!(times(15), times(16), "{}", preset.name());
    }
}

/// The number of additions in a million cycles of 192 processors, which think between two.
fn rate(spec: &MachineSpec, think: u32) -> f64 {
    const ADDITIONS: u64 = 20_000;
    const WARM_UP: u64 = 2000;
    let simulation = Simulation::new().machine(spec.clone()).processors(192);
    let body = move |word: &Line<SimWord>, cpu: &SimCpu| {
        let mut first = 0;
        loop {
            let number = word.fetch_add(1, SeqCst);
            if number == WARM_UP {
                first = cpu.clock();
            }
            if number >= ADDITIONS {
                return (first, if number == ADDITIONS { cpu.clock() } else { 0 });
            }
            cpu.pause(think);
        }
    };
    let outcome = simulation.run(|| Line::word::<Sim>(0, Place::named("word")), body).unwrap();
    let seen: Vec<(u64, u64)> = outcome.results.into_iter().flatten().collect();
    let start = seen.iter().map(|seen| seen.0).max().unwrap();
    let end = seen.iter().map(|seen| seen.1).max().unwrap();
    (ADDITIONS - WARM_UP) as f64 / (end - start) as f64 * 1e6
}

#[test]
fn the_rate_of_a_saturated_line_does_not_fall_when_think_time_grows() {
    // With one access for each ownership: an owner that thinks makes no second one in any case.
    let mut spec = preset("server");
    let CoherenceSpec::Nearest { hold_accesses, .. } = &mut spec.coherence else {
        panic!("the nearest copy answers")
    };
    *hold_accesses = 1;
    let without = rate(&spec, 0);
    for think in [1000, 10_000] {
        let thinking = rate(&spec, think);
        assert!(thinking > 0.95 * without, "{without} and, thinking for {think}, {thinking}");
        // And it does not rise: all the time one processor has the line.
        assert!(thinking < 1.05 * without, "{without} and, thinking for {think}, {thinking}");
    }
    // Further accesses while it has the line only add to that.
    let preset = preset("server");
    assert!(rate(&preset, 0) > rate(&preset, 1000));
    assert!(rate(&preset, 1000) > 0.95 * without);
}
