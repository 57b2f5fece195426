//! The error of a simulation that cannot be run.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use crate::spec::SpecError;

/// The error of a simulation that cannot be run. It names the wrong setting and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimError {
    /// A setting is outside its range.
    OutOfRange {
        /// The name of the setting.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        allowed: RangeInclusive<u64>,
    },
    /// The machine cannot be built.
    Machine(SpecError),
    /// The thread is already running a simulation.
    AlreadyRunning,
    /// The thread is unwinding from a panic.
    Unwinding,
    /// The operating system gives no more stacks for the processors' coroutines.
    NoStack {
        /// The processor that has no stack.
        processor: usize,
        /// The message of the operating system.
        reason: String,
    },
}

impl SimError {
    /// Checks that `value` is within `allowed`.
    pub(crate) fn check(
        what: &'static str,
        value: u64,
        allowed: RangeInclusive<u64>,
    ) -> Result<(), Self> {
        if allowed.contains(&value) {
            Ok(())
        } else {
            Err(SimError::OutOfRange { what, value, allowed })
        }
    }
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SimError::OutOfRange { what, value, allowed } => {
                let (least, most) = (allowed.start(), allowed.end());
                if *most == u64::MAX {
                    write!(f, "{what} {value}: must be at least {least}")
                } else {
                    write!(f, "{what} {value}: must be from {least} to {most}")
                }
            }
            SimError::Machine(error) => write!(f, "machine: {error}"),
            SimError::AlreadyRunning => f.write_str(
                "this thread is running a simulation already: run the other one before, after, \
                 or on another thread",
            ),
            SimError::Unwinding => f.write_str(
                "this thread is unwinding from a panic: a simulation cannot be run from a \
                 destructor",
            ),
            SimError::NoStack { processor, reason } => write!(
                f,
                "no stack for processor {processor}: {reason}; fewer processors, smaller stacks \
                 or a larger vm.max_map_count may help"
            ),
        }
    }
}

impl Error for SimError {}
