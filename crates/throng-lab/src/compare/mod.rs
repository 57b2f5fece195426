//! `throng compare`: what got faster or slower between two surveys, beyond their noise.
//!
//! For every need, entrant and number of threads that both have, the ratio of the medians as *times as good*:
//! above 1 is better, whatever the unit.
//!
//! # The machine
//! The peers are the control group: nobody changes them between two versions of this library. The median
//! of their ratios is the *drift* of the machine (it is another one, or busier, or warmer), and everything is
//! judged beside it. With less than 5 cells of peers no drift is known, and none is taken off.
//!
//! # Beyond noise
//! A cell counts as faster or slower if all of these hold; two reports of the same program on a noisy
//! machine should not differ:
//!
//! 1. *It is large.* Beside the drift it is at least `--least` percent (10), and more than 3 times the
//!    change that half of the peers stay below: where what nobody changed differs by 20 %, so may the rest.
//! 2. *Its runs differ.* By the exact rank-sum test of its runs before and now, the order in which they
//!    are has a chance of at most 1 in 20. With 3 runs a side that means that they do not overlap.
//! 3. *It is no accident among hundreds.* One in 20 is nothing where 300 cells are looked at, so neighbours
//!    must agree: in some stretch of neighbouring numbers of threads (this cell alone is one, too), the
//!    ranks of all cells together must have a chance so small that in both reports as a whole there is a
//!    false alarm in 1 of 20 comparisons. That is Bonferroni's correction over all stretches of all
//!    entrants, less those that have too few runs to raise an alarm at all (Tarone 1990).
//!
//! No noise is assumed to be normal, or alike from cell to cell. What is assumed is that the runs of a cell
//! come in any order with the same chance, as long as nothing but the drift has changed. A neighbour that
//! is there during all runs of one cell, and of its neighbours, and at no other time, breaks that; the first
//! rule is what is left then.
//!
//! # What can be found with how few runs
//! Of 60 entrants on 5 numbers of threads each, a change shows that is so large that no run of now lies
//! among those of before, and
//!
//! | runs a side | is on at least so many neighbouring numbers of threads |
//! |---:|---|
//! | 1 | not at all |
//! | 2 | 5 |
//! | 3 | 4 |
//! | 4 | 3 |
//! | 5 to 8 | 2 |
//! | 9 and more | 1 |
//!
//! What looks changed by the first two rules and has too few runs for the third is *unclear*, counted and
//! in the JSON, but no alarm.
//!
//! # How often it is wrong
//! Of 1000 comparisons of simulated reports of 300 cells that differ by nothing but noise, so many said
//! that something had changed: 11 with 3 runs a side and noise of 5 %; 7 with 5 runs and 5 %; 9 with 5 runs,
//! 20 %, and one run in 10 up to three times as long; 31 with 9 runs, 10 %, and one in 20; 20 with 5 runs and
//! 30 % where there are no peers and no least change, so that ranks alone decide.

pub mod judge;
pub(crate) mod ranks;
mod text;

use serde::Serialize;

use crate::cli::CompareArguments;
use crate::error::Error;
use crate::output;
use crate::survey::document::{Pace, Survey};
use crate::survey::read::read;
use crate::survey::table::pace_in_words;
use judge::{Judged, Verdict, judge};

/// A change by less than so many percent is none, if nothing else is asked for.
const LEAST_PERCENT: f64 = 10.0;
const MOST_PERCENT: f64 = 1000.0;

/// Two surveys compared.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The survey of before.
    pub old: Side,
    /// The one of now.
    pub new: Side,
    /// What to keep in mind, a sentence each.
    pub warnings: Vec<String>,
    /// How many cells there are of each kind.
    pub counts: Counts,
    /// How many structures of this library got slower.
    pub slower_structures: usize,
    /// What was found.
    #[serde(flatten)]
    pub judged: Judged,
}

/// One of the two.
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
    /// Compares two surveys; changes by less than `least_percent` are none.
    #[must_use]
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

/// What makes two surveys hard to compare.
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
            pace_in_words(old.pace),
            pace_in_words(new.pace),
        ));
    }
    for (name, survey) in [("old", old), ("new", new)] {
        if !survey.complete {
            warnings.push(format!("The {name} one was ended early: the rest is not compared."));
        }
    }
    warnings
}

/// Compares two surveys.
///
/// # Errors
/// When something got slower, a file is none of a survey, or the two have nothing in common.
pub fn compare(typed: &CompareArguments) -> Result<(), Error> {
    let least_percent = least_percent(typed.least.as_deref())?;
    let comparison = Comparison::of(&read(&typed.old)?, &read(&typed.new)?, least_percent);
    if comparison.judged.changes.is_empty() {
        return Err(Error::NothingInCommon { old: typed.old.clone(), new: typed.new.clone() });
    }
    let text = if typed.json { output::json(&comparison) } else { text::text(&comparison) };
    output::print(&text)?;
    match comparison.slower_structures {
        0 => Ok(()),
        count => Err(Error::Slower { count }),
    }
}

fn least_percent(typed: Option<&str>) -> Result<f64, Error> {
    let Some(typed) = typed else { return Ok(LEAST_PERCENT) };
    let percent = typed.trim().trim_end_matches('%').trim_end().parse::<f64>();
    percent.ok().filter(|percent| (0.0..=MOST_PERCENT).contains(percent)).ok_or_else(|| {
        Error::Value {
            option: "--least",
            value: typed.to_owned(),
            allowed: format!("a number of percent from 0 to {MOST_PERCENT}"),
        }
    })
}

#[cfg(test)]
mod tests;
