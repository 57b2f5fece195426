//! `throng_pool_*`.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use throng::Pool;

use crate::call;
use crate::handle::{Handle, Kind, Unused};
use crate::queue::Item;
use crate::status::{Status, need};

/// At least the number of bytes that a new pool takes.
const POOL_BYTES: usize = 64 << 10;

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
    let build = || {
        need(POOL_BYTES)?;
        Ok(Pool::new())
    };
    // SAFETY: the contract of the header.
    unsafe { call::make(pool, build) }
}

/// Pushes a job. Never waits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_push(
    pool: *mut Handle<Pool<Item>>,
    job: *mut c_void,
) -> c_int {
    let push = |pool: &Pool<Item>| Ok(pool.push(Item::new(job)).map(|()| Status::Ok)?);
    // SAFETY: the contract of the header.
    unsafe { call::act(pool, push) }
}

/// Pops a job. Waits for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_pop(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
) -> c_int {
    let pop = |pool: &Pool<Item>| pool.pop().map(Item::into_inner).ok_or(Status::EClosed);
    // SAFETY: the contract of the header.
    unsafe { call::get(pool, job, pop) }
}

/// Pops a job if there is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_try_pop(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
) -> c_int {
    let pop = |pool: &Pool<Item>| Ok(pool.try_pop().map(Item::into_inner)?);
    // SAFETY: the contract of the header.
    unsafe { call::get(pool, job, pop) }
}

/// Pops a job. Waits for one, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_pop_timeout(
    pool: *mut Handle<Pool<Item>>,
    job: *mut *mut c_void,
    nanoseconds: u64,
) -> c_int {
    let timeout = Duration::from_nanos(nanoseconds);
    let pop =
        |pool: &Pool<Item>| pool.pop_timeout(timeout).map(Item::into_inner).map_err(Status::from);
    // SAFETY: the contract of the header.
    unsafe { call::get(pool, job, pop) }
}

/// Closes the pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_close(pool: *mut Handle<Pool<Item>>) -> c_int {
    let close = |pool: &Pool<Item>| {
        pool.close();
        Ok(Status::Ok)
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(pool, close) }
}

/// Writes the number of jobs in the pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_length(
    pool: *mut Handle<Pool<Item>>,
    length: *mut usize,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::get(pool, length, |pool| Ok(pool.len())) }
}

/// Destroys a pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_pool_destroy(pool: *mut Handle<Pool<Item>>) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::destroy(pool, |_| Ok(())) }
}
