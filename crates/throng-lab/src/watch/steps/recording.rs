//! One run of a structure on a simulated machine, step by step.
//!
//! The simulator records each access: when, by which processor, which word, and the values before and after. Words have a
//! place with a name and an index, so a recording knows a structure only by the names of its words.

use std::cell::RefCell;

use throng::machine::{Cpu, Home, WayOut};
use throng::structures::barrier::Meeting;
use throng::structures::counter::Counting;
use throng_papers::error::Error;
use throng_papers::workloads::catching;
use throng_sim::{End, Operation, Outcome, Sim, SimCpu, Simulation};

use super::choice::{Choice, Structure};

/// Most steps of a recording: an hour at five a second.
pub const MAX_STEPS: u64 = 20_000;

/// Longest pause before a call, in cycles. Without it, all processors fall into step.
const JITTER_CYCLES: usize = 40;
/// The same before a round of a barrier: members do not come all at once.
const WORK_CYCLES: usize = 160;
/// Processors below this stay when the crowd has left a structure that changes its shape.
const STAYING: usize = 2;

/// A word of shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What its line is for.
    pub name: &'static str,
    /// Which of the lines of that name.
    pub index: Option<usize>,
    /// Which of the words of that name and index.
    pub part: usize,
    /// The processor whose memory it is in.
    pub home: Option<usize>,
}

/// One access to shared memory, as it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// When it took effect, in cycles.
    pub time: u64,
    /// When it was issued.
    pub issued: u64,
    /// The processor that made it.
    pub processor: usize,
    /// The word.
    pub word: usize,
    /// The operation.
    pub operation: Operation,
    /// The value found.
    pub found: u64,
    /// The value written, if any.
    pub written: Option<u64>,
    /// The call that it belongs to.
    pub call: usize,
}

impl Step {
    /// Returns the value of the word afterwards.
    pub fn value(&self) -> u64 {
        self.written.unwrap_or(self.found)
    }

    /// Returns the time that it took.
    pub fn cost(&self) -> u64 {
        self.time - self.issued
    }
}

/// A call of a counter, or a member's round at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The processor that made it.
    pub processor: usize,
    /// When it began and ended, in cycles. The end is `None` if the recording is over before.
    pub begin: u64,
    /// See `begin`.
    pub end: Option<u64>,
    /// The number that it returned, or the round.
    pub value: u64,
}

/// A run.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was run.
    pub choice: Choice,
    /// All words.
    pub words: Vec<Word>,
    /// All steps, in the order of time.
    pub steps: Vec<Step>,
    /// All calls, in the order in which they began.
    pub calls: Vec<Call>,
    /// Whether the limit of steps ended it.
    pub is_cut: bool,
    /// For each step, the processor's next step, if there is one.
    next: Vec<Option<usize>>,
}

/// What the processors share.
struct Shared {
    structure: Built,
    calls: RefCell<Vec<Call>>,
}

enum Built {
    Counter(Box<dyn Counting<Sim>>),
    Barrier(Box<dyn Meeting<Sim>>),
}

impl Shared {
    /// Makes one call of processor `cpu`; `count` were before.
    fn call(&self, cpu: &SimCpu, count: usize) {
        let index = {
            let (processor, begin) = (cpu.id(), cpu.clock());
            let mut calls = self.calls.borrow_mut();
            calls.push(Call { processor, begin, end: None, value: count as u64 });
            calls.len() - 1
        };
        let value = match &self.structure {
            Built::Counter(counter) => counter.next_on(cpu),
            Built::Barrier(barrier) => {
                let met = barrier.meet_on(cpu, cpu.id(), count as u64, &WayOut::none());
                met.expect("without a way out no barrier breaks");
                count as u64
            }
        };
        let call = &mut self.calls.borrow_mut()[index];
        (call.value, call.end) = (value, Some(cpu.clock()));
    }
}

impl Recording {
    /// Runs what was chosen.
    ///
    /// # Errors
    /// If the structure or the machine cannot be built, or the structure panics or gets stuck.
    pub fn of(choice: &Choice) -> Result<Self, Error> {
        // Built once outside, so that a shape that is impossible is an error and not a panic.
        let build = |choice: &Choice| {
            Ok(match choice.structure {
                Structure::Counter(name) => Built::Counter(choice.build_counter(name)?),
                Structure::Barrier(name) => Built::Barrier(choice.build_barrier(name)?),
            })
        };
        build(choice).map(drop)?;
        let own = choice.clone();
        let setup = move || Shared {
            structure: build(&own).expect("it was built before"),
            calls: RefCell::default(),
        };
        let (structure, calls) = (choice.structure, choice.calls);
        let body = move |shared: &Shared, cpu: &SimCpu| {
            let stays = structure.changes_shape() && cpu.id() < STAYING;
            let is_barrier = matches!(structure, Structure::Barrier(_));
            let pause = if is_barrier { WORK_CYCLES } else { JITTER_CYCLES };
            for count in 0..if stays { 3 * calls } else { calls } {
                cpu.pause(cpu.random_below(pause) as u32);
                shared.call(cpu, count);
            }
        };
        let simulation = Simulation::new()
            .machine(choice.machine.spec.clone())
            .processors(choice.processors)
            .seed(choice.seed)
            .step_limit(MAX_STEPS)
            .record_trace(true);
        let failed = |what: String| Error::SimulatedRun {
            method: choice.structure.name(),
            machine: choice.machine.argument.clone(),
            processors: choice.processors,
            seed: choice.seed,
            what,
            replay: format!(
                "throng watch --{} {} --seed {} --processors {}",
                choice.structure.kind(),
                choice.structure.name(),
                choice.seed,
                choice.processors
            ),
        };
        let outcome = catching(|| simulation.run(setup, body))
            .map_err(failed)?
            .map_err(|source| Error::Simulation { source })?;
        match &outcome.end {
            End::Finished | End::StepLimit { .. } => Ok(Recording::read(choice, outcome)),
            end => Err(failed(end.to_string())),
        }
    }

    fn read(choice: &Choice, outcome: Outcome<Shared, ()>) -> Self {
        let calls = outcome.shared.calls.into_inner();
        let mut words: Vec<Word> = Vec::with_capacity(outcome.places.len());
        let mut parts = std::collections::HashMap::new();
        for place in outcome.places {
            let part = parts.entry((place.name, place.index)).or_insert(0);
            let home = match place.home {
                Home::Near(id) => Some(id),
                Home::Anywhere => None,
            };
            words.push(Word { name: place.name, index: place.index, part: *part, home });
            *part += 1;
        }
        let accesses = outcome.trace.unwrap_or_default().into_iter();
        let issued = outcome.issued.unwrap_or_default();
        let mut current = vec![None; choice.processors];
        let mut steps: Vec<Step> = Vec::with_capacity(issued.len());
        let mut next: Vec<Option<usize>> = Vec::with_capacity(issued.len());
        let mut last = vec![None; choice.processors];
        for (access, issued) in accesses.zip(issued) {
            let processor = access.processor;
            let is_its = |call: &Call| call.processor == processor && call.begin < access.time;
            let from = current[processor].unwrap_or(0);
            let mut later = calls[from..].iter().enumerate().filter(|(_, call)| is_its(call));
            let call = later.next_back().map_or(from, |(ahead, _)| from + ahead);
            current[processor] = Some(call);
            if let Some(before) = last[processor].replace(steps.len()) {
                next[before] = Some(steps.len());
            }
            steps.push(Step {
                time: access.time,
                issued,
                processor,
                word: access.word as usize,
                operation: access.operation,
                found: access.found,
                written: access.written,
                call,
            });
            next.push(None);
        }
        let is_cut = !matches!(outcome.end, End::Finished);
        Recording { choice: choice.clone(), words, steps, calls, is_cut, next }
    }

    /// Returns the number of the last step.
    pub fn last(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Returns the next step of the same processor.
    pub fn next_of(&self, step: usize) -> Option<usize> {
        self.next[step]
    }

    /// Returns whether `step` is the last of its call.
    pub fn ends_call(&self, step: usize) -> bool {
        let call = self.steps[step].call;
        self.calls[call].end.is_some()
            && self.next_of(step).is_none_or(|next| self.steps[next].call != call)
    }

    /// Returns the name of a word, as it is told in sentences.
    pub fn name_of(&self, word: usize) -> String {
        let Word { name, index, .. } = &self.words[word];
        index.map_or_else(|| (*name).to_owned(), |index| format!("{name} {index}"))
    }
}
