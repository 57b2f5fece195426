//! The machine contract: what an algorithm may ask of the world it runs in.
//!
//! Every algorithm of this crate is written once, generic over a [`Machine`], and runs unchanged
//!
//! - on real threads ([`Native`]), where it compiles to plain atomic instructions;
//! - under the model checkers loom and shuttle (crate `throng-check`);
//! - on a simulated machine with hundreds of processors (crate `throng-sim`).
//!
//! The vocabulary is small:
//!
//! | item | what it is |
//! |---|---|
//! | [`Word`] | a shared 64-bit word: the only thing processors talk through |
//! | [`Cell`] | a payload that a protocol over words protects |
//! | [`Cpu`] | the processor that runs the algorithm: who it is, random bits, time, waiting |
//! | [`Place`], [`Line`] | where shared memory lives: which words share a cache line, whose memory it is |
//! | [`PerCpu`], [`Growing`] | one entry for every processor there ever was; arrays without an end |
//!
//! A toggle, written against the contract:
//!
//! ```
//! use std::sync::atomic::Ordering::AcqRel;
//! use throng::machine::{Line, Machine, Native, Place, Word};
//!
//! struct Toggle<M: Machine> {
//!     passed: Line<M::Word>,
//! }
//!
//! impl<M: Machine> Toggle<M> {
//!     fn new() -> Self {
//!         Toggle { passed: Line::word::<M>(0, Place::named("toggle")) }
//!     }
//!     fn flip(&self) -> u64 {
//!         self.passed.fetch_add(1, AcqRel) & 1
//!     }
//! }
//!
//! let toggle = Toggle::<Native>::new();
//! assert_eq!([toggle.flip(), toggle.flip(), toggle.flip()], [0, 1, 0]);
//! ```
//!
//! # Rules for algorithms
//!
//! 1. Processors communicate through [`Word`]s and [`Cell`]s only. State that one processor keeps
//!    for itself may be anything (an `AtomicU32` read and written relaxed in its [`PerCpu`] entry).
//! 2. A wait without a bound is [`Word::wait_while`] (somebody is in the middle of something),
//!    [`Word::sleep_while`] (somebody may come much later) or, where no single word decides, a loop
//!    that calls [`Cpu::retry`] every round. A wait with a bound is [`Word::spin_while`] or
//!    [`Cpu::pause`]. The difference matters: checkers hand the processor over in the first kind
//!    and do nothing in the second, because a hand-over inside a bounded spin would hide races.
//! 3. A constructor makes words but does not access them.
//! 4. When the simulator takes a processor apart that was halted in the middle of a call, its
//!    destructors run, and nobody is left for them to wait for: a wait returns although it is
//!    blocked. So a destructor must not rely on a wait, nor take a lock.
//! 5. Orderings are those of [`std::sync::atomic`] and mean the same. loom checks them (it treats
//!    sequentially consistent *accesses* as acquire-release, so a total order needs
//!    [`Machine::fence`] or a read-modify-write); shuttle and the simulator are sequentially
//!    consistent.

use std::fmt::Debug;
use std::sync::atomic::Ordering;

pub(crate) mod absent;
mod fences;
mod ids;
mod location;
mod native;
mod per_cpu;
mod place;
mod random;
mod time;
mod waiting;

pub use native::{Native, NativeCell, NativeCpu, NativeWord};
pub use per_cpu::{Growing, Make, PerCpu};
pub use place::{Home, Line, Place};
pub use random::SplitMix64;
pub use waiting::{BusyCores, Patience, RoundTimes, Watch, WayOut};

/// A world in which the algorithms run.
///
/// # Safety
/// Locks, and so the exclusive access to what they protect, rest on the machine: operations on its
/// words must be atomic and ordered as asked, [`Word::wait_while`] must not return while it is
/// blocked (but see rule 4), and no two processors that run at the same time may have the same
/// [`Cpu::id`].
pub unsafe trait Machine: Debug + Sized + Send + Sync + 'static {
    /// A shared 64-bit word.
    type Word: Word<Self>;
    /// A payload protected by a protocol over words.
    type Cell<T: Send>: Cell<T, Self>;
    /// A processor.
    type Cpu: Cpu;
    /// One line of this machine's memory, as [`Machine::spot`] found it; words and cells made with
    /// the same spot are neighbours.
    type Spot;

    /// Sets aside a fresh line of memory.
    fn spot(place: Place) -> Self::Spot;

    /// A memory fence, as [`std::sync::atomic::fence`].
    fn fence(order: Ordering);

    /// Whether a [`light_fence`](Machine::light_fence) is one. If not, it takes a full
    /// [`fence`](Machine::fence) instead.
    fn has_light_fence() -> bool {
        true
    }

    /// One half of a sequentially consistent fence: it is one against every
    /// [`heavy_fence`](Machine::heavy_fence), and against nothing else; but only where the machine
    /// [has it](Machine::has_light_fence). For the side that comes here all the time: it costs nothing.
    #[inline]
    fn light_fence() {
        Self::fence(Ordering::SeqCst);
    }

    /// The other half, for the side that hardly ever comes here: some microseconds, and an interruption
    /// of every thread of the program that is running.
    fn heavy_fence() {
        Self::fence(Ordering::SeqCst);
    }
}

/// A shared 64-bit word: the operations of [`AtomicU64`](std::sync::atomic::AtomicU64), and
/// waiting.
pub trait Word<M: Machine>: Debug + Send + Sync {
    /// A word on the line `spot`.
    fn new(value: u64, spot: &M::Spot) -> Self;

    /// Reads the word.
    fn load(&self, order: Ordering) -> u64;

    /// Writes the word.
    fn store(&self, value: u64, order: Ordering);

    /// Writes the word and returns what was there.
    fn swap(&self, value: u64, order: Ordering) -> u64;

    /// Writes `new` if the word is `current`; tells what was there.
    ///
    /// # Errors
    /// The value found, if it was not `current`.
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64>;

    /// Adds, wrapping, and returns what was there.
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;

    /// Subtracts, wrapping, and returns what was there.
    fn fetch_sub(&self, value: u64, order: Ordering) -> u64;

    /// Sets the bits of `value` and returns what was there.
    fn fetch_or(&self, value: u64, order: Ordering) -> u64;

    /// Clears the bits that are not in `value` and returns what was there.
    fn fetch_and(&self, value: u64, order: Ordering) -> u64;

    /// Waits until `blocked` is false of the word, and returns the value that made it so.
    ///
    /// The wait has no bound: some other processor must be sure to change the word. Real threads
    /// spin for a short time and then let others run; the simulator sleeps until the word changes.
    fn wait_while(&self, cpu: &M::Cpu, order: Ordering, blocked: impl FnMut(u64) -> bool) -> u64;

    /// Looks at the word until `blocked` is false of it, but at most `polls` times; returns the
    /// last value seen. With `polls` = 0 it looks once.
    fn spin_while(
        &self,
        cpu: &M::Cpu,
        polls: u32,
        order: Ordering,
        blocked: impl FnMut(u64) -> bool,
    ) -> u64;

    /// Waits as [`wait_while`](Word::wait_while) does, but for an event that may be far away, and
    /// with a way out: `None` where that was open and the word still blocked. Real threads spin, let others run, and at
    /// last sleep; who changes the word wakes them by [`signal`](Word::signal).
    fn sleep_while(
        &self,
        cpu: &M::Cpu,
        order: Ordering,
        way_out: &WayOut<'_, M>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let mut round = 0_u32;
        loop {
            let value = self.load(order);
            if !blocked(value) {
                return Some(value);
            }
            if way_out.is_open(cpu) {
                // Whoever opened it may have done so after the event.
                let value = self.load(order);
                return (!blocked(value)).then_some(value);
            }
            cpu.retry(round);
            round = round.saturating_add(1);
        }
    }

    /// Writes the word and wakes those who [sleep](Word::sleep_while) on it. What was done before
    /// is visible to them, as after a release store.
    fn signal(&self, value: u64) {
        self.store(value, Ordering::Release);
    }

    /// Wakes those who [sleep](Word::sleep_while) on the word, where it was changed otherwise than by
    /// [`signal`](Word::signal): by a sequentially consistent operation, or before a
    /// [fence](Machine::fence) of that kind.
    fn wake(&self) {}

    /// Does the same as [`wake`](Word::wake), but without a look at whether a thread sleeps there. This also wakes
    /// threads whose way out says that they are [always woken](WayOut::is_always_woken).
    fn wake_always(&self) {}
}

/// A payload that a protocol over words protects: a job in a slot, a value under a lock.
///
/// loom reports two accesses that are not ordered; the simulator charges for them.
pub trait Cell<T: Send, M: Machine>: Debug + Send + Sync {
    /// A cell on the line `spot`.
    fn new(value: T, spot: &M::Spot) -> Self;

    /// Gives `f` the content to change.
    ///
    /// # Safety
    /// No other access to the cell may overlap with this one; the protocol around the cell
    /// ensures it.
    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;

    /// Takes the content out.
    fn into_inner(self) -> T;
}

/// A processor: the thread that runs the algorithm, as the algorithm sees it.
pub trait Cpu: Debug {
    /// A small number that no other processor has at the same time. Numbers are reused after their
    /// processor has gone, and there is no largest one.
    fn id(&self) -> usize;

    /// Where the processor is: processors with close numbers are close to each other, as the cores
    /// of one cache are. For speed only: several may say the same, and the answer may change from
    /// call to call.
    #[inline]
    fn location(&self) -> usize {
        self.id()
    }

    /// 64 random bits, of the quality that spreading load needs and no better.
    fn random(&self) -> u64;

    /// A random number below `bound`; 0 where `bound` is 0.
    #[inline]
    fn random_below(&self, bound: usize) -> usize {
        ((u128::from(self.random()) * bound as u128) >> 64) as usize
    }

    /// Idles for `times` units: a bounded delay. A unit is a cycle on a simulated machine, and a
    /// pause instruction, 1 to 140 cycles by the chip, on a real one.
    fn pause(&self, times: u32);

    /// Marks the end of the `round`-th failed round of a loop without a bound. Real threads spin
    /// at first and let others run when `round` grows.
    fn retry(&self, round: u32);

    /// The same as [`retry`](Cpu::retry). What a real thread learns meanwhile, it tells `watch`.
    #[inline]
    fn retry_watching(&self, round: u32, _watch: Watch<'_>) {
        self.retry(round);
    }

    /// The time: nanoseconds on a real machine, cycles on a simulated one.
    fn clock(&self) -> u64;

    /// Tells whoever is watching that `what` happened, with a value that says where or how much:
    /// a token left level 2 by diffraction. The simulator counts notes for its reports; real
    /// machines ignore them, and they cost nothing there.
    #[inline]
    fn note(&self, _what: &'static str, _value: u64) {}
}
