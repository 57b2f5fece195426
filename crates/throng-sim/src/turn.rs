//! How an operation on a word reaches the engine, and how a processor gives up its turn.
//!
//! Operations on words do not name their processor. So the engine of the simulation that this
//! thread runs is kept in a thread-local. The engine is borrowed while an operation uses it, and
//! never while a processor is suspended or any code of the user runs.
//!
//! | where the operation happens | what it does |
//! |---|---|
//! | on a processor | costs time, is recorded, wakes sleepers |
//! | on a processor that unwinds from a panic | costs no time, is recorded, wakes sleepers |
//! | before or after the run, or without any simulation | changes the word |
//! | on a processor that unwinds because the run is over | changes the word |
//! | there, but the body has caught the unwinding | unwinds again |
//!
//! A processor that unwinds must not be suspended: the runtime counts the panics of the thread, and
//! the other processors would seem to be panicking too.

use std::cell::{RefCell, RefMut};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread::panicking;

use throng::machine::Place;

use crate::coroutine;
use crate::engine::{Engine, Phase};
use crate::error::SimError;
use crate::faults::Before;
use crate::memory::{Kind, LineId};
use crate::report::MemoryReport;
use crate::trace::Operation;

type Slot = RefCell<Option<Engine>>;

thread_local! {
    /// The simulation that this thread runs.
    static ENGINE: Slot = const { RefCell::new(None) };
}

/// Makes `engine` the simulation of this thread, until the installation is dropped.
pub(crate) fn install(engine: Engine) -> Result<Installed, SimError> {
    ENGINE.with_borrow_mut(|slot| {
        if slot.is_some() {
            return Err(SimError::AlreadyRunning);
        }
        *slot = Some(engine);
        Ok(Installed(()))
    })
}

/// The simulation of this thread.
pub(crate) struct Installed(());

impl Installed {
    /// Calls `f` with the engine.
    #[inline]
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut Engine) -> T) -> T {
        ENGINE.with_borrow_mut(|slot| f(slot.as_mut().expect("installed until dropped")))
    }

    /// Takes the engine out again.
    pub(crate) fn take(self) -> Engine {
        ENGINE.take().expect("installed until dropped")
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        ENGINE.take();
    }
}

/// The number of words made without a simulation. No run has it.
const NO_RUN: u64 = 0;

/// Returns a number that no other run in this process has.
pub(crate) fn new_run() -> u64 {
    static RUNS: AtomicU64 = AtomicU64::new(NO_RUN);
    RUNS.fetch_add(1, Relaxed) + 1
}

/// A line of a simulation's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineAddress {
    run: u64,
    line: LineId,
}

impl LineAddress {
    /// Returns a new line.
    pub(crate) fn new(place: Place) -> Self {
        Self::in_simulation(|engine| LineAddress { run: engine.run, line: engine.add_line(place) })
            .unwrap_or(LineAddress { run: NO_RUN, line: LineId::MAX })
    }

    /// Returns the address of a new word or cell on this line.
    pub(crate) fn new_word(self) -> Address {
        let word = Self::in_simulation(|engine| {
            (engine.run == self.run).then(|| engine.add_word(self.line))
        });
        match word.flatten() {
            Some(word) => Address { line: self, word },
            None => Address { line: LineAddress { run: NO_RUN, ..self }, word: u32::MAX },
        }
    }

    fn in_simulation<T>(f: impl FnOnce(&mut Engine) -> T) -> Option<T> {
        ENGINE.with_borrow_mut(|slot| match slot {
            Some(engine) if engine.phase != Phase::Ending => Some(f(engine)),
            _ => None,
        })
    }
}

/// The address of a word or cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    line: LineAddress,
    word: u32,
}

/// A processor's turn: the engine, borrowed for it.
struct Turn<'a> {
    slot: &'a Slot,
    engine: RefMut<'a, Engine>,
}

/// The place of an operation; see the table above.
enum Where<'a> {
    OnProcessor(Turn<'a>),
    InPanic(Turn<'a>),
    Outside,
}

impl<'a> Turn<'a> {
    #[inline]
    fn borrow(slot: &'a Slot) -> Option<Self> {
        let engine = RefMut::filter_map(slot.borrow_mut(), Option::as_mut).ok()?;
        Some(Turn { slot, engine })
    }

    /// Lets time pass until `time`.
    #[inline]
    fn advance_to(mut self, time: u64) -> Self {
        if self.engine.go_on_at(time) { self } else { self.give_up() }
    }

    /// Lets others run until the engine resumes this processor.
    #[inline]
    fn give_up(self) -> Self {
        let slot = self.slot;
        drop(self);
        coroutine::suspend();
        Turn::borrow(slot).expect("only a simulation resumes a processor")
    }

    /// Stops for ever.
    fn halt(mut self) -> ! {
        self.engine.halt();
        self.give_up();
        unreachable!("a halted processor is never resumed");
    }

    /// Issues an access and waits until it is complete.
    #[inline]
    fn access(mut self, at: &Address, kind: Kind) -> Self {
        self.engine.check_run(at);
        if self.engine.faults.any() {
            self = self.meet_faults();
        }
        let mut turn =
            if self.engine.begin_access(at.line.line, kind) { self } else { self.give_up() };
        turn.engine.complete_access();
        turn
    }

    #[cold]
    fn meet_faults(mut self) -> Self {
        let (processor, now) = (self.engine.current(), self.engine.own_now());
        match self.engine.faults.before_access(processor, now) {
            Before::Halt => self.halt(),
            Before::Idle(0) => self,
            Before::Idle(cycles) => self.advance_to(now.saturating_add(cycles)),
        }
    }

    /// Returns the time of a pause of `cycles` cycles. It is longer if the processor is slow, or if
    /// it is preempted before.
    fn pause_cycles(&mut self, cycles: u64) -> u64 {
        let engine = &mut *self.engine;
        if !engine.faults.any() {
            return cycles;
        }
        let (processor, now) = (engine.current(), engine.own_now());
        let slow = engine.faults.stretch(processor, cycles);
        engine.faults.before_pause(processor, now).saturating_add(slow)
    }

    /// Ends the access.
    #[inline]
    fn leave(self) {
        let engine = &self.engine;
        if engine.faults.any() && engine.faults.halts_after_access(engine.current()) {
            self.halt();
        }
    }
}

impl Engine {
    #[inline]
    fn check_run(&self, at: &Address) {
        assert!(
            at.line.run == self.run,
            "a word was used in a simulation that it was not made in: make it in the setup or in \
             the body"
        );
    }
}

impl<'a> Where<'a> {
    #[inline]
    fn find(slot: &'a Slot) -> Self {
        let Some(turn) = Turn::borrow(slot) else {
            return Where::Outside;
        };
        match (turn.engine.phase, panicking()) {
            (Phase::Running, false) => Where::OnProcessor(turn),
            (Phase::Running, true) => Where::InPanic(turn),
            (Phase::Setup, _) | (Phase::Ending, true) => Where::Outside,
            (Phase::Ending, false) => {
                turn.give_up();
                unreachable!("a processor is not resumed after the end");
            }
        }
    }
}

/// Makes an access. `change` gets the value found, and returns the value to write, if any. Returns
/// the value found.
#[inline]
pub(crate) fn access(
    at: &Address,
    operation: Operation,
    value: &AtomicU64,
    change: impl FnOnce(u64) -> Option<u64>,
) -> u64 {
    let act = || {
        let found = value.load(Relaxed);
        let written = change(found);
        if let Some(new) = written {
            value.store(new, Relaxed);
        }
        (found, written)
    };
    ENGINE.with(|slot| match Where::find(slot) {
        Where::OnProcessor(turn) => {
            let mut turn = turn.access(at, operation.kind());
            let (found, written) = act();
            turn.engine.take_effect(at.word, operation, found, written);
            turn.leave();
            found
        }
        Where::InPanic(mut turn) => {
            let (found, written) = act();
            if at.line.run == turn.engine.run {
                turn.engine.take_effect(at.word, operation, found, written);
            }
            found
        }
        Where::Outside => act().0,
    })
}

/// Makes an access to a cell, which has no value that the engine could see.
pub(crate) fn access_cell(at: &Address) {
    access(at, Operation::Cell, &AtomicU64::new(0), |_| None);
}

impl Operation {
    #[inline]
    fn kind(self) -> Kind {
        match self {
            Operation::Load => Kind::Read,
            Operation::Store | Operation::Cell => Kind::Write,
            Operation::Swap | Operation::CompareExchange => Kind::Exchange,
            Operation::FetchAdd
            | Operation::FetchSub
            | Operation::FetchOr
            | Operation::FetchAnd => Kind::FetchOp,
        }
    }
}

/// The result of a [`sleep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slept {
    /// The line was written, the copy is gone, or the word has another value than was seen.
    Woken,
    /// The processor has no copy to look at: this machine has none, or it has been taken away
    /// already.
    NoCopy,
    /// The time passed.
    TimedOut,
    /// Only running processors that are not unwinding may sleep.
    NotAllowed,
}

/// Sleeps until the word, in which the processor saw `seen`, is written, or until a time, which may
/// have passed already.
pub(crate) fn sleep(at: &Address, value: &AtomicU64, seen: u64, until: Option<u64>) -> Slept {
    ENGINE.with(|slot| {
        let Where::OnProcessor(mut turn) = Where::find(slot) else {
            return Slept::NotAllowed;
        };
        // Time may have passed since it was seen: the code that judged it may have made accesses.
        if value.load(Relaxed) != seen {
            return Slept::Woken;
        }
        if until.is_some_and(|until| until <= turn.engine.own_now()) {
            return Slept::TimedOut;
        }
        let Some(copy_until) = turn.engine.copy_until(at.line.line) else {
            return Slept::NoCopy;
        };
        // A copy that stays has no end. Of one that is leaving the processor is told at its end.
        let leaves_at = (copy_until < u64::MAX).then_some(copy_until);
        let first = [until, leaves_at].into_iter().flatten().min();
        if !turn.engine.sleep(at.word, first) {
            turn = turn.give_up();
        }
        let woken = turn.engine.wake();
        if woken || until.is_none_or(|until| turn.engine.own_now() < until) {
            Slept::Woken
        } else {
            Slept::TimedOut
        }
    })
}

/// Lets `cycles` pass. Returns whether it could: outside, there is no time.
pub(crate) fn pass(cycles: u64) -> bool {
    ENGINE.with(|slot| match Where::find(slot) {
        Where::OnProcessor(mut turn) => {
            if cycles > 0 {
                let until = turn.engine.own_now().saturating_add(turn.pause_cycles(cycles));
                turn.advance_to(until);
            }
            true
        }
        Where::InPanic(_) => true,
        Where::Outside => false,
    })
}

/// Returns the time; 0 without a simulation.
pub(crate) fn now() -> u64 {
    ENGINE.with_borrow(|slot| slot.as_ref().map_or(0, Engine::own_now))
}

/// Returns the counts of the memory so far; none without a simulation.
pub(crate) fn memory_so_far() -> MemoryReport {
    ENGINE.with_borrow(|slot| slot.as_ref().map(Engine::memory_report).unwrap_or_default())
}

/// Returns the result of `look`, which runs as operations do before the run.
pub(crate) fn aside<T>(look: impl FnOnce() -> T) -> T {
    /// Restores the phase, however `look` ends.
    struct Back(Option<Phase>);
    impl Drop for Back {
        fn drop(&mut self) {
            swap_phase(self.0);
        }
    }
    let _back = Back(swap_phase(Some(Phase::Setup)));
    look()
}

/// Sets the phase of the simulation of this thread, if there is one. Returns the phase before.
fn swap_phase(phase: Option<Phase>) -> Option<Phase> {
    ENGINE.with_borrow_mut(|slot| {
        let (engine, phase) = (slot.as_mut()?, phase?);
        Some(mem::replace(&mut engine.phase, phase))
    })
}

/// Records a note of an algorithm. Only notes made while processors run are recorded.
pub(crate) fn note(what: &'static str, value: u64) {
    ENGINE.with_borrow_mut(|slot| {
        if let Some(engine) = slot
            && engine.phase == Phase::Running
        {
            engine.note(what, value);
        }
    });
}

/// Counts a step that takes no time. So a processor that only reads a clock that stands still comes
/// to an end, too.
pub(crate) fn step() {
    ENGINE.with(|slot| {
        if let Where::OnProcessor(mut turn) = Where::find(slot)
            && !turn.engine.count_step()
        {
            turn.give_up();
        }
    });
}
