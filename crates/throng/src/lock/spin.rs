//! The spin lock of DT96, as one word among those that it protects.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::backoff::Backoff;
use crate::machine::{Cpu, Machine, Word};

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// Test-and-test-and-set with exponential backoff, on the line of what it protects.
///
/// It is read before it is tried. A processor that finds it taken looks again after a random time, whose limit doubles
/// with each look. ([`BackoffLock`](super::BackoffLock) has a line of its own, tries first, and sleeps until the lock is
/// free.)
///
/// ## Memory ordering
/// The compare-exchange that finds the lock free acquires what the store in `release` released.
#[derive(Debug)]
pub(crate) struct SpinLock<M: Machine> {
    state: M::Word,
    /// The longest idle time between two looks, in units of [`Cpu::pause`].
    most_backoff: u32,
}

impl<M: Machine> SpinLock<M> {
    /// Makes a free lock on the line `spot`.
    pub(crate) fn new(spot: &M::Spot, most_backoff: u32) -> Self {
        SpinLock { state: M::Word::new(FREE, spot), most_backoff }
    }

    /// Waits until the lock is free, and takes it.
    #[inline]
    pub(crate) fn acquire(&self, cpu: &M::Cpu) {
        let mut backoff = Backoff::new(self.most_backoff);
        let mut round = 0;
        while self.state.load(Relaxed) == TAKEN
            || self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err()
        {
            backoff.idle(cpu);
            cpu.retry(round);
            round += 1;
        }
    }

    /// Frees the lock, which the caller must hold.
    #[inline]
    pub(crate) fn release(&self) {
        self.state.store(FREE, Release);
    }
}
