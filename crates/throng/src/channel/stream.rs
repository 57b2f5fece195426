//! Receiving in tasks, message by message.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::receiver::Receiver;
use super::waiters::Entry;

/// The messages of a channel as a stream. See [`Receiver::stream`].
///
/// It holds a receiver of its own. It can be dropped at any time: no message is lost, and no wake-up.
///
/// The trait `Stream` is not in the standard library, and this crate has no dependencies. With the crate `futures`:
///
/// ```
/// use std::pin::Pin;
/// # mod futures { pub mod stream { pub struct PollFn<F>(pub F);
/// #     pub fn poll_fn<T, F>(poll: F) -> PollFn<F>
/// #     where F: FnMut(&mut std::task::Context<'_>) -> std::task::Poll<Option<T>> { PollFn(poll) } } }
/// use futures::stream::poll_fn;
///
/// # let (sender, receiver) = throng::channel::unbounded::<u8>();
/// let mut messages = receiver.stream();
/// let stream = poll_fn(move |context| Pin::new(&mut messages).poll_next(context));
/// ```
pub struct RecvStream<T> {
    receiver: Receiver<T>,
    entry: Entry,
}

impl<T> RecvStream<T> {
    pub(super) const fn new(receiver: Receiver<T>) -> Self {
        RecvStream { receiver, entry: Entry::EMPTY }
    }

    /// Returns the next message when there is one; `None` when the channel is empty and all senders are gone.
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
