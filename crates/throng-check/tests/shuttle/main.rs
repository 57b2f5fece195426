//! Random schedules of larger runs.

#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;

mod barriers;
mod counters;

/// Of all schedules.
const SEED: u64 = 0x7472_6F6E_6721;

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    harness::run(trials);
}
