//! Filling a queue from an iterator, and emptying it as one.

use std::fmt;
use std::iter::FusedIterator;

use super::Queue;

/// Collects the items of an iterator into an unbounded queue.
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

/// Pushes the items of an iterator. Waits for room. Items that come after the queue has been closed
/// are dropped.
impl<T> Extend<T> for Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        (&*self).extend(items);
    }
}

/// Pushes the items of an iterator. Waits for room. Items that come after the queue has been closed
/// are dropped.
impl<T> Extend<T> for &Queue<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        for item in items {
            if self.push(item).is_err() {
                return;
            }
        }
    }
}

/// An iterator that pops the items of a queue, which it owns.
pub struct IntoIter<T> {
    pub(super) queue: Queue<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.try_pop().ok()
    }

    /// Returns 0 as the lower bound and the length as the upper one. The length also counts slots
    /// that a stopped call had taken out of use.
    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.queue.len()))
    }
}

impl<T> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("queue", &self.queue).finish()
    }
}

/// Returns an iterator that pops all items.
///
/// ```
/// use throng::Queue;
///
/// let queue: Queue<char> = "abc".chars().collect();
/// assert_eq!(queue.into_iter().collect::<Vec<_>>(), ['a', 'b', 'c']);
/// ```
impl<T> IntoIterator for Queue<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { queue: self }
    }
}

/// An iterator that pops items until the queue is closed and empty. See [`Queue::iter`].
pub struct Iter<'a, T> {
    pub(super) queue: &'a Queue<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.pop()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("queue", &self.queue).finish()
    }
}

/// Pops until the queue is closed and empty, like [`Queue::iter`]: each step waits for an item.
///
/// ```
/// use throng::Queue;
///
/// let queue: Queue<u32> = (1..=4).collect();
/// queue.close();
/// let mut sum = 0;
/// for item in &queue {
///     sum += item;
/// }
/// assert_eq!(sum, 10);
/// ```
impl<'a, T> IntoIterator for &'a Queue<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// An iterator that pops items until the queue is empty. See [`Queue::drain`].
pub struct Drain<'a, T> {
    pub(super) queue: &'a Queue<T>,
}

impl<T> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("queue", &self.queue).finish()
    }
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.queue.try_pop().ok()
    }
}
