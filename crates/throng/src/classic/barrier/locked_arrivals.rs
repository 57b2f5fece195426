//! A count of arrivals under a lock.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use super::Broken;
use crate::machine::{Machine, WayOut, Word};

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// A count of arrivals, and its lock on the same line: what GV93 section 5.1 has for the barriers that need locks. On
/// the KSR-1 the lock is that of the subpage, `acquire-subpage`: the form that fails if the lock is taken, tried again
/// until it does not.
///
/// Differs from the paper: the lock is a word beside the count. A poll reads this word, and takes the line from its holder
/// only if the lock is free.
///
/// ## Memory ordering
/// The compare-exchange that takes the lock acquires what the last holder's `signal` released. So the last to arrive
/// knows what all did before.
#[derive(Debug)]
pub(super) struct LockedArrivals<M: Machine> {
    lock: M::Word,
    /// How many have come in this round. Changed under the lock.
    arrived: M::Word,
}

impl<M: Machine> LockedArrivals<M> {
    /// Makes a count of 0 under a free lock on the line `spot`.
    pub(super) fn new(spot: &M::Spot) -> Self {
        LockedArrivals { lock: M::Word::new(FREE, spot), arrived: M::Word::new(0, spot) }
    }

    /// Counts one more. The last of `expected` sets the count back to 0, and gets true.
    pub(super) fn arrive(
        &self,
        cpu: &M::Cpu,
        expected: usize,
        way_out: &WayOut<'_, M>,
    ) -> Result<bool, Broken> {
        loop {
            self.lock.sleep_while(cpu, Relaxed, way_out, |lock| lock == TAKEN).ok_or(Broken)?;
            if self.lock.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok() {
                break;
            }
        }
        let arrived = self.arrived.load(Relaxed) + 1;
        let is_last = arrived == expected as u64;
        self.arrived.store(if is_last { 0 } else { arrived }, Relaxed);
        self.lock.signal(FREE);
        Ok(is_last)
    }
}
