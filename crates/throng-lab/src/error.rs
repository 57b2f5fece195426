//! What can go wrong, in words for the person at the keyboard.

use std::fmt;
use std::io;
use std::path::PathBuf;

use throng::counter::ShapeError;

use crate::bench::verify::Wrong;

/// Why the program stopped.
#[derive(Debug)]
pub enum Error {
    /// The value of an option is not one of those allowed.
    Value {
        /// The option, with its dashes.
        option: &'static str,
        /// What was typed.
        value: String,
        /// What is allowed, to be read after "must be".
        allowed: String,
    },
    /// There is no counter of this name.
    UnknownMethod {
        /// What was typed.
        name: String,
        /// Names that were perhaps meant, best first; the nearest one where none is near.
        suggestions: Vec<&'static str>,
    },
    /// A counter cannot be built in the shape asked for.
    Shape {
        /// The counter.
        method: &'static str,
        /// What it says of the shape.
        source: ShapeError,
    },
    /// The file for the numbers cannot be opened.
    OpenJson {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder for charts cannot be made.
    OpenOut {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something could not be written.
    Write {
        /// Where to.
        to: String,
        /// What the system says.
        source: io::Error,
    },
    /// A chart cannot be drawn.
    Chart {
        /// Its title.
        title: String,
        /// What is wrong with it.
        why: String,
    },
    /// The system does not give as many threads as asked for.
    Spawn {
        /// How many were asked for.
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
    /// A counter handed out something else than 0, 1, 2, ... each once.
    Miscounted {
        /// The counter.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// What was wrong.
        wrong: Wrong,
    },
}

impl Error {
    /// 2 for a mistake in the arguments or an output that cannot be written, 1 for everything that
    /// went wrong while measuring.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Value { .. }
            | Error::UnknownMethod { .. }
            | Error::Shape { .. }
            | Error::OpenJson { .. }
            | Error::OpenOut { .. }
            | Error::Write { .. } => 2,
            Error::Chart { .. }
            | Error::Spawn { .. }
            | Error::Panicked { .. }
            | Error::Miscounted { .. } => 1,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Value { option, value, allowed } => {
                write!(f, "{option} {}: must be {allowed}", shown(value))
            }
            Error::UnknownMethod { name, suggestions } => write!(
                f,
                "--method {}: no such counter; did you mean {}? (`throng list` shows all)",
                shown(name),
                suggestions.join(" or ")
            ),
            Error::Shape { method, source } => write!(f, "{method}: {source}"),
            Error::OpenJson { path, source } => {
                write!(f, "--json {}: cannot be written: {source}", path.display())
            }
            Error::OpenOut { path, source } => {
                write!(f, "--out {}: cannot be made: {source}", path.display())
            }
            Error::Write { to, source } => write!(f, "cannot write to {to}: {source}"),
            Error::Chart { title, why } => write!(f, "the chart {title:?} cannot be drawn: {why}"),
            Error::Spawn { threads, source } => {
                write!(f, "cannot start {threads} threads: {source}")
            }
            Error::Panicked { method, threads } => {
                write!(f, "{method} panicked on {}", count(*threads))
            }
            Error::Miscounted { method, threads, wrong } => {
                write!(f, "{method} miscounted on {}: {wrong}", count(*threads))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Shape { source, .. } => Some(source),
            Error::OpenJson { source, .. }
            | Error::OpenOut { source, .. }
            | Error::Write { source, .. }
            | Error::Spawn { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// A value as typed, visible even where it is empty or has blanks or line ends in it.
fn shown(value: &str) -> String {
    let plain =
        !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "-_.,".contains(c));
    if plain { value.to_owned() } else { format!("{value:?}") }
}

/// "1 thread", "4 threads".
#[must_use]
pub fn count(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
