//! The size of a chunk: computed from the time that the last chunk took and the count of indices
//! left.
//!
//! The code uses no shared memory; every thread has its own [`Pace`].

/// The longest time of a chunk, in units of the clock (nanoseconds, or cycles of a simulated
/// machine). It is long enough to make the cost of taking a chunk negligible. It is short enough
/// that indices which take much longer than those before them are not all in one chunk.
const LONG: u64 = 50_000;

/// The shortest time of a chunk, in units of the clock, unless the thread's share of the rest is
/// shorter. In shorter chunks, taking them would be much of the work.
const SHORT: u64 = 2_000;

/// The factor by which a chunk may be larger than the one before, since the first indices may be
/// the short ones.
const GROWTH: u64 = 8;

/// The number of chunks for each thread into which the rest is divided, so that all threads end
/// together. A chunk is then done before the other threads have done the rest, even if its indices
/// take three times as long as theirs. With more and smaller chunks, loops of short indices are
/// slower: a thread that begins a chunk finds its memory in another core's cache.
const PARTS: u64 = 3;

/// The largest chunk, in indices.
const MOST: u64 = 1 << 24;

/// The state from which one thread computes the size of its next chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The number of threads, or an estimate of it.
    threads: u64,
    /// The size of the last chunk; 0 before the first.
    last: u64,
}

impl Pace {
    /// Returns the state of one of `threads` threads.
    pub(super) const fn new(threads: usize) -> Self {
        let threads = if threads == 0 { 1 } else { threads as u64 };
        Pace { threads, last: 0 }
    }

    /// Returns the size of the next chunk. The last chunk took `took` units of time, and `left`
    /// indices were left after it.
    pub(super) fn next(&mut self, took: u64, left: u64) -> u32 {
        self.last = if self.last == 0 {
            // Nothing is known yet, and any index may take very long.
            1
        } else {
            let (least, most) = (self.within(SHORT, took), self.within(LONG, took));
            let (share, part) = (left / self.threads, left / PARTS.saturating_mul(self.threads));
            // Never more than the thread's share, however short the last indices were: the next
            // ones may be long.
            part.clamp(least, most).min(share).clamp(1, MOST)
        };
        self.last as u32
    }

    /// Returns the count of indices that take `time`, if they are like the last ones.
    fn within(&self, time: u64, took: u64) -> u64 {
        // This does not overflow: a chunk has at most MOST indices.
        (self.last * time / took.max(1)).min(self.last * GROWTH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = u64::MAX;

    #[test]
    fn the_first_chunk_is_one_index_and_chunks_grow_step_by_step() {
        let mut pace = Pace::new(2);
        let sizes: Vec<u32> = (0..5).map(|_| pace.next(10, MANY)).collect();
        assert_eq!(sizes, [1, 8, 64, 512, 4096]);
    }

    #[test]
    fn a_chunk_takes_about_as_long_as_it_should_whatever_the_work() {
        for index_ns in [1, 3, 50, 700, 9000] {
            let mut pace = Pace::new(4);
            let mut size = u64::from(pace.next(0, MANY));
            for _ in 0..10 {
                size = u64::from(pace.next(size * index_ns, MANY));
            }
            let time = size * index_ns;
            assert!((LONG / 2..=LONG).contains(&time), "{size} of {index_ns} ns");
        }
    }

    #[test]
    fn long_indices_are_taken_one_by_one() {
        let mut pace = Pace::new(2);
        assert!((0..9).all(|_| pace.next(1_000_000, MANY) == 1));
    }

    #[test]
    fn an_index_that_took_long_makes_the_next_chunk_small() {
        let mut pace = Pace { threads: 2, last: 1000 };
        assert_eq!(pace.next(50_000_000, MANY), 1);
    }

    #[test]
    fn chunks_shrink_to_the_end_but_not_below_what_pays() {
        // 100 ns each: 500 would be LONG, 20 are SHORT.
        let size = |left| Pace { threads: 2, last: 100 }.next(10_000, left);
        assert_eq!([MANY, 2400, 1200, 90, 40].map(size), [500, 400, 200, 20, 20]);
        // 10 us each: they are taken one by one in the end.
        let size = |left| Pace { threads: 2, last: 2 }.next(20_000, left);
        assert_eq!([MANY, 24, 12, 11, 0].map(size), [5, 4, 2, 1, 1]);
    }

    #[test]
    fn no_thread_takes_more_than_its_share_of_what_is_left() {
        // 10 ns each: 200 would be SHORT.
        let size = |left| Pace { threads: 4, last: 100 }.next(1000, left);
        assert_eq!([800, 400, 40, 4, 0].map(size), [200, 100, 10, 1, 1]);
    }

    #[test]
    fn no_value_overflows() {
        for threads in [0, 1, usize::MAX] {
            for last in [0, 1, MOST] {
                for took in [0, 1, u64::MAX] {
                    for left in [0, 1, u64::MAX] {
                        let size = Pace { last, ..Pace::new(threads) }.next(took, left);
                        assert!((1..=MOST).contains(&u64::from(size)));
                    }
                }
            }
        }
    }
}
