//! What is measured, and how.

use std::time::Duration;

use super::mixes::Mix;
use super::rows::Row;

/// The resolved arguments of `throng bench queues`.
#[derive(Debug)]
pub struct QueuesPlan {
    /// The queues; the first one is the reference.
    pub rows: Vec<Row>,
    /// The workloads.
    pub mixes: Vec<Mix>,
    /// Numbers of threads: ascending, each once.
    pub threads: Vec<usize>,
    /// Number of repetitions of each run.
    pub repetitions: usize,
    /// Time of one run.
    pub time: Duration,
    /// Upper bound of a thread's random work before each push and each pop, in nanoseconds; the
    /// lower bound is 0.
    pub work_ns: u32,
}

impl QueuesPlan {
    /// Returns the runs of one repetition.
    pub fn round(&self) -> impl Iterator<Item = (Mix, usize, &Row)> {
        let places = self.mixes.iter().flat_map(|&mix| self.threads.iter().map(move |&n| (mix, n)));
        let all =
            places.flat_map(|(mix, threads)| self.rows.iter().map(move |row| (mix, threads, row)));
        all.filter(|(mix, threads, row)| row.suits(*mix, *threads))
    }
}
