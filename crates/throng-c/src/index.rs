//! `throng_for_each_index`.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use throng::for_each_index;

use crate::status::{Status, guard};

/// A function that does one index.
pub type IndexFunction = unsafe extern "C" fn(context: *mut c_void, index: usize);

/// Calls `function` once with each index from `start` to `end` - 1, on up to `threads` threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_for_each_index(
    start: usize,
    end: usize,
    threads: usize,
    function: Option<IndexFunction>,
    context: *mut c_void,
) -> c_int {
    guard(|| {
        let function = function.ok_or(Status::EInval)?;
        // So that threads can share the pointer.
        let context = AtomicPtr::new(context);
        for_each_index(start..end, threads, |index| {
            // SAFETY: the contract of the header: it may be called with this context on several threads.
            unsafe { function(context.load(Relaxed), index) };
        });
        Ok(Status::Ok)
    })
}
