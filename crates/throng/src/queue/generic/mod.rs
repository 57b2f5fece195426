//! A FIFO queue for any number of producers and consumers.
//!
//! DT96 has a job queue of an array and two counters: each push and each pop draws a ticket, and
//! the push and the pop with the same ticket meet at an element of the array. This is that queue
//! with modern means: the counters are two words, a ticket is one `fetch_add`, and the array is a
//! ring.
//!
//! | module | what it does |
//! |---|---|
//! | `words` | the two words as values: tickets, room, flags |
//! | `ring` | the slots: where a push and a pop with the same ticket meet |
//! | `rings` | the rings of an unbounded queue |
//! | `left` | tickets that were left, so that a stopped thread holds up no other |
//! | `draw` | drawing tickets, closing |
//! | `push`, `pop` | what is done with a ticket |
//! | `batch` | popping several items with one draw |
//! | `wait` | waiting for room and for items |
//! | `sleepers` | waking as many threads as there are items or room for |
//! | `ready` | checks for tasks that wait outside of the queue |
//! | `force` | pushing into a full queue |

mod batch;
mod draw;
mod force;
mod left;
mod pop;
mod push;
mod ready;
mod ring;
mod rings;
mod sleepers;
#[cfg(test)]
mod tests;
mod wait;
mod words;

use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use crate::ShapeError;
use crate::classic::pool::Jobs;
use crate::error::{Closed, PopError, PushError};
use crate::machine::{BusyCores, Line, Machine, Native, NativeWord, Place, WayOut, Word};
use crate::setters::setters;
use draw::Hints;
use ring::Ring;
use sleepers::Sleepers;
use words::{Tail, Ticket};

/// The queue on machine `M`. [`throng::Queue`](crate::Queue) is this one on real threads.
pub struct Queue<T, M: Machine = Native> {
    tail: Line<M::Word>,
    head: Line<M::Word>,
    hints: Line<Hints<T, M>>,
    shape: QueueShape,
    consumers: Sleepers<M>,
    producers: Sleepers<M>,
    /// Measures whether other threads want the cores of the threads that wait here.
    busy: BusyCores,
}

// SAFETY: items go from the threads that push them to those that pop or drop them; nothing else of them is shared.
unsafe impl<T: Send, M: Machine> Send for Queue<T, M> {}
// SAFETY: as above.
unsafe impl<T: Send, M: Machine> Sync for Queue<T, M> {}

/// The parameters of a [`Queue`].
///
/// ```
/// use throng::structures::pool::{Queue, QueueShape};
///
/// let shape = QueueShape::UNBOUNDED.ring_bits(4);
/// let small_at_first = Queue::<u64>::on_machine(shape)?;
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueShape {
    /// The largest number of items that fit in, if there is a bound.
    pub capacity: Option<usize>,
    /// The base-2 logarithm of the number of slots in the first ring of an unbounded queue.
    pub ring_bits: u32,
    /// The number of polls of a consumer for an item whose push is in progress, before it passes
    /// the producer over. Also the largest number of looks of a waiting thread before it sleeps.
    pub polls: u32,
    /// Whether a bounded queue has more slots than its capacity, which [forced
    /// pushes](Queue::force_push_on) need.
    pub spare_slot: bool,
    /// Whether a push waits at its slot for a pop in progress, for at most a second, before it takes the slot out of use.
    /// With a spare slot, such a queue is full only with `capacity` items inside or pushes in progress.
    pub waits_for_pops: bool,
}

impl QueueShape {
    /// The largest capacity: 2^32, or 2^27 on a 32-bit machine, whose memory has no room for more
    /// slots.
    pub const MOST_CAPACITY: usize = 1 << if usize::BITS < 64 { 27 } else { 32 };
    /// The base-2 logarithm of the largest first ring of an unbounded queue, in slots.
    pub const MOST_RING_BITS: u32 = 20;

    /// The shape of a queue for as many items as there is memory for.
    pub const UNBOUNDED: Self = QueueShape {
        capacity: None,
        ring_bits: 4,
        polls: 128,
        spare_slot: false,
        waits_for_pops: false,
    };

    /// Returns the shape of a queue for at most `capacity` items.
    #[must_use]
    pub const fn bounded(capacity: usize) -> Self {
        QueueShape { capacity: Some(capacity), ..Self::UNBOUNDED }
    }

    /// Returns a shape with a small first ring and one poll, for exhaustive checks.
    #[doc(hidden)]
    #[must_use]
    pub const fn tiny(capacity: Option<usize>, ring_bits: u32) -> Self {
        QueueShape { capacity, ring_bits, polls: 1, ..Self::UNBOUNDED }
    }

    setters!(const fn capacity: Option<usize>, ring_bits: u32, polls: u32, spare_slot: bool, waits_for_pops: bool);

    #[inline]
    fn checked(self) -> Result<Self, ShapeError> {
        if let Some(capacity) = self.capacity {
            ShapeError::check_range("capacity", capacity, 1..=Self::MOST_CAPACITY)?;
        }
        let most = Self::MOST_RING_BITS as usize;
        ShapeError::check_range("log2 of the first ring", self.ring_bits as usize, 0..=most)?;
        ShapeError::check_range("polls", self.polls as usize, 0..=draw::MOST_POLLS as usize)?;
        Ok(self)
    }
}

/// Methods for real threads.
impl<T> Queue<T> {
    /// Returns an empty queue without a bound.
    #[must_use]
    pub const fn unbounded() -> Self {
        Queue {
            tail: Line::of(NativeWord::constant(Tail::new(Ticket::new(0), words::FROZEN, 0).0)),
            head: Line::of(NativeWord::constant(Ticket::new(0).0)),
            hints: Line::of(Hints::unbounded()),
            shape: QueueShape::UNBOUNDED,
            consumers: Sleepers::none(),
            producers: Sleepers::none(),
            busy: BusyCores::new(),
        }
    }

    /// Pushes `item`. Waits for room.
    ///
    /// # Errors
    /// The item, if the queue is closed.
    #[inline(always)]
    pub fn push(&self, item: T) -> Result<(), Closed<T>> {
        self.push_once(&Native::cpu(), item).or_else(|not| {
            let pushed = self.push_later(&Native::cpu(), not, &WayOut::none());
            pushed.map_err(|error| Closed(error.into_inner()))
        })
    }

    /// Pops the oldest item. Waits for one. Returns `None` if the queue is closed and empty.
    #[inline(always)]
    pub fn pop(&self) -> Option<T> {
        let pop_later = |not| self.pop_later(&Native::cpu(), not, &WayOut::none());
        self.pop_once(pop_later).ok()
    }

    /// Pushes `item` if there is room. Never waits.
    ///
    /// # Errors
    /// The item, if the queue is full or closed.
    #[inline(always)]
    pub fn try_push(&self, item: T) -> Result<(), PushError<T>> {
        self.try_push_on(&Native::cpu(), item)
    }

    /// Pops the oldest item if there is one. Never waits.
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue is empty; [`PopError::Closed`] if it is also closed.
    #[inline(always)]
    pub fn try_pop(&self) -> Result<T, PopError> {
        self.try_pop_on(&Native::cpu())
    }

    /// Closes the queue. Returns whether this call closed it.
    pub fn close(&self) -> bool {
        self.close_on(&Native::cpu())
    }
}

// A panic while a caller holds an item leaves the queue unchanged.
impl<T, M: Machine> UnwindSafe for Queue<T, M> {}
impl<T, M: Machine> RefUnwindSafe for Queue<T, M> {}

impl<T, M: Machine> Queue<T, M> {
    /// Returns an empty queue of this shape, on machine `M`.
    ///
    /// # Errors
    /// If the capacity is 0 or above [`QueueShape::MOST_CAPACITY`], or the first ring is too large.
    pub fn on_machine(shape: QueueShape) -> Result<Self, ShapeError> {
        Self::starting_at(Ticket::new(0), shape)
    }

    fn starting_at(start: Ticket, shape: QueueShape) -> Result<Self, ShapeError> {
        let shape = shape.checked()?;
        // An unbounded queue has no slots yet.
        let room = shape.capacity.map_or(words::FROZEN, |capacity| capacity as i64);
        let room = room.min(words::MOST_ROOM);
        Ok(Queue {
            tail: Line::word::<M>(Tail::new(start, room, 0).0, Place::named("tail")),
            head: Line::word::<M>(start.0, Place::named("head")),
            hints: Line::new::<M>(Place::named("hints"), |spot| Hints::new(start, &shape, spot)),
            shape,
            consumers: Sleepers::new("consumers"),
            producers: Sleepers::new("producers"),
            busy: BusyCores::new(),
        })
    }

    /// Makes consumers draw tickets by `fetch_add`, as they do after collisions. For exhaustive checks.
    #[doc(hidden)]
    pub fn pop_by_fetch_add(&self) {
        self.hints.pop_by_fetch_add();
    }

    /// Closes the queue: pushes fail from now on, and items inside can still be popped. Returns
    /// whether this call closed it.
    pub fn close_on(&self, _cpu: &M::Cpu) -> bool {
        self.close_tickets()
    }

    /// Returns whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.tail().is_closed()
    }

    /// Returns the number of items inside, pushes in progress included. Other threads may change it
    /// before the call returns.
    pub fn len(&self) -> usize {
        loop {
            let (head, end) = (self.head(), self.end());
            let mut first = head.next();
            // Tickets that were left have no item.
            while end.ahead_of(first) > 0 && self.seat_of(first).is_over() {
                first = first.plus(1);
            }
            // If the head has moved, consumers may have taken some of these items.
            if self.head().next() == head.next() {
                let items = end.ahead_of(first).max(0) as usize;
                return self.capacity().map_or(items, |capacity| items.min(capacity));
            }
        }
    }

    /// Returns whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether there is no room.
    pub fn is_full(&self) -> bool {
        self.capacity() == Some(self.len())
    }

    /// Returns the largest number of items that fit in, or `None` if there is no bound.
    pub const fn capacity(&self) -> Option<usize> {
        self.shape.capacity
    }
}

impl<T: Send, M: Machine> Jobs<T, M> for Queue<T, M> {
    /// Pushes the job. A closed queue drops it.
    fn put_on(&self, cpu: &M::Cpu, job: T) {
        drop(self.push_on(cpu, job, &WayOut::none()));
    }

    fn take_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Option<T> {
        self.pop_on(cpu, way_out).ok()
    }
}

impl<T, M: Machine> fmt::Debug for Queue<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T, M: Machine> Drop for Queue<T, M> {
    /// Drops the items inside, all of them even if some panic, and the rings after the first.
    fn drop(&mut self) {
        let mut panicked = None;
        let mut drop_items = |ring: &mut Ring<T, M>| {
            if !mem::needs_drop::<T>() {
                return;
            }
            for slot in ring.slots_mut() {
                let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(slot.take_remaining())));
                panicked = panicked.take().or(dropped.err());
            }
        };
        let first = &mut self.hints.first;
        drop_items(first);
        let mut address = first.next.load(Relaxed);
        while address != 0 {
            // SAFETY: made by `add_ring`, and no other thread uses the queue.
            let mut ring = unsafe { Box::from_raw(Self::ring_at(address).cast_mut()) };
            drop_items(&mut ring);
            address = ring.next.load(Relaxed);
        }
        if let Some(panic) = panicked
            && !thread::panicking()
        {
            panic::resume_unwind(panic);
        }
    }
}
