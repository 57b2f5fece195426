//! [`Indices`]: the indices of a range, handed out to whoever comes.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::pace::Pace;
use crate::counter::Counter;
use crate::machine::{Cpu, Line, Machine, Native, NativeCpu, Place, Word};

/// The processor of the calling thread, whichever that is.
const THIS: &NativeCpu = &Native::cpu();

/// The indices of a range, shared out among threads while they run: each thread
/// [iterates](Indices::iter) over those that it gets, and no two get the same.
///
/// For threads that are already there: those of a scope, or of any pool. Where there are none,
/// [`for_each_index`](super::for_each_index) brings them.
///
/// ```
/// use std::thread;
/// use throng::pool::Indices;
///
/// let indices = Indices::new(0..1000, 4);
/// let sums: Vec<usize> = thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| indices.iter().sum::<usize>())).collect();
///     threads.into_iter().map(|thread| thread.join().unwrap()).collect()
/// });
/// assert_eq!(sums.iter().sum::<usize>(), 999 * 1000 / 2);
/// ```
///
/// An iterator takes several indices at once, a *chunk*, from a [`Counter`]. It looks at the clock once
/// a chunk, and so learns how large a chunk may be: some 50 microseconds of work, less towards the
/// end, and a single index where one takes that long. Within a chunk indices ascend, and so do the
/// chunks that one iterator gets.
///
/// # What is left of a chunk
/// An iterator that is dropped before its end takes the rest of its chunk with it: nobody gets those
/// indices. To end early, call [`stop`](Indices::stop) and go on until the iterator ends.
pub struct Indices<M: Machine = Native> {
    range: Range<usize>,
    threads: usize,
    /// How many were handed out, from the range's start on; larger at the end, when several have come
    /// in vain. It does not come around to 0 again: each iterator comes in vain once, for a chunk.
    next: Counter<M>,
    /// 1 when there shall be no more chunks.
    stopped: Line<M::Word>,
}

impl Indices {
    /// The indices of `range`, for about so many threads. More or fewer may come: the number is used
    /// to find out how large a chunk may be near the end. An empty range has no indices, and neither
    /// has one that ends before its start.
    #[must_use]
    pub fn new(range: Range<usize>, threads: usize) -> Self {
        Self::on_machine(range, threads)
    }

    /// An iterator over the indices that the calling thread gets.
    pub fn iter(&self) -> Share<'_> {
        self.iter_on(THIS)
    }
}

impl<M: Machine> Indices<M> {
    /// The same on machine `M`.
    #[must_use]
    pub fn on_machine(range: Range<usize>, threads: usize) -> Self {
        Indices {
            range,
            threads,
            next: Counter::builder().on_machine(),
            stopped: Line::word::<M>(0, Place::named("stopped")),
        }
    }

    /// An iterator over the indices that processor `cpu` gets.
    pub fn iter_on<'a>(&'a self, cpu: &'a M::Cpu) -> Share<'a, M> {
        Share { indices: self, cpu, pace: Pace::new(self.threads), state: State::New, chunk: 0..0 }
    }

    /// Hands out no more chunks: iterators end after the one that they have.
    ///
    /// ```
    /// let indices = throng::pool::Indices::new(0..1_000_000_000_000, 1);
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
        // Orders nothing: whoever sees it late takes one more chunk.
        self.stopped.store(1, Relaxed);
    }

    /// Whether [`stop`](Indices::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed) != 0
    }
}

impl<M: Machine> fmt::Debug for Indices<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Indices")
            .field("range", &self.range)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl<'a> IntoIterator for &'a Indices {
    type Item = usize;
    type IntoIter = Share<'a>;

    fn into_iter(self) -> Share<'a> {
        self.iter()
    }
}

/// The indices that one thread gets: an iterator. It stays on the thread that made it.
///
/// ```compile_fail
/// let indices = throng::pool::Indices::new(0..9, 2);
/// let mut share = indices.iter();
/// std::thread::scope(|scope| {
///     scope.spawn(move || share.next());
/// });
/// ```
pub struct Share<'a, M: Machine = Native> {
    indices: &'a Indices<M>,
    cpu: &'a M::Cpu,
    pace: Pace,
    state: State,
    chunk: Range<usize>,
}

/// What an iterator knows.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Nothing.
    New,
    /// When it got its last chunk, and how many indices were left after that.
    Going { since: u64, left: u64 },
    /// That there is nothing more.
    Ended,
}

impl<M: Machine> Share<'_, M> {
    /// The next indices, all in a row: for loops that do better with many at once. What is left of the
    /// present chunk comes first. `None` at the end; no chunk is empty.
    ///
    /// ```
    /// let indices = throng::pool::Indices::new(0..1000, 1);
    /// let (mut share, mut sum) = (indices.iter(), 0);
    /// while let Some(chunk) = share.next_chunk() {
    ///     sum += chunk.sum::<usize>();
    /// }
    /// assert_eq!(sum, 999 * 1000 / 2);
    /// ```
    #[inline]
    pub fn next_chunk(&mut self) -> Option<Range<usize>> {
        if self.chunk.is_empty() {
            return self.take_chunk();
        }
        let rest = self.chunk.clone();
        self.chunk.start = rest.end;
        Some(rest)
    }

    /// A chunk of those that nobody has taken yet.
    #[inline(never)]
    fn take_chunk(&mut self) -> Option<Range<usize>> {
        let Range { start, end } = self.indices.range;
        let all = end.saturating_sub(start) as u64;
        let now = self.cpu.clock();
        let count = match self.state {
            State::Ended => return None,
            State::New => self.pace.next(0, all),
            State::Going { since, left } => self.pace.next(now.saturating_sub(since), left),
        };
        // Nothing is drawn in vain where that can be known: the counter has but 64 bits.
        if all == 0 || self.indices.is_stopped() {
            self.state = State::Ended;
            return None;
        }
        let first = self.indices.next.next_many_on(self.cpu, count).start;
        if first >= all {
            self.state = State::Ended;
            return None;
        }
        let count = u64::from(count).min(all - first);
        self.state = State::Going { since: now, left: all - first - count };
        // Both are in the range, so they fit.
        Some(start + first as usize..start + (first + count) as usize)
    }
}

impl<M: Machine> Iterator for Share<'_, M> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.chunk.is_empty() {
            self.chunk = self.take_chunk()?;
        }
        self.chunk.next()
    }

    /// Chunk by chunk, so that the loop inside is a plain one.
    #[inline]
    fn fold<B, F: FnMut(B, usize) -> B>(mut self, init: B, mut f: F) -> B {
        let mut folded = init;
        while let Some(chunk) = self.next_chunk() {
            folded = chunk.fold(folded, &mut f);
        }
        folded
    }
}

impl<M: Machine> FusedIterator for Share<'_, M> {}

impl<M: Machine> fmt::Debug for Share<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share")
            .field("chunk", &self.chunk)
            .field("state", &self.state)
            .finish_non_exhaustive()
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
