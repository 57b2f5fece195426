//! Real threads, more of them than cores, coming and going, and yielding between any two accesses.

#[path = "../awaiting/mod.rs"]
mod awaiting;
#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../sharing/mod.rs"]
mod sharing;

mod barriers;
mod counters;
mod queues;
mod yielding;

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    trials.extend(queues::trials());
    trials.extend(yielding::trials());
    harness::run(trials);
}
