//! Queues and pools: every kind of the library, and programs that use them.

use throng::machine::{Machine, WayOut};
use throng::structures::pool::{
    Closed, Jobs, Pool, PoolShape, PopError, PushError, Queue, QueueShape, Rsu,
};

use super::Parcel;
use crate::spec::queue::{Fullness, Order};

mod forced;
mod observed;
mod program;

pub use forced::{ForcePush, ForcedQueue};
pub use observed::ObservedQueue;
pub use program::{Step, program};

/// The common part of queues and pools, as the checks drive them. The methods are those of
/// [`Queue`].
#[allow(missing_docs, reason = "as in `Queue`")]
#[allow(clippy::missing_errors_doc, reason = "as in `Queue`")]
pub trait Store<T: Send, M: Machine>: Send + Sync {
    fn try_push_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>>;
    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError>;
    fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError>;
    fn close_on(&self, cpu: &M::Cpu) -> bool;

    /// Pops up to `most` items, at least one. This default pops one, for stores that have no
    /// batches.
    fn try_pop_many_on(
        &self,
        cpu: &M::Cpu,
        items: &mut Vec<T>,
        _most: usize,
    ) -> Result<usize, PopError> {
        self.try_pop_on(cpu).map(|item| {
            items.push(item);
            1
        })
    }

    /// Pushes without waiting, for stores that always have room.
    fn push_on(&self, cpu: &M::Cpu, item: T, _way_out: &WayOut<'_, M>) -> Result<(), PushError<T>> {
        self.try_push_on(cpu, item)
    }
}

impl<T: Send, M: Machine> Store<T, M> for Queue<T, M> {
    fn try_push_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>> {
        Queue::try_push_on(self, cpu, item)
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        Queue::try_pop_on(self, cpu)
    }

    fn push_on(&self, cpu: &M::Cpu, item: T, way_out: &WayOut<'_, M>) -> Result<(), PushError<T>> {
        Queue::push_on(self, cpu, item, way_out)
    }

    fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        Queue::pop_on(self, cpu, way_out)
    }

    fn close_on(&self, cpu: &M::Cpu) -> bool {
        Queue::close_on(self, cpu)
    }

    fn try_pop_many_on(
        &self,
        cpu: &M::Cpu,
        items: &mut Vec<T>,
        most: usize,
    ) -> Result<usize, PopError> {
        Queue::try_pop_many_on(self, cpu, items, most)
    }
}

impl<T: Send, M: Machine> Store<T, M> for Pool<T, M> {
    fn try_push_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>> {
        Pool::push_on(self, cpu, item).map_err(|Closed(item)| PushError::Closed(item))
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        Pool::try_pop_on(self, cpu)
    }

    fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        Pool::pop_on(self, cpu, way_out)
    }

    fn close_on(&self, cpu: &M::Cpu) -> bool {
        Pool::close_on(self, cpu)
    }
}

/// Any [`Jobs`], driven like a queue. It cannot be closed, and a push always waits for room.
pub struct ByJobs<T, M: Machine>(pub Box<dyn Jobs<T, M>>);

impl<T: Send, M: Machine> Store<T, M> for ByJobs<T, M> {
    fn try_push_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>> {
        self.0.put_on(cpu, item);
        Ok(())
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        self.pop_on(cpu, &WayOut::none().deadline(0))
    }

    fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        self.0.take_on(cpu, way_out).ok_or(PopError::Empty)
    }

    fn close_on(&self, _cpu: &M::Cpu) -> bool {
        panic!("jobs cannot be closed")
    }
}

impl<T, M: Machine> std::fmt::Debug for ByJobs<T, M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ByJobs(..)")
    }
}

/// A store of any kind, on machine `M`.
pub type AnyStore<M> = Box<dyn Store<Parcel, M>>;

/// The operations of a kind of store besides push and pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Can {
    /// It can have a capacity, and answers "full".
    pub be_bounded: bool,
    /// It can be closed.
    pub be_closed: bool,
    /// `try_` calls return even if other processors are halted in the middle of such calls.
    pub survive_halts: bool,
    /// It can pop several items at once. A processor that is halted meanwhile holds several.
    pub pop_many: bool,
}

impl Can {
    /// All of them.
    pub const ALL: Can =
        Can { be_bounded: true, be_closed: true, survive_halts: true, pop_many: true };
    /// It can be closed, and nothing else.
    pub const CLOSE: Can =
        Can { be_bounded: false, be_closed: true, survive_halts: false, pop_many: false };
    /// The operations of every [`Jobs`].
    pub const JOBS: Can =
        Can { be_bounded: false, be_closed: false, survive_halts: false, pop_many: false };
}

/// A kind of queue or pool: how it is made and its promises.
pub struct Kind<M: Machine> {
    /// Its name.
    pub name: &'static str,
    /// The order in which items come out.
    pub order: Order,
    /// When it answers that it is full.
    pub fullness: Fullness,
    /// Its operations.
    pub can: Can,
    /// The number of preemptions that an exhaustive check can try with two processors, and with
    /// three. The more words a call touches, the fewer.
    pub preemptions: [usize; 2],
    /// Makes one with a capacity, if it can have one, and with small blocks of memory of `block`
    /// items, if it has blocks.
    pub build: fn(capacity: Option<usize>, block: usize) -> AnyStore<M>,
}

impl<M: Machine> Clone for Kind<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Machine> Copy for Kind<M> {}

impl<M: Machine> std::fmt::Debug for Kind<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kind").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<M: Machine> Kind<M> {
    /// Returns a kind that answers "full" by [`Fullness::ItemsAndPushes`], and is small enough for
    /// any check.
    #[must_use]
    pub fn new(
        name: &'static str,
        order: Order,
        can: Can,
        build: fn(capacity: Option<usize>, block: usize) -> AnyStore<M>,
    ) -> Self {
        let preemptions = [usize::MAX; 2];
        Kind { name, order, fullness: Fullness::ItemsAndPushes, can, preemptions, build }
    }
}

/// Returns every kind of queue and pool of the library.
#[must_use]
pub fn kinds<M: Machine>() -> Vec<Kind<M>> {
    let queue_kind =
        Kind::new("queue", Order::Fifo, Can::ALL, |capacity, block| queue(capacity, block));
    let pool_kind = Kind::new("pool", Order::Unordered, Can::CLOSE, |_, block| match block {
        1 => Box::new(OfLargeJobs(pool())),
        _ => Box::new(pool::<Parcel, M>()),
    });
    vec![
        Kind { preemptions: [1, 1], fullness: Fullness::NotIdle, ..queue_kind },
        Kind { preemptions: [2, 2], ..pool_kind },
        Kind::new("rsu", Order::Any, Can::JOBS, |_, _| {
            Box::new(ByJobs(Box::new(Rsu::on_machine(2))))
        }),
    ]
}

/// Returns a pool that moves jobs, takes turns and sleeps after few calls.
fn pool<T: Send, M: Machine>() -> Pool<T, M> {
    let shape = PoolShape::DEFAULT.turn_every(2).most_moved(1).rounds_before_sleep(1);
    Pool::on_machine(&shape).unwrap_or_else(|error| panic!("pool: {error}"))
}

/// A parcel so large that the first ring of a pool's leaf has room for 4.
struct Large {
    parcel: Parcel,
    _padding: [u8; 200],
}

/// A pool that replaces its rings after few pushes.
struct OfLargeJobs<M: Machine>(Pool<Large, M>);

impl<M: Machine> Store<Parcel, M> for OfLargeJobs<M> {
    fn try_push_on(&self, cpu: &M::Cpu, parcel: Parcel) -> Result<(), PushError<Parcel>> {
        let pushed = self.0.push_on(cpu, Large { parcel, _padding: [0; 200] });
        pushed.map_err(|Closed(job)| PushError::Closed(job.parcel))
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        self.0.try_pop_on(cpu).map(|job| job.parcel)
    }

    fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<Parcel, PopError> {
        self.0.pop_on(cpu, way_out).map(|job| job.parcel)
    }

    fn close_on(&self, cpu: &M::Cpu) -> bool {
        self.0.close_on(cpu)
    }
}

/// Returns a queue's shape for a check: if unbounded, with a first ring of `block` slots, or the
/// default shape if that is 0.
#[must_use]
pub fn queue_shape(capacity: Option<usize>, block: usize) -> QueueShape {
    match block {
        0 => capacity.map_or(QueueShape::UNBOUNDED, QueueShape::bounded),
        _ => QueueShape::tiny(capacity, block.next_power_of_two().ilog2()),
    }
}

fn queue<M: Machine>(capacity: Option<usize>, block: usize) -> Box<Queue<Parcel, M>> {
    let queue = Queue::on_machine(queue_shape(capacity, block));
    Box::new(queue.unwrap_or_else(|error| panic!("queue: {error}")))
}
