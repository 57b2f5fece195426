//! When a wait ends although its event has not happened, and when it sleeps at once.

use std::fmt;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::busy::BusyCores;
use super::patience::Patience;
use super::round_times::RoundTimes;
use crate::machine::{Cpu, Machine, Native, NativeCpu, Word};
use crate::setters::setters;

/// The number of looks without a pause between them at the beginning of a wait. They see an event
/// that is about to happen at once, not up to 140 cycles later.
const EAGER_POLLS: u32 = 16;

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
    pub(super) fn sleeps_at_once(self) -> bool {
        match self {
            Watch::Nothing => false,
            Watch::Cores(busy) => busy.are_busy(),
            Watch::Rounds(times) => times.sleeps(),
        }
    }

    /// Reports that a wait has outlasted its time to spin, and has lasted for `waited` in all.
    /// `is_first`: it has not been reported before.
    pub(super) fn wait_was_slow(self, waited: Duration, is_first: bool) {
        match self {
            Watch::Nothing => {}
            Watch::Cores(busy) => busy.wait_lasted(waited),
            Watch::Rounds(times) if is_first => times.wait_was_slow(Native::cpu().clock()),
            Watch::Rounds(_) => {}
        }
    }

    /// Reports that a computing thread ran on the core of the calling thread while that yielded.
    pub(super) fn yield_was_long(self) {
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

impl WayOut<'_, Native> {
    /// Returns a way out that opens `time` after now.
    #[must_use]
    pub fn after(cpu: &NativeCpu, time: Duration) -> Self {
        WayOut::within(cpu, u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Returns the number of looks without a pause between them at the beginning of a wait.
    #[inline]
    pub(in crate::machine) fn eager_polls(&self) -> u32 {
        if self.watch.sleeps_at_once() || self.patience.spin.is_zero() { 1 } else { EAGER_POLLS }
    }

    /// Returns the time until the deadline.
    pub(in crate::machine) fn time_left(&self, cpu: &NativeCpu) -> Option<Duration> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_way_out_that_is_always_woken_says_so() {
        assert!(WayOut::<Native>::none().always_woken().is_always_woken);
        assert!(!WayOut::<Native>::none().is_always_woken);
    }
}
