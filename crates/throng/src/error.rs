//! The errors of queues and pools. An item that was not pushed comes back with the error.

use std::error::Error;
use std::fmt;

const PUSHED_AFTER_CLOSE: &str = "pushing into a closed queue or pool";
const POPPED_AFTER_CLOSE: &str = "popping from an empty and closed queue or pool";

/// The item that was pushed into a closed queue or pool.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Closed<T>(pub T);

impl<T> Closed<T> {
    /// Returns the item that was not pushed.
    pub fn into_inner(self) -> T {
        self.0
    }
}

/// Why `try_push` did not push an item; the item comes back with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PushError<T> {
    /// The queue is full.
    Full(T),
    /// The queue is closed.
    Closed(T),
}

impl<T> PushError<T> {
    /// Returns the item that was not pushed.
    pub fn into_inner(self) -> T {
        match self {
            PushError::Full(item) | PushError::Closed(item) => item,
        }
    }

    /// Returns whether there was no room.
    pub const fn is_full(&self) -> bool {
        matches!(self, PushError::Full(_))
    }

    /// Returns whether the queue is closed.
    pub const fn is_closed(&self) -> bool {
        matches!(self, PushError::Closed(_))
    }
}

/// Why `push_timeout` or `push_deadline` did not push an item; the item comes back with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PushTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// The queue is closed.
    Closed(T),
}

impl<T> PushTimeoutError<T> {
    /// Returns the item that was not pushed.
    pub fn into_inner(self) -> T {
        match self {
            PushTimeoutError::Timeout(item) | PushTimeoutError::Closed(item) => item,
        }
    }

    /// Returns whether there was no room in time.
    pub const fn is_timeout(&self) -> bool {
        matches!(self, PushTimeoutError::Timeout(_))
    }
}

/// A blocking push reports a full queue only after its time is over.
impl<T> From<PushError<T>> for PushTimeoutError<T> {
    fn from(error: PushError<T>) -> Self {
        match error {
            PushError::Full(item) => PushTimeoutError::Timeout(item),
            PushError::Closed(item) => PushTimeoutError::Closed(item),
        }
    }
}

/// Why `try_pop` got no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopError {
    /// The queue or pool is empty.
    Empty,
    /// The queue or pool is empty and closed: there will be no item.
    Closed,
}

impl PopError {
    /// Returns whether there was no item, and there may be one later.
    pub const fn is_empty(&self) -> bool {
        matches!(self, PopError::Empty)
    }

    /// Returns whether there will be no item.
    pub const fn is_closed(&self) -> bool {
        matches!(self, PopError::Closed)
    }
}

/// Why `pop_timeout` or `pop_deadline` got no item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PopTimeoutError {
    /// No item came in time.
    Timeout,
    /// The queue or pool is empty and closed: there will be no item.
    Closed,
}

/// A blocking pop reports an empty queue only after its time is over.
impl From<PopError> for PopTimeoutError {
    fn from(error: PopError) -> Self {
        match error {
            PopError::Empty => PopTimeoutError::Timeout,
            PopError::Closed => PopTimeoutError::Closed,
        }
    }
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

impl<T> fmt::Debug for PushTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_timeout() { "Timeout(..)" } else { "Closed(..)" })
    }
}

impl<T> fmt::Display for Closed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PUSHED_AFTER_CLOSE)
    }
}

impl<T> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushError::Full(_) => "pushing into a full queue",
            PushError::Closed(_) => PUSHED_AFTER_CLOSE,
        })
    }
}

impl<T> fmt::Display for PushTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PushTimeoutError::Timeout(_) => "timed out pushing into a full queue",
            PushTimeoutError::Closed(_) => PUSHED_AFTER_CLOSE,
        })
    }
}

impl fmt::Display for PopTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PopTimeoutError::Timeout => "timed out popping from an empty queue or pool",
            PopTimeoutError::Closed => POPPED_AFTER_CLOSE,
        })
    }
}

impl fmt::Display for PopError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PopError::Empty => "popping from an empty queue or pool",
            PopError::Closed => POPPED_AFTER_CLOSE,
        })
    }
}

impl<T> Error for Closed<T> {}
impl<T> Error for PushError<T> {}
impl<T> Error for PushTimeoutError<T> {}
impl Error for PopError {}
impl Error for PopTimeoutError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// An item without `Debug`.
    struct Plain;

    #[test]
    fn errors_print_without_their_items() {
        let closed = "pushing into a closed queue or pool";
        assert_eq!(format!("{0} {0:?}", Closed(Plain)), format!("{closed} Closed(..)"));
        assert_eq!(PushError::Full(Plain).to_string(), "pushing into a full queue");
        assert_eq!(PushError::Closed(Plain).to_string(), closed);
        let late = PushTimeoutError::Timeout(Plain);
        assert_eq!(format!("{late} {late:?}"), "timed out pushing into a full queue Timeout(..)");
        assert_eq!(PushTimeoutError::Closed(Plain).to_string(), closed);
        let closed = "popping from an empty and closed queue or pool";
        assert_eq!(PopError::Empty.to_string(), "popping from an empty queue or pool");
        assert_eq!(PopError::Closed.to_string(), closed);
        let late = "timed out popping from an empty queue or pool";
        assert_eq!(PopTimeoutError::Timeout.to_string(), late);
        assert_eq!(PopTimeoutError::Closed.to_string(), closed);
    }

    #[test]
    fn items_come_back_with_the_error() {
        for error in [PushError::Full(7), PushError::Closed(7)] {
            let (is_full, error) = (error.is_full(), PushTimeoutError::from(error));
            assert_eq!((error.is_timeout(), error.into_inner()), (is_full, 7));
        }
        assert_eq!(PushError::Full(7).into_inner(), 7);
        assert_eq!(PopTimeoutError::from(PopError::Empty), PopTimeoutError::Timeout);
        assert_eq!(PopTimeoutError::from(PopError::Closed), PopTimeoutError::Closed);
    }
}
