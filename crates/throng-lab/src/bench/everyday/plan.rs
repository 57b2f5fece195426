//! What is measured, and how.

use std::time::Duration;

use super::beside::Beside;
use super::cases::Case;
use super::contenders::{Contender, Row};
use super::groups::Group;
use crate::bench::window::Times;

/// The resolved arguments of `throng bench everyday`.
#[derive(Debug)]
pub struct EverydayPlan {
    /// The cases.
    pub cases: Vec<Case>,
    /// The contenders.
    pub contenders: Vec<Contender>,
    /// Numbers of other programs, for comparison.
    pub beside: Option<Beside>,
    /// Number of repetitions of each run.
    pub repetitions: usize,
    /// Time of one run.
    pub time: Duration,
    /// Depth of trees of jobs. [`None`]: as deep as the time allows.
    pub depth: Option<u32>,
}

impl EverydayPlan {
    /// Returns the runs of one repetition: all contenders of a case in turn.
    pub fn round(&self) -> impl Iterator<Item = (&Case, &Contender)> {
        let all = |case| self.contenders.iter().map(move |contender| (case, contender));
        self.cases.iter().flat_map(all).filter(|(case, contender)| contender.suits(case))
    }

    /// Returns the rows of the summary.
    pub fn rows(&self) -> Vec<Row> {
        let beside = self.beside.iter().flat_map(|beside| beside.rows.iter().cloned());
        self.contenders.iter().map(Row::of).chain(beside).collect()
    }

    /// Returns the times of a run of this case.
    pub fn times(&self, case: &Case) -> Times {
        match case.group {
            // One thread is disturbed by little: short runs are enough.
            Group::Single => Times { warm_up: Duration::ZERO, measure: self.time / 8 },
            _ => Times { warm_up: self.time / 4, measure: self.time },
        }
    }
}
