//! Simulates one counting run and measures it: the index distribution benchmark of the papers (DT96
//! section 3.3.1, SS98 section 4).
//! (More than 500 lines, of which 170 are tests.)
//!
//! Every processor takes numbers from one counter, idling a random time after each, until it draws
//! one beyond the last that is needed. Every run checks that exactly 0..m-1 were handed out.
//!
//! ```
//! use throng_papers::workloads::{CounterChoice, CountingRun};
//! use throng_sim::MachineSpec;
//!
//! let counter = CounterChoice::named("hardware", None).unwrap();
//! let measured = CountingRun {
//!     processors: 16,
//!     values: 1000,
//!     ..CountingRun::new(counter, MachineSpec::ideal(10))
//! }
//! .measure()?;
//! // One word, served to one processor at a time: a value every 10 cycles.
//! assert_eq!(measured.throughput_per_million_cycles.round(), 100_000.0);
//! assert_eq!(measured.latency_cycles_mean.round(), 160.0);
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

pub mod barrier;
pub mod jobs;
pub mod measured;
pub mod messages;
pub mod options;
pub mod parallel;
pub mod reactive;
pub mod self_tuning;
pub mod surge;
pub mod topology;
pub mod trees;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use throng::machine::Cpu;
use throng::structures::counter::{Consistency, Counting, Registered, Shape, ShapeError, methods};
use throng_check::history::Call;
use throng_check::spec::{check_counting, check_linearizable};
use throng_sim::{End, Faults, MachineSpec, Sim, SimCpu, Simulation};

use crate::error::Error;
use measured::{Delivery, Measured};

/// Number of steps after which a run is aborted: more than any run that makes progress needs.
const STEP_LIMIT: u64 = 4_000_000_000;

/// Returns the step limit of `throng simulate` for `values` values, chosen to end a stuck run
/// within minutes.
pub const fn usual_step_limit(values: u64) -> u64 {
    100_000_000 + 2_000 * values
}

/// Cycles between the starts of consecutive processors. (In Proteus "every few cycles a new process
/// begins", DT96 section 3.3.1.)
const STAGGER_CYCLES: u32 = 5;

/// Builds a counter for a number of processors.
type Build =
    Arc<dyn Fn(usize) -> Result<Box<dyn Counting<Sim>>, ShapeError> + Send + Sync + 'static>;

/// Options for the shape of a counter; `None` leaves the choice to the method. Displayed as options
/// of `throng simulate`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// [`Shape::width`].
    pub width: Option<usize>,
    /// [`Shape::spin`].
    pub spin: Option<u32>,
    /// [`Shape::backoff`].
    pub backoff: Option<u32>,
}

impl Tuning {
    fn shape(self, processors: usize) -> Shape {
        let usual = Shape::for_processors(processors);
        usual
            .width(self.width)
            .spin(self.spin.unwrap_or(usual.spin))
            .backoff(self.backoff.unwrap_or(usual.backoff))
    }
}

impl fmt::Display for Tuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.width.map(|width| format!("--width {width}"));
        let spin = self.spin.map(|spin| format!("--spin {spin}"));
        let backoff = self.backoff.map(|backoff| format!("--backoff {backoff}"));
        f.write_str(&[width, spin, backoff].into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// A counter to be built in a run: a method and its shape.
#[derive(Clone)]
pub struct CounterChoice {
    /// The method, as typed on a command line.
    pub method: &'static str,
    /// The options of `throng simulate` that build the same counter, such as `--width 32`.
    pub options: String,
    /// The promised order of its numbers, which every run checks.
    pub consistency: Consistency,
    build: Build,
}

impl fmt::Debug for CounterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.options)
    }
}

impl CounterChoice {
    /// Returns a method of the library with the options of `tuning`; it chooses the rest for the
    /// number of processors.
    pub fn registered(method: Registered<Sim>, tuning: Tuning) -> Self {
        let build = move |processors| method.build(&tuning.shape(processors));
        let told = options::taken(method.about.name).of(tuning);
        CounterChoice {
            consistency: method.about.consistency,
            ..Self::custom(method.about.name, told.to_string(), build)
        }
    }

    /// Returns the method of this name with this width, or `None` if there is none.
    pub fn named(name: &str, width: Option<usize>) -> Option<Self> {
        Self::tuned(name, Tuning { width, ..Tuning::default() })
    }

    /// Returns the method of this name with the options of `tuning`, or `None` if there is none.
    pub fn tuned(name: &str, tuning: Tuning) -> Option<Self> {
        let method = methods::<Sim>().into_iter().find(|method| method.about.name == name)?;
        Some(Self::registered(method, tuning))
    }

    /// Returns a counter built by `build`, of whose numbers no order is expected. `options` are
    /// those of `throng simulate` that give the same counter. They distinguish it from others of
    /// the same method.
    pub fn custom(
        method: &'static str,
        options: impl Into<String>,
        build: impl Fn(usize) -> Result<Box<dyn Counting<Sim>>, ShapeError> + Send + Sync + 'static,
    ) -> Self {
        CounterChoice {
            method,
            options: options.into(),
            consistency: Consistency::Quiescent,
            build: Arc::new(build),
        }
    }

    /// Builds the counter for `processors` processors.
    ///
    /// # Errors
    /// When the method cannot be built in this shape.
    pub fn build(&self, processors: usize) -> Result<Box<dyn Counting<Sim>>, Error> {
        (self.build)(processors).map_err(|source| Error::Shape { method: self.method, source })
    }
}

/// A counting run.
#[derive(Clone, Debug)]
pub struct CountingRun {
    /// The counter.
    pub counter: CounterChoice,
    /// The machine.
    pub machine: MachineSpec,
    /// The value of `throng simulate --machine` for the same machine: its name, or a file.
    pub machine_argument: String,
    /// Number of processors that take numbers.
    pub processors: usize,
    /// Number of processors of the machine, where it is larger. The processors that take numbers
    /// are spread evenly over it, and memory is spread over all of it.
    pub nodes: Option<usize>,
    /// Each processor continues until it draws this number or a larger one.
    pub values: u64,
    /// Values delivered before the measurement begins.
    pub warm_up: u64,
    /// Upper bound of a processor's idle time after each value, in cycles; the lower bound is 0.
    pub work: u32,
    /// Processor i starts at i times this number of cycles.
    pub stagger_cycles: u32,
    /// Seed of everything random.
    pub seed: u64,
    /// Injected faults: delays, stalls, halts.
    pub faults: Faults,
    /// Number of steps after which the run is aborted.
    pub step_limit: u64,
}

/// State shared by the processors of a run.
struct Shared {
    counter: Box<dyn Counting<Sim>>,
    /// In the order of delivery. Borrowed only between two accesses, while no other processor runs.
    deliveries: RefCell<Vec<Delivery>>,
    /// When each processor began its current call, if it is in one. Borrowed like `deliveries`.
    began: RefCell<Vec<Option<u64>>>,
}

impl CountingRun {
    /// Returns a run as in DT96: 100 values of warm-up, no work. It has seed 0, no faults, and as
    /// many processors as the machine has.
    pub fn new(counter: CounterChoice, machine: MachineSpec) -> Self {
        CountingRun {
            counter,
            processors: machine.processors,
            nodes: None,
            machine_argument: machine.name.clone(),
            machine,
            values: 10_000,
            warm_up: 100,
            work: 0,
            stagger_cycles: STAGGER_CYCLES,
            seed: 0,
            faults: Faults::none(),
            step_limit: STEP_LIMIT,
        }
    }

    /// Returns the command that repeats the run.
    ///
    /// ```
    /// use throng_papers::workloads::{CounterChoice, CountingRun};
    /// use throng_sim::MachineSpec;
    ///
    /// let tree = CounterChoice::named("diffracting", Some(32)).unwrap();
    /// let run = CountingRun { seed: 7, ..CountingRun::new(tree, MachineSpec::ideal(10)) };
    /// assert_eq!(
    ///     run.replay_command(),
    ///     "throng simulate diffracting --width 32 --machine ideal --processors 64 \
    ///      --values 10000 --work 0 --seed 7",
    /// );
    /// ```
    pub fn replay_command(&self) -> String {
        let mut words = vec!["throng simulate".to_owned(), self.counter.method.to_owned()];
        if !self.counter.options.is_empty() {
            words.push(self.counter.options.clone());
        }
        words.push(format!(
            "--machine {} --processors {} --values {} --work {} --seed {}",
            quoted(&self.machine_argument),
            self.processors,
            self.values,
            self.work,
            self.seed
        ));
        if let Some(nodes) = self.nodes {
            words.push(format!("--nodes {nodes}"));
        }
        if self.faults != Faults::none() {
            words.push(format!("--fault {}", quoted(&self.faults.to_string())));
        }
        if ![STEP_LIMIT, usual_step_limit(self.values)].contains(&self.step_limit) {
            words.push(format!("--steps {}", self.step_limit));
        }
        words.join(" ")
    }

    /// Runs it, checks every number handed out, and measures.
    ///
    /// A run in which processors were halted may not finish: see [`Measured::end`].
    ///
    /// # Errors
    /// When the counter cannot be built or the simulation not be set up, or when the run failed: a
    /// value handed out twice or missing, no end though no processor was halted, or a panic.
    pub fn measure(&self) -> Result<Measured, Error> {
        // Built once in advance: an impossible shape is reported here.
        self.counter.build(self.processors)?;
        let outcome = catching(|| self.simulate())
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|source| Error::Simulation { source })?;
        let deliveries = outcome.shared.deliveries.into_inner();
        if outcome.halted.is_empty() {
            self.check_ended(&outcome.end, deliveries.len())?;
        }
        let unfinished = outcome.results.iter().filter(|result| result.is_none()).count();
        let calls = calls(&deliveries, &outcome.results);
        check_counting(&calls)
            .and_then(|()| match self.counter.consistency {
                Consistency::Linearizable => check_linearizable(&calls),
                Consistency::Quiescent => Ok(()),
            })
            .map_err(|violation| self.failed(violation.to_string()))?;
        let mut measured = Measured::of(&deliveries, self);
        measured.unfinished = unfinished;
        measured.steps = outcome.steps;
        measured.trace_hash = outcome.trace_hash;
        measured.end = outcome.end;
        measured.halted = outcome.halted;
        measured.cycles = outcome.cycles;
        let began = outcome.shared.began.into_inner();
        let halted = measured.halted.clone();
        let living = (0..).zip(began).filter(|(processor, _)| !halted.contains(processor));
        measured.add_hanging(living.filter_map(|(processor, start)| Some((processor, start?))));
        measured.accesses = outcome.accesses;
        measured.memory = outcome.memory;
        measured.notes = outcome.notes;
        Ok(measured)
    }

    /// Checks that the run finished, which every run does unless a processor is halted.
    fn check_ended(&self, end: &End, handed_out: usize) -> Result<(), Error> {
        match end {
            End::Finished => Ok(()),
            End::Stuck { .. } | End::TimeLimit { .. } => {
                Err(self.failed(format!("{end}, {handed_out} values handed out")))
            }
            &End::StepLimit { limit, unfinished } => Err(Error::StepLimit {
                method: self.counter.method,
                machine: self.machine_in_words(),
                limit,
                unfinished,
                done: format!("{handed_out} values handed out"),
                replay: self.replay_command(),
            }),
        }
    }

    /// Returns the number of processors of the machine.
    pub fn machine_processors(&self) -> usize {
        self.nodes.unwrap_or(0).max(self.processors)
    }

    /// Returns the machine's name, with its file where it has one: a file may reuse the name of
    /// another machine.
    pub fn machine_in_words(&self) -> String {
        machine_in_words(&self.machine, &self.machine_argument)
    }

    fn simulate(&self) -> Result<throng_sim::Outcome<Shared, ()>, throng_sim::SimError> {
        let (counter, processors) = (self.counter.clone(), self.processors);
        let (values, work, stagger_cycles) = (self.values, self.work, self.stagger_cycles);
        let room = self.values as usize + self.processors;
        Simulation::new()
            .machine(self.machine.clone())
            .processors(self.processors)
            .machine_processors(self.machine_processors())
            .seed(self.seed)
            .faults(self.faults.clone())
            .step_limit(self.step_limit)
            .run(
                move || Shared {
                    counter: counter.build(processors).expect("built once already"),
                    deliveries: RefCell::new(Vec::with_capacity(room)),
                    began: RefCell::new(vec![None; processors]),
                },
                move |shared, cpu| {
                    idle(cpu, cpu.id() as u32 * stagger_cycles);
                    take_numbers(shared, cpu, values, work);
                },
            )
    }

    fn failed(&self, what: String) -> Error {
        let what = what + &chosen_in_words(&self.faults, self.processors, self.seed);
        Error::SimulatedRun {
            method: self.counter.method,
            machine: self.machine_in_words(),
            processors: self.processors,
            seed: self.seed,
            what,
            replay: self.replay_command(),
        }
    }
}

thread_local! {
    /// Whether a panic of this thread will be reported as an error.
    static CATCHING: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the printing of panics that are reported as errors.
pub fn silence_caught_panics() {
    let loud = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !CATCHING.get() {
            loud(info);
        }
    }));
}

/// Returns the result of `work`, or the message of its panic.
pub fn catching<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CATCHING.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    CATCHING.set(false);
    result.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message").to_owned()
    })
}

/// Runs the program of each processor.
fn take_numbers(shared: &Shared, cpu: &SimCpu, values: u64, work: u32) {
    loop {
        let start = cpu.clock();
        let before = shared.deliveries.borrow().len() as u64;
        shared.began.borrow_mut()[cpu.id()] = Some(start);
        let value = shared.counter.next_on(cpu);
        let end = cpu.clock();
        let processor = cpu.id();
        shared.began.borrow_mut()[processor] = None;
        shared.deliveries.borrow_mut().push(Delivery { processor, value, start, end, before });
        if value >= values {
            return;
        }
        if work > 0 {
            idle(cpu, cpu.random_below(work as usize + 1) as u32);
        }
    }
}

fn idle(cpu: &SimCpu, cycles: u32) {
    if cycles > 0 {
        cpu.pause(cycles);
    }
}

/// Returns the deliveries as a history, on a clock that ticks twice for each. The i-th delivery
/// returns at 2i + 1; a call made after i deliveries begins at 2i. A processor that has not
/// finished is in a call that began when it got its last number, or later.
fn calls(deliveries: &[Delivery], results: &[Option<()>]) -> Vec<Call> {
    let mut calls = Vec::with_capacity(deliveries.len() + results.len());
    let mut begins_again = vec![0; results.len()];
    for (i, delivery) in (0_u64..).zip(deliveries) {
        calls.push(Call::finished(2 * delivery.before, 2 * i + 1, delivery.value));
        begins_again[delivery.processor] = 2 * i + 2;
    }
    let unfinished = results.iter().zip(begins_again).filter(|(result, _)| result.is_none());
    calls.extend(unfinished.map(|(_, begin)| Call::in_progress(begin)));
    calls
}

/// Returns the machine's name, with its argument where that is a file: a file may reuse the name of another machine.
fn machine_in_words(machine: &MachineSpec, argument: &str) -> String {
    let name = &machine.name;
    if name == argument { name.clone() } else { format!("{name} ({argument})") }
}

/// Names the faults that the seed chose, in brackets, where it chose any.
fn chosen_in_words(faults: &Faults, processors: usize, seed: u64) -> String {
    let chosen = faults.chosen(processors, seed);
    if chosen == *faults {
        return String::new();
    }
    format!(" (the seed chose these faults: {chosen})")
}

/// Quotes a word for a shell where it needs quotes.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Hands out 0, 1, 2, 3, 4, 4, 5, ...
    struct Stutters(AtomicU64);

    impl Counting<Sim> for Stutters {
        fn next_on(&self, cpu: &SimCpu) -> u64 {
            cpu.pause(10);
            let next = self.0.fetch_add(1, Relaxed);
            if next > 4 { next - 1 } else { next }
        }
    }

    /// Hands out 1, 0, 2, 3, ...; processor 0 is the fastest.
    struct Swaps(AtomicU64);

    impl Counting<Sim> for Swaps {
        fn next_on(&self, cpu: &SimCpu) -> u64 {
            cpu.pause(if cpu.id() == 0 { 10 } else { 300 });
            let next = self.0.fetch_add(1, Relaxed);
            if next < 2 { next ^ 1 } else { next }
        }
    }

    struct Panics;

    impl Counting<Sim> for Panics {
        fn next_on(&self, _cpu: &SimCpu) -> u64 {
            panic!("on purpose")
        }
    }

    fn small(counter: CounterChoice) -> CountingRun {
        CountingRun {
            processors: 3,
            values: 50,
            warm_up: 10,
            seed: 4,
            ..CountingRun::new(counter, MachineSpec::ideal(10))
        }
    }

    #[test]
    fn a_failed_run_names_the_command_that_replays_it() {
        let stutters = CounterChoice::custom("stutters", "--width 8", |_| {
            Ok(Box::new(Stutters(AtomicU64::new(0))))
        });
        let error = small(stutters).measure().unwrap_err();
        assert_eq!(
            error.to_string(),
            "stutters failed on ideal with 3 processors and seed 4: \
             4 was given twice; to see it again: \
             throng simulate stutters --width 8 --machine ideal --processors 3 --values 50 \
             --work 0 --seed 4"
        );
        assert_eq!(error.exit_code(), 1);
        let error = small(CounterChoice::custom("panics", "", |_| Ok(Box::new(Panics))))
            .measure()
            .unwrap_err();
        let what = "it panicked: on purpose (processor 0, seed 4)";
        assert!(error.to_string().contains(what), "{error}");
    }

    #[test]
    fn a_run_without_an_end_is_a_failure_unless_a_processor_was_halted() {
        let counter = CounterChoice::named("locked-mcs", None).unwrap();
        let run = CountingRun { step_limit: 100, ..small(counter) };
        let error = run.measure().unwrap_err();
        assert!(error.to_string().contains("not over after 100 steps"), "{error}");
        assert_eq!(error.exit_code(), 2, "a larger limit may help");
        let faults = Faults::none().halt_before(0, 5);
        let measured = CountingRun { faults, step_limit: 10_000, ..run }.measure().unwrap();
        assert_ne!(measured.end, End::Finished);
        assert_eq!(measured.halted, [0]);
        assert!(!measured.reached);
        assert_eq!(measured.hanging, [1, 2]);
        assert!(measured.unserved_cycles_max > 0);
    }

    #[test]
    fn the_order_of_numbers_is_checked_where_one_is_promised() {
        let swaps = CounterChoice::custom("swaps", "", |_| Ok(Box::new(Swaps(AtomicU64::new(0)))));
        // Processor 0 gets both while the others are still in calls: one of them might have had the
        // 0.
        let run = small(swaps);
        assert_eq!(run.measure().unwrap().handed_out, 50 + 3);
        let mut strict = run.clone();
        strict.counter.consistency = Consistency::Linearizable;
        let error = strict.measure().unwrap_err();
        assert!(error.to_string().contains("0 was given to a call that began after 1"), "{error}");
        // With a single processor, the 0 was missing.
        let error = CountingRun { processors: 1, ..run }.measure().unwrap_err();
        assert!(error.to_string().contains("1 was given while 1 smaller number"), "{error}");
    }

    #[test]
    fn those_who_wait_for_a_halted_processor_may_hold_values_too() {
        for method in methods::<Sim>() {
            for seed in 0..60 {
                let counter = CounterChoice::registered(method, Tuning::default());
                let run = CountingRun {
                    processors: 7,
                    seed,
                    faults: Faults::none().random_halts(2, 60).random_delays(4, 90),
                    step_limit: 30_000,
                    ..small(counter)
                };
                if let Err(error) = run.measure() {
                    panic!("{error}");
                }
            }
        }
    }

    #[test]
    fn the_command_is_one_a_shell_understands() {
        let counter = CounterChoice::named("hardware", None).unwrap();
        let run = CountingRun {
            machine_argument: "it's mine.toml".to_owned(),
            faults: Faults::none().halt_before(1, 2).slow(0, 9),
            ..small(counter)
        };
        assert_eq!(
            run.replay_command(),
            r"throng simulate hardware --machine 'it'\''s mine.toml' --processors 3 --values 50 \
              --work 0 --seed 4 --fault 'halt 1 before 2; slow 0 by 9'"
                .replace("\\\n              ", "")
        );
    }

    #[test]
    fn a_machine_may_be_larger_than_what_runs_on_it() {
        let counter = CounterChoice::named("diffracting", Some(4)).unwrap();
        let run = CountingRun { nodes: Some(64), ..small(counter) };
        assert!(run.replay_command().ends_with("--seed 4 --nodes 64"));
        let measured = run.measure().unwrap();
        assert_eq!(measured.per_processor.len(), 3);
        assert_eq!(measured.handed_out, 50 + 3);
        // Memory is farther away.
        let near = MachineSpec::preset("alewife").unwrap();
        let cycles = |nodes| {
            let run = CountingRun { machine: near.clone(), nodes, ..run.clone() };
            run.measure().unwrap().latency_cycles_mean
        };
        assert!(cycles(Some(256)) > cycles(None));
    }

    #[test]
    fn a_shape_that_cannot_be_is_refused() {
        let error = small(CounterChoice::named("diffracting", Some(6)).unwrap()).measure();
        assert_eq!(error.unwrap_err().exit_code(), 2);
        assert!(CounterChoice::named("abacus", None).is_none());
    }

    #[test]
    fn the_same_run_gives_the_same_numbers_and_each_processor_stops_at_its_first_spare_value() {
        for method in methods::<Sim>() {
            let run = small(CounterChoice::registered(method, Tuning::default()));
            let (once, again) = (run.measure().unwrap(), run.measure().unwrap());
            assert_eq!(once.cycles, again.cycles, "{}", method.about.name);
            assert_eq!(once.latency_cycles_mean, again.latency_cycles_mean);
            assert_eq!(once.per_processor.iter().sum::<u64>(), 50 + 3, "{}", method.about.name);
        }
    }
}
