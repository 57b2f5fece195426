//! The arguments of benchmarks whose runs are processes: beside neighbours, and of first uses.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Options of `throng bench barriers`, `queues` and `loop` for a measurement beside neighbours.
#[derive(Debug, Default, Args)]
pub struct BesideArguments {
    /// Measure beside other busy processes, such as 0,4,8,copy [without a value: 0, a quarter, half, one and
    /// two times the cores, and copy]
    ///
    /// A number: that many processes compute without end. copy: a second process runs the same benchmark.
    /// Every run is a process of its own and no thread is pinned. Reports the time of an operation and its
    /// 99th percentile, how many cores were kept busy, and which part of their speed the neighbours kept.
    #[arg(
        long,
        value_name = "LIST",
        num_args = 0..=1,
        default_missing_value = "usual",
        allow_negative_numbers = true
    )]
    pub neighbours: Option<String>,

    /// With `--neighbours`: how many seconds the measurement may take in all; decides how long each run is and
    /// ends the repetitions [default: 300, quick: 60]
    #[arg(long, value_name = "S", requires = "neighbours", allow_negative_numbers = true)]
    pub seconds: Option<String>,

    /// With `--neighbours`: write every single run to this file as CSV
    #[arg(long, value_name = "FILE", requires = "neighbours")]
    pub csv: Option<PathBuf>,
}

/// Arguments of `throng bench start`.
#[derive(Debug, Default, Args)]
pub struct StartArguments {
    /// Fewer processes
    #[arg(long)]
    pub quick: bool,

    /// Measure only these structures [default: all]
    ///
    /// barrier-2 and barrier-16 (a barrier for that many threads), queue-bounded (16 items), queue-unbounded,
    /// counter, pool.
    #[arg(long, value_name = "LIST")]
    pub only: Option<String>,

    /// In how many processes each is measured [default: 200, quick: 40]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

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
