//! A counting run with a varying number of processors: throughput, latency and depth over time.
//!
//! Phases give the number of active processors, which are the first ones: 0, 1, 2, ... Each of them
//! takes numbers, one after another. Every run checks that exactly 0..m-1 were handed out.
//!
//! ```
//! use throng_papers::workloads::CounterChoice;
//! use throng_papers::workloads::surge::{Phase, SurgeRun};
//! use throng_sim::MachineSpec;
//!
//! let counter = CounterChoice::named("hardware", None).unwrap();
//! let phases = vec![Phase::new(0, 1), Phase::new(1000, 4)];
//! let run = SurgeRun::new(counter, MachineSpec::ideal(10), phases, 500, 2000);
//! let intervals = run.measure()?.intervals;
//! // One word, served to one processor at a time: a value every 10 cycles.
//! assert_eq!(intervals.iter().map(|interval| interval.processors).collect::<Vec<_>>(), [1, 1, 4, 4]);
//! assert!(intervals[3].latency_cycles_mean > 3.0 * intervals[0].latency_cycles_mean);
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

use std::cell::RefCell;

use throng::machine::Cpu;
use throng::structures::counter::Counting;
use throng_check::spec::check_counting;
use throng_sim::{End, MachineSpec, Notes, Outcome, Sim, SimCpu, SimError, Simulation};

use super::measured::Delivery;
use super::{CounterChoice, STAGGER_CYCLES, STEP_LIMIT, calls, catching, idle};
use crate::error::Error;

/// A stretch of time with a fixed number of active processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// When it begins.
    pub start_cycle: u64,
    /// Number of processors that take numbers.
    pub processors: usize,
}

impl Phase {
    /// Returns a phase of `processors` processors, from `start_cycle` on.
    pub const fn new(start_cycle: u64, processors: usize) -> Self {
        Phase { start_cycle, processors }
    }
}

/// A counting run in phases.
#[derive(Clone, Debug)]
pub struct SurgeRun {
    /// The counter.
    pub counter: CounterChoice,
    /// The machine.
    pub machine: MachineSpec,
    /// Number of processors of the machine, where it is larger than the largest phase.
    pub nodes: Option<usize>,
    /// In the order of time. No processor is active before the first.
    pub phases: Vec<Phase>,
    /// The time from which on no call begins.
    pub end_cycle: u64,
    /// Length of an interval, for which numbers are summed up.
    pub interval_cycles: u64,
    /// Upper bound of a processor's idle time after each value, in cycles; the lower bound is 0.
    pub work: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// The command that repeats the run, for the error message of a run that fails.
    pub replay: String,
}

/// The results of one interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// When it began.
    pub start_cycle: u64,
    /// Number of active processors at its beginning.
    pub processors: usize,
    /// Number of values delivered in it.
    pub values: u64,
    /// Values delivered in it, scaled to a million cycles.
    pub throughput_per_million_cycles: f64,
    /// Mean latency of the calls that returned in it, or NaN if none did.
    pub latency_cycles_mean: f64,
    /// Mean depth of the counters that served them, or NaN where the counter is not a tree.
    pub depth_mean: f64,
}

/// The results of a run in phases.
#[derive(Clone, Debug)]
pub struct Surge {
    /// From the beginning to the end of the run.
    pub intervals: Vec<Interval>,
    /// Number of values handed out and checked, those after the end included.
    pub handed_out: u64,
    /// The notes of the algorithm.
    pub notes: Notes,
    /// Hash of all accesses. Equal runs have equal hashes.
    pub trace_hash: u64,
}

/// A number handed out, with the depth of the counter that served it.
#[derive(Clone, Copy, Debug)]
struct Served {
    delivery: Delivery,
    depth: Option<u64>,
}

/// State shared by the processors of a run.
struct Shared {
    counter: Box<dyn Counting<Sim>>,
    /// In the order of delivery. Borrowed only between two accesses, while no other processor runs.
    served: RefCell<Vec<Served>>,
}

impl SurgeRun {
    /// Returns a run without work, with seed 0.
    pub fn new(
        counter: CounterChoice,
        machine: MachineSpec,
        phases: Vec<Phase>,
        interval_cycles: u64,
        end_cycle: u64,
    ) -> Self {
        SurgeRun {
            counter,
            machine,
            nodes: None,
            phases,
            end_cycle,
            interval_cycles,
            work: 0,
            seed: 0,
            replay: "none".to_owned(),
        }
    }

    /// Returns the number of processors of the largest phase.
    pub fn processors(&self) -> usize {
        self.phases.iter().map(|phase| phase.processors).max().unwrap_or(0)
    }

    /// Returns the number of active processors at `cycle`.
    fn processors_at(&self, cycle: u64) -> usize {
        let begun = self.phases.iter().take_while(|phase| phase.start_cycle <= cycle);
        begun.last().map_or(0, |phase| phase.processors)
    }

    /// Returns when `processor`, which is free at `now`, begins its next call: at once or, if it is
    /// not active, when a later phase activates it. Activated processors start one after another, a
    /// little apart. Returns `None` if there is no such phase.
    fn begins(&self, processor: usize, now: u64) -> Option<u64> {
        if now >= self.end_cycle {
            return None;
        }
        if processor < self.processors_at(now) {
            return Some(now);
        }
        let mut later = self.phases.iter().filter(|phase| phase.start_cycle > now);
        let phase = later.find(|phase| processor < phase.processors)?;
        let begin = phase.start_cycle + processor as u64 * u64::from(STAGGER_CYCLES);
        (begin < self.end_cycle).then_some(begin)
    }

    /// Runs it, checks every number handed out, and measures.
    ///
    /// # Errors
    /// When the counter cannot be built, the simulation not be set up, or the run failed: a value
    /// twice or missing, no end, a panic.
    pub fn measure(&self) -> Result<Surge, Error> {
        // Built once in advance: an impossible shape is reported here.
        self.counter.build(self.processors())?;
        let outcome = catching(|| self.simulate())
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|source| Error::Simulation { source })?;
        if outcome.end != End::Finished {
            return Err(self.failed(outcome.end.to_string()));
        }
        let served = outcome.shared.served.into_inner();
        let deliveries: Vec<Delivery> = served.iter().map(|served| served.delivery).collect();
        check_counting(&calls(&deliveries, &outcome.results))
            .map_err(|violation| self.failed(violation.to_string()))?;
        Ok(Surge {
            intervals: self.intervals(&served),
            handed_out: served.len() as u64,
            notes: outcome.notes,
            trace_hash: outcome.trace_hash,
        })
    }

    fn simulate(&self) -> Result<Outcome<Shared, ()>, SimError> {
        let (run, processors) = (self.clone(), self.processors());
        let counter = self.counter.clone();
        Simulation::new()
            .machine(self.machine.clone())
            .processors(processors)
            .machine_processors(self.nodes.unwrap_or(0).max(processors))
            .seed(self.seed)
            .step_limit(STEP_LIMIT)
            .run(
                move || Shared {
                    counter: counter.build(processors).expect("built once already"),
                    served: RefCell::default(),
                },
                move |shared, cpu| run.take_numbers(shared, cpu),
            )
    }

    /// Runs the program of each processor.
    fn take_numbers(&self, shared: &Shared, cpu: &SimCpu) {
        let processor = cpu.id();
        while let Some(begin) = self.begins(processor, cpu.clock()) {
            idle_until(cpu, begin);
            let start = cpu.clock();
            let before = shared.served.borrow().len() as u64;
            let value = shared.counter.next_on(cpu);
            let delivery = Delivery { processor, value, start, end: cpu.clock(), before };
            let depth = cpu.last_noted("depth");
            shared.served.borrow_mut().push(Served { delivery, depth });
            if self.work > 0 {
                idle(cpu, cpu.random_below(self.work as usize + 1) as u32);
            }
        }
    }

    fn intervals(&self, served: &[Served]) -> Vec<Interval> {
        let length = self.interval_cycles.max(1);
        let count = self.end_cycle / length;
        let mut by_interval: Vec<Vec<&Served>> = vec![Vec::new(); count as usize];
        for one in served {
            if let Some(interval) = by_interval.get_mut((one.delivery.end / length) as usize) {
                interval.push(one);
            }
        }
        (0..).zip(by_interval).map(|(i, served)| self.interval(i * length, &served)).collect()
    }

    fn interval(&self, start_cycle: u64, served: &[&Served]) -> Interval {
        let latencies = served.iter().map(|one| one.delivery.end - one.delivery.start);
        Interval {
            start_cycle,
            processors: self.processors_at(start_cycle),
            values: served.len() as u64,
            throughput_per_million_cycles: served.len() as f64 * 1e6
                / self.interval_cycles.max(1) as f64,
            latency_cycles_mean: mean(latencies),
            depth_mean: mean(served.iter().filter_map(|one| one.depth)),
        }
    }

    fn failed(&self, what: String) -> Error {
        Error::SimulatedRun {
            method: self.counter.method,
            machine: self.machine.name.clone(),
            processors: self.processors(),
            seed: self.seed,
            what,
            replay: self.replay.clone(),
        }
    }
}

/// Returns the mean, or NaN if there are no numbers.
fn mean(numbers: impl Iterator<Item = u64>) -> f64 {
    let (count, sum) = numbers.fold((0_u64, 0_u64), |(count, sum), n| (count + 1, sum + n));
    sum as f64 / count as f64
}

fn idle_until(cpu: &SimCpu, cycle: u64) {
    let mut now = cpu.clock();
    while now < cycle {
        idle(cpu, u32::try_from(cycle - now).unwrap_or(u32::MAX));
        now = cpu.clock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(method: &str, width: Option<usize>, phases: &[(u64, usize)]) -> SurgeRun {
        let counter = CounterChoice::named(method, width).unwrap();
        let phases = phases.iter().map(|&(start, processors)| Phase::new(start, processors));
        SurgeRun::new(counter, MachineSpec::ideal(10), phases.collect(), 1000, 9000)
    }

    #[test]
    fn processors_come_and_go_as_the_phases_say() {
        let run = run("hardware", None, &[(1000, 2), (4000, 8), (6000, 1)]);
        assert_eq!(run.processors(), 8);
        assert_eq!(
            [0, 1000, 3999, 4000, 7000].map(|cycle| run.processors_at(cycle)),
            [0, 2, 2, 8, 1]
        );
        assert_eq!(run.begins(1, 0), Some(1005));
        assert_eq!(run.begins(1, 2000), Some(2000));
        assert_eq!(run.begins(7, 2000), Some(4035));
        assert_eq!(run.begins(1, 6000), None);
        assert_eq!(run.begins(0, 8999), Some(8999));
        assert_eq!(run.begins(0, 9000), None);
    }

    #[test]
    fn latency_and_throughput_follow_the_crowd() {
        let surge = run("hardware", None, &[(0, 2), (3000, 8), (6000, 1)]).measure().unwrap();
        let latency = |i: usize| surge.intervals[i].latency_cycles_mean.round();
        assert_eq!(surge.intervals.len(), 9);
        // A word is served every 10 cycles: a processor that shares it with n others waits for n.
        assert_eq!([latency(1), latency(4), latency(7)], [20.0, 80.0, 10.0]);
        assert!(surge.intervals.iter().all(|interval| interval.values.abs_diff(100) < 3));
        assert!(surge.intervals[0].depth_mean.is_nan(), "it is no tree");
        assert!(surge.handed_out >= 900);
    }

    #[test]
    fn the_depth_of_trees_is_known_and_the_same_run_gives_the_same_numbers() {
        let run = run("diffracting", Some(4), &[(0, 2), (3000, 8)]);
        let (once, again) = (run.measure().unwrap(), run.measure().unwrap());
        assert!(once.intervals.iter().all(|interval| interval.depth_mean == 2.0));
        assert_eq!((once.trace_hash, once.handed_out), (again.trace_hash, again.handed_out));
    }

    #[test]
    fn processors_are_spread_over_a_larger_machine() {
        let small = SurgeRun {
            machine: MachineSpec::preset("alewife").unwrap(),
            ..run("hardware", None, &[(0, 4)])
        };
        let large = SurgeRun { nodes: Some(64), ..small.clone() };
        let latency = |run: &SurgeRun| run.measure().unwrap().intervals[4].latency_cycles_mean;
        assert!(latency(&large) > latency(&small), "the way to memory is longer");
    }

    #[test]
    fn an_interval_without_a_delivery_has_no_latency() {
        let surge = run("hardware", None, &[(5000, 1)]).measure().unwrap();
        let Interval { values, latency_cycles_mean, .. } = surge.intervals[0];
        assert!(values == 0 && latency_cycles_mean.is_nan());
    }
}
