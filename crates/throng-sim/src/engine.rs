//! The engine: simulated time, who is next, and what an access leaves behind.
//!
//! Every processor has at most one event: the moment it goes on. The processor with the earliest
//! event runs until it asks for time (an access, a pause), which moves its event; if it is still
//! the earliest it simply runs on, else another is resumed. All code between two requests runs at
//! one moment of simulated time. This file knows nothing of coroutines: `turn.rs` suspends the
//! processor whose turn is over, `simulation.rs` resumes the one whose turn it is.

use throng::machine::Place;

use crate::faults::FaultPlan;
use crate::memory::{Kind, LineId, Memory};
use crate::notes::Notes;
use crate::outcome::{End, Waiting};
use crate::queue::{EventQueue, TIME_END};
use crate::report::MemoryReport;
use crate::sleepers::Sleepers;
use crate::trace::{Access, Operation, Trace};

/// What a simulation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The shared structure is being made.
    Setup,
    /// The processors run.
    Running,
    /// Processors that did not finish are unwinding.
    Ending,
}

/// How a processor stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Halted,
    Finished,
}

/// All state of a simulation, except the stacks of its processors.
pub(crate) struct Engine {
    /// Tells the words of this simulation from those of others.
    pub(crate) run: u64,
    pub(crate) phase: Phase,
    pub(crate) faults: FaultPlan,
    now: u64,
    /// The processor that runs.
    current: usize,
    queue: EventQueue,
    sleepers: Sleepers,
    states: Vec<State>,
    memory: Box<dyn Memory>,
    /// The place of each line.
    lines: Vec<Place>,
    /// The line of each word and cell.
    words: Vec<LineId>,
    trace: Trace,
    notes: Notes,
    accesses: u64,
    steps: u64,
    step_limit: u64,
}

/// What there is to tell when all is over.
pub(crate) struct Report {
    pub(crate) end: End,
    pub(crate) halted: Vec<usize>,
    pub(crate) cycles: u64,
    pub(crate) accesses: u64,
    pub(crate) steps: u64,
    pub(crate) trace: Trace,
    pub(crate) notes: Notes,
    pub(crate) memory: MemoryReport,
    pub(crate) places: Vec<Place>,
}

impl Engine {
    pub(crate) fn new(
        run: u64,
        memory: Box<dyn Memory>,
        faults: FaultPlan,
        trace: Trace,
        processors: usize,
        step_limit: u64,
    ) -> Self {
        let mut queue = EventQueue::new(processors);
        for id in 0..processors {
            queue.set(id, 0);
        }
        Engine {
            run,
            phase: Phase::Setup,
            faults,
            now: 0,
            current: 0,
            queue,
            sleepers: Sleepers::new(processors),
            states: vec![State::Active; processors],
            memory,
            lines: Vec::new(),
            words: Vec::new(),
            trace,
            notes: Notes::default(),
            accesses: 0,
            steps: 0,
            step_limit,
        }
    }

    /// The time, in cycles.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The processor that runs.
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Sets aside a line.
    pub(crate) fn add_line(&mut self, place: Place) -> LineId {
        self.lines.push(place);
        self.memory.add_line(place);
        self.lines.len() as LineId - 1
    }

    /// Numbers a word or cell on `line`.
    pub(crate) fn add_word(&mut self, line: LineId) -> u32 {
        self.words.push(line);
        self.sleepers.add_word();
        self.words.len() as u32 - 1
    }

    /// Goes to the earliest event; returns whose it is, or `None` when it is all over.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        if self.over_the_limit() {
            return None;
        }
        let (time, processor) = self.queue.first()?;
        self.now = time;
        self.current = processor;
        Some(processor)
    }

    /// The current processor goes on at `time`, which is later than now. Tells whether it goes on
    /// at once, because nobody comes before it; if not, it has to give up its turn.
    #[inline]
    pub(crate) fn go_on_at(&mut self, time: u64) -> bool {
        debug_assert!(time > self.now, "time does not go back or stand still");
        assert!(time < TIME_END - 1, "simulated time ran past {TIME_END} cycles");
        self.queue.set(self.current, time);
        if !self.count_step() || self.queue.first() != Some((time, self.current)) {
            return false;
        }
        self.now = time;
        true
    }

    /// Counts a step; false if it is one too many.
    #[inline]
    pub(crate) fn count_step(&mut self) -> bool {
        self.steps += 1;
        !self.over_the_limit()
    }

    #[inline]
    fn over_the_limit(&self) -> bool {
        self.steps > self.step_limit
    }

    /// When an access that the current processor issues now will be complete.
    #[inline]
    pub(crate) fn serve(&mut self, line: LineId, kind: Kind) -> u64 {
        let done = self.memory.serve(self.current, line, kind, self.now);
        if self.faults.any() {
            let cycles = self.faults.stretch(self.current, done - self.now);
            return self.now.saturating_add(cycles);
        }
        done
    }

    /// An access of the current processor takes effect: it is recorded, and a write wakes those
    /// who sleep on the word. They go on now, and pay for a look.
    #[inline]
    pub(crate) fn take_effect(
        &mut self,
        word: u32,
        operation: Operation,
        found: u64,
        written: Option<u64>,
    ) {
        self.accesses += 1;
        self.trace.add(Access {
            time: self.now,
            processor: self.current,
            word,
            operation,
            found,
            written,
        });
        if written.is_some() {
            while let Some(sleeper) = self.sleepers.wake_one(word) {
                self.queue.set(sleeper, self.now);
            }
        }
    }

    /// The current processor sleeps until `word` is written or the time is `until`. Tells whether
    /// it goes on at once.
    pub(crate) fn sleep(&mut self, word: u32, until: Option<u64>) -> bool {
        self.sleepers.insert(self.current, word);
        match until {
            Some(time) => self.go_on_at(time),
            None => {
                self.queue.clear(self.current);
                false
            }
        }
    }

    /// The current processor goes on after [`sleep`](Engine::sleep). Tells whether a write woke
    /// it; if not, its time has passed.
    pub(crate) fn wake(&mut self) -> bool {
        !self.sleepers.remove(self.current)
    }

    /// An algorithm tells something.
    pub(crate) fn note(&mut self, what: &'static str, value: u64) {
        self.notes.add(what, value, self.now);
    }

    /// The current processor never goes on.
    pub(crate) fn halt(&mut self) {
        self.leave(State::Halted);
    }

    /// The current processor has come to its end.
    pub(crate) fn finish(&mut self) {
        self.leave(State::Finished);
    }

    fn leave(&mut self, state: State) {
        self.states[self.current] = state;
        self.queue.clear(self.current);
    }

    /// What there is to tell.
    pub(crate) fn into_report(self) -> Report {
        Report {
            end: self.end(),
            halted: self.those(State::Halted).collect(),
            cycles: self.now,
            accesses: self.accesses,
            steps: self.steps,
            places: self.words.iter().map(|&line| self.lines[line as usize]).collect(),
            trace: self.trace,
            notes: self.notes,
            memory: MemoryReport::default(),
        }
    }

    fn end(&self) -> End {
        if self.over_the_limit() {
            return End::StepLimit {
                limit: self.step_limit,
                unfinished: self.those(State::Active).count(),
            };
        }
        let waiting: Vec<_> =
            self.those(State::Active).filter_map(|processor| self.waiting(processor)).collect();
        if waiting.is_empty() { End::Finished } else { End::Stuck { waiting } }
    }

    fn waiting(&self, processor: usize) -> Option<Waiting> {
        let word = self.sleepers.word_of(processor)?;
        let line = self.words[word as usize];
        Some(Waiting { processor, word, place: self.lines[line as usize] })
    }

    fn those(&self, state: State) -> impl Iterator<Item = usize> {
        let ids = 0..self.states.len();
        ids.filter(move |&id| self.states[id] == state)
    }
}
