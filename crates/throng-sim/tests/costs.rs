//! What things cost, against times computed by hand. An access costs 10 cycles.

use std::sync::atomic::Ordering::{AcqRel, Relaxed};

use throng::machine::{Cell, Cpu, Line, Machine, Place, Word};
use throng_sim::{End, Faults, Operation, Sim, SimWord, Simulation};

fn machine(processors: usize) -> Simulation {
    Simulation::new().processors(processors).access_cycles(10).ties_by_id().record_trace(true)
}

/// Words on one line.
fn neighbours(count: usize) -> Line<Vec<SimWord>> {
    Line::new::<Sim>(Place::named("neighbours"), |spot| {
        (0..count).map(|_| SimWord::new(0, spot)).collect()
    })
}

/// Words with a line each.
fn apart(count: usize) -> Vec<Line<SimWord>> {
    (0..count).map(|i| Line::word::<Sim>(0, Place::named("apart").index(i))).collect()
}

/// The clocks that the processors returned.
fn clocks(results: Vec<Option<u64>>) -> Vec<u64> {
    results.into_iter().map(Option::unwrap).collect()
}

#[test]
fn every_operation_is_one_access() {
    let outcome = machine(1)
        .run(
            || apart(1),
            |words, cpu| {
                let word = &words[0];
                let mut clocks = Vec::new();
                word.store(5, Relaxed);
                clocks.push(cpu.clock());
                assert_eq!(word.load(Relaxed), 5);
                clocks.push(cpu.clock());
                assert_eq!(word.swap(6, Relaxed), 5);
                clocks.push(cpu.clock());
                assert_eq!(word.compare_exchange(6, 7, Relaxed, Relaxed), Ok(6));
                clocks.push(cpu.clock());
                assert_eq!(word.compare_exchange(6, 8, Relaxed, Relaxed), Err(7));
                clocks.push(cpu.clock());
                assert_eq!(word.fetch_add(3, AcqRel), 7);
                clocks.push(cpu.clock());
                assert_eq!(word.fetch_sub(11, AcqRel), 10);
                clocks.push(cpu.clock());
                assert_eq!(word.fetch_and(0xF0, AcqRel), u64::MAX);
                clocks.push(cpu.clock());
                assert_eq!(word.fetch_or(0x0F, AcqRel), 0xF0);
                clocks.push(cpu.clock());
                Sim::fence(AcqRel);
                clocks.push(cpu.clock());
                clocks
            },
        )
        .unwrap();
    let expected = [10, 20, 30, 40, 50, 60, 70, 80, 90, 90];
    assert_eq!(outcome.results[0].as_deref(), Some(&expected[..]));
    assert_eq!((outcome.accesses, outcome.cycles), (9, 90));
    assert_eq!(outcome.shared[0].load(Relaxed), 0xFF);

    use Operation::*;
    let trace: Vec<_> =
        outcome.trace.unwrap().iter().map(|a| (a.time, a.operation, a.found, a.written)).collect();
    assert_eq!(
        trace,
        [
            (10, Store, 0, Some(5)),
            (20, Load, 5, None),
            (30, Swap, 5, Some(6)),
            (40, CompareExchange, 6, Some(7)),
            (50, CompareExchange, 7, None),
            (60, FetchAdd, 7, Some(10)),
            (70, FetchSub, 10, Some(u64::MAX)),
            (80, FetchAnd, u64::MAX, Some(0xF0)),
            (90, FetchOr, 0xF0, Some(0xFF)),
        ]
    );
}

#[test]
fn two_processors_queue_on_one_line_and_the_smaller_id_goes_first() {
    let outcome = machine(2)
        .run(|| apart(1), |words, cpu| (words[0].fetch_add(1, AcqRel), cpu.clock()))
        .unwrap();
    assert_eq!(outcome.results, [Some((0, 10)), Some((1, 20))]);
}

#[test]
fn the_line_serves_whoever_comes_first() {
    // Processor 1 comes at 0, processor 0 at 5, processor 2 when all is quiet again.
    let outcome = machine(3)
        .run(
            || apart(1),
            |words, cpu| {
                cpu.pause([5, 0, 100][cpu.id()]);
                (words[0].fetch_add(1, AcqRel), cpu.clock())
            },
        )
        .unwrap();
    assert_eq!(outcome.results, [Some((1, 20)), Some((0, 10)), Some((2, 110))]);
}

#[test]
fn n_writers_on_a_line_take_n_accesses_of_time() {
    for n in [1, 7, 100] {
        let outcome = machine(n)
            .run(|| apart(1), |words, cpu| words[0].store(cpu.id() as u64, Relaxed))
            .unwrap();
        assert_eq!(outcome.cycles, 10 * n as u64);
        assert_eq!(outcome.accesses, n as u64);
        assert_eq!(outcome.shared[0].load(Relaxed), n as u64 - 1, "the last wins");
    }
}

#[test]
fn neighbours_queue_together_and_others_do_not() {
    let together = machine(3)
        .run(
            || neighbours(3),
            |words, cpu| {
                words[cpu.id()].store(1, Relaxed);
                cpu.clock()
            },
        )
        .unwrap();
    assert_eq!(clocks(together.results), [10, 20, 30]);
    assert_eq!(together.places.len(), 3);

    let apart = machine(3)
        .run(
            || apart(3),
            |words, cpu| {
                words[cpu.id()].store(1, Relaxed);
                cpu.clock()
            },
        )
        .unwrap();
    assert_eq!(clocks(apart.results), [10, 10, 10]);
    assert_eq!(apart.places[2].to_string(), "apart[2]");
}

#[test]
fn a_cell_costs_one_access_on_its_line() {
    type Slot = Line<(SimWord, <Sim as Machine>::Cell<String>)>;
    let setup = || -> Slot {
        Line::new::<Sim>(Place::named("slot"), |spot| {
            (SimWord::new(0, spot), Cell::new(String::from("a"), spot))
        })
    };
    let outcome = machine(2)
        .run(setup, |slot, cpu| {
            if cpu.id() == 0 {
                // SAFETY: no other processor uses the cell.
                unsafe { slot.1.with_mut(|text| text.push('b')) };
            } else {
                slot.0.store(1, Relaxed);
            }
            cpu.clock()
        })
        .unwrap();
    assert_eq!(clocks(outcome.results), [10, 20]);
    assert_eq!(outcome.trace.unwrap()[0].operation, Operation::Cell);
    assert_eq!(outcome.shared.into_inner().1.into_inner(), "ab");
}

#[test]
fn pauses_and_retries_take_time_and_the_clock_none() {
    let outcome = machine(1)
        .run(
            || apart(1),
            |words, cpu| {
                cpu.pause(0);
                let nothing = cpu.clock();
                cpu.pause(7);
                let paused = cpu.clock();
                words[0].load(Relaxed);
                let loaded = cpu.clock();
                cpu.retry(0);
                let early = cpu.clock() - loaded;
                cpu.retry(1000);
                let late = cpu.clock() - loaded - early;
                assert!(0 < early && early < late && late < 100, "{early}, {late}");
                (nothing, paused, loaded)
            },
        )
        .unwrap();
    assert_eq!(outcome.results, [Some((0, 7, 17))]);
}

#[test]
fn stalled_and_slow_processors_take_as_long_as_told() {
    let run = |faults| {
        let outcome = machine(2)
            .faults(faults)
            .run(
                || apart(2),
                |words, cpu| {
                    for _ in 0..3 {
                        words[cpu.id()].fetch_add(1, Relaxed);
                    }
                    cpu.clock()
                },
            )
            .unwrap();
        assert_eq!(outcome.end, End::Finished);
        clocks(outcome.results)
    };
    assert_eq!(run(Faults::none()), [30, 30]);
    assert_eq!(run(Faults::none().stall(1, 2, 500)), [30, 530]);
    assert_eq!(run(Faults::none().slow(0, 4)), [120, 30]);
    assert_eq!(run(Faults::none().slow(0, 4).stall(0, 3, 5)), [125, 30]);
    // One in one, and a delay of up to one cycle: every access is late by one.
    assert_eq!(run(Faults::none().random_delays(1, 1)), [33, 33]);
}

#[test]
fn slow_processors_pause_longer_too() {
    let run = |faults| {
        let pauses = machine(2).faults(faults).run(
            || (),
            |(), cpu| {
                cpu.pause(7);
                cpu.clock()
            },
        );
        clocks(pauses.unwrap().results)
    };
    assert_eq!(run(Faults::none()), [7, 7]);
    assert_eq!(run(Faults::none().slow(1, 3)), [7, 21]);
}

#[test]
fn an_access_is_issued_when_its_processor_asks_and_waits_in_line_until_it_takes_effect() {
    let outcome = machine(2)
        .run(
            || apart(1),
            |words, cpu| {
                words[0].fetch_add(1, AcqRel);
                cpu.pause(7);
                words[0].fetch_add(1, AcqRel);
            },
        )
        .unwrap();
    let trace = outcome.trace.unwrap().into_iter().zip(outcome.issued.unwrap());
    let times: Vec<_> =
        trace.map(|(access, issued)| (access.processor, issued, access.time)).collect();
    assert_eq!(times, [(0, 0, 10), (1, 0, 20), (0, 17, 30), (1, 27, 40)]);
}
