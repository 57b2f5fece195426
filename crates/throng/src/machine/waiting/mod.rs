//! Waiting, for the whole library: how long a thread spins, when it lets others run, when it sleeps.
//!
//! A wait goes through stages, by time and not by the number of polls, because a pause takes 1 to
//! 140 cycles by the chip:
//!
//! 1. *Spin*: look again and again. Nothing is faster where the event is near, and nothing is worse
//!    where its author waits for this very core.
//! 2. *Yield*: let others run between two looks. Where nobody else wants the core, that costs a
//!    system call a look.
//! 3. *Sleep* on the word, until whoever writes it says so. To fall asleep and to be woken takes some
//!    ten microseconds, on a virtual machine some hundred. A thread that slept through an event that
//!    was near learns to stay awake longer, and one that slept for long to fall asleep sooner.
//!
//! While other programs, or threads that compute, want the cores, the first two stages are left out: see `crowd.rs`.
//!
//! A wait for somebody who is in the middle of something ([`Word::wait_while`](super::Word)) has
//! nobody who would wake it up, so its third stage is a nap, again and again.
//!
//! # Sleeping
//! The sleeper counts itself in a table (`sleepers`, by the word's address), looks at the word once
//! more, and asks the system to be put to sleep *if the word still is what it saw*. Who writes the
//! word looks into the table and wakes whom it finds. Either the writer sees the sleeper counted, or
//! the sleeper's look sees what was written: all four accesses are sequentially consistent. So no
//! wake-up is lost; and no sleep is longer than [`LONGEST_SLEEP`], since the way out is a word that
//! nobody sleeps on.

use std::cell::Cell;
use std::fmt;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{Cpu, Machine, Word};
use crate::topology::Topology;

mod bed;
mod crowd;

use crowd::{LONG_YIELDS, STOLEN_TIME};

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
    /// For so long it looks again and again.
    pub spin: Duration,
    /// Then, for so long, it lets others run between two looks.
    pub yielding: Duration,
    /// A thread that slept through an event that was near stays awake longer the next time, but never
    /// longer than this. Without that, threads that meet again and again could not stop sleeping: who
    /// is woken comes late, so late that the others fall asleep.
    pub most_awake: Duration,
}

impl Patience {
    /// For threads that have a core each: several transfers of a cache line, and what a system call
    /// or two take.
    pub const ROOMY: Patience = Patience {
        spin: Duration::from_micros(20),
        yielding: Duration::from_micros(80),
        most_awake: Duration::from_millis(2),
    };

    /// For more threads than cores: who waits is in the way of who is waited for.
    pub const CROWDED: Patience = Patience {
        spin: Duration::ZERO,
        yielding: Duration::from_micros(50),
        most_awake: Duration::from_micros(500),
    };

    /// For somebody who is in the middle of something: several transfers of a cache line, much less
    /// than a time slice. Then it lets others run for the time of some slices.
    const IN_PASSING: Patience = Patience {
        spin: Duration::from_micros(2),
        yielding: Duration::from_millis(50),
        most_awake: Duration::from_millis(50),
    };

    /// How long a thread stays awake the next time that had stayed awake for `awake` and then slept,
    /// in a wait of `waited` altogether.
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

    /// Sleeps at once: for threads whose cores others want.
    const NONE: Patience =
        Patience { spin: Duration::ZERO, yielding: Duration::ZERO, most_awake: Duration::ZERO };

    /// The same, or none while others want the cores. Who asked for a patience of its own keeps it.
    #[inline]
    pub(super) fn now(self) -> Self {
        let is_crowd = LONG_YIELDS.is_believed() && self.is_usual()
            || STOLEN_TIME.is_believed() && self == Patience::ROOMY;
        if is_crowd { Patience::NONE } else { self }
    }

    fn is_usual(&self) -> bool {
        *self == Patience::ROOMY || *self == Patience::CROWDED
    }

    /// How many looks a wait begins with that have no pause between them.
    #[inline]
    pub(super) const fn eager_polls(&self) -> u32 {
        if self.spin.is_zero() { 1 } else { EAGER_POLLS }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience::ROOMY
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
}

impl<M: Machine> WayOut<'_, M> {
    /// No way out: for waits that are sure to end.
    #[must_use]
    pub const fn none() -> Self {
        WayOut { alarm: None, until: 0, deadline: None, patience: Patience::ROOMY }
    }

    /// Opens so long after now, in units of [`Cpu::clock`].
    #[must_use]
    pub fn within(cpu: &M::Cpu, time: u64) -> Self {
        WayOut { deadline: Some(cpu.clock().saturating_add(time)), ..WayOut::none() }
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
    /// Opens so long after now.
    #[must_use]
    pub fn after(cpu: &super::NativeCpu, time: Duration) -> Self {
        WayOut::within(cpu, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How long until the deadline.
    pub(super) fn time_left(&self, cpu: &super::NativeCpu) -> Option<Duration> {
        self.deadline.map(|deadline| Duration::from_nanos(deadline.saturating_sub(cpu.clock())))
    }
}

impl<M: Machine> fmt::Debug for WayOut<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WayOut { alarm, until, deadline, patience } = self;
        f.debug_struct("WayOut")
            .field("alarm", alarm)
            .field("until", until)
            .field("deadline", deadline)
            .field("patience", patience)
            .finish()
    }
}

/// So many looks in a row are made without a pause, when a wait begins: what is about to happen is
/// then seen at once, not up to 140 cycles later.
const EAGER_POLLS: u32 = 16;

/// Between two looks at the clock, so many polls. Reading the clock takes as long as a line needs
/// from core to core.
const POLLS_A_LOOK: u32 = 64;

/// A thread first sleeps no longer than this without a look at its way out; then twice as long, and so
/// on, up to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_millis(20);

/// No thread sleeps longer than this without a look at its way out.
const LONGEST_SLEEP: Duration = Duration::from_millis(640);

/// What nobody ends by a signal is looked at so often.
const NAP: Duration = Duration::from_micros(500);

thread_local! {
    /// How long this thread stays awake in a wait, as far as it has learned.
    static AWAKE: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A wait in progress.
#[derive(Debug)]
pub(super) struct Wait {
    patience: Patience,
    polls: u32,
    since: Option<Instant>,
    /// How long it had lasted at the last yield, if no look at the clock came since.
    yielded_after: Option<Duration>,
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

impl Wait {
    #[inline]
    pub(super) const fn new(patience: Patience) -> Self {
        // Without time to spin, the first look is followed by one at the clock.
        let polls = if patience.spin.is_zero() { POLLS_A_LOOK - 1 } else { 0 };
        Wait { patience, polls, since: None, yielded_after: None, next_sleep: None }
    }

    /// A wait for somebody who is in the middle of something.
    #[inline]
    pub(super) const fn in_passing() -> Self {
        Wait::new(Patience::IN_PASSING)
    }

    /// Waits a little by spinning, if it is still time for that.
    #[inline]
    pub(super) fn spins(&mut self) -> bool {
        self.polls = self.polls.wrapping_add(1);
        spin_loop();
        !self.polls.is_multiple_of(POLLS_A_LOOK)
    }

    #[cold]
    fn stage(&mut self) -> Stage {
        let waited = self.since.get_or_insert_with(Instant::now).elapsed();
        if let Some(before) = self.yielded_after.take() {
            crowd::judge_yield(waited - before);
        }
        if waited < self.patience.spin {
            return Stage::Spin;
        }
        // From now on, look at the clock after every poll.
        self.polls = POLLS_A_LOOK - 1;
        if waited < self.patience.bounded(AWAKE.get()) {
            self.yielded_after = Some(waited);
            Stage::Yield
        } else {
            Stage::Sleep
        }
    }

    /// What the wait was for has happened.
    pub(super) fn end(self) {
        if let (Some(_), Some(since)) = (self.next_sleep, self.since) {
            let awake = self.patience.bounded(AWAKE.get());
            AWAKE.set(self.patience.learned(awake, since.elapsed()));
        }
    }

    /// The slow part of a wait that nobody ends by a signal.
    #[cold]
    pub(super) fn naps(&mut self) {
        match self.stage() {
            Stage::Spin => {}
            Stage::Yield => thread::yield_now(),
            Stage::Sleep => thread::sleep(NAP),
        }
    }

    /// The slow part of a wait that a signal ends: `word` was `seen`, which is why it waits.
    #[cold]
    pub(super) fn sleeps(&mut self, word: &AtomicU64, seen: u64, longest: Option<Duration>) {
        self.patience = self.patience.now();
        match self.stage() {
            Stage::Spin => {}
            Stage::Yield => thread::yield_now(),
            Stage::Sleep => {
                let usual = self.next_sleep.unwrap_or(FIRST_SLEEP);
                let longest = longest.map_or(usual, |longest| longest.min(usual));
                let sleepers = sleepers(word);
                sleepers.fetch_add(1, Ordering::SeqCst);
                if word.load(Ordering::SeqCst) == seen {
                    crowd::sleep(|| bed::sleep(word, seen, longest));
                }
                sleepers.fetch_sub(1, Ordering::Relaxed);
                self.next_sleep = Some((usual * 2).min(LONGEST_SLEEP));
            }
        }
    }
}

/// The `round`-th failed round of a loop that no single word ends: spins at first, then lets others
/// run, and naps when it has done so for long.
#[inline]
pub(super) fn retry(round: u32) {
    const SPINNING: u32 = 16;
    const YIELDING: u32 = 100_000;
    match round {
        0..SPINNING => spin_loop(),
        SPINNING..YIELDING => {
            let before = Instant::now();
            thread::yield_now();
            crowd::judge_yield(before.elapsed());
        }
        _ => thread::sleep(NAP),
    }
}

/// Whether others want the cores.
#[inline]
pub(super) fn is_crowd() -> bool {
    LONG_YIELDS.is_believed() || STOLEN_TIME.is_believed()
}

/// Wakes those who sleep on `word`, which was changed by a sequentially consistent operation.
#[inline]
pub(super) fn wake(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
    crowd::count_wake();
}

#[cold]
fn wake_all(word: &AtomicU64) {
    bed::wake_all(word);
}

/// How many threads sleep on `word`, and on others that share its entry. So many entries that few
/// words do: who signals a word whose entry is not 0 asks the system in vain.
#[inline]
fn sleepers(word: &AtomicU64) -> &'static AtomicU32 {
    const BITS: u32 = 12;
    static SLEEPERS: [AtomicU32; 1 << BITS] = [const { AtomicU32::new(0) }; 1 << BITS];
    &SLEEPERS[bed::hash(word, BITS)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Line, Native, Place};

    const US: fn(u64) -> Duration = Duration::from_micros;

    /// Other tests that run meanwhile sleep where they would spin, for a moment.
    #[test]
    fn while_others_want_the_cores_waits_sleep_at_once() {
        let patient = Patience { spin: US(1), ..Patience::ROOMY };
        let now = crate::machine::Native::cpu().clock();
        STOLEN_TIME.raise(now);
        if STOLEN_TIME.is_believed() {
            assert_eq!(Patience::ROOMY.now(), Patience::NONE);
            assert_eq!(patient.now(), patient, "this one was asked for");
        }
        LONG_YIELDS.raise(now);
        if LONG_YIELDS.is_believed() {
            assert_eq!(Patience::CROWDED.now(), Patience::NONE);
        }
    }

    #[test]
    fn who_slept_too_soon_stays_awake_longer_and_who_slept_long_does_not() {
        let patience = Patience::ROOMY;
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
                let mut wait = Wait { since, next_sleep, ..Wait::new(Patience::CROWDED) };
                wait.sleeps(word.atomic(), 0, None);
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
