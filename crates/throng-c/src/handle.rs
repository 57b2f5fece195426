//! Opaque handles.
//!
//! A handle begins with a word that names its kind while it lives and is overwritten when it is
//! destroyed. The memory of a destroyed handle is kept for the next one of its kind and is never
//! freed. So a call with a destroyed handle reads memory that still exists, and returns an error,
//! until another handle gets the same address.
//!
//! | word | means |
//! |---|---|
//! | `T::MAGIC` | alive; `value` is `Some` |
//! | `DESTROYED` | being destroyed, or destroyed |

use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};
use std::sync::{Mutex, PoisonError};

use throng_c_common::memory;

use crate::status::Status;

/// The first word of a handle that is not alive.
const DESTROYED: u64 = 0;

/// A kind of handle.
pub trait Kind: Send + Sync + Sized + 'static {
    /// The first word of a live handle. No two kinds have the same.
    const MAGIC: u64;

    /// Returns the destroyed handles of this kind.
    fn unused() -> &'static Unused<Self>;
}

/// The target of a handle.
#[repr(C)] // The word comes first.
#[derive(Debug)]
pub struct Handle<T> {
    magic: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

/// Destroyed handles whose memory waits for the next one.
#[derive(Debug)]
pub struct Unused<T>(Mutex<Kept<T>>);

#[derive(Debug)]
struct Kept<T> {
    /// Has room for all handles that were made, so that destroying one needs no memory.
    handles: Vec<AtomicPtr<Handle<T>>>,
    made: usize,
}

impl<T> Unused<T> {
    /// Returns an empty list.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        Unused(Mutex::new(Kept { handles: Vec::new(), made: 0 }))
    }

    /// Returns a handle without a value, or `None` if there is no memory.
    fn take(&self) -> Option<*mut Handle<T>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = kept.handles.pop() {
            return Some(handle.into_inner());
        }
        let made = kept.made + 1;
        kept.handles.try_reserve(made).ok()?;
        let (magic, value) = (AtomicU64::new(DESTROYED), UnsafeCell::new(None));
        let handle = memory::boxed(Handle { magic, value })?;
        kept.made = made;
        Some(Box::into_raw(handle))
    }

    fn keep(&self, handle: *mut Handle<T>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.handles.push(AtomicPtr::new(handle));
    }
}

/// Makes a handle for `value`.
///
/// # Errors
/// [`Status::ENoMem`] if there is no memory.
pub fn create<T: Kind>(value: T) -> Result<*mut Handle<T>, Status> {
    let pointer = T::unused().take().ok_or(Status::ENoMem)?;
    // SAFETY: it comes from `Box::into_raw` and is never freed.
    let handle = unsafe { &*pointer };
    // SAFETY: it was in the list of unused handles, so no other call reaches its value.
    unsafe { *handle.value.get() = Some(value) };
    handle.magic.store(T::MAGIC, Release);
    Ok(pointer)
}

/// Returns the first word of `handle`.
///
/// # Safety
/// `handle` is null, not aligned, or points to readable memory.
unsafe fn magic<'a, T: Kind>(handle: *const Handle<T>) -> Result<&'a AtomicU64, Status> {
    if handle.is_null() || !handle.is_aligned() {
        return Err(Status::EHandle);
    }
    // SAFETY: the memory is readable, as the caller promises. It is only read until it is known to
    // be a handle.
    Ok(unsafe { &*handle.cast() })
}

/// Returns the value of a live handle.
///
/// # Errors
/// [`Status::EHandle`] if it is null, destroyed or of another kind.
///
/// # Safety
/// `handle` is null or points to readable memory, and is not destroyed before the value was last used.
pub unsafe fn value<'a, T: Kind>(handle: *const Handle<T>) -> Result<&'a T, Status> {
    // SAFETY: as the caller says.
    let magic = unsafe { magic(handle) }?;
    if magic.load(Acquire) != T::MAGIC {
        return Err(Status::EHandle);
    }
    // SAFETY: the word says that it is a handle of this kind.
    let value = unsafe { (*handle).value.get() };
    // SAFETY: it is alive, and stays so as the caller says: no call writes the value.
    unsafe { (*value).as_ref() }.ok_or(Status::EHandle)
}

/// Destroys a handle and returns its value, unless `check` of the value fails.
///
/// # Errors
/// [`Status::EHandle`] if it is null, destroyed or of another kind; otherwise the error of `check`,
/// and the handle is alive as before.
///
/// # Safety
/// `handle` is null or points to readable memory, and no other call uses its value after `check`.
pub unsafe fn destroy<T: Kind>(
    handle: *mut Handle<T>,
    check: impl FnOnce(&T) -> Result<(), Status>,
) -> Result<T, Status> {
    // SAFETY: as the caller says.
    let magic = unsafe { magic(handle) }?;
    if magic.load(Relaxed) != T::MAGIC
        || magic.compare_exchange(T::MAGIC, DESTROYED, AcqRel, Relaxed).is_err()
    {
        return Err(Status::EHandle);
    }
    // SAFETY: the word said that it was a handle of this kind.
    let cell = unsafe { (*handle).value.get() };
    // SAFETY: others may read the value, and only this call writes it.
    if let Err(status) = unsafe { (*cell).as_ref() }.ok_or(Status::EHandle).and_then(check) {
        magic.store(T::MAGIC, Release);
        return Err(status);
    }
    // SAFETY: no other call uses the value any more, as the caller promises; new calls find the
    // handle destroyed.
    let value = unsafe { (*cell).take() };
    T::unused().keep(handle);
    value.ok_or(Status::EHandle)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    struct Number(u32);

    impl Kind for Number {
        const MAGIC: u64 = 0x1234;
        fn unused() -> &'static Unused<Self> {
            static UNUSED: Unused<Number> = Unused::new();
            &UNUSED
        }
    }

    #[test]
    fn a_destroyed_handle_is_detected_and_its_memory_is_used_again() {
        let read = |handle: *mut Handle<Number>| {
            // SAFETY: it is null or one of this test's handles, whose memory is never freed.
            unsafe { value(handle) }.map(|number| number.0)
        };
        let end = |handle, good| {
            let check = |_: &Number| if good { Ok(()) } else { Err(Status::EBusy) };
            // SAFETY: as above, and this test has one thread.
            unsafe { destroy(handle, check) }.map(|number| number.0)
        };
        let first = create(Number(7)).unwrap();
        assert_eq!(read(first), Ok(7));
        assert_eq!(read(ptr::null_mut()), Err(Status::EHandle));
        assert_eq!(read(first.wrapping_byte_add(1)), Err(Status::EHandle));
        assert_eq!(end(first, false), Err(Status::EBusy));
        assert_eq!(end(first, true), Ok(7));
        assert_eq!((read(first), end(first, true)), (Err(Status::EHandle), Err(Status::EHandle)));
        let second = create(Number(8)).unwrap();
        assert_eq!((second, read(second)), (first, Ok(8)));
    }
}
