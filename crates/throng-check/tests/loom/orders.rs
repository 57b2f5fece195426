//! A linearizable counter orders memory: what a processor wrote before its call is seen by processors with larger numbers.

use std::sync::Mutex;

use libtest_mimic::Trial;
use throng::machine::{Cell, Cpu};
use throng::structures::counter::gathering::Levels;
use throng::structures::counter::{Consistency, Counter, Counting, Policy, Shape, methods};
use throng_check::worlds::{Loom, LoomCell, LoomCpu};

use crate::counters::preemptions_of_three;
use crate::harness::passes;

/// A counter, and for each writer and each reader a letter.
struct Ordered<C> {
    counter: C,
    processors: usize,
    letters: Vec<LoomCell<bool>>,
    numbers: Mutex<Vec<u64>>,
}

impl<C> Ordered<C> {
    fn new(counter: C, processors: usize) -> Self {
        let letter = |_| Cell::<_, Loom>::new(false, &());
        let letters = (0..processors * processors).map(letter).collect();
        Ordered { counter, processors, letters, numbers: Mutex::default() }
    }

    fn others(&self, me: usize) -> impl Iterator<Item = usize> {
        (0..self.processors).filter(move |&other| other != me)
    }

    /// Writes, draws a number, and reads what the others wrote if it was the last number.
    fn call(&self, cpu: &LoomCpu, draw: impl Fn(&C, &LoomCpu) -> u64) {
        let me = cpu.id();
        for reader in self.others(me) {
            let letter = &self.letters[me * self.processors + reader];
            // SAFETY: one processor runs at a time, and loom reports accesses that the counter does not order.
            unsafe { Cell::<_, Loom>::with_mut(letter, |is_written| *is_written = true) };
        }
        let number = draw(&self.counter, cpu);
        self.numbers.lock().unwrap().push(number);
        if number + 1 == self.processors as u64 {
            for writer in self.others(me) {
                let letter = &self.letters[writer * self.processors + me];
                // SAFETY: as above.
                let is_written = unsafe { Cell::<_, Loom>::with_mut(letter, |written| *written) };
                assert!(
                    is_written,
                    "{me} has number {number} and does not see what {writer} wrote"
                );
            }
        }
    }

    /// Each number was given once.
    fn assert_once(&self) {
        let mut numbers = self.numbers.lock().unwrap().clone();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..self.processors as u64), "{numbers:?}");
    }
}

fn explore<C: Send + Sync + 'static>(
    processors: usize,
    preemptions: usize,
    make: impl Fn() -> C + Send + Sync + 'static,
    draw: impl Fn(&C, &LoomCpu) -> u64 + Send + Sync + 'static,
) {
    Loom::explore(
        processors,
        preemptions,
        move || Ordered::new(make(), processors),
        move |ordered, cpu| ordered.call(cpu, &draw),
        Ordered::assert_once,
    );
}

type Draw = fn(&Counter<Loom>, &LoomCpu) -> u64;

/// All ways to draw a number.
const DRAWS: [(&str, Draw); 4] = [
    ("next", |counter, cpu| counter.next_on(cpu)),
    ("next_many", |counter, cpu| counter.next_many_on(cpu, 1).start),
    ("fill", |counter, cpu| {
        let mut numbers = [0];
        counter.fill_on(cpu, &mut numbers);
        numbers[0]
    }),
    ("checked", |counter, _| {
        counter.checked_next_many(1).map_or(u64::MAX, |numbers| numbers.start)
    }),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for method in methods::<Loom>() {
        if method.about.consistency != Consistency::Linearizable {
            continue;
        }
        let of_three = preemptions_of_three(&method, 0);
        for (processors, preemptions, width) in
            [(2, 3, 1), (2, 3, 2), (3, of_three, 1), (3, of_three, 2)]
        {
            let name = method.about.name;
            let name = format!("orders::{name}::{processors}::width_{width}");
            trials.push(passes(name, move || {
                let shape = Shape::tiny(processors, width);
                let make = move || method.build(&shape).expect("a small shape");
                explore(processors, preemptions, make, |counter, cpu| counter.next_on(cpu));
            }));
        }
    }
    for (name, draw) in DRAWS {
        let flat = || Counter::builder().policy(Policy::Stay(Levels::FLAT)).on_machine::<Loom>();
        trials.push(passes(format!("orders::counter::one_word::{name}"), move || {
            explore(2, 3, flat, draw);
        }));
    }
    // Processors 0 and 1 are in one group, 2 is in another.
    for (name, draw) in &DRAWS[..2] {
        trials.push(passes(format!("orders::counter::groups_of_2::{name}"), move || {
            let make = || {
                let pairs = Levels::of_heights(&[1]).expect("a height that can be");
                let policy = Policy::Stay(pairs);
                Counter::builder().policy(policy).prepared_for(3).on_machine::<Loom>()
            };
            explore(3, 2, make, draw);
        }));
    }
    trials
}
