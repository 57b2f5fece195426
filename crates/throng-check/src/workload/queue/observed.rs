//! Queues and pools under observation.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, SeqCst};
use std::sync::{Arc, OnceLock};

use throng::machine::{Cpu, Line, Machine, Place, WayOut, Word};
use throng::pool::{PopError, PushError};

use super::{AnyStore, Kind, Step};
use crate::history::{Answer, Asked, Journal, Request};
use crate::spec::queue::{Breach, Order, Promises, check_conservation, check_queue};
use crate::workload::{Ledger, Parcel};

/// A queue or a pool under observation.
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
    told: Told,
    /// How many requests have begun or ended, where that is how they are told of each other.
    events: Line<M::Word>,
    /// How many producers have pushed all they had. Not part of the machine.
    produced: AtomicUsize,
    /// What was pushed and which other item came back instead.
    swapped: OnceLock<(u64, u64)>,
}

/// How somebody who begins a request knows of those that were over by then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    /// By a word that each of them changes.
    ByWord,
    /// By fences at each start and each end.
    ByFences,
    /// By time: on real machines, what is over can be seen.
    ByTime,
    /// Not at all.
    Nothing,
}

impl<M: Machine> ObservedQueue<M> {
    /// A fresh one for so many processors, in a world where one of them runs at a time.
    ///
    /// In worlds with weak memory "before" is only what a processor can know of. So whoever begins a
    /// request is told, by fences, of all that were over before: else "empty" could be old news, and yet
    /// right.
    #[must_use]
    pub fn ticking(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::ticking(processors + 1), Told::ByFences)
    }

    /// The same, but by a word of the machine that each request changes when it begins and when it ends. So
    /// the order of these is a part of the world's schedule: one that leaves out what makes no difference
    /// to words, as loom does, would else leave out orders that make one to the checks.
    #[must_use]
    pub fn scheduled(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::timed(processors + 1), Told::ByWord)
    }

    /// The same, but nobody is told anything by others than the queue. Only conservation is judged.
    #[must_use]
    pub fn untold(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        processors: usize,
    ) -> Self {
        Self::new(kind, capacity, block, Journal::ticking(processors + 1), Told::Nothing)
    }

    /// A fresh one for so many processors, in a world with a clock.
    #[must_use]
    pub fn timed(kind: &Kind<M>, capacity: Option<usize>, block: usize, processors: usize) -> Self {
        Self::new(kind, capacity, block, Journal::timed(processors + 1), Told::ByTime)
    }

    /// The journal has a page more than there are processors, for who empties it at the end.
    fn new(
        kind: &Kind<M>,
        capacity: Option<usize>,
        block: usize,
        journal: Journal,
        told: Told,
    ) -> Self {
        let capacity = capacity.filter(|_| kind.can.be_bounded);
        ObservedQueue {
            kind: *kind,
            promises: Promises { order: kind.order, capacity, fullness: kind.fullness },
            store: (kind.build)(capacity, block),
            ledger: Ledger::for_makers(journal.processors()),
            journal,
            told,
            events: Line::word::<M>(0, Place::named("events")),
            produced: AtomicUsize::new(0),
            swapped: OnceLock::new(),
        }
    }

    /// Processor `cpu`, which asks by the name of `by`, does these steps.
    pub fn perform(&self, cpu: &M::Cpu, by: usize, steps: &[Step]) {
        for &step in steps {
            self.step(cpu, by, step);
        }
    }

    /// Of all that take part, the first `producers` push `each` items, and the last of them to do so
    /// closes; the others pop until they are told so. Where it cannot be closed, they pop their share,
    /// which all must have alike.
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

    /// One step; tells the answer to its last request.
    pub fn step(&self, cpu: &M::Cpu, by: usize, step: Step) -> Option<Answer> {
        let store = &*self.store;
        let until = |patience: u64| WayOut {
            deadline: Some(cpu.clock().saturating_add(patience)),
            ..WayOut::none()
        };
        let answer = match step {
            Step::TryPush => self.push(cpu, by, |item| store.try_push_on(cpu, item)),
            Step::Push => self.push(cpu, by, |item| store.push_on(cpu, item, &WayOut::none())),
            Step::PushFor(patience) => {
                self.push(cpu, by, |item| store.push_on(cpu, item, &until(patience)))
            }
            Step::TryPop => self.pop(cpu, by, || store.try_pop_on(cpu)),
            Step::Pop => self.pop(cpu, by, || store.pop_on(cpu, &WayOut::none())),
            Step::PopFor(patience) => self.pop(cpu, by, || store.pop_on(cpu, &until(patience))),
            Step::PopAll => loop {
                let answer = self.pop(cpu, by, || store.pop_on(cpu, &WayOut::none()));
                // "Empty" without a way out is for the one whose world is taken apart.
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
        let tell = || {
            if self.told == Told::ByFences {
                M::fence(SeqCst);
            }
        };
        let clock = || match self.told {
            Told::ByWord => self.events.fetch_add(1, AcqRel),
            _ => cpu.clock(),
        };
        self.journal.request(by, asked, clock, || {
            tell();
            let answer = request();
            tell();
            answer
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
            // Not a panic: some worlds cannot take a processor apart that panics.
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

    /// The requests so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.journal.requests()
    }

    /// Whether it kept its promises. `settled`: all that was inside was taken out.
    fn verdict(&self, settled: bool) -> Result<(), Breach> {
        match self.told {
            Told::Nothing => check_conservation(&self.requests(), settled),
            _ => check_queue(&self.promises, &self.requests(), settled),
        }
    }

    /// Takes out all that is inside, one after another, by `try_` calls.
    fn empty(&self, cpu: &M::Cpu) {
        let by = self.journal.processors() - 1;
        // It may be allowed to say that it is empty when it is not, but not for ever.
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

    /// Empties it and checks that it kept its promises; drops it and checks that every item was dropped
    /// once.
    ///
    /// # Panics
    /// If it broke a promise: names both.
    pub fn settle(self, cpu: &M::Cpu) {
        self.settle_after_deaths(cpu, 0, "");
    }

    /// The same where `killed` processors were stopped for ever, each of whom may have an item in its
    /// hands that is never dropped. Adds to the message of a panic what is `known`.
    ///
    /// # Panics
    /// As [`settle`](ObservedQueue::settle).
    pub fn settle_after_deaths(self, cpu: &M::Cpu, killed: usize, known: &str) {
        self.empty(cpu);
        let verdict = self.verdict(true);
        self.end(verdict, killed, known);
    }

    /// Checks that it kept its promises; drops it with all that is inside and checks that every item was
    /// dropped once, but for those that `killed` processors may have had in their hands. Adds to the
    /// message of a panic what is `known`.
    ///
    /// # Panics
    /// As [`settle`](ObservedQueue::settle).
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
