//! Packets between ranks over MPI. Only this file and `making` call it.
//!
//! It uses MPI's C functions, as the crate `mpi` exports them. That crate's own methods panic or
//! abort if MPI reports an error, and its requests borrow their buffers, which is not possible for
//! sends that are not waited for. No function here blocks.

use crate::error::Error;
use crate::packet::{WORDS, Words};
use mpi::environment::Threading;
use mpi::ffi;
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};
use std::mem::{self, MaybeUninit};

/// Carries packets to other ranks, in order between any two of them, and never waits.
pub(crate) trait Link {
    /// Sends `words` to `rank`.
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error>;
    /// Returns a packet that has arrived, and its sender.
    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error>;
    /// Returns whether all packets sent are on their way, so that the link may be dropped.
    fn is_flushed(&mut self) -> Result<bool, Error>;
    /// Stops freeing buffers and handles, because some ranks do not answer.
    fn abandon(&mut self);
}

/// The tag of all packets: no other code uses the communicator.
const TAG: c_int = 1;

/// A link over a communicator of its own, so that its messages are not mixed up with the program's.
#[derive(Debug)]
pub(crate) struct MpiLink {
    comm: ffi::MPI_Comm,
    /// The next packet, from any rank. MPI writes it until its request is done.
    ///
    /// A poll tests this one request. A probe would take longer for more ranks: Open MPI looks at a
    /// queue for each.
    inbox: (ffi::MPI_Request, Box<Words>),
    /// Sends that MPI has not taken over yet. MPI reads each `Box` until its request is done.
    on_the_way: VecDeque<(ffi::MPI_Request, Box<Words>)>,
    #[expect(clippy::vec_box, reason = "MPI is told where they are while they are in use")]
    spare: Vec<Box<Words>>,
    abandoned: bool,
}

// SAFETY: handles of MPI are valid in the whole process. Calls from a thread other than the
// creator's are only made if MPI was initialised for it: `Host` checks the thread level.
unsafe impl Send for MpiLink {}

impl MpiLink {
    /// Takes over `comm`, a communicator that nothing else uses.
    pub(crate) fn new(comm: ffi::MPI_Comm) -> Result<Self, Error> {
        // SAFETY: `comm` is live; the handler is one of MPI's own. It is a static of C that is
        // never written.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(comm, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        let mut link = MpiLink {
            comm,
            inbox: (no_request(), Box::default()),
            on_the_way: VecDeque::new(),
            spare: Vec::new(),
            abandoned: false,
        };
        link.expect_packet()?;
        Ok(link)
    }

    /// Gives MPI the buffer of the next packet.
    fn expect_packet(&mut self) -> Result<(), Error> {
        let (request, words) = &mut self.inbox;
        // SAFETY: the buffer holds WORDS words, and no rank sends more. It is on the heap and stays
        // there until the request is done: nothing reads it before, and it is leaked if that never
        // happens. The request before is done.
        let code = unsafe {
            ffi::MPI_Irecv(
                words.as_mut_ptr().cast::<c_void>(),
                WORDS as c_int,
                ffi::RSMPI_UINT64_T,
                ffi::RSMPI_ANY_SOURCE,
                TAG,
                self.comm,
                request,
            )
        };
        check("MPI_Irecv", code)
    }

    /// Stops expecting a packet: none is on its way.
    fn expect_nothing(&mut self) {
        let request = &mut self.inbox.0;
        if *request != no_request() {
            // SAFETY: the request is live.
            let _ = unsafe { ffi::MPI_Cancel(request) };
            // SAFETY: the same. It ends at once, and MPI leaves the buffer alone then. The ignored
            // status is a static of C that is never written.
            let _ = unsafe { ffi::MPI_Wait(request, ffi::RSMPI_STATUS_IGNORE) };
        }
    }

    /// Takes back the buffers of sends that are done. It looks at a few only, in turn: no call
    /// sends more than one packet.
    fn reap(&mut self) -> Result<(), Error> {
        const FEW: usize = 2;
        for _ in 0..FEW.min(self.on_the_way.len()) {
            let Some(mut sent) = self.on_the_way.pop_front() else { break };
            match is_done(&mut sent.0) {
                Ok(true) => self.spare.push(sent.1),
                other => {
                    self.on_the_way.push_back(sent);
                    other?;
                }
            }
        }
        Ok(())
    }
}

impl Link for MpiLink {
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error> {
        self.reap()?;
        let mut buffer = self.spare.pop().unwrap_or_default();
        *buffer = words;
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer is on the heap and stays there, unwritten, until the request is done.
        // It goes to `spare` then, and is leaked if that never happens.
        let code = unsafe {
            ffi::MPI_Isend(
                buffer.as_ptr().cast::<c_void>(),
                WORDS as c_int,
                ffi::RSMPI_UINT64_T,
                rank as c_int,
                TAG,
                self.comm,
                request.as_mut_ptr(),
            )
        };
        check("MPI_Isend", code)?;
        // SAFETY: MPI_Isend has succeeded and written it.
        let mut request = unsafe { request.assume_init() };
        // A message of this size is usually gone at once.
        if is_done(&mut request)? {
            self.spare.push(buffer);
        } else {
            self.on_the_way.push_back((request, buffer));
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error> {
        self.reap()?;
        let mut there = 0;
        let mut status = MaybeUninit::uninit();
        // SAFETY: the request is live, or null if MPI has refused it: then it is done, and from no
        // rank. There is room for the results.
        let code =
            unsafe { ffi::MPI_Test(&raw mut self.inbox.0, &raw mut there, status.as_mut_ptr()) };
        check("MPI_Test", code)?;
        if there == 0 {
            return Ok(None);
        }
        // SAFETY: the request is done, so MPI_Test has written the sender of the packet.
        let from = unsafe { status.assume_init() }.MPI_SOURCE;
        let words = *self.inbox.1;
        self.expect_packet()?;
        Ok(u32::try_from(from).ok().map(|from| (from, words)))
    }

    fn is_flushed(&mut self) -> Result<bool, Error> {
        if self.abandoned {
            return Ok(true);
        }
        while let Some((request, _)) = self.on_the_way.front_mut() {
            if !is_done(request)? {
                return Ok(false);
            }
            self.on_the_way.pop_front();
        }
        Ok(true)
    }

    fn abandon(&mut self) {
        self.abandoned = true;
    }
}

impl Drop for MpiLink {
    fn drop(&mut self) {
        if self.abandoned || is_finalized() {
            // MPI may still use these.
            Box::leak(mem::take(&mut self.inbox.1));
            self.on_the_way.drain(..).for_each(|(_, words)| {
                Box::leak(words);
            });
        } else {
            self.expect_nothing();
            // SAFETY: there is no copy of the handle, and no packet is on its way.
            let _ = unsafe { ffi::MPI_Comm_free(&raw mut self.comm) };
        }
    }
}

/// Returns the value to which MPI sets a request that is done.
pub(crate) fn no_request() -> ffi::MPI_Request {
    // SAFETY: a static of C that is never written.
    unsafe { ffi::RSMPI_REQUEST_NULL }
}

/// Returns whether a request is done, and freed.
pub(crate) fn is_done(request: &mut ffi::MPI_Request) -> Result<bool, Error> {
    let mut done = 0;
    // SAFETY: `request` is live until MPI_Test reports that it is done, and null then. The ignored
    // status is a static of C that is never written.
    let code = unsafe { ffi::MPI_Test(request, &raw mut done, ffi::RSMPI_STATUS_IGNORE) };
    check("MPI_Test", code)?;
    Ok(done != 0)
}

/// Returns the thread level of this rank.
pub(crate) fn threading() -> Threading {
    mpi::environment::threading_support()
}

/// Returns whether this is the thread that initialised MPI.
pub(crate) fn is_main_thread() -> bool {
    let mut yes = 0;
    // SAFETY: there is room for the answer.
    let code = unsafe { ffi::MPI_Is_thread_main(&raw mut yes) };
    code == ffi::MPI_SUCCESS as c_int && yes != 0
}

/// Returns whether MPI has been finalised: no function may be called then.
pub(crate) fn is_finalized() -> bool {
    let mut yes = 0;
    // SAFETY: there is room for the answer; this may be called at any time.
    let code = unsafe { ffi::MPI_Finalized(&raw mut yes) };
    code != ffi::MPI_SUCCESS as c_int || yes != 0
}

pub(crate) fn check(call: &'static str, code: c_int) -> Result<(), Error> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut length = 0;
    // SAFETY: the buffer is as large as MPI asks for.
    let known =
        unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &raw mut length) };
    let says = if known == ffi::MPI_SUCCESS as c_int {
        String::from_utf8_lossy(&text[..length as usize]).into_owned()
    } else {
        format!("error {code}")
    };
    Err(Error::Mpi { call, says })
}
