//! The engine: simulated time, the order of processors, and the effects of an access.
//!
//! Every processor has at most one event: the moment at which it continues. The processor with the
//! earliest event runs until it asks for time (an access, a pause), which moves its event. If it is
//! still the earliest it continues at once, otherwise another is resumed. All code between two
//! requests runs at one moment of simulated time. (A processor whose accesses all hit may run a
//! little ahead, `own_now`, as long as the memory says that no other can notice: `lookahead`.) This
//! file does not use coroutines: `turn.rs` suspends the processor whose turn is over,
//! `simulation.rs` resumes the one whose turn it is.

use throng::machine::Place;

use crate::faults::FaultPlan;
use crate::memory::{Kind, LineId, Memory, Request, Revoked, Step};
use crate::notes::Notes;
use crate::outcome::{End, Waiting};
use crate::queue::{EventQueue, TIME_END, Ties};
use crate::report::{MemoryReport, Traffic};
use crate::sleepers::Sleepers;
use crate::trace::{Access, Operation, Trace};

/// The phase of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The shared structure is being made.
    Setup,
    /// The processors run.
    Running,
    /// Processors that did not finish are unwinding.
    Ending,
}

/// The state of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Halted,
    Finished,
}

/// All state of a simulation, except the stacks of its processors.
pub(crate) struct Engine {
    /// Distinguishes the words of this simulation from those of others.
    pub(crate) run: u64,
    pub(crate) phase: Phase,
    pub(crate) faults: FaultPlan,
    /// The time up to which all accesses are done.
    now: u64,
    /// The processor that runs.
    current: usize,
    /// The time of that processor, which may be a little ahead.
    own_now: u64,
    /// The number of cycles that it may be ahead.
    lookahead: u64,
    /// The latest time of any processor.
    latest: u64,
    queue: EventQueue,
    sleepers: Sleepers,
    states: Vec<State>,
    memory: Box<dyn Memory>,
    /// For each processor the access for which the memory has asked to be called again.
    in_flight: Vec<Option<Flight>>,
    /// For each processor the time when it issued its last access.
    issued_at: Vec<u64>,
    /// Copies that the memory takes away. Non-empty only during a call.
    revoked: Revoked,
    /// The numbers of accesses issued, and completed.
    issued: u64,
    completed: u64,
    /// The place of each line.
    lines: Vec<Place>,
    /// Whether any of them holds addresses.
    has_addresses: bool,
    /// The line of each word and cell.
    words: Vec<LineId>,
    trace: Trace,
    notes: Notes,
    accesses: u64,
    steps: u64,
    step_limit: u64,
    /// Whether a processor wanted to continue after the end of simulated time.
    out_of_time: bool,
}

/// An access that is not complete.
#[derive(Clone, Copy, Debug)]
struct Flight {
    line: LineId,
    kind: Kind,
    issued_at: u64,
}

/// The report of a finished simulation.
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
        ties: Ties,
        step_limit: u64,
    ) -> Self {
        // Faults may happen at any moment, so each moment must be reached in turn.
        let lookahead = if faults.any() { 0 } else { memory.lookahead() };
        let mut queue = EventQueue::new(processors, ties);
        for id in 0..processors {
            queue.set(id, 0);
        }
        Engine {
            run,
            phase: Phase::Setup,
            faults,
            now: 0,
            own_now: 0,
            lookahead,
            latest: 0,
            current: 0,
            queue,
            sleepers: Sleepers::new(processors),
            states: vec![State::Active; processors],
            memory,
            in_flight: vec![None; processors],
            issued_at: vec![0; processors],
            revoked: Vec::new(),
            issued: 0,
            completed: 0,
            lines: Vec::new(),
            has_addresses: false,
            words: Vec::new(),
            trace,
            notes: Notes::default(),
            accesses: 0,
            steps: 0,
            step_limit,
            out_of_time: false,
        }
    }

    /// Returns the time of the processor that runs, in cycles.
    #[inline]
    pub(crate) fn own_now(&self) -> u64 {
        self.own_now
    }

    /// Returns the processor that runs.
    #[inline]
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Adds a line at `place`.
    pub(crate) fn add_line(&mut self, place: Place) -> LineId {
        self.has_addresses |= place.holds_addresses;
        self.lines.push(place);
        self.memory.add_line(place);
        self.sleepers.add_line();
        self.lines.len() as LineId - 1
    }

    /// Returns the number of a new word or cell on `line`.
    pub(crate) fn add_word(&mut self, line: LineId) -> u32 {
        self.words.push(line);
        self.words.len() as u32 - 1
    }

    /// Advances to the earliest event at which a processor continues, and returns that processor.
    /// Returns `None` when the simulation is over. Accesses in flight are advanced meanwhile.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        if self.over_the_limit() {
            return None;
        }
        loop {
            let (time, processor) = self.queue.first()?;
            self.now = time;
            match self.in_flight[processor].take() {
                Some(flight) => self.go_on_flying(processor, flight),
                None => {
                    self.current = processor;
                    self.own_now = time;
                    return Some(processor);
                }
            }
        }
    }

    /// Schedules the current processor at `time`, which is later than now. Returns whether it
    /// continues at once, because no other comes before it. If not, it must give up its turn.
    #[inline]
    pub(crate) fn go_on_at(&mut self, time: u64) -> bool {
        assert!(time > self.own_now, "time does not go back or stand still");
        if self.is_too_late(time) {
            return false;
        }
        self.queue.set(self.current, time);
        if !self.count_step() || self.queue.first() != Some((time, self.current)) {
            return false;
        }
        self.now = time;
        self.own_now = time;
        true
    }

    /// Returns whether `time` is beyond the end of simulated time, which ends the simulation.
    #[inline]
    fn is_too_late(&mut self, time: u64) -> bool {
        self.out_of_time |= time >= TIME_END - 1;
        self.out_of_time
    }

    /// Counts a step. Returns false if the limit is exceeded.
    #[inline]
    pub(crate) fn count_step(&mut self) -> bool {
        self.steps += 1;
        !self.over_the_limit()
    }

    #[inline]
    fn over_the_limit(&self) -> bool {
        self.steps > self.step_limit || self.out_of_time
    }

    /// Issues an access of the current processor. Returns whether it is complete at once, in
    /// simulated time, because no other processor comes before. If not, the processor must give up
    /// its turn.
    #[inline]
    pub(crate) fn begin_access(&mut self, line: LineId, kind: Kind) -> bool {
        self.issued += 1;
        let processor = self.current;
        self.issued_at[processor] = self.own_now;
        let request = Request { processor, line, kind };
        let step = self.memory.issue(request, self.own_now, &mut self.revoked);
        self.tell_revoked(line);
        match step {
            Step::Done(done) if done <= self.now + self.lookahead && self.count_step() => {
                self.own_now = done;
                true
            }
            Step::Done(done) => self.go_on_at(self.stretched(processor, self.own_now, done)),
            Step::Again(at) => {
                self.in_flight[processor] = Some(Flight { line, kind, issued_at: self.own_now });
                self.go_on_at(at);
                false
            }
            Step::Wait => {
                self.in_flight[processor] = Some(Flight { line, kind, issued_at: self.own_now });
                self.count_step();
                self.queue.clear(processor);
                false
            }
        }
    }

    /// Calls the memory again for an access in flight, and takes the next step of accesses that
    /// have waited for it.
    #[inline]
    fn go_on_flying(&mut self, processor: usize, flight: Flight) {
        let Flight { line, kind, .. } = flight;
        let request = Request { processor, line, kind };
        let step = self.memory.resume(request, self.now, &mut self.revoked);
        self.tell_revoked(line);
        self.fly(processor, flight, step);
        while let Some((processor, step)) = self.memory.next_served() {
            let flight = self.in_flight[processor].take().expect("it waits for this");
            self.fly(processor, flight, step);
        }
    }

    /// Takes the next step of an access in flight.
    #[inline]
    fn fly(&mut self, processor: usize, flight: Flight, step: Step) {
        let at = match step {
            Step::Done(done) => self.stretched(processor, flight.issued_at, done),
            Step::Again(at) => {
                self.in_flight[processor] = Some(flight);
                at
            }
            Step::Wait => unreachable!("an access waits when it is issued, and only then"),
        };
        assert!(at > self.now, "time does not go back or stand still");
        if !self.is_too_late(at) {
            self.queue.set(processor, at);
        }
    }

    /// Returns the time at which an access is complete that would be complete at `done` if its
    /// processor were not slowed down.
    #[inline]
    fn stretched(&self, processor: usize, issued_at: u64, done: u64) -> u64 {
        if !self.faults.any() {
            return done;
        }
        let cycles = self.faults.stretch(processor, done - issued_at);
        issued_at.saturating_add(cycles)
    }

    /// Wakes the processors that sleep on a copy of `line` that was taken away, at the time when
    /// they learn of it. That is later than any of them can have run ahead.
    #[inline]
    fn tell_revoked(&mut self, line: LineId) {
        if self.revoked.is_empty() {
            return;
        }
        for (processor, time) in self.revoked.drain(..) {
            let sooner = time < self.queue.time_of(processor);
            if self.sleepers.sleeps_on(processor, line) && sooner {
                self.sleepers.remove(processor);
                self.queue.set(processor, time.clamp(self.now, TIME_END - 2));
            }
        }
    }

    /// Returns the time until which the current processor has a copy of the line to look at, `None`
    /// if it has none.
    #[inline]
    pub(crate) fn copy_until(&self, line: LineId) -> Option<u64> {
        self.memory.copy_until(self.current, line, self.own_now)
    }

    /// Completes the access that the current processor began.
    #[inline]
    pub(crate) fn complete_access(&mut self) {
        self.completed += 1;
    }

    /// Lets an access of the current processor take effect: it is recorded, and a write wakes the
    /// processors that still sleep on the line. They continue now, and pay for a look.
    #[inline]
    pub(crate) fn take_effect(
        &mut self,
        word: u32,
        operation: Operation,
        found: u64,
        written: Option<u64>,
    ) {
        self.accesses += 1;
        let (found, written) = if self.has_addresses && self.holds_address(word) {
            (u64::from(found != 0), written.map(|value| u64::from(value != 0)))
        } else {
            (found, written)
        };
        let (time, processor) = (self.own_now, self.current);
        let access = Access { time, processor, word, operation, found, written };
        self.trace.add(access, self.issued_at[processor]);
        if written.is_some() {
            let line = self.words[word as usize];
            while let Some(sleeper) = self.sleepers.wake_one(line) {
                self.queue.set(sleeper, self.own_now);
            }
        }
    }

    #[cold]
    fn holds_address(&self, word: u32) -> bool {
        self.lines[self.words[word as usize] as usize].holds_addresses
    }

    /// Lets the current processor sleep until the line of `word` is written or the time is `until`.
    /// Returns whether it continues at once.
    pub(crate) fn sleep(&mut self, word: u32, until: Option<u64>) -> bool {
        self.sleepers.insert(self.current, self.words[word as usize], word);
        match until {
            Some(time) => self.go_on_at(time),
            None => {
                self.queue.clear(self.current);
                false
            }
        }
    }

    /// Ends the [`sleep`](Engine::sleep) of the current processor. Returns whether a write woke it;
    /// if not, its time has passed.
    pub(crate) fn wake(&mut self) -> bool {
        !self.sleepers.remove(self.current)
    }

    /// Records a note of an algorithm.
    pub(crate) fn note(&mut self, what: &'static str, value: u64) {
        self.notes.add(what, value, self.own_now);
    }

    /// Stops the current processor for ever.
    pub(crate) fn halt(&mut self) {
        self.leave(State::Halted);
    }

    /// Ends the current processor.
    pub(crate) fn finish(&mut self) {
        self.leave(State::Finished);
    }

    fn leave(&mut self, state: State) {
        self.states[self.current] = state;
        self.latest = self.latest.max(self.own_now);
        self.queue.clear(self.current);
    }

    /// Returns the report.
    pub(crate) fn into_report(self) -> Report {
        Report {
            end: self.end(),
            halted: self.those(State::Halted).collect(),
            cycles: self.now.max(self.latest),
            accesses: self.accesses,
            steps: self.steps,
            places: self.words.iter().map(|&line| self.lines[line as usize]).collect(),
            memory: self.memory_report(),
            trace: self.trace,
            notes: self.notes,
        }
    }

    /// Returns the counts of the memory.
    pub(crate) fn memory_report(&self) -> MemoryReport {
        let traffic =
            |(line, &place): (usize, &Place)| (place, self.memory.traffic(line as LineId));
        let lines: Vec<_> = self.lines.iter().enumerate().map(traffic).collect();
        let mut total = Traffic::default();
        lines.iter().for_each(|&(_, line)| total += line);
        MemoryReport { total, messages: self.memory.messages(), lines }
    }

    /// Counts everything again: no access and no copy may have been lost or made up.
    ///
    /// # Panics
    /// If the simulator has lost count. Then its results cannot be trusted.
    pub(crate) fn check_conservation(&self) {
        self.memory.check_conservation();
        let served = self.memory_report().total.accesses();
        assert_eq!(self.issued, served, "accesses issued against hits and misses");
        if !self.over_the_limit() {
            assert_eq!(self.issued, self.completed, "accesses issued against completed");
        }
    }

    fn end(&self) -> End {
        let unfinished = self.those(State::Active).count();
        if self.out_of_time {
            return End::TimeLimit { unfinished };
        }
        if self.over_the_limit() {
            return End::StepLimit { limit: self.step_limit, unfinished };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Faults;
    use crate::memory::{self, Lines};
    use crate::spec::MachineSpec;

    /// A memory that forgets its requests.
    struct Forgetful(Box<dyn Memory>);

    impl Memory for Forgetful {
        fn lines(&self) -> &Lines {
            self.0.lines()
        }

        fn lines_mut(&mut self) -> &mut Lines {
            self.0.lines_mut()
        }

        fn issue(&mut self, request: Request, now: u64, revoked: &mut Revoked) -> Step {
            self.0.issue(request, now, revoked)
        }

        fn messages(&self) -> u64 {
            self.0.messages()
        }

        fn traffic(&self, _line: LineId) -> Traffic {
            Traffic::default()
        }
    }

    /// Returns an engine in which processor 0 of two has issued an access.
    fn engine(wrap: impl FnOnce(Box<dyn Memory>) -> Box<dyn Memory>) -> Engine {
        let memory = wrap(memory::build(&MachineSpec::ideal(10), 2, 2));
        let mut engine = Engine::new(
            1,
            memory,
            Faults::none().plan(2, 0),
            Trace::new(false),
            2,
            Ties::ById,
            100,
        );
        let line = engine.add_line(Place::named("line"));
        engine.begin_access(line, Kind::Write);
        engine
    }

    #[test]
    fn what_is_right_is_not_complained_about() {
        let mut engine = engine(|memory| memory);
        engine.complete_access();
        engine.check_conservation();
    }

    #[test]
    #[should_panic(expected = "accesses issued against completed")]
    fn an_access_that_is_never_complete_is_missed() {
        engine(|memory| memory).check_conservation();
    }

    #[test]
    #[should_panic(expected = "accesses issued against hits and misses")]
    fn an_access_that_the_memory_forgot_is_missed() {
        let mut engine = engine(|memory| Box::new(Forgetful(memory)));
        engine.complete_access();
        engine.check_conservation();
    }
}
