//! Waiting, for the whole library: how long a thread spins, when it yields, when it sleeps.
//!
//! The README of this folder has the states of a wait, both sides' steps, the races, and the measurements behind
//! each constant.

use std::cell::Cell;
use std::fmt;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::time::{self, Instant};
use super::{Cpu, Machine, Native, Word};
use crate::topology::Topology;

mod busy;
mod park;
mod round_times;
mod usage;

pub use busy::BusyCores;
pub use round_times::RoundTimes;

/// How long a thread waits in which way, before it sleeps.
///
/// ```
/// use std::time::Duration;
/// use throng::machine::Patience;
///
/// let hurried = Patience { spin: Duration::from_millis(1), ..Patience::default() };
/// assert!(hurried.spin > Patience::CROWDED.spin);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How long it looks again and again.
    pub spin: Duration,
    /// How long it then yields its core between two looks.
    pub yielding: Duration,
    /// A thread that slept through an event that was near stays awake longer the next time, but never
    /// longer than this. It yields meanwhile, or spins if `yielding` is zero. Without that, threads that meet again and again could not stop sleeping: a thread that
    /// is woken comes late, and the others have fallen asleep by then.
    pub most_awake: Duration,
}

impl Patience {
    /// For threads that have a core each: several transfers of a cache line, and what a system call
    /// or two take. No yields: a thread that yields to a neighbour gets its core back after milliseconds.
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

    /// For any number of threads: as [`ROOMY`](Patience::ROOMY) at first, then as [`CROWDED`](Patience::CROWDED).
    pub const UNKNOWN: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::from_micros(80),
        most_awake: Duration::from_millis(2),
    };

    /// Sleeps at once: for threads whose cores others want.
    pub const NONE: Patience =
        Patience { spin: Duration::ZERO, yielding: Duration::ZERO, most_awake: Duration::ZERO };

    /// For a thread in the middle of a few instructions: several transfers of a cache line, much less
    /// than a time slice. Then it yields for the time of some slices.
    const IN_PASSING: Patience = Patience {
        spin: Duration::from_micros(2),
        yielding: Duration::from_millis(50),
        most_awake: Duration::from_millis(50),
    };

    /// How long a thread stays awake the next time, if it stayed awake for `awake`, slept, and waited for `waited`
    /// altogether.
    fn learned(&self, awake: Duration, waited: Duration) -> Duration {
        let next = if waited <= self.most_awake { awake.saturating_mul(2) } else { awake / 2 };
        self.bounded(next)
    }

    /// The time awake that is nearest to `awake`.
    fn bounded(&self, awake: Duration) -> Duration {
        awake.min(self.most_awake).max(self.spin.saturating_add(self.yielding))
    }

    /// For `threads` threads that wait for each other on this machine.
    #[must_use]
    pub fn for_threads(threads: usize) -> Self {
        if threads > Topology::here().processors() { Patience::CROWDED } else { Patience::ROOMY }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience::UNKNOWN
    }
}

/// When a wait ends although what it waits for has not happened.
///
/// ```
/// use std::sync::atomic::Ordering::Acquire;
/// use throng::machine::{Cpu, Line, Native, Place, WayOut, Word};
///
/// let (word, cpu) = (Line::word::<Native>(0, Place::named("never")), Native::cpu());
/// let way_out = WayOut { deadline: Some(cpu.clock() + 1_000_000), ..WayOut::none() };
/// assert_eq!(word.sleep_while(&cpu, Acquire, &way_out, |value| value == 0), None);
/// ```
pub struct WayOut<'a, M: Machine> {
    /// Opens when this word is neither 0 nor above [`until`](WayOut::until).
    pub alarm: Option<&'a M::Word>,
    /// See [`alarm`](WayOut::alarm).
    pub until: u64,
    /// Opens at this time of [`Cpu::clock`].
    pub deadline: Option<u64>,
    /// How a real thread waits.
    pub patience: Patience,
    /// Where a real thread learns whether to be patient at all.
    pub watch: Watch<'a>,
    /// Whether the event is followed by [`Word::wake_always`], and the alarm by a change of the word and that. Then a
    /// sleeping thread need not be counted, and needs no timer but for its deadline.
    pub is_always_woken: bool,
}

/// What tells real threads whether they should sleep at once instead of spinning first.
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

    /// A wait has outlasted its time to spin, and has lasted for `waited` in all. It `is_first` to do so for the
    /// first time.
    fn wait_was_slow(self, waited: Duration, is_first: bool) {
        match self {
            Watch::Nothing => {}
            Watch::Cores(busy) => busy.wait_lasted(waited),
            Watch::Rounds(times) if is_first => times.wait_was_slow(Native::cpu().clock()),
            Watch::Rounds(_) => {}
        }
    }

    /// A thread that computes has run on the core of the calling thread while that yielded.
    fn yield_was_long(self) {
        match self {
            Watch::Nothing => {}
            Watch::Cores(busy) => busy.report(Native::cpu().clock()),
            Watch::Rounds(times) => times.yield_was_long(Native::cpu().clock()),
        }
    }
}

impl<'a, M: Machine> WayOut<'a, M> {
    /// No way out: for waits that are sure to end.
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

    /// Opens `time` after now, in units of [`Cpu::clock`].
    #[must_use]
    pub fn within(cpu: &M::Cpu, time: u64) -> Self {
        WayOut { deadline: Some(cpu.clock().saturating_add(time)), ..WayOut::none() }
    }

    /// The same way out, for waits that watch something else.
    #[must_use]
    pub fn watching<'b>(&'b self, watch: Watch<'b>) -> WayOut<'b, M>
    where
        'a: 'b,
    {
        let WayOut { alarm, until, deadline, patience, is_always_woken, .. } = *self;
        WayOut { alarm, until, deadline, patience, watch, is_always_woken }
    }

    /// The same way out, for waits that are [always woken](WayOut::is_always_woken).
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

    /// Whether the wait should end.
    #[must_use]
    pub fn is_open(&self, cpu: &M::Cpu) -> bool {
        let alarmed = self
            .alarm
            .is_some_and(|alarm| (1..=self.until).contains(&alarm.load(Ordering::Acquire)));
        alarmed || self.deadline.is_some_and(|deadline| cpu.clock() >= deadline)
    }
}

impl WayOut<'_, super::Native> {
    /// Opens `time` after now.
    #[must_use]
    pub fn after(cpu: &super::NativeCpu, time: Duration) -> Self {
        WayOut::within(cpu, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The number of looks without a pause between them at the beginning of a wait.
    #[inline]
    pub(super) fn eager_polls(&self) -> u32 {
        if self.watch.sleeps_at_once() || self.patience.spin.is_zero() { 1 } else { EAGER_POLLS }
    }

    /// How long until the deadline.
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

/// The number of looks in a row without a pause, when a wait begins: an event that is about to happen is
/// then seen at once, not up to 140 cycles later.
const EAGER_POLLS: u32 = 16;

/// The number of polls between two looks at the clock. Reading the clock takes as long as a line needs
/// from core to core.
const POLLS_A_LOOK: u32 = 64;

/// A thread first sleeps no longer than this without a look at its way out; then twice as long, and so
/// on, up to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_millis(20);

/// No thread sleeps longer than this without a look at its way out.
const LONGEST_SLEEP: Duration = Duration::from_millis(640);

/// Polling interval for waits that have no waker.
const NAP: Duration = Duration::from_micros(500);

/// A yield that takes longer shows that another thread computes on this core.
const LONG_YIELD: Duration = Duration::from_micros(500);

thread_local! {
    /// How long this thread stays awake in a wait, as far as it has learned.
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
    /// How long the wait had lasted at the last yield, if no look at the clock came since.
    yielded_after: Option<Duration>,
    /// How often the thread had lost its core by the first yield, if the system tells.
    preemptions: Option<u64>,
    /// How long the next sleep may last, once there was one.
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
        // Without time to spin, the first look is followed by one at the clock.
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

    /// A wait for a thread in the middle of a few instructions.
    #[inline]
    pub(super) fn in_passing() -> Self {
        Wait::new(Patience::IN_PASSING, Watch::Nothing)
    }

    /// Waits a little by spinning, if it is still time for that.
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

    /// Yields. How long that took is judged at the next look at the clock.
    fn yields(&mut self) {
        if self.preemptions.is_none() {
            self.preemptions = usage::preemptions();
        }
        thread::yield_now();
    }

    /// A thread that computes ran during a yield that `took` long: this wait yields no more. A
    /// virtual machine that was stopped meanwhile counts no preemption.
    fn judge_yield(&mut self, took: Duration) {
        if took > LONG_YIELD && usage::preemptions() > self.preemptions {
            self.patience = Patience::NONE;
            self.watch.yield_was_long();
        }
    }

    /// The awaited event has happened.
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

    /// The slow part of a wait that a wake-up ends: `word` was `seen`, which is why it waits. The sleeping thread is
    /// counted unless it `is_always_woken`. It sleeps no longer than `longest`.
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

/// The `round`-th failed round of a loop that no single word ends: spins at first, then yields, and naps when it has
/// yielded for long.
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
        // A thread that computes wants this core: the next slice is not taken from it at once.
        time::sleep(NAP);
    }
}

/// Wakes the threads that sleep on `word`, which was changed by a sequentially consistent operation.
#[inline]
pub(super) fn wake(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

/// Wakes the threads that sleep on `word`, counted or not.
#[cold]
pub(super) fn wake_all(word: &AtomicU64) {
    park::wake_all(word);
}

/// The number of threads that sleep on `word`, and on others that share its entry. The table is large, because a
/// wake-up of a word that shares an entry with a sleeper asks the system in vain.
#[inline]
fn sleepers(word: &AtomicU64) -> &'static AtomicU32 {
    const BITS: u32 = 12;
    static SLEEPERS: [AtomicU32; 1 << BITS] = [const { AtomicU32::new(0) }; 1 << BITS];
    &SLEEPERS[park::hash(word, BITS)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Line, Place};

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

    /// Sleeps last for ever here, so that nothing but a wake-up ends them.
    #[test]
    fn a_thread_that_sleeps_is_woken_by_a_signal() {
        let word = Line::word::<Native>(0, Place::named("test"));
        let start = Instant::now();
        let start = &start;
        thread::scope(|scope| {
            scope.spawn(|| {
                let since = Some(*start - Duration::from_secs(1));
                let next_sleep = Some(Duration::from_secs(60));
                let mut wait =
                    Wait { since, next_sleep, ..Wait::new(Patience::CROWDED, Watch::Nothing) };
                wait.sleeps(word.atomic(), 0, None, false);
            });
            while sleepers(word.atomic()).load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(10));
            word.signal(7);
        });
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
