//! Every rank draws ids from one counter, and rank 0 checks that each was given once.
//!
//! ```sh
//! cargo build --release -p throng-mpi --example ids
//! mpirun --allow-run-as-root --oversubscribe -n 4 target/release/examples/ids
//! ```
//!
//! `docs/cluster.md` explains the options.

use mpi::Threading;
use mpi::traits::{Communicator, CommunicatorCollectives, Root};
use throng_mpi::{Counter, Shape};

/// The number of ids that each rank draws.
const EACH: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (universe, _) =
        mpi::initialize_with_threading(Threading::Multiple).expect("MPI is not initialised yet");
    let world = universe.world();
    let ranks = world.size() as u32;

    let counter = Counter::new(&world, &Shape::for_ranks(ranks))?;
    let ids = (0..EACH).map(|_| counter.next()).collect::<Result<Vec<u64>, _>>()?;
    counter.finish()?;

    if world.rank() == 0 {
        let mut all = vec![0; EACH * ranks as usize];
        world.process_at_rank(0).gather_into_root(&ids[..], &mut all[..]);
        all.sort_unstable();
        assert!(all.iter().copied().eq(0..all.len() as u64), "an id is missing or was given twice");
        println!("{ranks} ranks drew the ids 0 to {}, each once", all.len() - 1);
    } else {
        world.process_at_rank(0).gather_into(&ids[..]);
    }
    world.barrier();
    Ok(())
}
