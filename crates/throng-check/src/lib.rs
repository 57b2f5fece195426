//! What throng's structures promise, checked.
//!
//! - [`history`]: what was called when, and what came back; nothing about how.
//! - [`spec`]: the promises, as functions from a history to a verdict. They know no algorithm.
//! - [`workload`]: a structure with a recorder around it, ready to run in any world.
//! - `worlds` (feature `worlds`): loom and shuttle as machines.
//!
//! The checks themselves are this crate's integration tests: `loom` (small, every schedule),
//! `shuttle` (larger, random schedules), `simulator` (many processors, with faults), `properties`
//! (any shape under any load, simulated) and `stress` (real threads). Each runs every method in
//! [`throng::counter::methods`] and [`throng::barrier::methods`], and every queue and pool in
//! [`workload::kinds`]; all but `properties` also run broken ones and fail if they go unnoticed.
//! `self_tuning` holds one kind of tree to the lemmas of its proof.

pub mod history;
pub mod spec;
pub mod workload;
#[cfg(feature = "worlds")]
pub mod worlds;

/// The code of the project's README, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadMe;

/// The code of the page that helps to choose, the same way.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/choosing.md")]
struct Choosing;
