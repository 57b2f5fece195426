//! The barrier of POSIX threads, `pthread_barrier_wait` of the C library, called directly.

use super::rows::Row;
use crate::bench::Origin;

/// Returns its row, or [`None`] where it is not known to exist.
pub fn row() -> Option<Row> {
    #[cfg(target_os = "linux")]
    return Some(Row::shared("pthread", Origin::Peer, "pthread_barrier_wait", linux::Posix::new));
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::cell::UnsafeCell;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::Arc;

    use crate::bench::barriers::rows::{Alone, Party};

    /// A barrier of the C library.
    ///
    /// Invariant: `new` has initialised it, it does not move, and nothing but `drop` destroys it.
    pub(super) struct Posix(Box<Place>);

    /// The C library's barrier, alone on its lines like all measured barriers.
    #[repr(align(128))]
    struct Place(UnsafeCell<MaybeUninit<libc::pthread_barrier_t>>);

    // SAFETY: `pthread_barrier_wait` may be called by any thread, by several at once.
    unsafe impl Send for Posix {}
    // SAFETY: as above; all else needs the barrier by value or `&mut`.
    unsafe impl Sync for Posix {}

    impl Posix {
        /// Returns a barrier for `threads` threads, at least one.
        pub(super) fn new(threads: usize) -> Self {
            let barrier = Posix(Box::new(Place(UnsafeCell::new(MaybeUninit::uninit()))));
            let count = threads.try_into().expect("no more than 1024 threads are measured");
            // SAFETY: the memory is valid for a barrier and is no barrier yet.
            let failed =
                unsafe { libc::pthread_barrier_init(barrier.pointer(), ptr::null(), count) };
            assert_eq!(failed, 0, "a barrier for {threads} threads cannot be made");
            barrier
        }

        fn pointer(&self) -> *mut libc::pthread_barrier_t {
            self.0.0.get().cast()
        }
    }

    impl Drop for Posix {
        fn drop(&mut self) {
            // SAFETY: it was initialised, and with `&mut` no thread waits at it.
            unsafe { libc::pthread_barrier_destroy(self.pointer()) };
        }
    }

    impl Party for Arc<Alone<Posix>> {
        #[inline]
        fn wait(&mut self) {
            // SAFETY: it was initialised, and is not destroyed while this is borrowed.
            unsafe { libc::pthread_barrier_wait(self.0.pointer()) };
        }
    }
}
