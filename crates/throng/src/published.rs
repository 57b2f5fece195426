//! [`Published`]: a value that is made at its first use, without a lock.
//!
//! `OnceLock` and `LazyLock` hold a lock while they make their value. A thread that stops there
//! keeps all others waiting, and so does a thread that exists only in the parent of a `fork`. Here
//! each thread that finds no value makes one. The first one to publish its value wins, and the
//! others drop theirs.

use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// A value that is made at its first use, and made anew when it is out of date.
///
/// A value that was out of date stays in memory until the program ends, because references to it
/// may still be in use.
pub(crate) struct Published<T>(AtomicPtr<T>, PhantomData<*mut T>);

// SAFETY: a `Published` owns its value, which goes with it to the other thread.
unsafe impl<T: Send> Send for Published<T> {}

// SAFETY: a shared `Published` gives `&T` to all threads that have it (so `T: Sync`). A value that
// one thread made may be dropped by another (so `T: Send`).
unsafe impl<T: Send + Sync> Sync for Published<T> {}

impl<T: UnwindSafe> UnwindSafe for Published<T> {}
impl<T: UnwindSafe + RefUnwindSafe> RefUnwindSafe for Published<T> {}

impl<T> Published<T> {
    /// Returns a `Published` without a value. Allocates nothing.
    pub(crate) const fn new() -> Self {
        Published(AtomicPtr::new(ptr::null_mut()), PhantomData)
    }

    /// Returns the value, or `None` if it has not been made.
    #[inline]
    pub(crate) fn get(&self) -> Option<&T> {
        // SAFETY: the pointer is null or comes from `Box::into_raw` in `get_or_make`, which has published a whole value
        // by a release. The value lives at least as long as `self`: `drop` alone frees a published value.
        unsafe { self.0.load(Acquire).as_ref() }
    }

    /// Returns the value, or publishes the one that `make` returns. Several threads may call `make`
    /// at the same time.
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> T) -> &T {
        self.get_or_renew(|_| true, make)
    }

    /// Returns the value if it `is_current`, or publishes the one that `make` returns. Several
    /// threads may call `make` at the same time.
    pub(crate) fn get_or_renew(
        &self,
        is_current: impl Fn(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> &T {
        let known = self.get();
        if let Some(value) = known
            && is_current(value)
        {
            return value;
        }
        let known = known.map_or(ptr::null_mut(), |value| ptr::from_ref(value).cast_mut());
        let new = Box::into_raw(Box::new(make()));
        // A published value is never freed while `self` lives, so an address stands for one value.
        match self.0.compare_exchange(known, new, AcqRel, Acquire) {
            // SAFETY: as in `get`.
            Ok(_) => unsafe { &*new },
            Err(other) => {
                // SAFETY: `new` comes from `Box::into_raw`, and was not published.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `get`. It is not null, since no null pointer is ever published.
                unsafe { &*other }
            }
        }
    }
}

impl<T> Drop for Published<T> {
    fn drop(&mut self) {
        let last = *self.0.get_mut();
        if !last.is_null() {
            // SAFETY: the pointer comes from `Box::into_raw`, and `&mut self` excludes other references to the value.
            drop(unsafe { Box::from_raw(last) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;
    use std::thread;

    #[test]
    fn all_threads_get_one_value_and_the_others_are_dropped() {
        let alive = Arc::new(());
        let place = Published::new();
        assert!(place.get().is_none());
        thread::scope(|scope| {
            let get = || ptr::from_ref(place.get_or_make(|| Arc::clone(&alive))).addr();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(get)).collect();
            let addresses = threads.into_iter().map(|thread| thread.join().unwrap());
            let mut addresses: Vec<usize> = addresses.collect();
            addresses.dedup();
            assert_eq!(addresses.len(), 1);
        });
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(place);
        assert_eq!(Arc::strong_count(&alive), 1);
    }

    #[test]
    fn a_value_out_of_date_is_made_anew_and_stays_readable() {
        let year = AtomicUsize::new(1);
        let place = Published::new();
        let now = || *place.get_or_renew(|&made| made == year.load(Relaxed), || year.load(Relaxed));
        let first = place.get_or_make(|| 1);
        assert_eq!((now(), now()), (1, 1));
        year.store(2, Relaxed);
        assert_eq!((now(), now(), *first), (2, 2, 1));
    }
}
