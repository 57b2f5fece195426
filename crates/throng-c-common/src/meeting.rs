//! A barrier that a thread may destroy as soon as it has returned from it.

use throng::Barrier;

use crate::memory;
use crate::occupancy::{Blocked, Inside, Occupancy};

/// A barrier, and the count of the threads inside.
#[derive(Debug)]
pub struct Meeting {
    barrier: Barrier,
    occupancy: Occupancy,
}

/// The reason why a barrier was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The number of members is out of range.
    Members,
    /// There is no memory.
    Memory,
}

impl Meeting {
    /// Makes a barrier for `members` threads.
    ///
    /// # Errors
    /// If [`Barrier`] does not allow that number, or there is no memory.
    pub fn new(members: usize) -> Result<Self, Refused> {
        if !(1..=Barrier::MAX_THREADS).contains(&members) {
            return Err(Refused::Members);
        }
        if !memory::is_there(bytes(members)) {
            return Err(Refused::Memory);
        }
        let barrier = Barrier::builder(members).build().map_err(|_| Refused::Members)?;
        Ok(Meeting { barrier, occupancy: Occupancy::new(members) })
    }

    /// Returns the barrier.
    #[inline]
    #[must_use]
    pub fn barrier(&self) -> &Barrier {
        &self.barrier
    }

    /// Counts this thread in, before it waits at the barrier.
    #[inline]
    pub fn enter(&self) -> Inside {
        self.occupancy.enter()
    }

    /// Waits until all threads have left.
    ///
    /// # Errors
    /// If threads wait for a round that is not complete: they cannot leave.
    pub fn vacate(&self) -> Result<(), Blocked> {
        if self.barrier.is_broken() {
            // Rounds were not complete, and all threads are leaving.
            self.occupancy.wait_for_leavers();
            return Ok(());
        }
        self.occupancy.vacate()
    }
}

/// Returns at least the number of bytes that a barrier of `members` takes, including the reading of
/// the topology.
#[must_use]
pub const fn bytes(members: usize) -> usize {
    /// Bytes for each member. The barrier in its largest form has 512, and the count of threads
    /// inside 128. Up to 64 members stay below the 128 KiB from which on malloc asks the kernel
    /// each time.
    const FOR_EACH: usize = 640;
    /// Bytes in all. A folder is read by 32 KiB at a time.
    const FOR_ALL: usize = 64 << 10;
    members.saturating_mul(FOR_EACH).saturating_add(FOR_ALL)
}

#[cfg(test)]
mod tests {
    use throng::topology::Topology;

    use super::*;
    use crate::counting::most_bytes;

    #[test]
    fn what_is_asked_for_is_enough() {
        for members in [1, 2, 3, 4, 5, 8, 16, 33, 64, 100, 1000, 4097, 65536] {
            let occupancy = most_bytes(|| Occupancy::new(members));
            let machines = [Topology::flat(1 << 16), Topology::of_groups(&[8; 16])];
            for topology in machines.into_iter().chain([Topology::here().clone()]) {
                let builder = Barrier::builder(members).topology(topology);
                let barrier = most_bytes(|| builder.build().unwrap());
                assert!(barrier >= 64 * members, "{members}: {barrier} counted");
                assert!(bytes(members) >= barrier + occupancy, "{builder:?}: {barrier}");
            }
        }
    }

    #[test]
    fn refusals_say_why() {
        assert_eq!(Meeting::new(0).unwrap_err(), Refused::Members);
        assert_eq!(Meeting::new((1 << 16) + 1).unwrap_err(), Refused::Members);
        assert_eq!(Meeting::new(usize::MAX).unwrap_err(), Refused::Members);
    }
}
