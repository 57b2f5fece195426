//! Sending and receiving in tasks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::error::{RecvError, SendError};
use super::receiver::Receiver;
use super::sender::Sender;
use super::waiters::Entry;

impl<T> Sender<T> {
    /// Returns a future that sends the message when there is room.
    ///
    /// It can be dropped at any time: see [`SendFuture`].
    ///
    /// ```
    /// let (sender, receiver) = throng::channel::bounded(1);
    /// futures_lite::future::block_on(async { sender.send_async('a').await }).unwrap();
    /// assert_eq!(receiver.recv(), Ok('a'));
    /// ```
    ///
    /// # Errors
    /// The future returns the message if all receivers have been dropped.
    pub fn send_async(&self, message: T) -> SendFuture<'_, T> {
        SendFuture { sender: self, message: Some(message), entry: Entry::EMPTY }
    }
}

impl<T> Receiver<T> {
    /// Returns a future that receives a message when there is one.
    ///
    /// It can be dropped at any time: see [`RecvFuture`].
    ///
    /// ```
    /// let (sender, receiver) = throng::channel::unbounded();
    /// sender.send('a').unwrap();
    /// let received = futures_lite::future::block_on(async { receiver.recv_async().await });
    /// assert_eq!(received, Ok('a'));
    /// ```
    ///
    /// # Errors
    /// The future returns an error if the channel is empty and all senders have been dropped.
    pub fn recv_async(&self) -> RecvFuture<'_, T> {
        RecvFuture { receiver: self, entry: Entry::EMPTY }
    }
}

/// Sends a message when there is room. See [`Sender::send_async`].
///
/// If the future is dropped before it is ready, its message is dropped and not sent; with capacity
/// 0, a receiver may have taken the message. No other message is lost, and no wake-up: if the task
/// had been woken, the next task is.
#[must_use = "futures do nothing unless they are awaited"]
pub struct SendFuture<'a, T> {
    sender: &'a Sender<T>,
    /// `None` once the message was sent or is in an offer.
    message: Option<T>,
    entry: Entry,
}

/// Receives a message when there is one. See [`Receiver::recv_async`].
///
/// If the future is dropped before it is ready, it has received nothing. No message is lost, and no
/// wake-up: if the task had been woken, the next task is.
#[must_use = "futures do nothing unless they are awaited"]
pub struct RecvFuture<'a, T> {
    receiver: &'a Receiver<T>,
    entry: Entry,
}

/// The message is never pinned.
impl<T> Unpin for SendFuture<'_, T> {}

impl<T> Future for SendFuture<'_, T> {
    type Output = Result<(), SendError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let SendFuture { sender, message, entry } = self.get_mut();
        let sent = sender.link.poll_send(message, entry, context.waker());
        sent.map_err(|closed| SendError(closed.0))
    }
}

impl<T> Future for RecvFuture<'_, T> {
    type Output = Result<T, RecvError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let RecvFuture { receiver, entry } = self.get_mut();
        let received = receiver.link.poll_recv(entry, context.waker());
        received.map_err(|_| RecvError)
    }
}

impl<T> Drop for SendFuture<'_, T> {
    fn drop(&mut self) {
        if self.entry.is_set() {
            self.sender.link.give_up_send(&mut self.entry);
        }
    }
}

impl<T> Drop for RecvFuture<'_, T> {
    fn drop(&mut self) {
        if self.entry.is_set() {
            self.receiver.link.give_up_recv(&mut self.entry);
        }
    }
}

impl<T> fmt::Debug for SendFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SendFuture { .. }")
    }
}

impl<T> fmt::Debug for RecvFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvFuture { .. }")
    }
}
