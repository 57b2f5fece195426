//! [`Counter`], the default: one `fetch_add` under low contention, groups under high contention.
//!
//! ```text
//!   next():  mode ── one word ──────────────────────> root.fetch_add(1)
//!                 └─ groups ───> group ─> (group) ──> root.fetch_add(number of callers waiting)
//! ```
//!
//! All numbers come from one word, the root, by `fetch_add`. Only the way to the root differs. So a
//! change of shape is one store to the word `mode`, by any caller at any time. There is no state to
//! close, to move, to wait for or to free, and callers that have not seen the change yet continue
//! as before.
//!
//! - **Without contention** a call is a read of `mode`, which is in every cache, one `fetch_add`,
//!   and a test of the number. Some numbers, say every 4096th, are followed by a *look* at the
//!   clock.
//! - **Under contention** callers [gather](super::gathering) by location.
//! - **When to change** is measured: a look finds the rate of numbers and the time of one access to
//!   the root. Another shape is tried only when several callers wait at the root. It is kept only
//!   if numbers then come faster; otherwise trials become ever rarer (`policy.rs`). On a machine
//!   where one word is always best the counter stays one word, and trials cost less than 2 % of the
//!   time.
//!
//! *Linearizable* in every shape. *Wait-free* on one word; in groups *blocking*: a caller that
//! stops while it leads a group stops that group ([`Builder::max_depth`] 0 rules that out).
//! *Memory*: six lines, and 2 to 20 kB for each group that was ever used. *When to use it*:
//! whenever you would use an `AtomicU64` to count.
//!
//! *Numbers* have 64 bits. From 2^62 on a counter stays one word, and after the last number it
//! begins again at 0, like an `AtomicU64`.
//!
//! *Not for* signal handlers. While there are groups, not for threads of very different real-time
//! priority either, as for any lock.
//!
//! `README.md` in this directory has the states, why nothing is lost or given twice, the memory
//! orderings, and a comparison with sealed epochs and trees.

mod ladder;
mod policy;
mod tuner;

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use self::policy::{Look, Next, State};
use self::tuner::Tuner;
use super::gathering::{Groups, Levels, SLOTS};
use super::method::{About, Consistency, Counting, Method, Progress, Shape};
use crate::ShapeError;
use crate::machine::{Cpu, Line, Machine, Native, NativeCpu, NativeWord, Place, Word};

/// From this number on a counter stays one word, because the policy does not handle numbers that
/// wrap.
const FLAT_FROM: u64 = 1 << 62;

/// The window of a counter that needs no looks, as a power of two. No number below [`FLAT_FROM`] is
/// a multiple of it, except 0.
const NEVER: u32 = 62;

/// The window of a new counter: numbers from one look to the next, as a power of two.
const FIRST_WINDOW: u32 = 8;

/// The pause before the root is timed, in units of [`Cpu::pause`]. Under contention another caller
/// takes the line in that time.
const UNTIL_OTHERS_HAVE_IT: u32 = 4;

/// The count of numbers that [`Counting::fill_on`] draws before it reads the mode again.
const AT_ONCE: usize = 64;

/// The processor of the calling thread. It is a constant, so that a call needs no room for it on
/// the stack.
const THIS: &NativeCpu = &Native::cpu();

/// The word `mode`: the way to the root, and the numbers that are followed by a look.
///
/// | bits | on one word | in groups |
/// |---|---|---|
/// | 63 | 0 | 1 |
/// | 0..63 | a mask: look when all these bits of the number are 0 | |
/// | 0..8 | | look when a fetch passes a multiple of 2^this |
/// | 8..24 | | the [`Levels`] |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mode(u64);

impl Mode {
    /// The bit of a mode with groups.
    const CROWD: u64 = 1 << 63;

    /// One word, and no look after any number below 2^63 but 0.
    const FLAT_FOR_EVER: Mode = Mode(Self::CROWD - 1);

    /// Returns the mode of one word with a look after each `2^window` numbers.
    const fn flat(window: u32) -> Self {
        Mode((1 << window) - 1)
    }

    fn new(next: Next) -> Self {
        let Next { levels, window } = next;
        if levels == Levels::FLAT {
            Mode::flat(window)
        } else {
            Mode(Self::CROWD | levels.bits() << 8 | u64::from(window))
        }
    }

    #[inline]
    const fn is_flat(self) -> bool {
        self.0 & Self::CROWD == 0
    }

    #[inline]
    const fn levels(self) -> Levels {
        if self.is_flat() { Levels::FLAT } else { Levels::from_bits(self.0 >> 8) }
    }

    /// Returns the count of numbers between two looks, as a power of two.
    #[inline]
    const fn window(self) -> u32 {
        if self.is_flat() { self.0.trailing_ones() } else { (self.0 & 63) as u32 }
    }

    /// Returns whether a fetch of `count` numbers from `first` on is followed by a look.
    #[inline]
    const fn looks_after(self, first: u64, count: u64) -> bool {
        // A look follows if there is a multiple of 2^window among them.
        let window = self.window();
        first.wrapping_sub(1) >> window != first.wrapping_add(count).wrapping_sub(1) >> window
    }
}

/// How a [`Counter`] chooses its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// By measurement: the default.
    #[default]
    Measured,
    /// Always these levels.
    Stay(Levels),
    /// A random shape after every number: slow, and a hard test of the groups.
    #[doc(hidden)]
    Restless,
}

/// Builds a [`Counter`].
///
/// ```
/// use throng::structures::counter::Counter;
/// let tickets = Counter::builder().start_at(1000).max_depth(1).build();
/// assert_eq!(tickets.next(), 1000);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a builder makes nothing until `build` is called"]
pub struct Builder {
    start: u64,
    depth: Option<u32>,
    policy: Policy,
    prepared: usize,
    /// For checks: the number of shapes to use, and the number of answers in a bank.
    checked: Option<(usize, usize)>,
}

impl Builder {
    /// Sets the largest number of levels of groups, for the policy and for
    /// [`reshape`](Counter::reshape). With 0 the counter stays one word, and so wait-free. By
    /// default a counter uses up to 2.
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.depth = Some(levels);
        self
    }

    /// Sets the first number. 0 by default.
    pub fn start_at(mut self, number: u64) -> Self {
        self.start = number;
        self
    }

    /// Sets how the counter chooses its shape.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Allocates the groups for this number of locations (cores) at once, so that no call allocates
    /// later: a few megabytes for hundreds of cores. 0 by default.
    pub fn prepared_for(mut self, locations: usize) -> Self {
        self.prepared = locations;
        self
    }

    /// Returns the counter, for real threads.
    #[must_use]
    pub fn build(&self) -> Counter {
        self.on_machine()
    }

    /// Returns the counter, on machine `M`.
    #[must_use]
    pub fn on_machine<M: Machine>(&self) -> Counter<M> {
        let depth = self.depth.unwrap_or(u32::MAX);
        let ladder = match self.policy {
            Policy::Restless => ladder::restless(depth),
            Policy::Measured | Policy::Stay(_) => ladder::ladder(depth),
        };
        let (rungs, slots) = self.checked.unwrap_or((ladder.len(), SLOTS));
        let ladder = &ladder[..rungs.min(ladder.len())];
        let counter = Counter {
            root: Line::word::<M>(self.start, Place::named("root")),
            way: Line::new::<M>(Place::named("mode"), |spot| Way {
                mode: M::Word::new(self.first_mode(ladder, depth).0, spot),
                changes: M::Word::new(0, spot),
                groups: OnceLock::new(),
            }),
            tuner: Tuner::new(State::new(self.start)),
            ladder,
            policy: self.policy,
            depth,
            slots,
        };
        if self.prepared > 0 {
            self.prepare(&counter);
        }
        counter
    }

    fn first_mode(&self, ladder: &[Levels], depth: u32) -> Mode {
        let (levels, window) = match self.policy {
            _ if self.start >= FLAT_FROM => return Mode::FLAT_FOR_EVER,
            Policy::Measured if ladder.len() > 1 => (Levels::FLAT, FIRST_WINDOW),
            Policy::Measured => return Mode::FLAT_FOR_EVER,
            Policy::Stay(levels) => (levels.at_most(depth), NEVER),
            Policy::Restless => (ladder[ladder.len() - 1], 0),
        };
        Mode::new(Next { levels, window })
    }

    fn prepare<M: Machine>(&self, counter: &Counter<M>) {
        let stays = match self.policy {
            Policy::Stay(levels) => Some(levels.at_most(counter.depth)),
            Policy::Measured | Policy::Restless => None,
        };
        for &levels in stays.as_slice().iter().chain(counter.ladder) {
            counter.groups().make(levels, self.prepared);
        }
    }
}

/// The counter on machine `M`. [`throng::Counter`](crate::Counter) is this one on real threads.
pub struct Counter<M: Machine = Native> {
    root: Line<M::Word>,
    way: Line<Way<M>>,
    tuner: Tuner<M>,
    ladder: &'static [Levels],
    policy: Policy,
    /// The largest number of levels of groups.
    depth: u32,
    slots: usize,
}

/// The way to the root: read by all callers, written when the shape changes.
#[derive(Debug)]
struct Way<M: Machine> {
    /// A [`Mode`].
    mode: M::Word,
    /// The number of changes of shape so far.
    changes: M::Word,
    /// Made at the first change to groups.
    groups: OnceLock<Groups<M>>,
}

/// The shape of a [`Counter`] and its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The present shape.
    pub levels: Levels,
    /// The number of changes of shape so far, trials included.
    pub changes: u64,
    /// The number of trials that found a faster shape, which then was kept.
    pub moves: u64,
    /// The next number.
    pub next: u64,
}

impl Counter {
    /// Returns a counter that starts at 0, as a constant.
    #[must_use]
    pub const fn new() -> Self {
        Counter {
            root: Line::of(NativeWord::constant(0)),
            way: Line::of(Way {
                mode: NativeWord::constant(Mode::flat(FIRST_WINDOW).0),
                changes: NativeWord::constant(0),
                groups: OnceLock::new(),
            }),
            tuner: Tuner::from_zero(),
            ladder: ladder::WHOLE,
            policy: Policy::Measured,
            depth: u32::MAX,
            slots: SLOTS,
        }
    }

    /// Returns a builder of a counter.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns the next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(THIS)
    }

    /// Returns the next `count` numbers in a row, like
    /// [`throng::Counter::next_many`](crate::Counter::next_many).
    #[inline]
    pub fn next_many(&self, count: u64) -> Range<u64> {
        self.next_many_on(THIS, count)
    }
}

impl<M: Machine> Counter<M> {
    /// Returns a number that is above all numbers handed out before this call.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> u64 {
        self.root.load(Acquire)
    }
}

// No call leaves a counter half changed.
impl<M: Machine> UnwindSafe for Counter<M> {}
impl<M: Machine> RefUnwindSafe for Counter<M> {}

impl<M: Machine> fmt::Debug for Counter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The groups are many, and in use, so they are left out.
        f.debug_struct("Counter").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Machine> Counter<M> {
    /// Returns the next `count` numbers in a row, on processor `cpu`. Draws nothing if `count` is
    /// 0.
    #[inline]
    pub fn next_many_on(&self, cpu: &M::Cpu, count: u64) -> Range<u64> {
        let first = match self.mode() {
            _ if count == 0 => self.root.load(Acquire),
            mode if mode.is_flat() => self.fetch(cpu, mode, count),
            mode => self.gather(cpu, mode, count),
        };
        first..first.wrapping_add(count)
    }

    /// Returns the next `count` numbers, or `None` if not all of them are below `u64::MAX`. Then nothing is drawn.
    ///
    /// This is a loop of compare-exchanges: lock-free, and slower than [`next_many_on`](Counter::next_many_on) while
    /// other threads draw.
    #[must_use]
    pub fn checked_next_many(&self, count: u64) -> Option<Range<u64>> {
        let mut first = self.root.load(Acquire);
        loop {
            let end = first.checked_add(count)?;
            match self.root.compare_exchange(first, end, AcqRel, Acquire) {
                Ok(_) => return Some(first..end),
                Err(now) => first = now,
            }
        }
    }

    /// Returns the present shape and its history.
    ///
    /// ```
    /// let counter = throng::structures::counter::Counter::new();
    /// counter.next();
    /// let stats = counter.stats();
    /// assert_eq!((stats.next, stats.levels.depth(), stats.changes), (1, 0, 0));
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats {
            levels: self.mode().levels(),
            changes: self.way.changes.load(Relaxed),
            moves: self.tuner.state().moves,
            next: self.root.load(Relaxed),
        }
    }

    /// Changes the shape now, whatever the policy, up to the largest depth allowed. A [`Policy`]
    /// that measures may soon change it again. Calls in progress are not affected.
    ///
    /// ```
    /// use throng::structures::counter::Counter;
    /// use throng::structures::counter::gathering::Levels;
    ///
    /// let counter = Counter::new();
    /// counter.reshape(Levels::of_heights(&[3])?);
    /// assert_eq!((counter.next(), counter.stats().levels.depth()), (0, 1));
    /// # Ok::<(), throng::structures::counter::ShapeError>(())
    /// ```
    pub fn reshape(&self, levels: Levels) {
        // From 2^62 on there is only one shape.
        if self.root.load(Relaxed) < FLAT_FROM {
            let (before, levels) = (self.mode(), levels.at_most(self.depth));
            self.change(before, Mode::new(Next { levels, window: before.window().min(NEVER) }));
        }
    }

    #[inline]
    fn mode(&self) -> Mode {
        // Any mode is correct at any time, so it orders nothing.
        Mode(self.way.mode.load(Relaxed))
    }

    /// Takes `asked` numbers through groups.
    #[cold]
    #[inline(never)]
    fn gather(&self, cpu: &M::Cpu, mode: Mode, asked: u64) -> u64 {
        cpu.note("depth", mode.levels().depth().into());
        let fetched = Cell::new(None);
        let number = self.groups().take(cpu, mode.levels(), asked, &|batch| {
            let first = self.root.fetch_add(batch, AcqRel);
            fetched.set(Some((first, batch)));
            first
        });
        // A leader looks after it has answered its group.
        if let Some((first, count)) = fetched.get()
            && mode.looks_after(first, count)
        {
            self.look(cpu, first, count);
        }
        number
    }

    fn groups(&self) -> &Groups<M> {
        self.way.groups.get_or_init(|| Groups::new(self.slots))
    }

    /// Fetches `count` numbers from the root without a group, and returns the first.
    fn fetch(&self, cpu: &M::Cpu, mode: Mode, count: u64) -> u64 {
        let first = self.root.fetch_add(count, AcqRel);
        if mode.looks_after(first, count) {
            self.look(cpu, first, count);
        }
        first
    }

    /// Takes a look and returns `number`, the number before it. Returning it here means that the
    /// path without a look keeps nothing on the stack.
    #[cold]
    #[inline(never)]
    fn look_after(&self, cpu: &M::Cpu, number: u64) -> u64 {
        self.look(cpu, number, 1);
        number
    }

    /// Reads the clock, and changes the shape if the policy says so. Called after `count` numbers
    /// from `first` on were drawn.
    #[cold]
    fn look(&self, cpu: &M::Cpu, first: u64, count: u64) {
        let before = self.mode();
        let next = match self.policy {
            _ if first >= FLAT_FROM || self.ladder.len() == 1 => Some(Mode::FLAT_FOR_EVER),
            Policy::Measured => self.measure(cpu, before, first.wrapping_add(count), count),
            Policy::Restless => {
                let levels = self.ladder[cpu.random_below(self.ladder.len())];
                Some(Mode::new(Next { levels, window: 0 }))
            }
            Policy::Stay(_) => None,
        };
        if let Some(next) = next {
            self.change(before, next);
            cpu.note("looked at depth", next.levels().depth().into());
            if next.levels() != before.levels() {
                cpu.note("changed to", next.levels().bits());
            }
        }
    }

    /// Asks the policy for the next mode. Returns `None` if another caller is asking it, or if no
    /// look is due.
    fn measure(&self, cpu: &M::Cpu, before: Mode, number: u64, batch: u64) -> Option<Mode> {
        let due = |state: &State| state.is_due(number);
        self.tuner.look(number, 1 << before.window(), due, |state| {
            let now = cpu.clock();
            let time = |crowded: bool| if crowded { self.time_a_fetch(cpu) } else { 0 };
            let wait = before.is_flat().then(|| time(state.may_be_crowded(now, number)));
            let moves = state.moves;
            let next = state.step(self.ladder, Look { now, number, batch, wait });
            if state.moves != moves {
                cpu.note("moved home to", next.levels.bits());
            }
            Mode::new(next)
        })
    }

    /// Measures the time of a fetch at the root, less the time to read the clock.
    fn time_a_fetch(&self, cpu: &M::Cpu) -> u64 {
        // A caller that has just had the line would still find it in its cache, and would not wait
        // for others.
        cpu.pause(UNTIL_OTHERS_HAVE_IT);
        let now = cpu.clock();
        let start = cpu.clock();
        self.root.fetch_add(0, AcqRel);
        let took = cpu.clock().saturating_sub(start);
        took.saturating_sub(start.saturating_sub(now))
    }

    fn change(&self, before: Mode, next: Mode) {
        if next != before {
            self.way.mode.store(next.0, Relaxed);
        }
        if next.levels() != before.levels() {
            self.way.changes.fetch_add(1, Relaxed);
        }
    }
}

impl<M: Machine> Counting<M> for Counter<M> {
    #[inline]
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        let mode = self.mode();
        if !mode.is_flat() {
            return self.gather(cpu, mode, 1);
        }
        let number = self.root.fetch_add(1, AcqRel);
        cpu.note("depth", 0);
        if number & mode.0 != 0 {
            return number;
        }
        self.look_after(cpu, number)
    }

    /// Fills `values` with numbers. On one word this is one `fetch_add` for each number, and one
    /// read of the mode for each 64 numbers.
    #[inline]
    fn fill_on(&self, cpu: &M::Cpu, values: &mut [u64]) {
        for values in values.chunks_mut(AT_ONCE) {
            let mode = self.mode();
            if !mode.is_flat() {
                values.iter_mut().for_each(|value| *value = self.next_on(cpu));
                continue;
            }
            for value in &mut *values {
                *value = self.root.fetch_add(1, AcqRel);
                cpu.note("depth", 0);
            }
            let (first, last) = (values[0], values[values.len() - 1]);
            if mode.looks_after(first, last.wrapping_sub(first).wrapping_add(1)) {
                self.look(cpu, last, 1);
            }
        }
    }
}

impl<M: Machine> Method<M> for Counter<M> {
    const ABOUT: About = About {
        name: "counter",
        summary: "the default: one fetch_add under low contention, groups under high",
        paper: "ours",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    /// Builds a counter, which needs no shape. With patience 0 it changes its levels at random,
    /// after every number.
    fn build(shape: &Shape) -> Result<Self, ShapeError> {
        if shape.patience > 0 {
            return Ok(Builder::default().on_machine());
        }
        ShapeError::check_range("batches in a bank", shape.bank, 1..=4096)?;
        let widest = shape.width.unwrap_or(shape.processors).max(1);
        let restless = Builder {
            policy: Policy::Restless,
            prepared: shape.processors,
            checked: Some((2 * widest - 1, shape.bank.min(SLOTS))),
            ..Builder::default()
        };
        Ok(restless.on_machine())
    }
}

#[cfg(test)]
mod tests {
    use super::ladder::MOST_DEPTH;
    use super::*;
    use crate::machine::SplitMix64;
    use std::thread;

    fn groups_of(heights: &[u32]) -> Levels {
        Levels::of_heights(heights).unwrap()
    }

    /// The constant is written apart from the code that builds counters on any machine.
    #[test]
    fn a_constant_counter_is_like_one_that_was_built() {
        let words = |counter: &Counter| {
            let mode = counter.way.mode.load(Relaxed);
            let Counter { policy, depth, slots, ladder, .. } = *counter;
            (counter.stats(), mode, counter.tuner.state().to_words(), policy, depth, slots, ladder)
        };
        assert_eq!(words(&const { Counter::new() }), words(&Counter::builder().build()));
    }

    #[test]
    fn modes_say_what_they_were_told() {
        for window in [0, 8, 30] {
            let flat = Mode::new(Next { levels: Levels::FLAT, window });
            assert!(flat.is_flat() && flat.window() == window && flat.levels() == Levels::FLAT);
            let levels = groups_of(&[5, 8]);
            let crowd = Mode::new(Next { levels, window });
            assert!(!crowd.is_flat() && crowd.window() == window && crowd.levels() == levels);
        }
        assert!(Mode::FLAT_FOR_EVER.is_flat());
    }

    #[test]
    fn looks_follow_the_multiples_and_nothing_else() {
        for levels in [Levels::FLAT, groups_of(&[3])] {
            let mode = Mode::new(Next { levels, window: 4 });
            for first in 0..100_u64 {
                for count in 1..40 {
                    let has_multiple = (first..first + count).any(|number| number % 16 == 0);
                    assert_eq!(mode.looks_after(first, count), has_multiple, "{first} {count}");
                }
                assert_eq!(first & 15 == 0, mode.looks_after(first, 1));
            }
        }
    }

    #[test]
    fn it_starts_where_told_and_gives_as_many_as_asked_for() {
        for policy in [Policy::Measured, Policy::Restless, Policy::Stay(groups_of(&[1, 2]))] {
            let counter = Counter::builder().start_at(500).policy(policy).build();
            assert_eq!(counter.next_many(0), 500..500);
            assert_eq!(counter.next_many(7), 500..507);
            assert_eq!(counter.next_many(1 << 20), 507..507 + (1 << 20));
            let mut values = [0; 4];
            counter.fill_on(&Native::cpu(), &mut values);
            let next = 507 + (1 << 20);
            assert_eq!(values, [next, next + 1, next + 2, next + 3]);
            assert_eq!(counter.stats().next, next + 4);
        }
    }

    #[test]
    fn large_numbers_come_from_one_word_and_the_last_is_followed_by_0() {
        let restless = Counter::builder().policy(Policy::Restless).start_at(FLAT_FROM - 50).build();
        assert!((0..100).all(|i| restless.next() == FLAT_FROM - 50 + i));
        assert_eq!(restless.mode(), Mode::FLAT_FOR_EVER);
        restless.reshape(groups_of(&[2]));
        assert_eq!(restless.stats().levels, Levels::FLAT);

        let stay = Policy::Stay(groups_of(&[3]));
        let stays = Counter::builder().policy(stay).start_at(FLAT_FROM - 2).build();
        assert_eq!(stays.stats().levels, groups_of(&[3]));
        assert!((0..9).all(|i| stays.next() == FLAT_FROM - 2 + i));
        assert_eq!(stays.mode(), Mode::FLAT_FOR_EVER);

        let forced = Counter::builder().start_at(FLAT_FROM - 2).build();
        forced.reshape(groups_of(&[3]));
        assert!((0..9).all(|i| forced.next() == FLAT_FROM - 2 + i));
        assert_eq!(forced.mode(), Mode::FLAT_FOR_EVER);

        let last = Counter::builder().start_at(u64::MAX - 1).build();
        assert_eq!([last.next(), last.next(), last.next()], [u64::MAX - 1, u64::MAX, 0]);
        let around = Counter::builder().start_at(u64::MAX).build().next_many(3);
        assert_eq!((around.start, around.end), (u64::MAX, 2));
    }

    #[test]
    fn no_deeper_than_allowed() {
        for depth in [0, 1, 2, 1000] {
            let counter = Counter::builder().max_depth(depth).policy(Policy::Restless).build();
            for _ in 0..500 {
                counter.next();
                assert!(counter.stats().levels.depth() <= depth.min(MOST_DEPTH));
            }
            counter.reshape(groups_of(&[1, 2, 3]));
            assert!(counter.stats().levels.depth() <= depth);
            let stay = Policy::Stay(groups_of(&[1, 3, 5]));
            let stays = Counter::builder().max_depth(depth).policy(stay).prepared_for(9).build();
            assert_eq!(stays.stats().levels.depth(), depth.min(3));
            assert_eq!(stays.next(), 0);
            assert_eq!(counter.stats().changes > 0, depth > 0);
        }
    }

    #[test]
    fn alone_it_stays_one_word() {
        let counter = Counter::new();
        for i in 0..1_000_000 {
            assert_eq!(counter.next(), i);
        }
        // On a busy machine the policy may have taken an interruption for contention, and tried
        // groups.
        assert_eq!(counter.stats().moves, 0);

        let wait_free = Counter::builder().max_depth(0).build();
        assert_eq!(wait_free.next_many(1 << 20), 0..1 << 20);
        assert_eq!(wait_free.mode(), Mode::FLAT_FOR_EVER);
        assert!(wait_free.way.groups.get().is_none(), "nothing was made for a crowd");
    }

    /// 64 threads count while another one changes the shape as fast as it can.
    #[test]
    fn shapes_forced_from_outside_lose_nothing() {
        const THREADS: usize = 64;
        const CHANGES: u64 = 300;
        let counter = Builder { checked: Some((usize::MAX, 3)), ..Counter::builder() }.build();
        let force = || {
            let (mut random, ladder) = (SplitMix64::from_state(7), ladder::ladder(MOST_DEPTH));
            while counter.stats().changes < CHANGES {
                counter.reshape(ladder[random.below(ladder.len() as u64) as usize]);
                Native::cpu().pause(200);
            }
        };
        let count = || {
            let mut drawn = Vec::new();
            while drawn.len() < 200 || counter.stats().changes < CHANGES {
                drawn.push(counter.next());
            }
            drawn
        };
        let mut drawn: Vec<u64> = thread::scope(|s| {
            let threads: Vec<_> = (0..THREADS).map(|_| s.spawn(count)).collect();
            s.spawn(force);
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        drawn.sort_unstable();
        let last = drawn.len() as u64;
        assert!(drawn.into_iter().eq(0..last));
    }
}
