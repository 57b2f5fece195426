//! What can go wrong, in words for the person at the keyboard.

use std::fmt;
use std::io;
use std::path::PathBuf;

use throng::counter::ShapeError;
use throng_sim::SimError;

use crate::bench::barriers::witness::Early;
use crate::bench::index::work::NotOnce;
use crate::bench::queues::check::Wrong as WrongItems;
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
    /// There is nothing of this name.
    UnknownName {
        /// The option, with its dashes, or what stands in its place.
        option: &'static str,
        /// What was typed.
        name: String,
        /// What it should be the name of.
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
        /// What is wrong with it; may have several lines.
        why: String,
    },
    /// A file is not what `throng bench --json` has written.
    Report {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A script of faults cannot be understood, or makes no sense on this machine.
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
    /// Two reports have nothing in common, so that there is nothing to compare.
    NothingInCommon {
        /// The report of before.
        old: PathBuf,
        /// The one of now.
        new: PathBuf,
    },
    /// No mistake, but what was found: something got slower.
    Slower {
        /// So many structures of this library.
        count: usize,
    },
    /// A file has no place for the table of a report, or cannot be read.
    Into {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A folder for results cannot be made, or nothing be written in it.
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A counter cannot be built in the shape asked for.
    Shape {
        /// The counter.
        method: &'static str,
        /// What it says of the shape.
        source: ShapeError,
    },
    /// A process of a benchmark cannot be started.
    Neighbour(
        /// What the system says.
        io::Error,
    ),
    /// A process that was measured failed, and has said why.
    Part {
        /// What it measured.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// Beside what, such as "beside 3 busy neighbours".
        beside: String,
    },
    /// A fresh process could not make a structure and use it once.
    FirstUse {
        /// What it should have made.
        structure: &'static str,
        /// Whose.
        method: &'static str,
    },
    /// The page of `throng watch` cannot be served where it should be.
    Listen {
        /// The address, with its port.
        address: String,
        /// What the system says.
        source: io::Error,
    },
    /// What `throng watch` showed went wrong.
    Watched {
        /// What went wrong.
        what: String,
    },
    /// The file for the numbers cannot be opened.
    OpenJson {
        /// The file.
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
    /// A simulation cannot be set up as asked for.
    Simulation {
        /// What the simulator says.
        source: SimError,
    },
    /// A simulated run was broken off at its limit of steps.
    StepLimit {
        /// The counter.
        method: &'static str,
        /// The machine.
        machine: String,
        /// The limit.
        limit: u64,
        /// How many processors had not finished.
        unfinished: usize,
        /// How far it had come, in words.
        done: String,
        /// The command that shows it again.
        replay: String,
    },
    /// A simulated run went wrong: it miscounted, got stuck or panicked.
    SimulatedRun {
        /// The counter.
        method: &'static str,
        /// The machine.
        machine: String,
        /// How many processors it had.
        processors: usize,
        /// What decided all that was random.
        seed: u64,
        /// What went wrong.
        what: String,
        /// The command that shows it again.
        replay: String,
    },
    /// A run on a simulated network could not be made or went wrong: it miscounted, got stuck or
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
    /// A barrier let a thread out of a round before all had come to it.
    LetThrough {
        /// The barrier.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// Who saw it.
        early: Early,
    },
    /// Other items came out of a queue than went in, or in another order.
    Mixed {
        /// The queue.
        method: &'static str,
        /// The mix or the case, such as "the mix even".
        load: String,
        /// On how many threads.
        threads: usize,
        /// What was wrong.
        wrong: WrongItems,
    },
    /// Threads wait at a queue for ever.
    Stuck {
        /// The queue.
        method: &'static str,
        /// The mix or the case, such as "the mix even".
        load: String,
        /// On how many threads.
        threads: usize,
        /// So many of them.
        left: usize,
    },
    /// A plate has other temperatures than one computed on one thread.
    Differs {
        /// How the threads waited for each other.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// How many cells the plate has on a side.
        size: usize,
    },
    /// In a loop, an index was left out or done twice.
    NotOnce {
        /// Who shared it out.
        method: &'static str,
        /// On how many threads.
        threads: usize,
        /// Which index.
        wrong: NotOnce,
    },
}

impl Error {
    /// 2 for what other arguments can change (a mistake in them, too many processors for this
    /// system, too few steps) and an output that cannot be written, 1 for everything that went
    /// wrong while measuring, 3 where nothing went wrong but something got slower.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Value { .. }
            | Error::UnknownName { .. }
            | Error::MachineFile { .. }
            | Error::Report { .. }
            | Error::NothingInCommon { .. }
            | Error::Into { .. }
            | Error::Faults { .. }
            | Error::Folder { .. }
            | Error::Shape { .. }
            | Error::OpenJson { .. }
            | Error::OpenOutput { .. }
            | Error::Listen { .. }
            | Error::Write { .. }
            | Error::StepLimit { .. }
            | Error::Simulation { .. } => 2,
            Error::SimulatedRun { .. }
            | Error::NetworkRun { .. }
            | Error::Chart { .. }
            | Error::Watched { .. }
            | Error::Spawn { .. }
            | Error::Neighbour(_)
            | Error::Part { .. }
            | Error::FirstUse { .. }
            | Error::Panicked { .. }
            | Error::Miscounted { .. }
            | Error::LetThrough { .. }
            | Error::Mixed { .. }
            | Error::Stuck { .. }
            | Error::Differs { .. }
            | Error::NotOnce { .. } => 1,
            Error::Slower { .. } => 3,
        }
    }

    /// Whether nothing went wrong, and this is what was found.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        matches!(self, Error::Slower { .. })
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
            Error::Faults { why } => write!(f, "--fault: {why}"),
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
            Error::Folder { path, source } => {
                write!(f, "--out {}: cannot be written: {source}", path.display())
            }
            Error::Shape { method, source } => write!(f, "{method}: {source}"),
            Error::OpenJson { path, source } => {
                write!(f, "--json {}: cannot be written: {source}", path.display())
            }
            Error::OpenOutput { option, path, source } => write!(
                f,
                "{option} {}: cannot be written: {source}; choose another file with {option} FILE",
                path.display()
            ),
            Error::Listen { address, source } if source.kind() == io::ErrorKind::AddrInUse => {
                write!(f, "--port: {address} is in use; `--port 0` takes any port that is free")
            }
            Error::Listen { address, source } => {
                write!(f, "--bind, --port: cannot listen on {address}: {source}")
            }
            Error::Watched { what } => write!(f, "while the counter was watched: {what}"),
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
            Error::Spawn { threads, source } => {
                write!(f, "cannot start {threads} threads: {source}")
            }
            Error::Panicked { method, threads } => {
                write!(f, "{method} panicked on {}", count(*threads))
            }
            Error::Miscounted { method, threads, wrong } => {
                write!(f, "{method} miscounted on {}: {wrong}", count(*threads))
            }
            Error::LetThrough { method, threads, early } => {
                write!(f, "{method} did not hold on {}: {early}", count(*threads))
            }
            Error::Mixed { method, load, threads, wrong } => {
                write!(f, "{method} failed in {load} on {}: {wrong}", count(*threads))
            }
            Error::Stuck { method, load, threads, left } => write!(
                f,
                "{method} failed in {load} on {}: {left} of them still wait, long after the \
                 end; an item was lost",
                count(*threads)
            ),
            Error::Differs { method, threads, size } => write!(
                f,
                "heat on {size} x {size} cells with {method} on {}: not the result of one thread",
                count(*threads)
            ),
            Error::NotOnce { method, threads, wrong } => {
                write!(f, "{method} shared out a loop wrongly on {}: {wrong}", count(*threads))
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Shape { source, .. } => Some(source),
            Error::Simulation { source } => Some(source),
            Error::OpenJson { source, .. }
            | Error::OpenOutput { source, .. }
            | Error::Folder { source, .. }
            | Error::Listen { source, .. }
            | Error::Write { source, .. }
            | Error::Spawn { source, .. }
            | Error::Neighbour(source) => Some(source),
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

/// The neighbours of a benchmark were started, and did nothing for some seconds.
pub(crate) fn neighbours_do_not_begin() -> Error {
    Error::Neighbour(io::Error::other("neighbours do not begin; try fewer with --neighbours"))
}

/// "1 thread", "4 threads".
#[must_use]
pub fn count(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
