//! What a survey found, as data: what is written as JSON, drawn on the page, and compared.

use serde::{Deserialize, Serialize};

use crate::bench::latency::Latency;
use crate::bench::setup::Setup;
use crate::calibrate::{Calibration, Validation};

/// All that a survey of a machine found.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Survey {
    /// The version of this program.
    pub throng: String,
    /// Always `survey`, to tell such a file from others.
    pub benchmark: String,
    /// How thorough it was.
    pub pace: Pace,
    /// Whether it came to its end; else somebody ended it early, and the rest is missing.
    pub complete: bool,
    /// How long it took.
    pub seconds: f64,
    /// The day, as 2026-11-16.
    pub date: String,
    /// The machine.
    pub setup: Setup,
    /// Who shares a cache with whom.
    pub layout: Layout,
    /// What was measured, need by need.
    pub needs: Vec<Need>,
    /// How long lines take from core to core, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// How far a simulated machine, made from the calibration alone, is from what was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

/// How thorough a survey is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Under 30 seconds on 2 cores.
    Quick,
    /// Under 3 minutes on 2 cores.
    Usual,
    /// As long as it takes.
    Full,
}

/// The cores of a machine, as groups within groups.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// How many threads can run at once.
    pub processors: usize,
    /// How many cores are in a group that shares something, from the smallest groups to the largest.
    pub groups: Vec<usize>,
    /// The system's numbers of the cores, in an order in which neighbours stand together; empty where that
    /// is not known.
    pub cores: Vec<usize>,
}

/// What somebody may need, and what there is for it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Need {
    /// A word for it, as typed on a command line.
    pub name: String,
    /// In a few plain words.
    pub title: String,
    /// What was measured, in a sentence or two.
    pub workload: String,
    /// What the numbers are.
    pub unit: Unit,
    /// The entrant that most would use today.
    pub usual: String,
    /// All that was measured.
    pub entrants: Vec<Entrant>,
    /// What to use, if enough was measured to tell.
    pub advice: Option<Advice>,
}

/// What the numbers of a need are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Million values or items a second: more is better.
    MillionPerSecond,
    /// Nanoseconds a round: less is better.
    NanosecondsARound,
    /// Microseconds a loop: less is better.
    MicrosecondsALoop,
}

impl Unit {
    /// Whether more is better.
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Unit::MillionPerSecond)
    }

    /// How many times as good `this` is as `that`; above 1 is better, whatever the unit.
    #[must_use]
    pub fn times_as_good(self, this: f64, that: f64) -> f64 {
        if self.more_is_better() { this / that } else { that / this }
    }

    /// In words.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Unit::MillionPerSecond => "million a second",
            Unit::NanosecondsARound => "nanoseconds a round",
            Unit::MicrosecondsALoop => "microseconds a loop",
        }
    }
}

/// One thing that was measured for a need.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Entrant {
    /// Its name, as the tables have it.
    pub name: String,
    /// What to write in a program to have it, such as `throng::Counter`.
    pub code: String,
    /// Whose it is.
    pub whose: Whose,
    /// One for each number of threads that it was measured on.
    pub cells: Vec<Cell>,
}

/// Whose something is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// Of this library, and what it recommends to those who do not want to choose.
    Ours,
    /// Of this library, for those who do: a method of the papers.
    Method,
    /// Of others.
    Peer,
}

/// An entrant on one number of threads.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cell {
    /// How many.
    pub threads: usize,
    /// The middle of the runs.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// All of them, in the order in which they were made.
    pub runs: Vec<f64>,
    /// The latency of a call, sampled in runs of its own; of queues and pools, not in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// What to use for a need on this machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Advice {
    /// The entrant.
    pub pick: String,
    /// What to write in a program to have it.
    pub code: String,
    /// How many times as good it is as what most would use, by number of threads.
    pub gains: Vec<Gain>,
    /// In plain words.
    pub words: String,
}

/// How much is gained on one number of threads.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Gain {
    /// How many.
    pub threads: usize,
    /// So many times as good as the usual.
    pub times: f64,
    /// Whether that is more than what the runs differ among themselves.
    pub beyond_noise: bool,
}

impl Need {
    /// The entrant of this name.
    #[must_use]
    pub fn entrant(&self, name: &str) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// All numbers of threads that something was measured on, ascending.
    #[must_use]
    pub fn threads(&self) -> Vec<usize> {
        let cells = self.entrants.iter().flat_map(|entrant| &entrant.cells);
        let mut all: Vec<usize> = cells.map(|cell| cell.threads).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Entrant {
    /// On so many threads, where that was measured.
    #[must_use]
    pub fn on(&self, threads: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.threads == threads)
    }
}
