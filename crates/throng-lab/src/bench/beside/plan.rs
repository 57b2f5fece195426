//! What is measured, and how.

use std::time::Duration;

use super::contenders::Contender;
use super::load::Load;
use super::setting::Setting;
use crate::bench::window::Times;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Barriers.
    Barriers,
    /// Queues and pools.
    Queues,
    /// Loops.
    Loops,
}

impl Subject {
    /// Returns its name in files.
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Barriers => "barriers-beside",
            Subject::Queues => "queues-beside",
            Subject::Loops => "loop-beside",
        }
    }

    /// Returns the name of one contender.
    pub const fn kind(self) -> &'static str {
        match self {
            Subject::Barriers => "barrier",
            Subject::Queues => "queue",
            Subject::Loops => "loop",
        }
    }
}

/// The resolved arguments of a benchmark beside neighbours.
#[derive(Debug)]
pub struct BesidePlan {
    /// What is measured.
    pub subject: Subject,
    /// The loads.
    pub loads: Vec<Load>,
    /// Numbers of threads: ascending, each once.
    pub threads: Vec<usize>,
    /// The processes beside it.
    pub settings: Vec<Setting>,
    /// What is measured.
    pub contenders: Vec<Contender>,
    /// Number of repetitions, if the time allows.
    pub repetitions: usize,
    /// The times of one run.
    pub times: Times,
    /// Longest time of all runs together.
    pub budget: Duration,
}

impl BesidePlan {
    /// Returns the pairs of a load and a number of threads.
    pub fn places(&self) -> impl Iterator<Item = (Load, usize)> {
        let threads = |load: Load| load.threads(&self.threads).into_iter();
        self.loads.iter().flat_map(move |&load| threads(load).map(move |n| (load, n)))
    }

    /// Returns the number of runs in a repetition.
    pub fn runs(&self) -> usize {
        self.settings.len() * self.places().count() * self.contenders.len()
    }

    /// Returns the measured time of a run, chosen so that all repetitions fit into the time.
    pub(crate) fn time_of_a_run(&self) -> Duration {
        /// Time to start a process and its threads, and to end them.
        const OVERHEAD_MS: f64 = 15.0;
        const RUN_MS: (f64, f64) = (10.0, 200.0);
        let (places, contenders) = (self.places().count(), self.contenders.len());
        // Neighbours also run alone, once at each place; a copy does so before each run.
        let runs_at_a_place = |setting: &Setting| match setting {
            Setting::Busy(0) => contenders,
            Setting::Busy(_) => contenders + 1,
            Setting::Copy => 2 * contenders,
        };
        let runs = self.settings.iter().map(runs_at_a_place).sum::<usize>() * places;
        let slot_ms = self.budget.as_secs_f64() * 1e3 / (runs * self.repetitions).max(1) as f64;
        // The warm-up takes half as long again.
        let ms = ((slot_ms - OVERHEAD_MS) / 1.5).clamp(RUN_MS.0, RUN_MS.1);
        Duration::from_millis(ms as u64)
    }
}
