//! The depth of the tree as each processor finds it, and the prism slots that follow from it (ST07 section 7, of RDT97).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::machine::PerCpu;

/// A depth is kept in 256ths.
const UNIT: u32 = 256;
/// A walk's share in the estimate is one in this number.
const WALKS: u32 = 8;

/// How deep the tree was for the last walks of each processor, as a moving average.
#[derive(Debug)]
pub(super) struct Depths(PerCpu<AtomicU32>);

impl Depths {
    /// Makes estimates that begin at `first`.
    pub(super) fn new(first: u32) -> Self {
        Depths(PerCpu::new(move |_| AtomicU32::new(first * UNIT)))
    }

    /// The estimate of processor `id`, rounded to whole levels.
    #[inline]
    pub(super) fn of(&self, id: usize) -> u32 {
        (self.0.get(id).load(Relaxed) + UNIT / 2) / UNIT
    }

    /// Adds a walk of processor `id` that ended at `depth`.
    #[inline]
    pub(super) fn add(&self, id: usize, depth: u32) {
        let estimate = self.0.get(id);
        let before = estimate.load(Relaxed);
        estimate.store(before - before / WALKS + depth * UNIT / WALKS, Relaxed);
    }
}

/// The prism slots that a token uses at `level` of a tree of `depth`: `c 2^(depth - level)` with `c` = 0.5, and at least
/// one.
#[inline]
pub(super) fn slots(depth: u32, level: u32) -> usize {
    1 << depth.saturating_sub(level + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prisms_halve_from_level_to_level() {
        assert_eq!([0, 1, 2, 3].map(|level| slots(3, level)), [4, 2, 1, 1]);
        assert_eq!(slots(0, 0), 1);
        assert_eq!(slots(12, 0), 2048);
    }

    #[test]
    fn an_estimate_follows_the_walks_of_its_processor() {
        let depths = Depths::new(0);
        depths.add(3, 5);
        assert_eq!((depths.of(3), depths.of(4)), (1, 0));
        (0..40).for_each(|_| depths.add(3, 5));
        assert_eq!(depths.of(3), 5);
        (0..60).for_each(|_| depths.add(3, 0));
        assert_eq!(depths.of(3), 0);
    }
}
