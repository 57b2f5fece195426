//! A barrier over the ranks of a communicator.

use crate::engine::Need;
use crate::error::Error;
use crate::host::Host;
use crate::meeting::Meeting;
use crate::options::Options;
use mpi::topology::Communicator;
use std::thread;
pub use throng_messages::BarrierKind;

/// A barrier for all ranks of a communicator: no rank returns from [`wait`](Barrier::wait) before
/// all have called it.
///
/// Unlike with `MPI_Barrier`, a rank that waits for long does not occupy its core, and a rank that
/// died is an error, not a hang.
///
/// Dropping it waits until all ranks have dropped theirs. A rank that has several structures must
/// drop them in the same order as the others.
#[derive(Debug)]
pub struct Barrier {
    host: Host<Meeting>,
    kind: BarrierKind,
}

impl Barrier {
    /// Returns a barrier for all ranks of `comm`, which must all call this with the same kind.
    ///
    /// Collective. The communicator is duplicated: messages of others are neither seen nor
    /// disturbed.
    ///
    /// # Errors
    ///
    /// If there is no such kind, if ranks asked for different ones, if the thread of any rank may
    /// not call MPI, or if MPI reports an error.
    pub fn new<C: Communicator>(comm: &C, kind: BarrierKind) -> Result<Self, Error> {
        Self::with_options(comm, kind, &Options::new())
    }

    /// Like [`new`](Barrier::new), with other options.
    ///
    /// # Errors
    ///
    /// Like [`new`](Barrier::new).
    pub fn with_options<C: Communicator>(
        comm: &C,
        kind: BarrierKind,
        options: &Options,
    ) -> Result<Self, Error> {
        let fingerprint = match kind {
            BarrierKind::Dissemination => [4, 0],
            BarrierKind::Tree { fan_in } => [5, u64::from(fan_in)],
        };
        let part = |rank, ranks, _| {
            let member = kind.member(rank, ranks);
            member.map(Meeting::new).map_err(|error| Error::Shape(error.to_string()))
        };
        let host = Host::new(comm, options, &fingerprint, part)?;
        Ok(Barrier { host, kind })
    }

    /// Waits until all ranks have come here as often as this one.
    ///
    /// # Errors
    ///
    /// [`Error::NoAnswer`] if some rank does not answer for as long as the
    /// [patience](Options::patience) lasts. This rank's arrival stays valid, and another call
    /// continues with the same round. [`Error::Left`] if a rank that has not come has left instead.
    pub fn wait(&mut self) -> Result<(), Error> {
        let passed = {
            let mut engine = self.host.engine()?;
            engine.act(self.host.now_ns(), |meeting, post| meeting.arrive(thread::current(), post));
            engine.part().pass()
        };
        match passed {
            Some(()) => Ok(()),
            None => self.host.wait(Need::Part, || false, |engine, _| engine.part().pass()),
        }
    }

    /// Handles messages that have arrived for this rank: signs of life that others ask for. It is
    /// needed only without a service thread.
    ///
    /// # Errors
    ///
    /// [`Error::WrongThread`] if this thread may not call MPI.
    pub fn progress(&self) -> Result<(), Error> {
        self.host.progress()
    }

    /// Returns the kind of the barrier.
    #[must_use]
    pub fn kind(&self) -> BarrierKind {
        self.kind
    }

    /// Leaves, like dropping it, and returns whether that succeeded.
    ///
    /// # Errors
    ///
    /// If a rank has not left and does not answer any more.
    pub fn finish(mut self) -> Result<(), Error> {
        self.host.finish()
    }
}
