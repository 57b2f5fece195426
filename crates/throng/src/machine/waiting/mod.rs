//! Waiting, for the whole library: when a thread spins, yields and sleeps.
//!
//! The README of this folder has the states of a wait, both sides' steps, the races, and the
//! measurements behind each constant.

use std::cell::Cell;
use std::fmt;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::time::{self, Instant};
use super::{Cpu, Machine, Native, Word};
use crate::setters::setters;
use crate::topology::Topology;

mod busy;
mod park;
mod round_times;
mod usage;

pub use busy::BusyCores;
pub use round_times::RoundTimes;

/// The times for which a waiting thread spins and yields before it sleeps.
///
/// ```
/// use std::time::Duration;
/// use throng::machine::Patience;
///
/// let hurried = Patience::default().spin(Duration::from_millis(1));
/// assert!(hurried.spin > Patience::CROWDED.spin);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Patience {
    /// The time for which it spins.
    pub spin: Duration,
    /// The time for which it then yields its core between two looks.
    pub yielding: Duration,
    /// The longest time awake. A thread that slept through an event that was near stays awake
    /// longer the next time, up to this. It yields meanwhile, or spins if `yielding` is zero.
    /// Without that, threads that meet repeatedly could not stop sleeping: a thread that is woken
    /// comes late, and the others have fallen asleep by then.
    pub most_awake: Duration,
}

impl Patience {
    /// For threads that have a core each. It spins for the time of several transfers of a cache
    /// line, or of a system call or two. It does not yield, because a thread that yields to a
    /// neighbour gets its core back after milliseconds.
    pub const ROOMY: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::ZERO,
        most_awake: Duration::from_micros(200),
    };

    /// For more threads than cores: a waiting thread may keep the awaited one from running.
    pub const CROWDED: Patience = Patience {
        spin: Duration::ZERO,
        yielding: Duration::from_micros(50),
        most_awake: Duration::from_micros(500),
    };

    /// For any number of threads: like [`ROOMY`](Patience::ROOMY) at first, then like
    /// [`CROWDED`](Patience::CROWDED).
    pub const UNKNOWN: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::from_micros(80),
        most_awake: Duration::from_millis(2),
    };

    /// Sleeps at once, for threads whose cores other threads want.
    pub const NONE: Patience =
        Patience { spin: Duration::ZERO, yielding: Duration::ZERO, most_awake: Duration::ZERO };

    /// For a wait for a thread in the middle of a few instructions. It spins for the time of
    /// several transfers of a cache line, much less than a time slice. Then it yields for the time
    /// of some slices.
    const IN_PASSING: Patience = Patience {
        spin: Duration::from_micros(2),
        yielding: Duration::from_millis(50),
        most_awake: Duration::from_millis(50),
    };

    /// Returns the time to stay awake in the next wait. This wait stayed awake for `awake`, slept,
    /// and took `waited` altogether.
    fn learned(&self, awake: Duration, waited: Duration) -> Duration {
        let next = if waited <= self.most_awake { awake.saturating_mul(2) } else { awake / 2 };
        self.bounded(next)
    }

    /// Returns the allowed time awake that is nearest to `awake`.
    fn bounded(&self, awake: Duration) -> Duration {
        awake.min(self.most_awake).max(self.spin.saturating_add(self.yielding))
    }

    /// Returns the patience for `threads` threads that wait for each other on this machine.
    #[must_use]
    pub fn for_threads(threads: usize) -> Self {
        if threads > Topology::here().processors() { Patience::CROWDED } else { Patience::ROOMY }
    }

    setters!(const fn spin: Duration, yielding: Duration, most_awake: Duration);
}

impl Default for Patience {
    fn default() -> Self {
        Patience::UNKNOWN
    }
}

/// The conditions under which a wait ends although its event has not happened.
///
/// ```
/// use std::sync::atomic::Ordering::Acquire;
/// use throng::machine::{Cpu, Line, Native, Place, WayOut, Word};
///
/// let (word, cpu) = (Line::word::<Native>(0, Place::named("never")), Native::cpu());
/// let way_out = WayOut::within(&cpu, 1_000_000);
/// assert_eq!(word.sleep_while(&cpu, Acquire, &way_out, |value| value == 0), None);
/// ```
#[non_exhaustive]
pub struct WayOut<'a, M: Machine> {
    /// Opens when this word is neither 0 nor above [`until`](WayOut::until).
    pub alarm: Option<&'a M::Word>,
    /// The largest value of [`alarm`](WayOut::alarm) that opens the way out.
    pub until: u64,
    /// Opens at this time of [`Cpu::clock`].
    pub deadline: Option<u64>,
    /// How a real thread waits.
    pub patience: Patience,
    /// Whether a real thread should sleep at once.
    pub watch: Watch<'a>,
    /// Whether the event is followed by [`Word::wake_always`], and the alarm by a change of the
    /// word and that call. Then a sleeping thread need not be counted, and needs no timer except
    /// for its deadline.
    pub is_always_woken: bool,
}

/// Whether waiting real threads should sleep at once instead of spinning first.
#[derive(Clone, Copy, Debug, Default)]
pub enum Watch<'a> {
    /// They spin as long as their patience says.
    #[default]
    Nothing,
    /// They sleep at once while other threads want their cores.
    Cores(&'a BusyCores),
    /// They sleep at once while that makes the rounds of a barrier shorter.
    Rounds(&'a RoundTimes),
}

impl Watch<'_> {
    #[inline]
    fn sleeps_at_once(self) -> bool {
        match self {
            Watch::Nothing => false,
            Watch::Cores(busy) => busy.are_busy(),
            Watch::Rounds(times) => times.sleeps(),
        }
    }

    /// Reports that a wait has outlasted its time to spin, and has lasted for `waited` in all.
    /// `is_first`: it has not been reported before.
    fn wait_was_slow(self, waited: Duration, is_first: bool) {
        match self {
            Watch::Nothing => {}
            Watch::Cores(busy) => busy.wait_lasted(waited),
            Watch::Rounds(times) if is_first => times.wait_was_slow(Native::cpu().clock()),
            Watch::Rounds(_) => {}
        }
    }

    /// Reports that a computing thread ran on the core of the calling thread while that yielded.
    fn yield_was_long(self) {
        match self {
            Watch::Nothing => {}
            Watch::Cores(busy) => busy.report(Native::cpu().clock()),
            Watch::Rounds(times) => times.yield_was_long(Native::cpu().clock()),
        }
    }
}

impl<'a, M: Machine> WayOut<'a, M> {
    /// Returns a way out that never opens, for waits that are certain to end.
    #[must_use]
    pub const fn none() -> Self {
        WayOut {
            alarm: None,
            until: 0,
            deadline: None,
            patience: Patience::UNKNOWN,
            watch: Watch::Nothing,
            is_always_woken: false,
        }
    }

    /// Returns a way out that opens `time` after now, in units of [`Cpu::clock`].
    #[must_use]
    pub fn within(cpu: &M::Cpu, time: u64) -> Self {
        WayOut { deadline: Some(cpu.clock().saturating_add(time)), ..WayOut::none() }
    }

    /// Sets the alarm: the way out also opens when `word` is neither 0 nor above `until`.
    #[must_use]
    pub const fn alarm(mut self, word: &'a M::Word, until: u64) -> Self {
        self.alarm = Some(word);
        self.until = until;
        self
    }

    /// Sets the deadline: the way out also opens at `time` of [`Cpu::clock`].
    #[must_use]
    pub const fn deadline(mut self, time: u64) -> Self {
        self.deadline = Some(time);
        self
    }

    setters!(const fn patience: Patience);

    /// Returns the same way out with another `watch`.
    #[must_use]
    pub fn watching<'b>(&'b self, watch: Watch<'b>) -> WayOut<'b, M>
    where
        'a: 'b,
    {
        let WayOut { alarm, until, deadline, patience, is_always_woken, .. } = *self;
        WayOut { alarm, until, deadline, patience, watch, is_always_woken }
    }

    /// Returns the same way out for waits that are [always woken](WayOut::is_always_woken).
    #[must_use]
    pub fn always_woken(&self) -> WayOut<'_, M> {
        WayOut { is_always_woken: true, ..self.watching(self.watch) }
    }

    /// Returns whether a wait should sleep at once.
    #[must_use]
    #[inline]
    pub fn sleeps_at_once(&self) -> bool {
        self.watch.sleeps_at_once() || self.patience == Patience::NONE
    }

    /// Returns whether the wait should end.
    #[must_use]
    pub fn is_open(&self, cpu: &M::Cpu) -> bool {
        let alarmed = self
            .alarm
            .is_some_and(|alarm| (1..=self.until).contains(&alarm.load(Ordering::Acquire)));
        alarmed || self.deadline.is_some_and(|deadline| cpu.clock() >= deadline)
    }
}

impl WayOut<'_, super::Native> {
    /// Returns a way out that opens `time` after now.
    #[must_use]
    pub fn after(cpu: &super::NativeCpu, time: Duration) -> Self {
        WayOut::within(cpu, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Returns the number of looks without a pause between them at the beginning of a wait.
    #[inline]
    pub(super) fn eager_polls(&self) -> u32 {
        if self.watch.sleeps_at_once() || self.patience.spin.is_zero() { 1 } else { EAGER_POLLS }
    }

    /// Returns the time until the deadline.
    pub(super) fn time_left(&self, cpu: &super::NativeCpu) -> Option<Duration> {
        self.deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(cpu.clock())))
    }
}

impl<M: Machine> fmt::Debug for WayOut<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WayOut { alarm, until, deadline, patience, watch, is_always_woken } = self;
        f.debug_struct("WayOut")
            .field("alarm", alarm)
            .field("until", until)
            .field("deadline", deadline)
            .field("patience", patience)
            .field("watch", watch)
            .field("is_always_woken", is_always_woken)
            .finish()
    }
}

/// The number of looks without a pause between them at the beginning of a wait. They see an event
/// that is about to happen at once, not up to 140 cycles later.
const EAGER_POLLS: u32 = 16;

/// The number of polls to a look at the clock. Reading the clock takes as long as a line takes from
/// core to core.
const POLLS_A_LOOK: u32 = 64;

/// The longest first sleep without a look at the way out. Later sleeps take twice as long each, up
/// to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_millis(20);

/// The longest sleep without a look at the way out.
const LONGEST_SLEEP: Duration = Duration::from_millis(640);

/// Polling interval for waits that have no waker.
const NAP: Duration = Duration::from_micros(500);

/// A longer yield shows that another thread computes on this core.
const LONG_YIELD: Duration = Duration::from_micros(500);

thread_local! {
    /// The learned time for which this thread stays awake in a wait.
    static AWAKE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A wait in progress.
#[derive(Debug)]
pub(super) struct Wait<'a> {
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
    pub(super) fn new(patience: Patience, watch: Watch<'a>) -> Self {
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
    pub(super) fn in_passing() -> Self {
        Wait::new(Patience::IN_PASSING, Watch::Nothing)
    }

    /// Spins a little and returns true, or returns false if it is time to look at the clock.
    #[inline]
    pub(super) fn spins(&mut self) -> bool {
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
    pub(super) fn end(self) {
        if let (Some(_), Some(since)) = (self.next_sleep, self.since) {
            let awake = self.patience.bounded(AWAKE.get());
            AWAKE.set(self.patience.learned(awake, since.elapsed()));
        }
    }

    /// The slow part of a wait that no wake-up ends.
    #[cold]
    pub(super) fn naps(&mut self) {
        match self.stage() {
            Stage::Spin => {}
            Stage::Yield => self.yields(),
            Stage::Sleep => time::sleep(NAP),
        }
    }

    /// The slow part of a wait that a wake-up ends. The wait saw the value `seen` in `word`. The
    /// sleeping thread is counted unless it `is_always_woken`. It sleeps no longer than `longest`.
    #[cold]
    pub(super) fn sleeps(
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
pub(super) fn retry(round: u32, watch: Watch<'_>) {
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

/// Wakes the threads that sleep on `word`. The change of the word must have been a sequentially
/// consistent operation.
#[inline]
pub(super) fn wake(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

/// Wakes at least one of the threads that sleep on `word`. The change of the word must have been a
/// sequentially consistent operation.
pub(super) fn wake_one(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        park::wake_one(word);
    }
}

/// Wakes the threads that sleep on `word`, counted or not.
#[cold]
pub(super) fn wake_all(word: &AtomicU64) {
    park::wake_all(word);
}

/// Returns the number of threads that sleep on `word` and on other words that share its entry. The
/// table is large, because a wake-up of a word that shares an entry with a sleeper makes a system
/// call in vain.
#[inline]
fn sleepers(word: &AtomicU64) -> &'static AtomicU32 {
    const BITS: u32 = 12;
    static SLEEPERS: [AtomicU32; 1 << BITS] = [const { AtomicU32::new(0) }; 1 << BITS];
    &SLEEPERS[park::hash(word, BITS)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Line, NativeWord, Place, Word};

    const US: fn(u64) -> Duration = Duration::from_micros;

    #[test]
    fn while_the_cores_are_busy_waits_sleep_at_once() {
        let (cores, ignored) = (BusyCores::new(), BusyCores::ignored());
        let now = Native::cpu().clock();
        cores.report(now);
        ignored.report(now);
        let never = WayOut::<Native>::none();
        if Native::cpu().clock() < now + 5_000_000 {
            assert!(never.watching(Watch::Cores(&cores)).sleeps_at_once());
        }
        assert!(!never.watching(Watch::Cores(&ignored)).sleeps_at_once());
        assert!(!never.sleeps_at_once());
    }

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
        let wait =
            || Wait { preemptions: Some(0), ..Wait::new(Patience::CROWDED, Watch::Cores(&cores)) };
        let mut short = wait();
        short.judge_yield(LONG_YIELD);
        assert_eq!((short.patience, cores.are_busy()), (Patience::CROWDED, false));
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

    #[test]
    fn threads_that_slept_too_soon_stay_awake_longer() {
        let patience = Patience::UNKNOWN;
        let mut awake = patience.bounded(Duration::ZERO);
        assert_eq!(awake, US(100));
        for next in [200, 400, 800, 1600, 2000, 2000] {
            awake = patience.learned(awake, US(300));
            assert_eq!(awake, US(next));
        }
        for next in [1000, 500, 250, 125, 100, 100] {
            awake = patience.learned(awake, US(100_000));
            assert_eq!(awake, US(next));
        }
        let steady = Patience { most_awake: Duration::ZERO, ..patience };
        assert_eq!(steady.learned(US(100), US(10)), US(100), "this one learns nothing");
        let for_ever = Patience { yielding: Duration::MAX, ..patience };
        assert_eq!(for_ever.bounded(US(1)), Duration::MAX, "this one never sleeps");
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
                    let mut wait =
                        Wait { since, next_sleep, ..Wait::new(Patience::CROWDED, Watch::Nothing) };
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

    #[test]
    fn a_way_out_that_is_always_woken_says_so() {
        assert!(WayOut::<Native>::none().always_woken().is_always_woken);
        assert!(!WayOut::<Native>::none().is_always_woken);
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
