//! `throng_pool_*`.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use throng::Pool;

use crate::handle::{self, Handle, Kind, Unused};
use crate::queue::Item;
use crate::status::{Status, guard, put, writable};

impl Kind for Pool<Item> {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.pool");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Pool<Item>> = Unused::new();
        &UNUSED
    }
}

/// Makes a pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_new(pool: *mut *mut Handle<Pool<Item>>) -> c_int {
    guard(|| {
        writable(pool)?;
        // SAFETY: the contract of the header.
        unsafe { put(pool, handle::create(Pool::new())) }?;
        Ok(Status::Ok)
    })
}

/// Pushes a job. Never waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_push(
    pool: *mut Handle<Pool<Item>>,
    job: *mut c_void,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(pool) }?.push(Item::new(job))?;
        Ok(Status::Ok)
    })
}

/// Pops a job; waits for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_pop(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
) -> c_int {
    guard(|| {
        writable(job)?;
        // SAFETY: the contract of the header.
        let popped = unsafe { handle::value(pool) }?.pop().ok_or(Status::EClosed)?;
        // SAFETY: the contract of the header.
        unsafe { put(job, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Pops a job, if there is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_try_pop(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
) -> c_int {
    guard(|| {
        writable(job)?;
        // SAFETY: the contract of the header.
        let popped = unsafe { handle::value(pool) }?.try_pop()?;
        // SAFETY: the contract of the header.
        unsafe { put(job, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Pops a job; waits for one, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_pop_timeout(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
    nanoseconds: u64,
) -> c_int {
    guard(|| {
        writable(job)?;
        // SAFETY: the contract of the header.
        let pool = unsafe { handle::value(pool) }?;
        let popped =
            pool.pop_timeout(Duration::from_nanos(nanoseconds)).map_err(Status::in_time)?;
        // SAFETY: the contract of the header.
        unsafe { put(job, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Closes the pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_close(pool: *mut Handle<Pool<Item>>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(pool) }?.close();
        Ok(Status::Ok)
    })
}

/// Writes how many jobs are in the pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_length(
    pool: *mut Handle<Pool<Item>>,
    length: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let jobs = unsafe { handle::value(pool) }?.len();
        // SAFETY: the contract of the header.
        unsafe { put(length, jobs) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_destroy(pool: *mut Handle<Pool<Item>>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        drop(unsafe { handle::destroy(pool, |_| Ok(())) }?);
        Ok(Status::Ok)
    })
}
