//! The tests that need ranks: `crates/throng-mpi/check` runs them all.
//!
//! `mpirun -n 4 check together` runs the tests for ranks that do not fail; the other scenarios are
//! for thread levels and for ranks that stop, die or panic. Rank 0 prints a line for each test that
//! passed; a rank on which one fails ends them all.

mod barriers;
mod counters;
#[path = "../common/gather.rs"]
mod gather;
mod levels;
mod lost;
mod many;
mod rest;

use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::Communicator;

/// The ranks, and how to report.
pub(crate) struct Ranks {
    pub(crate) world: SimpleCommunicator,
    pub(crate) rank: u32,
    pub(crate) count: u32,
}

impl Ranks {
    /// Runs one test on all ranks.
    fn test(&self, name: &str, test: impl FnOnce(&Ranks)) {
        test(self);
        gather::meet(&self.world);
        if self.rank == 0 {
            println!("test {name} ... ok");
        }
    }
}

fn main() {
    let scenario = std::env::args().nth(1).unwrap_or_else(|| "together".into());
    let level = match scenario.as_str() {
        "single" => Threading::Single,
        "funneled" | "refused" => Threading::Funneled,
        "serialized" => Threading::Serialized,
        _ => Threading::Multiple,
    };
    let (universe, got) =
        mpi::initialize_with_threading(level).expect("MPI is not initialised yet");
    assert!(got >= level, "this MPI does not give {level:?}");
    let world = universe.world();
    let ranks = Ranks { rank: world.rank() as u32, count: world.size() as u32, world };
    if scenario != "panics" {
        end_all_on_panic(&ranks);
    }
    match scenario.as_str() {
        "together" => {
            counters::all(&ranks);
            many::all(&ranks);
            barriers::all(&ranks);
            rest::all(&ranks);
        }
        "short" => {
            counters::short(&ranks);
            many::short(&ranks);
            barriers::all(&ranks);
        }
        "single" | "funneled" | "serialized" => levels::all(&ranks, level),
        "refused" => levels::refused_and_over(&ranks),
        "stops" => lost::stops(&ranks),
        "vanishes" => lost::vanishes(&ranks, lost::Way::Exit),
        "killed" => lost::vanishes(&ranks, lost::Way::Kill),
        "cut" => lost::vanishes(&ranks, lost::Way::Cut),
        "panics" => lost::panics(&ranks),
        _ => panic!("{scenario}: no such scenario"),
    }
}

/// Ends all ranks on a panic. Otherwise a test that fails on one rank would leave the others
/// waiting.
fn end_all_on_panic(ranks: &Ranks) {
    let rank = ranks.rank;
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        before(info);
        eprintln!("rank {rank}: the test failed");
        // By exiting the process: MPI may not be called from every thread.
        std::process::exit(1);
    }));
}
