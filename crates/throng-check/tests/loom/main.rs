//! Every schedule of small runs.

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
mod orders;
mod queues;

fn main() {
    let mut trials = counters::trials();
    trials.extend(orders::trials());
    trials.extend(barriers::trials());
    trials.extend(indices::trials());
    trials.extend(queues::trials());
    trials.extend(channels::trials());
    harness::run_in_processes(trials);
}
