//! `throng bench`: recommends structures for this machine, and measures whether they are worth it.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | what is measured, and how long |
//! | `needs` | the needs of programs, and the entrants for each |
//! | `run` | all runs, in turns |
//! | `verdict`, `advice` | the recommendation, and its words |
//! | [`document`] | the results, as data |
//! | [`read`] | the same, read back from its file |
//! | `text` | the same for a terminal; [`crate::page`] is for a browser |

pub(crate) mod advice;
pub(crate) mod day;
pub mod document;
pub(crate) mod needs;
pub(crate) mod plan;
pub mod read;
pub(crate) mod run;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod text;
pub(crate) mod verdict;

/// The `benchmark` of a survey's JSON.
pub(crate) const BENCHMARK: &str = "survey";
