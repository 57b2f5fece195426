//! `throng_counter_*`.

use std::ffi::c_int;

use throng::Counter;

use crate::handle::{self, Handle, Kind, Unused};
use crate::status::{Status, guard, put, writable};

impl Kind for Counter {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.cntr");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Counter> = Unused::new();
        &UNUSED
    }
}

/// Makes a counter whose first number is `start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_new(
    start: u64,
    counter: *mut *mut Handle<Counter>,
) -> c_int {
    guard(|| {
        writable(counter)?;
        let made = handle::create(Counter::builder().start_at(start).build());
        // SAFETY: the contract of the header.
        unsafe { put(counter, made) }?;
        Ok(Status::Ok)
    })
}

/// Draws the next number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_next(
    counter: *mut Handle<Counter>,
    number: *mut u64,
) -> c_int {
    guard(|| {
        writable(number)?;
        // SAFETY: the contract of the header.
        let counter = unsafe { handle::value(counter) }?;
        // SAFETY: the contract of the header.
        unsafe { put(number, counter.next()) }?;
        Ok(Status::Ok)
    })
}

/// Draws the next `count` numbers, which are consecutive, and writes the first of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_next_many(
    counter: *mut Handle<Counter>,
    count: u32,
    first: *mut u64,
) -> c_int {
    guard(|| {
        writable(first)?;
        // SAFETY: the contract of the header.
        let counter = unsafe { handle::value(counter) }?;
        // SAFETY: the contract of the header.
        unsafe { put(first, counter.next_many(count).start) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_destroy(counter: *mut Handle<Counter>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        drop(unsafe { handle::destroy(counter, |_| Ok(())) }?);
        Ok(Status::Ok)
    })
}
