//! Whether other threads want the cores on which the threads of a structure run.
//!
//! See the README of this folder for the states, the evidence and the measurements behind the constants.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::usage;
use crate::machine::{Cpu, Native};

/// One millisecond. All times are in nanoseconds; points in time are those of [`Cpu::clock`].
const MILLISECOND: u64 = 1_000_000;
/// A wait at least this long makes the threads of the structure look for stolen time.
const SUSPICIOUS_WAIT: Duration = Duration::from_micros(50);
/// The time for which they look.
const SUSPICION: u64 = 20 * MILLISECOND;
/// The length of the first busy time.
const SHORTEST: u64 = 10 * MILLISECOND;
/// The largest number of doublings of a busy time. Busy times that follow each other closely double
/// up to `SHORTEST << MOST_DOUBLINGS`: 640 ms.
const MOST_DOUBLINGS: u64 = 6;
/// A busy time follows another closely if it begins within this time after its end.
const SOON: u64 = 100 * MILLISECOND;

/// The lower bits of the state word; the others are a point in time.
const PHASE: u64 = 3;
/// Phase: waits spin first.
const QUIET: u64 = 0;
/// Phase: threads look for stolen time, since the point in time.
const SUSPECTED: u64 = 1;
/// Phase: waits sleep at once, until the point in time.
const BUSY: u64 = 2;

/// The lower bits of `last_busy`; the others are a point in time.
const DOUBLINGS: u64 = 15;

/// Measures whether other threads want the cores on which the threads of one structure run. While
/// they do, the waits of the structure [sleep at once](super::WayOut::sleeps_at_once) instead of
/// spinning first.
///
/// Real threads find out while they wait, if they [watch](super::Watch) it. On other machines the
/// cores are never busy.
#[derive(Debug)]
pub struct BusyCores {
    /// A phase and a point in time.
    state: AtomicU64,
    /// The end of the last busy time, and the number of doublings of its length.
    last_busy: AtomicU64,
    evidence: Evidence,
}

/// The observations that count as evidence that the cores are busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evidence {
    Nothing,
    LongYields,
    LongYieldsAndStolenTime,
}

impl BusyCores {
    /// Returns the measurement for threads that have a core each while no other program wants one.
    #[must_use]
    pub const fn new() -> Self {
        BusyCores::with(Evidence::LongYieldsAndStolenTime)
    }

    /// Returns the measurement for more threads than cores. They take time from each other, so
    /// stolen time is no evidence.
    #[must_use]
    pub const fn oversubscribed() -> Self {
        BusyCores::with(Evidence::LongYields)
    }

    /// Returns a measurement whose cores are never busy, for waits that have a patience of their
    /// own.
    #[must_use]
    pub const fn ignored() -> Self {
        BusyCores::with(Evidence::Nothing)
    }

    const fn with(evidence: Evidence) -> Self {
        BusyCores { state: AtomicU64::new(QUIET), last_busy: AtomicU64::new(0), evidence }
    }

    /// Returns whether a wait should sleep at once.
    #[must_use]
    #[inline]
    pub fn are_busy(&self) -> bool {
        self.state.load(Relaxed) & PHASE != QUIET && self.are_busy_at(Native::cpu().clock())
    }

    #[cold]
    fn are_busy_at(&self, now: u64) -> bool {
        let state = self.state.load(Relaxed);
        let time = state & !PHASE;
        match state & PHASE {
            BUSY if now < time => true,
            SUSPECTED if now < time + SUSPICION => {
                let is_stolen = usage::was_time_stolen(now);
                if is_stolen {
                    self.report(now);
                }
                is_stolen
            }
            _ => {
                // If another thread has changed the state, its change stands.
                let _ = self.state.compare_exchange(state, QUIET, Relaxed, Relaxed);
                false
            }
        }
    }

    /// Reports that a wait has lasted for `waited`: the awaited thread may have lost its core.
    pub(super) fn wait_lasted(&self, waited: Duration) {
        let state = self.state.load(Relaxed);
        let is_evidence = self.evidence == Evidence::LongYieldsAndStolenTime;
        if is_evidence && waited >= SUSPICIOUS_WAIT && state & PHASE == QUIET {
            let suspected = Native::cpu().clock() & !PHASE | SUSPECTED;
            let _ = self.state.compare_exchange(state, suspected, Relaxed, Relaxed);
        }
    }

    #[cfg(test)]
    pub(super) fn is_suspected(&self) -> bool {
        self.state.load(Relaxed) & PHASE == SUSPECTED
    }

    /// Reports that another thread wanted the core of the calling thread at time `now`.
    #[cold]
    pub(super) fn report(&self, now: u64) {
        let state = self.state.load(Relaxed);
        let is_known = state & PHASE == BUSY && now < state & !PHASE;
        if is_known || self.evidence == Evidence::Nothing {
            return;
        }
        let last = self.last_busy.load(Relaxed);
        let doublings = next_doublings(last & DOUBLINGS, now.saturating_sub(last & !DOUBLINGS));
        let until = now + (SHORTEST << doublings);
        self.last_busy.store(until & !DOUBLINGS | doublings, Relaxed);
        self.state.store(until & !PHASE | BUSY, Relaxed);
    }
}

impl Default for BusyCores {
    fn default() -> Self {
        BusyCores::new()
    }
}

/// Returns the number of doublings of a busy time that begins `pause` after the end of the last
/// one.
fn next_doublings(last: u64, pause: u64) -> u64 {
    if pause <= SOON { (last + 1).min(MOST_DOUBLINGS) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    #[test]
    fn busy_times_that_follow_each_other_closely_get_longer() {
        assert_eq!(next_doublings(0, 5 * MS), 1);
        assert_eq!(next_doublings(MOST_DOUBLINGS, SOON), MOST_DOUBLINGS);
        assert_eq!(next_doublings(3, SOON + 1), 0, "the machine was quiet for long");
    }

    #[test]
    fn reported_cores_are_busy_for_a_while() {
        let (cores, start) = (BusyCores::new(), 1000 * MS);
        assert!(!cores.are_busy());
        cores.report(start);
        assert!(cores.are_busy_at(start + SHORTEST - MS));
        cores.report(start + MS);
        assert!(!cores.are_busy_at(start + SHORTEST), "the second report changed nothing");
        cores.report(start + SHORTEST + MS);
        let end = start + SHORTEST + MS + 2 * SHORTEST;
        assert!(cores.are_busy_at(end - MS), "the second busy time is twice as long");
        assert!(!cores.are_busy_at(end));
        assert_eq!(cores.state.load(Relaxed), QUIET);
    }

    #[test]
    fn a_suspicion_without_evidence_ends() {
        let cores = BusyCores::new();
        cores.wait_lasted(SUSPICIOUS_WAIT);
        let state = cores.state.load(Relaxed);
        assert_eq!(state & PHASE, SUSPECTED);
        assert!(!cores.are_busy_at((state & !PHASE) + SUSPICION));
        assert_eq!(cores.state.load(Relaxed), QUIET);
    }

    #[test]
    fn threads_that_share_cores_are_not_suspected_and_ignored_cores_are_never_busy() {
        let shared = BusyCores::oversubscribed();
        shared.wait_lasted(SUSPICIOUS_WAIT);
        assert_eq!(shared.state.load(Relaxed), QUIET);
        shared.report(MS);
        assert!(shared.are_busy_at(2 * MS));
        let ignored = BusyCores::ignored();
        ignored.report(MS);
        assert!(!ignored.are_busy());
    }
}
