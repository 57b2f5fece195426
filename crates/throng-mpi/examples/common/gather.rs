//! Values of all ranks, gathered at every rank, for the tests and the benchmark.

use mpi::datatype::PartitionMut;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};
use std::time::Duration;

/// Returns the lists of all ranks, one after the other.
pub(crate) fn all<T: Equivalence + Clone + Default>(
    world: &SimpleCommunicator,
    mine: &[T],
) -> Vec<T> {
    let mut counts = vec![0_i32; world.size() as usize];
    world.all_gather_into(&(mine.len() as i32), &mut counts[..]);
    let starts: Vec<i32> = counts
        .iter()
        .scan(0, |sum, &count| {
            *sum += count;
            Some(*sum - count)
        })
        .collect();
    let mut everything = vec![T::default(); counts.iter().sum::<i32>() as usize];
    world.all_gather_varcount_into(
        mine,
        &mut PartitionMut::new(&mut everything[..], counts, starts),
    );
    everything
}

/// Checks that the numbers of all ranks are 0..m-1, each once, and returns m.
pub(crate) fn are_all_there(world: &SimpleCommunicator, mine: &[u64]) -> Result<usize, String> {
    let mut numbers = all(world, mine);
    numbers.sort_unstable();
    match (0..).zip(&numbers).find(|(expected, number)| expected != *number) {
        None => Ok(numbers.len()),
        Some((expected, number)) => Err(format!("found {number} where {expected} should be")),
    }
}

/// Returns the largest value of all ranks.
pub(crate) fn largest(world: &SimpleCommunicator, mine: f64) -> f64 {
    all(world, &[mine]).into_iter().fold(f64::NEG_INFINITY, f64::max)
}

/// Meets, and yields meanwhile: waiting inside MPI takes a core for each rank.
pub(crate) fn meet(world: &SimpleCommunicator) {
    let mut request = world.immediate_barrier();
    loop {
        match request.test() {
            Ok(_) => return,
            Err(again) => request = again,
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
