//! The promises, as functions from a history to a verdict.

mod counting;
mod linearizable;
mod meeting;
pub mod queue;
mod step;

pub use counting::check_counting;
pub use linearizable::check_linearizable;
pub use meeting::{check_anonymous, check_rounds, check_team};
pub use step::check_step;

use std::error::Error;
use std::fmt;

use throng::structures::counter::{About, Consistency};

use crate::history::Call;

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Two calls got the same number.
    Duplicate {
        /// The number.
        value: u64,
    },
    /// At some moment, more numbers were missing below the largest one than calls were in progress.
    Missing {
        /// The largest number given by then.
        largest: u64,
        /// The count of smaller numbers that had not been given.
        missing: u64,
        /// The number of calls in progress.
        in_progress: u64,
    },
    /// A call that began after another was over got a smaller number.
    OutOfOrder {
        /// The number of the earlier call.
        earlier: u64,
        /// The number of the later call.
        later: u64,
    },
    /// A number is missing, and no call in progress began early enough to hold it.
    Unclaimed {
        /// The number.
        value: u64,
    },
    /// The numbers of tokens on the outputs do not form a step.
    NoStep {
        /// The number of tokens that left on each output.
        exits: Vec<u64>,
    },
    /// A member left a round of a barrier before all had come to it.
    LeftEarly {
        /// The round.
        round: u64,
        /// The number of members that had yet to come.
        missing: usize,
    },
    /// A round of a barrier had no leader, or several.
    Leaders {
        /// The round.
        round: u64,
        /// The number of leaders.
        leaders: usize,
    },
    /// A member left a round of a barrier and read a value of another member that was not the one
    /// written just before that member came.
    Unseen {
        /// The round.
        round: u64,
        /// The member that left.
        reader: usize,
        /// The member whose value it did not see.
        writer: usize,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Duplicate { value } => write!(f, "{value} was given twice"),
            Violation::Missing { largest, missing, in_progress } => write!(
                f,
                "{largest} was given while {missing} smaller numbers were missing \
                 and only {in_progress} calls in progress"
            ),
            Violation::OutOfOrder { earlier, later } => {
                write!(f, "{later} was given to a call that began after {earlier} had been given")
            }
            Violation::Unclaimed { value } => {
                write!(f, "{value} was skipped: every call that may still get it began too late")
            }
            Violation::NoStep { exits } => write!(f, "no step on the outputs: {exits:?}"),
            Violation::LeftEarly { round, missing } => {
                write!(f, "a member left round {round} when {missing} had yet to come to it")
            }
            Violation::Leaders { round, leaders } => {
                write!(f, "round {round} had {leaders} leaders")
            }
            Violation::Unseen { round, reader, writer } => write!(
                f,
                "{reader} left round {round} and did not see what {writer} wrote just before it"
            ),
        }
    }
}

impl Error for Violation {}

/// Checks all promises of a counting method about its numbers.
///
/// # Errors
/// The first promise that was broken.
pub fn check_counter(about: &About, calls: &[Call]) -> Result<(), Violation> {
    check_counting(calls)?;
    match about.consistency {
        Consistency::Linearizable => check_linearizable(calls),
        Consistency::Quiescent => Ok(()),
    }
}
