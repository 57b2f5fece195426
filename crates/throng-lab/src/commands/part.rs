//! `throng part`: one part of a benchmark, in a process of its own. `throng bench` starts it by itself.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::bench::beside::neighbours::compute;
use crate::bench::beside::part;
use crate::bench::start;
use crate::bench::window::Times;
use crate::error::Error;

/// A part of a benchmark that is a process of its own. It ends when its standard input ends.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// Compute, and write how far that has come to standard output, which is a file
    Neighbour {
        /// End after this many seconds at the latest
        seconds: u64,
    },
    /// Measure one method under one load
    Run(RunArguments),
    /// Make one structure and use it once
    Start {
        /// The structure
        structure: String,
        /// Whose
        method: String,
    },
}

/// Arguments of the part `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The load, as text
    pub load: String,
    /// The method
    pub method: String,
    /// On how many threads
    pub threads: usize,
    /// How long it runs before it is measured
    #[arg(long, value_name = "US")]
    pub warm_up_us: u64,
    /// How long it is measured
    #[arg(long, value_name = "US")]
    pub measure_us: u64,
    /// Run for this many seconds instead, and write how far that has come to standard output, which is a
    /// file
    #[arg(long, value_name = "S")]
    pub endless: Option<u64>,
}

/// Runs the part of a benchmark that this process was started for.
///
/// # Errors
/// When a structure fails its check, threads cannot be started, or the part is unknown.
pub fn run(typed: &Part) -> Result<(), Error> {
    match typed {
        Part::Neighbour { seconds } => compute(Duration::from_secs(*seconds)),
        Part::Run(typed) => part::run(&part::Asked {
            load: &typed.load,
            method: &typed.method,
            threads: typed.threads,
            times: Times {
                warm_up: Duration::from_micros(typed.warm_up_us),
                measure: Duration::from_micros(typed.measure_us),
            },
            endless: typed.endless,
        }),
        Part::Start { structure, method } => start::part(structure, method),
    }
}
