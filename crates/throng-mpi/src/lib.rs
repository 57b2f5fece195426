//! Counters and barriers over the ranks of an MPI communicator.
//!
//! The structures are the state machines of `throng-messages`: central, diffracting tree, combining
//! tree, counting network, and two kinds of barriers. Their roles are spread over the ranks, and
//! messages between ranks travel by MPI, on a communicator of their own.
//!
//! ```no_run
//! use mpi::Threading;
//! use mpi::traits::Communicator;
//! use throng_mpi::{Barrier, BarrierKind, Counter, Shape};
//!
//! let (universe, _) = mpi::initialize_with_threading(Threading::Multiple).unwrap();
//! let world = universe.world();
//!
//! // On every rank:
//! let counter = Counter::new(&world, &Shape::for_ranks(world.size() as u32))?;
//! let mut barrier = Barrier::new(&world, BarrierKind::Dissemination)?;
//! println!("rank {} got {}", world.rank(), counter.next()?);
//! println!("and a block of {:?}", counter.next_many(1000)?.range());
//! barrier.wait()?;
//! # Ok::<(), throng_mpi::Error>(())
//! ```
//!
//! # Which thread does the work
//!
//! Each rank has a part of every structure: some roles, and the state of its own callers. A thread
//! that waits in [`Counter::next`] or [`Barrier::wait`] handles the rank's messages meanwhile.
//! While no thread waits, the structure's *service thread* on that rank does. So a rank that
//! computes does not hold up the others.
//!
//! No thread waits inside MPI, which would occupy a core. Between two looks for messages a thread
//! at first only yields, and then naps, the longer the longer no message has come, up to
//! [`Options::longest_nap`], a millisecond. An idle rank costs about 2 % of a core for each
//! structure. The first message after an idle time waits for up to one nap at each rank that it
//! passes.
//!
//! # Without a service thread
//!
//! If MPI was initialised for less than [`Threading::Multiple`](mpi::Threading::Multiple) no thread may
//! serve a rank, and messages are handled inside calls only: `next`, `wait`, `progress`, and `finish` or
//! drop. Then
//!
//! - a rank that computes delays all ranks that need one of its roles until its next call; it can
//!   call [`Counter::progress`] from time to time;
//! - a rank that computes for longer than the [patience](Options::patience) counts as silent;
//! - with `Single` and `Funneled` only the thread that initialised MPI may call, others get
//!   [`Error::WrongThread`], and the structure must be dropped there; a rank that makes a structure
//!   waits for the others no longer than the patience, since one that is refused cannot come; with
//!   `Serialized` any thread may call, while no other thread of the process calls MPI.
//!
//! Numbers and rounds are the same as with a service thread.
//!
//! # The end
//!
//! Making and leaving a structure is collective, like all of MPI: all ranks must do it, and with
//! several structures in the same order. Dropping one (or [`Counter::finish`]) continues to serve
//! until all ranks have left, in whatever order they come. A rank that unwinds by a panic reports
//! this to the others, whose calls fail with [`Error::Gone`]. Structures must be dropped before MPI
//! is finalised: declare them after the [`Universe`](mpi::environment::Universe).
//!
//! # When a rank is lost
//!
//! By default `mpirun` ends the whole job when a rank dies. If it does not, or if a rank is only
//! stopped or cut off, calls that need it fail with [`Error::NoAnswer`] and name it, after the
//! [patience](Options::patience) and a quarter of it. A rank that is merely late never causes an
//! error: its service thread sends signs of life. Each rank asks the few ranks that it depends on
//! directly, for others too, and reports to all if one of them is silent. After such an error calls
//! may be repeated. An unanswered request stays valid: its number goes to the next caller on the
//! same rank. An arrival at a barrier also stays counted. So if the rank comes back nothing is
//! lost. If it does not, its roles are gone, and with them the numbers that were on their way
//! through them: no number is ever given twice, but some may be missing.
//!
//! `docs/cluster.md` in the repository describes how to run on a cluster and how to choose a shape.

#![deny(unsafe_code)]

mod barrier;
mod counter;
mod counting;
mod engine;
mod error;
mod host;
#[expect(unsafe_code, reason = "calls the C functions of MPI")]
mod link;
#[expect(unsafe_code, reason = "calls the C functions of MPI")]
mod making;
mod meeting;
mod options;
mod packet;
mod part;
mod placement;
mod rest;
mod shape;
mod watch;

pub use barrier::{Barrier, BarrierKind};
pub use counter::Counter;
pub use error::Error;
pub use options::Options;
pub use shape::Shape;
pub use throng_messages::Numbers;
