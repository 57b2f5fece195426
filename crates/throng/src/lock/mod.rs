//! The two locks of the papers' counters and of the list of waiting tasks.
//!
//! - [`BackoffLock`]: test-and-test-and-set with exponential backoff. One word; fast without
//!   contention, unfair and slow under high contention.
//! - [`McsLock`]: the queue lock of Mellor-Crummey and Scott. Every waiting processor spins on a
//!   line of its own, and the lock is handed over in the order of arrival.
//!
//! [`Guarded`] is a value under one of them.

mod backoff;
mod mcs;
mod spin;

pub use backoff::BackoffLock;
pub(crate) use backoff::{Backoff, MOST_BACKOFF};
pub use mcs::McsLock;
pub(crate) use spin::SpinLock;

use crate::machine::{Cell, Line, Machine, Native, Place};

/// Mutual exclusion on machine `M`.
///
/// # Safety
/// Between a return of [`acquire`](Lock::acquire) and the next call of [`release`](Lock::release)
/// by the same processor, no other processor's `acquire` may return. What was done before `release`
/// must be visible after the next `acquire`. [`Guarded`] relies on both.
pub unsafe trait Lock<M: Machine = Native>: Send + Sync {
    /// Returns a free lock.
    fn new() -> Self;

    /// Returns a free lock whose waiting processors idle for at most `most` units of
    /// [`Cpu::pause`](crate::machine::Cpu::pause) at a time, if they idle at all.
    fn with_backoff(_most: u32) -> Self
    where
        Self: Sized,
    {
        Self::new()
    }

    /// Waits until the lock is free and takes it. A processor that already holds it waits for ever.
    fn acquire(&self, cpu: &M::Cpu);

    /// Frees the lock.
    ///
    /// # Safety
    /// Processor `cpu` must hold the lock.
    unsafe fn release(&self, cpu: &M::Cpu);
}

/// A value that only one processor at a time can access.
///
/// ```
/// use throng::structures::lock::{Guarded, McsLock};
/// use throng::machine::Native;
///
/// let list: Guarded<Vec<u32>, McsLock> = Guarded::new(vec![1]);
/// list.with(&Native::cpu(), |list| list.push(2));
/// assert_eq!(list.into_inner(), [1, 2]);
/// ```
#[derive(Debug)]
pub struct Guarded<T: Send, L, M: Machine = Native> {
    lock: L,
    value: Line<M::Cell<T>>,
}

impl<T: Send, L: Lock<M>, M: Machine> Guarded<T, L, M> {
    /// Returns `value` under a lock of its own.
    pub fn new(value: T) -> Self {
        Self::under(L::new(), value)
    }

    /// Returns `value` under `lock`, which must be free.
    pub fn under(lock: L, value: T) -> Self {
        let place = Place::named("guarded value");
        Guarded { lock, value: Line::new::<M>(place, |spot| M::Cell::new(value, spot)) }
    }

    /// Runs `f` on the value while no other processor can access it. The lock is freed even if `f`
    /// panics.
    ///
    /// Calling `with` again on the same value inside `f` waits for ever. Must not be called in
    /// destructors (rule 4 of the [machine contract](crate::machine)).
    #[inline]
    pub fn with<R>(&self, cpu: &M::Cpu, f: impl FnOnce(&mut T) -> R) -> R {
        let _held = Held::acquire(&self.lock, cpu);
        // SAFETY: the lock is held until `_held` is dropped at the end of this function, every
        // other access goes through this function too, and `Lock` promises exclusion.
        unsafe { self.value.with_mut(f) }
    }

    /// Returns the value, without its lock.
    pub fn into_inner(self) -> T {
        self.value.into_inner().into_inner()
    }
}

/// A lock that is held, and freed on drop.
pub(crate) struct Held<'a, L: Lock<M>, M: Machine> {
    lock: &'a L,
    cpu: &'a M::Cpu,
}

impl<'a, L: Lock<M>, M: Machine> Held<'a, L, M> {
    #[inline]
    pub(crate) fn acquire(lock: &'a L, cpu: &'a M::Cpu) -> Self {
        lock.acquire(cpu);
        Held { lock, cpu }
    }
}

impl<L: Lock<M>, M: Machine> Drop for Held<'_, L, M> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `Held` is made by `acquire` on this processor, and dropped once.
        unsafe { self.lock.release(self.cpu) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread;

    fn excludes<L: Lock>() {
        let sum: Guarded<u64, L> = Guarded::new(0);
        thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| (0..2000).for_each(|_| sum.with(&Native::cpu(), |sum| *sum += 1)));
            }
        });
        assert_eq!(sum.into_inner(), 16_000);
    }

    fn survives_a_panic<L: Lock>() {
        let value: Guarded<u64, L> = Guarded::new(7);
        let panicking = AssertUnwindSafe(|| value.with(&Native::cpu(), |_| panic!("on purpose")));
        assert!(catch_unwind(panicking).is_err());
        assert_eq!(value.with(&Native::cpu(), |v| *v), 7);
    }

    #[test]
    fn both_locks_exclude() {
        excludes::<BackoffLock>();
        excludes::<McsLock>();
    }

    #[test]
    fn both_locks_are_freed_by_a_panic() {
        survives_a_panic::<BackoffLock>();
        survives_a_panic::<McsLock>();
    }
}
