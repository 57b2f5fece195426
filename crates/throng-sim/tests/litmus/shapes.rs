//! The classic shapes by which weak memories are told from sequential consistency: on every machine,
//! with all lines in all caches before and delays of all lengths, no forbidden outcome appears, and
//! every allowed one does somewhere.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;

use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::spec::presets;
use throng_sim::{End, Sim, SimCpu, SimWord, Simulation};

type Words = Vec<Line<SimWord>>;

/// What the processors saw, one number after another.
type Seen = Vec<u64>;

/// Runs a shape on all machines with many delays. Returns all outcomes.
fn outcomes(processors: usize, body: fn(&Words, &SimCpu) -> Seen) -> BTreeSet<Seen> {
    let mut outcomes = BTreeSet::new();
    for preset in presets() {
        for seed in 0..400 {
            let setup = || -> Words {
                let place = Place::named("word");
                (0..2).map(|i| Line::word::<Sim>(0, place.index(i).near(i))).collect()
            };
            // Up to 16 processors apart: chiplets, nodes.
            let simulation = Simulation::new().machine(preset.spec()).processors(processors);
            let outcome = simulation
                .machine_processors(processors * 16)
                .seed(seed)
                .run(setup, move |words, cpu| {
                    for word in words {
                        word.load(Relaxed);
                    }
                    // All are ready by then; as far apart as a message takes at most.
                    let apart = [0, 1, 10, 50, 400][seed as usize % 5];
                    cpu.pause(20_000 - cpu.clock() as u32 + cpu.random_below(apart + 1) as u32);
                    body(words, cpu)
                })
                .unwrap();
            assert_eq!(outcome.end, End::Finished);
            outcomes.insert(outcome.results.into_iter().flatten().flatten().collect());
        }
    }
    outcomes
}

/// Returns the set of these outcomes.
fn set(outcomes: &[&[u64]]) -> BTreeSet<Seen> {
    outcomes.iter().map(|seen| seen.to_vec()).collect()
}

#[test]
fn store_buffering() {
    let found = outcomes(2, |words, cpu| {
        words[cpu.id()].store(1, Relaxed);
        vec![words[1 - cpu.id()].load(Relaxed)]
    });
    assert_eq!(found, set(&[&[0, 1], &[1, 0], &[1, 1]]), "and never 0, 0");
}

#[test]
fn message_passing() {
    let found = outcomes(2, |words, cpu| {
        if cpu.id() == 0 {
            words[0].store(1, Relaxed);
            words[1].store(1, Relaxed);
            return Vec::new();
        }
        let flag = words[1].load(Relaxed);
        vec![flag, words[0].load(Relaxed)]
    });
    assert_eq!(found, set(&[&[0, 0], &[0, 1], &[1, 1]]), "and never 1, 0");
}

#[test]
fn load_buffering() {
    let found = outcomes(2, |words, cpu| {
        let seen = words[cpu.id()].load(Relaxed);
        words[1 - cpu.id()].store(1, Relaxed);
        vec![seen]
    });
    assert_eq!(found, set(&[&[0, 0], &[0, 1], &[1, 0]]), "and never 1, 1");
}

#[test]
fn independent_reads_of_independent_writes() {
    let found = outcomes(4, |words, cpu| match cpu.id() {
        writer @ 0..2 => {
            words[writer].store(1, Relaxed);
            Vec::new()
        }
        reader => {
            let first = words[reader - 2].load(Relaxed);
            vec![first, words[3 - reader].load(Relaxed)]
        }
    });
    assert!(!found.contains(&vec![1, 0, 1, 0]), "the readers see the writes in two orders");
    // Each reader sees each of the other three.
    for reader in 0..2 {
        let seen: BTreeSet<Seen> =
            found.iter().map(|seen| seen[2 * reader..2 * reader + 2].to_vec()).collect();
        assert_eq!(seen.len(), 4, "reader {reader}: {seen:?}");
    }
}
