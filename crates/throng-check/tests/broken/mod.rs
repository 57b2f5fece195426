//! What is wrong on purpose. A check that does not catch it checks nothing.
//!
//! Each is wrong in one place only, marked `BROKEN`; the rest is as it should be.

#![allow(dead_code, reason = "each test binary uses some of them")]

pub(crate) mod barriers;
pub(crate) mod counters;
pub(crate) mod queues;
