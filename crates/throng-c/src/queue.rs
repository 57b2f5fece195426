//! `throng_queue_*`.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicPtr;
use std::time::Duration;

use throng::Queue;

use crate::call;
use crate::handle::{Handle, Kind, Unused};
use crate::status::{Status, need};

/// A pointer of C that passes from thread to thread.
pub type Item = AtomicPtr<c_void>;

impl Kind for Queue<Item> {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.queu");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Queue<Item>> = Unused::new();
        &UNUSED
    }
}

/// Returns a queue for `capacity` items; 0 means without a bound.
fn build(capacity: usize) -> Result<Queue<Item>, Status> {
    /// A slot has the item and a word.
    const FOR_EACH: usize = 16;
    const FOR_ALL: usize = 64 << 10;
    if capacity > Queue::<Item>::MAX_CAPACITY {
        return Err(Status::EInval);
    }
    let slots = if capacity == 0 { 0 } else { capacity.next_power_of_two() };
    need(slots.saturating_mul(FOR_EACH).saturating_add(FOR_ALL))?;
    if capacity == 0 {
        return Ok(Queue::unbounded());
    }
    Queue::try_bounded(capacity).map_err(|_| Status::EInval)
}

/// Makes a queue for `capacity` items; 0 means without a bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_new(
    capacity: usize,
    queue: *mut *mut Handle<Queue<Item>>,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::make(queue, || build(capacity)) }
}

/// Pushes an item. Waits for room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_push(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
) -> c_int {
    let push = |queue: &Queue<Item>| Ok(queue.push(Item::new(item)).map(|()| Status::Ok)?);
    // SAFETY: the contract of the header.
    unsafe { call::act(queue, push) }
}

/// Pushes an item if there is room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_try_push(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
) -> c_int {
    let push = |queue: &Queue<Item>| Ok(queue.try_push(Item::new(item)).map(|()| Status::Ok)?);
    // SAFETY: the contract of the header.
    unsafe { call::act(queue, push) }
}

/// Pushes an item. Waits for room, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_push_timeout(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
    nanoseconds: u64,
) -> c_int {
    let push = |queue: &Queue<Item>| {
        queue.push_timeout(Item::new(item), Duration::from_nanos(nanoseconds))?;
        Ok(Status::Ok)
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(queue, push) }
}

/// Pops the oldest item. Waits for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_pop(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
) -> c_int {
    let pop = |queue: &Queue<Item>| queue.pop().map(Item::into_inner).ok_or(Status::EClosed);
    // SAFETY: the contract of the header.
    unsafe { call::get(queue, item, pop) }
}

/// Pops the oldest item if there is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_try_pop(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
) -> c_int {
    let pop = |queue: &Queue<Item>| Ok(queue.try_pop().map(Item::into_inner)?);
    // SAFETY: the contract of the header.
    unsafe { call::get(queue, item, pop) }
}

/// Pops the oldest item. Waits for one, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_pop_timeout(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
    nanoseconds: u64,
) -> c_int {
    let timeout = Duration::from_nanos(nanoseconds);
    let pop = |queue: &Queue<Item>| {
        queue.pop_timeout(timeout).map(Item::into_inner).map_err(Status::from)
    };
    // SAFETY: the contract of the header.
    unsafe { call::get(queue, item, pop) }
}

/// Closes the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_close(queue: *mut Handle<Queue<Item>>) -> c_int {
    let close = |queue: &Queue<Item>| {
        queue.close();
        Ok(Status::Ok)
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(queue, close) }
}

/// Writes the number of items in the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_length(
    queue: *mut Handle<Queue<Item>>,
    length: *mut usize,
) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::get(queue, length, |queue| Ok(queue.len())) }
}

/// Destroys a queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_destroy(queue: *mut Handle<Queue<Item>>) -> c_int {
    // SAFETY: the contract of the header.
    unsafe { call::destroy(queue, |_| Ok(())) }
}
