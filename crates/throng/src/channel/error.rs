//! The errors of a channel. Names and texts are those of `crossbeam-channel`.
//!
//! A message that was not sent comes back with the error.

use std::error::Error;
use std::fmt;

use crate::error::{PopError, PushError};

/// The message that was not sent because all receivers have been dropped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

/// Why [`try_send`](super::Sender::try_send) did not send the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full. If its capacity is 0: no receiver waits.
    Full(T),
    /// All receivers have been dropped.
    Disconnected(T),
}

/// Why [`send_timeout`](super::Sender::send_timeout) or [`send_deadline`](super::Sender::send_deadline) did not
/// send the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The time is over and the channel is still full.
    Timeout(T),
    /// All receivers have been dropped.
    Disconnected(T),
}

/// The channel is empty and all senders have been dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvError;

/// Why [`try_recv`](super::Receiver::try_recv) returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// The channel is empty. If its capacity is 0: no sender waits.
    Empty,
    /// The channel is empty and all senders have been dropped.
    Disconnected,
}

/// Why [`recv_timeout`](super::Receiver::recv_timeout) or [`recv_deadline`](super::Receiver::recv_deadline)
/// returned no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvTimeoutError {
    /// The time is over and the channel is still empty.
    Timeout,
    /// The channel is empty and all senders have been dropped.
    Disconnected,
}

impl<T> SendError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => message,
        }
    }

    /// Returns whether the channel is full.
    pub const fn is_full(&self) -> bool {
        matches!(self, TrySendError::Full(_))
    }

    /// Returns whether all receivers have been dropped.
    pub const fn is_disconnected(&self) -> bool {
        matches!(self, TrySendError::Disconnected(_))
    }
}

impl<T> SendTimeoutError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Disconnected(message) => message,
        }
    }

    /// Returns whether the time is over.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, SendTimeoutError::Timeout(_))
    }

    /// Returns whether all receivers have been dropped.
    pub const fn is_disconnected(&self) -> bool {
        matches!(self, SendTimeoutError::Disconnected(_))
    }
}

impl TryRecvError {
    /// Returns whether the channel is empty and senders are left.
    pub const fn is_empty(&self) -> bool {
        matches!(self, TryRecvError::Empty)
    }

    /// Returns whether the channel is empty and all senders have been dropped.
    pub const fn is_disconnected(&self) -> bool {
        matches!(self, TryRecvError::Disconnected)
    }
}

impl RecvTimeoutError {
    /// Returns whether the time is over.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, RecvTimeoutError::Timeout)
    }

    /// Returns whether the channel is empty and all senders have been dropped.
    pub const fn is_disconnected(&self) -> bool {
        matches!(self, RecvTimeoutError::Disconnected)
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        TrySendError::Disconnected(error.0)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        SendTimeoutError::Disconnected(error.0)
    }
}

impl From<RecvError> for TryRecvError {
    fn from(_: RecvError) -> Self {
        TryRecvError::Disconnected
    }
}

impl From<RecvError> for RecvTimeoutError {
    fn from(_: RecvError) -> Self {
        RecvTimeoutError::Disconnected
    }
}

/// Conversions from the errors of a queue to those of a channel.
impl<T> TrySendError<T> {
    pub(super) fn of(error: PushError<T>) -> Self {
        match error {
            PushError::Full(message) => TrySendError::Full(message),
            PushError::Closed(message) => TrySendError::Disconnected(message),
        }
    }
}

impl<T> SendTimeoutError<T> {
    pub(super) fn of(error: PushError<T>) -> Self {
        match error {
            PushError::Full(message) => SendTimeoutError::Timeout(message),
            PushError::Closed(message) => SendTimeoutError::Disconnected(message),
        }
    }
}

impl TryRecvError {
    pub(super) const fn of(error: PopError) -> Self {
        match error {
            PopError::Empty => TryRecvError::Empty,
            PopError::Closed => TryRecvError::Disconnected,
        }
    }
}

impl RecvTimeoutError {
    pub(super) const fn of(error: PopError) -> Self {
        match error {
            PopError::Empty => RecvTimeoutError::Timeout,
            PopError::Closed => RecvTimeoutError::Disconnected,
        }
    }
}

const NO_RECEIVER: &str = "sending on a disconnected channel";

// Messages need not be printable. The quotes are those of `crossbeam-channel`, too.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt("SendError(..)", f)
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(if self.is_full() { "Full(..)" } else { "Disconnected(..)" }, f)
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt("SendTimeoutError(..)", f)
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(NO_RECEIVER)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_full() { "sending on a full channel" } else { NO_RECEIVER })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if self.is_timeout() { "timed out waiting on send operation" } else { NO_RECEIVER })
    }
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("receiving on an empty and disconnected channel")
    }
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.pad("receiving on an empty channel"),
            TryRecvError::Disconnected => RecvError.fmt(f),
        }
    }
}

impl fmt::Display for RecvTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RecvTimeoutError::Timeout => "timed out waiting on receive operation",
            RecvTimeoutError::Disconnected => "channel is empty and disconnected",
        })
    }
}

impl<T> Error for SendError<T> {}
impl<T> Error for TrySendError<T> {}
impl<T> Error for SendTimeoutError<T> {}
impl Error for RecvError {}
impl Error for TryRecvError {}
impl Error for RecvTimeoutError {}
