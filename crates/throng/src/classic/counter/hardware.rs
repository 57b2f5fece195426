//! One `fetch_add` on one word: the baseline of all comparisons.
//!
//! *Linearizable* and *wait-free*. *Memory*: one line. *When to use it*: first. Every call moves
//! that line to the caller, so throughput falls as callers get farther apart. But on up to 16
//! cores, where it was measured, no software counter came near.

use std::sync::atomic::Ordering::AcqRel;

use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Line, Machine, Native, NativeWord, Place, Word};

/// A counter that is one word and one instruction.
///
/// ```
/// let counter = throng::structures::counter::Hardware::new();
/// assert_eq!([counter.next(), counter.next(), counter.next()], [0, 1, 2]);
/// ```
#[derive(Debug)]
pub struct Hardware<M: Machine = Native> {
    next: Line<M::Word>,
}

impl<M: Machine> Hardware<M> {
    /// Returns a counter on machine `M`. [`Hardware::new`] makes one for real threads.
    #[must_use]
    pub fn on_machine() -> Self {
        Hardware { next: Line::word::<M>(0, Place::named("counter")) }
    }
}

impl Hardware {
    /// Returns a counter that starts at 0.
    ///
    /// ```
    /// use throng::structures::counter::Hardware;
    ///
    /// static IDS: Hardware = Hardware::new();
    /// assert_eq!(IDS.next(), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Hardware { next: Line::of(NativeWord::constant(0)) }
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(&Native::cpu())
    }
}

impl Default for Hardware {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Machine> Counting<M> for Hardware<M> {
    #[inline]
    fn next_on(&self, _cpu: &M::Cpu) -> u64 {
        self.next.fetch_add(1, AcqRel)
    }
}

impl<M: Machine> Method<M> for Hardware<M> {
    const ABOUT: About = About {
        name: "hardware",
        summary: "one fetch_add on one word",
        paper: "baseline",
        consistency: Consistency::Linearizable,
        progress: Progress::WaitFree,
    };

    fn build(_shape: &Shape) -> Result<Self, ShapeError> {
        Ok(Self::on_machine())
    }
}
