//! The binary, started as a process.

mod bench;
mod bench_barriers;
mod bench_beside;
mod bench_counters;
mod bench_everyday;
mod bench_loop;
mod bench_queues;
mod bench_start;
mod calibrate;
mod compare;
mod figures;
mod model;
mod page;
mod run;
mod simulate;
mod simulate_barriers;
mod surveys;
mod table;
mod validate;
mod watch;
mod watch_steps;
mod whole;
