//! `libthrong_preload.so`: `pthread_barrier_init`, `_wait` and `_destroy` on `throng::Barrier`, for programs
//! that are already built.
//!
//! ```sh
//! LD_PRELOAD=/usr/local/lib/libthrong_preload.so program
//! ```
//!
//! A barrier is on the heap; the program's `pthread_barrier_t` has its address ([`slot`]). The C
//! library's own barriers serve cases that this library cannot ([`own`]): barriers that processes
//! share, barriers of more than 65536 threads, barriers for which there is no memory, and in a
//! forked child those made before the fork.
//!
//! # Why a barrier can be destroyed at once
//! A thread reads the program's memory when it comes, and never after it has arrived. A round is
//! complete when all have arrived. So a thread that has returned can reuse that memory as soon as
//! `pthread_barrier_destroy` has returned. The heap memory is freed when the last thread has
//! counted itself out, which is its last access ([`throng_c_common::occupancy`]).
//!
//! # Cancellation
//! None of the three is a cancellation point. A wait makes no call that is one. The other two read files or
//! sleep, so they disable cancellation meanwhile. All three leave `errno` as it was.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

pub mod own;
pub mod slot;

use std::ffi::c_int;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Once, OnceLock};

use libc::{
    EBUSY, EINVAL, PTHREAD_BARRIER_SERIAL_THREAD, pthread_barrier_t, pthread_barrierattr_t,
};
use throng_c_common::meeting::Meeting;
use throng_c_common::memory;
use throng_c_common::occupancy::Inside;

use slot::Found;

/// A barrier on the heap.
#[derive(Debug)]
pub struct Object {
    meeting: Meeting,
    count: u32,
    /// The value of [`FORKS`] when it was made.
    forks: u64,
    /// Serves in a forked child, where the threads that were at `barrier` do not exist.
    in_child: OnceLock<own::Boxed>,
}

/// The number of forks between this process and the first one.
static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Relaxed);
}

impl Object {
    /// Makes a barrier on the heap. Returns `None` if this library does not support that number of
    /// threads, or there is no memory.
    fn new(count: u32) -> Option<Box<Self>> {
        static AT_FORK: Once = Once::new();
        AT_FORK.call_once(|| own::at_fork(count_fork));
        let meeting = Meeting::new(count as usize).ok()?;
        let forks = FORKS.load(Relaxed);
        memory::boxed(Object { meeting, count, forks, in_child: OnceLock::new() })
    }

    #[inline]
    fn is_from_before_fork(&self) -> bool {
        self.forks != FORKS.load(Relaxed)
    }

    /// Meets the other threads. Returns whether this thread is the one of its round that gets the
    /// other result. The thread must still leave.
    #[inline]
    fn meet(&self) -> (bool, Inside) {
        let inside = self.meeting.enter();
        // It cannot be broken: no call aborts it or waits with a time-out.
        let met = self.meeting.barrier().wait_checked();
        (met.is_ok_and(|result| result.is_leader()), inside)
    }

    /// Returns the C library's barrier that serves in this process instead.
    #[cold]
    fn in_child(&self) -> *mut pthread_barrier_t {
        self.in_child.get_or_init(|| own::Boxed::new(self.count)).get()
    }
}

/// Runs `body`, which may sleep or read files, without cancellation, and restores `errno`. A panic,
/// which would be an error in this library, becomes `EINVAL`.
fn undisturbed(body: impl FnOnce() -> c_int) -> c_int {
    let before = own::disable_cancellation();
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        mem::forget(payload);
        EINVAL
    });
    own::restore_cancellation(before);
    result
}

/// Makes a barrier for `count` threads. Returns `EINVAL` if that is 0. Without memory it is one of
/// the C library's own, which needs none.
///
/// # Safety
/// As POSIX says: `barrier` can be written, and `attributes` are null or initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(
    barrier: *mut pthread_barrier_t,
    attributes: *const pthread_barrierattr_t,
    count: u32,
) -> c_int {
    undisturbed(|| {
        // SAFETY: as the caller says.
        let is_shared = unsafe { own::is_process_shared(attributes) };
        let object = if is_shared { None } else { Object::new(count) };
        let Some(object) = object else {
            // SAFETY: as the caller says.
            return unsafe { own::init(barrier, attributes, count) };
        };
        // SAFETY: as the caller says.
        unsafe { slot::write(barrier, Box::into_raw(object)) };
        0
    })
}

/// Waits until `count` threads have come. Returns `PTHREAD_BARRIER_SERIAL_THREAD` to one of them, 0 to the others.
///
/// # Safety
/// As POSIX says: `barrier` is initialised.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: as the caller says.
    match unsafe { slot::read(barrier) } {
        // SAFETY: the slot has the address of an object that `destroy` frees only when this thread, if its
        // round can be complete, has left.
        Found::Ours(object) => unsafe { wait(object) },
        Found::Destroyed => EINVAL,
        // SAFETY: as the caller says.
        Found::Own => unsafe { own::wait(barrier) },
    }
}

/// Waits at a barrier of this library.
///
/// # Safety
/// The object lives until this thread has left it.
unsafe fn wait(object: *const Object) -> c_int {
    // SAFETY: as the caller says.
    let is_from_before_fork = unsafe { (*object).is_from_before_fork() };
    if is_from_before_fork {
        // SAFETY: as above.
        let own = unsafe { (*object).in_child() };
        // SAFETY: it was initialised when it was made, and is destroyed with the object.
        return unsafe { own::wait(own) };
    }
    // SAFETY: as above.
    let (is_serial, inside) = unsafe { (*object).meet() };
    // SAFETY: it is freed only after this. No reference to it is left here.
    unsafe { inside.leave() };
    if is_serial { PTHREAD_BARRIER_SERIAL_THREAD } else { 0 }
}

/// Destroys a barrier, when all threads of complete rounds have left it. Returns `EBUSY` if threads
/// wait for a round that is not complete, and `EINVAL` if it was destroyed before.
///
/// # Safety
/// As POSIX says: `barrier` is initialised, and no thread comes to it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    undisturbed(|| {
        // SAFETY: as the caller says.
        let object = match unsafe { slot::read(barrier) } {
            Found::Ours(object) => object,
            Found::Destroyed => return EINVAL,
            // SAFETY: as the caller says.
            Found::Own => return unsafe { own::destroy(barrier) },
        };
        // SAFETY: the slot has the address of an object, and only this call frees it.
        let shared = unsafe { &*object };
        if shared.is_from_before_fork() {
            // Threads that were inside when the process was forked do not exist here.
            if let Some(own) = shared.in_child.get() {
                // SAFETY: it was initialised when it was made, and no thread comes to it any more.
                unsafe { own::destroy(own.get()) };
            }
        } else if shared.meeting.vacate().is_err() {
            return EBUSY;
        }
        // SAFETY: as the caller says.
        unsafe { slot::write_destroyed(barrier) };
        // SAFETY: it came from `Box::into_raw`; all threads have left, and the slot does not have
        // its address any more.
        drop(unsafe { Box::from_raw(object) });
        0
    })
}
