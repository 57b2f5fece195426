//! What is measured, and how long.

use std::time::Duration;

use super::document::Pace;
use super::needs::Asked;

/// What is measured.
pub(crate) struct SurveyPlan {
    pub(crate) pace: Pace,
    pub(crate) needs: Vec<Asked>,
    pub(crate) threads: Vec<usize>,
    /// Number of repetitions, if typed.
    pub(crate) repetitions: Option<usize>,
}

impl SurveyPlan {
    /// Returns the time and the number of repetitions, for `runs` runs in a repetition.
    pub(crate) fn effort(&self, runs: usize) -> Effort {
        let usual = Effort::of(self.pace, runs);
        match self.repetitions {
            None => usual,
            Some(wanted) => Effort { least_repetitions: wanted, most_repetitions: wanted, ..usual },
        }
    }

    /// Returns the runs of one repetition: the index of a need, that of one of its entrants, and
    /// the number of threads.
    pub(crate) fn round(&self) -> Vec<(usize, usize, usize)> {
        let mut places = Vec::new();
        for (need, asked) in self.needs.iter().enumerate() {
            for &threads in &self.threads {
                for (entrant, candidate) in asked.entrants.iter().enumerate() {
                    if candidate.suits(threads) {
                        places.push((need, entrant, threads));
                    }
                }
            }
        }
        places
    }
}

/// The time of a run and bounds of the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Largest number of repetitions.
    pub(crate) most_repetitions: usize,
    /// Smallest number of repetitions, regardless of the time, unless interrupted.
    pub(crate) least_repetitions: usize,
    /// Time for all: no repetition begins that would probably end later.
    pub(crate) budget: Duration,
    /// Time of one run, without warm-up.
    pub(crate) run: Duration,
}

impl Effort {
    /// Chooses the effort for `runs` runs in a repetition.
    pub(crate) fn of(pace: Pace, runs: usize) -> Self {
        // Warm-up, starting threads, checks.
        const ASIDE_MS: u64 = 12;
        let (least, most, budget, run_ms) = match pace {
            Pace::Quick => (3, 5, 20, 5..=20),
            Pace::Usual => (3, 7, 140, 15..=80),
            Pace::Full => (11, 11, u64::MAX / 2000, 100..=100),
        };
        let usual_repetitions = (least + most) / 2;
        let a_run = budget.saturating_mul(1000) / (runs.max(1) * usual_repetitions) as u64;
        let ms = (a_run.saturating_sub(ASIDE_MS) * 4 / 5).clamp(*run_ms.start(), *run_ms.end());
        Effort {
            most_repetitions: most,
            least_repetitions: least,
            budget: Duration::from_secs(budget),
            run: Duration::from_millis(ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_fit_their_budgets() {
        for (pace, seconds) in [(Pace::Quick, 20), (Pace::Usual, 140)] {
            for runs in [10, 100, 250, 600] {
                let effort = Effort::of(pace, runs);
                assert_eq!(effort.budget.as_secs(), seconds);
                let least = effort.run * (effort.least_repetitions * runs) as u32;
                // Where even the shortest runs are too long, the budget is exceeded.
                assert!(least < effort.budget || runs == 600, "{pace:?}, {runs}: {least:?}");
            }
        }
        let full = Effort::of(Pace::Full, 600);
        assert_eq!((full.least_repetitions, full.run.as_millis()), (11, 100));
    }
}
