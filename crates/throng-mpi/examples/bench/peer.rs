//! `MPI_Fetch_and_op` on a window: MPI's own shared counter.
//!
//! The crate `mpi` has no one-sided operations, so its C functions are called here.

use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{AsRaw, Communicator};
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// One word on rank 0, to which all ranks add.
pub(crate) struct Window {
    window: ffi::MPI_Win,
}

impl Window {
    /// Creates a window. Collective. Returns `None` if this MPI has no windows: Open MPI 4.1 has
    /// none over TCP for programs whose threads may all call it.
    pub(crate) fn new(world: &SimpleCommunicator) -> Option<Self> {
        // SAFETY: the communicator is live; the handler is one of MPI's own, a static of C that is
        // never written. Other users of the communicator here check no errors, so the handler makes
        // no difference to them.
        check(unsafe { ffi::MPI_Comm_set_errhandler(world.as_raw(), ffi::RSMPI_ERRORS_RETURN) });
        let bytes = if world.rank() == 0 { size_of::<u64>() } else { 0 };
        let mut base = ptr::null_mut::<u64>();
        let mut window = MaybeUninit::uninit();
        // SAFETY: MPI allocates `bytes` of memory, and writes their address to the pointer as if it
        // were one to void; there is room for the handle.
        let code = unsafe {
            ffi::MPI_Win_allocate(
                bytes as ffi::MPI_Aint,
                size_of::<u64>() as c_int,
                ffi::RSMPI_INFO_NULL,
                world.as_raw(),
                (&raw mut base).cast::<c_void>(),
                window.as_mut_ptr(),
            )
        };
        if code != ffi::MPI_SUCCESS as c_int {
            return None;
        }
        // SAFETY: MPI_Win_allocate has succeeded.
        let window = unsafe { window.assume_init() };
        if world.rank() == 0 {
            // SAFETY: it is the word that MPI has allocated, and no rank reads it yet.
            unsafe { base.write(0) };
        }
        // SAFETY: the window is live; the epoch ends before it is freed.
        check(unsafe { ffi::MPI_Win_lock_all(0, window) });
        Some(Window { window })
    }

    /// Makes rank 0's first write visible. All ranks must meet afterwards.
    pub(crate) fn sync(&self) {
        // SAFETY: the window is live and locked.
        check(unsafe { ffi::MPI_Win_sync(self.window) });
    }

    /// Returns the next number.
    pub(crate) fn next(&self) -> u64 {
        let (one, mut number) = (1_u64, 0_u64);
        // SAFETY: both words live until MPI_Win_flush reports that the operation is done; the
        // target is the one word of rank 0.
        let code = unsafe {
            ffi::MPI_Fetch_and_op(
                (&raw const one).cast::<c_void>(),
                (&raw mut number).cast::<c_void>(),
                ffi::RSMPI_UINT64_T,
                0,
                0,
                ffi::RSMPI_SUM,
                self.window,
            )
        };
        check(code);
        // SAFETY: the window is live and locked.
        check(unsafe { ffi::MPI_Win_flush(0, self.window) });
        number
    }

    /// Frees the window. Collective.
    pub(crate) fn free(mut self) {
        // SAFETY: the epoch that `new` began.
        check(unsafe { ffi::MPI_Win_unlock_all(self.window) });
        // SAFETY: the window is live, and there is no copy of the handle.
        check(unsafe { ffi::MPI_Win_free(&raw mut self.window) });
    }
}

fn check(code: c_int) {
    assert_eq!(code, ffi::MPI_SUCCESS as c_int, "MPI reports an error");
}
