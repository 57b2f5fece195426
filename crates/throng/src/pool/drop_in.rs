//! [`Queue`] with the names and methods of `crossbeam-queue`, so that a program that uses that crate can
//! change to this one by one line:
//!
//! ```
//! // use crossbeam_queue::{ArrayQueue, SegQueue};
//! use throng::pool::drop_in::{ArrayQueue, SegQueue};
//!
//! let few = ArrayQueue::new(1);
//! assert_eq!(few.push('a'), Ok(()));
//! assert_eq!(few.push('b'), Err('b'));
//! assert_eq!(few.force_push('c'), Some('a'));
//! assert_eq!(few.pop(), Some('c'));
//!
//! let many = SegQueue::new();
//! many.push(1);
//! assert_eq!((many.pop(), many.pop()), (Some(1), None));
//! ```
//!
//! New programs take [`Queue`], which can also wait and be closed.

use std::fmt;

pub use super::queue::IntoIter;
use super::{PushError, Queue, QueueShape};
use crate::machine::Native;

/// A bounded queue; `push` and `pop` never wait.
pub struct ArrayQueue<T> {
    queue: Queue<T>,
}

impl<T> ArrayQueue<T> {
    /// A queue for at most `capacity` items.
    ///
    /// # Panics
    /// If `capacity` is 0, or above [`QueueShape::MOST_CAPACITY`].
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "capacity must be non-zero");
        let shape = QueueShape { spare_slot: true, ..QueueShape::bounded(capacity) };
        ArrayQueue { queue: Queue::on_machine(shape).unwrap_or_else(|error| panic!("{error}")) }
    }

    /// Pushes if there is room.
    ///
    /// # Errors
    /// The item, when the queue is full.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), T> {
        self.queue.try_push(item).map_err(PushError::into_inner)
    }

    /// Pushes if there is room, for a caller that has the only reference.
    ///
    /// # Errors
    /// The item, when the queue is full.
    pub fn push_mut(&mut self, item: T) -> Result<(), T> {
        self.push(item)
    }

    /// Pushes; if the queue is full, takes out the oldest item and returns it. A call takes out one item at most. It
    /// may wait for calls in progress.
    pub fn force_push(&self, item: T) -> Option<T> {
        // It is not closed.
        self.queue.force_push_on(&Native::cpu(), item).unwrap_or(None)
    }

    /// Pops if there is an item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    /// Pops if there is an item, for a caller that has the only reference.
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// The most items that fit in.
    pub fn capacity(&self) -> usize {
        self.queue.capacity().unwrap_or(usize::MAX)
    }

    /// How many items are inside.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether there is no room.
    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }
}

/// An unbounded queue; `pop` never waits.
pub struct SegQueue<T> {
    queue: Queue<T>,
}

impl<T> SegQueue<T> {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> Self {
        SegQueue { queue: Queue::unbounded() }
    }

    /// Pushes.
    #[inline]
    pub fn push(&self, item: T) {
        // It is not closed, and has no bound.
        drop(self.queue.push(item));
    }

    /// Pops if there is an item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    /// Pushes, for a caller that has the only reference.
    pub fn push_mut(&mut self, item: T) {
        self.push(item);
    }

    /// Pops if there is an item, for a caller that has the only reference.
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// How many items are inside.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

impl<T> Default for SegQueue<T> {
    fn default() -> Self {
        SegQueue::new()
    }
}

impl<T> fmt::Debug for ArrayQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("ArrayQueue { .. }")
    }
}

impl<T> fmt::Debug for SegQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("SegQueue { .. }")
    }
}

impl<T> IntoIterator for ArrayQueue<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        self.queue.into_iter()
    }
}

impl<T> IntoIterator for SegQueue<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        self.queue.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_makes_room() {
        let queue = ArrayQueue::new(2);
        assert_eq!((queue.push(1), queue.push(2), queue.push(3)), (Ok(()), Ok(()), Err(3)));
        assert!(queue.is_full() && queue.len() == 2 && queue.capacity() == 2);
        assert_eq!(queue.force_push(4), Some(1));
        assert_eq!(queue.into_iter().collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn all_that_was_pushed_comes_out() {
        let queue = SegQueue::default();
        (0..1000).for_each(|item| queue.push(item));
        assert_eq!(queue.pop(), Some(0));
        assert_eq!((queue.len(), queue.is_empty()), (999, false));
        assert!(queue.into_iter().eq(1..1000));
    }
}
