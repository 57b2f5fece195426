//! Test-and-test-and-set with exponential backoff.
//!
//! A processor tries to take the lock. When it fails, it idles for a random time, up to twice as
//! long after each failure, then reads until the lock looks free, and tries again (Anderson 1990;
//! Graunke and Thakkar 1990; DT96 section 3.3.1 "ExpBackoff").
//!
//! Differs from the paper: the first try is not preceded by a read, which would only cost a lock
//! that is free, as most are, a second transfer of its line.
//!
//! ## Memory ordering
//! The compare-exchange that finds the lock free acquires what the store in `release` released.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::Lock;
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// Longest idling, in units of [`Cpu::pause`], after the first failure and after many.
pub(crate) const LEAST_BACKOFF: u32 = 4;
pub(crate) const MOST_BACKOFF: u32 = 1024;

/// A lock that is one word, tried again after ever longer pauses.
#[derive(Debug)]
pub struct BackoffLock<M: Machine = Native> {
    state: Line<M::Word>,
    most_backoff: u32,
}

// SAFETY: `acquire` returns only when it turned FREE into TAKEN, and only `release` writes FREE.
// Release and acquire make the content visible.
unsafe impl<M: Machine> Lock<M> for BackoffLock<M> {
    fn new() -> Self {
        Self::with_backoff(MOST_BACKOFF)
    }

    fn with_backoff(most: u32) -> Self {
        let state = Line::word::<M>(FREE, Place::named("backoff lock"));
        BackoffLock { state, most_backoff: most.max(1) }
    }

    #[inline]
    fn acquire(&self, cpu: &M::Cpu) {
        let mut limit = LEAST_BACKOFF.min(self.most_backoff);
        while self.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_err() {
            cpu.pause(1 + cpu.random_below(limit as usize) as u32);
            limit = limit.saturating_mul(2).min(self.most_backoff);
            self.state.wait_while(cpu, Relaxed, |state| state == TAKEN);
        }
    }

    #[inline]
    unsafe fn release(&self, _cpu: &M::Cpu) {
        self.state.store(FREE, Release);
    }
}
