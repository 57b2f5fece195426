//! Makes one measured run: threads take values from one counter until the time is up.
//!
//! All values are kept, in memory that was touched before, so that the run itself has no page
//! faults.
//!
//! A thread looks at the [phase](crate::bench::window) between two chunks of values. It counts the chunks
//! that it ends from its first look after the measurement began up to its first look after it
//! ended: on average exactly those of the time measured, even where a thread sleeps through either
//! moment.

use std::io;
use std::slice::ChunksExactMut;
use std::sync::{Mutex, PoisonError};

use throng::machine::Native;
use throng::structures::counter::Counting;

use super::verify::{self, Wrong};
use crate::bench::pace::{Pace, Worker};
use crate::bench::setup::Pinning;
use crate::bench::together::{self, ThreadsFailure};
use crate::bench::window::{Phase, Times, Window};

/// Values taken between two checks of the phase, behind one dynamic dispatch.
const CHUNK: usize = 64;

/// Values that a thread reserves room for at once.
const BLOCK: usize = 32 * CHUNK;

/// Memory for the values of one run, all threads together: enough for 40 milliseconds of the
/// fastest counter on the fastest machine seen so far.
const MEMORY_BYTES: usize = 128 << 20;

/// The reason why a run has no result.
#[derive(Debug)]
pub enum Failure {
    /// The system refused a thread.
    Spawn(io::Error),
    /// The counter panicked.
    Panicked,
    /// The counter handed out something other than 0..m-1.
    Wrong(Wrong),
}

impl From<ThreadsFailure> for Failure {
    fn from(failure: ThreadsFailure) -> Self {
        match failure {
            ThreadsFailure::Spawn(source) => Failure::Spawn(source),
            ThreadsFailure::Panicked => Failure::Panicked,
        }
    }
}

/// The results of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Measured time in seconds.
    pub seconds: f64,
    /// Number of values that each thread got in that time.
    pub per_thread: Vec<u64>,
    /// Number of checked values, including those of the warm-up.
    pub checked: u64,
}

/// Memory for the values of a run.
///
/// The threads reserve it block by block as they go, instead of a part each from the start. With
/// more threads than cores one thread may run for long while others sleep, and would fill its part
/// before the others have had their turn.
pub struct Memory(Vec<u64>);

impl Memory {
    /// Returns memory that suffices for every run, touched once.
    pub fn touched() -> Self {
        Self::for_values(MEMORY_BYTES / size_of::<u64>())
    }

    fn for_values(count: usize) -> Self {
        // Not zeros: the system would map those without touching memory.
        Memory(vec![u64::MAX; count])
    }
}

/// The blocks not yet reserved.
struct Blocks<'a> {
    free: Mutex<ChunksExactMut<'a, u64>>,
    /// Number of blocks left at which the warm-up has used its part.
    left_after_warm_up: usize,
}

impl<'a> Blocks<'a> {
    fn of(memory: &'a mut Memory) -> Self {
        let free = memory.0.chunks_exact_mut(BLOCK);
        Blocks { left_after_warm_up: free.len() / 4 * 3, free: Mutex::new(free) }
    }

    /// Reserves a block, or returns `None` when the memory is full, which ends the run.
    fn reserve(&self, window: &Window) -> Option<&'a mut [u64]> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let block = free.next();
        let left = free.len();
        drop(free);
        if left <= self.left_after_warm_up {
            window.begin_measuring();
        }
        if block.is_none() {
            window.finish();
        }
        block
    }
}

/// The description of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Number of threads.
    pub threads: usize,
    /// The times of its phases.
    pub times: Times,
    /// How threads take their values.
    pub pace: Pace,
}

/// Runs the counter on `plan.threads` threads, and checks all it handed out.
///
/// # Errors
/// When the system refuses a thread, or the counter panics or miscounts.
pub fn run(
    counter: &dyn Counting<Native>,
    plan: Plan,
    memory: &mut Memory,
    pinning: &Pinning,
) -> Result<Measured, Failure> {
    let window = Window::new();
    let blocks = &Blocks::of(memory);
    let crew = Crew { counter, window: &window, blocks, pinning, pace: plan.pace };
    let shares = crew.run(plan.threads, plan.times)?;
    let handed_out: Vec<&[u64]> =
        (shares.iter()).flat_map(|share| share.values.iter().map(|values| &**values)).collect();
    let checked = verify::check(&handed_out).map_err(Failure::Wrong)?;
    Ok(Measured {
        seconds: window.seconds(),
        per_thread: shares.iter().map(|share| share.measured).collect(),
        checked,
    })
}

/// State shared by the threads of a run.
#[derive(Clone, Copy)]
struct Crew<'a, 'memory> {
    counter: &'a dyn Counting<Native>,
    window: &'a Window,
    blocks: &'a Blocks<'memory>,
    pinning: &'a Pinning,
    pace: Pace,
}

impl<'memory> Crew<'_, 'memory> {
    fn run(self, threads: usize, times: Times) -> Result<Vec<Share<'memory>>, Failure> {
        let tasks = (0..threads).map(|index| {
            move || {
                self.pinning.pin(index);
                let worker = Worker::new(self.pace);
                self.window.await_start();
                self.take_values(worker)
            }
        });
        Ok(together::run(self.window, tasks, || self.window.conduct(times))?)
    }

    /// Runs the program of a thread.
    fn take_values(self, mut worker: Worker) -> Share<'memory> {
        let cpu = Native::cpu();
        let mut values = Vec::new();
        let mut taken = 0;
        let mut measured_from = None;
        let mut done = false;
        while !done && let Some(block) = self.blocks.reserve(self.window) {
            let mut filled = 0;
            for chunk in block.chunks_exact_mut(CHUNK) {
                let phase = self.window.phase();
                if phase == Phase::Measuring && measured_from.is_none() {
                    measured_from = Some(taken + filled);
                }
                done = phase == Phase::Done;
                if done {
                    break;
                }
                worker.fill(self.counter, &cpu, chunk);
                filled += CHUNK;
            }
            values.push(&mut block[..filled]);
            taken += filled;
        }
        Share { values, measured: (taken - measured_from.unwrap_or(taken)) as u64 }
    }
}

/// The values of one thread.
struct Share<'memory> {
    /// All its values.
    values: Vec<&'memory mut [u64]>,
    /// Number of values in the measured time.
    measured: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::thread;
    use std::time::Duration;
    use throng::machine::NativeCpu;
    use throng::structures::counter::Hardware;

    /// Runs until the memory is full, which hands out the same number of values on a busy machine.
    fn run_until_full(counter: &dyn Counting<Native>, threads: usize) -> Result<Measured, Failure> {
        let for_ever =
            Times { warm_up: Duration::from_secs(600), measure: Duration::from_secs(600) };
        let mut memory = Memory::for_values(VALUES);
        let plan = Plan { threads, times: for_ever, pace: Pace::InARow };
        run(counter, plan, &mut memory, &Pinning::find())
    }

    const VALUES: usize = 64 * BLOCK;

    /// A counter that is right except that `lie` may change a value.
    struct Liar<F>(AtomicU64, F);

    impl<F: Fn(u64) -> u64 + Send + Sync> Counting<Native> for Liar<F> {
        fn next_on(&self, _cpu: &NativeCpu) -> u64 {
            (self.1)(self.0.fetch_add(1, Relaxed))
        }
    }

    fn wrong(lie: impl Fn(u64) -> u64 + Send + Sync) -> Wrong {
        match run_until_full(&Liar(AtomicU64::new(0), lie), 2) {
            Err(Failure::Wrong(wrong)) => wrong,
            other => panic!("a lie was not noticed: {other:?}"),
        }
    }

    #[test]
    fn an_honest_counter_passes_and_is_counted() {
        for threads in [1, 2, 5] {
            let measured = run_until_full(&Hardware::new(), threads).unwrap();
            assert_eq!(measured.per_thread.len(), threads);
            let total: u64 = measured.per_thread.iter().sum();
            assert!(total > 0 && total <= measured.checked);
            assert!(measured.checked > (VALUES - threads * BLOCK) as u64);
            assert!(measured.seconds > 0.0);
        }
    }

    #[test]
    fn a_single_duplicate_is_noticed() {
        let duplicate = |v| if v == 100 { 99 } else { v };
        assert_eq!(wrong(duplicate), Wrong::Repeated(99));
    }

    #[test]
    fn a_single_gap_is_noticed() {
        let gap = |v| if v >= 100 { v + 1 } else { v };
        assert_eq!(wrong(gap), Wrong::Missing(100));
    }

    #[test]
    fn a_counter_that_writes_nothing_is_noticed() {
        struct Idle;
        impl Counting<Native> for Idle {
            fn next_on(&self, _cpu: &NativeCpu) -> u64 {
                0
            }
            fn fill_on(&self, _cpu: &NativeCpu, _values: &mut [u64]) {}
        }
        assert!(matches!(run_until_full(&Idle, 1), Err(Failure::Wrong(_))));
    }

    #[test]
    fn a_panic_of_the_counter_is_a_failure_and_no_panic() {
        let panics = |v| {
            if v == 1000 { panic!("a panic made for this test") } else { v }
        };
        let result = run_until_full(&Liar(AtomicU64::new(0), panics), 2);
        assert!(matches!(result, Err(Failure::Panicked)));
    }

    #[test]
    fn time_ends_a_run_long_before_the_memory_is_full() {
        /// A slow counter.
        struct Sleepy(Hardware);
        impl Counting<Native> for Sleepy {
            fn next_on(&self, cpu: &NativeCpu) -> u64 {
                thread::sleep(Duration::from_micros(100));
                self.0.next_on(cpu)
            }
        }
        let times = Times { warm_up: Duration::from_millis(5), measure: Duration::from_millis(50) };
        let mut memory = Memory::for_values(VALUES);
        let counter = Sleepy(Hardware::new());
        let plan = Plan { threads: 2, times, pace: Pace::InARow };
        let measured = run(&counter, plan, &mut memory, &Pinning::find()).unwrap();
        assert!(measured.seconds >= 0.05, "{}", measured.seconds);
        assert!(measured.checked < VALUES as u64 / 2);
    }
}
