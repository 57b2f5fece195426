//! The default structures in a few hundred calls of a few threads, through the public interface only: for Miri (the
//! script `miri`) and for emulated processors (`targets`), which take thousands of times as long as this machine.

use std::cell::UnsafeCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Acquire, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use throng::machine::{Line, Native, Patience, Place, WayOut, Word};
use throng::structures::counter::Gathering;
use throng::structures::counter::gathering::Levels;
use throng::{Barrier, Counter, Pool, Queue, for_each_index};

const THREADS: u64 = 3;

/// How many calls each thread makes.
const CALLS: u64 = if cfg!(miri) { 24 } else { 3_000 };

/// Runs `part` on each of [`THREADS`] threads, and returns what they return.
fn on_threads<R: Send>(part: impl Fn(u64) -> R + Sync) -> Vec<R> {
    thread::scope(|scope| {
        let part = &part;
        let threads: Vec<_> = (0..THREADS).map(|id| scope.spawn(move || part(id))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no part panics")).collect()
    })
}

/// On the heap, so that a read of an item that has been dropped or was never written is seen.
type Item = Box<(u64, u64)>;

/// Every thread pushes and pops. Checks that all items come out once, and those of a producer in order.
fn check_queue(queue: &Queue<Item>, holds_all: bool) {
    let taken = on_threads(|id| {
        let mut taken = Vec::new();
        for number in 0..CALLS {
            let mut item = Box::new((id, number));
            while let Err(back) = queue.try_push(item) {
                assert!(!holds_all, "an unbounded queue is never full");
                item = back.into_inner();
                taken.extend(queue.try_pop().ok());
            }
            if number % 2 == 0 {
                taken.extend(queue.try_pop().ok());
            }
        }
        taken
    });
    queue.close();
    let rest: Vec<Item> = queue.drain().collect();
    let parts: Vec<Vec<Item>> = taken.into_iter().chain([rest]).collect();
    for part in &parts {
        for producer in 0..THREADS {
            let numbers = part.iter().filter(|item| item.0 == producer).map(|item| item.1);
            assert!(numbers.is_sorted_by(|a, b| a < b), "items of {producer} are out of order");
        }
    }
    let all: HashSet<_> = parts.iter().flatten().collect();
    assert_eq!(parts.iter().flatten().count() as u64, THREADS * CALLS);
    assert_eq!(all.len() as u64, THREADS * CALLS);
}

#[test]
fn queues_hand_out_every_item_once_and_in_order() {
    check_queue(&Queue::unbounded(), true);
    for capacity in [1, 2, 7] {
        check_queue(&Queue::bounded(capacity), false);
    }
}

#[test]
fn producers_and_consumers_sleep_and_are_woken() {
    let queue = Queue::bounded(1);
    let sum: u64 = thread::scope(|scope| {
        let consumers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| std::iter::from_fn(|| queue.pop()).map(|item: Item| item.1).sum())
            })
            .collect();
        thread::sleep(Duration::from_millis(2));
        let push_all = || (1..=CALLS).for_each(|number| queue.push(Box::new((0, number))).unwrap());
        let producers = [scope.spawn(push_all), scope.spawn(push_all)];
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        queue.close();
        consumers.into_iter().map(|consumer| -> u64 { consumer.join().unwrap() }).sum()
    });
    assert_eq!(sum, CALLS * (CALLS + 1));
    assert!(queue.pop_timeout(Duration::from_millis(1)).is_err());
}

#[test]
fn items_left_in_queues_and_pools_are_dropped() {
    let dropped = AtomicUsize::new(0);
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }
    let (queue, pool) = (Queue::unbounded(), Pool::new());
    for _ in 0..40 {
        assert!(queue.push(Counted(&dropped)).is_ok());
        assert!(pool.push(Counted(&dropped)).is_ok());
    }
    drop((queue.pop(), pool.pop()));
    assert_eq!(dropped.load(Relaxed), 2);
    drop((queue, pool));
    assert_eq!(dropped.load(Relaxed), 80);
}

#[test]
fn a_pool_hands_out_every_job_once() {
    let pool = Pool::new();
    let taken = on_threads(|id| {
        let mut taken: Vec<Item> = Vec::new();
        for number in 0..CALLS {
            // One thread only pushes, and the others push little, so that they take its jobs.
            if id == 0 || number % 4 == 0 {
                pool.push(Box::new((id, number))).expect("it is open");
            }
            if id > 0 {
                taken.extend(pool.try_pop().ok());
            }
        }
        taken
    });
    pool.close();
    let all: Vec<Item> = taken.into_iter().flatten().chain(pool.drain()).collect();
    let pushed = CALLS + (THREADS - 1) * CALLS / 4;
    assert_eq!(all.len() as u64, pushed);
    assert_eq!(all.iter().collect::<HashSet<_>>().len() as u64, pushed);
}

#[test]
fn threads_that_wait_for_jobs_get_them_or_the_end() {
    let pool = Pool::new();
    let taken: u64 = thread::scope(|scope| {
        let work = || std::iter::from_fn(|| pool.pop()).sum();
        let workers = [scope.spawn(work), scope.spawn(work)];
        for job in 1..=CALLS {
            pool.push(job).expect("it is open");
            if job % 8 == 0 {
                thread::sleep(Duration::from_micros(100));
            }
        }
        pool.close();
        workers.into_iter().map(|worker| -> u64 { worker.join().unwrap() }).sum()
    });
    assert_eq!(taken, CALLS * (CALLS + 1) / 2);
}

/// A plain variable that the threads of a barrier take in turns: Miri sees accesses that are not ordered.
struct Turn(UnsafeCell<u64>);

// SAFETY: `next` is called by one thread at a time.
unsafe impl Sync for Turn {}

impl Turn {
    fn next(&self) -> u64 {
        // SAFETY: between two rounds of a barrier only one thread has its turn.
        let value = unsafe { &mut *self.0.get() };
        *value += 1;
        *value
    }
}

#[test]
fn a_barrier_orders_what_is_before_and_after_it() {
    let barrier = Barrier::new(THREADS as usize);
    let turn = Turn(UnsafeCell::new(0));
    let led = on_threads(|id| {
        let mut led = 0;
        for round in 0..CALLS {
            if round % THREADS == id {
                assert_eq!(turn.next(), round + 1);
            }
            led += u64::from(barrier.wait().is_leader());
        }
        led
    });
    assert_eq!(led.iter().sum::<u64>(), CALLS, "one leader a round");
}

#[test]
fn members_of_a_team_meet() {
    let turn = Turn(UnsafeCell::new(0));
    thread::scope(|scope| {
        for mut member in Barrier::team(THREADS as usize) {
            let turn = &turn;
            scope.spawn(move || {
                for round in 0..CALLS {
                    if round % THREADS == member.rank() as u64 {
                        assert_eq!(turn.next(), round + 1);
                    }
                    member.wait();
                }
            });
        }
    });
}

/// Checks that `next` gives each thread numbers that no other gets.
fn check_numbers(next: impl Fn() -> u64 + Sync) {
    let numbers = on_threads(|_| (0..CALLS).map(|_| next()).collect::<Vec<u64>>());
    assert!(numbers.iter().all(|own| own.is_sorted_by(|a, b| a < b)), "a thread's numbers grow");
    let mut all = numbers.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..THREADS * CALLS));
}

#[test]
fn counters_give_every_number_once() {
    let counter = Counter::new();
    check_numbers(|| counter.next());
    assert_eq!(counter.next_many(5), THREADS * CALLS..THREADS * CALLS + 5);

    let gathering = Gathering::new(Levels::of_heights(&[1]).expect("it is small"));
    check_numbers(|| gathering.next());
}

#[test]
fn loops_call_every_index_once_and_pass_panics_on() {
    let length = 4 * CALLS as usize;
    let calls: Vec<AtomicUsize> = (0..length).map(|_| AtomicUsize::new(0)).collect();
    for_each_index(0..length, THREADS as usize, |index| {
        calls[index].fetch_add(1, Relaxed);
    });
    assert!(calls.iter().all(|calls| calls.load(Relaxed) == 1));

    let end = catch_unwind(AssertUnwindSafe(|| {
        for_each_index(0..length, THREADS as usize, |index| assert_ne!(index, length / 2));
    }));
    assert!(end.is_err());
}

/// Two threads signal each other by turns and sleep at once. A wake-up is lost if the thread that sends it reads that no
/// thread sleeps, and the thread that falls asleep reads the old word. Then the sleep ends by its timer, after 20 ms.
/// Miri lets loads read old values, and its clock counts what is executed: a turn takes at most 18 ms, and 27 ms or more if a
/// wake-up is lost in it. The first turn also starts a thread.
#[test]
fn no_wake_up_is_lost_to_an_old_value() {
    let words = [0, 1].map(|_| Line::word::<Native>(0, Place::named("turn")));
    let turns = if cfg!(miri) { 100 } else { 1_000 };
    let slowest = thread::scope(|scope| {
        let threads = [0, 1].map(|me| {
            let words = &words;
            scope.spawn(move || {
                let (cpu, way_out) = (Native::cpu(), WayOut::none().patience(Patience::NONE));
                let mut slowest = Duration::ZERO;
                for turn in 1..=turns {
                    if me == 0 {
                        words[0].signal(turn);
                    }
                    let start = Instant::now();
                    words[1 - me].sleep_while(&cpu, Acquire, &way_out, |seen| seen < turn);
                    if turn > 1 {
                        slowest = slowest.max(start.elapsed());
                    }
                    if me == 1 {
                        words[1].signal(turn);
                    }
                }
                slowest
            })
        });
        threads.map(|thread| thread.join().expect("no turn panics")).into_iter().max()
    });
    assert!(!cfg!(miri) || slowest < Some(Duration::from_millis(22)), "{slowest:?}");
}
