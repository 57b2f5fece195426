//! The errors of this crate.

use std::fmt;
use std::time::Duration;

/// The reason why a call has no result. A call never waits for a rank that is gone: it fails.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A rank that is needed for the answer has sent nothing for as long as the
    /// [patience](crate::Options::patience) lasts, although it was asked for a sign of life. It has
    /// died, was stopped, or cannot be reached; without a service thread it may only be busy.
    ///
    /// The call may be repeated: nothing is lost if the rank comes back.
    NoAnswer {
        /// The rank, in the communicator that was given.
        rank: u32,
        /// The time for which it has been silent since it was asked.
        silent_for: Duration,
    },
    /// A rank has left by a panic, and the numbers that it held are lost.
    Gone {
        /// The rank.
        rank: u32,
    },
    /// A rank has left the barrier and will not come any more.
    Left {
        /// The rank.
        rank: u32,
    },
    /// MPI reported an error.
    Mpi {
        /// The function that failed.
        call: &'static str,
        /// MPI's message.
        says: String,
    },
    /// The ranks asked for different structures: shape and options must be equal on all ranks.
    Disagree,
    /// There is no such shape; the text says why.
    Shape(String),
    /// MPI was initialised so that only the main thread may call it, and this is another one.
    ///
    /// If this happens to a rank that makes a counter or a barrier, all ranks get this error. The
    /// rank itself gets it at once, the others after the [patience](crate::Options::patience),
    /// since that rank cannot send them a message. All may try again, for the same shape and
    /// options. Until they have succeeded they must not make other collective calls on that
    /// communicator.
    WrongThread,
    /// The operating system gave no thread for the service.
    NoThread(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoAnswer { rank, silent_for } => {
                write!(f, "rank {rank} has been silent for {:.1} s", silent_for.as_secs_f64())
            }
            Error::Gone { rank } => write!(f, "rank {rank} has left by a panic"),
            Error::Left { rank } => write!(f, "rank {rank} has left and will not come any more"),
            Error::Mpi { call, says } => write!(f, "{call}: {says}"),
            Error::Disagree => write!(f, "the ranks asked for different shapes or options"),
            Error::Shape(why) => write!(f, "{why}"),
            Error::WrongThread => write!(
                f,
                "only main threads may call MPI, and this one or that of a rank which did not come is \
                 another; initialise MPI with Threading::Multiple"
            ),
            Error::NoThread(why) => write!(f, "no thread for the service: {why}"),
        }
    }
}

impl std::error::Error for Error {}
