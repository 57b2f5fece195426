//! A pool of jobs for any number of threads, without an order.

pub(crate) mod generic;
mod iter;

use std::fmt;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use crate::ShapeError;
pub use crate::error::{Closed, PopError, PopTimeoutError};
use crate::machine::{Native, WayOut};
use generic::PoolShape;
pub use iter::{Drain, IntoIter, Iter};

/// A pool with many producers, many consumers and no order, for jobs that may be done in any order.
///
/// Any number of threads may use it through a shared reference, at any time.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use std::thread;
/// use throng::Pool;
///
/// let (pool, sum) = (Pool::new(), AtomicU64::new(0));
/// thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             while let Some(job) = pool.pop() {
///                 sum.fetch_add(job, Relaxed);
///             }
///         });
///     }
///     for job in 1..=100 {
///         pool.push(job).unwrap();
///     }
///     pool.close(); // the jobs inside are still popped
/// });
/// assert_eq!(sum.into_inner(), 5050);
/// ```
///
/// # How it works
/// Each thread has a *leaf*, made at its first call. It pushes jobs there and pops the newest one.
/// A push needs no atomic read-modify-write, a pop needs one memory fence, and neither waits for
/// other threads. A thread whose leaf is empty takes the oldest job of another leaf, and moves half
/// of the other jobs there to its own. If all leaves are empty, [`pop`](Pool::pop) looks again for
/// some 50 microseconds and then sleeps until a push wakes it.
///
/// # What it promises
/// - **No job is lost, and none is popped twice.** A job that was pushed is popped once, or dropped
///   with the pool.
/// - **Empty means empty.** [`Pool::try_pop`] returns [`PopError::Empty`] only if at one instant
///   during the call no leaf had a job. It finds every leaf empty, and then that none was put in
///   meanwhile. In particular a job whose push happened before the call is found, unless another
///   thread takes it. (Counts of puts are kept modulo 2^31. So the promise requires that fewer jobs
///   are put into one leaf during one look.)
/// - **Closed means over.** After [`PopError::Closed`], or `None` from [`Pool::pop`], no call that
///   begins later gets a job.
/// - **No job waits for ever.** See [Fairness](#fairness).
/// - **A producer that panics leaves the pool open.** [`pop`](Pool::pop) continues to wait for
///   other producers.
/// - **No order.** If one thread uses the pool alone, it nearly always gets its newest job first.
///
/// # Fairness
/// Every 256th pop of a thread ([`PoolShape::turn_every`]) looks at a leaf before it goes to its
/// own: twice in a row at the same leaf, then at the next one, its own leaf included. If the oldest
/// job was not taken between the two looks, the second look takes it. A job that is moved to
/// another leaf has fewer older jobs beside it there. Hence with L leaves, a job with q older ones
/// in its leaf is popped before any one thread has popped 512 (q + 2) L times. (If another thread
/// is taking jobs from the leaf at the second look, the next pop looks again.)
///
/// In trees of jobs the same rule keeps leaves from becoming empty: see [`PoolShape::DEFAULT`].
///
/// # Progress
/// *Partly blocking.* A thread that stops in the middle of [`push`](Pool::push) holds up
/// [`close`](Pool::close), and threads that are about to sleep. A thread that stops while it takes
/// jobs from another leaf holds up that leaf. The owner of the leaf continues until it wants the
/// last job or more room, and other threads take jobs elsewhere. But a thread that finds no job
/// except in a leaf that is held up waits for it, even in [`try_pop`](Pool::try_pop).
///
/// # Memory
/// The pool takes 512 bytes, plus 512 bytes and a ring for each thread that has called it. A ring
/// has up to 32 slots at first, grows by factors of two, and keeps its size until the pool is
/// dropped. One leaf holds at most 2^31 - 1 jobs.
///
/// Jobs need to be [`Send`] only if the pool is shared or sent:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use throng::Pool;
///
/// fn share<T: Sync>(_: T) {}
/// share(Pool::<Rc<u8>>::new());
/// ```
pub struct Pool<T>(generic::Pool<T>);

/// Builds a [`Pool`].
///
/// ```
/// use throng::Pool;
///
/// let pool: Pool<&str> = Pool::builder().turn_every(16).build()?;
/// pool.push("job").unwrap();
/// assert_eq!(pool.len(), 1);
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[must_use = "a builder makes nothing until `build` is called"]
pub struct PoolBuilder<T> {
    shape: PoolShape,
    jobs: PhantomData<fn() -> Pool<T>>,
}

// A derived `Clone` would need `T: Clone`.
impl<T> Clone for PoolBuilder<T> {
    fn clone(&self) -> Self {
        PoolBuilder { shape: self.shape.clone(), jobs: PhantomData }
    }
}

impl<T> fmt::Debug for PoolBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolBuilder").field("shape", &self.shape).finish()
    }
}

impl<T> PoolBuilder<T> {
    /// Sets the number of pops of a thread from one look for old jobs to the next
    /// ([Fairness](Pool#fairness)). 256 by default. A smaller number makes the pool fairer and
    /// slower.
    pub fn turn_every(mut self, pops: u32) -> Self {
        self.shape.turn_every = pops;
        self
    }

    /// Returns the pool.
    ///
    /// # Errors
    /// If a value is out of its range.
    pub fn build(self) -> Result<Pool<T>, ShapeError> {
        generic::Pool::on_machine(&self.shape).map(Pool)
    }
}

impl<T> Pool<T> {
    /// Returns an empty pool. Allocates nothing until the first push or pop.
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
        Pool(generic::Pool::new())
    }

    /// Returns a builder of a pool.
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
        self.0.push(job)
    }

    /// Pops a job if there is one. Never waits for a push. Looks again only if other threads have
    /// pushed or taken jobs meanwhile, or are taking one.
    ///
    /// # Errors
    /// [`PopError::Empty`] if at one instant there was no job; [`PopError::Closed`] if there will
    /// be none.
    ///
    /// ```
    /// use throng::Pool;
    /// use throng::pool::PopError;
    ///
    /// let pool = Pool::new();
    /// pool.push(7).unwrap();
    /// assert_eq!((pool.try_pop(), pool.try_pop()), (Ok(7), Err(PopError::Empty)));
    /// pool.close();
    /// assert_eq!(pool.try_pop(), Err(PopError::Closed));
    /// ```
    #[inline]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.0.try_pop()
    }

    /// Pops a job. Waits for one. Returns `None` if the pool is closed and empty.
    ///
    /// ```
    /// use std::thread;
    /// use throng::Pool;
    ///
    /// let pool = Pool::new();
    /// thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         pool.push("job").unwrap();
    ///         pool.close();
    ///     });
    ///     assert_eq!(pool.pop(), Some("job"));     // waits for the producer
    ///     assert_eq!(pool.pop(), None);
    /// });
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        self.0.pop()
    }

    /// Pops a job. Waits for one, but not longer than `timeout`.
    ///
    /// # Errors
    /// If no job came in time, or the pool is closed and empty.
    ///
    /// ```
    /// use std::time::Duration;
    /// use throng::Pool;
    /// use throng::pool::PopTimeoutError;
    ///
    /// let pool = Pool::<u32>::new();
    /// assert_eq!(pool.pop_timeout(Duration::from_millis(1)), Err(PopTimeoutError::Timeout));
    /// ```
    pub fn pop_timeout(&self, timeout: Duration) -> Result<T, PopTimeoutError> {
        let cpu = Native::cpu();
        Ok(self.0.pop_on(&cpu, &WayOut::after(&cpu, timeout))?)
    }

    /// Pops a job. Waits for one, but not longer than until `deadline`. A job that is inside is
    /// popped even after the deadline.
    ///
    /// # Errors
    /// If no job came in time, or the pool is closed and empty.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use throng::Pool;
    /// use throng::pool::PopTimeoutError;
    ///
    /// let (pool, deadline) = (Pool::new(), Instant::now() + Duration::from_millis(1));
    /// pool.push("job").unwrap();
    /// assert_eq!(pool.pop_deadline(deadline), Ok("job"));
    /// assert_eq!(pool.pop_deadline(deadline), Err(PopTimeoutError::Timeout));
    /// ```
    pub fn pop_deadline(&self, deadline: Instant) -> Result<T, PopTimeoutError> {
        self.pop_timeout(deadline.saturating_duration_since(Instant::now()))
    }

    /// Pushes jobs one by one.
    ///
    /// # Errors
    /// If the pool is closed: the job that was not pushed. The jobs after it stay in the iterator.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool = Pool::new();
    /// pool.push_iter(1..=4).unwrap();
    /// assert_eq!(pool.drain().sum::<u32>(), 10);
    /// ```
    pub fn push_iter(&self, jobs: impl IntoIterator<Item = T>) -> Result<(), Closed<T>> {
        jobs.into_iter().try_for_each(|job| self.push(job))
    }

    /// Pops up to `most` jobs and appends them to `jobs`. Waits for the first one only. Returns the
    /// number of jobs popped: 0 if the pool is closed and empty, or if `most` is 0.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool: Pool<u32> = (0..100).collect();
    /// let mut batch = Vec::new();
    /// assert_eq!(pool.pop_many(&mut batch, 64), 64);
    /// assert_eq!(pool.pop_many(&mut batch, 64), 36);
    /// ```
    pub fn pop_many(&self, jobs: &mut Vec<T>, most: usize) -> usize {
        if most == 0 {
            return 0;
        }
        let before = jobs.len();
        jobs.extend(self.pop());
        if jobs.len() > before {
            jobs.extend(self.drain().take(most - 1));
        }
        jobs.len() - before
    }

    /// Pushes a job, for a caller that has the only reference.
    ///
    /// # Errors
    /// The job, if the pool is closed.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let mut pool = Pool::new();
    /// pool.push_mut("job").unwrap();
    /// assert_eq!((pool.pop_mut(), pool.pop_mut()), (Some("job"), None));
    /// ```
    pub fn push_mut(&mut self, job: T) -> Result<(), Closed<T>> {
        self.push(job)
    }

    /// Pops a job, or returns `None` if there is none, for a caller that has the only reference. Never waits. See
    /// [`push_mut`](Pool::push_mut).
    pub fn pop_mut(&mut self) -> Option<T> {
        self.try_pop().ok()
    }

    /// Closes the pool: pushes fail from now on, and the jobs inside can still be popped. Returns
    /// whether this call closed it.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool = Pool::new();
    /// pool.push("job").unwrap();
    /// assert_eq!((pool.close(), pool.close(), pool.is_closed()), (true, false, true));
    /// assert!(pool.push("another").is_err());
    /// assert_eq!((pool.pop(), pool.pop()), (Some("job"), None));
    /// ```
    pub fn close(&self) -> bool {
        self.0.close()
    }

    /// Returns an iterator that pops until the pool is closed and empty. Each step waits for a job.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool: Pool<u32> = (1..=4).collect();
    /// pool.close();
    /// assert_eq!(pool.iter().sum::<u32>(), 10);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { pool: self }
    }

    /// Returns an iterator that pops until the pool is empty. Never waits.
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

    /// Returns whether the pool is closed.
    pub fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    /// Returns the number of jobs inside. Other threads may change it before the call returns.
    ///
    /// ```
    /// use throng::Pool;
    ///
    /// let pool: Pool<u32> = (0..10).collect();
    /// assert_eq!((pool.len(), pool.is_empty()), (10, false));
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there is no job inside.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool::new()
    }
}
