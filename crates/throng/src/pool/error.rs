//! What a queue or a pool answers when it cannot do what it was asked for. Nothing is lost: an item that
//! was not taken in comes back with the answer.

use std::error::Error;
use std::fmt;

/// The item that a closed queue did not take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

/// Why an item was not taken in; the item comes back with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PushError<T> {
    /// There was no room, or none in time.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

impl<T> PushError<T> {
    /// The item that was not taken in.
    pub fn into_inner(self) -> T {
        match self {
            PushError::Full(item) | PushError::Closed(item) => item,
        }
    }

    /// Whether there was no room.
    pub const fn is_full(&self) -> bool {
        matches!(self, PushError::Full(_))
    }
}

/// Why there is no item to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopError {
    /// There was none, or none in time.
    Empty,
    /// There was none, and since the queue is closed there will be none.
    Closed,
}

// Items need not be printable.
impl<T> fmt::Debug for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Closed(..)")
    }
}

impl<T> fmt::Debug for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() { "Full(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the queue is closed and takes nothing more")
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushError::Full(_) => "the queue is full",
            PushError::Closed(_) => "the queue is closed and takes nothing more",
        })
    }
}

impl fmt::Display for PopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PopError::Empty => "the queue is empty",
            PopError::Closed => "the queue is closed and has been emptied",
        })
    }
}

impl<T> Error for Closed<T> {}
impl<T> Error for PushError<T> {}
impl Error for PopError {}
