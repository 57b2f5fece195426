//! [`Queue`] with the names and methods of `crossbeam-queue` and `concurrent-queue`. A program that uses one of these
//! crates can change to this one by one line:
//!
//! ```
//! // use crossbeam_queue::{ArrayQueue, SegQueue};
//! use throng::drop_in::{ArrayQueue, SegQueue};
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
//! ```
//! // use concurrent_queue::{ConcurrentQueue, PopError};
//! use throng::drop_in::{ConcurrentQueue, PopError};
//!
//! let queue = ConcurrentQueue::bounded(2);
//! assert_eq!((queue.push('a'), queue.pop()), (Ok(()), Ok('a')));
//! assert_eq!(queue.pop(), Err(PopError::Empty));
//! ```
//!
//! # Pops in progress
//! As in those crates, a push of a bounded queue waits if it needs the slot of a pop that another thread is in the middle
//! of: after a second it goes on with another slot. So `capacity() - len()` items can be pushed by the only producer. In a
//! [`Queue`] [`try_push`](Queue::try_push) never waits for that, and may find the queue full early.
//!
//! New programs should use [`Queue`], which can also wait and be closed.

mod concurrent_queue;

use std::fmt;

pub use crate::error::{Closed as ForcePushError, PopError, PushError};
use crate::queue::Queue;
pub use crate::queue::{Drain as TryIter, IntoIter};
pub use concurrent_queue::ConcurrentQueue;

/// A bounded queue, whose `push` and `pop` do not wait for room or for an item.
///
/// ```
/// use throng::drop_in::ArrayQueue;
///
/// let queue = ArrayQueue::new(2);
/// assert_eq!((queue.push('a'), queue.push('b'), queue.push('c')), (Ok(()), Ok(()), Err('c')));
/// assert_eq!((queue.len(), queue.capacity(), queue.is_full()), (2, 2, true));
/// assert!(queue.into_iter().eq(['a', 'b']));
/// ```
pub struct ArrayQueue<T> {
    queue: Queue<T>,
}

impl<T> ArrayQueue<T> {
    /// Returns a queue for at most `capacity` items.
    ///
    /// # Panics
    /// If `capacity` is 0, or above [`Queue::MAX_CAPACITY`].
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "capacity must be non-zero");
        ArrayQueue { queue: Queue::waiting_for_pops(capacity) }
    }

    /// Pushes an item if there is room.
    ///
    /// # Errors
    /// The item, if the queue is full.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), T> {
        self.queue.try_push(item).map_err(PushError::into_inner)
    }

    /// Pushes an item if there is room, for a caller that has the only reference.
    ///
    /// ```
    /// use throng::drop_in::ArrayQueue;
    ///
    /// let mut queue = ArrayQueue::new(1);
    /// assert_eq!((queue.push_mut('a'), queue.push_mut('b')), (Ok(()), Err('b')));
    /// assert_eq!((queue.pop_mut(), queue.pop_mut()), (Some('a'), None));
    /// ```
    ///
    /// # Errors
    /// The item, if the queue is full.
    pub fn push_mut(&mut self, item: T) -> Result<(), T> {
        self.push(item)
    }

    /// Pushes an item. If the queue is full, pops the oldest item and returns it. A call pops at
    /// most one item. It may wait for pushes and pops in progress.
    ///
    /// ```
    /// use throng::drop_in::ArrayQueue;
    ///
    /// let queue = ArrayQueue::new(1);
    /// assert_eq!((queue.force_push('a'), queue.force_push('b')), (None, Some('a')));
    /// ```
    pub fn force_push(&self, item: T) -> Option<T> {
        // The queue is never closed.
        self.queue.force_push(item).unwrap_or(None)
    }

    /// Pops the oldest item, or returns `None` if the queue is empty.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    /// Pops the oldest item, or returns `None` if the queue is empty, for a caller that has the only reference.
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// Returns the largest number of items that fit in.
    pub fn capacity(&self) -> usize {
        self.queue.capacity().unwrap_or(usize::MAX)
    }

    /// Returns the number of items inside. Other threads may change it before the call returns.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns whether there is no room.
    pub fn is_full(&self) -> bool {
        self.queue.is_full()
    }
}

/// An unbounded queue, whose `pop` never waits.
///
/// ```
/// use throng::drop_in::SegQueue;
///
/// static QUEUE: SegQueue<u32> = SegQueue::new();
/// QUEUE.push(1);
/// QUEUE.push(2);
/// assert_eq!((QUEUE.len(), QUEUE.pop(), QUEUE.pop(), QUEUE.pop()), (2, Some(1), Some(2), None));
/// ```
pub struct SegQueue<T> {
    queue: Queue<T>,
}

impl<T> SegQueue<T> {
    /// Returns an empty queue. Allocates nothing until the first push.
    #[must_use]
    pub const fn new() -> Self {
        SegQueue { queue: Queue::unbounded() }
    }

    /// Pushes an item. Never waits for room.
    #[inline]
    pub fn push(&self, item: T) {
        // The queue is never closed, and has no bound.
        drop(self.queue.push(item));
    }

    /// Pops the oldest item, or returns `None` if the queue is empty.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    /// Pushes an item, for a caller that has the only reference.
    ///
    /// ```
    /// let mut queue = throng::drop_in::SegQueue::new();
    /// queue.push_mut('a');
    /// assert_eq!((queue.pop_mut(), queue.pop_mut()), (Some('a'), None));
    /// ```
    pub fn push_mut(&mut self, item: T) {
        self.push(item);
    }

    /// Pops the oldest item, or returns `None` if the queue is empty, for a caller that has the only reference.
    pub fn pop_mut(&mut self) -> Option<T> {
        self.pop()
    }

    /// Returns the number of items inside. Other threads may change it before the call returns.
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns whether there is no item inside.
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
