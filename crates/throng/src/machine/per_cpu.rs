//! Arrays that grow without limit: one entry for every processor, or for anything else.

use std::fmt;

use crate::published::Published;

/// The number of segments. Each is as large as all before it, so all together are larger than any
/// memory.
const SEGMENTS: usize = 40;

/// The largest number of entries made at the start.
const MOST_FIRST: usize = 1 << 20;

/// An array that grows without limit and whose entries never move.
///
/// The first entries exist from the start. The others are made a segment at a time, when one of
/// them is asked for. Any number of threads may ask at the same time. Each makes the segment that
/// it does not find, the first one to publish it wins, and the others drop theirs. So a thread that
/// stops while it allocates holds up no other.
///
/// ```
/// use throng::machine::Growing;
/// let squares = Growing::new(4, |i| i * i);
/// assert_eq!(*squares.get(100), 10_000);
/// ```
pub struct Growing<T, F = Make<T>> {
    /// Entries 0..F, made at once; F is a power of two.
    first: Box<[T]>,
    /// Segment k holds entries F·2^k .. F·2^(k+1).
    more: Box<[Published<Box<[T]>>]>,
    make: F,
}

/// Makes the entry of an index.
pub type Make<T> = Box<dyn Fn(usize) -> T + Send + Sync>;

impl<T> Growing<T> {
    /// Returns an array whose entry `index` is `make(index)`. About `first` entries are made at
    /// once.
    ///
    /// `make` may be called for indices that were not asked for, and several times for one index.
    /// Entries that are not used are dropped.
    pub fn new(first: usize, make: impl Fn(usize) -> T + Send + Sync + 'static) -> Self {
        Growing::with(first, Box::new(make))
    }
}

impl<T, F: Fn(usize) -> T> Growing<T, F> {
    /// Like [`new`](Growing::new), for a `make` of any type and entries of any lifetime.
    pub fn with(first: usize, make: F) -> Self {
        Growing {
            first: (0..first.clamp(1, MOST_FIRST).next_power_of_two()).map(&make).collect(),
            more: (0..SEGMENTS).map(|_| Published::new()).collect(),
            make,
        }
    }

    /// Returns the entry `index`. Makes it if it does not exist yet.
    ///
    /// # Panics
    /// If `index` is above 2^40, which is beyond any memory.
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        match self.first.get(index) {
            Some(entry) => entry,
            None => self.get_later(index),
        }
    }

    #[cold]
    fn get_later(&self, index: usize) -> &T {
        // The size of the first segment is a power of two.
        let segment = index.ilog2() - self.first.len().trailing_zeros();
        let start = self.first.len() << segment;
        let entries = self.more[segment as usize]
            .get_or_make(|| (start..2 * start).map(&self.make).collect());
        &entries[index - start]
    }

    /// Returns the entries made so far, in the order of their indices.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let later = self.more.iter().filter_map(Published::get);
        self.first.iter().chain(later.flat_map(|segment| segment.iter()))
    }
}

impl<T: fmt::Debug, F: Fn(usize) -> T> fmt::Debug for Growing<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// One entry for every processor, by its id. It grows when a processor with a larger id comes.
///
/// An entry outlives its processor: the next processor with that id finds it unchanged.
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
#[derive(Debug)]
pub struct PerCpu<T>(Growing<T>);

impl<T> PerCpu<T> {
    /// The number of processors whose entries are made at the start.
    const FIRST: usize = 8;

    /// Returns an array whose entry for processor `id` is `make(id)`.
    ///
    /// `make` may be called for ids that no processor has, and several times for one id. Entries
    /// that are not used are dropped.
    pub fn new(make: impl Fn(usize) -> T + Send + Sync + 'static) -> Self {
        PerCpu(Growing::new(Self::FIRST, make))
    }

    /// Returns the entry of processor `id`.
    #[inline]
    pub fn get(&self, id: usize) -> &T {
        self.0.get(id)
    }

    /// Returns the entries made so far, in the order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_its_own_entry() {
        for first in [0, 1, 2, 7, 8] {
            let array = Growing::new(first, |i| i);
            for i in (0..100).chain([1023, 1024, 1025, 70_000]) {
                assert_eq!(*array.get(i), i);
            }
            let made: Vec<usize> = array.iter().copied().collect();
            assert!(made.is_sorted(), "iteration follows the indices");
            assert!(made.len() < 300_000, "only the segments asked for exist");
        }
    }

    #[test]
    fn entries_do_not_move() {
        let array = PerCpu::new(|id| id);
        let early = std::ptr::from_ref(array.get(20));
        array.get(5000);
        assert_eq!(early, std::ptr::from_ref(array.get(20)));
    }
}
