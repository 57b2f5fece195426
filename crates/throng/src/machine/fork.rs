//! Forks of the process.
//!
//! The child of a `fork` has one thread: the thread that called `fork`. The memory is a copy of the
//! parent's, with the unfinished changes of the other threads, and with their locks held. So the
//! state that the library keeps for the whole program is made anew in a child. It holds the
//! [`count`] at the time when it was made, and is out of date once that has changed.
//!
//! The C library calls a function of this module in each child (`pthread_atfork`). It does not do
//! so for `vfork`, for `_Fork`, or for a bare system call.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// The number of forks between this process and the first one that counted them.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of forks between this process and the first one that asked. Two calls return
/// the same number if and only if both were made in the same process.
pub(crate) fn count() -> u64 {
    system::watch();
    // In a child, its first thread has stored the number before it started others.
    FORKS.load(Relaxed)
}

#[cfg(all(
    any(
        target_vendor = "apple",
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "illumos",
        target_os = "solaris",
    ),
    not(miri),
))]
mod system {
    use std::ffi::c_int;
    use std::sync::atomic::AtomicBool;

    use super::{FORKS, Relaxed};

    unsafe extern "C" {
        /// A function of the C library, which the standard library is linked with.
        fn pthread_atfork(
            prepare: Option<extern "C" fn()>,
            parent: Option<extern "C" fn()>,
            child: Option<extern "C" fn()>,
        ) -> c_int;
    }

    /// Runs in the only thread of a child. Uses nothing that another thread could have left half
    /// done.
    extern "C" fn in_child() {
        FORKS.fetch_add(1, Relaxed);
    }

    /// Counts forks from now on. If several threads call this at the same time, a fork counts
    /// several times. That does not matter to callers, which only compare numbers. No thread waits
    /// for another one.
    #[inline]
    pub(super) fn watch() {
        static IS_WATCHED: AtomicBool = AtomicBool::new(false);
        if !IS_WATCHED.load(Relaxed) {
            // SAFETY: the function exists as long as the library is loaded, and may be called in a
            // child. Without memory the call fails, and is made again at the next use.
            if unsafe { pthread_atfork(None, None, Some(in_child)) } == 0 {
                IS_WATCHED.store(true, Relaxed);
            }
        }
    }
}

#[cfg(not(all(
    any(
        target_vendor = "apple",
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "illumos",
        target_os = "solaris",
    ),
    not(miri),
)))]
mod system {
    /// Does nothing: there are no forks, or they are not noticed.
    pub(super) const fn watch() {}
}
