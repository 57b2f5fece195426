//! Real threads that yield, spin or sleep at random between any two accesses.
//!
//! On a quiet machine most threads run through a call without a pause, so that few orders of accesses ever happen.
//! Here each access of a [`Word`] or a [`Cell`] first draws a random number, and sometimes lets other threads run. The
//! accesses themselves, and waits, are those of [`Native`]: the machine's own memory order, the system's sleep and wake-up.

use std::cell::Cell as StdCell;
use std::fmt;
use std::hint::spin_loop;
use std::process;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{self, Relaxed};
use std::thread;
use std::time::Duration;

use throng::machine::{
    Cell, Cpu, Machine, Native, NativeCell, NativeCpu, NativeWord, Place, SplitMix64, Watch,
    WayOut, Word,
};

thread_local! {
    /// How the calling thread yields; does so only once it has asked for its [processor](Yielding::cpu).
    static RESTLESSNESS: StdCell<Restlessness> = const { StdCell::new(Restlessness::NONE) };
}

/// How often a thread yields, and the state of its random numbers.
#[derive(Clone, Copy, Debug)]
struct Restlessness {
    seed: u64,
    state: u64,
    /// The thread lets others run before one of this number of accesses, a power of 2; never, if it is 0.
    accesses: u64,
}

impl Restlessness {
    const NONE: Self = Restlessness { seed: 0, state: 0, accesses: 0 };

    /// Most threads yield often. Others hardly ever, so that several of their accesses happen in one turn of a
    /// restless thread.
    fn new(seed: u64, number: usize) -> Self {
        let state = SplitMix64::mix(SplitMix64::mix(seed) ^ number as u64);
        let mut random = SplitMix64::from_state(state);
        let accesses = [1, 4, 16, 64, 512][random.below(5) as usize];
        Restlessness { seed, state: random.draw(), accesses }
    }
}

/// Lets other threads run, perhaps.
fn perhaps_yield() {
    let mut restlessness = RESTLESSNESS.get();
    if restlessness.accesses == 0 {
        return;
    }
    let mut random = SplitMix64::from_state(restlessness.state);
    let drawn = random.draw();
    restlessness.state = random.state();
    RESTLESSNESS.set(restlessness);
    if drawn & (restlessness.accesses - 1) != 0 {
        return;
    }
    let how_long = drawn >> 32;
    match drawn >> 16 & 63 {
        // With its timer, a sleep takes some 60 us on Linux.
        0 => thread::sleep(Duration::from_micros(1 + how_long % 20)),
        1..48 => (0..how_long % (1 << (how_long >> 16 & 7))).for_each(|_| spin_loop()),
        // On a busy machine a yield lasts for the turns of all other programs.
        _ => thread::yield_now(),
    }
}

/// Real threads that yield at random between any two accesses.
#[derive(Clone, Copy, Debug)]
pub struct Yielding;

impl Yielding {
    /// Returns the processor of the calling thread, which has this `number` among the threads of a run. From now on
    /// the thread yields as `seed` and `number` say.
    #[must_use]
    pub fn cpu(seed: u64, number: usize) -> YieldingCpu {
        RESTLESSNESS.set(Restlessness::new(seed, number));
        YieldingCpu { native: Native::cpu(), number }
    }
}

// SAFETY: words are those of `Native`, which also numbers the processors, and waits end only when those of `Native` do.
unsafe impl Machine for Yielding {
    type Word = YieldingWord;
    type Cell<T: Send> = YieldingCell<T>;
    type Cpu = YieldingCpu;
    type Spot = ();

    const LONGEST_SLEEP: Option<u64> = Native::LONGEST_SLEEP;

    fn spot(_place: Place) {}

    fn fence(order: Ordering) {
        perhaps_yield();
        Native::fence(order);
    }

    fn has_light_fence() -> bool {
        Native::has_light_fence()
    }

    fn light_fence() {
        // A change of threads is a fence of its own. So most light fences are only what they are.
        Native::light_fence();
    }

    fn heavy_fence() {
        perhaps_yield();
        Native::heavy_fence();
    }
}

/// A word of [`Native`].
#[derive(Debug)]
#[repr(transparent)]
pub struct YieldingWord(NativeWord);

/// The same way out on the machine of real threads.
fn native<'a>(way_out: &WayOut<'a, Yielding>) -> WayOut<'a, Native> {
    let mut native = WayOut::none();
    native.alarm = way_out.alarm.map(|word| &word.0);
    native.until = way_out.until;
    native.deadline = way_out.deadline;
    native.patience = way_out.patience;
    native.watch = way_out.watch;
    native.is_always_woken = way_out.is_always_woken;
    native
}

impl Word<Yielding> for YieldingWord {
    fn new(value: u64, spot: &()) -> Self {
        YieldingWord(NativeWord::new(value, spot))
    }

    fn load(&self, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        perhaps_yield();
        self.0.store(value, order);
    }

    fn swap(&self, value: u64, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.swap(value, order)
    }

    fn compare_exchange(
        &self,
        current: u64,
        new: u64,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u64, u64> {
        perhaps_yield();
        self.0.compare_exchange(current, new, success, failure)
    }

    fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.fetch_add(value, order)
    }

    fn fetch_sub(&self, value: u64, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.fetch_sub(value, order)
    }

    fn fetch_or(&self, value: u64, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.fetch_or(value, order)
    }

    fn fetch_and(&self, value: u64, order: Ordering) -> u64 {
        perhaps_yield();
        self.0.fetch_and(value, order)
    }

    fn wait_while(
        &self,
        cpu: &YieldingCpu,
        order: Ordering,
        blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        perhaps_yield();
        self.0.wait_while(&cpu.native, order, blocked)
    }

    fn spin_while(
        &self,
        cpu: &YieldingCpu,
        polls: u32,
        order: Ordering,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> u64 {
        perhaps_yield();
        self.0.spin_while(&cpu.native, polls, order, |value| {
            perhaps_yield();
            blocked(value)
        })
    }

    fn sleep_while(
        &self,
        cpu: &YieldingCpu,
        order: Ordering,
        way_out: &WayOut<'_, Yielding>,
        mut blocked: impl FnMut(u64) -> bool,
    ) -> Option<u64> {
        perhaps_yield();
        self.0.sleep_while(&cpu.native, order, &native(way_out), |value| {
            perhaps_yield();
            blocked(value)
        })
    }

    fn signal(&self, value: u64) {
        perhaps_yield();
        self.0.signal(value);
    }

    fn wake(&self) {
        perhaps_yield();
        self.0.wake();
    }

    fn wake_one(&self) {
        perhaps_yield();
        self.0.wake_one();
    }

    fn wake_always(&self) {
        perhaps_yield();
        self.0.wake_always();
    }
}

/// A cell of [`Native`]. Ends the process if two threads use it at the same time.
pub struct YieldingCell<T> {
    content: NativeCell<T>,
    /// Relaxed, so that it orders nothing that the protocol around the cell should order.
    is_in_use: AtomicBool,
}

impl<T> fmt::Debug for YieldingCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.content.fmt(f)
    }
}

/// Ends the use of a cell, also by a panic.
struct InUse<'a>(&'a AtomicBool);

impl<'a> InUse<'a> {
    fn new(is_in_use: &'a AtomicBool) -> Self {
        if is_in_use.swap(true, Relaxed) {
            // A panic would let threads go on with content that is no longer valid.
            let seed = RESTLESSNESS.get().seed;
            eprintln!(
                "broke its promise: two threads use a cell at the same time; THRONG_SEED={seed}"
            );
            process::abort();
        }
        InUse(is_in_use)
    }
}

impl Drop for InUse<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

impl<T: Send> Cell<T, Yielding> for YieldingCell<T> {
    fn new(value: T, spot: &()) -> Self {
        let content = Cell::<T, Native>::new(value, spot);
        YieldingCell { content, is_in_use: AtomicBool::new(false) }
    }

    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        perhaps_yield();
        let _in_use = InUse::new(&self.is_in_use);
        perhaps_yield();
        // SAFETY: the caller promises that no other access overlaps.
        unsafe { self.content.with_mut(f) }
    }

    fn into_inner(self) -> T {
        self.content.into_inner()
    }
}

/// The processor of a thread that yields.
#[derive(Debug)]
pub struct YieldingCpu {
    native: NativeCpu,
    number: usize,
}

impl Cpu for YieldingCpu {
    fn id(&self) -> usize {
        self.native.id()
    }

    /// Threads with close numbers are close to each other. Now and then a thread moves.
    fn location(&self) -> usize {
        match self.native.random_below(64) {
            0 => self.native.random_below(64),
            _ => self.number,
        }
    }

    fn random(&self) -> u64 {
        self.native.random()
    }

    fn pause(&self, times: u32) {
        perhaps_yield();
        self.native.pause(times);
    }

    fn retry(&self, round: u32) {
        self.native.retry(round);
    }

    fn retry_watching(&self, round: u32, watch: Watch<'_>) {
        self.native.retry_watching(round, watch);
    }

    fn clock(&self) -> u64 {
        self.native.clock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_yields() {
        let states = |seed, number| {
            let _cpu = Yielding::cpu(seed, number);
            let word = YieldingWord::new(0, &());
            for _ in 0..100 {
                let _ = word.load(Relaxed);
            }
            RESTLESSNESS.get().state
        };
        assert_eq!(states(1, 2), states(1, 2));
        assert_ne!(states(1, 2), states(1, 3));
        assert_ne!(states(1, 2), states(2, 2));
    }
}
