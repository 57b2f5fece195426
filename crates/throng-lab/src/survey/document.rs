//! The results of a survey as data: written as JSON, drawn on the page, and compared.

use serde::{Deserialize, Serialize};

use crate::bench::latency::Latency;
use crate::bench::setup::Setup;
use crate::calibrate::{Calibration, Validation};

/// All results of a survey of a machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Survey {
    /// The version of this program.
    pub throng: String,
    /// Always `survey`, to tell such a file from others.
    pub benchmark: String,
    /// The length of the survey.
    pub pace: Pace,
    /// Whether it finished. Otherwise it was interrupted, and the rest is missing.
    pub complete: bool,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The day, as 2026-11-16.
    pub date: String,
    /// The machine.
    pub setup: Setup,
    /// The groups of cores that share a cache or the like.
    pub layout: Layout,
    /// The measured results, need by need.
    pub needs: Vec<Need>,
    /// Times of line transfers from core to core, where measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
    /// The differences between measured results and a simulated machine, made from the calibration
    /// alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

/// The length of a survey.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// Under 30 seconds on 2 cores.
    Quick,
    /// Under 3 minutes on 2 cores.
    Usual,
    /// Without a limit.
    Full,
}

impl Pace {
    /// Returns the word for it, as its option has it.
    pub const fn in_words(self) -> &'static str {
        match self {
            Pace::Quick => "quick",
            Pace::Usual => "usual",
            Pace::Full => "full",
        }
    }
}

/// The cores of a machine, as groups within groups.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// Number of threads that can run at once.
    pub processors: usize,
    /// Number of cores in a group that shares something, from the smallest groups to the largest.
    pub groups: Vec<usize>,
    /// The system's numbers of the cores, in an order in which neighbours stand together. Empty
    /// where that is not known.
    pub cores: Vec<usize>,
}

/// A need of programs, and the entrants for it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Need {
    /// A word for it, as typed on a command line.
    pub name: String,
    /// The need in a few plain words.
    pub title: String,
    /// What was measured, in a sentence or two.
    pub workload: String,
    /// Unit of the numbers.
    pub unit: Unit,
    /// The usual choice: the entrant that most programs use today.
    pub usual: String,
    /// All entrants measured.
    pub entrants: Vec<Entrant>,
    /// The recommendation, if enough was measured for one.
    pub advice: Option<Advice>,
}

/// Unit of the numbers of a need.
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
    /// Returns whether more is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Unit::MillionPerSecond)
    }

    /// Returns the ratio of `this` to `that`; above 1 is better, whatever the unit.
    pub fn times_as_good(self, this: f64, that: f64) -> f64 {
        if self.more_is_better() { this / that } else { that / this }
    }

    /// Returns the unit in words.
    pub const fn in_words(self) -> &'static str {
        match self {
            Unit::MillionPerSecond => "million a second",
            Unit::NanosecondsARound => "nanoseconds a round",
            Unit::MicrosecondsALoop => "microseconds a loop",
        }
    }
}

/// An alternative measured for a need.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Entrant {
    /// Its name, as the tables have it.
    pub name: String,
    /// The name to write in a program, such as `throng::Counter`.
    pub code: String,
    /// Its origin.
    pub whose: Whose,
    /// Whether it holds a limited number of items, if it is a queue. Not in older reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounded: Option<bool>,
    /// One cell for each number of threads measured.
    pub cells: Vec<Cell>,
}

/// The origin of an entrant.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Whose {
    /// Of this library, and recommended as a default.
    Ours,
    /// Of this library, but not a default: a method of the papers.
    Method,
    /// Of another library.
    Peer,
}

/// An entrant on one number of threads.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cell {
    /// Number of threads.
    pub threads: usize,
    /// The median of the runs.
    pub median: f64,
    /// The smallest run.
    pub min: f64,
    /// The largest run.
    pub max: f64,
    /// All runs, in the order in which they were made.
    pub runs: Vec<f64>,
    /// The latency of a call, sampled in separate runs. Queues and pools only; absent in older
    /// reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Latency>,
}

/// The recommendation for a need on this machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Advice {
    /// The entrant.
    pub pick: String,
    /// The name to write in a program.
    pub code: String,
    /// Its gain over the usual entrant, by number of threads.
    pub gains: Vec<Gain>,
    /// The recommendation in plain words.
    pub words: String,
}

/// The gain on one number of threads.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Gain {
    /// Number of threads.
    pub threads: usize,
    /// Ratio to the usual entrant; above 1 is better.
    pub times: f64,
    /// Whether that is more than the runs differ among themselves.
    pub beyond_noise: bool,
}

impl Need {
    /// Returns the entrant of this name.
    pub fn entrant(&self, name: &str) -> Option<&Entrant> {
        self.entrants.iter().find(|entrant| entrant.name == name)
    }

    /// Returns all numbers of threads measured, ascending.
    pub fn threads(&self) -> Vec<usize> {
        let cells = self.entrants.iter().flat_map(|entrant| &entrant.cells);
        let mut all: Vec<usize> = cells.map(|cell| cell.threads).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Entrant {
    /// Returns whether the two promise the same: a queue that holds a limited number of items is not compared with one that
    /// takes any number.
    pub fn compares_with(&self, other: &Entrant) -> bool {
        self.bounded.zip(other.bounded).is_none_or(|(ours, theirs)| ours == theirs)
    }

    /// Returns the cell of this number of threads, where measured.
    pub fn on(&self, threads: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.threads == threads)
    }
}
