//! Many processors, delayed, stalled, preempted and halted, on the ideal machine and on every preset.

#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;

mod barriers;
mod counters;

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    harness::run(trials);
}
