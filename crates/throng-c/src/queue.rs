//! `throng_queue_*`.

use std::ffi::{c_int, c_void};
use std::sync::atomic::AtomicPtr;
use std::time::Duration;

use throng::Queue;
use throng::pool::QueueShape;

use crate::handle::{self, Handle, Kind, Unused};
use crate::status::{Status, guard, put, writable};

/// A pointer of C that goes from thread to thread.
pub type Item = AtomicPtr<c_void>;

impl Kind for Queue<Item> {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.queu");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Queue<Item>> = Unused::new();
        &UNUSED
    }
}

/// Makes a queue for `capacity` items; 0: without a bound.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_new(
    capacity: usize,
    queue: *mut *mut Handle<Queue<Item>>,
) -> c_int {
    guard(|| {
        writable(queue)?;
        let shape =
            if capacity == 0 { QueueShape::UNBOUNDED } else { QueueShape::bounded(capacity) };
        let made = handle::create(Queue::on_machine(shape).map_err(|_| Status::EInval)?);
        // SAFETY: the contract of the header.
        unsafe { put(queue, made) }?;
        Ok(Status::Ok)
    })
}

/// Pushes an item; waits for room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_push(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(queue) }?.push(Item::new(item))?;
        Ok(Status::Ok)
    })
}

/// Pushes an item if there is room.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_try_push(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(queue) }?.try_push(Item::new(item))?;
        Ok(Status::Ok)
    })
}

/// Pushes an item; waits for room, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_push_timeout(
    queue: *mut Handle<Queue<Item>>,
    item: *mut c_void,
    nanoseconds: u64,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let queue = unsafe { handle::value(queue) }?;
        match queue.push_timeout(Item::new(item), Duration::from_nanos(nanoseconds)) {
            Err(error) if error.is_full() => Err(Status::ETimedOut),
            pushed => Ok(pushed.map(|()| Status::Ok)?),
        }
    })
}

/// Pops the oldest item; waits for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_pop(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
) -> c_int {
    guard(|| {
        writable(item)?;
        // SAFETY: the contract of the header.
        let popped = unsafe { handle::value(queue) }?.pop().ok_or(Status::EClosed)?;
        // SAFETY: the contract of the header.
        unsafe { put(item, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Pops the oldest item, if there is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_try_pop(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
) -> c_int {
    guard(|| {
        writable(item)?;
        // SAFETY: the contract of the header.
        let popped = unsafe { handle::value(queue) }?.try_pop()?;
        // SAFETY: the contract of the header.
        unsafe { put(item, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Pops the oldest item; waits for one, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_pop_timeout(
    queue: *mut Handle<Queue<Item>>,
    item: *mut *mut c_void,
    nanoseconds: u64,
) -> c_int {
    guard(|| {
        writable(item)?;
        // SAFETY: the contract of the header.
        let queue = unsafe { handle::value(queue) }?;
        let popped =
            queue.pop_timeout(Duration::from_nanos(nanoseconds)).map_err(Status::in_time)?;
        // SAFETY: the contract of the header.
        unsafe { put(item, popped.into_inner()) }?;
        Ok(Status::Ok)
    })
}

/// Closes the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_close(queue: *mut Handle<Queue<Item>>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(queue) }?.close();
        Ok(Status::Ok)
    })
}

/// Writes how many items are in the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_length(
    queue: *mut Handle<Queue<Item>>,
    length: *mut usize,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let items = unsafe { handle::value(queue) }?.len();
        // SAFETY: the contract of the header.
        unsafe { put(length, items) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_queue_destroy(queue: *mut Handle<Queue<Item>>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        drop(unsafe { handle::destroy(queue, |_| Ok(())) }?);
        Ok(Status::Ok)
    })
}
