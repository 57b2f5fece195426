//! The common part of the functions of the header: nearly each is one of these calls, with one line
//! of its own.

use std::ffi::c_int;

use crate::handle::{self, Handle, Kind};
use crate::status::{Status, guard, put, writable};

/// Makes a handle and writes it to `to`.
///
/// # Safety
/// The contract of the header.
#[inline]
pub unsafe fn make<T: Kind>(
    to: *mut *mut Handle<T>,
    build: impl FnOnce() -> Result<T, Status>,
) -> c_int {
    guard(|| {
        writable(to)?;
        let made = handle::create(build()?)?;
        // SAFETY: as the caller says.
        unsafe { put(to, made) }?;
        Ok(Status::Ok)
    })
}

/// Calls `act` with the value of a handle.
///
/// # Safety
/// The contract of the header.
#[inline]
pub unsafe fn act<T: Kind>(
    handle: *const Handle<T>,
    act: impl FnOnce(&T) -> Result<Status, Status>,
) -> c_int {
    guard(|| {
        // SAFETY: as the caller says.
        act(unsafe { handle::value(handle) }?)
    })
}

/// Calls `get` with the value of a handle and writes its result to `to`. Does not call it if the
/// result cannot be written.
///
/// # Safety
/// The contract of the header.
#[inline]
pub unsafe fn get<T: Kind, U>(
    handle: *const Handle<T>,
    to: *mut U,
    get: impl FnOnce(&T) -> Result<U, Status>,
) -> c_int {
    guard(|| {
        writable(to)?;
        // SAFETY: as the caller says.
        let got = get(unsafe { handle::value(handle) }?)?;
        // SAFETY: as the caller says.
        unsafe { put(to, got) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a handle and its value, unless `check` of the value fails.
///
/// # Safety
/// The contract of the header.
pub unsafe fn destroy<T: Kind>(
    handle: *mut Handle<T>,
    check: impl FnOnce(&T) -> Result<(), Status>,
) -> c_int {
    guard(|| {
        // SAFETY: as the caller says.
        drop(unsafe { handle::destroy(handle, check) }?);
        Ok(Status::Ok)
    })
}
