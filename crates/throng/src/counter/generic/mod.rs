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

mod builder;
mod ladder;
mod mode;
mod policy;
#[cfg(test)]
mod tests;
mod tuner;

pub use builder::{Builder, Policy};

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

use self::mode::{FIRST_WINDOW, FLAT_FROM, Mode, NEVER};
use self::policy::{Look, Next, State};
use self::tuner::Tuner;
use super::gathering::{Groups, Levels, SLOTS};
use super::method::Counting;
use crate::machine::{Cpu, Line, Machine, Native, NativeCpu, NativeWord, Word};

/// The pause before the root is timed, in units of [`Cpu::pause`]. Under contention another caller
/// takes the line in that time.
const UNTIL_OTHERS_HAVE_IT: u32 = 4;

/// The count of numbers that [`Counting::fill_on`] draws before it reads the mode again.
const AT_ONCE: usize = 64;

/// The processor of the calling thread. It is a constant, so that a call needs no room for it on
/// the stack.
const THIS: &NativeCpu = &Native::cpu();

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
