//! A test-and-test-and-set lock with exponential backoff.
//!
//! A processor tries to take the lock. When it fails, it idles for a random time, up to twice as
//! long after each failure, then reads until the lock looks free, and tries again (Anderson 1990;
//! Graunke and Thakkar 1990; DT96 section 3.3.1 "ExpBackoff").
//!
//! Differs from the paper: the first try is not preceded by a read. A read would cost a free lock,
//! the usual case, a second transfer of its line.
//!
//! ## Memory ordering
//! The compare-exchange that finds the lock free acquires what the store in `release` released.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::Lock;
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

const FREE: u64 = 0;
const TAKEN: u64 = 1;

/// The default longest backoff, in units of [`Cpu::pause`].
pub(crate) const MOST_BACKOFF: u32 = 1024;

/// Idles for random times, up to twice as long each time.
#[derive(Debug)]
pub(crate) struct Backoff {
    limit: u32,
    most: u32,
}

impl Backoff {
    /// Returns a backoff of up to 4 units at first, and never more than `most`.
    pub(crate) fn new(most: u32) -> Self {
        Backoff { limit: most.clamp(1, 4), most }
    }

    pub(crate) fn idle<C: Cpu>(&mut self, cpu: &C) {
        cpu.pause(1 + cpu.random_below(self.limit as usize) as u32);
        self.limit = self.limit.saturating_mul(2).min(self.most.max(1));
    }
}

/// A lock that is one word, and that is tried again after ever longer pauses.
#[derive(Debug)]
pub struct BackoffLock<M: Machine = Native> {
    line: Line<Inner<M>>,
}

#[derive(Debug)]
struct Inner<M: Machine> {
    state: M::Word,
    /// The longest backoff, in units of [`Cpu::pause`]. It is on the lock's own line, and read only
    /// when the lock is taken.
    most_backoff: u32,
}

impl<M: Machine> BackoffLock<M> {
    /// Returns a free lock at `place`.
    pub(crate) fn at(place: Place, most_backoff: u32) -> Self {
        let inner = |spot: &M::Spot| Inner { state: M::Word::new(FREE, spot), most_backoff };
        BackoffLock { line: Line::new::<M>(place, inner) }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.line.state.compare_exchange(FREE, TAKEN, Acquire, Relaxed).is_ok()
    }
}

// SAFETY: `acquire` returns only when it turned FREE into TAKEN, and only `release` writes FREE.
// Release and acquire make the content visible.
unsafe impl<M: Machine> Lock<M> for BackoffLock<M> {
    fn new() -> Self {
        Self::with_backoff(MOST_BACKOFF)
    }

    fn with_backoff(most: u32) -> Self {
        Self::at(Place::named("backoff lock"), most)
    }

    #[inline]
    fn acquire(&self, cpu: &M::Cpu) {
        if self.try_acquire() {
            return;
        }
        let mut backoff = Backoff::new(self.line.most_backoff);
        loop {
            backoff.idle(cpu);
            self.line.state.wait_while(cpu, Relaxed, |state| state == TAKEN);
            if self.try_acquire() {
                return;
            }
        }
    }

    #[inline]
    unsafe fn release(&self, _cpu: &M::Cpu) {
        self.line.state.store(FREE, Release);
    }
}
