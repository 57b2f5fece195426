//! The end that receives.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::{Duration, Instant};

use super::error::{RecvError, RecvTimeoutError, TryRecvError};
use super::link::Link;

/// The end of a channel that receives.
///
/// It can be cloned, and shared by reference; each message is received once. When the last receiver is dropped, the
/// messages inside are dropped, and senders learn that the channel is disconnected.
///
/// ```
/// use throng::channel;
///
/// let (sender, receiver) = channel::unbounded();
/// sender.send('a').unwrap();
/// sender.send('b').unwrap();
/// drop(sender);
/// assert_eq!(receiver.recv(), Ok('a'));
/// assert_eq!(receiver.recv(), Ok('b'));
/// assert!(receiver.recv().is_err());
/// ```
pub struct Receiver<T> {
    pub(super) link: Link<T>,
}

impl<T> Receiver<T> {
    /// Receives a message if there is one. Never waits. With capacity 0, there is one while a
    /// sender waits.
    ///
    /// ```
    /// use throng::channel::{TryRecvError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(7).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// ```
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] if the channel is empty, [`TryRecvError::Disconnected`] if all
    /// senders have been dropped, too.
    #[inline(always)]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.link.try_recv().map_err(TryRecvError::of)
    }

    /// Receives a message. Waits while the channel is empty.
    ///
    /// ```
    /// use throng::channel::{RecvError, unbounded};
    ///
    /// let (sender, receiver) = unbounded();
    /// sender.send(7).unwrap();
    /// drop(sender);
    /// assert_eq!((receiver.recv(), receiver.recv()), (Ok(7), Err(RecvError)));
    /// ```
    ///
    /// # Errors
    /// If the channel is empty and all senders have been dropped.
    #[inline(always)]
    pub fn recv(&self) -> Result<T, RecvError> {
        self.link.recv().ok_or(RecvError)
    }

    /// Receives a message. Waits for one, but not longer than `timeout`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::channel::{RecvTimeoutError, unbounded};
    ///
    /// let (sender, receiver) = unbounded::<u32>();
    /// let late = receiver.recv_timeout(Duration::from_millis(1));
    /// assert_eq!(late, Err(RecvTimeoutError::Timeout));
    /// # drop(sender);
    /// ```
    ///
    /// # Errors
    /// If the time is over, or the channel is empty and all senders have been dropped.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.link.recv_timeout(timeout).map_err(RecvTimeoutError::of)
    }

    /// Receives a message. Waits for one, but not longer than until `deadline`. Otherwise like
    /// [`recv_timeout`](Receiver::recv_timeout).
    ///
    /// # Errors
    /// If the time is over, or the channel is empty and all senders have been dropped.
    pub fn recv_deadline(&self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_timeout(deadline.saturating_duration_since(Instant::now()))
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
    pub fn same_channel(&self, other: &Receiver<T>) -> bool {
        self.link.is_same(&other.link)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver { link: self.link.add_receiver() }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.link.remove_receiver();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Receiver { .. }")
    }
}

// No code of a user runs while a channel is half changed.
impl<T> UnwindSafe for Receiver<T> {}
impl<T> RefUnwindSafe for Receiver<T> {}
