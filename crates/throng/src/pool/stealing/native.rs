//! The pool for real threads.

use std::fmt;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use super::idle::Idle;
use super::leaves::Leaves;
use super::{Closed, Pool, PoolShape, PopError};
use crate::ShapeError;
use crate::machine::{Cpu, Machine, Native, WayOut};

/// How a pool for real threads is built.
///
/// ```
/// use throng::Pool;
///
/// let pool: Pool<&str> = Pool::builder().turn_every(16).build()?;
/// pool.push("job").unwrap();
/// assert_eq!(pool.len(), 1);
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PoolBuilder<T> {
    shape: PoolShape,
    jobs: PhantomData<fn() -> Pool<T>>,
}

impl<T> PoolBuilder<T> {
    /// Pops of a thread from one look after old jobs to the next ([Fairness](Pool#fairness)). 256 by default; fewer
    /// make the pool fairer and slower.
    pub fn turn_every(mut self, pops: u32) -> Self {
        self.shape.turn_every = pops;
        self
    }

    /// The pool.
    ///
    /// # Errors
    /// When a value is out of its range.
    pub fn build(self) -> Result<Pool<T>, ShapeError> {
        Pool::on_machine(&self.shape)
    }
}

impl<T> Pool<T> {
    /// Returns an empty pool. Allocates nothing until the first push.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// static JOBS: Pool<u32> = Pool::new();
    /// JOBS.push(7).unwrap();
    /// assert_eq!(JOBS.pop(), Some(7));
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Pool { leaves: Leaves::none_yet(), idle: Idle::of_nobody(), shape: PoolShape::DEFAULT }
    }

    /// Builds a pool that is not as [`new`](Pool::new) makes it.
    pub fn builder() -> PoolBuilder<T> {
        PoolBuilder { shape: PoolShape::DEFAULT, jobs: PhantomData }
    }

    /// Pushes a job. Never waits for room, since there is no bound.
    ///
    /// # Errors
    /// The job, if the pool is closed.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool = Pool::new();
    /// pool.push("first").unwrap();
    /// pool.close();
    /// assert_eq!(pool.push("second").unwrap_err().0, "second");
    /// assert_eq!((pool.pop(), pool.pop()), (Some("first"), None));
    /// ```
    #[inline]
    pub fn push(&self, job: T) -> Result<(), Closed<T>> {
        self.push_on(&Native::cpu(), job)
    }

    /// Pops a job, if there is one. Never pauses to let one come; looks again only if other threads put or took
    /// jobs meanwhile, or are taking one right now.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was none; [`PopError::Closed`] if there will be none.
    #[inline]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.try_pop_on(&Native::cpu())
    }

    /// Pops a job; waits for one. `None`: the pool is closed, and there will be none.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        match self.try_pop() {
            Ok(job) => Some(job),
            Err(PopError::Empty) => self.pop_later(&Native::cpu(), &WayOut::none()).ok(),
            Err(PopError::Closed) => None,
        }
    }

    /// Pops a job; waits for one, but not longer than `timeout`.
    ///
    /// # Errors
    /// [`PopError::Empty`] if there was none in time; [`PopError::Closed`] if there will be none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Pool;
    /// use throng::pool::PopError;
    ///
    /// let pool = Pool::<u32>::new();
    /// assert_eq!(pool.pop_timeout(Duration::from_millis(1)), Err(PopError::Empty));
    /// ```
    pub fn pop_timeout(&self, timeout: Duration) -> Result<T, PopError> {
        let cpu = Native::cpu();
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        let deadline = Some(cpu.clock().saturating_add(nanoseconds));
        self.pop_on(&cpu, &WayOut { deadline, ..WayOut::none() })
    }

    /// Closes the pool: no job is taken in any more, what is inside can still be taken out, and waiting
    /// threads are woken. Tells whether it was open.
    pub fn close(&self) -> bool {
        self.close_on(&Native::cpu())
    }

    /// Takes jobs out until none is left.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool = Pool::new();
    /// (0..10).for_each(|job| pool.push(job).unwrap());
    /// assert_eq!(pool.drain().sum::<u32>(), 45);
    /// assert!(pool.is_empty());
    /// ```
    pub fn drain(&self) -> Drain<'_, T> {
        Drain { pool: self }
    }
}

// A panic while a job is in a caller's hands leaves the pool as it was.
impl<T, M: Machine> UnwindSafe for Pool<T, M> {}
impl<T, M: Machine> RefUnwindSafe for Pool<T, M> {}

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

/// Pushes. Jobs that come after the pool has been closed are dropped.
impl<T> Extend<T> for Pool<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, jobs: I) {
        (&*self).extend(jobs);
    }
}

/// Pushes. Jobs that come after the pool has been closed are dropped.
impl<T> Extend<T> for &Pool<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, jobs: I) {
        for job in jobs {
            if self.push(job).is_err() {
                return;
            }
        }
    }
}

/// The jobs of a pool, popped one by one.
pub struct IntoIter<T> {
    pool: Pool<T>,
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pool.try_pop().ok()
    }
}

impl<T> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("pool", &self.pool).finish()
    }
}

impl<T> IntoIterator for Pool<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { pool: self }
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool::new()
    }
}

/// What a pool has, taken out one by one; see [`Pool::drain`].
#[derive(Debug)]
pub struct Drain<'a, T> {
    pool: &'a Pool<T>,
}

impl<T> Iterator for Drain<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.pool.try_pop().ok()
    }
}
