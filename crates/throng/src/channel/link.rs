//! The state that the two ends of a channel share.
//!
//! An [`Arc`] counts the owners of the memory. Two counters beside the channel count its ends. The
//! last sender closes the channel. The last receiver also closes it, and drops the items inside.
//!
//! ## Memory ordering
//! Dropping an end lowers its counter by a read-modify-write with acquire and release ordering. So
//! everything done through any end of a side happens before the close. Cloning an end needs no
//! order: the end that is cloned keeps the counter above 0.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::buffered::Buffered;
use super::rendezvous::Rendezvous;
use super::waiters::Entry;
use crate::error::{Closed, PopError, PushError};
use crate::machine::Native;
use crate::queue::generic::QueueShape;

/// A buffered channel or a rendezvous.
pub(super) enum Link<T> {
    Buffered(Arc<Shared<Buffered<T>>>),
    Rendezvous(Arc<Shared<Rendezvous<T>>>),
}

pub(super) struct Shared<C> {
    channel: C,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    /// Whether the channel is never closed. Such a channel has no sender, but counts one.
    is_never: bool,
}

impl<C> Shared<C> {
    /// Counts one sender and one receiver.
    fn new(channel: C) -> Arc<Self> {
        Self::of(channel, false)
    }

    fn of(channel: C, is_never: bool) -> Arc<Self> {
        let (senders, receivers) = (AtomicUsize::new(1), AtomicUsize::new(1));
        Arc::new(Shared { channel, senders, receivers, is_never })
    }
}

/// Runs the same expression for either kind.
macro_rules! either {
    ($link:expr, $shared:ident => $do:expr) => {
        match $link {
            Link::Buffered($shared) => $do,
            Link::Rendezvous($shared) => $do,
        }
    };
}

impl<T> Link<T> {
    /// Returns a channel for `capacity` messages.
    ///
    /// # Panics
    /// If `capacity` is above [`QueueShape::MOST_CAPACITY`].
    pub(super) fn bounded(capacity: usize) -> Self {
        match capacity {
            0 => Link::Rendezvous(Shared::new(Rendezvous::new())),
            _ => Link::of_shape(QueueShape::bounded(capacity)),
        }
    }

    /// Returns a channel without a sender that is never closed.
    pub(super) fn never() -> Self {
        Link::Rendezvous(Shared::of(Rendezvous::new(), true))
    }

    pub(super) fn unbounded() -> Self {
        Link::of_shape(QueueShape::UNBOUNDED)
    }

    fn of_shape(shape: QueueShape) -> Self {
        let channel = Buffered::on_machine(shape).unwrap_or_else(|error| panic!("{error}"));
        Link::Buffered(Shared::new(channel))
    }

    /// Returns the same channel for another end, without counting that end.
    pub(super) fn share(&self) -> Self {
        match self {
            Link::Buffered(shared) => Link::Buffered(Arc::clone(shared)),
            Link::Rendezvous(shared) => Link::Rendezvous(Arc::clone(shared)),
        }
    }

    pub(super) fn add_sender(&self) -> Self {
        either!(self, shared => shared.senders.fetch_add(1, Relaxed));
        self.share()
    }

    pub(super) fn add_receiver(&self) -> Self {
        either!(self, shared => shared.receivers.fetch_add(1, Relaxed));
        self.share()
    }

    /// Counts a dropped sender; the last one closes the channel. Called once for each sender.
    pub(super) fn remove_sender(&self) {
        if either!(self, shared => shared.senders.fetch_sub(1, AcqRel)) == 1 {
            match self {
                Link::Buffered(shared) => shared.channel.close_on(&Native::cpu()),
                Link::Rendezvous(shared) => shared.channel.close(),
            }
        }
    }

    /// Counts a dropped receiver; the last one closes the channel and drops the items inside.
    /// Called once for each receiver.
    pub(super) fn remove_receiver(&self) {
        if either!(self, shared => shared.receivers.fetch_sub(1, AcqRel)) == 1 {
            either!(self, shared => shared.channel.discard());
        }
    }

    #[inline(always)]
    pub(super) fn try_send(&self, message: T) -> Result<(), PushError<T>> {
        match self {
            Link::Buffered(shared) => shared.channel.try_send_on(&Native::cpu(), message),
            Link::Rendezvous(shared) => shared.channel.try_send(message),
        }
    }

    #[inline(always)]
    pub(super) fn send(&self, message: T) -> Result<(), Closed<T>> {
        match self {
            Link::Buffered(shared) => shared.channel.send(message),
            Link::Rendezvous(shared) => {
                shared.channel.send(message, None).map_err(|error| Closed(error.into_inner()))
            }
        }
    }

    pub(super) fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), PushError<T>> {
        match self {
            Link::Buffered(shared) => shared.channel.send_timeout(message, timeout),
            Link::Rendezvous(shared) => shared.channel.send(message, Some(timeout)),
        }
    }

    pub(super) fn poll_send(
        &self,
        message: &mut Option<T>,
        entry: &mut Entry,
        waker: &Waker,
    ) -> Poll<Result<(), Closed<T>>> {
        match self {
            Link::Buffered(shared) => {
                shared.channel.poll_send_on(&Native::cpu(), message, entry, waker)
            }
            Link::Rendezvous(shared) => shared.channel.poll_send(message, entry, waker),
        }
    }

    /// Removes a task that waits to send. Its message is dropped, unless it has been received.
    pub(super) fn give_up_send(&self, entry: &mut Entry) {
        match self {
            Link::Buffered(shared) => shared.channel.give_up_send_on(&Native::cpu(), entry),
            Link::Rendezvous(shared) => drop(shared.channel.give_up_send(entry)),
        }
    }

    #[inline(always)]
    pub(super) fn try_recv(&self) -> Result<T, PopError> {
        match self {
            Link::Buffered(shared) => shared.channel.try_recv_on(&Native::cpu()),
            Link::Rendezvous(shared) => shared.channel.try_recv(),
        }
    }

    /// Receives a message. Returns `None` if the channel is empty and all senders have been
    /// dropped.
    #[inline(always)]
    pub(super) fn recv(&self) -> Option<T> {
        match self {
            Link::Buffered(shared) => shared.channel.recv(),
            Link::Rendezvous(shared) => shared.channel.recv(None).ok(),
        }
    }

    pub(super) fn recv_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        match self {
            Link::Buffered(shared) => shared.channel.recv_timeout(timeout),
            Link::Rendezvous(shared) => shared.channel.recv(Some(timeout)),
        }
    }

    pub(super) fn poll_recv(&self, entry: &mut Entry, waker: &Waker) -> Poll<Result<T, PopError>> {
        match self {
            Link::Buffered(shared) => shared.channel.poll_recv_on(&Native::cpu(), entry, waker),
            Link::Rendezvous(shared) => shared.channel.poll_recv(entry, waker),
        }
    }

    /// Removes a task that waits to receive.
    pub(super) fn give_up_recv(&self, entry: &mut Entry) {
        match self {
            Link::Buffered(shared) => shared.channel.give_up_recv_on(&Native::cpu(), entry),
            Link::Rendezvous(shared) => shared.channel.give_up_recv(entry),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Link::Buffered(shared) => shared.channel.queue().len(),
            Link::Rendezvous(_) => 0,
        }
    }

    pub(super) fn capacity(&self) -> Option<usize> {
        match self {
            Link::Buffered(shared) => shared.channel.queue().capacity(),
            Link::Rendezvous(_) => Some(0),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn is_full(&self) -> bool {
        self.capacity() == Some(self.len())
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Link::Buffered(one), Link::Buffered(two)) => Arc::ptr_eq(one, two),
            (Link::Rendezvous(one), Link::Rendezvous(two)) => {
                // No call can tell two channels without a sender apart.
                Arc::ptr_eq(one, two) || one.is_never && two.is_never
            }
            _ => false,
        }
    }
}
