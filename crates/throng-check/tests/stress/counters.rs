//! Each counter on real threads.

use std::sync::Barrier;
use std::thread;

use libtest_mimic::Trial;
use throng::machine::{Cpu, Native};
use throng::structures::counter::{Counting, Registered, Shape, methods};
use throng_check::history::Call;
use throng_check::spec::check_counter;

use crate::broken::counters as broken;
use crate::harness::{self, is_caught, passes};

/// Makes calls on the calling thread, timed.
fn count(counter: &dyn Counting, calls: usize) -> Vec<Call> {
    let cpu = Native::cpu();
    (0..calls)
        .map(|_| {
            let started = cpu.clock();
            let value = counter.next_on(&cpu);
            Call::finished(started, cpu.clock(), value)
        })
        .collect()
}

fn check(method: &Registered<Native>, calls: &[Call]) {
    if let Err(violation) = check_counter(&method.about, calls) {
        panic!("{} broke its promise: {violation}", method.about.name);
    }
}

/// Runs all threads at once, from a common start.
fn crowd(method: Registered<Native>, shape: Shape, calls: usize) {
    let counter = method.build(&shape).expect("a shape for threads");
    let threads = shape.processors;
    let start = Barrier::new(threads);
    let body = || {
        start.wait();
        count(&*counter, calls)
    };
    let calls: Vec<Call> = thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(body)).collect();
        all.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    check(&method, &calls);
}

/// Each lane starts a new thread as soon as its last one has ended, so that ids are reused all the
/// time. A few threads stay throughout.
fn coming_and_going(method: Registered<Native>, lanes: usize, visits: usize) {
    let counter = method.build(&Shape::for_processors(2)).expect("a shape for threads");
    let counter = &*counter;
    let visit = |calls| thread::scope(|s| s.spawn(|| count(counter, calls)).join());
    let lane = || -> Vec<Call> {
        (0..visits).flat_map(|i| visit(1 + i % 7).expect("no thread panics")).collect()
    };
    let stay = || count(counter, 2 * visits);
    let calls: Vec<Call> = thread::scope(|scope| {
        let mut all: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        all.extend((0..2).map(|_| scope.spawn(stay)));
        all.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect()
    });
    check(&method, &calls);
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort();
    let mut trials = Vec::new();
    for method in methods::<Native>() {
        let name = method.about.name;
        for (threads, calls) in [(2, 200_000), (3, 100_000), (16, 5_000), (64, 1_000)] {
            let shape = Shape::for_processors(threads);
            let run = move || crowd(method, shape, calls * effort);
            trials.push(passes(format!("{name}::crowd_of_{threads}"), run));
        }
        // Counters that change their shape do so all the time.
        let restless = Shape::for_processors(24).patience(0).bank(3);
        let run = move || crowd(method, restless, 1000 * effort);
        trials.push(passes(format!("{name}::restless"), run));
        let run = move || coming_and_going(method, 8, 150 * effort);
        trials.push(passes(format!("{name}::coming_and_going"), run));
    }
    let racy = Registered::of::<broken::ReadThenAdd<Native>>();
    trials.push(is_caught("broken::read-then-add".into(), "broke its promise", move || {
        // Two cores race at once; on one core only a preemption at the wrong moment shows the
        // fault.
        for _ in 0..200 {
            crowd(racy, Shape::for_processors(4), 20_000);
        }
    }));
    trials
}
