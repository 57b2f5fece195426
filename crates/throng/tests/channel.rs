//! Channels between threads: what is sent is received once, and an end that is gone is noticed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::{Duration, Instant};

use throng::channel::{
    Receiver, RecvError, RecvTimeoutError, SendError, SendTimeoutError, Sender, TryRecvError,
    TrySendError, bounded, never, unbounded,
};

const MS: fn(u64) -> Duration = Duration::from_millis;
/// Long enough that a test fails if it is waited for.
const LONG: Duration = Duration::from_secs(60);
/// Makes stress shorter where every step is slow.
const SLOWER: usize = if cfg!(miri) { 1000 } else { 1 };

/// A channel of every kind: `None` is unbounded.
fn of<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    capacity.map_or_else(unbounded, bounded)
}

const KINDS: [Option<usize>; 5] = [Some(0), Some(1), Some(3), Some(100), None];

#[test]
fn lengths_and_capacities() {
    for capacity in KINDS {
        let (sender, receiver) = of(capacity);
        assert_eq!((sender.capacity(), receiver.capacity()), (capacity, capacity));
        assert_eq!((sender.len(), receiver.len()), (0, 0));
        assert!(sender.is_empty() && receiver.is_empty());
        assert_eq!(
            (sender.is_full(), receiver.is_full()),
            (capacity == Some(0), capacity == Some(0))
        );
        let room = capacity.unwrap_or(500);
        for item in 0..room {
            sender.send(item).unwrap();
        }
        assert_eq!((sender.len(), receiver.len()), (room, room));
        assert_eq!(sender.is_empty(), room == 0);
        assert_eq!(sender.is_full(), capacity.is_some());
        assert_eq!(
            sender.try_send(9),
            if capacity.is_some() { Err(TrySendError::Full(9)) } else { Ok(()) }
        );
        assert!(receiver.try_iter().take(room).eq(0..room));
    }
}

#[test]
fn ends_of_the_same_channel() {
    let (one, two) = (bounded::<u8>(0), bounded::<u8>(0));
    let (three, four) = (bounded::<u8>(1), unbounded::<u8>());
    let all = [&one, &two, &three, &four];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            assert_eq!(a.0.clone().same_channel(&b.0), i == j);
            assert_eq!(a.1.same_channel(&b.1.clone()), i == j);
        }
    }
}

#[test]
fn the_last_sender_disconnects_and_what_is_inside_is_received() {
    for capacity in [Some(2), None] {
        let (sender, receiver) = of(capacity);
        let other = sender.clone();
        sender.send(1).unwrap();
        drop(sender);
        other.send(2).unwrap();
        assert_eq!(receiver.recv(), Ok(1));
        drop(other);
        assert_eq!(receiver.recv_timeout(LONG), Ok(2));
        assert_eq!(receiver.recv(), Err(RecvError));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
        assert_eq!(
            receiver.recv_deadline(Instant::now() + LONG),
            Err(RecvTimeoutError::Disconnected)
        );
        assert_eq!((receiver.iter().next(), receiver.try_iter().next()), (None, None));
    }
}

#[test]
fn the_last_receiver_disconnects() {
    for capacity in KINDS {
        let (sender, receiver) = of(capacity);
        let other = receiver.clone();
        drop(receiver);
        if capacity != Some(0) {
            assert_eq!(sender.try_send(1), Ok(()));
        }
        drop(other);
        assert_eq!(sender.send(2), Err(SendError(2)));
        assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
        assert_eq!(sender.send_timeout(4, LONG), Err(SendTimeoutError::Disconnected(4)));
        assert_eq!(
            sender.send_deadline(5, Instant::now() + LONG),
            Err(SendTimeoutError::Disconnected(5))
        );
        assert_eq!(sender.len(), 0, "what was inside is gone");
    }
}

/// Runs two functions at the same time; the second one a little later.
fn and_a_little_later(first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    thread::scope(|scope| {
        scope.spawn(first);
        scope.spawn(move || {
            thread::sleep(MS(20));
            second();
        });
    });
}

#[test]
fn a_receiver_that_waits_gets_an_item() {
    for capacity in KINDS {
        let (sender, receiver) = of(capacity);
        and_a_little_later(|| assert_eq!(receiver.recv(), Ok(7)), || sender.send(7).unwrap());
        let deadline = Instant::now() + LONG;
        and_a_little_later(
            || assert_eq!(receiver.recv_deadline(deadline), Ok(8)),
            || sender.send(8).unwrap(),
        );
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    }
}

#[test]
fn a_sender_that_waits_gets_room() {
    for capacity in [0, 1, 3] {
        let (sender, receiver) = bounded(capacity);
        for item in 0..capacity {
            sender.send(item).unwrap();
        }
        and_a_little_later(
            || sender.send(capacity).unwrap(),
            || assert_eq!(receiver.recv(), Ok(0)),
        );
        and_a_little_later(
            || assert_eq!(sender.send_timeout(capacity + 1, LONG), Ok(())),
            || assert!(receiver.recv().is_ok()),
        );
        assert_eq!(receiver.len(), capacity);
    }
}

#[test]
fn threads_that_wait_notice_that_the_other_side_is_gone() {
    for capacity in KINDS {
        let (sender, receiver) = of::<usize>(capacity);
        and_a_little_later(|| assert_eq!(receiver.recv(), Err(RecvError)), || drop(sender));
        let Some(capacity) = capacity else { continue };
        let (sender, receiver) = of(Some(capacity));
        (0..capacity).for_each(|item| sender.send(item).unwrap());
        and_a_little_later(|| assert_eq!(sender.send(9), Err(SendError(9))), || drop(receiver));
    }
}

#[test]
fn waits_end_in_time() {
    for capacity in KINDS {
        let (sender, receiver) = of(capacity);
        let start = Instant::now();
        assert_eq!(receiver.recv_timeout(MS(10)), Err(RecvTimeoutError::Timeout));
        assert_eq!(receiver.recv_deadline(start + MS(30)), Err(RecvTimeoutError::Timeout));
        assert!(start.elapsed() >= MS(30));
        let Some(capacity) = capacity else { continue };
        (0..capacity).for_each(|item| sender.send(item).unwrap());
        let start = Instant::now();
        assert_eq!(sender.send_timeout(7, MS(10)), Err(SendTimeoutError::Timeout(7)));
        assert_eq!(sender.send_deadline(8, start + MS(30)), Err(SendTimeoutError::Timeout(8)));
        assert!(start.elapsed() >= MS(30));
        assert_eq!(receiver.len(), capacity, "nothing of it was sent");
    }
}

#[test]
fn without_time_an_item_that_is_there_is_received_all_the_same() {
    for capacity in [Some(1), None] {
        let (sender, receiver) = of(capacity);
        let past = Instant::now();
        assert_eq!(sender.send_deadline(1, past), Ok(()));
        assert_eq!(receiver.recv_deadline(past), Ok(1));
        assert_eq!(sender.send_timeout(2, Duration::ZERO), Ok(()));
        assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
    }
}

#[test]
fn without_a_buffer_both_must_be_there() {
    let (sender, receiver) = bounded(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let patiently = |mut attempt: Box<dyn FnMut() -> bool>| {
        while !attempt() {
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        let thread = scope.spawn(|| receiver.recv());
        let sender = sender.clone();
        patiently(Box::new(move || sender.try_send(2).is_ok()));
        assert_eq!(thread.join().unwrap(), Ok(2));
    });
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)), "that receiver waits no more");
    thread::scope(|scope| {
        let thread = scope.spawn(|| sender.send(4));
        let receiver = receiver.clone();
        patiently(Box::new(move || receiver.try_recv() == Ok(4)));
        assert_eq!(thread.join().unwrap(), Ok(()));
    });
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "that sender waits no more");
    assert_eq!(receiver.recv_timeout(MS(1)), Err(RecvTimeoutError::Timeout));
    assert_eq!(sender.try_send(5), Err(TrySendError::Full(5)), "it has given up");
    assert_eq!(sender.send_timeout(6, MS(1)), Err(SendTimeoutError::Timeout(6)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty), "it has given up");
}

#[test]
fn a_send_without_a_buffer_returns_when_the_item_is_received() {
    let (sender, receiver) = bounded(0);
    let received = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            for item in 0..1000 / SLOWER {
                // Nothing waits for items but this thread, one at a time: at most one can be ahead.
                sender.send(item).unwrap();
                assert!(received.load(SeqCst) + 1 >= item);
            }
            drop(sender);
        });
        for _ in &receiver {
            received.fetch_add(1, SeqCst);
        }
    });
    assert_eq!(received.load(SeqCst), 1000 / SLOWER);
}

#[test]
fn never_means_never() {
    let receiver = never::<u8>();
    assert_eq!((receiver.len(), receiver.capacity()), (0, Some(0)));
    assert!(receiver.is_empty() && receiver.is_full());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    drop(receiver.clone());
    assert_eq!(receiver.recv_timeout(MS(10)), Err(RecvTimeoutError::Timeout));
}

#[test]
fn iterators_end_when_all_senders_are_gone() {
    for capacity in KINDS {
        let (sender, receiver) = of(capacity);
        thread::scope(|scope| {
            scope.spawn(move || (0..100).for_each(|item| sender.send(item).unwrap()));
            assert!(receiver.iter().take(30).eq(0..30));
            assert!((&receiver).into_iter().take(30).eq(30..60));
            let mut rest = receiver.into_iter();
            assert!(rest.by_ref().eq(60..100));
            assert_eq!(rest.next(), None);
        });
    }
}

/// Counts its drops.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

#[test]
fn each_item_is_dropped_once() {
    for capacity in KINDS {
        for (sent, received) in [(0, 0), (1, 0), (100, 30), (1000, 1000), (1000, 3)] {
            let (sent, drops) = (sent / SLOWER.min(10), AtomicUsize::new(0));
            let (sender, receiver) = of(capacity);
            thread::scope(|scope| {
                let (drops, after) = (&drops, sender.clone());
                scope.spawn(move || {
                    // The rest comes back when the receiver is gone.
                    (0..sent).for_each(|_| _ = sender.send(Counted(drops)));
                });
                receiver.iter().take(received.min(sent)).for_each(drop);
                drop(receiver);
                assert!(after.try_send(Counted(drops)).is_err());
            });
            assert_eq!(
                drops.load(SeqCst),
                sent + 1,
                "{capacity:?}: {sent} sent, {received} received"
            );
        }
    }
}

/// The messages inside are dropped with the last receiver, although a sender is left.
#[test]
fn what_is_inside_is_dropped_with_the_last_receiver() {
    for capacity in [Some(10), None] {
        let drops = AtomicUsize::new(0);
        let (sender, receiver) = of(capacity);
        (0..10)
            .for_each(|_| sender.send(Counted(&drops)).unwrap_or_else(|_| panic!("there is room")));
        drop(receiver);
        assert_eq!(drops.load(SeqCst), 10);
        drop(sender);
        assert_eq!(drops.load(SeqCst), 10);
    }
}

/// Panics when it is dropped.
struct Exploding<'a>(&'a AtomicUsize);

impl Drop for Exploding<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        panic!("item {} explodes on purpose", self.0.load(SeqCst));
    }
}

#[test]
fn a_drop_that_panics_keeps_no_other_item_from_being_dropped() {
    let drops = AtomicUsize::new(0);
    let (sender, receiver) = unbounded();
    (0..3).for_each(|_| sender.send(Exploding(&drops)).unwrap_or_else(|_| panic!("it is open")));
    let panic = catch_unwind(AssertUnwindSafe(|| drop(receiver))).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "item 1 explodes on purpose");
    assert_eq!(drops.load(SeqCst), 3);
    assert!(sender.is_empty());
}

#[test]
fn channels_go_through_channels() {
    for capacity in [Some(1), None] {
        let (sender, receiver) = of::<Box<dyn FnOnce() + Send>>(capacity);
        let (inner_sender, inner_receiver) = of(capacity);
        sender.send(Box::new(move || inner_sender.send(5).unwrap())).unwrap_or_else(|_| panic!());
        receiver.recv().unwrap()();
        assert_eq!((inner_receiver.recv(), inner_receiver.recv()), (Ok(5), Err(RecvError)));
    }
    // The only sender is inside its own channel.
    struct Own(#[allow(dead_code, reason = "only dropped")] Sender<Own>);
    let (sender, receiver) = unbounded();
    assert!(sender.send(Own(sender.clone())).is_ok());
    drop(sender);
    drop(receiver);
}

/// More threads than cores; each item comes to one receiver, and those of one sender come in order.
#[test]
fn each_item_comes_once_and_in_the_order_of_its_sender() {
    const SENDERS: usize = 4;
    for capacity in KINDS {
        for receivers in [1, 4] {
            let each = if capacity == Some(0) { 2_000 } else { 20_000 } / SLOWER;
            let (sender, receiver) = of(capacity);
            let received: Vec<Vec<(usize, usize)>> = thread::scope(|scope| {
                for id in 0..SENDERS {
                    let sender = sender.clone();
                    scope
                        .spawn(move || (0..each).for_each(|item| sender.send((id, item)).unwrap()));
                }
                drop(sender);
                let take = |receiver: Receiver<_>| move || receiver.into_iter().collect();
                let threads: Vec<_> =
                    (0..receivers).map(|_| scope.spawn(take(receiver.clone()))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            for id in 0..SENDERS {
                let of_sender = |items: &Vec<(usize, usize)>| -> Vec<usize> {
                    items.iter().filter(|item| item.0 == id).map(|item| item.1).collect()
                };
                let parts: Vec<Vec<usize>> = received.iter().map(of_sender).collect();
                assert!(parts.iter().all(|part| part.is_sorted()), "not in order");
                let mut all = parts.concat();
                all.sort_unstable();
                assert!(all.into_iter().eq(0..each), "sender {id}, {capacity:?}");
            }
        }
    }
}

#[test]
fn with_short_time_outs_nothing_is_lost() {
    for capacity in [0, 2] {
        let count = 500 / SLOWER.min(50);
        let (sender, receiver) = bounded(capacity);
        thread::scope(|scope| {
            scope.spawn(move || {
                for mut item in 0..count {
                    while let Err(error) = sender.send_timeout(item, Duration::from_micros(50)) {
                        assert!(error.is_timeout());
                        item = error.into_inner();
                    }
                }
            });
            for item in 0..count {
                let received = loop {
                    match receiver.recv_timeout(Duration::from_micros(30)) {
                        Ok(received) => break received,
                        Err(error) => assert!(error.is_timeout()),
                    }
                };
                assert_eq!(received, item);
            }
            assert_eq!(receiver.recv(), Err(RecvError));
        });
    }
}

/// Either the item is received, or the sender gets it back, or it is dropped with the receiver.
#[test]
fn one_item_and_ends_that_go_at_the_same_time() {
    for capacity in KINDS {
        for round in 0..300 / SLOWER.min(100) {
            let drops = AtomicUsize::new(0);
            let (sender, receiver) = of(capacity);
            thread::scope(|scope| {
                let drops = &drops;
                scope.spawn(move || drop(sender.send(Counted(drops))));
                scope.spawn(move || match round % 3 {
                    0 => drop(receiver),
                    1 => drop(receiver.try_recv()),
                    _ => drop(receiver.recv()),
                });
            });
            assert_eq!(drops.load(SeqCst), 1);
        }
    }
}

/// A channel is shared by reference as well, and survives a panic of a thread that uses it.
#[test]
fn ends_can_be_used_across_a_panic() {
    fn is_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe + Send + Sync + Unpin>(_: &T) {
    }
    let (sender, receiver) = bounded::<std::cell::Cell<u8>>(1);
    is_safe(&sender);
    is_safe(&receiver);
    let send_and_panic = || {
        sender.send(std::cell::Cell::new(1)).unwrap();
        panic!("on purpose");
    };
    assert!(catch_unwind(send_and_panic).is_err());
    assert_eq!(receiver.recv().map(|cell| cell.get()), Ok(1));
    assert_eq!(
        (format!("{sender:?}"), format!("{receiver:?}")),
        ("Sender { .. }".into(), "Receiver { .. }".into())
    );
}
