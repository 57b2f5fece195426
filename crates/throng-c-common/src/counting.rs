//! An allocator for tests: counts what a thread has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local!(static NOW_AND_MOST: Cell<(isize, isize)> = const { Cell::new((0, 0)) });

fn count(bytes: isize) {
    NOW_AND_MOST.with(|counts| {
        let (now, most) = counts.get();
        counts.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: all is done by the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Returns the largest number of bytes that this thread has allocated at a time while `body` runs,
/// beyond those before.
pub(crate) fn most_bytes<T>(body: impl FnOnce() -> T) -> usize {
    let before = NOW_AND_MOST.with(|counts| {
        let (now, _) = counts.get();
        counts.set((now, now));
        now
    });
    drop(body());
    NOW_AND_MOST.with(|counts| counts.get().1 - before) as usize
}
