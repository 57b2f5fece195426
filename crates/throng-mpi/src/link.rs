//! Packets between ranks over MPI. Only this file and `making` call it.
//!
//! By its C functions, as the crate `mpi` gives them: its own methods panic or abort where MPI reports
//! an error, and its requests borrow their buffers, which cannot be said of sends that nobody waits
//! for. Nothing here blocks.

use crate::error::Error;
use crate::packet::{WORDS, Words};
use mpi::environment::Threading;
use mpi::ffi;
use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

/// Carries packets to other ranks, in order between any two of them, and never waits.
pub(crate) trait Link {
    /// Sends `words` to `rank`.
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error>;
    /// A packet that has arrived, and who sent it.
    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error>;
    /// Whether everything that was sent is on its way, so that the link may be dropped.
    fn is_flushed(&mut self) -> Result<bool, Error>;
    /// Some ranks do not answer: what they hold may never be given back.
    fn abandon(&mut self);
}

/// The tag of all packets: the communicator is ours alone.
const TAG: c_int = 1;

/// A link over a communicator of its own, so that its messages are not mixed up with the program's.
#[derive(Debug)]
pub(crate) struct MpiLink {
    comm: ffi::MPI_Comm,
    /// Sends that MPI has not taken over yet. MPI reads each `Box` until its request is done.
    on_the_way: Vec<(ffi::MPI_Request, Box<Words>)>,
    #[expect(clippy::vec_box, reason = "MPI is told where they are while they are in use")]
    spare: Vec<Box<Words>>,
    abandoned: bool,
}

// SAFETY: handles of MPI are valid in the whole process. Calls from a thread other than the creator's
// are only made where MPI was initialised for it: `Host` checks the thread level.
unsafe impl Send for MpiLink {}

impl MpiLink {
    /// Takes over `comm`, a communicator that nothing else uses.
    pub(crate) fn new(comm: ffi::MPI_Comm) -> Result<Self, Error> {
        let link = MpiLink { comm, on_the_way: Vec::new(), spare: Vec::new(), abandoned: false };
        // SAFETY: `comm` is live; the handler is one of MPI's own. It is a static of C that nobody writes.
        let code = unsafe { ffi::MPI_Comm_set_errhandler(link.comm, ffi::RSMPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(link)
    }

    /// Takes back the buffers of sends that are done.
    fn reap(&mut self) -> Result<(), Error> {
        let mut index = 0;
        while index < self.on_the_way.len() {
            if is_done(&mut self.on_the_way[index].0)? {
                let (_, words) = self.on_the_way.swap_remove(index);
                self.spare.push(words);
            } else {
                index += 1;
            }
        }
        Ok(())
    }
}

impl Link for MpiLink {
    fn send(&mut self, rank: u32, words: Words) -> Result<(), Error> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        *buffer = words;
        let mut request = MaybeUninit::uninit();
        // SAFETY: the buffer is on the heap and stays there, unwritten, until the request is done: it
        // goes to `spare` then, and to nobody if that never happens.
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
        // So small a message is usually gone at once.
        if is_done(&mut request)? {
            self.spare.push(buffer);
        } else {
            self.on_the_way.push((request, buffer));
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Words)>, Error> {
        self.reap()?;
        let mut there = 0;
        let mut status = MaybeUninit::uninit();
        // SAFETY: there is room for what is written.
        let code = unsafe {
            ffi::MPI_Iprobe(
                ffi::RSMPI_ANY_SOURCE,
                TAG,
                self.comm,
                &raw mut there,
                status.as_mut_ptr(),
            )
        };
        check("MPI_Iprobe", code)?;
        if there == 0 {
            return Ok(None);
        }
        // SAFETY: a message is there, so MPI_Iprobe has written who sent it.
        let from = unsafe { status.assume_init() }.MPI_SOURCE;
        let mut words = [0; WORDS];
        // SAFETY: the buffer holds WORDS words, and nobody sends more. The message is there already,
        // and no other thread takes it: `&mut self`.
        let code = unsafe {
            ffi::MPI_Recv(
                words.as_mut_ptr().cast::<c_void>(),
                WORDS as c_int,
                ffi::RSMPI_UINT64_T,
                from,
                TAG,
                self.comm,
                ffi::RSMPI_STATUS_IGNORE,
            )
        };
        check("MPI_Recv", code)?;
        Ok(Some((from as u32, words)))
    }

    fn is_flushed(&mut self) -> Result<bool, Error> {
        self.reap()?;
        Ok(self.on_the_way.is_empty())
    }

    fn abandon(&mut self) {
        self.abandoned = true;
    }
}

impl Drop for MpiLink {
    fn drop(&mut self) {
        if self.abandoned || is_finalized() {
            // MPI may still read these.
            self.on_the_way.drain(..).for_each(|(_, words)| {
                Box::leak(words);
            });
        } else {
            // SAFETY: nobody has a copy of the handle, and nothing is on its way.
            let _ = unsafe { ffi::MPI_Comm_free(&raw mut self.comm) };
        }
    }
}

/// Whether a request is done, and freed.
pub(crate) fn is_done(request: &mut ffi::MPI_Request) -> Result<bool, Error> {
    let mut done = 0;
    // SAFETY: `request` is live until MPI_Test says that it is done, and null then. The ignored
    // status is a static of C that nobody writes.
    let code = unsafe { ffi::MPI_Test(request, &raw mut done, ffi::RSMPI_STATUS_IGNORE) };
    check("MPI_Test", code)?;
    Ok(done != 0)
}

/// What the calling thread may do, and others of its rank.
pub(crate) fn threading() -> Threading {
    mpi::environment::threading_support()
}

/// Whether this is the thread that initialised MPI.
pub(crate) fn is_main_thread() -> bool {
    let mut yes = 0;
    // SAFETY: there is room for the answer.
    let code = unsafe { ffi::MPI_Is_thread_main(&raw mut yes) };
    code == ffi::MPI_SUCCESS as c_int && yes != 0
}

/// Whether MPI has ended: nothing may be called then.
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
