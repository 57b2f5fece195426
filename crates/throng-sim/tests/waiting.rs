//! Waiting: when it ends, what it costs, and that every write wakes the waiting processor. An access costs
//! 10 cycles.

use std::cell::Cell;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use throng::machine::{Cpu, Line, Place, Word};
use throng_sim::{End, Outcome, POLL_CYCLES, Sim, SimCpu, SimWord, Simulation};

type Words = Vec<Line<SimWord>>;

/// Runs one body on processor 0 and another on processor 1, over three words on three lines.
fn run_two<R: 'static>(
    first: impl Fn(&Words, &SimCpu) -> R + 'static,
    second: impl Fn(&Words, &SimCpu) -> R + 'static,
) -> Outcome<Words, R> {
    let setup = || -> Words {
        let place = Place::named("word");
        (0..3).map(|i| Line::word::<Sim>(0, place.index(i))).collect()
    };
    let body = move |words: &Words, cpu: &SimCpu| match cpu.id() {
        0 => first(words, cpu),
        _ => second(words, cpu),
    };
    let outcome = Simulation::new()
        .ties_by_id()
        .processors(2)
        .access_cycles(10)
        .record_trace(true)
        .run(setup, body)
        .unwrap();
    assert_eq!(outcome.end, End::Finished);
    outcome
}

/// The time and processor of each access.
fn times<R>(outcome: &Outcome<Words, R>) -> Vec<(u64, usize)> {
    let trace = outcome.trace.as_ref().unwrap();
    trace.iter().map(|a| (a.time, a.processor)).collect()
}

#[test]
fn a_wait_ends_one_look_after_the_write_and_costs_nothing_meanwhile() {
    let outcome = run_two(
        |words, cpu| (words[0].wait_while(cpu, Acquire, |v| v == 0), cpu.clock()),
        |words, cpu| {
            cpu.pause(100);
            words[0].store(9, Release);
            (0, cpu.clock())
        },
    );
    // Looked at 0 to 10; the write goes from 100 to 110; looked again until 120.
    assert_eq!(outcome.results, [Some((9, 120)), Some((0, 110))]);
    assert_eq!(times(&outcome), [(10, 0), (110, 1), (120, 0)]);
}

#[test]
fn a_wait_for_a_word_that_is_right_already_is_one_access() {
    let outcome = run_two(
        |words, cpu| {
            words[0].wait_while(cpu, Acquire, |v| v != 0);
            cpu.clock()
        },
        |_, cpu| cpu.clock(),
    );
    assert_eq!(outcome.results, [Some(10), Some(0)]);
    assert_eq!(outcome.accesses, 1);
}

#[test]
fn each_write_costs_the_waiter_a_look_and_reads_and_other_words_do_not() {
    let outcome = run_two(
        |words, cpu| words[0].wait_while(cpu, Acquire, |v| v < 2),
        |words, cpu| {
            cpu.pause(100);
            words[1].store(5, Release); // another word
            words[0].load(Relaxed); // no write
            let _ = words[0].compare_exchange(7, 8, Relaxed, Relaxed); // fails, no write
            words[0].store(0, Release); // a write, if of the same value; done at 140
            cpu.pause(60);
            words[0].store(2, Release); // from 200 to 210
            0
        },
    );
    let looks: Vec<_> =
        times(&outcome).into_iter().filter(|&(_, processor)| processor == 0).collect();
    assert_eq!(looks, [(10, 0), (150, 0), (220, 0)]);
}

#[test]
fn nobody_sleeps_through_a_write_that_came_while_it_judged_the_value() {
    let outcome = run_two(
        |words, cpu| {
            // Looks at word 0 until 10 and then judges until 30; the write comes at 20.
            words[0].wait_while(cpu, Acquire, |v| {
                words[1].load(Relaxed);
                words[1].load(Relaxed);
                v == 0
            })
        },
        |words, _| {
            words[0].store(1, Release);
            0
        },
    );
    assert_eq!(outcome.results[0], Some(1));
    assert_eq!(times(&outcome)[2..4], [(20, 1), (30, 0)], "in between");
}

#[test]
fn all_who_wait_are_woken_and_queue() {
    let outcome = Simulation::new()
        .ties_by_id()
        .processors(5)
        .access_cycles(10)
        .run(
            || Line::word::<Sim>(0, Place::named("flag")),
            |flag, cpu| {
                if cpu.id() == 4 {
                    cpu.pause(990);
                    flag.store(1, Release);
                } else {
                    flag.wait_while(cpu, Acquire, |v| v == 0);
                }
                cpu.clock()
            },
        )
        .unwrap();
    let clocks: Vec<_> = outcome.results.into_iter().flatten().collect();
    assert_eq!(clocks, [1010, 1020, 1030, 1040, 1000]);
}

#[test]
fn a_spin_gives_up_when_its_polls_have_passed() {
    let outcome = run_two(
        |words, cpu| {
            let seen = words[0].spin_while(cpu, 5, Acquire, |v| v == 0);
            (seen, cpu.clock())
        },
        |_, _| (0, 0),
    );
    assert_eq!(outcome.results[0], Some((0, 10 + 4 * POLL_CYCLES)));
    assert_eq!(outcome.accesses, 1);
}

#[test]
fn a_spin_ends_one_look_after_a_write_in_time() {
    let outcome = run_two(
        |words, cpu| {
            let seen = words[0].spin_while(cpu, 1000, Acquire, |v| v == 0);
            (seen, cpu.clock())
        },
        |words, cpu| {
            cpu.pause(100);
            words[0].store(3, Release);
            (0, 0)
        },
    );
    assert_eq!(outcome.results[0], Some((3, 120)));
    assert_eq!(outcome.accesses, 3);
}

#[test]
fn a_spin_that_timed_out_is_not_woken_by_later_writes() {
    let outcome = run_two(
        |words, cpu| {
            words[0].spin_while(cpu, 2, Acquire, |v| v == 0);
            cpu.pause(1000); // until 1014; a wake-up would cut it short
            cpu.clock()
        },
        |words, cpu| {
            cpu.pause(100);
            words[0].store(3, Release);
            cpu.clock()
        },
    );
    assert_eq!(outcome.results, [Some(10 + POLL_CYCLES + 1000), Some(110)]);
}

#[test]
fn writes_that_do_not_help_do_not_make_a_spin_longer() {
    let outcome = run_two(
        |words, cpu| {
            // Until 10 + 20 polls.
            words[0].spin_while(cpu, 21, Acquire, |v| v < 100);
            cpu.clock()
        },
        |words, cpu| {
            cpu.pause(15);
            for i in 1..50 {
                words[0].store(i, Release);
            }
            0
        },
    );
    let ended = outcome.results[0].unwrap();
    let time = 10 + 20 * POLL_CYCLES;
    // It may be in the middle of a look, behind a write, when the time has passed.
    assert!((time..=time + 20).contains(&ended), "{ended}");
}

#[test]
fn a_spin_of_no_or_one_poll_is_one_look() {
    for polls in [0, 1] {
        let outcome = run_two(
            move |words, cpu| {
                let judged = Cell::new(0);
                let seen = words[0].spin_while(cpu, polls, Acquire, |_| {
                    judged.set(judged.get() + 1);
                    true
                });
                (seen, cpu.clock(), judged.get())
            },
            |_, _| (0, 0, 0),
        );
        assert_eq!(outcome.results[0], Some((0, 10, 0)), "{polls} polls");
    }
}

#[test]
fn a_spin_looks_no_more_often_than_told() {
    // An access is faster than a poll, and every look finds a new value.
    let outcome = Simulation::new()
        .ties_by_id()
        .processors(2)
        .access_cycles(1)
        .run(
            || Line::word::<Sim>(0, Place::named("word")),
            |word, cpu| {
                if cpu.id() == 1 {
                    (1..100).for_each(|i| word.store(i, Release));
                    return (0, 0);
                }
                let judged = Cell::new(0);
                word.spin_while(cpu, 10, Acquire, |_| {
                    judged.set(judged.get() + 1);
                    true
                });
                (judged.get(), cpu.clock())
            },
        )
        .unwrap();
    let (judged, ended) = outcome.results[0].unwrap();
    assert_eq!(judged, 9, "the tenth look is not judged");
    assert!(ended < 1 + 9 * POLL_CYCLES, "looks, not time, ended it");
}

#[test]
fn retries_let_others_run() {
    let outcome = run_two(
        |words, cpu| {
            let mut round = 0;
            while words[0].load(Acquire) == 0 {
                cpu.retry(round);
                round += 1;
            }
            cpu.clock()
        },
        |words, cpu| {
            cpu.pause(5000);
            words[0].store(1, Release);
            cpu.clock()
        },
    );
    assert!(outcome.results[0].unwrap() > 5000);
}

#[test]
fn time_does_not_go_back_when_judging_takes_longer_than_the_spin() {
    let outcome = run_two(
        |words, cpu| {
            let before = Cell::new(0);
            words[0].spin_while(cpu, 5, Acquire, |_| {
                (0..10).for_each(|_| {
                    words[1].load(Relaxed);
                });
                assert!(cpu.clock() > before.replace(cpu.clock()));
                true
            });
            (before.get(), cpu.clock())
        },
        |_, _| (0, 0),
    );
    // A look, and ten more to judge it: by then the spin is over.
    assert_eq!(outcome.results[0], Some((110, 110)));
    assert_eq!(outcome.cycles, 110);
}
