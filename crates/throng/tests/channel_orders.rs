//! Futures of a channel, polled and dropped in every order.
//!
//! A poll, a drop and a `try_` call each make one change of a channel. So on one thread all orders of such steps can be
//! tried. After each order the woken futures are polled until none is woken, and then none may wait for what is there.

use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

use throng::channel::{Receiver, RecvFuture, SendFuture, Sender, TrySendError, bounded, unbounded};

/// Whether the task was woken since its last poll.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// A future, and whether it was woken.
struct Task<F> {
    future: Option<F>,
    woken: Arc<Woken>,
}

impl<F: Future + Unpin> Task<F> {
    fn new() -> Self {
        Task { future: None, woken: Arc::default() }
    }

    fn is_woken(&self) -> bool {
        self.future.is_some() && self.woken.0.load(SeqCst)
    }

    /// Polls the future, made by `start` if there is none.
    fn poll(&mut self, start: impl FnOnce() -> F) -> Option<F::Output> {
        self.woken.0.store(false, SeqCst);
        // Each poll has a waker of its own: only the last one counts.
        let last = Arc::new(Woken::default());
        self.woken = Arc::clone(&last);
        let waker = Waker::from(last);
        let future = self.future.get_or_insert_with(start);
        match Pin::new(future).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => None,
            Poll::Ready(output) => {
                self.future = None;
                Some(output)
            }
        }
    }
}

const STEPS: [&str; 10] = [
    "poll send 0",
    "poll send 1",
    "drop send 0",
    "drop send 1",
    "poll recv 0",
    "poll recv 1",
    "drop recv 0",
    "drop recv 1",
    "try_send",
    "try_recv",
];

/// A channel, two tasks that send and two that receive.
struct Play<'a> {
    sender: &'a Sender<u32>,
    receiver: &'a Receiver<u32>,
    sends: [Task<SendFuture<'a, u32>>; 2],
    recvs: [Task<RecvFuture<'a, u32>>; 2],
    next: u32,
    /// Items whose sender knows that they were sent.
    sent: Vec<u32>,
    /// Items of futures that were dropped: they may have been sent if the capacity is 0.
    dropped: Vec<u32>,
    /// The item of each future that sends.
    offered: [u32; 2],
    received: Vec<u32>,
}

impl<'a> Play<'a> {
    fn new(sender: &'a Sender<u32>, receiver: &'a Receiver<u32>) -> Self {
        Play {
            sender,
            receiver,
            sends: [Task::new(), Task::new()],
            recvs: [Task::new(), Task::new()],
            next: 0,
            sent: Vec::new(),
            dropped: Vec::new(),
            offered: [0; 2],
            received: Vec::new(),
        }
    }

    fn step(&mut self, step: usize) {
        let which = step % 2;
        match step {
            0 | 1 => self.poll_send(which),
            2 | 3 => {
                if self.sends[which].future.take().is_some() {
                    self.dropped.push(self.offered[which]);
                }
            }
            4 | 5 => self.poll_recv(which),
            6 | 7 => self.recvs[which].future = None,
            8 => {
                self.next += 1;
                match self.sender.try_send(self.next) {
                    Ok(()) => self.sent.push(self.next),
                    Err(error) => assert_eq!(error, TrySendError::Full(self.next)),
                }
            }
            _ => self.received.extend(self.receiver.try_recv()),
        }
    }

    fn poll_send(&mut self, which: usize) {
        if self.sends[which].future.is_none() {
            self.next += 1;
            self.offered[which] = self.next;
        }
        let item = self.offered[which];
        match self.sends[which].poll(|| self.sender.send_async(item)) {
            Some(Ok(())) => self.sent.push(item),
            Some(Err(_)) => panic!("the receiver is there"),
            None => {}
        }
    }

    fn poll_recv(&mut self, which: usize) {
        let received = self.recvs[which].poll(|| self.receiver.recv_async());
        self.received.extend(received.map(|received| received.expect("the sender is there")));
    }

    /// Polls the futures that were woken until none is.
    fn run_woken(&mut self) {
        let mut polls = 0;
        loop {
            let sends = self.sends.iter().position(Task::is_woken);
            let recvs = self.recvs.iter().position(Task::is_woken);
            match (sends, recvs) {
                (Some(which), _) => self.poll_send(which),
                (_, Some(which)) => self.poll_recv(which),
                _ => return,
            }
            polls += 1;
            assert!(polls < 100, "tasks wake each other for ever");
        }
    }

    fn assert_nothing_is_missed(&mut self) {
        let sends = self.sends.iter().any(|task| task.future.is_some());
        let recvs = self.recvs.iter().any(|task| task.future.is_some());
        assert!(!(sends && recvs), "a sender and a receiver miss each other");
        assert!(!sends || self.sender.is_full(), "a sender waits though there is room");
        assert!(
            !recvs || self.receiver.try_recv().is_err(),
            "a receiver waits though there is an item"
        );
    }

    /// Receives what is left; then each item sent was received once.
    fn assert_all_arrive(mut self) {
        for which in 0..2 {
            if self.sends[which].future.take().is_some() {
                self.dropped.push(self.offered[which]);
            }
        }
        self.received.extend(self.receiver.try_iter());
        self.received.sort_unstable();
        assert!(self.received.windows(2).all(|two| two[0] < two[1]), "an item came twice");
        for item in &self.sent {
            assert!(self.received.contains(item), "item {item} was lost");
        }
        for item in &self.received {
            let was_sent = self.sent.contains(item) || self.dropped.contains(item);
            assert!(was_sent, "item {item} was never sent");
        }
    }
}

fn play(make: fn() -> (Sender<u32>, Receiver<u32>), order: &[usize]) {
    let (sender, receiver) = make();
    let mut play = Play::new(&sender, &receiver);
    for &step in order {
        play.step(step);
    }
    play.run_woken();
    play.assert_nothing_is_missed();
    play.assert_all_arrive();
}

/// Tells which order failed.
struct Telling<'a>(&'a [usize]);

impl Drop for Telling<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let mut text = String::new();
            self.0.iter().for_each(|&step| write!(text, "{}; ", STEPS[step]).unwrap());
            eprintln!("in this order: {text}");
        }
    }
}

/// Every order of `length` steps.
fn every_order(make: fn() -> (Sender<u32>, Receiver<u32>), length: u32) {
    let steps = STEPS.len();
    let mut order = vec![0; length as usize];
    for number in 0..steps.pow(length) {
        let mut rest = number;
        for step in &mut order {
            *step = rest % steps;
            rest /= steps;
        }
        let telling = Telling(&order);
        play(make, &order);
        drop(telling);
    }
}

const LENGTH: u32 = if cfg!(miri) { 2 } else { 6 };

#[test]
fn in_every_order_without_a_buffer() {
    every_order(|| bounded(0), LENGTH);
}

#[test]
fn in_every_order_with_one_place() {
    every_order(|| bounded(1), LENGTH);
}

#[test]
fn in_every_order_with_two_places() {
    every_order(|| bounded(2), LENGTH);
}

#[test]
fn in_every_order_without_a_bound() {
    every_order(unbounded, LENGTH);
}

/// Longer orders, drawn at random; the same each time.
#[test]
fn in_long_orders() {
    let mut random = throng::machine::SplitMix64::from_state(7);
    let orders = if cfg!(miri) { 10 } else { 20_000 };
    for _ in 0..orders {
        let order: Vec<usize> = (0..40).map(|_| random.draw() as usize % STEPS.len()).collect();
        let telling = Telling(&order);
        play(|| bounded(0), &order);
        play(|| bounded(1), &order);
        play(|| bounded(3), &order);
        play(unbounded, &order);
        drop(telling);
    }
}

/// All that wait are woken when the other side is gone.
#[test]
fn a_disconnect_wakes_all_tasks() {
    for capacity in [0, 1] {
        let (sender, receiver) = bounded(capacity);
        (0..capacity as u32).for_each(|item| sender.send(item).unwrap());
        // A disconnect also looks for a sender after each item that it drops.
        let mut sends = [(); 6].map(|()| Task::new());
        for task in &mut sends {
            assert!(task.poll(|| sender.send_async(7)).is_none());
        }
        drop(receiver);
        // All of them before any is polled: a task that hears of the end may wake the next.
        assert!(sends.iter().all(Task::is_woken), "capacity {capacity}");
        for task in &mut sends {
            let error = task.poll(|| unreachable!()).expect("it is ready").unwrap_err();
            assert_eq!(error.into_inner(), 7);
        }
        let (sender, receiver) = bounded::<u32>(capacity);
        let mut recvs = [Task::new(), Task::new(), Task::new()];
        for task in &mut recvs {
            assert!(task.poll(|| receiver.recv_async()).is_none());
        }
        drop(sender);
        assert!(recvs.iter().all(Task::is_woken), "capacity {capacity}");
        for task in &mut recvs {
            assert!(task.poll(|| unreachable!()).expect("it is ready").is_err());
        }
    }
}

/// Items of one sender stay in order although the first receiver was woken and then dropped.
#[test]
fn an_item_given_to_a_dropped_receiver_keeps_its_place() {
    let (sender, receiver) = bounded(0);
    let mut recvs = [Task::new(), Task::new()];
    for task in &mut recvs {
        assert!(task.poll(|| receiver.recv_async()).is_none());
    }
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    recvs[0].future = None;
    assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Ok(2)));
    assert!(recvs[1].is_woken());
    assert!(recvs[1].poll(|| unreachable!()).is_none());
    assert_eq!(sender.try_send(4), Ok(()));
    assert_eq!(recvs[1].poll(|| unreachable!()), Some(Ok(4)));
}

#[test]
fn a_receiver_that_was_served_waits_no_more() {
    let (sender, receiver) = bounded(0);
    let mut recv = Task::new();
    assert!(recv.poll(|| receiver.recv_async()).is_none());
    assert_eq!(sender.try_send(1), Ok(()));
    assert_eq!(recv.poll(|| unreachable!()), Some(Ok(1)));
    assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
}

#[test]
fn no_sender_overtakes_one_that_waits() {
    let (sender, receiver) = bounded(0);
    let (mut send, mut recv) = (Task::new(), Task::new());
    assert!(recv.poll(|| receiver.recv_async()).is_none());
    assert_eq!(sender.try_send(1), Ok(()));
    assert!(send.poll(|| sender.send_async(2)).is_none());
    assert_eq!(receiver.try_recv(), Ok(1));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)), "2 was offered before");
    assert_eq!(recv.poll(|| unreachable!()), Some(Ok(2)));
    assert!(send.is_woken());
}

#[test]
fn tasks_are_woken_in_the_order_in_which_they_came() {
    for capacity in [0, 2] {
        let (sender, receiver) = bounded(capacity);
        let mut recvs = [Task::new(), Task::new(), Task::new()];
        for task in &mut recvs {
            assert!(task.poll(|| receiver.recv_async()).is_none());
        }
        assert_eq!((sender.try_send(1), sender.try_send(2)), (Ok(()), Ok(())));
        assert_eq!(recvs.each_ref().map(Task::is_woken), [true, true, false]);
    }
    let (sender, receiver) = bounded(1);
    sender.send(0).unwrap();
    let mut sends = [Task::new(), Task::new()];
    for task in &mut sends {
        assert!(task.poll(|| sender.send_async(1)).is_none());
    }
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(sends.each_ref().map(Task::is_woken), [true, false]);
}
