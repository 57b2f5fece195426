//! The binary as a person at a keyboard meets it.

mod bench_barriers;
mod bench_counters;
mod bench_loop;
mod bench_queues;
mod figures;
mod model;
mod run;
mod simulate;
mod simulate_barriers;
mod watch;
mod whole;
