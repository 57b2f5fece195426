//! What can be seen from inside only; the rest is checked in the crate `throng-check`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::pool::Closed;

fn tiny(capacity: Option<usize>, block_bits: u32) -> Queue<u64> {
    Queue::on_machine(QueueShape::tiny(capacity, block_bits)).expect("it can be built")
}

#[test]
fn items_leave_as_they_came() {
    for block_bits in [1, 3, 8] {
        for capacity in [None, Some(1), Some(2), Some(5), Some(100)] {
            let queue = tiny(capacity, block_bits);
            let room = capacity.unwrap_or(70) as u64;
            for round in 0..50 {
                for item in 0..room {
                    assert_eq!(queue.try_push(1000 * round + item), Ok(()));
                }
                assert_eq!(queue.len() as u64, room);
                assert_eq!(queue.try_push(7).is_err(), capacity.is_some());
                for item in 0..room {
                    assert_eq!(queue.try_pop(), Ok(1000 * round + item));
                }
                if capacity.is_none() {
                    assert_eq!(queue.try_pop(), Ok(7));
                }
                assert_eq!(queue.try_pop(), Err(PopError::Empty));
            }
        }
    }
}

#[test]
fn tickets_begin_again_after_the_last() {
    for before in [1_u64, 3, 10, 300] {
        let first = Ticket::new(before.wrapping_neg());
        for shape in
            [QueueShape::tiny(Some(4), 1), QueueShape::tiny(None, 2), QueueShape::UNBOUNDED]
        {
            let queue = Queue::<u64>::starting_at(first, shape).expect("it can be built");
            for item in 0..700 {
                assert_eq!(queue.try_push(item), Ok(()));
                assert_eq!(queue.try_push(item + 1), Ok(()));
                assert_eq!(queue.len(), 2);
                assert_eq!((queue.try_pop(), queue.try_pop()), (Ok(item), Ok(item + 1)));
                assert_eq!(queue.try_pop(), Err(PopError::Empty));
            }
        }
    }
}

#[test]
fn memory_returns_when_the_queue_is_drained() {
    let queue = Queue::unbounded();
    for item in 0..100_000_u64 {
        queue.push(item).expect("it is open");
    }
    assert!(queue.blocks.allocated() >= 100_000 / 256);
    assert_eq!(queue.drain().count(), 100_000);
    assert!(queue.blocks.allocated() <= SPARES + 2, "{} pieces", queue.blocks.allocated());
    // And it does not grow when the same is done again and again.
    let frames = queue.blocks.frames_made();
    for _ in 0..10 {
        (0..100_000_u64).for_each(|item| queue.push(item).expect("it is open"));
        assert_eq!(queue.drain().count(), 100_000);
    }
    assert!(queue.blocks.frames_made() <= frames + 2);
}

#[test]
fn what_polls_an_empty_or_full_or_closed_queue_changes_nothing() {
    let queue = tiny(Some(2), 1);
    for _ in 0..10_000 {
        assert_eq!(queue.try_pop(), Err(PopError::Empty));
        assert_eq!(queue.pop_timeout(Duration::ZERO), Err(PopError::Empty));
    }
    queue.push(1).expect("it is open");
    queue.push(2).expect("it is open");
    for _ in 0..10_000 {
        assert_eq!(queue.try_push(3), Err(PushError::Full(3)));
        assert_eq!(queue.push_timeout(3, Duration::ZERO), Err(PushError::Full(3)));
    }
    assert!(queue.close() && !queue.close());
    for _ in 0..10_000 {
        assert_eq!(queue.push(3), Err(Closed(3)));
    }
    assert_eq!((queue.pop(), queue.pop()), (Some(1), Some(2)));
    for _ in 0..10_000 {
        assert_eq!(queue.pop(), None);
        assert_eq!(queue.try_pop(), Err(PopError::Closed));
    }
    assert!(queue.blocks.allocated() <= 4);
}

/// Each of them draws a ticket that is void, and of void tickets there must not be too many.
#[test]
fn a_crowd_of_producers_does_not_open_a_closed_queue() {
    for capacity in [None, Some(2), Some(1000)] {
        let queue = tiny(capacity, 1);
        queue.tickets.be_bold();
        assert!(queue.close());
        for _ in 0..1 << 19 {
            assert_eq!(queue.try_push(3), Err(PushError::Closed(3)));
        }
        assert!(queue.is_closed() && queue.is_empty() && queue.pop().is_none());
    }
}

/// Else who never gets the place that it sees would wait on, round after round.
#[test]
fn when_the_time_is_over_nobody_waits_though_there_is_room_or_an_item() {
    let (queue, cpu) = (tiny(Some(2), 1), Native::cpu());
    let (over, never) = (WayOut::after(&cpu, Duration::ZERO), WayOut::none());
    assert!(!queue.tickets.wait_for_room(&cpu, Ticket::new(0), &over));
    assert!(queue.tickets.wait_for_room(&cpu, Ticket::new(0), &never));
    queue.push(1).expect("it is open");
    assert!(!queue.tickets.wait_for_item(&cpu, &over));
    assert!(queue.tickets.wait_for_item(&cpu, &never));
}

/// Else nobody would put the next block in place, or retire those that are done.
#[test]
fn who_comes_half_way_finds_no_hint_though_a_later_one_left_it() {
    let queue = tiny(None, 3);
    // The second block, scattered; in its middle, and after that.
    queue.blocks.prepare_after(Ticket::new(0), true);
    let (half_way, later) = (Ticket::new(8 + 4), Ticket::new(8 + 6));
    queue.blocks.find_anew(Side::Push, later);
    assert!(queue.blocks.find_scattered(Side::Push, later).is_some());
    assert!(queue.blocks.find_scattered(Side::Push, half_way).is_none());
}

#[test]
fn a_producer_that_was_passed_over_keeps_its_item() {
    let queue = tiny(None, 2);
    pass_over(&queue);
    // The same where a look without a fence proves nothing.
    let queue = tiny(None, 2);
    queue.blocks.be_careful();
    pass_over(&queue);
    for item in 0..100 {
        assert_eq!(queue.push(item), Ok(()));
        assert_eq!(queue.try_pop(), Ok(item));
    }
}

fn pass_over(queue: &Queue<u64>) {
    let cpu = Native::cpu();
    let stopped = queue.tickets.draw_push(&cpu).expect("there is room").ticket;
    queue.push(8).expect("it is open");
    // The first ticket has no item, but the second has.
    assert_eq!(queue.try_pop(), Ok(8));
    assert_eq!(queue.try_pop(), Err(PopError::Empty));
    let Found { slot, this_use } = queue.blocks.find_again(stopped);
    // SAFETY: the ticket was drawn above, and is used here only.
    unsafe { slot.put(this_use, 7) };
    assert_eq!(queue.blocks.take_back(stopped, slot, this_use), Some(7));
    assert_eq!(queue.blocks.take_back(stopped, slot, this_use), None, "once");
}

#[test]
fn a_consumer_in_a_hurry_takes_what_came_in_the_last_moment() {
    let queue = tiny(None, 2);
    let cpu = Native::cpu();
    let ticket = queue.tickets.draw_push(&cpu).expect("there is room").ticket;
    assert_eq!(queue.tickets.draw_pop(&cpu).map(Head::next), Ok(ticket));
    let Found { slot, this_use } = queue.blocks.find_again(ticket);
    // SAFETY: the ticket was drawn above, and is used here only.
    unsafe { slot.put(this_use, 7) };
    assert_eq!(queue.blocks.give_up(ticket), Some(7));
    assert_eq!(queue.blocks.take_back(ticket, slot, this_use), None, "the consumer has it");
}

#[test]
fn nobody_can_ask_for_the_impossible() {
    for capacity in [0, QueueShape::MOST_CAPACITY + 1, usize::MAX] {
        let refused = Queue::<u8>::on_machine(QueueShape::bounded(capacity)).expect_err("absurd");
        assert!(refused.to_string().starts_with("capacity "), "{refused}");
    }
    let large = QueueShape { block_bits: 40, ..QueueShape::UNBOUNDED };
    assert!(Queue::<u8>::on_machine(large).is_err());
    assert!(catch_unwind(|| Queue::<u8>::bounded(0)).is_err());
}

#[test]
fn who_sleeps_is_woken() {
    let queue = Queue::bounded(1);
    let start = Instant::now();
    thread::scope(|scope| {
        let taken: Vec<_> = (0..3).map(|_| scope.spawn(|| queue.pop())).collect();
        thread::sleep(Duration::from_millis(30));
        queue.push(1).expect("it is open");
        queue.push(2).expect("it is open");
        thread::sleep(Duration::from_millis(30));
        queue.close();
        let mut taken: Vec<_> = taken.into_iter().map(|one| one.join().expect("fine")).collect();
        taken.sort();
        assert_eq!(taken, [None, Some(1), Some(2)]);
    });
    assert!(start.elapsed() < Duration::from_secs(5));

    let queue = Queue::bounded(1);
    queue.push(0).expect("it is open");
    thread::scope(|scope| {
        let queue = &queue;
        let pushed: Vec<_> = (1..=3).map(|i| scope.spawn(move || queue.push(i))).collect();
        thread::sleep(Duration::from_millis(30));
        assert!(queue.pop().is_some());
        thread::sleep(Duration::from_millis(30));
        queue.close();
        let refused = pushed.into_iter().map(|one| one.join().expect("fine"));
        assert_eq!(refused.filter(Result::is_err).count(), 2);
    });
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Who is not told sleeps for 20 ms, or what is left of them.
#[test]
fn who_sleeps_is_told_of_every_item_and_of_all_room() {
    const ROUNDS: u32 = 100;
    let queue = Queue::bounded(1);
    let when_it_sleeps = |sleeps: &dyn Fn() -> bool| {
        while !sleeps() {
            thread::yield_now();
        }
        // It says so before it does so.
        thread::sleep(Duration::from_millis(2));
    };
    let room = || {
        thread::scope(|scope| {
            scope.spawn(|| (0..=ROUNDS).for_each(|item| queue.push(item).expect("it is open")));
            for item in 0..ROUNDS {
                when_it_sleeps(&|| queue.tickets.producers_sleep());
                assert_eq!(queue.pop(), Some(item));
            }
        });
        assert_eq!(queue.pop(), Some(ROUNDS));
    };
    let items = || {
        thread::scope(|scope| {
            scope.spawn(|| (0..ROUNDS).for_each(|item| assert_eq!(queue.pop(), Some(item))));
            for item in 0..ROUNDS {
                when_it_sleeps(&|| queue.tickets.consumers_sleep());
                queue.push(item).expect("it is open");
            }
        });
    };
    // A thread that is told may be kept waiting by others that run, but not each time.
    let is_quick = |rounds: &dyn Fn()| {
        let start = Instant::now();
        rounds();
        start.elapsed() < ROUNDS * Duration::from_millis(6)
    };
    assert!((0..5).any(|_| is_quick(&room)), "room");
    assert!((0..5).any(|_| is_quick(&items)), "items");
}

/// Sleeps end by themselves, but not that soon: after a second and a half each takes 640 ms.
#[test]
fn who_sleeps_is_woken_when_the_queue_is_closed() {
    let empty = Queue::<u64>::unbounded();
    let full = tiny(Some(1), 1);
    full.push(0).expect("it is open");
    thread::scope(|scope| {
        let consumers = [(); 3].map(|()| scope.spawn(|| (empty.pop().is_none(), Instant::now())));
        let producers = [(); 3].map(|()| scope.spawn(|| (full.push(1).is_err(), Instant::now())));
        thread::sleep(Duration::from_millis(1500));
        let closed = Instant::now();
        assert!(empty.close() && full.close());
        for waiter in consumers.into_iter().chain(producers) {
            let (was_told, when) = waiter.join().expect("it does not panic");
            assert!(was_told);
            assert!(when - closed < Duration::from_millis(250), "{:?}", when - closed);
        }
    });
}

static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Angry(bool);

impl Drop for Angry {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, SeqCst);
        assert!(!self.0, "an item that panics when it is dropped");
    }
}

#[test]
fn items_that_panic_when_dropped_do_not_keep_others() {
    let queue = Queue::unbounded();
    for item in 0..1000 {
        assert!(queue.push(Angry(item == 300)).is_ok());
    }
    drop(queue.pop());
    let dropped = catch_unwind(AssertUnwindSafe(|| drop(queue)));
    assert!(dropped.is_err());
    assert_eq!(DROPPED.load(SeqCst), 1000);
}

#[test]
fn items_may_be_of_any_size_and_lifetime() {
    let text = String::from("borrowed");
    let queue = Queue::bounded(3);
    queue.push(text.as_str()).expect("it is open");
    assert_eq!(queue.pop(), Some("borrowed"));

    let nothing = Queue::unbounded();
    for _ in 0..1000 {
        nothing.push(()).expect("it is open");
    }
    assert_eq!(nothing.drain().count(), 1000);

    let large = Queue::unbounded();
    for item in 0..1000_u64 {
        large.push([item; 40]).expect("it is open");
    }
    assert!(large.drain().enumerate().all(|(index, item)| item == [index as u64; 40]));
}
