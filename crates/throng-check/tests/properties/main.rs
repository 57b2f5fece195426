//! Properties that hold for every method of every shape, under every load.

mod barriers;
mod counters;
mod queues;
