//! The faults of one run.

use throng::machine::SplitMix64;

use super::{FACTOR_MAX, Faults, Part, Stop};
use crate::random::{Purpose, random};

/// The faults of one run.
#[derive(Debug)]
pub(crate) struct FaultPlan {
    any: bool,
    processors: Vec<ProcessorPlan>,
}

#[derive(Debug)]
struct ProcessorPlan {
    /// The number of accesses that it has begun.
    accesses: u64,
    /// The factor by which its accesses take longer.
    slow: u64,
    delays: Delays,
    /// The accesses at which it stops, and how.
    stops: Vec<(u64, Stop)>,
    preemptions: Preemptions,
}

/// The random delays of a processor.
#[derive(Debug)]
struct Delays {
    random: SplitMix64,
    /// For each kind of delay: one access in how many is delayed, and the largest number of cycles.
    kinds: Vec<(u64, u64)>,
}

/// The preemptions of a processor: chosen ones and random ones.
#[derive(Debug)]
struct Preemptions {
    random: SplitMix64,
    /// The beginnings and lengths, in cycles, of the chosen preemptions to come.
    chosen: Vec<(u64, u64)>,
    slices: Vec<TimeSlice>,
}

/// Repeated preemptions.
#[derive(Debug)]
struct TimeSlice {
    every_cycles_mean: u64,
    cycles: u64,
    /// The time from which the processor is preempted next.
    next: u64,
}

/// The fault before an access of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// It idles for this number of cycles, and continues.
    Idle(u64),
    /// It stops for ever.
    Halt,
}

impl Faults {
    /// Makes all random choices, and returns the plan.
    pub(crate) fn plan(&self, processors: usize, seed: u64) -> FaultPlan {
        let mut each: Vec<_> = (0..processors).map(|id| ProcessorPlan::new(id, seed)).collect();
        for part in self.chosen(processors, seed).parts {
            match part {
                Part::Delays { one_in, cycles_max } => {
                    each.iter_mut().for_each(|p| p.delays.kinds.push((one_in, cycles_max)));
                }
                Part::Stop { processor, access, stop } => {
                    each[processor].stops.push((access, stop));
                }
                Part::RandomStops { .. } => unreachable!("all have been chosen"),
                Part::Preempt { processor, cycle, cycles } => {
                    each[processor].preemptions.chosen.push((cycle, cycles));
                }
                Part::RandomPreemptions { every_cycles_mean, cycles } => {
                    each.iter_mut().for_each(|p| p.preemptions.slice(every_cycles_mean, cycles));
                }
                Part::Slow { processor, factor } => {
                    let so_far = &mut each[processor].slow;
                    *so_far = so_far.saturating_mul(factor).min(FACTOR_MAX);
                }
            }
        }
        FaultPlan { any: !self.parts.is_empty(), processors: each }
    }
}

impl FaultPlan {
    /// Returns whether there are any faults. If not, the other methods need not be called.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// Returns the fault before an access that `processor` is about to make at time `now`.
    pub(crate) fn before_access(&mut self, processor: usize, now: u64) -> Before {
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
        let delay = plan.delays.at_an_access();
        let lost = plan.preemptions.at(now);
        Before::Idle(idle.saturating_add(delay).saturating_add(lost))
    }

    /// Returns the number of cycles for which `processor` is preempted before a pause at time
    /// `now`.
    pub(crate) fn before_pause(&mut self, processor: usize, now: u64) -> u64 {
        self.processors[processor].preemptions.at(now)
    }

    /// Returns the number of cycles that `processor` takes for an access or pause of `cycles`.
    pub(crate) fn stretch(&self, processor: usize, cycles: u64) -> u64 {
        cycles.saturating_mul(self.processors[processor].slow)
    }

    /// Returns whether `processor` stops for ever after the access that it has just made.
    pub(crate) fn halts_after_access(&self, processor: usize) -> bool {
        let plan = &self.processors[processor];
        plan.stops.contains(&(plan.accesses, Stop::HaltAfter))
    }
}

impl ProcessorPlan {
    fn new(id: usize, seed: u64) -> Self {
        let random = |purpose| random(seed, purpose);
        ProcessorPlan {
            accesses: 0,
            slow: 1,
            delays: Delays { random: random(Purpose::Delays(id)), kinds: Vec::new() },
            stops: Vec::new(),
            preemptions: Preemptions {
                random: random(Purpose::Preemptions(id)),
                chosen: Vec::new(),
                slices: Vec::new(),
            },
        }
    }
}

impl Delays {
    fn at_an_access(&mut self) -> u64 {
        let mut late: u64 = 0;
        for &(one_in, cycles_max) in &self.kinds {
            if self.random.below(one_in) == 0 {
                late = late.saturating_add(1 + self.random.below(cycles_max));
            }
        }
        late
    }
}

impl Preemptions {
    fn slice(&mut self, every_cycles_mean: u64, cycles: u64) {
        let mut slice = TimeSlice { every_cycles_mean, cycles, next: 0 };
        slice.begin(0, &mut self.random);
        self.slices.push(slice);
    }

    /// Returns the number of cycles for which the processor is preempted at time `now`.
    fn at(&mut self, now: u64) -> u64 {
        let mut lost: u64 = 0;
        self.chosen.retain(|&(cycle, cycles)| {
            let due = cycle <= now;
            if due {
                lost = lost.saturating_add(cycles);
            }
            !due
        });
        for slice in &mut self.slices {
            if slice.next <= now {
                lost = lost.saturating_add(slice.cycles);
                slice.begin(now.saturating_add(lost), &mut self.random);
            }
        }
        lost
    }
}

impl TimeSlice {
    /// Begins the next time slice of the processor at `time`.
    fn begin(&mut self, time: u64, random: &mut SplitMix64) {
        self.next = time.saturating_add(1 + random.below(2 * self.every_cycles_mean));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of halts of each processor within its first 5 accesses.
    fn halts(faults: &Faults, seed: u64) -> Vec<usize> {
        let mut plan = faults.plan(10, seed);
        (0..10)
            .map(|id| (0..5).filter(|_| plan.before_access(id, 0) == Before::Halt).count())
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
            match plan.before_access(0, 0) {
                Before::Idle(cycles) => seen[cycles as usize] += 1,
                Before::Halt => panic!("no processor halts"),
            }
        }
        assert!((2900..3100).contains(&seen[0]), "3 in 4 are on time: {seen:?}");
        assert!(seen[1..].iter().all(|&n| n > 60), "all lengths: {seen:?}");
    }

    #[test]
    fn a_preemption_comes_once_at_the_first_chance() {
        let mut plan = Faults::none().preempt(1, 100, 7).preempt(1, 90, 5).plan(2, 0);
        assert_eq!(plan.before_access(1, 89), Before::Idle(0));
        assert_eq!(plan.before_access(0, 500), Before::Idle(0));
        assert_eq!(plan.before_pause(1, 90), 5);
        assert_eq!(plan.before_access(1, 300), Before::Idle(7));
        assert_eq!(plan.before_access(1, 400), Before::Idle(0));
    }

    #[test]
    fn random_preemptions_leave_so_much_time_in_between_on_average() {
        let mut plan = Faults::none().random_preemptions(1000, 50).plan(2, 4);
        let mut times = [0_u64; 2];
        for (id, now) in times.iter_mut().enumerate() {
            let mut times_away = 0;
            while times_away < 1000 {
                let lost = plan.before_pause(id, *now);
                assert!(lost == 0 || lost == 50);
                times_away += u64::from(lost > 0);
                *now += lost + 1;
            }
            assert!((1_000_000..1_100_000).contains(now), "1000 x (1000 + 50): {now}");
        }
        assert_ne!(times[0], times[1], "each processor has its own times");
    }
}
