//! Real threads.

use std::cell::{Cell as StdCell, UnsafeCell};
use std::fmt;
use std::hint::spin_loop;
use std::marker::PhantomData;
use std::sync::atomic::{self, AtomicU64, Ordering};

use super::time::Instant;
use super::waiting::{self, Wait, Watch};
use super::{Cell, Cpu, Machine, Place, SplitMix64, WayOut, Word, fences, ids, location};
use crate::published::Published;

/// The machine that the program runs on, with real threads as processors.
///
/// Every operation compiles to the atomic instruction that it stands for and nothing else. The test
/// `codegen` compares the instructions with those of hand-written atomics.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Native {
    /// Returns the processor of the calling thread.
    #[inline]
    #[must_use]
    pub const fn cpu() -> NativeCpu {
        NativeCpu { this_thread: PhantomData }
    }
}

// SAFETY: words are the standard library's atomics, waits end only when they may, and numbers are
// given to one thread at a time.
unsafe impl Machine for Native {
    type Word = NativeWord;
    type Cell<T: Send> = NativeCell<T>;
    type Cpu = NativeCpu;
    type Spot = ();

    const LONGEST_SLEEP: Option<u64> = Some(1_000_000_000);

    #[inline]
    fn spot(_place: Place) {}

    #[inline]
    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    fn has_light_fence() -> bool {
        fences::are_one_sided()
    }

    #[inline]
    fn light_fence() {
        fences::light();
    }

    fn heavy_fence() {
        fences::heavy();
    }
}

/// An [`AtomicU64`].
#[derive(Debug)]
#[repr(transparent)]
pub struct NativeWord(AtomicU64);

impl Word<Native> for NativeWord {
    #[inline]
    fn new(value: u64, _spot: &()) -> Self {
        NativeWord(AtomicU64::new(value))
    }

    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        self.0.load(order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        self.0.store(value, order);
    }

    #[inline]
    fn swap(&self, value: u64, order: Ordering) -> u64 {
        self.0.swap(value, order)
    }

    #[inline]
    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        self.0.compare_exchange(current, new, success, failure)
    }

    #[inline]
    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, order)
    }

    #[inline]
    fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_sub(value, order)
    }

    #[inline]
    fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_or(value, order)
    }

    #[inline]
    fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_and(value, order)
    }

    #[inline]
    fn wait_while(
        &self,
        _cpu: &NativeCpu,
        order: Ordering,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        let mut wait = Wait::in_passing();
        loop {
            let value = self.0.load(order);
            if !blocked(value) {
                return value;
            }
            if !wait.spins() {
                wait.naps();
            }
        }
    }

    #[inline]
    fn sleep_while(
        &self,
        cpu: &NativeCpu,
        order: Ordering,
        way_out: &WayOut<'_, Native>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let value = self.0.load(order);
        if !blocked(value) {
            return Some(value);
        }
        for _ in 1..way_out.eager_polls() {
            let value = self.0.load(order);
            if !blocked(value) {
                return Some(value);
            }
        }
        self.sleep_long(cpu, order, way_out, blocked)
    }

    #[inline]
    fn signal(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
        waiting::wake(&self.0);
    }

    #[inline]
    fn wake(&self) {
        waiting::wake(&self.0);
    }

    fn wake_one(&self) {
        waiting::wake_one(&self.0);
    }

    fn wake_always(&self) {
        waiting::wake_all(&self.0);
    }

    #[inline]
    fn spin_while(
        &self,
        _cpu: &NativeCpu,
        polls: u32,
        order: Ordering,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        let mut value = self.0.load(order);
        for poll in 1..polls {
            if !blocked(value) {
                break;
            }
            if poll.is_multiple_of(POLLS_A_PAUSE) {
                spin_loop();
            }
            value = self.0.load(order);
        }
        value
    }
}

impl NativeWord {
    /// Like [`new`](Word::new), for constants.
    pub(crate) const fn constant(value: u64) -> Self {
        NativeWord(AtomicU64::new(value))
    }

    /// Returns the atomic, for tests of sleeping threads.
    #[cfg(test)]
    pub(super) fn atomic(&self) -> &AtomicU64 {
        &self.0
    }

    /// The slow path of [`sleep_while`](Word::sleep_while).
    #[cold]
    #[inline(never)]
    fn sleep_long(
        &self,
        cpu: &NativeCpu,
        order: Ordering,
        way_out: &WayOut<'_, Native>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        let mut wait = Wait::new(way_out.patience, way_out.watch);
        let mut slept_on = None;
        loop {
            let value = self.0.load(order);
            if !blocked(value) {
                // A wait can also end at the same value, if another word counts as well. That
                // word's writer changes this one afterwards.
                debug_assert!(
                    slept_on.is_none_or(|seen| seen == value || seen as u32 != value as u32),
                    "{slept_on:x?} and {value:x} are the same to a system that compares 32 bits"
                );
                wait.end();
                return Some(value);
            }
            if !wait.spins() {
                if way_out.is_open(cpu) {
                    // The way out may have been opened after the event.
                    let value = self.0.load(order);
                    return (!blocked(value)).then_some(value);
                }
                slept_on = Some(value);
                wait.sleeps(&self.0, value, way_out.time_left(cpu), way_out.is_always_woken);
            }
        }
    }
}

/// The number of polls to a pause in a bounded spin. A pause takes as long as dozens of plain
/// reads, and papers count their spins in reads.
const POLLS_A_PAUSE: u32 = 8;

/// An [`UnsafeCell`].
#[repr(transparent)]
pub struct NativeCell<T>(UnsafeCell<T>);

// SAFETY: the content is accessed through `with_mut` alone, whose contract excludes overlapping
// accesses. So sharing the cell moves the content between threads, which `T: Send` allows.
unsafe impl<T: Send> Sync for NativeCell<T> {}

impl<T> fmt::Debug for NativeCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content may be changing.
        f.debug_struct("NativeCell").finish_non_exhaustive()
    }
}

impl<T: Send> Cell<T, Native> for NativeCell<T> {
    #[inline]
    fn new(value: T, _spot: &()) -> Self {
        NativeCell(UnsafeCell::new(value))
    }

    #[inline]
    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller promises that no other access overlaps.
        f(unsafe { &mut *self.0.get() })
    }

    #[inline]
    fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// The processor of the calling thread: a token without content.
///
/// It looks up the thread's number or random state only when asked, so that a method that needs
/// neither compiles to the bare instruction. It cannot be sent to another thread:
///
/// ```compile_fail
/// let cpu = throng::machine::Native::cpu();
/// std::thread::spawn(move || drop(cpu));
/// ```
#[derive(Debug)]
pub struct NativeCpu {
    this_thread: PhantomData<*const ()>,
}

thread_local! {
    /// The state of the thread's random numbers; 0 before the first one.
    static RANDOM: StdCell<u64> = const { StdCell::new(0) };
}

impl Cpu for NativeCpu {
    #[inline]
    fn id(&self) -> usize {
        ids::current()
    }

    /// Returns the core that the thread runs on, where the system provides it (Linux on x86-64).
    #[inline]
    fn location(&self) -> usize {
        location::current()
    }

    #[inline]
    fn random(&self) -> u64 {
        let mut state = RANDOM.get();
        if state == 0 {
            state = (self.id() as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
        }
        let mut sequence = SplitMix64::from_state(state);
        let bits = sequence.draw();
        RANDOM.set(sequence.state());
        bits
    }

    #[inline]
    fn pause(&self, times: u32) {
        for _ in 0..times {
            spin_loop();
        }
    }

    #[inline]
    fn retry(&self, round: u32) {
        waiting::retry(round, Watch::Nothing);
    }

    #[inline]
    fn retry_watching(&self, round: u32, watch: Watch<'_>) {
        waiting::retry(round, watch);
    }

    fn clock(&self) -> u64 {
        static START: Published<Instant> = Published::new();
        START.get_or_make(Instant::now).elapsed().as_nanos() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Line;
    use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
    use std::thread;
    use std::time::Duration;

    fn word(value: u64) -> Line<NativeWord> {
        Line::word::<Native>(value, Place::named("test"))
    }

    #[test]
    fn the_processor_is_a_token_without_content() {
        assert_eq!(std::mem::size_of::<NativeCpu>(), 0);
        assert_eq!(std::mem::size_of::<NativeWord>(), 8);
    }

    #[test]
    fn spin_while_looks_at_least_once_and_at_most_polls_times() {
        let (cpu, word) = (Native::cpu(), word(5));
        for (polls, looks) in [(0, 1), (1, 1), (7, 7)] {
            let mut seen = 0;
            let last = word.spin_while(&cpu, polls, Acquire, |_| {
                seen += 1;
                true
            });
            assert_eq!(last, 5);
            // `blocked` is not called for the last value: the caller judges it.
            assert_eq!(seen, looks - 1, "{polls} polls");
        }
    }

    #[test]
    fn wait_while_returns_the_value_that_ended_it() {
        let word = word(0);
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                word.store(9, Release);
            });
            assert_eq!(word.wait_while(&Native::cpu(), Acquire, |v| v < 9), 9);
        });
        assert_eq!(word.load(Relaxed), 9);
    }

    /// The system compares the lower half only, so a thread could sleep on.
    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "are the same to a system"))]
    fn a_wait_that_the_upper_half_alone_ends_is_found_in_tests() {
        let word = word(7);
        thread::scope(|s| {
            s.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                word.signal(1 << 32 | 7);
            });
            let end = word.sleep_while(&Native::cpu(), Acquire, &WayOut::none(), |v| v == 7);
            assert_eq!(end, Some(1 << 32 | 7));
        });
    }

    #[test]
    fn random_below_stays_below_and_reaches_everything() {
        let cpu = Native::cpu();
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[cpu.random_below(7)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 700), "far from even: {seen:?}");
        assert_eq!(cpu.random_below(0), 0);
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let cpu = Native::cpu();
        let before = cpu.clock();
        thread::sleep(Duration::from_millis(2));
        assert!(cpu.clock() - before >= 1_000_000);
    }
}
