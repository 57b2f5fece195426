//! What can go wrong, in words for the person who typed the command.

use std::fmt;
use std::io;
use std::path::PathBuf;

use throng::structures::counter::ShapeError;
use throng_sim::SimError;

/// Why a figure, a simulation or an output failed.
#[derive(Debug)]
pub enum Error {
    /// The value of an option is not one of those allowed.
    Value {
        /// The option, with its dashes.
        option: &'static str,
        /// What was typed.
        value: String,
        /// The allowed values, to be read after "must be".
        allowed: String,
    },
    /// There is no such name.
    UnknownName {
        /// The option, with its dashes, or what stands in its place.
        option: &'static str,
        /// What was typed.
        name: String,
        /// The kind of thing that should have this name.
        kind: &'static str,
        /// Names that were perhaps meant, best first; the nearest one where none is near.
        suggestions: Vec<String>,
        /// Where to find all names.
        hint: &'static str,
    },
    /// A file does not describe a machine.
    MachineFile {
        /// The file.
        path: PathBuf,
        /// The mistake; may have several lines.
        why: String,
    },
    /// A script of faults cannot be parsed, or is impossible on this machine.
    Faults {
        /// What is wrong with it.
        why: String,
    },
    /// A file for results cannot be written.
    OpenOutput {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder for results cannot be made, or nothing be written in it.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A counter cannot be built in the requested shape.
    Shape {
        /// The counter.
        method: &'static str,
        /// What it says of the shape.
        source: ShapeError,
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
    /// A requested simulation cannot be set up.
    Simulation {
        /// What the simulator says.
        source: SimError,
    },
    /// A simulated run was aborted at its limit of steps.
    StepLimit {
        /// The counter.
        method: &'static str,
        /// The machine.
        machine: String,
        /// The limit.
        limit: u64,
        /// Number of processors that had not finished.
        unfinished: usize,
        /// Its progress, in words.
        done: String,
        /// The command that shows it again.
        replay: String,
    },
    /// A simulated run failed: it miscounted, got stuck or panicked.
    SimulatedRun {
        /// The counter.
        method: &'static str,
        /// The machine.
        machine: String,
        /// Number of processors.
        processors: usize,
        /// What decided all that was random.
        seed: u64,
        /// What went wrong.
        what: String,
        /// The command that shows it again.
        replay: String,
    },
    /// A run on a simulated network could not be set up or failed: it miscounted, got stuck or
    /// panicked.
    NetworkRun {
        /// The counter.
        structure: String,
        /// The network.
        network: String,
        /// How many clients it had.
        clients: usize,
        /// What decided all that was random.
        seed: u64,
        /// What went wrong.
        what: String,
        /// The command that shows it again.
        replay: String,
    },
}

impl Error {
    /// Returns the exit code of a program that ends with this error. 2: other arguments help, or an output cannot be
    /// written. 1: a run failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::SimulatedRun { .. } | Error::NetworkRun { .. } | Error::Chart { .. } => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Value { option, value, allowed } => {
                write!(f, "{option} {}: must be {allowed}", shown(value))
            }
            Error::UnknownName { option, name, kind, suggestions, hint } => write!(
                f,
                "{option} {}: no such {kind}; did you mean {}? ({hint})",
                shown(name),
                suggestions.join(" or ")
            ),
            Error::MachineFile { path, why } => write!(f, "machine {}: {why}", path.display()),
            Error::Faults { why } => write!(f, "--fault: {why}"),
            Error::Folder { path, source } => {
                write!(f, "--out {}: cannot be written: {source}", path.display())
            }
            Error::Shape { method, source } => write!(f, "{method}: {source}"),
            Error::OpenOutput { option, path, source } => write!(
                f,
                "{option} {}: cannot be written: {source}; choose another file with {option} FILE",
                path.display()
            ),
            Error::Write { to, source } => write!(f, "cannot write to {to}: {source}"),
            Error::Chart { title, why } => write!(f, "the chart {title:?} cannot be drawn: {why}"),
            Error::Simulation { source: source @ SimError::NoStack { .. } } => {
                write!(f, "{source}; `--processors` and `--nodes` say how many there are")
            }
            Error::Simulation { source } => write!(f, "{source}"),
            Error::StepLimit { method, machine, limit, unfinished, done, replay } => write!(
                f,
                "{method} on {machine}: not over after {limit} steps, with {done} \
                 and {unfinished} processor{} unfinished; `--steps` sets the limit; to \
                 see it again: {replay}",
                if *unfinished == 1 { "" } else { "s" }
            ),
            Error::SimulatedRun { method, machine, processors, seed, what, replay } => write!(
                f,
                "{method} failed on {machine} with {processors} processor{} and seed {seed}: \
                 {what}; to see it again: {replay}",
                if *processors == 1 { "" } else { "s" }
            ),
            Error::NetworkRun { structure, network, clients, seed, what, replay } => write!(
                f,
                "{structure} failed on a {network} with {clients} client{} and seed {seed}: {what}; \
                 to see it again: {replay}",
                if *clients == 1 { "" } else { "s" }
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Shape { source, .. } => Some(source),
            Error::Simulation { source } => Some(source),
            Error::OpenOutput { source, .. }
            | Error::Folder { source, .. }
            | Error::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Quotes a typed value where it is empty or has blanks or line ends in it.
fn shown(value: &str) -> String {
    let plain =
        !value.is_empty() && value.chars().all(|c| c.is_alphanumeric() || "-_.,".contains(c));
    if plain { value.to_owned() } else { format!("{value:?}") }
}
