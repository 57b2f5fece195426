//! A counter that hands out 0, 1, 2, ... to any number of threads.

pub(crate) mod gathering;
pub(crate) mod generic;
pub(crate) mod method;

use std::fmt;
use std::ops::Range;

use self::method::Counting;
use crate::machine::{Native, NativeCpu};

/// The processor of the calling thread. It is a constant, so that a call needs no room for it on
/// the stack.
const THIS: &NativeCpu = &Native::cpu();

/// A shared counter: each call gets the next number, and no two calls get the same.
///
/// While few threads call, a call is one `fetch_add`, a load and two branches. When many threads
/// call at once, the counter tries to gather callers in groups by the core they run on: one caller
/// of each group then fetches numbers for all of them. It keeps the groups only while it measures
/// that numbers come faster. On up to some 16 cores that is rarely the case, and the counter stays
/// one word.
///
/// ```
/// use std::thread;
/// use throng::Counter;
///
/// static IDS: Counter = Counter::new();
///
/// let mut drawn: Vec<u64> = thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| [IDS.next(), IDS.next()])).collect();
///     threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
/// });
/// drawn.sort();
/// assert_eq!(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
/// ```
///
/// # What it promises
/// - The counter is linearizable: a call that begins after another has returned gets a larger number.
/// - What a thread did before the call that got a number is visible to a thread that gets a larger one.
/// - A call is wait-free on one word. In a group it waits for the caller that fetches: if that
///   thread is stopped for ever, all calls of its group wait for ever. The first caller of a group
///   makes it, and the other callers wait for that.
///   [`max_depth(0)`](CounterBuilder::max_depth) rules groups out.
/// - No call panics. After `u64::MAX` comes 0 again, as with `AtomicU64::fetch_add`;
///   [`checked_next`](Counter::checked_next) hands out no number twice.
///
/// # What it costs
/// A counter has 768 bytes. It allocates nothing until it gathers callers. Each group that was ever
/// used takes 2 to 20 kB.
///
/// Do not use a counter in signal handlers. Do not use it with threads of very different real-time
/// priority unless groups are ruled out: a group is a lock.
#[derive(Default)]
pub struct Counter(generic::Counter);

impl Counter {
    /// Returns a counter that starts at 0. Allocates nothing until it gathers callers in groups.
    ///
    /// ```
    /// use throng::Counter;
    ///
    /// static IDS: Counter = Counter::new();
    /// assert_eq!(IDS.next(), 0);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Counter(generic::Counter::new())
    }

    /// Returns a builder of a counter.
    pub fn builder() -> CounterBuilder {
        CounterBuilder { generic: generic::Builder::default() }
    }

    /// Returns the next number.
    ///
    /// ```
    /// let counter = throng::Counter::new();
    /// assert_eq!((counter.next(), counter.next()), (0, 1));
    /// ```
    #[inline]
    pub fn next(&self) -> u64 {
        self.0.next_on(THIS)
    }

    /// Returns the next `count` numbers in a row, for about the price of one. Draws nothing if `count` is 0.
    ///
    /// If `u64::MAX` is among the numbers, the range ends below its start.
    ///
    /// ```
    /// let counter = throng::Counter::new();
    /// assert_eq!(counter.next_many(3), 0..3);
    /// assert_eq!(counter.next(), 3);
    /// ```
    #[inline]
    pub fn next_many(&self, count: u64) -> Range<u64> {
        self.0.next_many_on(THIS, count)
    }

    /// Returns the next number, or `None` if only `u64::MAX` is left.
    ///
    /// While threads call only this and [`checked_next_many`](Counter::checked_next_many), no number is handed out
    /// twice. A call is a loop of compare-exchanges: lock-free, and slower than [`next`](Counter::next) while other
    /// threads draw.
    ///
    /// ```
    /// use throng::Counter;
    ///
    /// let last = Counter::builder().start_at(u64::MAX - 1).build();
    /// assert_eq!(last.checked_next(), Some(u64::MAX - 1));
    /// assert_eq!(last.checked_next(), None);
    /// ```
    #[must_use]
    pub fn checked_next(&self) -> Option<u64> {
        self.checked_next_many(1).map(|range| range.start)
    }

    /// Returns the next `count` numbers in a row, or `None` if not all of them are below `u64::MAX`; then nothing is
    /// drawn. See [`checked_next`](Counter::checked_next).
    ///
    /// ```
    /// use throng::Counter;
    ///
    /// let counter = Counter::new();
    /// assert_eq!(counter.checked_next_many(1 << 63), Some(0..1 << 63));
    /// assert_eq!(counter.checked_next_many(1 << 63), None);
    /// ```
    #[must_use]
    pub fn checked_next_many(&self, count: u64) -> Option<Range<u64>> {
        self.0.checked_next_many(count)
    }

    /// Returns a number that is above all numbers handed out before this call. While no other call is in progress, it
    /// is the next number. Draws nothing, and never waits.
    ///
    /// ```
    /// let counter = throng::Counter::new();
    /// counter.next_many(7);
    /// assert_eq!(counter.peek(), 7);
    /// ```
    #[must_use]
    #[inline]
    pub fn peek(&self) -> u64 {
        self.0.peek()
    }

    /// Returns the present shape of the counter and the number of its changes.
    ///
    /// ```
    /// let stats = throng::Counter::new().stats();
    /// assert_eq!((stats.depth, stats.changes), (0, 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> CounterStats {
        let generic::Stats { levels, changes, .. } = self.0.stats();
        CounterStats { depth: levels.depth(), changes }
    }
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CounterStats { depth, changes } = self.stats();
        f.debug_struct("Counter")
            .field("next", &self.peek())
            .field("depth", &depth)
            .field("changes", &changes)
            .finish_non_exhaustive()
    }
}

/// Builds a [`Counter`].
///
/// ```
/// use throng::Counter;
///
/// let tickets = Counter::builder().start_at(1000).max_depth(0).build();
/// assert_eq!(tickets.next(), 1000);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder makes nothing until `build` is called"]
pub struct CounterBuilder {
    generic: generic::Builder,
}

impl CounterBuilder {
    /// Sets the first number. 0 by default.
    pub fn start_at(mut self, number: u64) -> Self {
        self.generic = self.generic.start_at(number);
        self
    }

    /// Sets the largest number of levels of groups. With 0 the counter stays one word, and every
    /// call is wait-free. The default is 2, the most that a counter uses.
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.generic = self.generic.max_depth(levels);
        self
    }

    /// Allocates the groups for this number of cores at once, so that no call allocates later: a few megabytes for
    /// hundreds of cores. 0 by default.
    pub fn prepared_for(mut self, cores: usize) -> Self {
        self.generic = self.generic.prepared_for(cores);
        self
    }

    /// Returns the counter.
    #[must_use]
    pub fn build(&self) -> Counter {
        Counter(self.generic.build())
    }
}

/// The shape of a [`Counter`] and its changes. Returned by [`Counter::stats`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CounterStats {
    /// The number of levels of groups in use; 0 while the counter is one word.
    pub depth: u32,
    /// The number of changes of shape so far, trials included.
    pub changes: u64,
}
