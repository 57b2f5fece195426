//! The structures under a host that does its worst, and broken ones that it must find out.

mod barriers;
mod broken;
mod counters;
mod deaths;
mod host;
