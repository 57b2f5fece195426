//! Decides whether the members of a barrier spin or sleep, by the times of their rounds.
//!
//! See the README of this folder.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// One millisecond. All times are in nanoseconds.
const MILLISECOND: u64 = 1_000_000;
/// Rounds with a mean below this cannot be made shorter by sleeping: waking a thread takes as long.
const LEAST_SLOW_ROUND: u64 = 20_000;
/// Spinning cannot make rounds with this mean or more shorter by 5 %, since a wake-up takes some 50
/// us. Beside busy processes, on the other hand, a trial of spinning takes several rounds of 4 ms
/// or more.
const LONG_ROUND: u64 = MILLISECOND;
/// The time over which a mean is taken, if it has at least [`LEAST_ROUNDS`] rounds. It is long
/// because few rounds take most of the time: those in which a member has lost its core.
const WINDOW: u64 = 20 * MILLISECOND;
/// The smallest number of rounds of a mean. See [`WINDOW`].
const LEAST_ROUNDS: u64 = 2;
/// A trial ends early if `r` rounds of it have taken longer than `r + HEAD_START` rounds that take
/// half as long again as those before.
const HEAD_START: u64 = 4;
/// The time from a decision to the next trial of the other way. It doubles with every decision that
/// follows [soon](SOON), up to `SHORTEST_TIME << MOST_DOUBLINGS`: 1.6 s.
const SHORTEST_TIME: u64 = 100 * MILLISECOND;
/// The largest number of doublings of [`SHORTEST_TIME`].
const MOST_DOUBLINGS: u64 = 4;
/// A decision follows another one soon if it is made within this time after the next trial was due.
const SOON: u64 = 100 * MILLISECOND;

/// The round times of a barrier, and the decision that follows from them: spin or sleep.
///
/// | phase | members | it ends | next |
/// |---|---|---|---|
/// | `Spin` | spin | a wait outlasts its time to spin, not soon after the last trial | `MeasureSpin` |
/// | `MeasureSpin` | spin | after a window of rounds | short rounds: `Spin`; long ones: `Sleep`; else `TrySleep` |
/// | `TrySleep` | sleep | after a window, or when it is clearly slower | rounds at most 5 % longer: `Sleep`; else `Spin` |
/// | `Sleep` | sleep | when its time is over | `MeasureSleep` |
/// | `MeasureSleep` | sleep | after a window | long rounds: `Sleep`; else `TrySpin` |
/// | `TrySpin` | spin | after a window, or when it is clearly slower | rounds at least 5 % shorter: `Spin`; else `Sleep` |
///
/// A long yield leads from `Spin`, `MeasureSpin` and `TrySpin` to `Sleep` at once, because more
/// measurements would cost several more such yields.
///
/// One thread in each round, its leader, [moves](RoundTimes::round_is_over) from phase to phase;
/// the rounds order their accesses. Other members move only if a wait or a yield was long. If that
/// races with a move of the leader, a window begins at the wrong time, or a trial ends too early.
/// The next window or trial corrects it. Only real threads find a wait slow, so on other machines
/// the members spin.
#[derive(Debug, Default)]
pub struct RoundTimes {
    phase: AtomicU64,
    /// The time when the phase began; from its second round on, the time when the mean began.
    since: AtomicU64,
    /// The number of rounds of the phase so far. The first one does not count for the mean.
    rounds: AtomicU64,
    /// The mean of the last window, with which this one is compared.
    mean_before: AtomicU64,
    /// The time from which the other way may be tried.
    next_trial: AtomicU64,
    /// The number of doublings of the time to the next trial.
    doublings: AtomicU64,
}

const SPIN: u64 = 0;
const MEASURE_SPIN: u64 = 1;
const TRY_SPIN: u64 = 2;
/// In this phase and those with larger numbers, members sleep.
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

    /// Reports that a member's wait has outlasted its time to spin.
    pub(super) fn wait_was_slow(&self, now: u64) {
        if self.phase.load(Relaxed) == SPIN && now >= self.next_trial.load(Relaxed) {
            self.rounds.store(0, Relaxed);
            // If the leader has changed the phase, its change stands.
            let _ = self.phase.compare_exchange(SPIN, MEASURE_SPIN, Relaxed, Relaxed);
        }
    }

    /// Reports that a member has yielded its core for long to a computing thread.
    pub(super) fn yield_was_long(&self, now: u64) {
        if !self.sleeps() {
            self.decide(SLEEP, now);
        }
    }

    /// Reports that the leader of a round has come to it, or has left it. `clock` is not called in
    /// phase `Spin`.
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
            // A decision takes effect one round later, so the mean is taken from the next round on.
            self.since.store(now, Relaxed);
            return;
        }
        if time < WINDOW || rounds < LEAST_ROUNDS {
            return;
        }
        let mean = time / rounds;
        match phase {
            MEASURE_SPIN if mean < LEAST_SLOW_ROUND => self.begin(SPIN, now),
            MEASURE_SPIN if mean >= LONG_ROUND => self.decide(SLEEP, now),
            MEASURE_SPIN => self.try_other(TRY_SLEEP, mean, now),
            MEASURE_SLEEP if mean >= LONG_ROUND => {
                self.next_trial.store(now + SHORTEST_TIME, Relaxed);
                self.begin(SLEEP, now);
            }
            MEASURE_SLEEP => self.try_other(TRY_SPIN, mean, now),
            TRY_SLEEP => self.decide(if should_sleep(before, mean) { SLEEP } else { SPIN }, now),
            _ => self.decide(if should_sleep(mean, before) { SLEEP } else { SPIN }, now),
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

/// Returns whether members should sleep, given the mean round in which they spun and the mean round
/// in which they slept. Sleeping takes less processor time, so spinning must be faster by 5 %.
const fn should_sleep(spun: u64, slept: u64) -> bool {
    slept < spun + spun / 20
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

        /// Runs rounds for this time. Returns the share of it in which members slept.
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

    #[test]
    fn long_rounds_lead_to_no_trial_of_spinning() {
        let mut rounds = Rounds::new();
        rounds.pass(100 * MS, 4 * MS, 2 * MS);
        assert_eq!(rounds.pass(10_000 * MS, 4 * MS, 2 * MS), 1.0);
        rounds.pass(500 * MS, US, 40 * US);
        assert_eq!(rounds.pass(1000 * MS, US, 40 * US), 0.0, "the machine has become quiet");
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
        assert!(rounds.pass(1000 * MS, 60 * US, 80 * US) < 0.2);
        assert!(rounds.pass(10_000 * MS, 60 * US, 80 * US) < 0.02, "trials get rare");
    }

    #[test]
    fn members_sleep_if_rounds_are_as_long_that_way() {
        let mut rounds = Rounds::new();
        assert!(rounds.pass(10_000 * MS, 60 * US, 61 * US) > 0.95);
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
                now += MS / 2;
                times.round_is_over(|| now);
            }
            let slept = (now - start) / MS;
            assert!((expected..expected + 30).contains(&slept), "{slept} ms instead of {expected}");
        }
        // Rounds are short in the trial and after it.
        for _ in 0..100_000 {
            now += US;
            times.round_is_over(|| now);
        }
        assert!(!times.sleeps());
    }
}
