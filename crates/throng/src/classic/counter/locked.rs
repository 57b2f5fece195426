//! A number under a lock: the counter of machines without `fetch_add`, and the simplest competitor
//! in every paper (DT96 section 3.3.1, "ExpBackoff" and "MCS").
//!
//! *Linearizable*. *Blocking*: a thread that stops while it holds the lock stops all. *Memory*: two
//! lines, and with the queue lock one more for each thread. *When to use it*: for comparison, or
//! where the number is part of a larger state ([`Guarded`]).

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::lock::{BackoffLock, Guarded, Lock, McsLock};
use crate::machine::{Machine, Native};

/// A counter under lock `L`.
///
/// ```
/// use throng::structures::counter::Locked;
/// let counter = Locked::with_queue();
/// assert_eq!([counter.next(), counter.next()], [0, 1]);
/// ```
#[derive(Debug)]
pub struct Locked<M: Machine = Native, L = McsLock<M>> {
    next: Guarded<u64, L, M>,
}

impl<M: Machine, L: Lock<M>> Locked<M, L> {
    /// Returns a counter on machine `M`.
    #[must_use]
    pub fn on_machine() -> Self {
        Self::under(L::new())
    }

    /// Returns a counter under `lock`, which must be free.
    #[must_use]
    pub fn under(lock: L) -> Self {
        Locked { next: Guarded::under(lock, 0) }
    }
}

impl Locked<Native, McsLock> {
    /// Returns a counter under a queue lock.
    #[must_use]
    pub fn with_queue() -> Self {
        Self::on_machine()
    }
}

impl Locked<Native, BackoffLock> {
    /// Returns a counter under a test-and-test-and-set lock with exponential backoff.
    #[must_use]
    pub fn with_backoff() -> Self {
        Self::on_machine()
    }
}

impl<L: Lock> Locked<Native, L> {
    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl<M: Machine, L: Lock<M>> Counting<M> for Locked<M, L> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        self.next.with(cpu, |next| {
            *next += 1;
            *next - 1
        })
    }
}

impl<M: Machine> Method<M> for Locked<M, BackoffLock<M>> {
    const ABOUT: About = About {
        name: "locked-backoff",
        summary: "a number under a test-and-test-and-set lock with exponential backoff",
        paper: "DT96, ExpBackoff",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Self::under(BackoffLock::with_backoff(shape.backoff)))
    }
}

impl<M: Machine> Method<M> for Locked<M, McsLock<M>> {
    const ABOUT: About = About {
        name: "locked-mcs",
        summary: "a number under a queue lock",
        paper: "DT96, MCS",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Self::on_machine())
    }
}
