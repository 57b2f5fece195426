//! A counter over the ranks of a communicator.

use crate::counting::Counting;
use crate::engine::{Engine, Need};
use crate::error::Error;
use crate::host::Host;
use crate::options::Options;
use crate::placement::place;
use crate::shape::Shape;
use mpi::topology::Communicator;
use std::thread;

/// A counter shared by all ranks of a communicator: [`next`](Counter::next) hands out 0, 1, 2, ...
/// each exactly once; when no call is in progress anywhere the numbers handed out are exactly 0..m-1.
///
/// Any number of threads of a rank may use it at a time. It needs no attention: a service thread on
/// each rank does the work of the structure while the rank computes. Where MPI was not initialised
/// with [`Threading::Multiple`](mpi::Threading::Multiple) there is no such thread; see [the crate's
/// documentation](crate#without-a-service-thread) for what that means.
///
/// Dropping it waits until all ranks have dropped theirs, and serves them until then. A rank that has
/// several structures must drop them in the same order as the others.
#[derive(Debug)]
pub struct Counter {
    host: Host<Counting>,
    shape: Shape,
    /// How many callers of this rank ask at once.
    seats: u32,
}

impl Counter {
    /// A counter over all ranks of `comm`, which must all call this with the same shape.
    ///
    /// Collective. The communicator is duplicated: messages of others are neither seen nor disturbed.
    ///
    /// # Errors
    ///
    /// When there is no such shape, when ranks asked for different ones, when this thread may not call
    /// MPI, or when MPI reports an error.
    pub fn new<C: Communicator>(comm: &C, shape: &Shape) -> Result<Self, Error> {
        Self::with_options(comm, shape, &Options::new())
    }

    /// The same, with other than the default options.
    ///
    /// # Errors
    ///
    /// As [`new`](Counter::new).
    pub fn with_options<C: Communicator>(
        comm: &C,
        shape: &Shape,
        options: &Options,
    ) -> Result<Self, Error> {
        let ranks = comm.size() as u32;
        let mut seats = 0;
        // Not before all ranks have agreed: who is refused alone would leave the others waiting.
        let part = |seed| {
            let plan = shape.plan(ranks, options)?;
            seats = plan.clients().unwrap_or(u32::MAX) / ranks;
            let rank_of = place(&plan, options.threads.saturating_mul(ranks), ranks);
            Ok(Counting::new(comm.rank() as u32, ranks, plan, rank_of, seed))
        };
        let host = Host::new(comm, options, &shape.fingerprint(), part)?;
        Ok(Counter { host, shape: *shape, seats })
    }

    /// A number that nobody else gets.
    ///
    /// # Errors
    ///
    /// [`Error::NoAnswer`] when a rank that takes part does not answer for as long as the
    /// [patience](Options::patience) lasts. The question is still on its way then: if the rank comes
    /// back, the number goes to the next who asks on this rank, so that none is lost.
    pub fn next(&self) -> Result<u64, Error> {
        let ask = |engine: &mut Engine<_, Counting>, now_ns| {
            engine.act(now_ns, |part, post| part.ask(self.seats, thread::current, post))
        };
        let now_ns = self.host.now_ns();
        let mut engine = self.host.engine()?;
        let asked = ask(&mut engine, now_ns);
        // What this rank gives out itself is there at once.
        if let Some(answer) = &asked
            && let Some(number) = engine.part().take(answer)
        {
            engine.look_if_due(now_ns);
            return Ok(number);
        }
        drop(engine);
        let answer = match asked {
            Some(answer) => answer,
            None => self.host.wait(Need::Part, || false, ask)?,
        };
        let take = |engine: &mut Engine<_, Counting>, _| engine.part().take(&answer);
        let number = self.host.wait(Need::Part, || answer.has_come(), take);
        if number.is_err() {
            self.host.engine()?.part().give_up(&answer);
        }
        number
    }

    /// Handles messages that have arrived for this rank. Only of use without a service thread: a rank
    /// that computes for long calls it now and then, since others may depend on it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongThread`] where this thread may not call MPI.
    pub fn progress(&self) -> Result<(), Error> {
        self.host.progress()
    }

    /// Whether a thread serves this rank while it computes.
    #[must_use]
    pub fn has_service(&self) -> bool {
        self.host.has_service()
    }

    /// The structure behind it.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Leaves, as dropping does, and tells whether all went well.
    ///
    /// # Errors
    ///
    /// When a rank has not left and does not answer any more.
    pub fn finish(mut self) -> Result<(), Error> {
        self.host.finish()
    }
}
