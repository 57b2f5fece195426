//! [`Indices`]: the indices of a range, shared out among threads.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;

use super::generic;
use crate::machine::{Native, NativeCpu};

/// The processor of the calling thread.
const THIS: &NativeCpu = &Native::cpu();

/// The indices of a range, shared out among threads while they run. Each thread
/// [iterates](Indices::iter) over the indices that it gets, and no index goes to two threads.
///
/// It is for threads that already run: those of a scope, or of any pool.
/// [`for_each_index`](super::for_each_index) starts threads of its own.
///
/// ```
/// use std::thread;
/// use throng::loops::Indices;
///
/// let indices = Indices::new(0..1000, 4);
/// let sums: Vec<usize> = thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| indices.iter().sum::<usize>())).collect();
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
/// });
/// assert_eq!(sums.iter().sum::<usize>(), 999 * 1000 / 2);
/// ```
///
/// An iterator takes several indices at once, a *chunk*, from a [`Counter`](crate::Counter). It
/// reads the clock once for each chunk, and so learns how large a chunk may be: some 50
/// microseconds of work, less towards the end, and a single index if one takes that long. Within a
/// chunk indices ascend, and so do the chunks that one iterator gets.
///
/// # The rest of a chunk
/// An iterator that is dropped before its end keeps the rest of its chunk: no thread gets those
/// indices. To end early, call [`stop`](Indices::stop) and continue until the iterator ends.
pub struct Indices(generic::Indices);

impl Indices {
    /// Returns the indices of `range`, for about `threads` threads. More or fewer may take part:
    /// the number only determines the size of chunks near the end. A range that is empty, or that
    /// ends before its start, has no indices.
    #[must_use]
    pub fn new(range: Range<usize>, threads: usize) -> Self {
        Indices(generic::Indices::on_machine(range, threads))
    }

    /// Returns an iterator over the indices that the calling thread gets.
    pub fn iter(&self) -> Share<'_> {
        Share(self.0.iter_on(THIS))
    }

    /// Ends the loop: each iterator ends after its present chunk.
    ///
    /// ```
    /// let indices = throng::loops::Indices::new(0..1_000_000_000_000, 1);
    /// let found = indices.iter().fold(None, |found, index| match index * index > 2_000_000 {
    ///     true => {
    ///         indices.stop();
    ///         found.or(Some(index))
    ///     }
    ///     false => found,
    /// });
    /// assert_eq!(found, Some(1415));
    /// ```
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Returns whether [`stop`](Indices::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    /// Returns whether a thread that joins now may get an index.
    pub(super) fn has_more(&self) -> bool {
        self.0.has_more()
    }
}

impl fmt::Debug for Indices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'a> IntoIterator for &'a Indices {
    type Item = usize;
    type IntoIter = Share<'a>;

    fn into_iter(self) -> Share<'a> {
        self.iter()
    }
}

/// An iterator over the indices that one thread gets. It stays on the thread that made it.
///
/// ```compile_fail
/// let indices = throng::loops::Indices::new(0..9, 2);
/// let mut share = indices.iter();
/// std::thread::scope(|scope| {
///     scope.spawn(move || share.next());
/// });
/// ```
pub struct Share<'a>(generic::Share<'a>);

impl Share<'_> {
    /// Returns the rest of the present chunk, or else the next chunk, or `None` at the end. No
    /// chunk is empty. It is for loops that are faster over many indices in a row.
    ///
    /// ```
    /// let indices = throng::loops::Indices::new(0..1000, 1);
    /// let (mut share, mut sum) = (indices.iter(), 0);
    /// while let Some(chunk) = share.next_chunk() {
    ///     sum += chunk.sum::<usize>();
    /// }
    /// assert_eq!(sum, 999 * 1000 / 2);
    /// ```
    #[inline]
    pub fn next_chunk(&mut self) -> Option<Range<usize>> {
        self.0.next_chunk()
    }
}

impl Iterator for Share<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        self.0.next()
    }

    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl FusedIterator for Share<'_> {}

impl fmt::Debug for Share<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn one_iterator_gets_all_in_order() {
        for range in [0..0, 5..5, 7..8, 3..1000, usize::MAX - 300..usize::MAX] {
            let indices = Indices::new(range.clone(), 3);
            assert!(indices.iter().eq(range.clone()), "{range:?}");
            assert_eq!(indices.iter().next(), None, "nothing is left for another");
        }
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "it is what is tested")]
    fn a_range_that_ends_before_its_start_has_no_indices() {
        assert_eq!(Indices::new(9..3, 2).iter().next(), None);
        assert_eq!(Indices::new(usize::MAX..0, 2).iter().next(), None);
    }

    #[test]
    fn the_largest_range_begins_at_its_start() {
        let indices = Indices::new(0..usize::MAX, 2);
        assert!(indices.iter().take(5000).eq(0..5000));
        let chunk = indices.iter().next_chunk().unwrap();
        assert!(chunk.start >= 5000 && !chunk.is_empty());
    }

    #[test]
    fn several_iterators_share_the_indices() {
        let indices = Indices::new(10..20_010, 4);
        let share = || (&indices).into_iter().collect::<Vec<usize>>();
        let shares: Vec<Vec<usize>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(share)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(shares.iter().all(|share| share.is_sorted()));
        let mut all = shares.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(10..20_010));
    }

    #[test]
    fn chunks_and_single_indices_may_be_taken_in_turn() {
        let indices = Indices::new(0..5000, 1);
        let (mut share, mut all) = (indices.iter(), Vec::new());
        while let Some(index) = share.next() {
            all.push(index);
            all.extend(share.next_chunk().into_iter().flatten());
        }
        assert!(all.into_iter().eq(0..5000));
        assert_eq!((share.next(), share.next_chunk()), (None, None));
    }

    #[test]
    fn no_chunk_is_begun_after_a_stop() {
        let indices = Indices::new(0..usize::MAX, 1);
        let (mut share, mut other) = (indices.iter(), indices.iter());
        let first = share.next();
        assert!(first.is_some() && !indices.is_stopped());
        indices.stop();
        assert_eq!((share.next_chunk(), other.next_chunk()), (None, None));
        assert!(indices.is_stopped());
    }
}
