//! Checks of the promises of throng's structures.
//!
//! - [`history`]: calls with their times and results, without how they came about.
//! - [`spec`]: the promises, as functions from a history to a verdict. They contain no algorithm.
//! - [`workload`]: a structure with a recorder around it, ready to run in any world.
//! - [`worlds`]: real threads that yield between accesses; with the feature `worlds` also loom and shuttle as machines.
//!
//! The checks themselves are this crate's integration tests: `loom` (small, every schedule),
//! `shuttle` (larger, random schedules), `simulator` (many processors, with faults), `properties`
//! (any shape under any load, simulated) and `stress` (real threads). Each runs every method in
//! `throng::structures::counter::methods` and `throng::structures::barrier::methods`, and every
//! queue and pool in [`workload::kinds`]. All but `properties` also run broken structures and fail
//! if these are not found. `self_tuning` checks the lemmas of one tree's proof.

pub mod history;
pub mod spec;
pub mod workload;
pub mod worlds;

/// The code of the project's README, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

/// The code of the page about choosing a structure, the same way.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/choosing.md")]
struct Choosing;
