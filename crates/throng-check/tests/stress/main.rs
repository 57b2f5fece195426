//! Real threads, more of them than cores, coming and going.

#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;

mod barriers;
mod counters;
mod queues;

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    trials.extend(queues::trials());
    harness::run(trials);
}
