//! Pushes into a full queue that take the oldest item out.

use std::sync::{Arc, Mutex, PoisonError};

use throng::machine::Machine;
use throng::structures::pool::{PushError, Queue, QueueShape};

use super::super::{Ledger, Parcel};
use crate::history::{Answer, Asked, Request};
use crate::spec::queue::check_conservation;

/// The operations of a queue with forced pushes.
pub trait ForcePush<M: Machine>: Send + Sync {
    /// Pushes an item, and returns the item that was taken out to make room.
    fn force_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Option<Parcel>;
    /// Pushes an item if there is room.
    ///
    /// # Errors
    /// The item.
    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), Parcel>;
    /// Pops an item if there is one.
    fn try_pop_on(&self, cpu: &M::Cpu) -> Option<Parcel>;
}

impl<M: Machine> ForcePush<M> for Queue<Parcel, M> {
    fn force_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Option<Parcel> {
        Queue::force_push_on(self, cpu, item).expect("it is not closed")
    }

    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), Parcel> {
        Queue::try_push_on(self, cpu, item).map_err(PushError::into_inner)
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Option<Parcel> {
        Queue::try_pop_on(self, cpu).ok()
    }
}

/// A queue with forced pushes, and a record of the items pushed and popped.
///
/// ```
/// use throng::machine::Native;
/// use throng_check::workload::ForcedQueue;
///
/// let forced = ForcedQueue::<Native>::new(2, 1);
/// forced.perform(&Native::cpu(), 0, 5);
/// forced.settle(&Native::cpu());
/// ```
pub struct ForcedQueue<M: Machine> {
    queue: Box<dyn ForcePush<M>>,
    capacity: usize,
    ledger: Arc<Ledger>,
    requests: Mutex<Vec<Request>>,
}

impl<M: Machine> ForcedQueue<M> {
    /// Returns a [`Queue`] for `capacity` items, used by `processors` processors.
    ///
    /// # Panics
    /// If the capacity is 0.
    #[must_use]
    pub fn new(capacity: usize, processors: usize) -> Self {
        let shape = QueueShape::tiny(Some(capacity), 0).spare_slot(true);
        let queue = Queue::on_machine(shape);
        Self::over(Box::new(queue.expect("a capacity above 0")), capacity, processors)
    }

    /// Returns the same over any queue.
    #[must_use]
    pub fn over(queue: Box<dyn ForcePush<M>>, capacity: usize, processors: usize) -> Self {
        let ledger = Ledger::for_makers(processors);
        ForcedQueue { queue, capacity, ledger, requests: Mutex::default() }
    }

    fn record(&self, by: usize, asked: Asked, answer: Answer) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the items are checked, not the times.
        requests.push(Request::over(by, asked, 0, 1, answer));
    }

    fn came_out(&self, by: usize, item: Option<Parcel>) -> bool {
        let Some(item) = item else { return false };
        self.record(by, Asked::Pop, Answer::Item(item.number()));
        true
    }

    /// Makes `rounds` rounds on processor `cpu`, which is number `by`. There are three kinds of
    /// round in turn: a forced push; a forced push and a pop; two pushes, so that a call that was
    /// passed over finds the queue full again.
    pub fn perform(&self, cpu: &M::Cpu, by: usize, rounds: usize) {
        for kind in (by..by + rounds).map(|round| round % 3) {
            if kind == 2 {
                self.push(cpu, by);
                self.push(cpu, by);
                continue;
            }
            let parcel = self.ledger.parcel(by);
            self.record(by, Asked::Push(parcel.number()), Answer::Taken);
            self.came_out(by, self.queue.force_push_on(cpu, parcel));
            if kind == 1 {
                self.came_out(by, self.queue.try_pop_on(cpu));
            }
        }
    }

    fn push(&self, cpu: &M::Cpu, by: usize) {
        let parcel = self.ledger.parcel(by);
        let number = parcel.number();
        if self.queue.try_push_on(cpu, parcel).is_ok() {
            self.record(by, Asked::Push(number), Answer::Taken);
        }
    }

    /// Empties the queue, and checks that each item came out once.
    ///
    /// # Panics
    /// If an item was lost, came out twice or was dropped twice, or more items than the capacity
    /// were inside.
    pub fn settle(self, cpu: &M::Cpu) {
        let inside =
            std::iter::from_fn(|| self.came_out(0, self.queue.try_pop_on(cpu)).then_some(()));
        let inside = inside.count();
        let ForcedQueue { queue, capacity, ledger, requests } = self;
        drop(queue);
        let requests = requests.into_inner().unwrap_or_else(PoisonError::into_inner);
        let verdict = check_conservation(&requests, true).map_err(|breach| breach.to_string());
        let verdict = verdict.and_then(|()| ledger.check(0).map_err(|wrong| wrong.to_string()));
        if let Err(violation) = verdict {
            panic!("forced queue broke its promise: {violation}");
        }
        assert!(inside <= capacity, "forced queue broke its promise: {inside} items inside");
    }
}

impl<M: Machine> std::fmt::Debug for ForcedQueue<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForcedQueue").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}
