//! Many processors, delayed, stalled, preempted and halted, on the ideal machine and on every preset.

#[path = "../awaiting/mod.rs"]
mod awaiting;
#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../sharing/mod.rs"]
mod sharing;

mod barriers;
mod channels;
mod counters;
mod indices;
mod queues;

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    trials.extend(indices::trials());
    trials.extend(queues::trials());
    trials.extend(channels::trials());
    harness::run(trials);
}
