//! What can go wrong, in words for the person who typed the command.

use std::fmt;
use std::io;
use std::path::PathBuf;

use throng::structures::counter::ShapeError;

/// The reason why the program stopped.
#[derive(Debug)]
pub enum Error {
    /// A value of an option, a simulation, a figure or an output is wrong.
    Papers(throng_papers::error::Error),
    /// A structure failed its check while it was measured.
    Check {
        /// What failed, on how many threads, and what was wrong.
        what: String,
    },
    /// A file is not what `throng bench --json` has written.
    Report {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Two reports have nothing in common, so that there is nothing to compare.
    NothingInCommon {
        /// The earlier report.
        old: PathBuf,
        /// The later report.
        new: PathBuf,
    },
    /// A result, not a mistake: something got slower.
    Slower {
        /// Number of structures of this library that got slower.
        count: usize,
    },
    /// A file has no place for the table of a report, or cannot be read.
    Into {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A process of a benchmark cannot be started.
    Neighbour(
        /// What the system says.
        io::Error,
    ),
    /// A measured process failed, and has printed the reason.
    Part {
        /// The contender.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// The setting, such as "beside 3 busy neighbours".
        beside: String,
    },
    /// A fresh process could not build a structure and use it once.
    FirstUse {
        /// The structure.
        structure: &'static str,
        /// Its library.
        method: &'static str,
    },
    /// The page of `throng watch` cannot be served at the requested address.
    Listen {
        /// The address, with its port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// The counter of `throng watch` failed.
    Watched {
        /// The failure.
        what: String,
    },
    /// The system refused to start the requested number of threads.
    Spawn {
        /// Number of threads requested.
        threads: usize,
        /// What the system says.
        source: io::Error,
    },
    /// A counter panicked while it was measured.
    Panicked {
        /// The counter.
        method: &'static str,
        /// On how many threads.
        threads: usize,
    },
}

impl Error {
    /// Returns the exit code. It is 2 for what other arguments can change (a mistake in them, too
    /// many processors for this system, too few steps) and for an output that cannot be written. It
    /// is 1 for every failure while measuring, and 3 where nothing failed but something got slower.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Papers(error) => error.exit_code(),
            Error::Report { .. }
            | Error::NothingInCommon { .. }
            | Error::Into { .. }
            | Error::Listen { .. } => 2,
            Error::Watched { .. }
            | Error::Spawn { .. }
            | Error::Neighbour(_)
            | Error::Part { .. }
            | Error::FirstUse { .. }
            | Error::Panicked { .. }
            | Error::Check { .. } => 1,
            Error::Slower { .. } => 3,
        }
    }

    /// Returns whether this is a result and not a failure.
    pub fn is_finding(&self) -> bool {
        matches!(self, Error::Slower { .. })
    }
}

impl Error {
    /// A structure failed its check: says what failed and how.
    pub(crate) fn check(method: &str, what: impl fmt::Display) -> Self {
        Error::Check { what: format!("{method} {what}") }
    }

    /// A structure cannot be built in the shape asked for.
    pub(crate) fn shape(method: &'static str, source: ShapeError) -> Self {
        Error::Papers(throng_papers::error::Error::Shape { method, source })
    }
}

impl From<throng_papers::error::Error> for Error {
    fn from(error: throng_papers::error::Error) -> Self {
        Error::Papers(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Papers(error) => error.fmt(f),
            Error::Check { what } => f.write_str(what),
            Error::Report { path, why } => write!(f, "report {}: {why}", path.display()),
            Error::NothingInCommon { old, new } => write!(
                f,
                "{} and {}: no need, structure and number of threads was measured in both; compare \
                 reports of the same `--needs` and `--threads`",
                old.display(),
                new.display()
            ),
            Error::Slower { count: 1 } => write!(f, "1 structure got slower"),
            Error::Slower { count } => write!(f, "{count} structures got slower"),
            Error::Into { path, why } => write!(f, "--into {}: {why}", path.display()),
            Error::Neighbour(source) => {
                write!(f, "a process of the benchmark could not be started: {source}")
            }
            Error::Part { method, threads, beside } => write!(
                f,
                "the process that measured {method} on {} {beside} failed; the line above says why",
                count(*threads)
            ),
            Error::FirstUse { structure, method } => {
                write!(
                    f,
                    "a process that uses {structure} of {method} once failed or took for ever"
                )
            }
            Error::Listen { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "--port: {address} is in use; `--port 0` takes any port that is free")
            }
            Error::Listen { address, source } => {
                write!(f, "--bind, --port: cannot listen on {address}: {source}")
            }
            Error::Watched { what } => write!(f, "while the counter was watched: {what}"),
            Error::Spawn { threads, source } => {
                write!(f, "cannot start {threads} threads: {source}")
            }
            Error::Panicked { method, threads } => {
                write!(f, "{method} panicked on {}", count(*threads))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Papers(error) => error.source(),
            Error::Listen { source, .. }
            | Error::Spawn { source, .. }
            | Error::Neighbour(source) => Some(source),
            _ => None,
        }
    }
}

/// Returns the error for neighbours that were started, and did nothing for some seconds.
pub(crate) fn neighbours_do_not_begin() -> Error {
    Error::Neighbour(io::Error::other("neighbours do not begin; try fewer with --neighbours"))
}

/// Formats a number of threads as in "1 thread", "4 threads".
pub fn count(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
