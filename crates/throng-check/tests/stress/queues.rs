//! Each queue on real threads: more of them than cores, coming and going, waiting and giving up; and items
//! whose drop panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use throng::Queue;
use throng::machine::{Native, SplitMix64};
use throng::queue::{PopTimeoutError, PushTimeoutError};
use throng_check::history::{Answer, Asked, Request};
use throng_check::workload::{
    Can, ForcedQueue, Kind, Ledger, ObservedQueue, Parcel, Step, kinds, program,
};

use crate::broken::queues as broken;
use crate::harness::{self, is_caught, passes, silently};

/// Runs `body` on `threads` threads at once, with their numbers.
fn on_threads(threads: usize, body: impl Fn(usize) + Sync) {
    let (body, start) = (&body, &Barrier::new(threads));
    thread::scope(|scope| {
        for number in 0..threads {
            scope.spawn(move || {
                start.wait();
                body(number);
            });
        }
    });
}

/// Producers push, and consumers wait for items until it is closed.
fn share(kind: Kind<Native>, capacity: Option<usize>, sides: [usize; 2], each: usize) {
    let threads = sides[0] + sides[1];
    let observed = ObservedQueue::timed(&kind, capacity, 0, threads);
    on_threads(threads, |number| observed.share(&Native::cpu(), number, sides[0], each));
    observed.settle(&Native::cpu());
}

/// All threads make random calls, and give up after microseconds of waiting. None closes it before
/// the last of `rounds` short programs.
fn at_random(kind: Kind<Native>, capacity: Option<usize>, block: usize, threads: usize, seed: u64) {
    const ROUNDS: u64 = 40;
    let observed = ObservedQueue::timed(&kind, capacity, block, threads);
    on_threads(threads, |number| {
        let open = Can { be_closed: false, ..kind.can };
        for round in 0..ROUNDS {
            let can = if round + 1 < ROUNDS { open } else { kind.can };
            let program = program(can, true, seed * ROUNDS + round, number, 25);
            observed.perform(&Native::cpu(), number, &program);
        }
    });
    if seed.is_multiple_of(3) {
        observed.abandon(0, "");
    } else {
        observed.settle(&Native::cpu());
    }
}

/// Threads push and pop without a bound for `calls` calls in all, and no call is in progress at the end, nor is the queue
/// closed. For such a record the conditions are all of linearizability, so that it is judged exactly
/// (`throng_check::spec::queue`); for a pool, "empty" is.
fn long_record(kind: Kind<Native>, threads: usize, calls: usize) {
    let observed = ObservedQueue::timed(&kind, None, 1, threads);
    let can = Can { be_closed: false, pop_many: false, ..kind.can };
    on_threads(threads, |number| {
        // More pops than pushes, so that the queue is empty again and again.
        for round in 0..calls / threads / PROGRAM {
            let mut program = program(can, false, round as u64, number, PROGRAM - 4);
            program.extend([Step::TryPop; 4]);
            observed.perform(&Native::cpu(), number, &program);
        }
    });
    let requests = observed.requests();
    assert!(
        requests.len() >= calls - threads * PROGRAM && requests.iter().all(is_over),
        "{kind:?}"
    );
    let empty = requests.iter().filter(|request| request.answer() == Some(Answer::Empty)).count();
    assert!(empty > calls / 1_000, "{kind:?}: told that it is empty {empty} times");
    observed.settle(&Native::cpu());
}

/// Steps of a program of [`long_record`].
const PROGRAM: usize = 20;

fn is_over(request: &Request) -> bool {
    request.answered.is_some() && request.asked != Asked::Close
}

/// Each lane starts a new thread as soon as its last one has ended.
fn coming_and_going(kind: Kind<Native>, capacity: Option<usize>, lanes: usize, visits: u64) {
    let observed = ObservedQueue::timed(&kind, capacity, 2, lanes);
    let open = Can { be_closed: false, ..kind.can };
    on_threads(lanes, |lane| {
        for visit in 0..visits {
            let observed = &observed;
            thread::scope(|scope| {
                scope.spawn(move || {
                    let program = program(open, true, visit, lane, 1 + visit as usize % 7);
                    observed.perform(&Native::cpu(), lane, &program);
                });
            });
        }
    });
    observed.settle(&Native::cpu());
}

/// One thread waits for an item that does not come: not much shorter than its time-out, and not for
/// ever.
fn gives_up() {
    const PATIENCE: Duration = Duration::from_millis(30);
    let queue = Queue::bounded(1);
    let wait = |ask: &dyn Fn()| {
        let start = Instant::now();
        ask();
        let waited = start.elapsed();
        assert!(waited >= PATIENCE && waited < PATIENCE + Duration::from_secs(5), "{waited:?}");
    };
    wait(&|| assert_eq!(queue.pop_timeout(PATIENCE), Err(PopTimeoutError::Timeout)));
    assert_eq!(queue.push(1), Ok(()));
    wait(&|| assert_eq!(queue.push_timeout(2, PATIENCE), Err(PushTimeoutError::Timeout(2))));
    assert_eq!(queue.pop_timeout(PATIENCE), Ok(1));
}

/// Closing wakes all threads that wait for items or for room.
fn all_get_the_error(waiters: usize) {
    let empty = Queue::<u32>::bounded(1);
    let full = Queue::bounded(1);
    assert_eq!(full.push(0), Ok(()));
    on_threads(2 * waiters + 1, |number| {
        if number == 2 * waiters {
            thread::sleep(Duration::from_millis(50));
            assert!(empty.close() && full.close());
        } else if number % 2 == 0 {
            assert_eq!(empty.pop(), None);
        } else {
            assert!(full.push(number).is_err());
        }
    });
    assert_eq!((full.pop(), full.pop()), (Some(0), None));
}

/// An item whose drop panics is dropped with the queue, after `before` others and before `after`
/// more. All are dropped once.
fn one_explodes(kind: Kind<Native>, block: usize, before: usize, after: usize) {
    let (cpu, ledger) = (Native::cpu(), Ledger::for_makers(1));
    let store = (kind.build)(None, block);
    let push = |parcel: Parcel| assert!(store.try_push_on(&cpu, parcel).is_ok(), "there is room");
    // Not from the first slot on.
    (0..3).for_each(|_| push(ledger.parcel(0)));
    (0..3).for_each(|_| drop(store.try_pop_on(&cpu)));
    (0..before).for_each(|_| push(ledger.parcel(0)));
    push(ledger.parcel(0).exploding());
    (0..after).for_each(|_| push(ledger.parcel(0)));
    let dropped = silently(|| catch_unwind(AssertUnwindSafe(|| drop(store))));
    assert!(dropped.is_err(), "{}: the panic is passed on", kind.name);
    if let Err(wrong) = ledger.check(0) {
        panic!("{} broke its promise: {wrong}", kind.name);
    }
}

/// A popped item panics when a thread drops it, which does not concern the queue.
fn one_explodes_outside(kind: Kind<Native>) {
    let (cpu, ledger) = (Native::cpu(), Ledger::for_makers(1));
    let store = (kind.build)(None, 2);
    for number in 0..5 {
        let parcel = ledger.parcel(0);
        let parcel = if number == 1 { parcel.exploding() } else { parcel };
        assert!(store.try_push_on(&cpu, parcel).is_ok(), "there is room");
    }
    let pop = || drop(store.try_pop_on(&cpu));
    let exploded = |_: &i32| silently(|| catch_unwind(AssertUnwindSafe(pop)).is_err());
    // Until all are out: not every store is ordered.
    assert_eq!((0..20).filter(exploded).count(), 1);
    drop(store);
    assert_eq!(ledger.check(0), Ok(()));
}

/// Calls of a [`long_record`].
const LONG_RECORD: usize = 120_000;

fn trials_of(kind: Kind<Native>, effort: usize) -> Vec<Trial> {
    let name = kind.name;
    let mut trials = Vec::new();
    let capacities = [None, Some(1), Some(2), Some(64)];
    let capacities = capacities.into_iter().filter(|c| kind.can.be_bounded || c.is_none());
    for capacity in capacities {
        let name = format!("queues::{name}::capacity_{}", capacity.unwrap_or(0));
        for (sides, each) in [([1, 1], 60_000), ([2, 2], 20_000), ([6, 2], 3_000), ([24, 24], 300)]
        {
            let [producers, consumers] = sides;
            let run = move || share(kind, capacity, sides, each * effort);
            trials.push(passes(format!("{name}::{producers}_to_{consumers}"), run));
        }
        trials.push(passes(format!("{name}::at_random"), move || {
            for seed in 0..30 * effort as u64 {
                let threads = [2, 3, 4, 7][seed as usize % 4];
                at_random(kind, capacity, [1, 2, 4, 0][seed as usize / 4 % 4], threads, seed);
            }
        }));
        trials.push(passes(format!("{name}::coming_and_going"), move || {
            coming_and_going(kind, capacity, 6, 150 * effort as u64);
        }));
    }
    for threads in [2, 4, 12] {
        let name = format!("queues::{name}::long_record_of_{threads}");
        trials.push(passes(name, move || long_record(kind, threads, LONG_RECORD * effort)));
    }
    trials.push(passes(format!("queues::{name}::one_explodes"), move || {
        let mut random = SplitMix64::from_state(1);
        for block in [1, 2, 4, 0] {
            one_explodes(kind, block, 0, 0);
            for _ in 0..20 {
                let [before, after] = [0, 1].map(|_| random.below(40) as usize);
                one_explodes(kind, block, before, after);
            }
        }
        one_explodes_outside(kind);
    }));
    trials
}

pub(crate) fn trials() -> Vec<Trial> {
    let effort = harness::effort();
    let mut trials = Vec::new();
    for kind in kinds::<Native>() {
        trials.extend(trials_of(kind, effort));
    }
    trials.push(passes("queues::queue::gives_up".into(), gives_up));
    for waiters in [1, 5] {
        let name = format!("queues::queue::all_of_{}_get_the_error", 2 * waiters);
        trials.push(passes(name, move || all_get_the_error(waiters)));
    }
    for capacity in [1, 2, 64] {
        let name = format!("queues::forced::capacity_{capacity}");
        trials.push(passes(name, move || forced(ForcedQueue::new(capacity, 6), 6)));
    }
    trials.push(is_caught("queues::broken::pops-then-pushes".into(), "broke its promise", || {
        (0..50).for_each(|_| forced(broken::pops_then_pushes(1, 6), 6));
    }));
    trials.extend(broken_trials());
    trials
}

/// Runs threads that force items in, and pop after every second one.
fn forced(queue: ForcedQueue<Native>, threads: usize) {
    on_threads(threads, |number| queue.perform(&Native::cpu(), number, 20_000));
    queue.settle(&Native::cpu());
}

fn broken_trials() -> Vec<Trial> {
    let promise = "broke its promise";
    let mut trials: Vec<Trial> = broken::mistaken()
        .into_iter()
        .map(|kind| {
            is_caught(format!("queues::broken::{}", kind.name), promise, move || {
                for seed in 0..300 {
                    at_random(kind, Some(2), 2, 3, seed);
                }
            })
        })
        .collect();
    for kind in broken::rarely_mistaken() {
        let name = format!("queues::broken::{}", kind.name);
        trials.push(is_caught(name, promise, move || long_record(kind, 4, LONG_RECORD)));
    }
    // What a race does, real threads see now and then: of these, one at least is caught.
    trials.push(is_caught("queues::broken::some-that-race".into(), promise, || {
        let kinds = broken::racy();
        for seed in 0..3000 {
            at_random(kinds[seed as usize % kinds.len()], Some(2), 2, 4, seed);
        }
    }));
    for kind in broken::sound::<_, 4000>() {
        trials.push(passes(
            format!("queues::broken::but-for-its-faults::{}", kind.name),
            move || {
                share(kind, Some(3), [2, 2], 2_000);
                (0..8).for_each(|seed| at_random(kind, Some(2), 2, 3, seed));
            },
        ));
    }
    trials
}
