//! Filling a pool from an iterator, and emptying it as one.

use std::fmt;
use std::iter::FusedIterator;

use super::Pool;

/// Collects the items of an iterator into a pool.
///
/// ```
/// use throng::Pool;
///
/// let pool: Pool<u32> = (1..=4).collect();
/// assert_eq!(pool.into_iter().sum::<u32>(), 10);
/// ```
impl<T> FromIterator<T> for Pool<T> {
    fn from_iter<I: IntoIterator<Item = T>>(jobs: I) -> Self {
        let mut pool = Pool::new();
        pool.extend(jobs);
        pool
    }
}

/// Pushes the items of an iterator. Items that come after the pool has been closed are dropped.
impl<T> Extend<T> for Pool<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, jobs: I) {
        (&*self).extend(jobs);
    }
}

/// Pushes the items of an iterator. Items that come after the pool has been closed are dropped.
impl<T> Extend<T> for &Pool<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, jobs: I) {
        for job in jobs {
            if self.push(job).is_err() {
                return;
            }
        }
    }
}

/// An iterator that pops the jobs of a pool, which it owns.
pub struct IntoIter<T> {
    pub(super) pool: Pool<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pool.try_pop().ok()
    }
}

impl<T> FusedIterator for IntoIter<T> {}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("pool", &self.pool).finish()
    }
}

/// Returns an iterator that pops all jobs.
impl<T> IntoIterator for Pool<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { pool: self }
    }
}

/// An iterator that pops jobs until the pool is closed and empty. See [`Pool::iter`].
pub struct Iter<'a, T> {
    pub(super) pool: &'a Pool<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pool.pop()
    }
}

impl<T> FusedIterator for Iter<'_, T> {}

impl<T> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("pool", &self.pool).finish()
    }
}

/// Pops until the pool is closed and empty, like [`Pool::iter`]: each step waits for a job.
impl<'a, T> IntoIterator for &'a Pool<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

/// An iterator that pops jobs until the pool is empty. See [`Pool::drain`].
pub struct Drain<'a, T> {
    pub(super) pool: &'a Pool<T>,
}

impl<T> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("pool", &self.pool).finish()
    }
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pool.try_pop().ok()
    }
}
