//! `throng_barrier_*`: a barrier for any n threads.

use std::ffi::c_int;
use std::time::{Duration, Instant};

use throng::Barrier;
use throng::barrier::{Broken, WaitResult};

use crate::handle::{self, Handle, Kind, Unused};
use crate::occupancy::{Inside, Occupancy};
use crate::status::{Status, guard, put, writable};

/// A barrier, and the count of the threads inside.
#[derive(Debug)]
pub struct Meeting {
    barrier: Barrier,
    occupancy: Occupancy,
}

impl Kind for Meeting {
    const MAGIC: u64 = u64::from_le_bytes(*b"thr.barr");

    fn unused() -> &'static Unused<Self> {
        static UNUSED: Unused<Meeting> = Unused::new();
        &UNUSED
    }
}

impl Meeting {
    /// Meets the others. The thread has yet to leave.
    #[inline]
    fn meet(&self, timeout: Option<Duration>) -> (Result<Status, Status>, Inside) {
        let inside = self.occupancy.enter();
        let met = match timeout {
            None => status_of(self.barrier.wait_checked(), None),
            Some(timeout) => {
                let start = Instant::now();
                let over = Some((start, timeout));
                status_of(self.barrier.wait_timeout(timeout), over)
            }
        };
        (met, inside)
    }

    /// Waits until all threads have left.
    fn vacate(&self) -> Result<(), Status> {
        if self.barrier.is_broken() {
            // Rounds were not complete, and all threads are on their way out.
            self.occupancy.wait_for_leavers();
            return Ok(());
        }
        self.occupancy.vacate().map_err(|_| Status::EBusy)
    }
}

/// Returns the status of a wait, which began at the first of `timeout` and was to last for the second.
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
    guard(|| {
        writable(barrier)?;
        let members = members as usize;
        let built = Barrier::builder(members).build().map_err(|_| Status::EInval)?;
        let made = handle::create(Meeting { barrier: built, occupancy: Occupancy::new(members) });
        // SAFETY: the contract of the header.
        unsafe { put(barrier, made) }?;
        Ok(Status::Ok)
    })
}

/// Meets the others.
///
/// # Safety
/// The contract of the header.
#[inline]
unsafe fn wait(barrier: *mut Handle<Meeting>, timeout: Option<Duration>) -> Result<Status, Status> {
    // SAFETY: the contract of the header: no call destroys it before this thread has come, and then the thread
    // that destroys it waits until this one has left.
    let (met, inside) = unsafe { handle::value(barrier) }?.meet(timeout);
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
    guard(|| {
        // SAFETY: the contract of the header.
        unsafe { handle::value(barrier) }?.barrier.abort();
        Ok(Status::Ok)
    })
}

/// Tells whether the barrier is broken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_is_broken(
    barrier: *mut Handle<Meeting>,
    is_broken: *mut c_int,
) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header.
        let broken = unsafe { handle::value(barrier) }?.barrier.is_broken();
        // SAFETY: the contract of the header.
        unsafe { put(is_broken, c_int::from(broken)) }?;
        Ok(Status::Ok)
    })
}

/// Destroys a barrier, when all threads of complete rounds have left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn throng_barrier_destroy(barrier: *mut Handle<Meeting>) -> c_int {
    guard(|| {
        // SAFETY: the contract of the header: no thread comes any more, and those inside leave.
        drop(unsafe { handle::destroy(barrier, Meeting::vacate) }?);
        Ok(Status::Ok)
    })
}
