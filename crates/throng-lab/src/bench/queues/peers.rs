//! The queues that programs use today.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};

use concurrent_queue::ConcurrentQueue;
use crossbeam_queue::{ArrayQueue, SegQueue};
use faaa_queue::FAAAQueue;
use lfqueue::AllocBoundedQueue;
use lprq_rs::LPRQueue;

use super::items::Item;
use super::seats::{Attempts, Exchange, Retry, Seat};

/// Makes an [`Exchange`] of a queue that is shared by reference and never waits.
macro_rules! retried {
    ($queue:ident, $room:ident => $build:expr, $shared:ident, $item:ident => $put:expr, $take:expr) => {
        impl<T: Item> Exchange<T> for $queue<T> {
            type Seat<'a> = Retry<&'a Self>;

            fn build($room: Option<usize>) -> Self {
                $build
            }

            fn seat(&self, _pops: bool) -> Retry<&Self> {
                Retry(self)
            }
        }

        impl<T: Item> Attempts<T> for &$queue<T> {
            #[inline(always)]
            fn try_put(&mut self, $item: T) -> Result<(), T> {
                let $shared = self;
                $put
            }

            #[inline(always)]
            fn try_take(&mut self) -> Option<T> {
                let $shared = self;
                $take
            }
        }
    };
}

retried!(ArrayQueue, room => ArrayQueue::new(bound(room)),
    queue, item => queue.push(item), queue.pop());
retried!(SegQueue, _room => SegQueue::new(),
    queue, item => { queue.push(item); Ok(()) }, queue.pop());
retried!(ConcurrentQueue,
    room => room.map_or_else(ConcurrentQueue::unbounded, ConcurrentQueue::bounded),
    queue, item => queue.push(item).map_err(concurrent_queue::PushError::into_inner),
    queue.pop().ok());
// SCQ. Its capacity is a power of two.
retried!(AllocBoundedQueue, room => AllocBoundedQueue::new(bound(room).next_power_of_two()),
    queue, item => queue.enqueue(item), queue.dequeue());
// The array queue of Ramalhete with `fetch_add`: every item in a box of its own.
retried!(FAAAQueue, _room => FAAAQueue::new(),
    queue, item => { queue.enqueue(item); Ok(()) }, queue.dequeue());
// LPRQ: every item in a box of its own.
retried!(LPRQueue, _room => LPRQueue::new(),
    queue, item => { queue.enqueue(item); Ok(()) }, queue.dequeue());

/// Returns the capacity of a queue that must have a bound.
fn bound(room: Option<usize>) -> usize {
    room.expect("this row is listed with a bound")
}

/// The simplest queue of the standard library.
pub type Locked<T> = Mutex<VecDeque<T>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

retried!(Locked, _room => Mutex::new(VecDeque::new()),
    queue, item => { lock(queue).push_back(item); Ok(()) }, lock(queue).pop_front());

/// Makes an [`Exchange`] of a channel whose two ends can be shared, and wait.
macro_rules! channel {
    ($(#[$about:meta])* $name:ident, $krate:ident, $offer:expr, $poll:expr) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name<T>($krate::Sender<T>, $krate::Receiver<T>);

        impl<T: Item> Exchange<T> for $name<T> {
            type Seat<'a> = &'a Self;

            fn build(room: Option<usize>) -> Self {
                let (sender, receiver) = room.map_or_else($krate::unbounded, $krate::bounded);
                $name(sender, receiver)
            }

            fn seat(&self, _pops: bool) -> &Self {
                self
            }
        }

        impl<T: Item> Seat<T> for &$name<T> {
            #[inline(always)]
            fn put(&mut self, item: T) {
                assert!(self.0.send(item).is_ok(), "{CUT}");
            }

            #[inline(always)]
            fn offer(&mut self, item: T) -> Result<(), T> {
                $offer(&self.0, item)
            }

            #[inline(always)]
            fn take(&mut self) -> T {
                self.1.recv().expect(CUT)
            }

            #[inline(always)]
            fn poll(&mut self) -> Option<T> {
                $poll(&self.1)
            }
        }
    };
}

pub(super) use channel as two_ended;

/// The message of an impossible error: both ends live as long as the channel.
pub(super) const CUT: &str = "the other end is there";

channel!(
    /// Of crossbeam.
    CrossbeamChannel,
    crossbeam_channel,
    |end: &crossbeam_channel::Sender<T>, item| end.try_send(item).map_err(|back| back.into_inner()),
    |end: &crossbeam_channel::Receiver<T>| end.try_recv().ok()
);
channel!(
    /// Of the crate `flume`.
    Flume,
    flume,
    |end: &flume::Sender<T>, item| end.try_send(item).map_err(flume::TrySendError::into_inner),
    |end: &flume::Receiver<T>| end.try_recv().ok()
);
channel!(
    /// Of the crate `kanal`.
    Kanal,
    kanal,
    |end: &kanal::Sender<T>, item| {
        let mut item = Some(item);
        match end.try_send_option(&mut item) {
            Ok(true) => Ok(()),
            _ => item.map_or(Ok(()), Err),
        }
    },
    |end: &kanal::Receiver<T>| end.try_recv().ok().flatten()
);

/// Makes an [`Exchange`] of a channel of the standard library, with one consumer at most.
macro_rules! standard {
    ($(#[$about:meta])* $name:ident, $sender:ident, $room:ident => $build:expr, $offer:expr) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name<T>($sender<T>, Mutex<Receiver<T>>);

        impl<T: Item> Exchange<T> for $name<T> {
            type Seat<'a> = Ends<'a, $sender<T>, T>;

            fn build($room: Option<usize>) -> Self {
                let (sender, receiver) = $build;
                $name(sender, Mutex::new(receiver))
            }

            fn seat(&self, pops: bool) -> Self::Seat<'_> {
                Ends { sender: self.0.clone(), receiver: pops.then(|| lock(&self.1)) }
            }
        }

        impl<T: Item> Seat<T> for Ends<'_, $sender<T>, T> {
            #[inline(always)]
            fn put(&mut self, item: T) {
                assert!(self.sender.send(item).is_ok(), "{CUT}");
            }

            #[inline(always)]
            fn offer(&mut self, item: T) -> Result<(), T> {
                $offer(&self.sender, item)
            }

            #[inline(always)]
            fn take(&mut self) -> T {
                self.receiver.as_ref().and_then(|end| end.recv().ok()).expect(CUT)
            }

            #[inline(always)]
            fn poll(&mut self) -> Option<T> {
                self.receiver.as_ref().and_then(|end| end.try_recv().ok())
            }
        }
    };
}

/// One thread's handle of a channel of the standard library.
#[derive(Debug)]
pub struct Ends<'a, S, T> {
    sender: S,
    /// Locked as long as the thread runs: a lock for each item would not be the channel.
    receiver: Option<MutexGuard<'a, Receiver<T>>>,
}

standard!(
    /// `std::sync::mpsc::sync_channel`.
    StandardBounded,
    SyncSender,
    room => sync_channel(bound(room)),
    |end: &SyncSender<T>, item| end.try_send(item).map_err(|error| match error {
        TrySendError::Full(back) | TrySendError::Disconnected(back) => back,
    })
);
standard!(
    /// `std::sync::mpsc::channel`.
    StandardUnbounded,
    Sender,
    _room => channel(),
    |end: &Sender<T>, item| end.send(item).map_err(|error| error.0)
);

/// No queue: every thread gets its own items back. It measures the cost of the loop, the items and
/// the check.
#[derive(Debug)]
pub struct Nothing;

impl<T: Item> Exchange<T> for Nothing {
    type Seat<'a> = VecDeque<T>;

    fn build(_room: Option<usize>) -> Self {
        Nothing
    }

    fn seat(&self, _pops: bool) -> Self::Seat<'_> {
        VecDeque::with_capacity(64)
    }
}

impl<T: Item> Seat<T> for VecDeque<T> {
    #[inline(always)]
    fn put(&mut self, item: T) {
        self.push_back(item);
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.push_back(item);
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        self.pop_front().expect("what was put in")
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.pop_front()
    }
}
