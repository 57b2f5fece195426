//! Random little programs: what the processors saw is what one of them after the other would have
//! seen, in the order of the trace. And they see the same on real threads and on every simulated
//! machine, where the program leaves no choice.

use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use proptest::prelude::*;
use throng::machine::{Cpu, Line, Machine, Native, Place, Word};
use throng_sim::spec::presets;
use throng_sim::{Access, End, Faults, MachineSpec, Operation, Sim, SimWord, Simulation};

const WORDS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Step {
    Pause(u32),
    /// A word, what to do, and up to two values for it.
    Access(usize, Operation, u64, u64),
}

fn any_step() -> impl Strategy<Value = Step> {
    use Operation::*;
    let operation = prop::sample::select(vec![
        Load,
        Store,
        Swap,
        CompareExchange,
        FetchAdd,
        FetchSub,
        FetchOr,
        FetchAnd,
    ]);
    prop_oneof![
        1 => (0_u32..40).prop_map(Step::Pause),
        6 => (0..WORDS, operation, 0_u64..4, 0_u64..4)
            .prop_map(|(word, operation, a, b)| Step::Access(word, operation, a, b)),
    ]
}

/// What the specification of `operation` says is written to a word that is `found`.
fn written(operation: Operation, found: u64, a: u64, b: u64) -> Option<u64> {
    match operation {
        Operation::Load | Operation::Cell => None,
        Operation::Store | Operation::Swap => Some(a),
        Operation::CompareExchange => (found == a).then_some(b),
        Operation::FetchAdd => Some(found.wrapping_add(a)),
        Operation::FetchSub => Some(found.wrapping_sub(a)),
        Operation::FetchOr => Some(found | a),
        Operation::FetchAnd => Some(found & a),
    }
}

/// Takes a step; returns the value seen, where one can be seen.
fn take<M: Machine>(step: Step, words: &[Line<M::Word>], cpu: &M::Cpu) -> Option<u64> {
    let (word, operation, a, b) = match step {
        Step::Pause(cycles) => {
            cpu.pause(cycles);
            return None;
        }
        Step::Access(word, operation, a, b) => (&words[word], operation, a, b),
    };
    match operation {
        Operation::Load => Some(word.load(SeqCst)),
        Operation::Swap => Some(word.swap(a, SeqCst)),
        Operation::FetchAdd => Some(word.fetch_add(a, SeqCst)),
        Operation::FetchSub => Some(word.fetch_sub(a, SeqCst)),
        Operation::FetchOr => Some(word.fetch_or(a, SeqCst)),
        Operation::FetchAnd => Some(word.fetch_and(a, SeqCst)),
        Operation::CompareExchange => {
            Some(word.compare_exchange(a, b, SeqCst, SeqCst).unwrap_or_else(|found| found))
        }
        Operation::Store => {
            word.store(a, SeqCst);
            None
        }
        Operation::Cell => unreachable!("no cells in the scripts"),
    }
}

/// Replays the trace on plain variables: every access must have found and written what it says, and
/// must be the next one in its processor's script.
fn replay(trace: &[Access], scripts: &[Vec<Step>]) -> (Vec<Vec<Option<u64>>>, [u64; WORDS]) {
    let mut words = [0; WORDS];
    let mut seen = vec![Vec::new(); scripts.len()];
    let mut rest: Vec<_> = scripts.iter().map(|script| script.iter()).collect();
    for access in trace {
        let (word, operation, a, b) = loop {
            match *rest[access.processor].next().expect("no more than the script") {
                Step::Pause(_) => seen[access.processor].push(None),
                Step::Access(word, operation, a, b) => break (word, operation, a, b),
            }
        };
        assert_eq!((access.word, access.operation), (word as u32, operation));
        assert_eq!(access.found, words[word], "{access:?}");
        assert_eq!(access.written, written(operation, words[word], a, b), "{access:?}");
        let value = (operation != Operation::Store).then_some(access.found);
        seen[access.processor].push(value);
        words[word] = access.written.unwrap_or(words[word]);
    }
    for (seen, rest) in seen.iter_mut().zip(rest) {
        seen.extend(rest.map(|step| {
            assert!(matches!(step, Step::Pause(_)), "{step:?} is not in the trace");
            None
        }));
    }
    (seen, words)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_trace_is_a_sequential_history(
        scripts in prop::collection::vec(prop::collection::vec(any_step(), 0..12), 1..7),
        seed in any::<u64>(),
        access_cycles in 1_u32..30,
        delays in any::<bool>(),
        words_together in any::<bool>(),
    ) {
        let faults = if delays {
            Faults::none().random_delays(3, 50).slow(0, 3)
        } else {
            Faults::none()
        };
        let setup = move || -> Vec<Line<SimWord>> {
            let place = Place::named("word");
            if words_together {
                // Three words on one line, then each put on a `Line` of its own: what counts is
                // the spot they were made with.
                let together = Line::new::<Sim>(place, |spot| {
                    std::array::from_fn::<_, WORDS, _>(|_| SimWord::new(0, spot))
                });
                together.into_inner().into_iter().map(keep).collect()
            } else {
                (0..WORDS).map(|i| Line::word::<Sim>(0, place.index(i))).collect()
            }
        };
        let running = scripts.clone();
        let outcome = Simulation::new()
            .processors(scripts.len())
            .seed(seed)
            .access_cycles(access_cycles)
            .faults(faults)
            .record_trace(true)
            .run(setup, move |words, cpu| -> Vec<Option<u64>> {
                running[cpu.id()].iter().map(|&step| take::<Sim>(step, words, cpu)).collect()
            })
            .unwrap();
        prop_assert_eq!(outcome.end, End::Finished);
        let (seen, words) = replay(&outcome.trace.unwrap(), &scripts);
        let results: Vec<_> = outcome.results.into_iter().map(Option::unwrap).collect();
        prop_assert_eq!(results, seen);
        for (word, value) in outcome.shared.iter().zip(words) {
            prop_assert_eq!(word.load(SeqCst), value);
        }
    }
}

/// Wraps a word that has been made already.
fn keep(word: SimWord) -> Line<SimWord> {
    Line::new::<Sim>(Place::named("unused"), |_| word)
}

/// A program that leaves no choice: steps of some processors, one after the other, as the turn goes
/// round.
#[derive(Clone, Debug)]
struct Turns {
    processors: usize,
    steps: Vec<(usize, Step)>,
}

fn any_turns() -> impl Strategy<Value = Turns> {
    (1_usize..5).prop_flat_map(|processors| {
        let step = (0..processors, any_step());
        prop::collection::vec(step, 0..24).prop_map(move |steps| Turns { processors, steps })
    })
}

/// What the processors share: the words, and whose turn it is.
struct Table<M: Machine> {
    words: Vec<Line<M::Word>>,
    turn: Line<M::Word>,
}

impl<M: Machine> Table<M> {
    fn new() -> Self {
        let word = |i| Line::word::<M>(0, Place::named("word").index(i));
        Table {
            words: (0..WORDS).map(word).collect(),
            turn: Line::word::<M>(0, Place::named("turn")),
        }
    }

    /// The steps of processor `id`; returns what it saw at which turn.
    fn play(&self, program: &Turns, id: usize, cpu: &M::Cpu) -> Vec<(u64, Option<u64>)> {
        let mut seen = Vec::new();
        for (turn, &(who, step)) in (0..).zip(&program.steps) {
            if who == id {
                self.turn.wait_while(cpu, SeqCst, |now| now != turn);
                seen.push((turn, take::<M>(step, &self.words, cpu)));
                self.turn.store(turn + 1, SeqCst);
            }
        }
        seen
    }

    fn values(&self) -> Vec<u64> {
        self.words.iter().map(|word| word.load(SeqCst)).collect()
    }
}

type Played = (Vec<Vec<(u64, Option<u64>)>>, Vec<u64>);

fn play_natively(program: &Turns) -> Played {
    let table = Table::<Native>::new();
    let seen = thread::scope(|scope| {
        let player = |id| {
            let table = &table;
            scope.spawn(move || table.play(program, id, &Native::cpu()))
        };
        let players: Vec<_> = (0..program.processors).map(player).collect();
        players.into_iter().map(|player| player.join().unwrap()).collect()
    });
    (seen, table.values())
}

fn play_simulated(program: &Turns, machine: MachineSpec) -> Played {
    let turns = program.clone();
    let outcome = Simulation::new()
        .machine(machine)
        .processors(program.processors)
        .run(Table::<Sim>::new, move |table, cpu| table.play(&turns, cpu.id(), cpu))
        .unwrap();
    assert_eq!(outcome.end, End::Finished);
    (outcome.results.into_iter().map(Option::unwrap).collect(), outcome.shared.values())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn programs_without_choice_see_the_same_on_every_machine(program in any_turns()) {
        let native = play_natively(&program);
        prop_assert_eq!(&play_simulated(&program, MachineSpec::ideal(10)), &native);
        for preset in presets() {
            prop_assert_eq!(&play_simulated(&program, preset.spec()), &native, "{}", preset.name());
        }
    }
}
