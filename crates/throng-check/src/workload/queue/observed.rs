//! Queues and pools with a recorder.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};
use std::sync::{Arc, OnceLock};

use throng::machine::{Cpu, Line, Machine, Place, WayOut, Word};
use throng::structures::pool::{PopError, PushError};

use super::{AnyStore, Kind, Step};
use crate::history::{Answer, Asked, Journal, Request};
use crate::spec::queue::{Breach, Order, Promises, check_conservation, check_queue};
use crate::workload::{Ledger, Parcel};

/// A queue or a pool with a recorder.
///
/// ```
/// use throng::machine::Native;
/// use throng_check::workload::{ObservedQueue, Step, kinds};
///
/// let observed = ObservedQueue::ticking(&kinds::<Native>()[0], Some(2), 2, 1);
/// observed.perform(&Native::cpu(), 0, &[Step::TryPush, Step::Push, Step::TryPush, Step::TryPop]);
/// assert_eq!(observed.requests().len(), 4);
/// observed.settle(&Native::cpu());
/// ```
pub struct ObservedQueue<M: Machine> {
    kind: Kind<M>,
    promises: Promises,
    store: AnyStore<M>,
    journal: Journal,
    ledger: Arc<Ledger>,
    visibility: Visibility,
    /// The number of requests that have begun or ended, if processors learn of each other's
    /// requests by it.
    events: Line<M::Word>,
    /// The number of producers that have pushed all their items. Not part of the machine.
    produced: AtomicUsize,
    /// An item that was pushed, and another item that came back instead of it.
    swapped: OnceLock<(u64, u64)>,
}

/// How a processor that begins a request learns of the requests that were over by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    /// By a word that each request changes.
    ByWord,
    /// By fences at each start and each end.
    ByFences,
    /// By time: on real machines, requests that are over are visible.
    ByTime,
    /// Not at all.
    Nothing,
}

impl<M: Machine> ObservedQueue<M> {
    /// Returns a new store for `processors` processors, in a world where one of them runs at a
    /// time.
    ///
    /// In worlds with weak memory a processor may not know of requests that were over before. So a
    /// processor that begins a request learns of them by fences. Otherwise "empty" could be
    /// outdated, and yet correct.
    #[must_use]
    pub fn ticking(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::ticking(processors + 1), Visibility::ByFences)
    }

    /// Like [`ticking`](Self::ticking), but processors learn by a word of the machine that each
    /// request changes when it begins and when it ends. So the order of requests is a part of the
    /// world's schedule. loom leaves out schedules that make no difference to words. Without this
    /// word it would leave out orders that make a difference to the checks.
    #[must_use]
    pub fn scheduled(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::timed(processors + 1), Visibility::ByWord)
    }

    /// Like [`ticking`](Self::ticking), but processors learn nothing of each other's requests. Only
    /// conservation is judged.
    #[must_use]
    pub fn unsynchronized(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::ticking(processors + 1), Visibility::Nothing)
    }

    /// Returns a new store for `processors` processors, in a world with a clock.
    #[must_use]
    pub fn timed(kind: &Kind<M>, capacity: Option<usize>, block: usize, processors: usize) -> Self {
        Self::new(kind, capacity, block, Journal::timed(processors + 1), Visibility::ByTime)
    }

    /// The journal has one page more than there are processors, for the processor that empties the
    /// store at the end.
    fn new(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        journal: Journal,
        visibility: Visibility,
    ) -> Self {
        let capacity = capacity.filter(|_| kind.can.be_bounded);
        ObservedQueue {
            kind: *kind,
            promises: Promises { order: kind.order, capacity, fullness: kind.fullness },
            store: (kind.build)(capacity, block),
            ledger: Ledger::for_makers(journal.processors()),
            journal,
            visibility,
            events: Line::word::<M>(0, Place::named("events")),
            produced: AtomicUsize::new(0),
            swapped: OnceLock::new(),
        }
    }

    /// Makes processor `cpu`, which is recorded as `by`, do these steps.
    pub fn perform(&self, cpu: &M::Cpu, by: usize, steps: &[Step]) {
        for &step in steps {
            self.step(cpu, by, step);
        }
    }

    /// Makes processor `by` do its part of a run. The first `producers` processors push `each`
    /// items, and the last of them to finish closes the store; the others pop until it is
    /// closed and empty. If it cannot be closed, they pop equal shares.
    pub fn share(&self, cpu: &M::Cpu, by: usize, producers: usize, each: usize) {
        let consumers = self.journal.processors() - 1 - producers;
        if by < producers {
            self.perform(cpu, by, &vec![Step::Push; each]);
            let is_last = self.produced.fetch_add(1, SeqCst) + 1 == producers;
            if is_last && self.kind.can.be_closed {
                self.step(cpu, by, Step::Close);
            }
        } else if self.kind.can.be_closed {
            self.step(cpu, by, Step::PopAll);
        } else {
            let share = producers * each / consumers;
            assert_eq!(share * consumers, producers * each, "shares are alike");
            self.perform(cpu, by, &vec![Step::Pop; share]);
        }
    }

    /// Does one step. Returns the answer to its last request.
    pub fn step(&self, cpu: &M::Cpu, by: usize, step: Step) -> Option<Answer> {
        let store = &*self.store;
        let until = |patience| WayOut::within(cpu, patience);
        let answer = match step {
            Step::TryPush => self.push(cpu, by, |item| store.try_push_on(cpu, item)),
            Step::Push => self.push(cpu, by, |item| store.push_on(cpu, item, &WayOut::none())),
            Step::PushFor(patience) => {
                self.push(cpu, by, |item| store.push_on(cpu, item, &until(patience)))
            }
            Step::TryPop => self.pop(cpu, by, || store.try_pop_on(cpu)),
            Step::TryPopMany(most) => self.pop_many(cpu, by, most),
            Step::Pop => self.pop(cpu, by, || store.pop_on(cpu, &WayOut::none())),
            Step::PopFor(patience) => self.pop(cpu, by, || store.pop_on(cpu, &until(patience))),
            Step::PopAll => loop {
                let answer = self.pop(cpu, by, || store.pop_on(cpu, &WayOut::none()));
                // "Empty" without a way out happens only when the world is taken apart.
                if !matches!(answer, Answer::Item(_)) {
                    break answer;
                }
            },
            Step::Close => {
                let close = || Answer::Shut { first: store.close_on(cpu) };
                self.request(cpu, by, Asked::Close, close)
            }
            Step::Pause(times) => {
                cpu.pause(times);
                return None;
            }
        };
        Some(answer)
    }

    fn request(
        &self,
        cpu: &M::Cpu,
        by: usize,
        asked: Asked,
        request: impl FnOnce() -> Answer,
    ) -> Answer {
        self.request_many(cpu, by, asked, || vec![request()])[0]
    }

    fn request_many(
        &self,
        cpu: &M::Cpu,
        by: usize,
        asked: Asked,
        request: impl FnOnce() -> Vec<Answer>,
    ) -> Vec<Answer> {
        let tell = || {
            if self.visibility == Visibility::ByFences {
                M::fence(SeqCst);
            }
        };
        let clock = || match self.visibility {
            Visibility::ByWord => self.events.fetch_add(1, AcqRel),
            _ => cpu.clock(),
        };
        self.journal.request_many(by, asked, clock, || {
            tell();
            let answers = request();
            tell();
            answers
        })
    }

    fn push(
        &self,
        cpu: &M::Cpu,
        by: usize,
        push: impl FnOnce(Parcel) -> Result<(), PushError<Parcel>>,
    ) -> Answer {
        let parcel = self.ledger.parcel(by);
        let number = parcel.number();
        let mut back = None;
        let answer = self.request(cpu, by, Asked::Push(number), || {
            let Err(error) = push(parcel) else { return Answer::Taken };
            let answer = if error.is_full() { Answer::Full } else { Answer::Closed };
            back = Some(error.into_inner());
            answer
        });
        if let Some(back) = back.map(|back| back.number()).filter(|&back| back != number) {
            // Not a panic: some worlds cannot take a panicking processor apart.
            self.swapped.get_or_init(|| (number, back));
        }
        answer
    }

    fn pop(
        &self,
        cpu: &M::Cpu,
        by: usize,
        pop: impl FnOnce() -> Result<Parcel, PopError>,
    ) -> Answer {
        let mut item = None;
        self.request(cpu, by, Asked::Pop, || match pop() {
            Ok(parcel) => Answer::Item(item.insert(parcel).number()),
            Err(PopError::Empty) => Answer::Empty,
            Err(PopError::Closed) => Answer::Closed,
        })
    }

    /// Pops up to `most` items at once. Returns the last answer.
    fn pop_many(&self, cpu: &M::Cpu, by: usize, most: usize) -> Answer {
        let mut items = Vec::new();
        let answers = self.request_many(cpu, by, Asked::Pop, || {
            match self.store.try_pop_many_on(cpu, &mut items, most) {
                Ok(_) => items.iter().map(|item| Answer::Item(item.number())).collect(),
                Err(PopError::Empty) => vec![Answer::Empty],
                Err(PopError::Closed) => vec![Answer::Closed],
            }
        });
        answers[answers.len() - 1]
    }

    /// Returns the requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.journal.requests()
    }

    /// Returns whether it kept its promises. `settled`: all items inside were popped.
    fn verdict(&self, settled: bool) -> Result<(), Breach> {
        match self.visibility {
            Visibility::Nothing => check_conservation(&self.requests(), settled),
            _ => check_queue(&self.promises, &self.requests(), settled),
        }
    }

    /// Pops all items inside, one after another, by `try_` calls.
    fn empty(&self, cpu: &M::Cpu) {
        let by = self.journal.processors() - 1;
        // It may be allowed to answer "empty" when it is not, but not for ever.
        let vain_most = match self.promises.order {
            Order::Fifo | Order::Unordered => 1,
            Order::Any => 100,
        };
        let mut vain = 0;
        while vain < vain_most {
            match self.step(cpu, by, Step::TryPop) {
                Some(Answer::Item(_)) => vain = 0,
                _ => vain += 1,
            }
        }
    }

    /// Empties it and checks that it kept its promises. Drops it and checks that every item was
    /// dropped once.
    ///
    /// # Panics
    /// If it broke a promise, naming both.
    pub fn settle(self, cpu: &M::Cpu) {
        self.settle_after_deaths(cpu, 0, "");
    }

    /// Like [`settle`](ObservedQueue::settle), but `killed` processors were stopped for ever. Each
    /// of them may hold an item that is never dropped. Adds `known` to the message of a panic.
    ///
    /// # Panics
    /// Like [`settle`](ObservedQueue::settle).
    pub fn settle_after_deaths(self, cpu: &M::Cpu, killed: usize, known: &str) {
        self.empty(cpu);
        let verdict = self.verdict(true);
        self.end(verdict, killed, known);
    }

    /// Checks that it kept its promises. Drops it with all items inside and checks that every item
    /// was dropped once, except for those that `killed` processors may have held. Adds `known` to
    /// the message of a panic.
    ///
    /// # Panics
    /// Like [`settle`](ObservedQueue::settle).
    pub fn abandon(self, killed: usize, known: &str) {
        let verdict = self.verdict(false);
        self.end(verdict, killed, known);
    }

    fn end(self, verdict: Result<(), Breach>, killed: usize, known: &str) {
        let ObservedQueue { kind, store, ledger, swapped, .. } = self;
        drop(store);
        let verdict = match swapped.get() {
            Some((item, back)) => Err(format!("gave item {back:#x} back instead of {item:#x}")),
            None => verdict.map_err(|breach| breach.to_string()),
        };
        let verdict =
            verdict.and_then(|()| ledger.check(killed).map_err(|wrong| wrong.to_string()));
        if let Err(violation) = verdict {
            panic!("{} broke its promise: {violation}\n{known}", kind.name);
        }
    }
}

impl<M: Machine> std::fmt::Debug for ObservedQueue<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObservedQueue")
            .field("kind", &self.kind)
            .field("promises", &self.promises)
            .field("journal", &self.journal)
            .finish_non_exhaustive()
    }
}
