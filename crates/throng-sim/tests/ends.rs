//! How runs end: halted processors, waiting for ever, limits, panics, errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use throng::machine::{Cpu, Line, Place, Word};
use throng::structures::counter::{Counting, Hardware};
use throng_sim::{End, Faults, Sim, SimCpu, SimError, SimWord, Simulation, Waiting};

fn flag() -> Line<SimWord> {
    Line::word::<Sim>(0, Place::named("flag"))
}

/// A simulation that must come out as always.
fn assert_clean() {
    let outcome = Simulation::new()
        .processors(8)
        .ties_by_id()
        .run(Hardware::<Sim>::on_machine, |counter, cpu| counter.next_on(cpu))
        .unwrap();
    assert_eq!(outcome.end, End::Finished);
    assert_eq!((outcome.cycles, outcome.accesses), (80, 8));
    assert!(outcome.results.into_iter().flatten().eq(0..8));
}

#[test]
fn the_others_finish_when_one_is_halted() {
    let run = |faults| {
        Simulation::new()
            .processors(4)
            .faults(faults)
            .run(Hardware::<Sim>::on_machine, |counter, cpu| {
                [counter.next_on(cpu), counter.next_on(cpu)]
            })
            .unwrap()
    };
    // Just before its second access: the number is not taken. Just after: it is lost.
    let halts = [
        (Faults::none().halt_before(2, 2), 7),
        (Faults::none().halt_after(2, 2), 8),
        (Faults::none().random_halts(1, 1), 6),
    ];
    for (faults, taken) in halts {
        let outcome = run(faults.clone());
        assert_eq!(outcome.end, End::Finished);
        assert_eq!(outcome.halted.len(), 1);
        let halted = outcome.halted[0];
        for (id, result) in outcome.results.iter().enumerate() {
            assert_eq!(result.is_none(), id == halted, "processor {id}");
        }
        let next = outcome.shared.next_on(&SimCpu::outside(0));
        assert_eq!(next, taken, "{faults:?}");
    }
}

#[test]
fn all_can_be_halted() {
    let outcome = Simulation::new()
        .processors(300)
        .faults(Faults::none().random_halts(300, 3))
        .run(Hardware::<Sim>::on_machine, |counter, cpu| {
            counter.fill_on(cpu, &mut [0; 3]);
        })
        .unwrap();
    assert_eq!(outcome.halted.len(), 300);
    assert!(outcome.results.iter().all(Option::is_none));
    assert_clean();
}

/// Counts the drops, and stores to a word when dropped.
struct Guard<'a>(&'a SimWord, &'a Cell<u32>);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.store(1, Release);
        self.1.set(self.1.get() + 1);
    }
}

#[test]
fn destructors_of_those_who_do_not_finish_run_and_cost_nothing() {
    // Processor 0 is halted, processor 1 waits for ever, processor 2 finishes.
    let drops = Rc::new(Cell::new(0));
    let counted = Rc::clone(&drops);
    let outcome = Simulation::new()
        .processors(3)
        .faults(Faults::none().halt_before(0, 2))
        .record_trace(true)
        .run(
            || [flag(), flag(), flag()],
            move |flags, cpu| {
                let _guard = Guard(&flags[cpu.id()], &counted);
                flags[cpu.id()].load(Relaxed);
                match cpu.id() {
                    0 => flags[0].load(Relaxed),
                    1 => flags[1].wait_while(cpu, Acquire, |v| v == 0),
                    _ => 0,
                }
            },
        )
        .unwrap();
    assert_eq!(drops.get(), 3);
    for flag in &outcome.shared {
        assert_eq!(flag.load(Relaxed), 1);
    }
    // Two looks of processor 1, one of 0, and one look and the guard's store of 2.
    assert_eq!((outcome.accesses, outcome.cycles), (5, 20));
    assert_eq!(outcome.trace.unwrap().len(), 5);
    assert!(matches!(outcome.end, End::Stuck { .. }));
}

#[test]
fn a_destructor_that_waits_does_not_hang() {
    struct Waits<'a>(&'a SimWord, &'a SimCpu);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            self.0.wait_while(self.1, Acquire, |v| v == 0);
            self.0.spin_while(self.1, 100, Acquire, |v| v == 0);
            self.1.pause(100);
            self.1.retry(1);
        }
    }
    let outcome = Simulation::new()
        .faults(Faults::none().halt_before(0, 1))
        .run(flag, |flag, cpu| {
            let _waits = Waits(flag, cpu);
            flag.load(Relaxed);
        })
        .unwrap();
    assert_eq!((outcome.halted, outcome.cycles), (vec![0], 0));
}

#[test]
fn a_halted_processor_ends_even_if_its_body_catches_panics() {
    let outcome = Simulation::new()
        .faults(Faults::none().halt_before(0, 3))
        .run(flag, |flag, cpu| {
            loop {
                let job = AssertUnwindSafe(|| flag.load(Relaxed));
                let _ = catch_unwind(job);
                cpu.pause(1);
            }
        })
        .unwrap();
    let _: Vec<Option<()>> = outcome.results;
    assert_eq!(outcome.halted, [0]);
}

#[test]
fn those_who_wait_for_ever_are_named() {
    let outcome = Simulation::new()
        .processors(4)
        .run(
            || {
                let place = Place::named("door");
                [0, 1, 2, 3].map(|i| Line::word::<Sim>(0, place.index(i).near(i)))
            },
            |doors, cpu| {
                cpu.pause(100);
                if cpu.id() % 2 == 1 {
                    doors[cpu.id()].wait_while(cpu, Acquire, |v| v == 0);
                }
                cpu.id()
            },
        )
        .unwrap();
    let waiting = |processor| Waiting {
        processor,
        word: processor as u32,
        place: Place::named("door").index(processor).near(processor),
    };
    let expected = End::Stuck { waiting: vec![waiting(1), waiting(3)] };
    assert_eq!(outcome.end, expected);
    assert_eq!(
        outcome.end.to_string(),
        "stuck, 2 processors wait: processor 1 for door[1] (word 1), processor 3 for door[3] \
         (word 3)"
    );
    assert_eq!(outcome.results, [Some(0), None, Some(2), None]);
    assert_eq!(outcome.cycles, 110);
}

fn retry_for_ever(cpu: &SimCpu) {
    for round in 0..u32::MAX {
        cpu.retry(round);
    }
}

#[test]
fn those_who_never_get_ahead_are_stopped() {
    type Loop = fn(&SimWord, &SimCpu);
    let loops: [(&str, Loop); 4] = [
        ("accesses", |flag, _| while flag.load(Relaxed) == 0 {}),
        ("retries", |_, cpu| retry_for_ever(cpu)),
        ("pauses", |_, cpu| {
            loop {
                cpu.pause(1);
            }
        }),
        ("clock", |_, cpu| while cpu.clock() < 1_000_000 {}),
    ];
    for (what, endless) in loops {
        let outcome = Simulation::new()
            .processors(3)
            .ties_by_id()
            .step_limit(1000)
            .run(flag, move |flag, cpu| {
                if cpu.id() != 0 {
                    endless(flag, cpu);
                }
            })
            .unwrap();
        let expected = End::StepLimit { limit: 1000, unfinished: 2 };
        assert_eq!(outcome.end, expected, "{what}");
        assert_eq!(outcome.steps, 1001, "{what}");
        assert_eq!(outcome.results, [Some(()), None, None], "{what}");
        assert_eq!(
            outcome.end.to_string(),
            "stopped at the limit of 1000 steps with 2 processors unfinished"
        );
    }
    assert_clean();
}

/// The panic of `run`.
fn panic_of<R>(run: impl FnOnce() -> R) -> Box<dyn Any + Send> {
    catch_unwind(AssertUnwindSafe(run)).err().expect("a panic")
}

#[test]
fn a_panic_of_the_body_comes_out_with_processor_and_seed() {
    let panic = panic_of(|| {
        Simulation::new().processors(6).seed(77).run(
            || [flag(), flag()],
            |flags, cpu| {
                flags[0].fetch_add(1, Relaxed);
                if cpu.id() < 3 {
                    flags[1].wait_while(cpu, Acquire, |v| v == 0);
                }
                assert!(cpu.id() != 4, "{} is bad", cpu.id());
            },
        )
    });
    let text = panic.downcast_ref::<String>().unwrap();
    assert_eq!(text, "4 is bad (processor 4, seed 77)");
    assert_clean();
}

#[test]
fn a_panic_that_is_no_text_comes_out_as_it_is() {
    let panic = panic_of(|| {
        let run = Simulation::new().processors(2);
        run.run(flag, |_, _| std::panic::panic_any(5_u8))
    });
    assert_eq!(panic.downcast_ref(), Some(&5_u8));
    assert_clean();
}

#[test]
fn a_panic_of_the_setup_leaves_no_trace() {
    panic_of(|| Simulation::new().run(|| panic!("no setup"), |(), _| ()));
    assert_clean();
}

#[test]
fn a_body_may_panic_and_catch_it_and_its_destructors_wake_others() {
    let outcome = Simulation::new()
        .processors(2)
        .run(flag, |flag, cpu| {
            if cpu.id() == 1 {
                return flag.wait_while(cpu, Acquire, |v| v == 0);
            }
            cpu.pause(50);
            let drops = Cell::new(0);
            let panic = catch_unwind(AssertUnwindSafe(|| {
                let _guard = Guard(flag, &drops);
                std::panic::resume_unwind(Box::new(()));
            }));
            assert!(panic.is_err());
            cpu.clock()
        })
        .unwrap();
    assert_eq!(outcome.results, [Some(50), Some(1)]);
    assert_eq!(outcome.cycles, 60);
}

#[test]
fn a_simulation_inside_another_is_refused() {
    let inner = || Simulation::new().run(|| (), |(), _| ()).err();
    let outcome = Simulation::new().run(inner, move |_, _| inner()).unwrap();
    assert_eq!(outcome.shared, Some(SimError::AlreadyRunning));
    assert_eq!(outcome.results, [Some(Some(SimError::AlreadyRunning))]);
    assert!(SimError::AlreadyRunning.to_string().contains("already"));
}

#[test]
fn settings_out_of_range_are_refused() {
    let refused = [
        (Simulation::new().processors(0), "processors 0: must be from 1 to 65536"),
        (Simulation::new().processors(65_537), "processors 65537: must be from 1 to 65536"),
        (
            Simulation::new().access_cycles(0),
            "machine: coherence.access_cycles = 0: must be from 1 to 4294967296",
        ),
        (Simulation::new().stack_bytes(100), "stack bytes 100: must be from 16384 to 1073741824"),
        (
            Simulation::new().processors(2).faults(Faults::none().slow(2, 3)),
            "faults: processor 2: must be from 0 to 1",
        ),
    ];
    for (simulation, text) in refused {
        let error = simulation.run(|| (), |(), _| ()).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn a_word_of_another_simulation_is_refused() {
    let left_over = Simulation::new().run(flag, |_, _| ()).unwrap().shared;
    for word in [left_over, flag()] {
        word.store(1, Relaxed);
        let panic = panic_of(|| Simulation::new().run(|| word, |word, _| word.load(Relaxed)));
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("make it in the setup"), "{text}");
    }
    assert_clean();
}

#[test]
fn outside_words_act_at_once_and_a_wait_without_hope_panics() {
    let (word, cpu) = (flag(), SimCpu::outside(3));
    assert_eq!(cpu.id(), 3);
    word.store(4, Relaxed);
    assert_eq!(word.fetch_add(1, Relaxed), 4);
    assert_eq!(word.wait_while(&cpu, Acquire, |v| v != 5), 5);
    assert_eq!(word.spin_while(&cpu, 9, Acquire, |v| v == 5), 5);
    cpu.pause(10);
    cpu.retry(3);
    assert_eq!(cpu.clock(), 0);
    panic_of(|| word.wait_while(&cpu, Acquire, |v| v == 5));
    panic_of(|| retry_for_ever(&cpu));
}

#[test]
fn thousands_of_processors_run() {
    let outcome = Simulation::new()
        .processors(4096)
        .ties_by_id()
        .stack_bytes(32 << 10)
        .run(Hardware::<Sim>::on_machine, |counter, cpu| counter.next_on(cpu))
        .unwrap();
    assert_eq!(outcome.cycles, 40_960);
    assert!(outcome.results.into_iter().flatten().eq(0..4096));
}

#[test]
fn simulated_time_has_an_end() {
    let faults = Faults::none().random_preemptions(1, 1 << 40);
    let outcome = Simulation::new()
        .processors(2)
        .faults(faults)
        .run(flag, |flag, _| (0..1000).for_each(|i| flag.store(i, Relaxed)))
        .unwrap();
    assert_eq!(outcome.end, End::TimeLimit { unfinished: 2 });
    assert!(outcome.cycles < 1 << 48);
    assert_eq!(
        outcome.end.to_string(),
        "stopped at the end of simulated time, 2^48 cycles, with 2 processors unfinished"
    );
}
