//! What is measured, and how.

use std::time::Duration;

use super::rows::Row;
use crate::threads::cores;

/// The quantity to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The time of a round.
    Rounds {
        /// The time of one run.
        time: Duration,
        /// The number of rounds, instead of the time.
        rounds: Option<u64>,
    },
    /// The cost of waiting for a late thread.
    Idle {
        /// The delay of the late thread.
        late: Duration,
    },
}

/// The resolved arguments of `throng bench barriers`.
#[derive(Debug)]
pub struct BarriersPlan {
    /// The barriers; the first one is the reference.
    pub rows: Vec<Row>,
    /// Numbers of threads: ascending, each once.
    pub threads: Vec<usize>,
    /// The quantity to measure.
    pub question: Question,
    /// Number of repetitions of each run.
    pub repetitions: usize,
}

impl BarriersPlan {
    /// Returns the runs of one repetition.
    pub fn round(&self) -> impl Iterator<Item = (&Row, usize)> {
        let cores = cores();
        let all =
            self.threads.iter().flat_map(|&threads| self.rows.iter().map(move |r| (r, threads)));
        all.filter(move |(row, threads)| row.suits(*threads, cores))
    }
}
