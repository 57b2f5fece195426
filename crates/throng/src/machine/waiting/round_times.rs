//! Whether the members of a barrier should spin or sleep, decided by how long their rounds take.
//!
//! See the README of this folder.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// All times are nanoseconds.
const MILLISECOND: u64 = 1_000_000;
/// Rounds that are shorter on average are not made shorter by sleeping: to wake a thread takes as long.
const LEAST_SLOW_ROUND: u64 = 20_000;
/// A mean is taken over this number of rounds.
const WINDOW_ROUNDS: u64 = 64;
/// If they take longer than this, the mean is taken over the rounds until then, but not over fewer than
/// [`LEAST_ROUNDS`].
const LONGEST_WINDOW: u64 = 5 * MILLISECOND;
/// See [`LONGEST_WINDOW`].
const LEAST_ROUNDS: u64 = 2;
/// A trial ends early if `r` rounds of it have taken longer than `r + HEAD_START` rounds that take half as long again as
/// those before.
const HEAD_START: u64 = 4;
/// The time from a decision to the next trial of the other way. It doubles with every decision that follows
/// [soon](SOON), up to `SHORTEST_TIME << MOST_DOUBLINGS`: 1.6 s.
const SHORTEST_TIME: u64 = 100 * MILLISECOND;
/// See [`SHORTEST_TIME`].
const MOST_DOUBLINGS: u64 = 4;
/// A decision follows another one soon if it is made within this time after the next trial was due.
const SOON: u64 = 100 * MILLISECOND;

/// The round times of a barrier, and what follows from them: spin or sleep.
///
/// | phase | members | it ends | next |
/// |---|---|---|---|
/// | `Spin` | spin | a wait outlasts its time to spin, not soon after the last trial | `MeasureSpin` |
/// | `MeasureSpin` | spin | after a window of rounds | short rounds: `Spin`; else `TrySleep` |
/// | `TrySleep` | sleep | after a window, or when it is clearly slower | shorter rounds by a tenth: `Sleep`; else `Spin` |
/// | `Sleep` | sleep | when its time is over | `MeasureSleep` |
/// | `MeasureSleep` | sleep | after a window | `TrySpin` |
/// | `TrySpin` | spin | after a window, or when it is clearly slower | shorter rounds by a tenth: `Spin`; else `Sleep` |
///
/// A long yield leads from `Spin`, `MeasureSpin` and `TrySpin` to `Sleep` at once: measuring on would cost several more.
///
/// One thread in each round, its leader, [moves](RoundTimes::round_is_over) from phase to phase; the rounds order
/// their accesses. Other members move only if a wait or a yield was long. If that crosses a move of the leader, a
/// window begins at the wrong time, or a trial ends too early: the next one corrects it. Only real threads find a
/// wait slow, so on other machines the members spin.
#[derive(Debug, Default)]
pub struct RoundTimes {
    phase: AtomicU64,
    /// When the phase began, and from its second round on when the mean began.
    since: AtomicU64,
    /// The rounds of the phase so far. The first one does not count for the mean.
    rounds: AtomicU64,
    /// The mean of the last window, which is compared with this one.
    mean_before: AtomicU64,
    /// When the other way may be tried next.
    next_trial: AtomicU64,
    /// How often the time to the next trial was doubled.
    doublings: AtomicU64,
}

const SPIN: u64 = 0;
const MEASURE_SPIN: u64 = 1;
const TRY_SPIN: u64 = 2;
/// From here on members sleep.
const TRY_SLEEP: u64 = 3;
const SLEEP: u64 = 4;
const MEASURE_SLEEP: u64 = 5;

impl RoundTimes {
    /// Returns the round times of a barrier whose members spin.
    #[must_use]
    pub const fn new() -> Self {
        RoundTimes {
            phase: AtomicU64::new(SPIN),
            since: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            mean_before: AtomicU64::new(0),
            next_trial: AtomicU64::new(0),
            doublings: AtomicU64::new(0),
        }
    }

    /// Returns whether members should sleep at once.
    #[must_use]
    #[inline]
    pub fn sleeps(&self) -> bool {
        self.phase.load(Relaxed) >= TRY_SLEEP
    }

    /// A member's wait has outlasted its time to spin.
    pub(super) fn wait_was_slow(&self, now: u64) {
        if self.phase.load(Relaxed) == SPIN && now >= self.next_trial.load(Relaxed) {
            self.rounds.store(0, Relaxed);
            // If the leader has changed the phase, its change stands.
            let _ = self.phase.compare_exchange(SPIN, MEASURE_SPIN, Relaxed, Relaxed);
        }
    }

    /// A member has yielded its core, and another thread has computed there for long.
    pub(super) fn yield_was_long(&self, now: u64) {
        if !self.sleeps() {
            self.decide(SLEEP, now);
        }
    }

    /// The leader of a round has come to it, or has left it. `clock` is called unless rounds are fast.
    #[inline]
    pub fn round_is_over(&self, clock: impl FnOnce() -> u64) {
        if self.phase.load(Relaxed) != SPIN {
            self.count_round(clock());
        }
    }

    #[cold]
    fn count_round(&self, now: u64) {
        let phase = self.phase.load(Relaxed);
        if phase == SLEEP {
            if now >= self.next_trial.load(Relaxed) {
                self.begin(MEASURE_SLEEP, now);
            }
            return;
        }
        let rounds = self.rounds.load(Relaxed);
        self.rounds.store(rounds + 1, Relaxed);
        let time = now.saturating_sub(self.since.load(Relaxed));
        let before = self.mean_before.load(Relaxed);
        let is_slower = time > (rounds + HEAD_START) * (before + before / 2);
        match phase {
            TRY_SPIN if is_slower => return self.decide(SLEEP, now),
            TRY_SLEEP if is_slower => return self.decide(SPIN, now),
            _ => {}
        }
        if rounds == 0 {
            // A decision takes effect one round later: the mean is taken from the next round on.
            self.since.store(now, Relaxed);
            return;
        }
        if rounds < WINDOW_ROUNDS && (time < LONGEST_WINDOW || rounds < LEAST_ROUNDS) {
            return;
        }
        let mean = time / rounds;
        match phase {
            MEASURE_SPIN if mean < LEAST_SLOW_ROUND => self.begin(SPIN, now),
            MEASURE_SPIN => self.try_other(TRY_SLEEP, mean, now),
            MEASURE_SLEEP => self.try_other(TRY_SPIN, mean, now),
            TRY_SLEEP => self.decide(if is_shorter(mean, before) { SLEEP } else { SPIN }, now),
            _ => self.decide(if is_shorter(mean, before) { SPIN } else { SLEEP }, now),
        }
    }

    fn begin(&self, phase: u64, now: u64) {
        self.rounds.store(0, Relaxed);
        self.since.store(now, Relaxed);
        self.phase.store(phase, Relaxed);
    }

    /// Tries the other way, whose rounds must be shorter than `mean`.
    fn try_other(&self, phase: u64, mean: u64, now: u64) {
        self.mean_before.store(mean, Relaxed);
        self.begin(phase, now);
    }

    /// Begins `phase`, and sets the time of the next trial.
    fn decide(&self, phase: u64, now: u64) {
        let is_soon = now.saturating_sub(self.next_trial.load(Relaxed)) <= SOON;
        let doublings = self.doublings.load(Relaxed) + 1;
        let doublings = if is_soon { doublings.min(MOST_DOUBLINGS) } else { 0 };
        self.doublings.store(doublings, Relaxed);
        self.next_trial.store(now + (SHORTEST_TIME << doublings), Relaxed);
        self.begin(phase, now);
    }
}

/// Whether a mean is shorter than another one, by a tenth or more.
const fn is_shorter(mean: u64, other: u64) -> bool {
    mean < other - other / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;
    const MS: u64 = MILLISECOND;

    /// A barrier in whose rounds a wait outlasts its time to spin, unless members sleep.
    struct Rounds {
        times: RoundTimes,
        now: u64,
        spun: u64,
        slept: u64,
    }

    impl Rounds {
        fn new() -> Self {
            Rounds { times: RoundTimes::new(), now: 1, spun: 0, slept: 0 }
        }

        /// Has rounds for this time; returns the share of it in which members slept.
        fn pass(&mut self, time: u64, spin_round: u64, sleep_round: u64) -> f64 {
            (self.spun, self.slept) = (0, 0);
            let end = self.now + time;
            while self.now < end {
                if self.times.sleeps() {
                    self.slept += sleep_round;
                    self.now += sleep_round;
                } else {
                    self.spun += spin_round;
                    self.now += spin_round;
                    self.times.wait_was_slow(self.now);
                }
                self.times.round_is_over(|| self.now);
            }
            self.slept as f64 / (self.spun + self.slept) as f64
        }
    }

    #[test]
    fn short_rounds_are_spun() {
        let mut rounds = Rounds::new();
        assert_eq!(rounds.pass(100 * MS, US, 40 * US), 0.0);
    }

    #[test]
    fn members_sleep_if_that_makes_rounds_shorter_and_spin_again_when_that_does() {
        let mut rounds = Rounds::new();
        assert!(rounds.pass(1000 * MS, 150 * US, 40 * US) > 0.9);
        assert!(rounds.pass(10_000 * MS, 5000 * US, 40 * US) > 0.97);
        // The machine has become quiet.
        rounds.pass(2000 * MS, US, 40 * US);
        assert_eq!(rounds.pass(1000 * MS, US, 40 * US), 0.0);
    }

    /// The round of the slow wait is not counted, because only its end would be.
    #[test]
    fn a_few_long_rounds_are_measured_whole() {
        let mut rounds = Rounds::new();
        assert!(rounds.pass(2000 * MS, 8 * MS, 5 * MS) > 0.8);
    }

    #[test]
    fn slow_rounds_that_sleeping_does_not_shorten_are_spun() {
        let mut rounds = Rounds::new();
        assert!(rounds.pass(1000 * MS, 60 * US, 80 * US) < 0.1);
        assert!(rounds.pass(1000 * MS, 60 * US, 58 * US) < 0.1, "a tenth is asked for");
        assert!(rounds.pass(10_000 * MS, 60 * US, 80 * US) < 0.02, "trials get rare");
    }

    #[test]
    fn after_a_long_yield_members_sleep_at_once_and_longer_each_time() {
        let times = RoundTimes::new();
        let mut now = 1000 * MS;
        for expected in [100, 200, 400] {
            times.yield_was_long(now);
            times.yield_was_long(now);
            assert!(times.sleeps());
            let start = now;
            while times.sleeps() {
                now += MS;
                times.round_is_over(|| now);
            }
            let slept = (now - start) / MS;
            assert!((expected..expected + 10).contains(&slept), "{slept} ms instead of {expected}");
        }
        // In the trial, and ever after, rounds are short.
        for _ in 0..100_000 {
            now += US;
            times.round_is_over(|| now);
        }
        assert!(!times.sleeps());
    }
}
