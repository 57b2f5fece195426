//! Structures with deliberate errors. A check that does not catch them checks nothing.
//!
//! Each is wrong in one place only, marked `BROKEN`; the rest is correct.

#![allow(dead_code, reason = "each test binary uses some of them")]

pub(crate) mod barriers;
pub(crate) mod counters;
pub(crate) mod queues;
