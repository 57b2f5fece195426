//! Waiting, for the whole library: when a thread spins, yields and sleeps.
//!
//! The README of this folder has the states of a wait, both sides' steps, the races, and the
//! measurements behind each constant.

use std::time::Duration;

mod busy;
mod park;
mod patience;
mod round_times;
mod sleepers;
mod usage;
mod wait;
mod way_out;

pub use busy::BusyCores;
pub use patience::Patience;
pub use round_times::RoundTimes;
pub(super) use sleepers::{wake, wake_all, wake_one};
pub(super) use wait::{Wait, retry};
pub use way_out::{Watch, WayOut};

/// Polling interval for waits that have no waker.
const NAP: Duration = Duration::from_micros(500);
