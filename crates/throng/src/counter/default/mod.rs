//! [`Counter`], the default: one `fetch_add` while few are there, groups when there is a crowd.
//!
//! ```text
//!   next():  mode ── one word ──────────────────────> root.fetch_add(1)
//!                 └─ a crowd ──> group ─> (group) ──> root.fetch_add(as many as are waiting)
//! ```
//!
//! All numbers come from one word, the root, by `fetch_add`; only how a caller gets there is
//! different. So a change of shape is one store to the word `mode`, at any time, by anyone: there is
//! nothing to close, to move, to wait for or to free, and callers that have not noticed yet go on
//! as before.
//!
//! - **Alone** a call is a read of `mode`, which is in every cache, one `fetch_add`, and a test
//!   whether this number is one of those, say every 4096th, that are followed by a *look* at the
//!   clock.
//! - **In a crowd** callers [gather](super::gathering) by location.
//! - **When to change** is measured: a look finds how fast numbers come and how long the root takes. Another
//!   shape is tried only when there is a crowd, kept only if numbers then come faster, and else tried
//!   again ever more rarely (`policy.rs`). On a machine where one word is always best it stays one
//!   word, and trials cost less than 2 % of the time.
//!
//! *Linearizable* in every shape. *Wait-free* on one word; in a crowd *blocking*: a caller that
//! stops while it leads a group stops that group ([`Builder::max_depth`] 0 rules that out). *Memory*:
//! six lines; 2 to 20 kB for each group that was ever used. *When to use it*: whenever you would use
//! an `AtomicU64` to count.
//!
//! *Numbers* have 64 bits. From 2^62 on they come from one word (a group can hold 63 bits), and after
//! the last one they begin again at 0, as those of an `AtomicU64`. This assumes that no call in a group
//! takes so long that 2^62 numbers are drawn meanwhile: centuries of [`Counter::next`], but seconds if
//! others do nothing but draw 2^32 at a time.
//!
//! *Not for* signal handlers, nor for threads of very different real-time priority while there is a
//! crowd, as for any lock. A `static` needs a [`LazyLock`](std::sync::LazyLock):
//!
//! ```
//! use std::sync::LazyLock;
//! use throng::Counter;
//!
//! static REQUESTS: LazyLock<Counter> = LazyLock::new(Counter::new);
//! assert_eq!(REQUESTS.next(), 0);
//! ```
//!
//! `README.md` in this directory has the states, why nothing is lost or given twice, the memory
//! orderings, and what we measured against sealed epochs and trees.

mod ladder;
mod policy;
mod tuner;

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use super::gathering::{Groups, Levels, SLOTS};
use super::{About, Consistency, Counting, Method, Progress, Shape, ShapeError};
use crate::machine::{Cpu, Line, Machine, Native, NativeCpu, NativeWord, Place, Word};
use policy::{Look, Next, State};
use tuner::Tuner;

/// From here on numbers come from one word only: an answer in a group has 63 bits, and it is assumed
/// that so many more are not drawn while a call is in progress.
const FLAT_FROM: u64 = 1 << 62;

/// Passed by no number that anyone draws: the window of a counter that needs no looks, but for the one
/// at [`FLAT_FROM`].
const NEVER: u32 = 62;

/// The window of a new counter: numbers from one look to the next, as a power of two.
const FIRST_WINDOW: u32 = 8;

/// After so many units of [`Cpu::pause`] somebody else has fetched, if there is a crowd.
const UNTIL_OTHERS_HAVE_IT: u32 = 4;

/// So many numbers of [`Counting::fill_on`] are drawn before the mode is read again.
const AT_ONCE: usize = 64;

/// The processor of the calling thread, whichever that is: a constant, so that a call needs no place
/// for it on the stack.
const THIS: &NativeCpu = &Native::cpu();

/// The word `mode`: how to get to the root, and which numbers are followed by a look.
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
    const CROWD: u64 = 1 << 63;

    /// One word, and no number below 2^63 but 0 is followed by a look.
    const FLAT_FOR_EVER: Mode = Mode(Self::CROWD - 1);

    /// One word, and a look after each `2^window` numbers.
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

    /// How many numbers lie between two looks, as a power of two.
    #[inline]
    const fn window(self) -> u32 {
        if self.is_flat() { self.0.trailing_ones() } else { (self.0 & 63) as u32 }
    }

    /// Whether a fetch of `count` numbers from `first` on is followed by a look.
    #[inline]
    const fn looks_after(self, first: u64, count: u64) -> bool {
        // Whether there is a multiple among them.
        let window = self.window();
        first.wrapping_sub(1) >> window != first.wrapping_add(count).wrapping_sub(1) >> window
    }
}

/// How a [`Counter`] chooses its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// By what it measures: the default.
    #[default]
    Measured,
    /// Always this one.
    Stay(Levels),
    /// Another one, at random, after every number: slow, and a hard test for everyone around.
    Restless,
}

/// Makes a [`Counter`] to order.
///
/// ```
/// use throng::Counter;
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
    /// Where something else than the usual shapes is to be checked: how many of them, and how many
    /// answers a group keeps.
    checked: Option<(usize, usize)>,
}

impl Builder {
    /// Asks for a linearizable counter: a call that starts after another has returned gets a larger
    /// number. Every shape there is today is linearizable, so this changes nothing; who needs the
    /// promise says so, and keeps it when shapes are added that do not give it.
    pub fn linearizable(self) -> Self {
        self
    }

    /// At most so many levels of groups, whatever the policy says and whoever calls
    /// [`reshape`](Counter::reshape); 0 keeps it one word, and so wait-free. By itself a counter uses up
    /// to 2.
    pub fn max_depth(mut self, levels: u32) -> Self {
        self.depth = Some(levels);
        self
    }

    /// The first number.
    pub fn start_at(mut self, number: u64) -> Self {
        self.start = number;
        self
    }

    /// How the counter chooses its shape.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Makes the groups of so many locations (cores) at once, instead of each when its first caller
    /// comes: a few megabytes for hundreds of cores, and nobody has to wait for memory later.
    pub fn prepared_for(mut self, locations: usize) -> Self {
        self.prepared = locations;
        self
    }

    /// The counter, for real threads.
    #[must_use]
    pub fn build(&self) -> Counter {
        self.on_machine()
    }

    /// The counter, on machine `M`.
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

/// A shared counter that needs no tuning: as fast as a `fetch_add` when that is best, and faster in
/// a crowd.
///
/// ```
/// use std::thread;
/// use throng::Counter;
///
/// let ids = Counter::new();
/// let mut drawn: Vec<u64> = thread::scope(|scope| {
///     let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| [ids.next(), ids.next()])).collect();
///     threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
/// });
/// drawn.sort();
/// assert_eq!(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
/// ```
///
/// [`methods`](super::methods) and the [module](super) show what else there is.
pub struct Counter<M: Machine = Native> {
    root: Line<M::Word>,
    way: Line<Way<M>>,
    tuner: Tuner<M>,
    ladder: &'static [Levels],
    policy: Policy,
    /// The most levels of groups.
    depth: u32,
    slots: usize,
}

/// How to get to the root: read by everyone, written when the shape changes.
#[derive(Debug)]
struct Way<M: Machine> {
    /// A [`Mode`].
    mode: M::Word,
    /// How often the shape has changed.
    changes: M::Word,
    /// Made when there is a crowd for the first time.
    groups: OnceLock<Groups<M>>,
}

/// What a [`Counter`] tells about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Its present shape.
    pub levels: Levels,
    /// How often it has changed its shape, trials included.
    pub changes: u64,
    /// How often it has found another shape better and stayed.
    pub moves: u64,
    /// The next number.
    pub next: u64,
}

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

    /// Makes a counter to order.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// The next number.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next_on(THIS)
    }

    /// The next `count` numbers, all in a row; nothing is drawn for 0. Where 2^64 - 1 is among them,
    /// the range ends below its start.
    ///
    /// ```
    /// let counter = throng::Counter::new();
    /// assert_eq!(counter.next_many(3), 0..3);
    /// assert_eq!(counter.next(), 3);
    /// ```
    #[inline]
    pub fn next_many(&self, count: u32) -> Range<u64> {
        self.next_many_on(THIS, count)
    }
}

impl<M: Machine> Counter<M> {
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
        self.root.load(Acquire)
    }
}

// No call leaves a counter half changed.
impl<M: Machine> UnwindSafe for Counter<M> {}
impl<M: Machine> RefUnwindSafe for Counter<M> {}

impl<M: Machine> fmt::Debug for Counter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Its groups are many, and in use.
        f.debug_struct("Counter").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

impl Default for Counter {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Machine> Counter<M> {
    /// The next `count` numbers, all in a row, on processor `cpu`; nothing is drawn for 0.
    #[inline]
    pub fn next_many_on(&self, cpu: &M::Cpu, count: u32) -> Range<u64> {
        let asked = u64::from(count);
        let first = match self.mode() {
            _ if count == 0 => self.root.load(Acquire),
            mode if mode.is_flat() => self.fetch(cpu, mode, asked),
            mode => self.gather(cpu, mode, asked),
        };
        first..first.wrapping_add(asked)
    }

    /// The present shape, and what has happened so far.
    ///
    /// ```
    /// let counter = throng::Counter::new();
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

    /// Changes the shape now, whatever the policy, but no deeper than allowed; a [`Policy`] that
    /// measures may soon change it again. Calls in progress go on as they are.
    ///
    /// ```
    /// use throng::Counter;
    /// use throng::counter::gathering::Levels;
    ///
    /// let counter = Counter::new();
    /// counter.reshape(Levels::of_heights(&[3])?);
    /// assert_eq!((counter.next(), counter.stats().levels.depth()), (0, 1));
    /// # Ok::<(), throng::counter::ShapeError>(())
    /// ```
    pub fn reshape(&self, levels: Levels) {
        // From 2^62 on there is but one shape.
        if self.root.load(Relaxed) < FLAT_FROM {
            let (before, levels) = (self.mode(), levels.at_most(self.depth));
            self.change(before, Mode::new(Next { levels, window: before.window().min(NEVER) }));
        }
    }

    #[inline]
    fn mode(&self) -> Mode {
        // Any mode is right at any time, so nothing is ordered by it.
        Mode(self.way.mode.load(Relaxed))
    }

    /// A call in a crowd.
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
        // A leader looks when it has answered its group.
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

    /// Fetches numbers from the root, alone; returns the first.
    fn fetch(&self, cpu: &M::Cpu, mode: Mode, count: u64) -> u64 {
        let first = self.root.fetch_add(count, AcqRel);
        if mode.looks_after(first, count) {
            self.look(cpu, first, count);
        }
        first
    }

    /// Has a look, and returns the number that it followed: so the way without a look keeps nothing
    /// on the stack.
    #[cold]
    #[inline(never)]
    fn look_after(&self, cpu: &M::Cpu, number: u64) -> u64 {
        self.look(cpu, number, 1);
        number
    }

    /// Looks at the clock, and changes the shape if the policy says so, after `count` numbers from
    /// `first` on were drawn.
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

    /// What the policy says, unless someone else is asking it.
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

    /// How long a fetch at the root takes, less what it takes to look at the clock.
    fn time_a_fetch(&self, cpu: &M::Cpu) -> u64 {
        // Whoever has just had the line would find it still there, and wait for nobody.
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

    /// On one word, nothing but the `fetch_add`s: the mode is read once for many.
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
        summary: "the default: one fetch_add when alone, groups in a crowd",
        paper: "ours",
        consistency: Consistency::Linearizable,
        progress: Progress::Blocking,
    };

    /// Needs no shape; without patience it is [`Policy::Restless`].
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

    /// The constant is written apart from what builds counters on any machine.
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
            let counter = Counter::builder().start_at(500).policy(policy).linearizable().build();
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
        // On a busy machine it may have taken an interruption for a crowd, and looked for groups.
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
