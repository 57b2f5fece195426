//! The description of a simulation, and its run.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::thread::{self, panicking};

use crate::coroutine::Coroutine;
use crate::engine::{Engine, Phase};
use crate::error::SimError;
use crate::faults::Faults;
use crate::machine::SimCpu;
use crate::memory;
use crate::outcome::Outcome;
use crate::queue::Ties;
use crate::spec::{MachineSpec, PROCESSORS_MAX};
use crate::trace::Trace;
use crate::turn::{self, Installed};

/// The description of a simulation. The [crate docs](crate) have an example.
#[derive(Clone, Debug)]
pub struct Simulation {
    processors: usize,
    room: Option<usize>,
    seed: u64,
    machine: MachineSpec,
    faults: Faults,
    ties_by_id: bool,
    record_trace: bool,
    step_limit: u64,
    stack_bytes: usize,
}

/// The smallest size of a stack in bytes. The runtime itself needs some of it when a body panics.
const STACK_BYTES_MIN: usize = 16 << 10;
const STACK_BYTES_MAX: usize = 1 << 30;

impl Default for Simulation {
    fn default() -> Self {
        Self::new()
    }
}

impl Simulation {
    /// Returns a simulation of one processor, with seed 0, 10 cycles an access, and no faults.
    #[must_use]
    pub fn new() -> Self {
        Simulation {
            processors: 1,
            room: None,
            seed: 0,
            machine: MachineSpec::ideal(10),
            faults: Faults::none(),
            ties_by_id: false,
            record_trace: false,
            step_limit: 50_000_000,
            stack_bytes: 256 << 10,
        }
    }

    /// Sets the number of processors, from 1 to 65 536. Linux gives about 32 000 stacks unless its
    /// `vm.max_map_count` is raised.
    #[must_use]
    pub fn processors(self, processors: usize) -> Self {
        Simulation { processors, ..self }
    }

    /// Sets the number of processors of the machine, if it has more than run. Those that run are
    /// spread over it evenly, and memory is all over it. The ideal machine has no size.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{MachineSpec, Sim, Simulation};
    ///
    /// let alewife = MachineSpec::preset("alewife").unwrap();
    /// let cycles = |room| {
    ///     let two = Simulation::new().machine(alewife.clone()).processors(2).machine_processors(room);
    ///     two.run(|| Hardware::<Sim>::on_machine(), |counter, cpu| counter.next_on(cpu))
    ///         .map(|outcome| outcome.cycles)
    /// };
    /// assert!(cycles(256)? > cycles(2)?, "a larger mesh, longer ways");
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn machine_processors(self, room: usize) -> Self {
        Simulation { room: Some(room), ..self }
    }

    /// Sets the seed of everything random: the random numbers of processors, the times of faults,
    /// and the order of events of the same cycle.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Simulation { seed, ..self }
    }

    /// Lets events of the same cycle happen in the order of processor ids, not in one that the seed
    /// decides. It is for times that are worked out by hand.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{Sim, Simulation};
    ///
    /// let run = |simulation: Simulation| {
    ///     let eight = simulation.processors(8);
    ///     eight.run(|| Hardware::<Sim>::on_machine(), |counter, cpu| counter.next_on(cpu))
    ///         .map(|outcome| outcome.results.into_iter().flatten().collect::<Vec<_>>())
    /// };
    /// assert_eq!(run(Simulation::new().ties_by_id())?, [0, 1, 2, 3, 4, 5, 6, 7]);
    /// assert_ne!(run(Simulation::new())?, [0, 1, 2, 3, 4, 5, 6, 7]);
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn ties_by_id(self) -> Self {
        Simulation { ties_by_id: true, ..self }
    }

    /// Sets the machine: the cost of an access, and what it holds up. It is built as large as
    /// [`processors`](Simulation::processors) says.
    ///
    /// ```
    /// use throng::structures::counter::{Counting, Hardware};
    /// use throng_sim::{MachineSpec, Sim, Simulation};
    ///
    /// let alewife = MachineSpec::preset("alewife").unwrap();
    /// let outcome = Simulation::new().machine(alewife).processors(64).run(
    ///     || Hardware::<Sim>::on_machine(),
    ///     |counter, cpu| counter.next_on(cpu),
    /// )?;
    /// assert_eq!(outcome.results.len(), 64);
    /// # Ok::<(), throng_sim::SimError>(())
    /// ```
    #[must_use]
    pub fn machine(self, machine: MachineSpec) -> Self {
        Simulation { machine, ..self }
    }

    /// Sets the machine to the [ideal machine](MachineSpec::ideal), on which every access costs the
    /// same.
    #[must_use]
    pub fn access_cycles(self, access_cycles: u32) -> Self {
        self.machine(MachineSpec::ideal(access_cycles.into()))
    }

    /// Sets the faults.
    #[must_use]
    pub fn faults(self, faults: Faults) -> Self {
        Simulation { faults, ..self }
    }

    /// Sets whether to keep every access, 56 bytes each, or only the hash of all.
    #[must_use]
    pub fn record_trace(self, record_trace: bool) -> Self {
        Simulation { record_trace, ..self }
    }

    /// Sets the number of steps of all processors together after which the run is stopped, against
    /// endless loops: 50 million by default. Accesses, pauses, retries, bounded sleeps, delays by
    /// faults and looks at the clock are steps.
    #[must_use]
    pub fn step_limit(self, step_limit: u64) -> Self {
        Simulation { step_limit, ..self }
    }

    /// Sets the size of each processor's stack: 256 KiB by default. Only touched pages take memory.
    /// A body that needs more ends the process with a segmentation fault.
    #[must_use]
    pub fn stack_bytes(self, stack_bytes: usize) -> Self {
        Simulation { stack_bytes, ..self }
    }

    /// Runs the simulation: `setup` makes what the processors share, and each of them runs `body`
    /// on it.
    ///
    /// All processors start at time 0. The run is over when each has finished, was halted by a
    /// fault, or waits for a word that no processor can write any more. Processors that did not
    /// finish are unwound, so that all destructors run.
    ///
    /// # Errors
    /// If a setting is out of its range, if this thread is already running a simulation, or if
    /// there is no memory for the stacks.
    ///
    /// # Panics
    /// With the panic of the first processor whose body panics. If its message is text, the
    /// processor and the seed are added, and both are printed.
    pub fn run<S, R>(
        &self,
        setup: impl FnOnce() -> S,
        body: impl Fn(&S, &SimCpu) -> R + 'static,
    ) -> Result<Outcome<S, R>, SimError>
    where
        S: 'static,
        R: 'static,
    {
        self.check()?;
        let installed = turn::install(self.engine())?;
        let shared = Rc::new((setup(), body));
        let mut crew = self.hire(&shared)?;
        let mut results: Vec<Option<R>> = Vec::new();
        results.resize_with(self.processors, || None);

        installed.with(|engine| engine.phase = Phase::Running);
        let worked = catch_unwind(AssertUnwindSafe(|| work(&installed, &mut crew, &mut results)));
        let last = installed.with(|engine| {
            engine.phase = Phase::Ending;
            engine.current()
        });
        if worked.is_ok() {
            installed.with(|engine| engine.check_conservation());
        }
        let dismissed = self.dismiss(crew);
        let report = installed.take().into_report();

        worked
            .map_err(|panic| (last, panic))
            .and(dismissed)
            .unwrap_or_else(|(processor, panic)| resume_unwind(self.sign(panic, processor)));
        let (shared, _body) = Rc::into_inner(shared).expect("all coroutines have ended");
        let (trace_hash, recorded) = report.trace.into_parts();
        let (trace, issued) = recorded.unzip();
        Ok(Outcome {
            results,
            end: report.end,
            halted: report.halted,
            cycles: report.cycles,
            accesses: report.accesses,
            steps: report.steps,
            trace_hash,
            trace,
            issued,
            places: report.places,
            memory: report.memory,
            notes: report.notes,
            shared,
        })
    }

    fn check(&self) -> Result<(), SimError> {
        let (stack_min, stack_max) = (STACK_BYTES_MIN as u64, STACK_BYTES_MAX as u64);
        SimError::check("processors", self.processors as u64, 1..=PROCESSORS_MAX as u64)?;
        let room = self.processors as u64..=PROCESSORS_MAX as u64;
        SimError::check("processors of the machine", self.room() as u64, room)?;
        self.machine.check().map_err(SimError::Machine)?;
        SimError::check("stack bytes", self.stack_bytes as u64, stack_min..=stack_max)?;
        self.faults.check(self.processors)?;
        if panicking() {
            return Err(SimError::Unwinding);
        }
        Ok(())
    }

    fn room(&self) -> usize {
        self.room.unwrap_or(self.processors)
    }

    fn engine(&self) -> Engine {
        Engine::new(
            turn::new_run(),
            memory::build(&self.machine, self.processors, self.room()),
            self.faults.plan(self.processors, self.seed),
            Trace::new(self.record_trace),
            self.processors,
            if self.ties_by_id { Ties::ById } else { Ties::Drawn(self.seed) },
            self.step_limit,
        )
    }

    /// Makes a coroutine for each processor.
    fn hire<S: 'static, R: 'static>(
        &self,
        shared: &Rc<(S, impl Fn(&S, &SimCpu) -> R + 'static)>,
    ) -> Result<Vec<Coroutine<R>>, SimError> {
        let coroutine = |id| {
            let (seed, shared) = (self.seed, Rc::clone(shared));
            let run_body = move || (shared.1)(&shared.0, &SimCpu::new(id, seed));
            Coroutine::new(self.stack_bytes, run_body)
                .map_err(|error| SimError::NoStack { processor: id, reason: error.to_string() })
        };
        (0..self.processors).map(coroutine).collect()
    }

    /// Ends all coroutines. Returns the first panic, and the processor on which it happened.
    fn dismiss<R: 'static>(&self, crew: Vec<Coroutine<R>>) -> Result<(), (usize, Panic)> {
        let mut all = Ok(());
        for (id, coroutine) in crew.into_iter().enumerate() {
            let ended: thread::Result<()> = coroutine.end(self.stack_bytes);
            all = all.and(ended.map_err(|panic| (id, panic)));
        }
        all
    }

    /// Adds to a panic's message what is needed to reproduce it.
    fn sign(&self, panic: Panic, processor: usize) -> Panic {
        let seed = self.seed;
        // The message was printed when the panic happened; this is the line that belongs below it.
        eprintln!("on processor {processor} of a simulation with seed {seed}");
        let text = match panic.downcast_ref::<&str>() {
            Some(text) => Some(*text),
            None => panic.downcast_ref::<String>().map(String::as_str),
        };
        match text {
            Some(text) => Box::new(format!("{text} (processor {processor}, seed {seed})")),
            None => panic,
        }
    }
}

type Panic = Box<dyn Any + Send>;

/// Resumes the next processor until there is none.
fn work<R: 'static>(installed: &Installed, crew: &mut [Coroutine<R>], results: &mut [Option<R>]) {
    while let Some(id) = installed.with(Engine::next) {
        if let Some(result) = crew[id].resume() {
            results[id] = Some(result);
            installed.with(Engine::finish);
        }
    }
}
