//! `throng compare`: what got faster or slower between two surveys, beyond their noise.
//!
//! For every need, entrant and number of threads that both have, it computes the ratio of the
//! medians as *times as good*: above 1 is better, whatever the unit.
//!
//! # The machine
//! The peers are the control group: they are the same for two versions of this library. The median
//! of their ratios is the *drift* of the machine (it is another one, or busier, or warmer), and all
//! else is judged relative to it. With less than 5 cells of peers no drift is taken off.
//!
//! # Beyond noise
//! A cell counts as faster or slower if all of these hold; two reports of the same program on a noisy
//! machine should not differ:
//!
//! 1. *It is large.* Relative to the drift it is at least `--least` percent (10), and more than 3
//!    times the median change of the peers: where unchanged peers differ by 20 %, the rest may, too.
//! 2. *Its runs differ.* By the exact rank-sum test of its runs before and now, their order has a
//!    probability of at most 1 in 20. With 3 runs a side that means that they do not overlap.
//! 3. *It is no accident among hundreds.* One in 20 is common among 300 cells, so neighbours must
//!    agree. In some stretch of neighbouring numbers of threads (this cell alone is one, too), the
//!    ranks of all cells are combined. Their probability must be small enough for one false alarm in
//!    20 comparisons of whole reports. That is Bonferroni's correction over all stretches of all
//!    entrants, without those that have too few runs to raise an alarm at all (Tarone 1990).
//!
//! Noise is not assumed to be normal, or alike from cell to cell. The assumption is that all orders
//! of a cell's runs are equally likely, as long as nothing but the drift has changed. Another
//! program that runs during all runs of one cell and its neighbours, and at no other time, violates
//! that. The first rule is what remains then.
//!
//! # What can be found with few runs
//! Assume 60 entrants on 5 numbers of threads each, and a change that separates all runs of now from
//! those of before. It is reported
//!
//! | runs a side | if it is on this many neighbouring numbers of threads, or more |
//! |---:|---|
//! | 1 | not at all |
//! | 2 | 5 |
//! | 3 | 4 |
//! | 4 | 3 |
//! | 5 to 8 | 2 |
//! | 9 and more | 1 |
//!
//! A cell that looks changed by the first two rules and has too few runs for the third is
//! *unclear*: counted and in the JSON, but no alarm.
//!
//! # How often it is wrong
//! The numbers are false alarms of 1000 comparisons of simulated reports of 300 cells that differ
//! by noise alone: 11 with 3 runs a side and noise of 5 %; 7 with 5 runs and 5 %; 9 with 5 runs, 20
//! %, and one run in 10 up to three times as long; 31 with 9 runs, 10 %, and one in 20; 20 with 5
//! runs and 30 % where there are no peers and no least change, so that ranks alone decide.

pub mod judge;
pub(crate) mod text;

use serde::Serialize;

use crate::survey::document::{Pace, Survey};
use judge::{Judged, Verdict, judge};

/// Default of `--least`: changes below this many percent do not count.
pub(crate) const LEAST_PERCENT: f64 = 10.0;

/// Two surveys compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The survey before.
    pub old: Side,
    /// The survey now.
    pub new: Side,
    /// Warnings, a sentence each.
    pub warnings: Vec<String>,
    /// How many cells there are of each kind.
    pub counts: Counts,
    /// Number of this library's structures that got slower.
    pub slower_structures: usize,
    /// The judged cells.
    #[serde(flatten)]
    pub judged: Judged,
}

/// One of the two surveys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Side {
    /// The version of this program.
    pub throng: String,
    /// The day.
    pub date: String,
    /// How thorough it was.
    pub pace: Pace,
    /// The machine, in words.
    pub machine: String,
}

/// How many cells there are of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Better than before, beyond noise.
    pub faster: usize,
    /// Worse.
    pub slower: usize,
    /// As before.
    pub unchanged: usize,
    /// Too few runs to tell.
    pub unclear: usize,
    /// Only before.
    pub only_old: usize,
    /// Only now.
    pub only_new: usize,
}

impl Comparison {
    /// Compares two surveys. Changes below `least_percent` do not count.
    pub fn of(old: &Survey, new: &Survey, least_percent: f64) -> Self {
        let judged = judge(old, new, least_percent);
        let counts = Counts {
            faster: judged.count(Verdict::Faster),
            slower: judged.count(Verdict::Slower),
            unchanged: judged.count(Verdict::Unchanged),
            unclear: judged.count(Verdict::Unclear),
            only_old: judged.only_old.len(),
            only_new: judged.only_new.len(),
        };
        Comparison {
            old: Side::of(old),
            new: Side::of(new),
            warnings: warnings(old, new),
            counts,
            slower_structures: judged.slower_of_ours(),
            judged,
        }
    }
}

impl Side {
    fn of(survey: &Survey) -> Self {
        Side {
            throng: survey.throng.clone(),
            date: survey.date.clone(),
            pace: survey.pace,
            machine: survey.setup.in_words(),
        }
    }
}

/// Returns warnings about differences that make two surveys hard to compare.
fn warnings(old: &Survey, new: &Survey) -> Vec<String> {
    let mut warnings = Vec::new();
    let machine = |survey: &Survey| {
        let setup = &survey.setup;
        (setup.processor.clone(), setup.cores, setup.pinned)
    };
    if machine(old) != machine(new) {
        warnings.push(
            "The two are not of the same machine, and what suits one need not suit the other: differences \
             may come from there."
                .to_owned(),
        );
    }
    if old.pace != new.pace {
        warnings.push(format!(
            "The old one was measured at the pace `{}`, the new one at `{}`: runs of another length.",
            old.pace.in_words(),
            new.pace.in_words(),
        ));
    }
    for (name, survey) in [("old", old), ("new", new)] {
        if !survey.complete {
            warnings.push(format!("The {name} one was ended early: the rest is not compared."));
        }
    }
    warnings
}

#[cfg(test)]
mod tests;
