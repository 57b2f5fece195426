//! Methods of queues, pools, counters and barriers that have no test of their own elsewhere.

use std::collections::BTreeSet;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use throng::channel::{self, RecvError};
use throng::drop_in::{ArrayQueue, SegQueue};
use throng::pool::Closed;
use throng::queue::{PopError, PopTimeoutError, PushError, PushTimeoutError};
use throng::{Barrier, Counter, Pool, Queue};

const SHORT: Duration = Duration::from_millis(20);
/// 100 years: longer than the clock's nanoseconds since the start of the program need, and than any sleep.
const LONG: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Calls `f` and checks that it took at least [`SHORT`].
fn not_before<R>(f: impl FnOnce(Instant) -> R) -> R {
    let start = Instant::now();
    let result = f(start + SHORT);
    assert!(start.elapsed() >= SHORT, "{:?}", start.elapsed());
    result
}

#[test]
fn waits_of_a_queue_end_at_the_deadline() {
    let queue = Queue::bounded(1);
    assert_eq!(not_before(|deadline| queue.pop_deadline(deadline)), Err(PopTimeoutError::Timeout));
    assert_eq!(not_before(|_| queue.pop_timeout(SHORT)), Err(PopTimeoutError::Timeout));
    let past = Instant::now();
    assert_eq!(queue.push_deadline(1, past), Ok(()), "there is room");
    assert_eq!(queue.push_deadline(2, past), Err(PushTimeoutError::Timeout(2)));
    assert_eq!(
        not_before(|deadline| queue.push_deadline(2, deadline)),
        Err(PushTimeoutError::Timeout(2))
    );
    assert_eq!(not_before(|_| queue.push_timeout(2, SHORT)), Err(PushTimeoutError::Timeout(2)));
    assert_eq!(queue.pop_deadline(past), Ok(1), "there is an item");
    queue.close();
    assert_eq!(queue.push_deadline(3, past + LONG), Err(PushTimeoutError::Closed(3)));
    assert_eq!(queue.pop_deadline(past + LONG), Err(PopTimeoutError::Closed));
}

#[test]
fn waits_of_a_pool_end_at_the_deadline() {
    let pool = Pool::new();
    assert_eq!(not_before(|deadline| pool.pop_deadline(deadline)), Err(PopTimeoutError::Timeout));
    assert_eq!(not_before(|_| pool.pop_timeout(SHORT)), Err(PopTimeoutError::Timeout));
    pool.push(1).expect("it is open");
    assert_eq!(pool.pop_deadline(Instant::now()), Ok(1), "there is a job");
    pool.close();
    assert_eq!(pool.pop_deadline(Instant::now() + LONG), Err(PopTimeoutError::Closed));
}

#[test]
fn waits_of_a_barrier_end_at_the_deadline() {
    let barrier = Barrier::new(2);
    assert!(not_before(|deadline| barrier.wait_deadline(deadline)).is_err());
    assert!(barrier.is_broken() && barrier.wait_checked().is_err());
    let mut team = Barrier::team(2);
    assert!(not_before(|deadline| team[0].wait_deadline(deadline)).is_err());
    assert!(team[1].is_broken());
}

/// 2^64 + 1 nanoseconds.
const WRAPS: Duration = Duration::new(18_446_744_073, 709_551_617);

/// A sum with the time of now would overflow, and so would a conversion to 64 bits.
#[test]
fn no_time_is_too_long() {
    for time in [LONG, Duration::from_nanos(u64::MAX), WRAPS, Duration::MAX] {
        let (items, room, jobs) = (Queue::unbounded(), Queue::bounded(1), Pool::new());
        let (barrier, mut team) = (Barrier::new(2), Barrier::team(2));
        room.push(0).expect("it is open");
        thread::scope(|scope| {
            let mut last = team.pop().expect("two members");
            let mut first = team.pop().expect("two members");
            let (items, room, jobs, barrier) = (&items, &room, &jobs, &barrier);
            scope.spawn(move || {
                thread::sleep(SHORT);
                items.push(1).expect("it is open");
                assert_eq!(room.pop(), Some(0));
                jobs.push(2).expect("it is open");
                barrier.wait();
                first.wait();
            });
            // Checked at the end: a wait that has ended early must not keep the other thread waiting.
            let item = items.pop_timeout(time);
            let pushed = room.push_timeout(3, time);
            let job = jobs.pop_timeout(time);
            let met = (barrier.wait_timeout(time).is_ok(), last.wait_timeout(time).is_ok());
            assert_eq!((item, pushed, job, met), (Ok(1), Ok(()), Ok(2), (true, true)), "{time:?}");
        });
    }
}

#[test]
fn the_only_owner_pushes_and_pops_without_waiting() {
    let mut queue = Queue::bounded(2);
    assert_eq!((queue.push_mut(1), queue.push_mut(2)), (Ok(()), Ok(())));
    assert_eq!(queue.push_mut(3), Err(PushError::Full(3)));
    assert_eq!((queue.pop_mut(), queue.pop_mut(), queue.pop_mut()), (Some(1), Some(2), None));
    queue.close();
    assert_eq!((queue.push_mut(4), queue.pop_mut()), (Err(PushError::Closed(4)), None));

    let mut pool = Pool::new();
    assert_eq!((pool.push_mut(1), pool.pop_mut(), pool.pop_mut()), (Ok(()), Some(1), None));
    pool.close();
    assert_eq!((pool.push_mut(2), pool.pop_mut()), (Err(Closed(2)), None));

    let (mut few, mut many) = (ArrayQueue::new(1), SegQueue::new());
    assert_eq!((few.push_mut(1), few.push_mut(2), few.pop_mut()), (Ok(()), Err(2), Some(1)));
    many.push_mut(1);
    assert_eq!((few.pop_mut(), many.pop_mut(), many.pop_mut()), (None, Some(1), None));
}

#[test]
fn batches_wait_for_the_first_item_only() {
    let (queue, pool) = (Queue::bounded(100), Pool::new());
    let (mut items, mut jobs) = (vec![7], vec![7]);
    assert_eq!((queue.pop_many(&mut items, 0), pool.pop_many(&mut jobs, 0)), (0, 0));
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(SHORT);
            queue.push_iter(0..1000).expect("it is open");
            queue.close();
            pool.push_iter(0..1000).expect("it is open");
            pool.close();
        });
        while let popped @ 1.. = queue.pop_many(&mut items, 64) {
            assert!(popped <= 64);
        }
        while let popped @ 1.. = pool.pop_many(&mut jobs, 64) {
            assert!(popped <= 64);
        }
    });
    assert!(items.into_iter().eq([7].into_iter().chain(0..1000)), "in order, after what was there");
    assert_eq!((jobs[0], jobs.len()), (7, 1001));
    assert_eq!(jobs[1..].iter().copied().collect::<BTreeSet<_>>(), (0..1000).collect());
    assert_eq!(queue.try_pop_many(&mut Vec::new(), 9), Err(PopError::Closed));
}

#[test]
fn a_batch_whose_iterator_panics_is_pushed_as_far_as_it_came() {
    let (queue, pool) = (Queue::unbounded(), Pool::new());
    let items = || (0..9).map(|item| if item < 5 { item } else { panic!("no item {item}") });
    assert!(catch_unwind(AssertUnwindSafe(|| queue.push_iter(items()))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| pool.push_iter(items()))).is_err());
    assert!(queue.drain().eq(0..5));
    assert_eq!(pool.drain().collect::<BTreeSet<_>>(), (0..5).collect());
    assert_eq!((queue.push(7), pool.push(7)), (Ok(()), Ok(())));
}

#[test]
fn a_closed_pool_leaves_the_rest_of_a_batch_in_the_iterator() {
    let pool = Pool::new();
    pool.close();
    let mut jobs = 0..5;
    assert_eq!(pool.push_iter(&mut jobs), Err(Closed(0)));
    assert!(jobs.eq(1..5));
}

#[test]
fn only_a_queue_that_overwrites_is_pushed_into_by_force() {
    let queue = Queue::bounded(1);
    assert!(catch_unwind(|| queue.force_push(1)).is_err());
    assert!(queue.is_empty());
    let unbounded: Queue<u32> = (0..100).collect();
    assert_eq!((unbounded.force_push(100), unbounded.len()), (Ok(None), 101));
    let overwriting = Queue::overwriting(2);
    for item in 0..100 {
        let oldest = (item >= 2).then(|| item - 2);
        assert_eq!(overwriting.force_push(item), Ok(oldest));
    }
    overwriting.close();
    assert_eq!(overwriting.force_push(100), Err(Closed(100)));
    assert!(overwriting.iter().eq(98..100));
}

/// With more threads than cores, and consumers that do not wait. It took a millisecond for each item.
#[test]
fn a_crowd_pushes_by_force_and_pops() {
    const ITEMS: u64 = 5000;
    let (latest, producing) = (ArrayQueue::new(3), AtomicU64::new(4));
    let mut all: Vec<u64> = thread::scope(|scope| {
        let push = |producer| {
            let own = producer * ITEMS..(producer + 1) * ITEMS;
            let displaced = own.filter_map(|item| latest.force_push(item)).collect::<Vec<_>>();
            producing.fetch_sub(1, SeqCst);
            displaced
        };
        let pop = || {
            let mut popped = Vec::new();
            while producing.load(SeqCst) > 0 || !latest.is_empty() {
                popped.extend(iter::from_fn(|| latest.pop()));
            }
            popped
        };
        let producers = (0..4).map(|producer| scope.spawn(move || push(producer)));
        let consumers = (0..4).map(|_| scope.spawn(pop));
        let threads: Vec<_> = producers.chain(consumers).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    all.sort_unstable();
    assert!(all.into_iter().eq(0..4 * ITEMS), "each item comes out once");
}

#[test]
fn a_producer_that_panics_ends_the_waits_of_a_channel_and_not_of_a_queue() {
    for capacity in [Some(0), Some(1), None] {
        let (sender, receiver) = capacity.map_or_else(channel::unbounded::<u32>, channel::bounded);
        let producer = thread::spawn(move || {
            let _sender = sender;
            thread::sleep(SHORT);
            panic!("a mistake");
        });
        assert_eq!(receiver.recv(), Err(RecvError));
        assert!(producer.join().is_err());
    }

    let queue = Queue::<u32>::unbounded();
    thread::scope(|scope| {
        assert!(scope.spawn(|| panic!("a mistake of a user of {queue:?}")).join().is_err());
    });
    assert!(!queue.is_closed());
    assert_eq!(queue.pop_timeout(SHORT), Err(PopTimeoutError::Timeout));
}

#[test]
fn a_counter_that_is_used_up_says_so() {
    let counter = Counter::builder().start_at(u64::MAX - 10).build();
    assert_eq!(counter.checked_next_many(11), None, "nothing is drawn");
    assert_eq!(counter.checked_next_many(4), Some(u64::MAX - 10..u64::MAX - 6));
    let drawn: BTreeSet<u64> = thread::scope(|scope| {
        let draw = || (0..5).filter_map(|_| counter.checked_next()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(draw)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(drawn.into_iter().eq(u64::MAX - 6..u64::MAX));
    assert_eq!((counter.checked_next(), counter.peek()), (None, u64::MAX));
    assert_eq!(counter.checked_next_many(0), Some(u64::MAX..u64::MAX));
    let past_the_end = counter.next_many(2);
    assert_eq!((past_the_end.start, past_the_end.end), (u64::MAX, 1), "as fetch_add");
}

#[test]
fn what_peek_returns_was_not_drawn_before() {
    let counter = Counter::new();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    let own = counter.next();
                    assert!(counter.peek() > own);
                }
            });
        }
    });
    assert_eq!(counter.peek(), 30_000);
}
