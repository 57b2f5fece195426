//! Tests of the queue's internals. The rest is checked in the crate `throng-check`. They stand in one file because they
//! share the helpers at its beginning.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::{Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::absent::{Feature, is_absent};
use crate::channel::parts::{Buffered, Entry};
use crate::error::Closed;
use draw::{Drawn, NoTicket};
use left::Side;
use push::{LONGEST_POP, NotPushed};
use words::{CONSUMERS_SLEEP, Head, PRODUCERS_SLEEP};

impl<T> Queue<T> {
    fn bounded(capacity: usize) -> Self {
        Queue::on_machine(QueueShape::bounded(capacity)).expect("it can be built")
    }

    fn drain(&self) -> impl Iterator<Item = T> {
        iter::from_fn(|| self.try_pop().ok())
    }

    fn pop_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        let cpu = Native::cpu();
        self.pop_on(&cpu, &WayOut::after(&cpu, timeout))
    }

    fn push_timeout(&self, item: T, timeout: Duration) -> Result<(), PushError<T>> {
        let cpu = Native::cpu();
        self.push_on(&cpu, item, &WayOut::after(&cpu, timeout))
    }
}

fn tiny(capacity: Option<usize>, ring_bits: u32) -> Queue<u64> {
    Queue::on_machine(QueueShape::tiny(capacity, ring_bits)).expect("it can be built")
}

/// The constant is written apart from the code that builds queues on any machine.
#[test]
fn a_constant_queue_is_like_one_that_was_built() {
    let words = |queue: &Queue<u64>| {
        let Hints { left, last, front, first, .. } = &*queue.hints;
        let words = [&queue.tail, &queue.head].map(|word| word.load(SeqCst));
        let links = [last, front].map(|word| word.load(SeqCst));
        let hints = queue.hints.values();
        (words, links, hints, left.is_any(), first.start(), first.len(), queue.shape)
    };
    let built = Queue::on_machine(QueueShape::UNBOUNDED).expect("it can be built");
    let constant = const { Queue::unbounded() };
    assert_eq!(words(&constant), words(&built));
    for queue in [&constant, &built] {
        queue.push(7).expect("it is open");
        // The table of left tickets is read only if it may have entries.
        assert_eq!(queue.hints.left.may_be_any(), !Native::has_light_fence());
    }
    assert_eq!(words(&constant).0, words(&built).0);
}

#[test]
fn a_batch_sends_a_wake_up_for_each_item() {
    let queue = tiny(Some(2), 1);
    (0..2).for_each(|item| queue.try_push(item).expect("there is room"));
    (0..3).for_each(|_| queue.producers.register());
    queue.head.fetch_or(PRODUCERS_SLEEP, SeqCst);
    let mut items = Vec::new();
    assert_eq!(queue.try_pop_many_on(&Native::cpu(), &mut items, 2), Ok(2));
    assert!(queue.producers.wake(0), "there was no room for the third producer");
    assert!(!queue.producers.wake(1), "the other two have a wake-up");
}

#[test]
fn items_leave_as_they_came() {
    for ring_bits in [0, 1, 3, 8] {
        for capacity in [None, Some(1), Some(2), Some(5), Some(100)] {
            let queue = tiny(capacity, ring_bits);
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

/// Returns the sizes of the rings of a queue.
fn rings(queue: &Queue<u64>) -> Vec<usize> {
    let mut rings = Vec::new();
    let mut ring = &queue.hints.first;
    loop {
        rings.push(ring.len());
        match ring.next.load(Acquire) {
            0 => return rings,
            // SAFETY: rings live as long as the queue.
            next => ring = unsafe { &*Queue::<u64>::ring_at(next) },
        }
    }
}

#[test]
fn an_unbounded_queue_doubles_its_ring_and_keeps_the_last() {
    let queue = Queue::unbounded();
    assert_eq!(rings(&queue), [0], "nothing is allocated before the first push");
    for _ in 0..10 {
        (0..1000).for_each(|item| queue.push(item).expect("it is open"));
        assert!(queue.drain().eq(0..1000));
    }
    assert_eq!(rings(&queue), [0, 16, 32, 64, 128, 256, 512, 1024]);
}

#[test]
fn polling_an_empty_or_full_or_closed_queue_changes_nothing() {
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
}

/// A closed queue counts void draws in bits that must not overflow.
#[test]
fn a_crowd_of_producers_does_not_open_a_closed_queue() {
    for capacity in [None, Some(2), Some(1000)] {
        let queue = tiny(capacity, 1);
        queue.hints.set_pushes_look_first(false);
        assert!(queue.close());
        for _ in 0..1 << 19 {
            assert_eq!(queue.try_push(3), Err(PushError::Closed(3)));
        }
        assert!(queue.is_closed() && queue.is_empty() && queue.pop().is_none());
    }
}

/// Otherwise a thread that never gets the room or item that it sees would wait round after round.
#[test]
fn when_the_time_is_over_a_wait_ends_though_there_is_room_or_an_item() {
    let (queue, cpu) = (tiny(Some(2), 1), Native::cpu());
    let (over, never) = (WayOut::after(&cpu, Duration::ZERO), WayOut::none());
    assert!(!queue.wait_for_room(&cpu, Ticket::new(0), &over));
    assert!(queue.wait_for_room(&cpu, Ticket::new(0), &never));
    queue.push(1).expect("it is open");
    assert!(!queue.wait_for_item(&cpu, &over));
    assert!(queue.wait_for_item(&cpu, &never));
}

#[test]
fn a_producer_that_was_passed_over_keeps_its_item() {
    for capacity in [None, Some(4)] {
        let queue = tiny(capacity, 2);
        let stopped = queue.draw_push().expect("there is room");
        queue.push(8).expect("it is open");
        // The first ticket has no item, but the second has.
        assert_eq!(queue.try_pop(), Ok(8));
        assert_eq!(queue.try_pop(), Err(PopError::Empty));
        assert!(queue.hints.left.has_consumer(stopped.ticket));
        let seat = queue.seat_of(stopped.ticket);
        // SAFETY: the ticket was drawn above, and is used here only.
        let pushed = unsafe { queue.put(seat, stopped, 7) };
        assert!(matches!(pushed, Err(NotPushed { item: 7, reason: None })), "to be pushed again");
        assert!(!queue.hints.left.is_any());
        for item in 0..100 {
            assert_eq!(queue.push(item), Ok(()));
            assert_eq!(queue.try_pop(), Ok(item));
        }
    }
}

#[test]
fn a_consumer_that_leaves_takes_what_came_in_the_last_moment() {
    let queue = tiny(None, 2);
    let drawn = queue.draw_push().expect("there is room");
    assert_eq!(queue.draw_pop(&Native::cpu()).map(Head::next), Ok(drawn.ticket));
    let seat = queue.seat_of(drawn.ticket);
    // SAFETY: the ticket was drawn above, and is used here only.
    assert!(unsafe { queue.put(seat, drawn, 7) }.is_ok());
    assert_eq!(queue.leave_pop(seat), Some(7));
    assert!(queue.after_push(drawn).is_ok(), "the consumer has it");
    assert!(!queue.hints.left.is_any());
}

#[test]
fn a_stopped_consumer_takes_one_place_out_of_use_until_it_goes_on() {
    let queue = tiny(Some(2), 1);
    queue.push(1).expect("it is open");
    queue.push(2).expect("it is open");
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    // Its slot is needed for the third item.
    assert_eq!(queue.try_push(3), Err(PushError::Full(3)));
    assert_eq!(queue.try_pop(), Ok(2));
    assert_eq!((queue.try_push(4), queue.try_pop()), (Ok(()), Ok(4)), "the other slot");
    assert!(queue.hints.left.is_any());
    let seat = queue.seat_of(stopped);
    // SAFETY: the ticket was drawn above, the item is there, and is taken once.
    assert_eq!(unsafe { queue.take(seat) }, 1);
    assert!(!queue.hints.left.is_any(), "the slot has skipped the laps that were left");
    for item in 0..20 {
        assert_eq!((queue.try_push(item), queue.try_push(item)), (Ok(()), Ok(())));
        assert_eq!((queue.try_pop(), queue.try_pop()), (Ok(item), Ok(item)));
    }
}

/// A task that begins to wait after the slot has skipped the lap is woken by no pop, so it must see the room itself.
#[test]
fn a_ticket_that_was_left_and_skipped_is_room_for_a_task() {
    let queue = tiny(Some(1), 0);
    queue.push(1).expect("it is open");
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    assert_eq!(queue.try_push(2), Err(PushError::Full(2)), "its ticket was left");
    assert!(!queue.may_push(), "the slot is in use");
    // SAFETY: the ticket was drawn above, the item is there, and is taken once.
    assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 1);
    assert!(queue.may_push());
    assert_eq!(queue.try_push(3), Ok(()));
}

/// Three consumers are stopped, and the other places are used up by tickets that were left.
#[test]
fn a_pop_that_only_passes_tickets_that_were_left_wakes_a_task_that_sends() {
    struct Woken(AtomicBool);
    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, SeqCst);
        }
    }
    let shape = QueueShape::bounded(3).polls(1);
    let (channel, cpu) = (Buffered::on_machine(shape).expect("it can be built"), Native::cpu());
    let queue: &Queue<u64> = channel.queue();
    for item in 0..3 {
        queue.push(item).expect("it is open");
    }
    assert_eq!((queue.try_pop(), queue.try_push(3)), (Ok(0), Ok(())));
    for _ in 0..3 {
        queue.draw_pop(&cpu).expect("there is an item");
    }
    // There are four slots: one is not held by a stopped consumer.
    assert_eq!((queue.try_push(4), queue.try_pop()), (Ok(()), Ok(4)));
    let woken = Arc::new(Woken(AtomicBool::new(false)));
    let (waker, mut entry) = (Waker::from(Arc::clone(&woken)), Entry::EMPTY);
    let mut item = Some(5);
    assert!(channel.poll_send_on(&cpu, &mut item, &mut entry, &waker).is_pending());
    assert!(!woken.0.load(SeqCst));
    assert_eq!(channel.try_recv_on(&cpu), Err(PopError::Empty));
    assert!(woken.0.load(SeqCst), "the head has passed three tickets");
    assert!(channel.poll_send_on(&cpu, &mut item, &mut entry, &waker).is_ready());
}

#[test]
fn a_ticket_drawn_in_vain_is_passed_over_by_its_producer() {
    let queue = tiny(Some(4), 2);
    queue.hints.pop_by_fetch_add();
    assert_eq!(queue.try_pop(), Err(PopError::Empty));
    assert!(!queue.hints.pops_by_fetch_add(), "consumers look first again");
    assert!(queue.hints.left.has_consumer(Ticket::new(0)));
    assert_eq!(queue.try_push(1), Ok(()));
    assert!(!queue.hints.left.is_any());
    assert_eq!((queue.try_pop(), queue.try_pop()), (Ok(1), Err(PopError::Empty)));
}

/// The race of the two is checked on the simulator: `steps_after_disorder`.
#[test]
fn a_ticket_that_both_sides_left_leaves_no_entry() {
    let queue = tiny(Some(1), 0);
    queue.push(0).expect("it is open");
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    // A consumer draws the next ticket in vain. Then a producer draws it and leaves it, because the
    // slot is in use.
    let late = queue.draw_pop_by_fetch_add().next();
    let drawn = queue.draw_push().expect("there is room");
    assert_eq!(drawn.ticket, late);
    let seat = queue.seat_of(late);
    queue.leave_push(seat);
    queue.hints.left.add_ticket(late, Side::Consumer);
    assert!(queue.finish_leaving(seat).is_none());
    // SAFETY: the ticket was drawn above, the item is there, and is taken once.
    assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 0);
    assert!(!queue.hints.left.is_any());
}

#[test]
fn tickets_that_were_left_are_not_counted_as_items() {
    let queue = tiny(Some(1), 0);
    queue.push(1).expect("it is open");
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    assert_eq!(queue.try_push(2), Err(PushError::Full(2)));
    // SAFETY: the ticket was drawn above, the item is there, and is taken once.
    assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 1);
    assert_eq!((queue.len(), queue.is_empty(), queue.is_full()), (0, true, false));
    assert_eq!(queue.try_push(3), Ok(()));
    assert_eq!((queue.len(), queue.is_full()), (1, true));
}

/// A thief may be preempted in the middle of a pop. The only producer may rely on the room that it has seen.
#[test]
fn a_queue_that_waits_for_pops_has_room_for_all_its_capacity() {
    for is_waiting in [true, false] {
        let shape = QueueShape::tiny(Some(2), 0).spare_slot(true).waits_for_pops(is_waiting);
        let queue = Queue::on_machine(shape).expect("it can be built");
        queue.push(0).expect("it is open");
        let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
        // A lap of the ring, which has four slots.
        for item in 1..4 {
            queue.push(item).expect("it is open");
            assert_eq!(queue.try_pop(), Ok(item));
        }
        let (seen, is_over) = (queue.len(), AtomicUsize::new(0));
        let accepted = thread::scope(|scope| {
            scope.spawn(|| {
                let start = Instant::now();
                while is_over.load(SeqCst) == 0 && start.elapsed() < Duration::from_millis(30) {
                    thread::sleep(Duration::from_millis(1));
                }
                // SAFETY: the ticket was drawn to pop with, and the slot is full.
                assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 0);
            });
            let accepted = (4..6).filter(|&item| queue.try_push(item).is_ok()).count();
            is_over.store(1, SeqCst);
            accepted
        });
        assert_eq!((seen, accepted), (0, if is_waiting { 2 } else { 1 }));
    }
}

/// A thread that stops for ever holds up a push for a second, and no other push.
#[test]
fn a_queue_that_waits_for_pops_does_not_wait_for_ever() {
    let shape = QueueShape::tiny(Some(2), 0).spare_slot(true).waits_for_pops(true);
    let queue = Queue::on_machine(shape).expect("it can be built");
    queue.push(0).expect("it is open");
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    let start = Instant::now();
    for item in 1..40 {
        queue.try_push(item).expect("there is room");
        assert_eq!(queue.try_pop(), Ok(item));
    }
    assert!(start.elapsed() >= Duration::from_nanos(LONGEST_POP));
    assert!(start.elapsed() < 10 * Duration::from_nanos(LONGEST_POP));
    // SAFETY: the ticket was drawn to pop with, and the slot is full.
    assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 0);
}

/// A slot out of use counts as an item, unless it is the next to be popped. So the length of an
/// owned queue is only an upper bound.
#[test]
fn an_iterator_over_a_queue_does_not_promise_what_a_stopped_call_took_out_of_use() {
    let queue = tiny(Some(4), 2);
    (1..=4).for_each(|item| queue.push(item).expect("it is open"));
    let stopped = queue.draw_pop(&Native::cpu()).expect("there is an item").next();
    assert_eq!((queue.try_pop(), queue.try_push(5)), (Ok(2), Ok(())));
    // SAFETY: the ticket was drawn above, the item is there, and is taken once.
    assert_eq!(unsafe { queue.take(queue.seat_of(stopped)) }, 1);
    assert_eq!(queue.len(), 4, "3, 4, a slot without an item, 5");
    let items = crate::queue::Queue(queue).into_iter();
    let (least, most) = items.size_hint();
    let items: Vec<u64> = items.collect();
    assert_eq!(items, [3, 4, 5]);
    assert!(least <= 3 && most == Some(4));
}

fn with_spare_slot(capacity: usize) -> Queue<u64> {
    let shape = QueueShape { spare_slot: true, ..QueueShape::tiny(Some(capacity), 0) };
    Queue::on_machine(shape).expect("a good shape")
}

/// An earlier version waited for room for ever: it had taken an item out, and could not take out
/// another.
#[test]
fn a_forced_push_that_is_passed_over_has_taken_nothing_out() {
    let (cpu, queue) = (Native::cpu(), with_spare_slot(2));
    queue.push(0).expect("it is open");
    queue.push(1).expect("it is open");
    let Err(NoTicket::Full(next)) = queue.draw_push() else { panic!("it is full") };
    let drawn = queue.overdraw(next).expect("no other thread");
    assert_eq!([(); 3].map(|()| queue.try_pop()), [Ok(0), Ok(1), Err(PopError::Empty)]);
    assert_eq!((queue.try_push(2), queue.try_push(3)), (Ok(()), Ok(())));
    let not = queue.push_when_empty(&cpu, drawn, 4).expect_err("it is passed over");
    assert_eq!(queue.force_push_on(&cpu, not.item), Ok(Some(2)));
    assert!(queue.drain().eq([3, 4]));
}

/// An earlier version drew a ticket, and had to wait for the calls before it in a fixed order: 1 ms
/// a push on 2 cores.
#[test]
fn a_forced_push_draws_no_ticket_while_others_have_all_spare_slots() {
    let (cpu, queue) = (Native::cpu(), with_spare_slot(3));
    (0..3).for_each(|item| queue.push(item).expect("it is open"));
    let Err(NoTicket::Full(next)) = queue.draw_push() else { panic!("it is full") };
    assert!(queue.has_spare_slot(next));
    let stopped = queue.overdraw(next).expect("no other thread");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| queue.force_push_on(&Native::cpu(), 4));
        thread::sleep(Duration::from_millis(20));
        assert!(!queue.has_spare_slot(queue.tail().next()));
        assert_eq!(queue.tail().next(), next.plus(1), "no other ticket is drawn");
        queue.push_when_empty(&cpu, stopped, 3).unwrap_or_else(|_| panic!("no consumer"));
        assert_eq!(queue.displace(&cpu, next), Some(0));
        assert_eq!(waiting.join().expect("no panic"), Ok(Some(1)));
    });
    assert!(queue.drain().eq(2..5));
}

#[test]
fn forced_pushes_of_a_closed_queue_are_refused() {
    let queue = with_spare_slot(1);
    queue.close();
    assert_eq!(queue.force_push_on(&Native::cpu(), 1), Err(Closed(1)));
}

#[test]
fn a_drained_and_closed_queue_is_recognised_by_loads() {
    let queue = tiny(Some(4), 2);
    queue.hints.pop_by_fetch_add();
    queue.close();
    assert_eq!(queue.try_pop(), Err(PopError::Closed));
    let head = queue.head().next();
    assert_eq!(queue.try_pop(), Err(PopError::Closed));
    assert_eq!(queue.head().next(), head);
}

#[test]
fn a_ring_that_has_served_a_quarter_of_all_tickets_is_replaced() {
    let queue = Queue::unbounded();
    queue.push(0).expect("it is open");
    assert_eq!(queue.pop(), Some(0));
    let far = queue.end().plus(Ring::<u64, Native>::MOST_SERVED + 1);
    let slots = queue.last().len() as i64;
    // The queue stays empty; its next ticket is the first that this ring may not serve.
    queue.tail.store(Tail::new(far, 0, 0).0, SeqCst);
    queue.head.store(far.0, SeqCst);
    (0..2 * slots as u64).for_each(|item| queue.push(item).expect("it is open"));
    assert_eq!(queue.front_seat(far).ring.start(), far);
    assert_eq!(queue.front_seat(far).ring.len() as i64, slots, "no larger");
    assert!(queue.drain().eq(0..2 * slots as u64));
}

#[test]
fn more_tickets_can_be_left_than_a_table_has_entries() {
    let queue = tiny(Some(64), 6);
    let stopped: Vec<Drawn> = (0..40).map(|_| queue.draw_push().expect("there is room")).collect();
    assert_eq!(queue.try_pop(), Err(PopError::Empty));
    for drawn in stopped {
        let seat = queue.seat_of(drawn.ticket);
        // SAFETY: the ticket was drawn above, and is used here only.
        assert!(unsafe { queue.put(seat, drawn, 7) }.is_err());
    }
    assert!(!queue.hints.left.is_any());
    assert!((0..64).all(|item| queue.try_push(item).is_ok()));
    assert!(queue.drain().eq(0..64));
}

/// The entry of a table names a slot by a ticket; in a larger ring that may be another slot.
#[test]
fn producers_that_left_a_ring_are_not_looked_for_in_the_next() {
    let queue = tiny(None, 0);
    queue.push(0).expect("it is open");
    let seat = queue.seat_of(Ticket::new(0));
    queue.hints.left.add(seat, Side::Producer);
    (1..10).for_each(|item| queue.push(item).expect("it is open"));
    for number in 1..10 {
        assert!(!queue.hints.left.has_producer(queue.seat_of(Ticket::new(number))));
    }
}

#[test]
fn absurd_capacities_are_refused() {
    for capacity in [0, QueueShape::MOST_CAPACITY + 1, usize::MAX] {
        let refused = Queue::<u8>::on_machine(QueueShape::bounded(capacity)).expect_err("absurd");
        assert!(refused.to_string().starts_with("capacity "), "{refused}");
    }
    let large = QueueShape { ring_bits: 40, ..QueueShape::UNBOUNDED };
    assert!(Queue::<u8>::on_machine(large).is_err());
    let endless = QueueShape { polls: 1 << 20, ..QueueShape::UNBOUNDED };
    assert!(Queue::<u8>::on_machine(endless).is_err());
    assert!(catch_unwind(|| crate::Queue::<u8>::bounded(0)).is_err());
}

#[test]
fn sleeping_threads_are_woken() {
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

/// The flag is cleared as if the wake-up had gone to a thread that was stopped then.
#[test]
fn an_item_whose_wake_up_was_lost_is_found_after_a_second() {
    let queue = Queue::bounded(1);
    thread::scope(|scope| {
        let taken = scope.spawn(|| queue.pop());
        while queue.tail().flag() == 0 {
            thread::yield_now();
        }
        queue.tail.fetch_and(!CONSUMERS_SLEEP, SeqCst);
        queue.push(1).expect("it is open");
        assert_eq!(taken.join().expect("fine"), Some(1));
    });
}

/// A thread that is not woken sleeps for 20 ms, or for the rest of them.
#[test]
fn sleeping_threads_are_woken_for_every_item_and_for_all_room() {
    const ROUNDS: u32 = 100;
    let queue = Queue::bounded(1);
    let when_it_sleeps = |sleeps: &dyn Fn() -> bool| {
        while !sleeps() {
            thread::yield_now();
        }
        // The flag is set before the thread sleeps.
        thread::sleep(Duration::from_millis(2));
    };
    let room = || {
        thread::scope(|scope| {
            scope.spawn(|| (0..=ROUNDS).for_each(|item| queue.push(item).expect("it is open")));
            for item in 0..ROUNDS {
                when_it_sleeps(&|| queue.head().producers_sleep());
                assert_eq!(queue.pop(), Some(item));
            }
        });
        assert_eq!(queue.pop(), Some(ROUNDS));
    };
    let items = || {
        thread::scope(|scope| {
            scope.spawn(|| (0..ROUNDS).for_each(|item| assert_eq!(queue.pop(), Some(item))));
            for item in 0..ROUNDS {
                when_it_sleeps(&|| queue.tail().flag() != 0);
                queue.push(item).expect("it is open");
            }
        });
    };
    // A woken thread may have to wait for a core, but not each time.
    let is_quick = |rounds: &dyn Fn()| {
        let start = Instant::now();
        rounds();
        start.elapsed() < ROUNDS * Duration::from_millis(6)
    };
    let is_slow = is_absent(Feature::MembarrierLater);
    assert!((0..5).any(|_| is_quick(&room) || is_slow), "room");
    assert!((0..5).any(|_| is_quick(&items) || is_slow), "items");
}

/// Sleeps end by themselves, but later: after a second and a half each takes 640 ms.
#[test]
fn sleeping_threads_are_woken_when_the_queue_is_closed() {
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
        // Two of them: a second panic must not end the program.
        assert!(queue.push(Angry(item == 300 || item == 700)).is_ok());
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

#[test]
fn a_batch_may_come_from_several_rings() {
    let (queue, cpu) = (tiny(None, 1), Native::cpu());
    let mut batch = Vec::new();
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 9), Err(PopError::Empty));
    // Rings of 2, 4, 8 and 16 slots.
    (0..20).for_each(|item| queue.push(item).expect("it is open"));
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 0), Err(PopError::Empty));
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 1), Ok(1));
    queue.close();
    for expected in [5, 5, 5, 4] {
        assert_eq!(queue.pop_many_on(&cpu, &mut batch, 5, &WayOut::none()), Ok(expected));
    }
    assert!(batch.iter().copied().eq(0..20));
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 9), Err(PopError::Closed));
}

#[test]
fn a_batch_passes_over_an_item_that_is_not_in_place_and_wakes_producers() {
    let (queue, cpu) = (tiny(Some(4), 2), Native::cpu());
    let mut batch = Vec::new();
    queue.push(1).expect("it is open");
    queue.push(2).expect("it is open");
    let drawn = queue.draw_push().expect("there is room");
    queue.push(4).expect("it is open");
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 9), Ok(3));
    assert_eq!(batch, [1, 2, 4]);
    let seat = queue.seat_of(drawn.ticket);
    // SAFETY: the ticket was drawn to push with, and the slot is empty for it.
    assert!(unsafe { queue.put(seat, drawn, 3) }.is_err(), "no consumer would come for it");
    assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 9), Err(PopError::Empty));

    (0..4).for_each(|item| queue.push(item).expect("it is open"));
    thread::scope(|scope| {
        let late = scope.spawn(|| queue.push(7));
        while !queue.head().producers_sleep() {
            thread::yield_now();
        }
        assert_eq!(queue.try_pop_many_on(&cpu, &mut batch, 4), Ok(4));
        assert_eq!(late.join().expect("no panic"), Ok(()));
    });
    assert!(queue.drain().eq([7]));
}
