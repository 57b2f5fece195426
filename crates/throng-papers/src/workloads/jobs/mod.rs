//! Simulates one run of a job pool and measures it: processors put jobs in and take them out, as in
//! DT96 section 3.3.2 and RDT97 section 5.4.
//!
//! Measured is the time until the last job is done. Every run is checked: each job that was put in
//! is taken out once, and no other is.
//!
//! ```
//! use throng_papers::workloads::jobs::{JobsRun, PoolChoice, Workload};
//! use throng_sim::MachineSpec;
//!
//! let workload = Workload::Queens { side: 6, comparison_cycles: 5 };
//! let run = JobsRun::new(PoolChoice::rsu(), workload, MachineSpec::ideal(10));
//! let measured = JobsRun { processors: 8, ..run }.measure()?;
//! assert_eq!((measured.jobs, measured.solutions), (153, 4));
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

mod book;
mod choice;
mod queens;
mod workload;

use std::cell::RefCell;
use std::collections::BTreeMap;

use throng::machine::{Line, Machine, Place};
use throng::structures::pool::Jobs;
use throng_sim::{
    End, Faults, MachineSpec, MemoryReport, Notes, Outcome, Sim, SimError, Simulation, Traffic,
};

use super::{STAGGER_CYCLES, STEP_LIMIT, catching, idle};
use crate::error::Error;
use book::Book;

pub use choice::PoolChoice;
pub use workload::Workload;

/// An item of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Number of the job, unique in its run.
    serial: u64,
    /// Description of the work.
    content: u64,
}

/// A run of jobs.
#[derive(Clone, Debug)]
pub struct JobsRun {
    /// The pool.
    pub pool: PoolChoice,
    /// Which processors create jobs, and what the jobs are.
    pub workload: Workload,
    /// The machine.
    pub machine: MachineSpec,
    /// Number of processors that take part.
    pub processors: usize,
    /// Number of processors of the machine, where it is larger.
    pub nodes: Option<usize>,
    /// Seed of everything random.
    pub seed: u64,
    /// Injected faults. A run in which a processor is halted has no end.
    pub faults: Faults,
    /// The command that repeats the run, for the error message of a run that fails.
    pub replay: String,
    /// Number of steps after which the run is aborted.
    pub step_limit: u64,
}

/// The results of a run of jobs.
#[derive(Clone, Debug)]
pub struct JobsMeasured {
    /// Cycles from the start until the last job that counts was done.
    pub cycles: u64,
    /// Jobs that were put in, taken out and done.
    pub jobs: u64,
    /// Solutions found, where the jobs look for some.
    pub solutions: u64,
    /// Mean cycles of a call that put a job in.
    pub put_cycles_mean: f64,
    /// Mean cycles of a call that took a job out, waiting for one included.
    pub take_cycles_mean: f64,
    /// The memory's traffic by name of the place; lines of one name are summed.
    pub places: BTreeMap<&'static str, Traffic>,
    /// The notes of the algorithm.
    pub notes: Notes,
    /// Accesses in the whole run.
    pub accesses: u64,
    /// Hash of all accesses. Equal runs have equal hashes.
    pub trace_hash: u64,
}

impl JobsMeasured {
    /// Returns the mean depth of the counters that served calls, or NaN where they are not trees.
    pub fn depth_mean(&self) -> f64 {
        let stretches = self.notes.over_time("depth");
        let some = stretches.iter().filter(|stretch| stretch.count > 0);
        let (calls, sum) = some.fold((0, 0.0), |(calls, sum), stretch| {
            (calls + stretch.count, sum + stretch.mean * stretch.count as f64)
        });
        sum / calls as f64
    }

    /// Returns the attempts to balance for each job, and the part of them that moved a job. `None`
    /// where the pool does not balance.
    pub fn balancing(&self) -> Option<(f64, f64)> {
        let note = self.notes.get("balanced")?;
        let tries: u64 = note.counts.iter().sum();
        let in_vain = note.counts.first().copied().unwrap_or(0);
        let moved = (tries - in_vain) as f64 / tries as f64;
        Some((tries as f64 / self.jobs.max(1) as f64, moved))
    }
}

/// State shared by the processors of a run.
struct Shared {
    pool: Box<dyn Jobs<Job, Sim>>,
    /// Borrowed only between two accesses, while no other processor runs.
    book: RefCell<Book>,
    /// The way out: not 0 when all jobs are done.
    over: Line<<Sim as Machine>::Word>,
    /// For each processor: the serial of its last job that was consumed, plus one.
    consumed: Vec<Line<<Sim as Machine>::Word>>,
}

impl JobsRun {
    /// Returns a run with seed 0 and as many processors as the machine has.
    pub fn new(pool: PoolChoice, workload: Workload, machine: MachineSpec) -> Self {
        JobsRun {
            pool,
            workload,
            processors: machine.processors,
            machine,
            nodes: None,
            seed: 0,
            faults: Faults::none(),
            replay: "none".to_owned(),
            step_limit: STEP_LIMIT,
        }
    }

    /// Runs it, checks every job, and measures.
    ///
    /// # Errors
    /// When the pool cannot be built, the simulation not be set up, or the run failed: a job lost or
    /// done twice, a wrong result, no end, a panic.
    pub fn measure(&self) -> Result<JobsMeasured, Error> {
        self.workload.check(self.processors)?;
        // Built once in advance: an impossible shape is reported here.
        self.pool.build(self.processors)?;
        let outcome = catching(|| self.simulate())
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|source| Error::Simulation { source })?;
        if outcome.end != End::Finished {
            let book = outcome.shared.book.borrow();
            return Err(self.failed(format!("{}, {} jobs done", outcome.end, book.done())));
        }
        let book = outcome.shared.book.into_inner();
        book.check()
            .and_then(|()| self.workload.check_result(&book))
            .map_err(|what| self.failed(what))?;
        Ok(JobsMeasured {
            cycles: book.finished_at.ok_or_else(|| self.failed("it never was over".to_owned()))?,
            jobs: book.done(),
            solutions: book.solutions,
            put_cycles_mean: book.put_cycles as f64 / book.done().max(1) as f64,
            take_cycles_mean: book.take_cycles as f64 / book.done().max(1) as f64,
            places: by_name(&outcome.memory),
            notes: outcome.notes,
            accesses: outcome.accesses,
            trace_hash: outcome.trace_hash,
        })
    }

    fn simulate(&self) -> Result<Outcome<Shared, ()>, SimError> {
        let (pool, workload, processors) = (self.pool.clone(), self.workload, self.processors);
        let flag = |id| Line::word::<Sim>(0, Place::named("consumed").index(id).near(id));
        Simulation::new()
            .machine(self.machine.clone())
            .processors(processors)
            .machine_processors(self.nodes.unwrap_or(0).max(processors))
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(self.step_limit)
            .run(
                move || Shared {
                    pool: pool.build(processors).expect("built once already"),
                    book: RefCell::default(),
                    over: Line::word::<Sim>(0, Place::named("over")),
                    consumed: (0..processors).map(flag).collect(),
                },
                move |shared, cpu| {
                    idle(cpu, throng::machine::Cpu::id(cpu) as u32 * STAGGER_CYCLES);
                    workload.body(shared, cpu);
                },
            )
    }

    fn failed(&self, what: String) -> Error {
        Error::SimulatedRun {
            method: self.pool.name,
            machine: self.machine.name.clone(),
            processors: self.processors,
            seed: self.seed,
            what,
            replay: self.replay.clone(),
        }
    }
}

/// Sums lines of one name, of which there may be tens of thousands.
fn by_name(memory: &MemoryReport) -> BTreeMap<&'static str, Traffic> {
    let mut places: BTreeMap<&'static str, Traffic> = BTreeMap::new();
    for (place, traffic) in &memory.lines {
        *places.entry(place.name).or_default() += *traffic;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::{CounterChoice, Tuning};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use throng::machine::WayOut;
    use throng::structures::counter::methods;
    use throng::structures::pool::{Queue, QueueShape};
    use throng_sim::SimCpu;

    fn small(pool: PoolChoice, workload: Workload) -> JobsRun {
        let machine = MachineSpec::preset("alewife").unwrap();
        JobsRun { processors: 8, seed: 3, ..JobsRun::new(pool, workload, machine) }
    }

    const WORKLOADS: [Workload; 3] = [
        Workload::InTurns { jobs: 60, work: 100 },
        Workload::Sparse { jobs: 60 },
        Workload::Queens { side: 5, comparison_cycles: 5 },
    ];

    #[test]
    fn every_pool_does_every_job_once_however_it_is_disturbed_and_runs_can_be_repeated() {
        let counters = methods::<Sim>().into_iter();
        let counters = counters.map(|method| CounterChoice::registered(method, Tuning::default()));
        let mut pools: Vec<PoolChoice> =
            counters.map(|counter| PoolChoice::on_counters(counter.method, &counter, 64)).collect();
        pools.extend([PoolChoice::rsu(), PoolChoice::queue()]);
        for workload in WORKLOADS {
            for pool in &pools {
                let run = small(pool.clone(), workload);
                let (once, again) = (run.measure().unwrap(), run.measure().unwrap());
                assert_eq!(once.trace_hash, again.trace_hash, "{}", pool.name);
                assert!(once.cycles > 0 && once.jobs >= 54, "{}", pool.name);
                for seed in 0..5 {
                    let faults = Faults::none().random_delays(5, 900);
                    let disturbed = JobsRun { faults, seed, ..run.clone() };
                    disturbed.measure().unwrap();
                }
            }
        }
    }

    /// A queue that puts the tenth job in `times` times.
    struct Tenth {
        jobs: Queue<Job, Sim>,
        count: AtomicU64,
        times: usize,
    }

    impl Jobs<Job, Sim> for Tenth {
        fn put_on(&self, cpu: &SimCpu, job: Job) {
            let times = if self.count.fetch_add(1, Relaxed) == 9 { self.times } else { 1 };
            (0..times).for_each(|_| self.jobs.put_on(cpu, job));
        }

        fn take_on(&self, cpu: &SimCpu, way_out: &WayOut<'_, Sim>) -> Option<Job> {
            self.jobs.take_on(cpu, way_out)
        }
    }

    #[test]
    fn a_job_that_is_lost_or_done_twice_is_found() {
        let error = |workload, times| {
            let tenth = PoolChoice::custom("tenth", move |_| {
                let jobs = Queue::on_machine(QueueShape::UNBOUNDED).expect("any number of jobs");
                Ok(Box::new(Tenth { jobs, count: AtomicU64::new(0), times }))
            });
            let run = small(tenth, workload);
            let run = JobsRun { replay: "throng again".to_owned(), step_limit: 200_000, ..run };
            run.measure().unwrap_err().to_string()
        };
        for workload in WORKLOADS {
            let twice = error(workload, 2);
            assert!(
                twice.contains("job 9 was taken twice; to see it again: throng again"),
                "{twice}"
            );
            let lost = error(workload, 0);
            assert!(lost.contains("jobs done; to see it again"), "{lost}");
        }
    }

    #[test]
    fn two_are_needed_where_some_make_jobs_for_others() {
        let run = small(PoolChoice::rsu(), Workload::Sparse { jobs: 10 });
        let error = JobsRun { processors: 1, ..run }.measure().unwrap_err();
        assert_eq!(error.to_string(), "processors 1: must be at least 2");
    }
}
