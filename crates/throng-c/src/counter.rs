//! `throng_counter_*`.

use std::ffi::c_int;

use throng::Counter;

use crate::call;
use crate::handle::{Handle, Kind, Unused};
use crate::status::need;

/// At least the number of bytes that a new counter takes.
const COUNTER_BYTES: usize = 64 << 10;

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
    let build = || {
        need(COUNTER_BYTES)?;
        Ok(Counter::builder().start_at(start).build())
    };
    // SAFETY: the contract of the header.
    unsafe { call::make(counter, build) }
}

/// Draws the next number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_next(
    counter: *mut Handle<Counter>,
    number: *mut u64,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::get(counter, number, |counter| Ok(counter.next())) }
}

/// Draws the next `count` numbers, which are consecutive, and writes the first of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_next_many(
    counter: *mut Handle<Counter>,
    count: u64,
    first: *mut u64,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::get(counter, first, |counter| Ok(counter.next_many(count).start)) }
}

/// Destroys a counter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_counter_destroy(counter: *mut Handle<Counter>) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::destroy(counter, |_| Ok(())) }
}
