//! Receiving in tasks, message by message.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::receiver::Receiver;
use super::waiters::Entry;

impl<T> Receiver<T> {
    /// Returns the messages as a stream for tasks, which holds a receiver of its own.
    pub fn stream(&self) -> RecvStream<T> {
        RecvStream { receiver: self.clone(), entry: Entry::EMPTY }
    }
}

/// The messages of a channel as a stream. See [`Receiver::stream`].
///
/// It holds a receiver of its own. It can be dropped at any time: no message is lost, and no wake-up.
///
/// The trait `Stream` is not in the standard library, and this crate has no dependencies. `poll_fn` makes one, here that
/// of the crate `futures-lite`; the crate `futures` has it in the same place:
///
/// ```
/// use futures_lite::stream::{StreamExt, poll_fn};
/// use std::pin::Pin;
///
/// # let (sender, receiver) = throng::channel::unbounded::<u8>();
/// # (1..=3).for_each(|number| sender.send(number).unwrap());
/// # drop(sender);
/// let mut messages = receiver.stream();
/// let stream = poll_fn(move |context| Pin::new(&mut messages).poll_next(context));
/// # let doubled = futures_lite::future::block_on(stream.map(|number| 2 * number).collect::<Vec<_>>());
/// # assert_eq!(doubled, [2, 4, 6]);
/// ```
pub struct RecvStream<T> {
    receiver: Receiver<T>,
    entry: Entry,
}

impl<T> RecvStream<T> {
    /// Polls for the next message. Ready with `None` if the channel is empty and all senders are
    /// gone.
    pub fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let RecvStream { receiver, entry } = self.get_mut();
        receiver.link.poll_recv(entry, context.waker()).map(Result::ok)
    }
}

impl<T> Drop for RecvStream<T> {
    fn drop(&mut self) {
        if self.entry.is_set() {
            self.receiver.link.give_up_recv(&mut self.entry);
        }
    }
}

impl<T> fmt::Debug for RecvStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("RecvStream { .. }")
    }
}
