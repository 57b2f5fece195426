//! A counter over the ranks of a communicator.

use crate::counting::{Answer, Counting};
use crate::engine::{Engine, Need};
use crate::error::Error;
use crate::host::Host;
use crate::options::Options;
use crate::placement::place;
use crate::shape::Shape;
use mpi::topology::Communicator;
use std::thread;
use throng_messages::Numbers;

/// A counter shared by all ranks of a communicator: [`next`](Counter::next) hands out 0, 1, 2, ...
/// each exactly once. When no call is in progress on any rank the numbers handed out are exactly
/// 0..m-1. [`next_many`](Counter::next_many) hands out several at a time.
///
/// Any number of threads of a rank may use it at a time. A service thread on each rank does the
/// work of the structure while the rank computes. If MPI was not initialised with
/// [`Threading::Multiple`](mpi::Threading::Multiple) there is no such thread; [the crate's
/// documentation](crate#without-a-service-thread) describes the consequences.
///
/// Dropping it waits until all ranks have dropped theirs, and serves them until then. A rank that
/// has several structures must drop them in the same order as the others.
#[derive(Debug)]
pub struct Counter {
    host: Host<Counting>,
    shape: Shape,
    /// The number of callers of this rank that ask at once.
    seats: u32,
    /// The distance between the numbers of one answer.
    step: u64,
}

impl Counter {
    /// Returns a counter over all ranks of `comm`, which must all call this with the same shape.
    ///
    /// Collective. The communicator is duplicated: messages of others are neither seen nor disturbed.
    ///
    /// # Errors
    ///
    /// If there is no such shape, if ranks asked for different ones, if the thread of any rank may
    /// not call MPI, or if MPI reports an error.
    pub fn new<C: Communicator>(comm: &C, shape: &Shape) -> Result<Self, Error> {
        Self::with_options(comm, shape, &Options::new())
    }

    /// Like [`new`](Counter::new), with other options.
    ///
    /// # Errors
    ///
    /// Like [`new`](Counter::new).
    pub fn with_options<C: Communicator>(
        comm: &C,
        shape: &Shape,
        options: &Options,
    ) -> Result<Self, Error> {
        let (mut seats, mut step) = (0, 1);
        // Not before all ranks have agreed: a rank that is refused alone would leave the others
        // waiting.
        let part = |rank, ranks, seed| {
            let plan = shape.plan(ranks, options)?;
            seats = plan.clients().unwrap_or(u32::MAX) / ranks;
            step = plan.step();
            let rank_of = place(&plan, options.threads.saturating_mul(ranks), ranks);
            Ok(Counting::new(rank, ranks, plan, rank_of, seed))
        };
        let host = Host::new(comm, options, &shape.fingerprint(), part)?;
        Ok(Counter { host, shape: *shape, seats, step })
    }

    /// Returns a number that no other call gets.
    ///
    /// # Errors
    ///
    /// [`Error::NoAnswer`] if a rank that takes part does not answer for as long as the
    /// [patience](Options::patience) lasts. The question is still in flight then: if the rank comes
    /// back, the number goes to the next caller on this rank, so that none is lost.
    pub fn next(&self) -> Result<u64, Error> {
        self.draw(1, Counting::take_one)
    }

    /// Returns `count` numbers that no other call gets, in as few messages as the structure allows:
    /// 2 for [`Shape::Central`], whatever the count, and never more than `count` calls of
    /// [`next`](Counter::next).
    ///
    /// All calls of `next` and `next_many` together hand out each number once. When no call is in
    /// progress on any rank, and none has failed, these are exactly 0..m-1, where m is the count of
    /// numbers asked for. After 2^64 numbers it begins again at 0.
    ///
    /// Of [`Shape::Central`] and [`Shape::CombiningTree`] the numbers are [in a
    /// row](Numbers::range), and larger than those of every call that was over before this one
    /// began. Of trees and networks of balancers they are some arithmetic sequences a width apart,
    /// in no order.
    ///
    /// After a call on this rank has failed, the numbers that it had asked for are handed out first
    /// on this rank. Until then those numbers are missing below m; they are not in a row with
    /// others, and may be smaller.
    ///
    /// ```no_run
    /// # fn of(counter: &throng_mpi::Counter) -> Result<(), throng_mpi::Error> {
    /// let numbers = counter.next_many(1000)?;
    /// assert_eq!(numbers.len(), 1000);
    /// for id in numbers {
    ///     println!("{id}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Like [`next`](Counter::next). None of the numbers is lost if the rank comes back.
    pub fn next_many(&self, count: u64) -> Result<Numbers, Error> {
        let mut numbers = Numbers::new(self.step);
        while numbers.len() < count {
            let missing = count - numbers.len();
            match self.draw(missing, |part, answer| part.take(answer, missing)) {
                Ok(more) => numbers.append(&more),
                Err(error) => {
                    // Only a thread that may use the engine has got any.
                    if let Ok(mut engine) = self.host.engine() {
                        engine.part().put_back(&numbers);
                    }
                    return Err(error);
                }
            }
        }
        Ok(numbers)
    }

    /// Asks for `count` numbers and waits until `take` finds them.
    fn draw<T>(
        &self,
        count: u64,
        take: impl Fn(&mut Counting, &Answer) -> Option<T>,
    ) -> Result<T, Error> {
        let ask = |engine: &mut Engine<_, Counting>, now_ns| {
            engine.act(now_ns, |part, post| part.ask(self.seats, count, thread::current, post))
        };
        let now_ns = self.host.now_ns();
        let mut engine = self.host.engine()?;
        let asked = ask(&mut engine, now_ns);
        // Numbers that this rank gives out itself are there at once.
        if let Some(answer) = &asked
            && let Some(found) = take(engine.part(), answer)
        {
            engine.look_if_due(now_ns);
            return Ok(found);
        }
        drop(engine);
        let answer = match asked {
            Some(answer) => answer,
            None => self.host.wait(Need::Part, || false, ask)?,
        };
        let ready = |engine: &mut Engine<_, Counting>, _| take(engine.part(), &answer);
        let found = self.host.wait(Need::Part, || answer.has_come(), ready);
        if found.is_err() {
            self.host.engine()?.part().give_up(&answer);
        }
        found
    }

    /// Handles messages that have arrived for this rank. It is needed only without a service
    /// thread: a rank that computes for long should call it from time to time, since others may
    /// depend on it.
    ///
    /// # Errors
    ///
    /// [`Error::WrongThread`] if this thread may not call MPI.
    pub fn progress(&self) -> Result<(), Error> {
        self.host.progress()
    }

    /// Returns whether a thread serves this rank while it computes.
    #[must_use]
    pub fn has_service(&self) -> bool {
        self.host.has_service()
    }

    /// Returns the structure behind the counter.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
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
