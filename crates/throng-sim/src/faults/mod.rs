//! Faults: delays, stalls, preemptions, halts, slow processors.
//!
//! [`Faults`] is the description, which can be written as a script (`script.rs`). A [`FaultPlan`]
//! is derived from it for one run (`plan.rs`): random choices are made from the seed, and each
//! processor gets its own list of faults with their times.

mod plan;
mod script;

use throng::machine::SplitMix64;

use crate::error::SimError;
use crate::random::{Purpose, random};
use crate::spec::PROCESSORS_MAX;

pub(crate) use plan::{Before, FaultPlan};
pub use script::ScriptError;

/// The longest delay, stall or preemption, in cycles. Simulated time has 48 bits, and must not run
/// out.
const CYCLES_MAX: u64 = 1 << 40;
/// The largest factor of a slow processor.
const FACTOR_MAX: u64 = 1 << 20;

/// The faults of a simulation. The seed decides all random choices.
///
/// Parts are added one after another and all apply. The accesses of a processor to shared memory
/// are counted from 1, including each look of a wait.
///
/// ```
/// use throng_sim::Faults;
///
/// let faults = Faults::none()
///     .random_delays(8, 500)       // one access in 8 comes up to 500 cycles late
///     .stall(0, 3, 10_000)         // processor 0 sleeps through 10 000 cycles at its third
///     .halt_before(5, 1)           // processor 5 never does anything
///     .random_halts(2, 20);        // and two more stop somewhere in their first 20 accesses
///
/// let script = "delay 1 in 8 up to 500; stall 0 at 3 for 10000; halt 5 before 1; \
///               halt any 2 within 20";
/// assert_eq!(faults.to_string(), script);
/// assert_eq!(script.parse(), Ok(faults));
/// ```
///
/// # Scripts
///
/// Faults are displayed as a script, and a script can be parsed. Its parts are separated by `;` or
/// line ends; `#` begins a comment, up to the end of its line. Words in capitals stand for whole
/// numbers, which may have `_` between their digits. A script without faults is `none`.
///
/// | part | the same as |
/// |---|---|
/// | `delay 1 in ACCESSES up to CYCLES` | [`random_delays`](Faults::random_delays) |
/// | `stall PROCESSOR at ACCESS for CYCLES` | [`stall`](Faults::stall) |
/// | `stall any COUNT within ACCESSES up to CYCLES` | [`random_stalls`](Faults::random_stalls) |
/// | `preempt PROCESSOR from CYCLE for CYCLES` | [`preempt`](Faults::preempt) |
/// | `preempt all every CYCLES for CYCLES` | [`random_preemptions`](Faults::random_preemptions) |
/// | `halt PROCESSOR before ACCESS` | [`halt_before`](Faults::halt_before) |
/// | `halt PROCESSOR after ACCESS` | [`halt_after`](Faults::halt_after) |
/// | `halt any COUNT within ACCESSES` | [`random_halts`](Faults::random_halts) |
/// | `slow PROCESSOR by FACTOR` | [`slow`](Faults::slow) |
///
/// The choices of a seed can be written as a script, too, and then be changed by hand:
/// [`chosen`](Faults::chosen).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    parts: Vec<Part>,
}

/// One kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Delays { one_in: u64, cycles_max: u64 },
    Stop { processor: usize, access: u64, stop: Stop },
    RandomStops { count: usize, access_max: u64, stop: Stop },
    Preempt { processor: usize, cycle: u64, cycles: u64 },
    RandomPreemptions { every_cycles_mean: u64, cycles: u64 },
    Slow { processor: usize, factor: u64 },
}

/// How a processor stops at an access. For a random choice, `Stall` gives the longest stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Stall(u64),
    HaltBefore,
    HaltAfter,
}

impl Faults {
    /// Returns no faults.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Issues on average one access in `one_in` late, by 1 to `cycles_max` cycles.
    #[must_use]
    pub fn random_delays(self, one_in: u32, cycles_max: u64) -> Self {
        self.with(Part::Delays { one_in: one_in.into(), cycles_max })
    }

    /// Makes `processor` idle for `cycles` before its `access`-th access.
    #[must_use]
    pub fn stall(self, processor: usize, access: u64, cycles: u64) -> Self {
        self.with(Part::Stop { processor, access, stop: Stop::Stall(cycles) })
    }

    /// Stops `processor` for ever just before its `access`-th access, which is not made.
    #[must_use]
    pub fn halt_before(self, processor: usize, access: u64) -> Self {
        self.with(Part::Stop { processor, access, stop: Stop::HaltBefore })
    }

    /// Stops `processor` for ever just after its `access`-th access, which takes effect.
    #[must_use]
    pub fn halt_after(self, processor: usize, access: u64) -> Self {
        self.with(Part::Stop { processor, access, stop: Stop::HaltAfter })
    }

    /// Preempts `processor` for `cycles`. The preemption begins when the processor first begins an
    /// access, a pause or a retry at or after the time `cycle`.
    ///
    /// A processor that sleeps until a word is written does nothing that could be interrupted. It
    /// is preempted when it looks at the word again, like a waiting thread that is not running when
    /// the word changes.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{Faults, Sim, Simulation};
    ///
    /// let outcome = Simulation::new()
    ///     .access_cycles(10)
    ///     .faults(Faults::none().preempt(0, 15, 1000))
    ///     .run(|| Hardware::<Sim>::on_machine(), |counter, cpu| {
    ///         (0..4).for_each(|_| { counter.next_on(cpu); });
    ///     })?;
    /// // The third access begins at 20: that is the first one from 15 on.
    /// assert_eq!(outcome.cycles, 2 * 10 + 1000 + 2 * 10);
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn preempt(self, processor: usize, cycle: u64, cycles: u64) -> Self {
        self.with(Part::Preempt { processor, cycle, cycles })
    }

    /// [Preempts](Faults::preempt) every processor repeatedly, for `cycles` each time, at
    /// random times. In between it runs for `every_cycles_mean` cycles on average.
    ///
    /// This models a machine shared with other programs. The times in between are uniformly
    /// distributed from 1 to twice `every_cycles_mean`; the first one begins at time 0.
    #[must_use]
    pub fn random_preemptions(self, every_cycles_mean: u64, cycles: u64) -> Self {
        self.with(Part::RandomPreemptions { every_cycles_mean, cycles })
    }

    /// Makes every access, pause and retry of `processor` take `factor` times as long as it would,
    /// queueing included. A line is free for others as soon as it would have been.
    #[must_use]
    pub fn slow(self, processor: usize, factor: u32) -> Self {
        self.with(Part::Slow { processor, factor: factor.into() })
    }

    /// Adds `count` stalls of 1 to `cycles_max` cycles, each on a random processor at a random one
    /// of its first `access_max` accesses.
    #[must_use]
    pub fn random_stalls(self, count: usize, access_max: u64, cycles_max: u64) -> Self {
        self.with(Part::RandomStops { count, access_max, stop: Stop::Stall(cycles_max) })
    }

    /// Halts `count` different random processors, each just before a random one of its first
    /// `access_max` accesses.
    #[must_use]
    pub fn random_halts(self, count: usize, access_max: u64) -> Self {
        self.with(Part::RandomStops { count, access_max, stop: Stop::HaltBefore })
    }

    /// Returns these faults and `others`.
    ///
    /// ```
    /// use throng_sim::Faults;
    /// let both = Faults::none().slow(0, 2).and(Faults::none().halt_before(1, 9));
    /// assert_eq!(both.to_string(), "slow 0 by 2; halt 1 before 9");
    /// ```
    #[must_use]
    pub fn and(mut self, others: Faults) -> Self {
        self.parts.extend(others.parts);
        self
    }

    /// Returns the same faults with the choices of `seed` written out: random stalls and halts
    /// become the ones of a run with that seed and `processors` processors. Such a run is the same
    /// with either. Faults that are not needed can then be removed by hand.
    ///
    /// Random delays and preemptions have no end to write out. They stay random, and are the same
    /// in every run with the same seed, whatever else is changed.
    ///
    /// ```
    /// use throng_sim::Faults;
    /// let some = Faults::none().random_halts(2, 20);
    /// assert_eq!(some.chosen(8, 1).to_string(), "halt 5 before 8; halt 4 before 20");
    /// ```
    ///
    /// # Panics
    /// If these faults are not possible on `processors` processors: [`check`](Faults::check).
    #[must_use]
    pub fn chosen(&self, processors: usize, seed: u64) -> Self {
        let mut random = random(seed, Purpose::ChoiceOfFaults);
        let mut parts = Vec::new();
        for &part in &self.parts {
            match part {
                Part::RandomStops { count, access_max, stop } => {
                    parts.extend(choose(&mut random, processors, count, access_max, stop));
                }
                chosen => parts.push(chosen),
            }
        }
        Faults { parts }
    }

    /// Returns whether a processor may stop for ever.
    ///
    /// ```
    /// use throng_sim::Faults;
    /// assert!(Faults::none().random_halts(1, 20).may_halt());
    /// assert!(!Faults::none().random_stalls(1, 20, 100).may_halt());
    /// ```
    #[must_use]
    pub fn may_halt(&self) -> bool {
        self.parts.iter().any(|part| match *part {
            Part::Stop { stop, .. } | Part::RandomStops { stop, .. } => {
                !matches!(stop, Stop::Stall(_))
            }
            _ => false,
        })
    }

    /// Checks that these faults are possible on a machine with `processors` processors.
    ///
    /// ```
    /// use throng_sim::Faults;
    /// let faults = Faults::none().stall(4, 1, 9);
    /// assert!(faults.check(5).is_ok());
    /// let error = faults.check(4).unwrap_err();
    /// assert_eq!(error.to_string(), "faults: processor 4: must be from 0 to 3");
    /// ```
    ///
    /// # Errors
    /// If a processor does not exist, or another number is out of its range.
    pub fn check(&self, processors: usize) -> Result<(), SimError> {
        SimError::check("processors", processors as u64, 1..=PROCESSORS_MAX as u64)?;
        self.parts.iter().try_for_each(|part| part.check(processors))
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

impl Part {
    fn check(&self, processors: usize) -> Result<(), SimError> {
        let check_processor = |processor: usize| {
            SimError::check("faults: processor", processor as u64, 0..=processors as u64 - 1)
        };
        let check_access =
            |access: u64| SimError::check("faults: access number", access, 1..=u64::MAX);
        let check_cycles = |what, cycles: u64| SimError::check(what, cycles, 1..=CYCLES_MAX);
        match *self {
            Part::Delays { one_in, cycles_max } => {
                SimError::check("faults: delay one access in", one_in, 1..=u64::MAX)?;
                check_cycles("faults: delay cycles", cycles_max)
            }
            Part::Stop { processor, access, stop } => {
                check_processor(processor)?;
                check_access(access)?;
                match stop {
                    Stop::Stall(cycles) => {
                        SimError::check("faults: stall cycles", cycles, 0..=CYCLES_MAX)
                    }
                    Stop::HaltBefore | Stop::HaltAfter => Ok(()),
                }
            }
            Part::RandomStops { count, access_max, stop } => {
                let count_max = match stop {
                    Stop::Stall(_) => PROCESSORS_MAX,
                    Stop::HaltBefore | Stop::HaltAfter => processors,
                };
                SimError::check("faults: count", count as u64, 0..=count_max as u64)?;
                check_access(access_max)?;
                match stop {
                    Stop::Stall(cycles_max) => check_cycles("faults: stall cycles", cycles_max),
                    Stop::HaltBefore | Stop::HaltAfter => Ok(()),
                }
            }
            Part::Preempt { processor, cycle, cycles } => {
                check_processor(processor)?;
                SimError::check("faults: preempt from cycle", cycle, 0..=CYCLES_MAX)?;
                check_cycles("faults: preempt cycles", cycles)
            }
            Part::RandomPreemptions { every_cycles_mean, cycles } => {
                check_cycles("faults: preempt every cycles", every_cycles_mean)?;
                check_cycles("faults: preempt cycles", cycles)
            }
            Part::Slow { processor, factor } => {
                check_processor(processor)?;
                SimError::check("faults: slow factor", factor, 1..=FACTOR_MAX)
            }
        }
    }
}

/// Chooses `count` random stops.
fn choose(
    random: &mut SplitMix64,
    processors: usize,
    count: usize,
    access_max: u64,
    stop: Stop,
) -> Vec<Part> {
    // For halts: shuffled from the front, so that the first `count` are different.
    let mut ids: Vec<usize> = (0..processors).collect();
    let mut choose_one = |i: usize| {
        let (processor, stop) = match stop {
            Stop::Stall(cycles_max) => (
                random.below(processors as u64) as usize,
                Stop::Stall(1 + random.below(cycles_max)),
            ),
            halt => {
                let other = i + random.below((processors - i) as u64) as usize;
                ids.swap(i, other);
                (ids[i], halt)
            }
        };
        Part::Stop { processor, access: 1 + random.below(access_max), stop }
    };
    (0..count).map(&mut choose_one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_that_make_no_sense_are_refused() {
        let refused = [
            (Faults::none().stall(4, 1, 9), "faults: processor 4: must be from 0 to 3"),
            (Faults::none().preempt(4, 1, 9), "faults: processor 4: must be from 0 to 3"),
            (Faults::none().slow(4, 1), "faults: processor 4: must be from 0 to 3"),
            (Faults::none().halt_before(0, 0), "faults: access number 0: must be at least 1"),
            (Faults::none().slow(0, 0), "faults: slow factor 0: must be from 1 to 1048576"),
            (Faults::none().random_halts(5, 1), "faults: count 5: must be from 0 to 4"),
            (
                Faults::none().random_delays(0, 1),
                "faults: delay one access in 0: must be at least 1",
            ),
            (
                Faults::none().random_preemptions(0, 1),
                "faults: preempt every cycles 0: must be from 1 to 1099511627776",
            ),
            (
                Faults::none().preempt(0, 0, 0),
                "faults: preempt cycles 0: must be from 1 to 1099511627776",
            ),
        ];
        for (faults, text) in refused {
            assert_eq!(faults.check(4).unwrap_err().to_string(), text);
        }
        let sound = Faults::none().stall(3, 1, 9).random_halts(4, 1).slow(0, 2).preempt(3, 0, 1);
        assert_eq!(sound.check(4), Ok(()));
        assert!(sound.check(0).is_err());
    }

    #[test]
    fn chosen_leaves_nothing_to_choose_and_all_else_as_it_was() {
        let faults = Faults::none()
            .random_delays(8, 100)
            .random_halts(2, 20)
            .preempt(1, 50, 5)
            .random_stalls(3, 30, 400);
        let chosen = faults.chosen(6, 11);
        assert_eq!(chosen.parts.len(), 1 + 2 + 1 + 3);
        assert_eq!((chosen.parts[0], chosen.parts[3]), (faults.parts[0], faults.parts[2]));
        assert_eq!(chosen.chosen(6, 12), chosen);
        assert_ne!(faults.chosen(6, 12), chosen);
    }
}
