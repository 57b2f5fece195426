//! shuttle: random schedules of larger runs.

use std::cell::Cell as StdCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler, UrwRandomScheduler};
use shuttle::sync::atomic::{AtomicU64, fence};
use shuttle::{Config, MaxSteps, Runner, thread};
use throng::machine::{Cell, Cpu, Machine, Native, NativeCell, Place, WayOut, Word};

use super::checker::machine_of_checker;

/// The largest number of steps of a schedule. A longer one has a wait that never ends; others take
/// a small part of it.
const STEP_LIMIT: usize = 100_000;

/// The world of shuttle. Sequentially consistent: it does not see orderings that are too weak.
#[derive(Clone, Copy, Debug)]
pub struct Shuttle;

/// The schedules to try. All are made from a seed, so a run can be repeated.
#[derive(Clone, Copy, Debug)]
pub enum Schedules {
    /// Any processor at any step.
    Random,
    /// Probabilistic concurrency testing with this number of changes of priority. Few changes miss
    /// races that need a long detour: use 6 or more.
    Pct(usize),
    /// A random walk that makes all schedules about equally likely.
    Uniform,
}

impl Shuttle {
    /// Runs `body` on each of `processors` processors in `count` schedules, on a fresh structure
    /// each time, and `verify` after each.
    ///
    /// # Panics
    /// If an assertion fails in some schedule, which shuttle then prints; or in a deadlock.
    pub fn explore<S: Send + Sync + 'static>(
        schedules: Schedules,
        count: usize,
        seed: u64,
        processors: usize,
        setup: impl Fn() -> S + Send + Sync + 'static,
        body: impl Fn(&S, &ShuttleCpu) + Send + Sync + 'static,
        verify: impl Fn(&S) + Send + Sync + 'static,
    ) {
        let end = move |shared: S, _: &ShuttleCpu| verify(&shared);
        Shuttle::explore_to_the_end(schedules, count, seed, processors, setup, body, end);
    }

    /// Like [`explore`](Shuttle::explore), but `end` gets the structure itself after each schedule,
    /// and a processor to use it on. No other processor runs then.
    ///
    /// # Panics
    /// Like [`explore`](Shuttle::explore).
    pub fn explore_to_the_end<S: Send + Sync + 'static>(
        schedules: Schedules,
        count: usize,
        seed: u64,
        processors: usize,
        setup: impl Fn() -> S + Send + Sync + 'static,
        body: impl Fn(&S, &ShuttleCpu) + Send + Sync + 'static,
        end: impl Fn(S, &ShuttleCpu) + Send + Sync + 'static,
    ) {
        let body = Arc::new(body);
        let run = move || {
            let shared = Arc::new(setup());
            let all: Vec<_> = (0..processors)
                .map(|id| {
                    let (shared, body) = (Arc::clone(&shared), Arc::clone(&body));
                    thread::spawn(move || body(&shared, &ShuttleCpu::new(id)))
                })
                .collect();
            for one in all {
                one.join().expect("a failed processor ends the run");
            }
            let shared = Arc::into_inner(shared).expect("all others have ended");
            end(shared, &ShuttleCpu::new(0));
        };
        match schedules {
            Schedules::Random => run_with(RandomScheduler::new_from_seed(seed, count), run),
            Schedules::Pct(depth) => run_with(PctScheduler::new_from_seed(seed, depth, count), run),
            Schedules::Uniform => run_with(UrwRandomScheduler::new_from_seed(seed, count), run),
        }
    }
}

fn run_with(scheduler: impl Scheduler + 'static, run: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEP_LIMIT);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(run);
}

machine_of_checker!(Shuttle, ShuttleWord, ShuttleCell, ShuttleCpu);

/// A cell. shuttle does not watch it; loom does.
pub struct ShuttleCell<T>(NativeCell<T>);

impl<T> fmt::Debug for ShuttleCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Send> Cell<T, Shuttle> for ShuttleCell<T> {
    fn new(value: T, _spot: &()) -> Self {
        ShuttleCell(Cell::<T, Native>::new(value, &()))
    }

    unsafe fn with_mut<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the caller promises that no other access overlaps.
        unsafe { self.0.with_mut(f) }
    }

    fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

/// A processor of shuttle's world.
#[derive(Debug)]
pub struct ShuttleCpu {
    id: usize,
    clock: StdCell<u64>,
}

impl ShuttleCpu {
    fn new(id: usize) -> Self {
        ShuttleCpu { id, clock: StdCell::new(0) }
    }

    /// Ends the `look`-th unsuccessful look of a wait.
    fn look_again(&self, _look: u32) {
        thread::yield_now();
    }
}

impl Cpu for ShuttleCpu {
    fn id(&self) -> usize {
        self.id
    }

    fn random(&self) -> u64 {
        thread_rng().r#gen()
    }

    fn pause(&self, _times: u32) {}

    fn retry(&self, _round: u32) {
        thread::yield_now();
    }

    /// Counts its own readings: there is no time in this world.
    fn clock(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}
