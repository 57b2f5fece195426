//! The options of `throng bench barriers`, `queues` and `loop` for a measurement beside neighbours.

use std::path::PathBuf;

use clap::Args;

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
