//! The queue on real threads.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::draw::Hints;
use super::words::{self, Tail, Ticket};
use super::{Queue, QueueShape};
use crate::machine::{BusyCores, Line, Machine, Native, NativeWord, WayOut};
use crate::pool::{Closed, PopError, PushError};

impl<T> Queue<T> {
    /// Returns a queue for as many items as there is memory for. Allocates nothing until the first push.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// static JOBS: Queue<u32> = Queue::unbounded();
    /// JOBS.push(7).unwrap();
    /// assert_eq!(JOBS.pop(), Some(7));
    /// ```
    #[must_use]
    pub const fn unbounded() -> Self {
        Queue {
            tail: Line::of(NativeWord::constant(Tail::new(Ticket::new(0), words::FROZEN, 0).0)),
            head: Line::of(NativeWord::constant(Ticket::new(0).0)),
            hints: Line::of(Hints::unbounded()),
            shape: QueueShape::UNBOUNDED,
            busy: BusyCores::new(),
        }
    }

    /// A queue for at most `capacity` items.
    ///
    /// # Panics
    /// If `capacity` is 0 or above [`QueueShape::MOST_CAPACITY`].
    #[must_use]
    pub fn bounded(capacity: usize) -> Self {
        Self::on_machine(QueueShape::bounded(capacity)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Pushes; waits for room.
    ///
    /// # Errors
    /// The item, when the queue is closed.
    #[inline(always)]
    pub fn push(&self, item: T) -> Result<(), Closed<T>> {
        self.push_once(&Native::cpu(), item).or_else(|not| {
            let pushed = self.push_later(&Native::cpu(), not, &WayOut::none());
            pushed.map_err(|error| Closed(error.into_inner()))
        })
    }

    /// Pops; waits for an item. `None` when the queue is closed and empty.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let pop_later = |not| self.pop_later(&Native::cpu(), not, &WayOut::none());
        self.pop_once(pop_later).ok()
    }

    /// Pushes if there is room. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::pool::PushError;
    ///
    /// let queue = Queue::bounded(1);
    /// assert_eq!(queue.try_push('a'), Ok(()));
    /// assert_eq!(queue.try_push('b'), Err(PushError::Full('b')));
    /// queue.close();
    /// assert_eq!(queue.try_push('c'), Err(PushError::Closed('c')));
    /// ```
    ///
    /// # Errors
    /// The item, when the queue is full or closed.
    #[inline(always)]
    pub fn try_push(&self, item: T) -> Result<(), PushError<T>> {
        self.try_push_on(&Native::cpu(), item)
    }

    /// Pops if there is an item. Never waits.
    ///
    /// ```
    /// use throng::Queue;
    /// use throng::pool::PopError;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push(7).unwrap();
    /// assert_eq!(queue.try_pop(), Ok(7));
    /// assert_eq!(queue.try_pop(), Err(PopError::Empty));
    /// queue.close();
    /// assert_eq!(queue.try_pop(), Err(PopError::Closed));
    /// ```
    ///
    /// # Errors
    /// When the queue is empty, and whether it is closed.
    #[inline(always)]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.try_pop_on(&Native::cpu())
    }

    /// Pushes; waits for room, but not longer than `timeout`.
    ///
    /// # Errors
    /// The item, when the time is over or the queue is closed.
    pub fn push_timeout(&self, item: T, timeout: Duration) -> Result<(), PushError<T>> {
        let cpu = Native::cpu();
        self.push_on(&cpu, item, &WayOut::after(&cpu, timeout))
    }

    /// Pops; waits for an item, but not longer than `timeout`.
    ///
    /// # Errors
    /// When the time is over, or the queue is closed and empty.
    pub fn pop_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        let cpu = Native::cpu();
        self.pop_on(&cpu, &WayOut::after(&cpu, timeout))
    }

    /// Closes the queue: pushes are refused from now on, also those that wait for room; what is inside can
    /// still be popped. Returns whether this call closed it.
    pub fn close(&self) -> bool {
        self.close_on(&Native::cpu())
    }

    /// Pops until the queue is closed and empty: each step waits for an item.
    ///
    /// ```
    /// use throng::Queue;
    ///
    /// let queue = Queue::unbounded();
    /// queue.push('a').unwrap();
    /// queue.push('b').unwrap();
    /// queue.close();
    /// assert_eq!(queue.iter().collect::<String>(), "ab");
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { queue: self }
    }

    /// Pops until the queue is empty. Never waits.
    pub fn drain(&self) -> Drain<'_, T> {
        Drain { queue: self }
    }
}

// A panic while an item is in a caller's hands leaves the queue as it was.
impl<T, M: Machine> UnwindSafe for Queue<T, M> {}
impl<T, M: Machine> RefUnwindSafe for Queue<T, M> {}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue::unbounded()
    }
}

/// Collects into an unbounded queue.
///
/// ```
/// use throng::Queue;
///
/// let queue: Queue<char> = "abc".chars().collect();
/// assert_eq!((queue.pop(), queue.len()), (Some('a'), 2));
/// ```
impl<T> FromIterator<T> for Queue<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut queue = Queue::unbounded();
        queue.extend(items);
        queue
    }
}

/// Pushes; waits for room. Items that come after the queue has been closed are dropped.
impl<T> Extend<T> for Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        (&*self).extend(items);
    }
}

/// Pushes; waits for room. Items that come after the queue has been closed are dropped.
impl<T> Extend<T> for &Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            if self.push(item).is_err() {
                return;
            }
        }
    }
}

/// The items of a queue, popped one by one.
pub struct IntoIter<T> {
    queue: Queue<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.queue.len();
        (len, Some(len))
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("queue", &self.queue).finish()
    }
}

impl<T> IntoIterator for Queue<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { queue: self }
    }
}

/// See [`Queue::iter`].
#[derive(Debug)]
pub struct Iter<'a, T> {
    queue: &'a Queue<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.pop()
    }
}

impl<'a, T> IntoIterator for &'a Queue<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// See [`Queue::drain`].
#[derive(Debug)]
pub struct Drain<'a, T> {
    queue: &'a Queue<T>,
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.try_pop().ok()
    }
}
