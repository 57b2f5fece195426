//! Error codes, and the guard that no panic passes.

use std::ffi::{CStr, c_char, c_int};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use throng::queue::{Closed, PopError, PopTimeoutError, PushError, PushTimeoutError};
use throng_c_common::memory;

/// The result of a call: `THRONG_OK`, `THRONG_LEADER`, or an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// The barrier was passed, and this thread leads the round. Not an error.
    Leader = -1,
    /// Success.
    Ok = 0,
    /// An argument is out of range, or a pointer for a result is null.
    EInval = 1,
    /// The handle is null, destroyed, or of another kind.
    EHandle = 2,
    /// The barrier is broken.
    EBroken = 3,
    /// The time is over.
    ETimedOut = 4,
    /// The queue is full.
    EFull = 5,
    /// The queue or pool is empty.
    EEmpty = 6,
    /// The queue or pool is closed.
    EClosed = 7,
    /// Another thread uses the handle.
    EBusy = 8,
    /// An error in the library: a panic was caught.
    EInternal = 9,
    /// There is no memory.
    ENoMem = 10,
}

impl Status {
    /// All statuses, with their names in C.
    pub const ALL: [(&'static str, Status); 12] = [
        ("THRONG_LEADER", Status::Leader),
        ("THRONG_OK", Status::Ok),
        ("THRONG_EINVAL", Status::EInval),
        ("THRONG_EHANDLE", Status::EHandle),
        ("THRONG_EBROKEN", Status::EBroken),
        ("THRONG_ETIMEDOUT", Status::ETimedOut),
        ("THRONG_EFULL", Status::EFull),
        ("THRONG_EEMPTY", Status::EEmpty),
        ("THRONG_ECLOSED", Status::EClosed),
        ("THRONG_EBUSY", Status::EBusy),
        ("THRONG_EINTERNAL", Status::EInternal),
        ("THRONG_ENOMEM", Status::ENoMem),
    ];

    /// Returns a sentence about the status.
    #[must_use]
    pub const fn text(self) -> &'static CStr {
        match self {
            Status::Leader => c"the barrier was passed, and this thread leads the round",
            Status::Ok => c"success",
            Status::EInval => c"an argument is out of range, or a pointer for a result is null",
            Status::EHandle => c"the handle is null, destroyed, or of another kind",
            Status::EBroken => c"the barrier is broken: a thread gave up, left or aborted it",
            Status::ETimedOut => c"the time is over",
            Status::EFull => c"the queue is full",
            Status::EEmpty => c"there is no item",
            Status::EClosed => c"the queue or pool is closed",
            Status::EBusy => c"another thread uses the handle",
            Status::EInternal => c"a mistake in the library",
            Status::ENoMem => c"there is no memory",
        }
    }
}

impl<T> From<Closed<T>> for Status {
    fn from(_: Closed<T>) -> Self {
        Status::EClosed
    }
}

impl<T> From<PushError<T>> for Status {
    fn from(error: PushError<T>) -> Self {
        if error.is_full() { Status::EFull } else { Status::EClosed }
    }
}

impl<T> From<PushTimeoutError<T>> for Status {
    fn from(error: PushTimeoutError<T>) -> Self {
        if error.is_timeout() { Status::ETimedOut } else { Status::EClosed }
    }
}

impl From<PopTimeoutError> for Status {
    fn from(error: PopTimeoutError) -> Self {
        match error {
            PopTimeoutError::Timeout => Status::ETimedOut,
            PopTimeoutError::Closed => Status::EClosed,
        }
    }
}

impl From<PopError> for Status {
    fn from(error: PopError) -> Self {
        match error {
            PopError::Empty => Status::EEmpty,
            PopError::Closed => Status::EClosed,
        }
    }
}

/// Checks that there are `bytes` of memory, before a constructor that cannot fail takes them.
///
/// # Errors
/// [`Status::ENoMem`] if there are not.
pub fn need(bytes: usize) -> Result<(), Status> {
    if memory::is_there(bytes) { Ok(()) } else { Err(Status::ENoMem) }
}

/// Runs the body of a C function and returns its code. A panic becomes `THRONG_EINTERNAL`.
#[inline]
pub fn guard(body: impl FnOnce() -> Result<Status, Status>) -> c_int {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(status) | Err(status)) => status as c_int,
        Err(payload) => {
            // Dropping it could panic again.
            mem::forget(payload);
            Status::EInternal as c_int
        }
    }
}

/// Writes `value` to the pointer for a result.
///
/// # Errors
/// [`Status::EInval`] if `to` is null or not aligned for its type.
///
/// # Safety
/// `to` is null, not aligned, or can be written.
pub unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Status> {
    writable(to)?;
    // SAFETY: it is neither null nor unaligned, so it can be written, as the caller promises.
    unsafe { to.write(value) };
    Ok(())
}

/// Checks that `to` may be written.
///
/// # Errors
/// [`Status::EInval`] if `to` is null or not aligned for its type.
pub fn writable<T>(to: *mut T) -> Result<(), Status> {
    if to.is_null() || !to.is_aligned() { Err(Status::EInval) } else { Ok(()) }
}

/// Returns a sentence about an error code.
#[unsafe(no_mangle)]
pub extern "C" fn throng_error_text(code: c_int) -> *const c_char {
    let known = Status::ALL.iter().find(|(_, status)| *status as c_int == code);
    known.map_or(c"no code of this library", |(_, status)| status.text()).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_code() {
        assert_eq!(guard(|| panic!("expected by this test")), 9);
        assert_eq!(guard(|| Err(Status::EFull)), 5);
        assert_eq!(guard(|| Ok(Status::Leader)), -1);
    }
}
