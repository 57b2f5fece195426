//! A wait in progress: what the thread does between two looks at its word.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::patience::Patience;
use super::sleepers::sleepers;
use super::way_out::Watch;
use super::{NAP, park, usage};
use crate::machine::time::{self, Instant};

/// The number of polls to a look at the clock. Reading the clock takes as long as a line takes from
/// core to core.
const POLLS_A_LOOK: u32 = 64;

/// The longest first sleep without a look at the way out. Later sleeps take twice as long each, up
/// to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_millis(20);

/// The longest sleep without a look at the way out.
const LONGEST_SLEEP: Duration = Duration::from_millis(640);

/// A longer yield shows that another thread computes on this core.
const LONG_YIELD: Duration = Duration::from_micros(500);

thread_local! {
    /// The learned time for which this thread stays awake in a wait.
    static AWAKE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A wait in progress.
#[derive(Debug)]
pub(in crate::machine) struct Wait<'a> {
    patience: Patience,
    watch: Watch<'a>,
    polls: u32,
    since: Option<Instant>,
    /// Whether the wait has outlasted its time to spin.
    is_slow: bool,
    /// The time that the wait had lasted at the last yield, if the clock was not read since.
    yielded_after: Option<Duration>,
    /// The number of times that the thread had lost its core by the first yield, if the system
    /// counts them.
    preemptions: Option<u64>,
    /// The length of the next sleep, once there was one.
    next_sleep: Option<Duration>,
}

/// What to do before the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Spin,
    Yield,
    Sleep,
}

impl<'a> Wait<'a> {
    #[inline]
    pub(in crate::machine) fn new(patience: Patience, watch: Watch<'a>) -> Self {
        let patience = if watch.sleeps_at_once() { Patience::NONE } else { patience };
        // Without time to spin, the first look is followed by a look at the clock.
        let polls = if patience.spin.is_zero() { POLLS_A_LOOK - 1 } else { 0 };
        Wait {
            patience,
            watch,
            polls,
            since: None,
            is_slow: false,
            yielded_after: None,
            preemptions: None,
            next_sleep: None,
        }
    }

    /// Returns a wait for a thread in the middle of a few instructions.
    #[inline]
    pub(in crate::machine) fn in_passing() -> Self {
        Wait::new(Patience::IN_PASSING, Watch::Nothing)
    }

    /// Spins a little and returns true, or returns false if it is time to look at the clock.
    #[inline]
    pub(in crate::machine) fn spins(&mut self) -> bool {
        self.polls = self.polls.wrapping_add(1);
        let spins = !self.polls.is_multiple_of(POLLS_A_LOOK);
        if spins {
            spin_loop();
        }
        spins
    }

    #[cold]
    fn stage(&mut self) -> Stage {
        if self.patience == Patience::NONE {
            self.polls = POLLS_A_LOOK - 1;
            return Stage::Sleep;
        }
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if let Some(before) = self.yielded_after.take() {
            self.judge_yield(waited - before);
        }
        if waited < self.patience.spin {
            return Stage::Spin;
        }
        // From now on, look at the clock after every poll.
        self.polls = POLLS_A_LOOK - 1;
        self.watch.wait_was_slow(waited, !self.is_slow);
        self.is_slow = true;
        if waited >= self.patience.bounded(AWAKE.get()) {
            return Stage::Sleep;
        }
        if self.patience.yielding.is_zero() {
            return Stage::Spin;
        }
        self.yielded_after = Some(waited);
        Stage::Yield
    }

    /// Yields. The next read of the clock measures how long the yield took.
    fn yields(&mut self) {
        if self.preemptions.is_none() {
            self.preemptions = usage::preemptions();
        }
        thread::yield_now();
    }

    /// Ends the yields of this wait if a computing thread ran during a yield of length `took`. A
    /// virtual machine that was stopped meanwhile counts no preemption.
    fn judge_yield(&mut self, took: Duration) {
        if took > LONG_YIELD && usage::preemptions() > self.preemptions {
            self.patience = Patience::NONE;
            self.watch.yield_was_long();
        }
    }

    /// Ends the wait after its event, and updates the learned time.
    pub(in crate::machine) fn end(self) {
        if let (Some(_), Some(since)) = (self.next_sleep, self.since) {
            let awake = self.patience.bounded(AWAKE.get());
            AWAKE.set(self.patience.learned(awake, since.elapsed()));
        }
    }

    /// The slow part of a wait that no wake-up ends.
    #[cold]
    pub(in crate::machine) fn naps(&mut self) {
        match self.stage() {
            Stage::Spin => {}
            Stage::Yield => self.yields(),
            Stage::Sleep => time::sleep(NAP),
        }
    }

    /// The slow part of a wait that a wake-up ends. The wait saw the value `seen` in `word`. The
    /// sleeping thread is counted unless it `is_always_woken`. It sleeps no longer than `longest`.
    #[cold]
    pub(in crate::machine) fn sleeps(
        &mut self,
        word: &AtomicU64,
        seen: u64,
        longest: Option<Duration>,
        is_always_woken: bool,
    ) {
        if self.watch.sleeps_at_once() {
            self.patience = Patience::NONE;
        }
        match self.stage() {
            Stage::Spin => {}
            Stage::Yield => self.yields(),
            Stage::Sleep => {
                let usual = self.next_sleep.unwrap_or(FIRST_SLEEP);
                let longest = if is_always_woken {
                    longest
                } else {
                    Some(longest.map_or(usual, |longest| longest.min(usual)))
                };
                let sleep = || match self.watch {
                    Watch::Cores(_) => usage::sleep(|| park::sleep(word, seen, longest)),
                    Watch::Nothing | Watch::Rounds(_) => park::sleep(word, seen, longest),
                };
                if is_always_woken {
                    sleep();
                } else {
                    let sleepers = sleepers(word);
                    sleepers.fetch_add(1, Ordering::SeqCst);
                    if word.load(Ordering::SeqCst) == seen {
                        sleep();
                    }
                    sleepers.fetch_sub(1, Ordering::Relaxed);
                }
                self.next_sleep = Some((usual * 2).min(LONGEST_SLEEP));
            }
        }
    }
}

/// Waits in the `round`-th failed round of a loop that no single word ends. Spins at first, then
/// yields, and sleeps for [`NAP`] after many yields.
#[inline]
pub(in crate::machine) fn retry(round: u32, watch: Watch<'_>) {
    const SPINNING: u32 = 16;
    const YIELDING: u32 = 100_000;
    match round {
        0..SPINNING => spin_loop(),
        SPINNING..YIELDING => yield_in_loop(watch),
        _ => time::sleep(NAP),
    }
}

#[cold]
fn yield_in_loop(watch: Watch<'_>) {
    let before = Instant::now();
    thread::yield_now();
    if before.elapsed() > LONG_YIELD {
        watch.yield_was_long();
        // A computing thread wants this core, so its next time slice is not taken from it at once.
        time::sleep(NAP);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::waiting::{BusyCores, RoundTimes, WayOut};
    use crate::machine::{Cpu, Line, Native, NativeWord, Place, Word};

    #[test]
    fn a_slow_wait_makes_the_cores_suspected() {
        let cores = BusyCores::new();
        let mut wait = Wait::new(Patience::UNKNOWN, Watch::Cores(&cores));
        wait.since = Some(Instant::now() - Duration::from_millis(1));
        wait.stage();
        assert!(cores.is_suspected());
    }

    #[test]
    fn a_wait_whose_yield_took_long_sleeps() {
        let cores = BusyCores::oversubscribed();
        let wait = || Wait {
            preemptions: Some(0),
            ..Wait::new(Patience::OVERSUBSCRIBED, Watch::Cores(&cores))
        };
        let mut short = wait();
        short.judge_yield(LONG_YIELD);
        assert_eq!((short.patience, cores.are_busy()), (Patience::OVERSUBSCRIBED, false));
        if usage::preemptions() > Some(0) {
            let mut long = wait();
            long.judge_yield(2 * LONG_YIELD);
            assert_eq!((long.patience, cores.are_busy()), (Patience::NONE, true));
            let times = RoundTimes::new();
            let mut long = Wait { watch: Watch::Rounds(&times), ..wait() };
            long.judge_yield(2 * LONG_YIELD);
            assert!(times.sleeps());
        }
    }

    /// Sleeps last for ever here, so that only a wake-up ends them. Then the thread is not counted any more.
    #[test]
    fn a_thread_that_sleeps_is_woken_and_no_more_counted() {
        let wakes: [fn(&NativeWord); 3] = [
            |word| word.signal(7),
            |word| {
                word.fetch_add(1, Ordering::SeqCst);
                word.wake();
            },
            |word| {
                word.fetch_add(1, Ordering::SeqCst);
                word.wake_one();
            },
        ];
        for wake in wakes {
            let word = Line::word::<Native>(0, Place::named("test"));
            let start = Instant::now();
            let start = &start;
            thread::scope(|scope| {
                scope.spawn(|| {
                    let since = Some(*start - Duration::from_secs(1));
                    let next_sleep = Some(Duration::from_secs(20));
                    let mut wait = Wait {
                        since,
                        next_sleep,
                        ..Wait::new(Patience::OVERSUBSCRIBED, Watch::Nothing)
                    };
                    wait.sleeps(word.atomic(), 0, None, false);
                });
                let is_counted = || sleepers(word.atomic()).load(Ordering::SeqCst) != 0;
                while !is_counted() && start.elapsed() < Duration::from_secs(5) {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_millis(10));
                wake(&word);
            });
            assert!(start.elapsed() < Duration::from_secs(10), "it was not woken");
            // Another word may have the same place in the table for a while.
            let is_counted = || sleepers(word.atomic()).load(Ordering::SeqCst) != 0;
            while is_counted() {
                assert!(start.elapsed() < Duration::from_secs(15), "it is counted for ever");
                thread::yield_now();
            }
        }
    }

    /// Looks at the word by turns: `looks` times in vain, with a way out that is open all the time.
    #[test]
    fn a_wait_looks_once_more_when_its_way_out_is_open() {
        let word = Line::word::<Native>(3, Place::named("test"));
        let cpu = Native::cpu();
        let way_out = WayOut::none().deadline(0).patience(Patience::NONE);
        for (vain_looks, found) in [(0, Some(3)), (1, Some(3)), (2, Some(3)), (3, None)] {
            let mut looks = 0;
            let outcome = word.sleep_while(&cpu, Ordering::Acquire, &way_out, |_| {
                looks += 1;
                looks <= vain_looks
            });
            assert_eq!(outcome, found, "after {vain_looks} looks in vain");
        }
    }

    /// Two threads on one core wake each other by turns. A thread that is woken too soon takes the core at once, finds the
    /// old word, and sleeps until its timer ends.
    #[test]
    #[cfg(all(target_os = "linux", target_pointer_width = "64", not(miri)))]
    fn a_thread_is_woken_after_the_word_has_changed() {
        use std::ffi::c_int;

        const TURNS: u64 = 200;
        const WORDS: usize = 16;
        unsafe extern "C" {
            /// Of the C library, which the standard library is linked with.
            fn sched_setaffinity(pid: c_int, bytes: usize, mask: *const [u64; WORDS]) -> c_int;
        }
        let core = Native::cpu().location();
        let to_one_core = || {
            let mut mask = [0; WORDS];
            mask[core / 64 % WORDS] = 1 << (core % 64);
            // SAFETY: the system reads as many bytes as the mask has. Process 0 is the calling thread.
            unsafe { sched_setaffinity(0, size_of_val(&mask), &raw const mask) };
        };
        let words = [0, 1].map(|_| Line::word::<Native>(0, Place::named("test")));
        let shortest = (0..3).map(|_| {
            let start = Instant::now();
            let base = words[0].load(Ordering::SeqCst);
            thread::scope(|scope| {
                for me in [0, 1] {
                    let words = &words;
                    scope.spawn(move || {
                        to_one_core();
                        let (cpu, way_out) =
                            (Native::cpu(), WayOut::none().patience(Patience::NONE));
                        for turn in base + 1..=base + TURNS {
                            if me == 0 {
                                words[0].signal(turn);
                            }
                            let other = &words[1 - me];
                            other
                                .sleep_while(&cpu, Ordering::Acquire, &way_out, |seen| seen < turn);
                            if me == 1 {
                                words[1].signal(turn);
                            }
                        }
                    });
                }
            });
            start.elapsed()
        });
        let shortest = shortest.min().expect("three runs");
        assert!(shortest < FIRST_SLEEP * TURNS as u32 / 10, "{TURNS} turns took {shortest:?}");
    }
}
