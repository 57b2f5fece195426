//! The end that sends.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use super::error::{SendError, SendTimeoutError, TrySendError};
use super::link::Link;

/// The end of a channel that sends.
///
/// It can be cloned, and shared by reference. When the last sender is dropped, receivers get what is inside and then
/// learn that the channel is disconnected.
///
/// ```
/// use std::thread;
/// use throng::channel;
///
/// let (sender, receiver) = channel::bounded(10);
/// for number in 0..3 {
///     let sender = sender.clone();
///     thread::spawn(move || sender.send(number).unwrap());
/// }
/// drop(sender);
/// assert_eq!(receiver.iter().sum::<u32>(), 3);
/// ```
pub struct Sender<T> {
    pub(super) link: Link<T>,
}

impl<T> Sender<T> {
    /// Sends `message` if there is room. Never waits. With capacity 0, there is room while a
    /// receiver waits.
    ///
    /// ```
    /// use throng::channel::{TrySendError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// assert_eq!(sender.try_send(1), Ok(()));
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(3), Err(TrySendError::Disconnected(3)));
    /// ```
    ///
    /// # Errors
    /// The message, if the channel is full or all receivers have been dropped.
    #[inline(always)]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.link.try_send(message).map_err(TrySendError::of)
    }

    /// Sends `message`. Waits for room, or for a receiver if the capacity is 0.
    ///
    /// ```
    /// use throng::channel::{SendError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// assert_eq!(sender.send('a'), Ok(()));
    /// drop(receiver);
    /// assert_eq!(sender.send('b'), Err(SendError('b')));
    /// ```
    ///
    /// # Errors
    /// The message, if all receivers have been dropped.
    #[inline(always)]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.link.send(message).map_err(|closed| SendError(closed.0))
    }

    /// Sends `message`. Waits for room, but not longer than `timeout`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::channel::{SendTimeoutError, bounded};
    ///
    /// let (sender, receiver) = bounded(1);
    /// sender.send('a').unwrap();
    /// let late = sender.send_timeout('b', Duration::from_millis(1));
    /// assert_eq!(late, Err(SendTimeoutError::Timeout('b')));
    /// # drop(receiver);
    /// ```
    ///
    /// # Errors
    /// The message, if the time is over or all receivers have been dropped.
    pub fn send_timeout(&self, message: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.link.send_timeout(message, timeout).map_err(SendTimeoutError::of)
    }

    /// Sends `message`. Waits for room, but not longer than until `deadline`. Otherwise like
    /// [`send_timeout`](Sender::send_timeout).
    ///
    /// # Errors
    /// The message, if the time is over or all receivers have been dropped.
    pub fn send_deadline(&self, message: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_timeout(message, deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns whether no message is inside. True if the capacity is 0.
    pub fn is_empty(&self) -> bool {
        self.link.is_empty()
    }

    /// Returns whether there is no room. True if the capacity is 0.
    pub fn is_full(&self) -> bool {
        self.link.is_full()
    }

    /// Returns the number of messages inside. Other threads may change it before the call returns.
    pub fn len(&self) -> usize {
        self.link.len()
    }

    /// Returns the largest number of messages that fit in, or `None` if there is no bound.
    pub fn capacity(&self) -> Option<usize> {
        self.link.capacity()
    }

    /// Returns whether both are ends of the same channel.
    pub fn same_channel(&self, other: &Sender<T>) -> bool {
        self.link.is_same(&other.link)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { link: self.link.add_sender() }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.link.remove_sender();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Sender { .. }")
    }
}

// No code of a user runs while a channel is half changed.
impl<T> UnwindSafe for Sender<T> {}
impl<T> RefUnwindSafe for Sender<T> {}
