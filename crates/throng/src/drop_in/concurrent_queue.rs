//! [`Queue`] with the names of the crate `concurrent-queue`.

use std::fmt;

use super::{IntoIter, TryIter};
use crate::error::{Closed, PopError, PushError};
use crate::queue::Queue;

/// A queue, bounded or not, that can be closed. Its `push` and `pop` do not wait for room or for an item.
///
/// ```
/// use throng::drop_in::{ConcurrentQueue, PopError, PushError};
///
/// static TASKS: ConcurrentQueue<u32> = ConcurrentQueue::unbounded();
/// assert_eq!((TASKS.push(1), TASKS.pop(), TASKS.pop()), (Ok(()), Ok(1), Err(PopError::Empty)));
///
/// let few = ConcurrentQueue::bounded(1);
/// assert_eq!((few.push('a'), few.push('b')), (Ok(()), Err(PushError::Full('b'))));
/// assert_eq!(few.force_push('c'), Ok(Some('a')));
/// few.close();
/// assert_eq!((few.push('d'), few.pop()), (Err(PushError::Closed('d')), Ok('c')));
/// assert_eq!(few.pop(), Err(PopError::Closed));
/// ```
pub struct ConcurrentQueue<T> {
    queue: Queue<T>,
}

impl<T> ConcurrentQueue<T> {
    /// Returns a queue for at most `capacity` items.
    ///
    /// # Panics
    /// If `capacity` is 0, or above [`Queue::MAX_CAPACITY`].
    #[must_use]
    pub fn bounded(capacity: usize) -> Self {
        assert!(capacity > 0, "capacity must be positive");
        ConcurrentQueue { queue: Queue::waiting_for_pops(capacity) }
    }

    /// Returns a queue for as many items as there is memory for. Allocates nothing until the first push.
    #[must_use]
    pub const fn unbounded() -> Self {
        ConcurrentQueue { queue: Queue::unbounded() }
    }

    /// Pushes an item if there is room.
    ///
    /// # Errors
    /// The item, if the queue is full or closed.
    #[inline]
    pub fn push(&self, item: T) -> Result<(), PushError<T>> {
        self.queue.try_push(item)
    }

    /// Pushes an item; if the queue is full, takes out the oldest item and returns it. A call takes out at most one
    /// item. It may wait for calls in progress.
    ///
    /// # Errors
    /// The item, if the queue is closed.
    pub fn force_push(&self, item: T) -> Result<Option<T>, Closed<T>> {
        self.queue.force_push(item)
    }

    /// Pops the oldest item.
    ///
    /// # Errors
    /// If the queue is empty, and whether it is also closed.
    #[inline]
    pub fn pop(&self) -> Result<T, PopError> {
        self.queue.try_pop()
    }

    /// Returns an iterator that pops items until the queue is empty.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        self.queue.drain()
    }

    /// Returns the number of items inside. While other threads push and pop, this is a number from the past.
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

    /// Returns the largest number of items that fit in, or `None` if there is no bound.
    pub fn capacity(&self) -> Option<usize> {
        self.queue.capacity()
    }

    /// Closes the queue: nothing more can be pushed, and what is inside can still be popped. Returns whether this call
    /// closed it.
    pub fn close(&self) -> bool {
        self.queue.close()
    }

    /// Returns whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.queue.is_closed()
    }
}

impl<T> fmt::Debug for ConcurrentQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrentQueue")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("is_closed", &self.is_closed())
            .finish()
    }
}

impl<T> IntoIterator for ConcurrentQueue<T> {
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
    fn what_is_inside_when_it_is_closed_comes_out() {
        let queue = ConcurrentQueue::bounded(2);
        assert_eq!((queue.push(1), queue.push(2)), (Ok(()), Ok(())));
        let error = queue.push(3).unwrap_err();
        assert!(error.is_full() && !error.is_closed() && queue.is_full());
        assert_eq!((queue.len(), queue.capacity(), queue.force_push(3)), (2, Some(2), Ok(Some(1))));
        assert_eq!((queue.close(), queue.close(), queue.is_closed()), (true, false, true));
        assert!(queue.push(4).unwrap_err().is_closed());
        assert_eq!(queue.force_push(4).unwrap_err().into_inner(), 4);
        assert!(queue.try_iter().eq([2, 3]));
        assert!(queue.pop().unwrap_err().is_closed() && queue.is_empty());
    }

    #[test]
    fn an_unbounded_queue_has_room_for_all() {
        let queue = ConcurrentQueue::unbounded();
        assert!(queue.pop().unwrap_err().is_empty());
        assert!((0..1000).all(|item| queue.push(item).is_ok()));
        assert_eq!((queue.len(), queue.capacity(), queue.is_full()), (1000, None, false));
        assert!(queue.into_iter().eq(0..1000));
    }
}
