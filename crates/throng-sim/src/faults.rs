//! What goes wrong: delays, stalls, halts, slow processors.
//!
//! [`Faults`] is the description, [`FaultPlan`] what becomes of it for one run: random choices are
//! made from the seed, and each processor gets its own list of what happens at which access.

use crate::error::SimError;
use crate::queue::PROCESSORS_MAX;
use crate::random::{Purpose, Random};

/// No delay or stall is longer than this, so that simulated time, which has 48 bits, lasts.
const CYCLES_MAX: u64 = 1 << 40;
/// No processor is slower than this.
const FACTOR_MAX: u64 = 1 << 20;

/// What goes wrong in a simulation. Everything is decided by the seed.
///
/// Parts are added one after another and all apply. The accesses of a processor to shared memory
/// are counted from 1, each look of a wait included.
///
/// ```
/// use throng_sim::Faults;
///
/// let faults = Faults::none()
///     .random_delays(8, 500)       // one access in 8 comes up to 500 cycles late
///     .stall(0, 3, 10_000)         // processor 0 sleeps through 10 000 cycles at its third
///     .halt_before(5, 1)           // processor 5 never does anything
///     .random_halts(2, 20);        // and two more stop somewhere in their first 20 accesses
/// # let _ = faults;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    delays: Vec<Delays>,
    stops: Vec<ChosenStop>,
    slow: Vec<Slow>,
    random_stops: Vec<RandomStops>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Delays {
    one_in: u64,
    cycles_max: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChosenStop {
    processor: usize,
    access: u64,
    stop: Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slow {
    processor: usize,
    factor: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RandomStops {
    count: usize,
    access_max: u64,
    stop: Stop,
}

/// How a processor stops at an access. For a random choice, `Stall` gives the longest stall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Stall(u64),
    HaltBefore,
    HaltAfter,
}

impl Faults {
    /// Nothing goes wrong.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// On average one access in `one_in` is issued late, by 1 to `cycles_max` cycles.
    #[must_use]
    pub fn random_delays(mut self, one_in: u32, cycles_max: u64) -> Self {
        self.delays.push(Delays { one_in: one_in.into(), cycles_max });
        self
    }

    /// `processor` idles for `cycles` before its `access`-th access.
    #[must_use]
    pub fn stall(self, processor: usize, access: u64, cycles: u64) -> Self {
        self.stop(processor, access, Stop::Stall(cycles))
    }

    /// `processor` stops for ever just before its `access`-th access: it is not made.
    #[must_use]
    pub fn halt_before(self, processor: usize, access: u64) -> Self {
        self.stop(processor, access, Stop::HaltBefore)
    }

    /// `processor` stops for ever just after its `access`-th access: it takes effect.
    #[must_use]
    pub fn halt_after(self, processor: usize, access: u64) -> Self {
        self.stop(processor, access, Stop::HaltAfter)
    }

    /// Every access of `processor` takes `factor` times as long as it would, queueing included. The
    /// line is free for others as soon as it would have been.
    #[must_use]
    pub fn slow(mut self, processor: usize, factor: u32) -> Self {
        self.slow.push(Slow { processor, factor: factor.into() });
        self
    }

    /// `count` stalls of 1 to `cycles_max` cycles, each on a random processor at a random one of
    /// its first `access_max` accesses.
    #[must_use]
    pub fn random_stalls(self, count: usize, access_max: u64, cycles_max: u64) -> Self {
        self.random_stops(count, access_max, Stop::Stall(cycles_max))
    }

    /// `count` different random processors halt, each just before a random one of its first
    /// `access_max` accesses.
    #[must_use]
    pub fn random_halts(self, count: usize, access_max: u64) -> Self {
        self.random_stops(count, access_max, Stop::HaltBefore)
    }

    fn stop(mut self, processor: usize, access: u64, stop: Stop) -> Self {
        self.stops.push(ChosenStop { processor, access, stop });
        self
    }

    fn random_stops(mut self, count: usize, access_max: u64, stop: Stop) -> Self {
        self.random_stops.push(RandomStops { count, access_max, stop });
        self
    }

    /// Whether this makes sense on a machine with so many processors.
    pub(crate) fn check(&self, processors: usize) -> Result<(), SimError> {
        let last = processors as u64 - 1;
        let anything = 1..=u64::MAX;
        let cycles = 1..=CYCLES_MAX;
        for delays in &self.delays {
            SimError::check("faults: delay one access in", delays.one_in, anything.clone())?;
            SimError::check("faults: delay cycles", delays.cycles_max, cycles.clone())?;
        }
        for stop in &self.stops {
            SimError::check("faults: processor", stop.processor as u64, 0..=last)?;
            SimError::check("faults: access number", stop.access, anything.clone())?;
            if let Stop::Stall(length) = stop.stop {
                SimError::check("faults: stall cycles", length, 0..=CYCLES_MAX)?;
            }
        }
        for slow in &self.slow {
            SimError::check("faults: processor", slow.processor as u64, 0..=last)?;
            SimError::check("faults: slow factor", slow.factor, 1..=FACTOR_MAX)?;
        }
        for random in &self.random_stops {
            let count_max = match random.stop {
                Stop::Stall(_) => PROCESSORS_MAX,
                Stop::HaltBefore | Stop::HaltAfter => processors,
            };
            SimError::check("faults: count", random.count as u64, 0..=count_max as u64)?;
            SimError::check("faults: access number", random.access_max, anything.clone())?;
            if let Stop::Stall(cycles_max) = random.stop {
                SimError::check("faults: stall cycles", cycles_max, cycles.clone())?;
            }
        }
        Ok(())
    }

    /// All random choices made.
    pub(crate) fn plan(&self, processors: usize, seed: u64) -> FaultPlan {
        let mut each: Vec<_> = (0..processors)
            .map(|id| ProcessorPlan {
                accesses: 0,
                slow: 1,
                delays: Random::new(seed, Purpose::Delays(id)),
                stops: Vec::new(),
            })
            .collect();
        for slow in &self.slow {
            let so_far = &mut each[slow.processor].slow;
            *so_far = so_far.saturating_mul(slow.factor).min(FACTOR_MAX);
        }
        for chosen in self.stops.iter().copied().chain(self.choose(processors, seed)) {
            each[chosen.processor].stops.push((chosen.access, chosen.stop));
        }
        FaultPlan { any: *self != Faults::none(), delays: self.delays.clone(), processors: each }
    }

    /// Chooses the random stops.
    fn choose(&self, processors: usize, seed: u64) -> Vec<ChosenStop> {
        let mut random = Random::new(seed, Purpose::ChoiceOfFaults);
        let mut chosen = Vec::new();
        for stops in &self.random_stops {
            // For halts: shuffled from the front, so that the first `count` are different.
            let mut ids: Vec<usize> = (0..processors).collect();
            for i in 0..stops.count {
                let (processor, stop) = match stops.stop {
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
                chosen.push(ChosenStop {
                    processor,
                    access: 1 + random.below(stops.access_max),
                    stop,
                });
            }
        }
        chosen
    }
}

/// The faults of one run.
#[derive(Debug)]
pub(crate) struct FaultPlan {
    any: bool,
    delays: Vec<Delays>,
    processors: Vec<ProcessorPlan>,
}

#[derive(Debug)]
struct ProcessorPlan {
    /// How many accesses it has begun.
    accesses: u64,
    /// Its accesses take so many times as long.
    slow: u64,
    /// Decides its delays.
    delays: Random,
    /// At which access, and how.
    stops: Vec<(u64, Stop)>,
}

/// What happens to a processor that is about to make an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It idles for so many cycles, and goes on.
    Idle(u64),
    /// It stops for ever.
    Halt,
}

impl FaultPlan {
    /// Whether there are any faults at all. If not, nothing else here needs to be asked.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// `processor` is about to make an access.
    pub(crate) fn before_access(&mut self, processor: usize) -> Before {
        let plan = &mut self.processors[processor];
        plan.accesses += 1;
        let mut idle: u64 = 0;
        for &(access, stop) in &plan.stops {
            match stop {
                _ if access != plan.accesses => {}
                Stop::HaltBefore => return Before::Halt,
                Stop::Stall(cycles) => idle = idle.saturating_add(cycles),
                Stop::HaltAfter => {}
            }
        }
        for delays in &self.delays {
            if plan.delays.below(delays.one_in) == 0 {
                idle = idle.saturating_add(1 + plan.delays.below(delays.cycles_max));
            }
        }
        Before::Idle(idle)
    }

    /// How long an access takes `processor` that would take others so many cycles.
    pub(crate) fn stretch(&self, processor: usize, cycles: u64) -> u64 {
        cycles.saturating_mul(self.processors[processor].slow)
    }

    /// Whether `processor` stops for ever after the access it has just made.
    pub(crate) fn halts_after_access(&self, processor: usize) -> bool {
        let plan = &self.processors[processor];
        plan.stops.contains(&(plan.accesses, Stop::HaltAfter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each processor halts within its first 5 accesses.
    fn halts(faults: &Faults, seed: u64) -> Vec<usize> {
        let mut plan = faults.plan(10, seed);
        (0..10)
            .map(|id| (0..5).filter(|_| plan.before_access(id) == Before::Halt).count())
            .collect()
    }

    #[test]
    fn random_halts_hit_different_processors_chosen_by_the_seed() {
        let all = Faults::none().random_halts(10, 5);
        assert_eq!(halts(&all, 1), [1; 10]);
        let some = Faults::none().random_halts(4, 5);
        assert_eq!(halts(&some, 1).iter().sum::<usize>(), 4);
        assert_eq!(halts(&some, 1), halts(&some, 1));
        let different: std::collections::HashSet<_> = (0..50).map(|s| halts(&some, s)).collect();
        assert!(different.len() > 30, "only {}", different.len());
    }

    #[test]
    fn delays_come_as_often_and_last_as_long_as_told() {
        let mut plan = Faults::none().random_delays(4, 10).plan(1, 3);
        let mut seen = [0_u32; 11];
        for _ in 0..4000 {
            match plan.before_access(0) {
                Before::Idle(cycles) => seen[cycles as usize] += 1,
                Before::Halt => panic!("nobody halts"),
            }
        }
        assert!((2900..3100).contains(&seen[0]), "3 in 4 are on time: {seen:?}");
        assert!(seen[1..].iter().all(|&n| n > 60), "all lengths: {seen:?}");
    }

    #[test]
    fn faults_that_make_no_sense_are_refused() {
        let refused = [
            (Faults::none().stall(4, 1, 9), "faults: processor 4: must be from 0 to 3"),
            (Faults::none().halt_before(0, 0), "faults: access number 0: must be at least 1"),
            (Faults::none().slow(0, 0), "faults: slow factor 0: must be from 1 to 1048576"),
            (Faults::none().random_halts(5, 1), "faults: count 5: must be from 0 to 4"),
            (
                Faults::none().random_delays(0, 1),
                "faults: delay one access in 0: must be at least 1",
            ),
        ];
        for (faults, text) in refused {
            assert_eq!(faults.check(4).unwrap_err().to_string(), text);
        }
        let sound = Faults::none().stall(3, 1, 9).random_halts(4, 1).slow(0, 2);
        assert_eq!(sound.check(4), Ok(()));
    }
}
