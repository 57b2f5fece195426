//! [`Indices`] and [`Share`] on any machine.

use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use super::pace::Pace;
use crate::counter::generic::Counter;
use crate::machine::{Cpu, Line, Machine, Native, Place, Word};

/// The indices of a range, on machine `M`. [`throng::loops::Indices`](crate::loops::Indices) is
/// this one on real threads.
///
/// ```
/// use throng::machine::Native;
/// use throng::structures::pool::Indices;
///
/// let indices = Indices::<Native>::on_machine(0..1000, 1);
/// assert_eq!(indices.iter_on(&Native::cpu()).sum::<usize>(), 999 * 1000 / 2);
/// ```
pub struct Indices<M: Machine = Native> {
    range: Range<usize>,
    threads: usize,
    /// The count of indices handed out, from the range's start on. It is larger than the range at
    /// the end, because each iterator draws once more when no indices are left. It does not wrap:
    /// an iterator does that once, for one chunk.
    next: Counter<M>,
    /// 1 when no more chunks may be taken.
    stopped: Line<M::Word>,
}

impl<M: Machine> Indices<M> {
    /// Returns the indices of `range`, for about `threads` processors. More or fewer may take part.
    #[must_use]
    pub fn on_machine(range: Range<usize>, threads: usize) -> Self {
        Indices {
            range,
            threads,
            next: Counter::builder().on_machine(),
            stopped: Line::word::<M>(0, Place::named("stopped")),
        }
    }

    /// Returns an iterator over the indices that processor `cpu` gets.
    pub fn iter_on<'a>(&'a self, cpu: &'a M::Cpu) -> Share<'a, M> {
        Share { indices: self, cpu, pace: Pace::new(self.threads), state: State::New, chunk: 0..0 }
    }

    /// Ends the loop: each iterator ends after its present chunk.
    pub fn stop(&self) {
        // Orders nothing: an iterator that sees it late takes one more chunk.
        self.stopped.store(1, Relaxed);
    }

    /// Returns whether [`stop`](Indices::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed) != 0
    }

    /// Returns whether a processor that joins now may get a chunk.
    pub(super) fn has_more(&self) -> bool {
        let all = self.range.end.saturating_sub(self.range.start) as u64;
        self.next.peek() < all && !self.is_stopped()
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

/// An iterator over the indices that one processor gets.
pub struct Share<'a, M: Machine = Native> {
    indices: &'a Indices<M>,
    cpu: &'a M::Cpu,
    pace: Pace,
    state: State,
    chunk: Range<usize>,
}

/// The state of an iterator.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It has taken no chunk.
    New,
    /// It took its last chunk at time `since`, and `left` indices were left after that.
    Going { since: u64, left: u64 },
    /// No indices are left for it.
    Ended,
}

impl<M: Machine> Share<'_, M> {
    /// Returns the rest of the present chunk, or else the next chunk, or `None` at the end. No
    /// chunk is empty.
    #[inline]
    pub fn next_chunk(&mut self) -> Option<Range<usize>> {
        if self.chunk.is_empty() {
            return self.take_chunk();
        }
        let rest = self.chunk.clone();
        self.chunk.start = rest.end;
        Some(rest)
    }

    /// Takes the next chunk that no iterator has taken yet.
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
        // The counter has only 64 bits, so it is not drawn from if the loop is known to be over.
        if all == 0 || self.indices.is_stopped() {
            self.state = State::Ended;
            return None;
        }
        let first = self.indices.next.next_many_on(self.cpu, count.into()).start;
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

    /// Folds chunk by chunk, so that the loop inside is a plain one.
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
