//! How all ranks make a structure together: they agree on its kind, and get a communicator for it.
//!
//! Both steps are collective calls that do not block, so a rank can stop waiting for another one
//! that does not come. That happens if MPI may be called by the main thread only: a rank whose
//! other thread asks for a structure is refused, and cannot tell the others. These give up when
//! their patience is over.
//!
//! A making that was given up stays *held*: the rank's next structure on the same communicator
//! continues it. MPI requires that all ranks make the same collective calls in the same order, and
//! so they do.
//!
//! | ranks that gave up while | the others | when they try again |
//! |---|---|---|
//! | they agreed | wait for the ranks that are missing | all agree, if all ask for the same as before |
//! | they duplicated | have the structure, and miss these ranks in it | they have it too |

use crate::error::Error;
use crate::link::{MpiLink, check, is_done, no_request};
use mpi::ffi;
use mpi::topology::Communicator;
use std::cell::RefCell;
use std::ffi::c_void;
use std::mem::{self, MaybeUninit};

thread_local! {
    /// The makings that were given up. Only the main thread gives up any.
    static HELD: RefCell<Vec<Making>> = const { RefCell::new(Vec::new()) };
}

/// A structure that is being made.
#[derive(Debug)]
pub(crate) struct Making {
    /// The program's communicator.
    comm: ffi::MPI_Comm,
    request: ffi::MPI_Request,
    /// The words on which the ranks agree: a hash of the structure, its complement, and a number
    /// that no other structure has. MPI reads them meanwhile. These and the following fields are on
    /// the heap, so that their addresses do not change.
    mine: Box<Words>,
    /// The largest value of all ranks, word by word. MPI writes it while they agree.
    largest: Box<Words>,
    /// The new communicator, once they have agreed. MPI writes it.
    duplicate: Option<Box<MaybeUninit<ffi::MPI_Comm>>>,
}

type Words = [u64; 3];

impl Making {
    /// Begins to make a structure with this `hash` for all ranks of `comm`, or continues one that
    /// was given up. `random` is some number.
    pub(crate) fn begin<C: Communicator>(comm: &C, hash: u64, random: u64) -> Result<Self, Error> {
        let comm = comm.as_raw();
        let held = HELD.with_borrow_mut(|held| {
            let index = held.iter().position(|making| making.comm == comm)?;
            Some(held.swap_remove(index))
        });
        match held {
            Some(making) if making.mine[0] == hash => Ok(making),
            Some(making) => {
                making.hold();
                Err(Error::Disagree)
            }
            None => Making::agree(comm, [hash, !hash, random]),
        }
    }

    fn agree(comm: ffi::MPI_Comm, mine: Words) -> Result<Self, Error> {
        let (mine, mut largest) = (Box::new(mine), Box::new([0; 3]));
        let mut request = MaybeUninit::uninit();
        // SAFETY: `comm` is live. Both buffers hold three words and stay where they are, untouched,
        // until the request is done: `Making` ensures it.
        let code = unsafe {
            ffi::MPI_Iallreduce(
                mine.as_ptr().cast::<c_void>(),
                largest.as_mut_ptr().cast::<c_void>(),
                3,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_MAX,
                comm,
                request.as_mut_ptr(),
            )
        };
        check("MPI_Iallreduce", code)?;
        // SAFETY: MPI_Iallreduce has succeeded and written it.
        let request = unsafe { request.assume_init() };
        Ok(Making { comm, request, mine, largest, duplicate: None })
    }

    fn duplicate(&mut self) -> Result<(), Error> {
        let mut duplicate = Box::new(MaybeUninit::uninit());
        let mut request = MaybeUninit::uninit();
        // SAFETY: `comm` is live, and there is room for the new one, which stays where it is until
        // the request is done: `Making` ensures it.
        let code =
            unsafe { ffi::MPI_Comm_idup(self.comm, duplicate.as_mut_ptr(), request.as_mut_ptr()) };
        check("MPI_Comm_idup", code)?;
        // SAFETY: MPI_Comm_idup has succeeded and written it.
        self.request = unsafe { request.assume_init() };
        self.duplicate = Some(duplicate);
        Ok(())
    }

    /// Continues, and returns the link and the number that no other structure has once all is done.
    pub(crate) fn poll(&mut self) -> Result<Option<(MpiLink, u64)>, Error> {
        while is_done(&mut self.request)? {
            let [most, least, nonce] = *self.largest;
            if most != !least {
                return Err(Error::Disagree);
            }
            match self.duplicate.take() {
                None => self.duplicate()?,
                Some(duplicate) => {
                    // SAFETY: the request is done, so MPI has written it.
                    let own = unsafe { duplicate.assume_init() };
                    return Ok(Some((MpiLink::new(*own)?, nonce)));
                }
            }
        }
        Ok(None)
    }

    /// Gives up, until the next structure on this communicator.
    pub(crate) fn hold(self) {
        HELD.with_borrow_mut(|held| held.push(self));
    }
}

impl Drop for Making {
    /// Leaks the memory that MPI may still use, if a call of MPI has failed.
    fn drop(&mut self) {
        if self.request != no_request() {
            mem::forget(mem::take(&mut self.mine));
            mem::forget(mem::take(&mut self.largest));
            mem::forget(self.duplicate.take());
        }
    }
}
