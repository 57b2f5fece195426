//! Counts the bytes that a piece of code keeps allocated.
//!
//! The allocator of every program of the lab is [`Counting`]: the system's allocator, and one relaxed load
//! beside it while nothing is counted.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicIsize};

/// The system's allocator with a counter that can be switched on.
#[derive(Debug)]
pub struct Counting;

#[global_allocator]
static HEAP: Counting = Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes allocated minus bytes freed, by all threads, since the counter was switched on.
static KEPT: AtomicIsize = AtomicIsize::new(0);

#[inline]
fn note(bytes: isize) {
    if IS_COUNTING.load(Relaxed) {
        KEPT.fetch_add(bytes, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator with the arguments it came with; counting touches no
// memory but two atomics and never allocates.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note(new_size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

/// Runs `make` and returns its result with the bytes allocated and not freed meanwhile.
///
/// Counts all threads of the program. Only one caller may count at a time.
pub fn kept_by<T>(make: impl FnOnce() -> T) -> (T, usize) {
    KEPT.store(0, Relaxed);
    IS_COUNTING.store(true, Relaxed);
    let made = make();
    IS_COUNTING.store(false, Relaxed);
    (made, usize::try_from(KEPT.load(Relaxed)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_counted_and_what_is_freed_is_not() {
        // Other tests allocate meanwhile, but not as much as this.
        const MUCH: usize = 1 << 28;
        let (kept, bytes) = kept_by(|| {
            drop(Vec::<u8>::with_capacity(4 * MUCH));
            Vec::<u8>::with_capacity(MUCH)
        });
        assert_eq!(kept.capacity(), MUCH);
        assert!((MUCH / 2..2 * MUCH).contains(&bytes), "{bytes}");
    }
}
