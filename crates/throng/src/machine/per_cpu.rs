//! One entry for every processor.

use std::fmt;
use std::sync::OnceLock;

/// How many entries are made at once at the start: segment 0.
const FIRST: usize = 8;
/// Segment k > 0 holds `FIRST << (k - 1)` entries; so many segments reach every possible id.
const SEGMENTS: usize = usize::BITS as usize - FIRST.trailing_zeros() as usize;

/// An array with one entry for every processor id, growing without limit and never moving.
///
/// The first eight entries exist from the start; more appear, a segment at a time, when a
/// processor with a larger id asks. An entry outlives its processor: the next one with that id
/// finds it as it was left.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use throng::machine::PerCpu;
///
/// let calls = PerCpu::new(|_id| AtomicU64::new(0));
/// calls.get(3).fetch_add(1, Relaxed);
/// calls.get(4000).fetch_add(1, Relaxed);
/// assert_eq!(calls.iter().map(|n| n.load(Relaxed)).sum::<u64>(), 2);
/// ```
pub struct PerCpu<T> {
    first: Box<[T]>,
    more: [OnceLock<Box<[T]>>; SEGMENTS],
    make: Box<dyn Fn(usize) -> T + Send + Sync>,
}

impl<T> PerCpu<T> {
    /// An array whose entry for processor `id` is `make(id)`.
    ///
    /// `make` may be called for ids that no processor has.
    pub fn new(make: impl Fn(usize) -> T + Send + Sync + 'static) -> Self {
        PerCpu {
            first: (0..FIRST).map(&make).collect(),
            more: [const { OnceLock::new() }; SEGMENTS],
            make: Box::new(make),
        }
    }

    /// The entry of processor `id`.
    #[inline]
    pub fn get(&self, id: usize) -> &T {
        match self.first.get(id) {
            Some(entry) => entry,
            None => self.get_later(id),
        }
    }

    fn get_later(&self, id: usize) -> &T {
        let segment = (id / FIRST).ilog2() as usize;
        let start = FIRST << segment;
        let entries =
            self.more[segment].get_or_init(|| (start..2 * start).map(&self.make).collect());
        &entries[id - start]
    }

    /// The entries made so far, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let later = self.more.iter().filter_map(OnceLock::get);
        self.first
            .iter()
            .chain(later.flat_map(|segment| segment.iter()))
    }
}

impl<T: fmt::Debug> fmt::Debug for PerCpu<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_its_own_entry() {
        let ids = PerCpu::new(|id| id);
        for id in (0..100).chain([1023, 1024, 1025, 70_000]) {
            assert_eq!(*ids.get(id), id);
        }
        let made: Vec<usize> = ids.iter().copied().collect();
        assert!(made.is_sorted(), "iteration follows the ids");
        assert!(made.len() < 300_000, "only the segments asked for exist");
    }

    #[test]
    fn entries_do_not_move() {
        let ids = PerCpu::new(|id| id);
        let early = std::ptr::from_ref(ids.get(20));
        ids.get(5000);
        assert_eq!(early, std::ptr::from_ref(ids.get(20)));
    }
}
