//! `throng_barrier_*`: a barrier for any n threads.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use throng::barrier::{Broken, WaitResult};
use throng_c_common::meeting::{Meeting, Refused};
use throng_c_common::occupancy::Inside;

use crate::call;
use crate::handle::{self, Handle, Kind, Unused};
use crate::status::{Status, guard};

impl Kind for Meeting {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.barr");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Meeting> = Unused::new();
        &UNUSED
    }
}

/// Returns the status of a wait, which began at the first part of `timeout` and was to last for the
/// second.
#[inline]
pub(crate) fn status_of(
    met: Result<WaitResult, Broken>,
    timeout: Option<(Instant, Duration)>,
) -> Result<Status, Status> {
    match met {
        Ok(result) if result.is_leader() => Ok(Status::Leader),
        Ok(_) => Ok(Status::Ok),
        Err(Broken) => match timeout {
            Some((start, timeout)) if start.elapsed() >= timeout => Err(Status::ETimedOut),
            _ => Err(Status::EBroken),
        },
    }
}

/// Makes a barrier for `members` threads.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_new(
    members: u32,
    barrier: *mut *mut Handle<Meeting>,
) -> c_int {
    let build = || {
        Meeting::new(members as usize).map_err(|refused| match refused {
            Refused::Members => Status::EInval,
            Refused::Memory => Status::ENoMem,
        })
    };
    // SAFETY: the contract of the header.
    unsafe { call::make(barrier, build) }
}

/// Meets the other threads. The calling thread must still leave.
#[inline]
fn meet(meeting: &Meeting, timeout: Option<Duration>) -> (Result<Status, Status>, Inside) {
    let inside = meeting.enter();
    let barrier = meeting.barrier();
    let met = match timeout {
        None => status_of(barrier.wait_checked(), None),
        Some(timeout) => {
            let start = Instant::now();
            status_of(barrier.wait_timeout(timeout), Some((start, timeout)))
        }
    };
    (met, inside)
}

/// Meets the other threads and leaves.
///
/// # Safety
/// The contract of the header.
#[inline]
unsafe fn wait(barrier: *mut Handle<Meeting>, timeout: Option<Duration>) -> Result<Status, Status> {
    // SAFETY: the contract of the header: no call destroys it before this thread has come, and then the thread
    // that destroys it waits until this one has left.
    let (met, inside) = meet(unsafe { handle::value(barrier) }?, timeout);
    // SAFETY: it is freed only after this. No reference to it is left here.
    unsafe { inside.leave() };
    met
}

/// Waits until all members have come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_wait(barrier: *mut Handle<Meeting>) -> c_int {
    // SAFETY: the contract of the header.
    guard(|| unsafe { wait(barrier, None) })
}

/// Waits until all members have come, for `nanoseconds` at most.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_wait_timeout(
    barrier: *mut Handle<Meeting>,
    nanoseconds: u64,
) -> c_int {
    // SAFETY: the contract of the header.
    guard(|| unsafe { wait(barrier, Some(Duration::from_nanos(nanoseconds))) })
}

/// Breaks the barrier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_abort(barrier: *mut Handle<Meeting>) -> c_int {
    let abort = |meeting: &Meeting| {
        meeting.barrier().abort();
        Ok(Status::Ok)
    };
    // SAFETY: the contract of the header.
    unsafe { call::act(barrier, abort) }
}

/// Writes whether the barrier is broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_is_broken(
    barrier: *mut Handle<Meeting>,
    is_broken: *mut c_int,
) -> c_int {
    let look = |meeting: &Meeting| Ok(c_int::from(meeting.barrier().is_broken()));
    // SAFETY: the contract of the header.
    unsafe { call::get(barrier, is_broken, look) }
}

/// Destroys a barrier, when all threads of complete rounds have left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_destroy(barrier: *mut Handle<Meeting>) -> c_int {
    let vacate = |meeting: &Meeting| meeting.vacate().map_err(|_| Status::EBusy);
    // SAFETY: the contract of the header: no thread comes any more, and those inside leave.
    unsafe { call::destroy(barrier, vacate) }
}
