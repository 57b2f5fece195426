//! The machine contract: the operations that an algorithm may use.
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
//! | [`Word`] | a shared 64-bit word: the only means of communication between processors |
//! | [`Cell`] | a payload that a protocol over words protects |
//! | [`Cpu`] | the processor that runs the algorithm: its id, random bits, time, waiting |
//! | [`Place`], [`Line`] | where shared memory is: which words share a cache line, and whose memory it is |
//! | [`PerCpu`], [`Growing`] | one entry for every processor that has ever come; arrays that grow without limit |
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
//! 2. A wait without a bound is [`Word::wait_while`] if another processor is in the middle of a few
//!    steps, or [`Word::sleep_while`] if the event may come much later. If no single word decides,
//!    it is a loop that calls [`Cpu::retry`] every round. A wait with a bound is
//!    [`Word::spin_while`] or [`Cpu::pause`]. The difference matters: checkers hand the processor
//!    over in a wait without a bound and do nothing in a wait with one, because a hand-over inside
//!    a bounded spin would hide races.
//! 3. A constructor makes words but does not access them.
//! 4. When the simulator takes a processor apart that was halted in the middle of a call, its
//!    destructors run. Then a wait returns although it is blocked, because no other processor is
//!    left to end it. So a destructor must not rely on a wait, nor take a lock.
//! 5. Orderings are those of [`std::sync::atomic`] and mean the same. loom checks them (it treats
//!    sequentially consistent *accesses* as acquire-release, so a total order needs
//!    [`Machine::fence`] or a read-modify-write); shuttle and the simulator are sequentially
//!    consistent.

use std::fmt::Debug;
use std::sync::atomic::Ordering;

mod fences;
pub(crate) mod fork;
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

/// A set of processors and memory on which the algorithms run.
///
/// # Safety
/// Locks, and so the exclusive access to what they protect, rely on the machine. Operations on its
/// words must be atomic and ordered as asked. [`Word::wait_while`] must not return while it is
/// blocked (but see rule 4). No two processors that run at the same time may have the same
/// [`Cpu::id`].
pub unsafe trait Machine: Debug + Sized + Send + Sync + 'static {
    /// A shared 64-bit word.
    type Word: Word<Self>;
    /// A payload protected by a protocol over words.
    type Cell<T: Send>: Cell<T, Self>;
    /// A processor.
    type Cpu: Cpu;
    /// One line of this machine's memory, returned by [`Machine::spot`]. Words and cells made with
    /// the same spot are on the same line.
    type Spot;

    /// The longest sleep of a thread that another one must wake, in units of [`Cpu::clock`]. After
    /// it the thread checks its condition itself, because the other thread may have been stopped.
    /// `None` if no thread can be stopped for ever at that point.
    const LONGEST_SLEEP: Option<u64> = None;

    /// Allocates a new line of memory.
    fn spot(place: Place) -> Self::Spot;

    /// Makes a memory fence, like [`std::sync::atomic::fence`].
    fn fence(order: Ordering);

    /// Returns whether [`light_fence`](Machine::light_fence) works. If not, a full
    /// [`fence`](Machine::fence) is needed instead.
    fn has_light_fence() -> bool {
        true
    }

    /// Makes one half of a sequentially consistent fence, for the side that runs often. It is a
    /// fence only against [`heavy_fence`](Machine::heavy_fence), and only if the machine [has
    /// it](Machine::has_light_fence). It costs nothing on such a machine.
    #[inline]
    fn light_fence() {
        Self::fence(Ordering::SeqCst);
    }

    /// Makes the other half, for the side that runs rarely. It takes some microseconds, and
    /// interrupts every running thread of the program.
    fn heavy_fence() {
        Self::fence(Ordering::SeqCst);
    }
}

/// A shared 64-bit word: the operations of [`AtomicU64`](std::sync::atomic::AtomicU64), and
/// waiting.
pub trait Word<M: Machine>: Debug + Send + Sync {
    /// Returns a word on the line `spot`.
    fn new(value: u64, spot: &M::Spot) -> Self;

    /// Reads the word.
    fn load(&self, order: Ordering) -> u64;

    /// Writes the word.
    fn store(&self, value: u64, order: Ordering);

    /// Writes the word and returns the value before.
    fn swap(&self, value: u64, order: Ordering) -> u64;

    /// Writes `new` if the word is `current`, and returns the value before.
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

    /// Adds `value`, wrapping, and returns the value before.
    fn fetch_add(&self, value: u64, order: Ordering) -> u64;

    /// Subtracts `value`, wrapping, and returns the value before.
    fn fetch_sub(&self, value: u64, order: Ordering) -> u64;

    /// Sets the bits of `value` and returns the value before.
    fn fetch_or(&self, value: u64, order: Ordering) -> u64;

    /// Clears the bits that are not in `value` and returns the value before.
    fn fetch_and(&self, value: u64, order: Ordering) -> u64;

    /// Waits until `blocked` returns false for the word, and returns the value for which it did.
    ///
    /// The wait has no bound: another processor must be certain to change the word. Real threads
    /// spin for a short time and then yield. The simulator sleeps until the word changes.
    fn wait_while(&self, cpu: &M::Cpu, order: Ordering, blocked: impl FnMut(u64) -> bool) -> u64;

    /// Reads the word until `blocked` returns false, at most `polls` times, and returns the last
    /// value read. With `polls` = 0 it reads once.
    fn spin_while(
        &self,
        cpu: &M::Cpu,
        polls: u32,
        order: Ordering,
        blocked: impl FnMut(u64) -> bool,
    ) -> u64;

    /// Waits like [`wait_while`](Word::wait_while), but for an event that may be far away. Returns
    /// `None` if the way out opened while the word still blocked. Real threads spin, yield, and
    /// finally sleep. The thread that changes the word wakes them by [`signal`](Word::signal).
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
                // The way out may have been opened after the event.
                let value = self.load(order);
                return (!blocked(value)).then_some(value);
            }
            cpu.retry(round);
            round = round.saturating_add(1);
        }
    }

    /// Writes the word and wakes the threads that [sleep](Word::sleep_while) on it. What the caller
    /// did before is visible to them, as after a release store.
    fn signal(&self, value: u64) {
        self.store(value, Ordering::Release);
    }

    /// Wakes the threads that [sleep](Word::sleep_while) on the word, after it was changed without
    /// [`signal`](Word::signal). The change must be a sequentially consistent operation, or come
    /// before a [fence](Machine::fence) of that kind.
    fn wake(&self) {}

    /// Like [`wake`](Word::wake), but need not wake more than one thread.
    fn wake_one(&self) {}

    /// Like [`wake`](Word::wake), but without a check whether a thread sleeps there. This also
    /// wakes threads whose way out says that they are [always woken](WayOut::is_always_woken).
    fn wake_always(&self) {}
}

/// A payload that a protocol over words protects: a job in a slot, a value under a lock.
///
/// loom reports two accesses that are not ordered; the simulator charges for them.
pub trait Cell<T: Send, M: Machine>: Debug + Send + Sync {
    /// Returns a cell on the line `spot`.
    fn new(value: T, spot: &M::Spot) -> Self;

    /// Calls `f` with the content, which `f` may change.
    ///
    /// # Safety
    /// No other access to the cell may overlap with this one; the protocol around the cell
    /// ensures it.
    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;

    /// Returns the content.
    fn into_inner(self) -> T;
}

/// A processor: the thread that runs the algorithm.
pub trait Cpu: Debug {
    /// Returns a small number that no other processor has at the same time. Numbers are reused
    /// after their processor has ended, and there is no largest number.
    fn id(&self) -> usize;

    /// Returns the location of the processor. Processors with close numbers are close to each
    /// other, like the cores of one cache. It is used for speed only: several processors may have
    /// the same location, and it may change from call to call.
    #[inline]
    fn location(&self) -> usize {
        self.id()
    }

    /// Returns 64 pseudo-random bits, of the quality needed to spread load.
    fn random(&self) -> u64;

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    #[inline]
    fn random_below(&self, bound: usize) -> usize {
        ((u128::from(self.random()) * bound as u128) >> 64) as usize
    }

    /// Idles for `times` units: a bounded delay. A unit is a cycle on a simulated machine. On a
    /// real one it is a pause instruction, which takes 1 to 140 cycles depending on the chip.
    fn pause(&self, times: u32);

    /// Ends the `round`-th failed round of a loop without a bound. Real threads spin at first and
    /// yield when `round` grows.
    fn retry(&self, round: u32);

    /// Like [`retry`](Cpu::retry), but a real thread reports long yields to `watch`.
    #[inline]
    fn retry_watching(&self, round: u32, _watch: Watch<'_>) {
        self.retry(round);
    }

    /// Returns the time: nanoseconds on a real machine, cycles on a simulated one.
    fn clock(&self) -> u64;

    /// Reports that `what` happened, with a value that says where or how much, such as the level at
    /// which a token was diffracted. The simulator counts notes for its reports. Real machines
    /// ignore them at no cost.
    #[inline]
    fn note(&self, _what: &'static str, _value: u64) {}
}
