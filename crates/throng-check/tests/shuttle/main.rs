//! Random schedules of larger runs.

#[path = "../awaiting/mod.rs"]
mod awaiting;
#[path = "../broken/mod.rs"]
mod broken;
#[path = "../harness/mod.rs"]
mod harness;
#[path = "../sharing/mod.rs"]
mod sharing;

mod asleep;
mod barriers;
mod channels;
mod counters;
mod indices;
mod queues;

/// The seed of all schedules.
fn seed() -> u64 {
    0x7472_6F6E_6721 + harness::first_seed()
}

fn main() {
    let mut trials = counters::trials();
    trials.extend(barriers::trials());
    trials.extend(asleep::trials());
    trials.extend(indices::trials());
    trials.extend(queues::trials());
    trials.extend(channels::trials());
    harness::run_in_processes(trials);
}
