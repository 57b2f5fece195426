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
//! | `batch` | popping several items with one draw |
//! | `wait` | waiting for room and for items |
//! | `sleepers` | waking as many threads as there are items or room for |
//! | `ready` | checks for tasks that wait outside of the queue |
//! | `force` | pushing into a full queue |

mod batch;
mod draw;
mod force;
mod left;
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
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread;

use crate::ShapeError;
use crate::classic::pool::Jobs;
use crate::error::{Closed, PopError, PushError};
use crate::machine::{BusyCores, Cpu, Line, Machine, Native, NativeWord, Place, WayOut, Word};
use crate::setters::setters;
use draw::{Confirmed, Drawn, Hints, NoTicket};
use left::Side;
use ring::{Ring, Seat};
use sleepers::Sleepers;
use words::{Head, Tail, Ticket};

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

/// The factor by which a consumer that may wait polls longer for the item of its ticket than a
/// consumer that may not. The polls then take some 50 microseconds.
const PATIENCE: u32 = 8;

/// The longest that a push waits for a pop in progress, in nanoseconds: a second. A preempted thread goes on within some
/// milliseconds. A thread that was stopped for longer may never go on.
const LONGEST_POP: u64 = 1_000_000_000;

/// An item that was not pushed, and the reason. Without a reason its ticket was left, and it must
/// be pushed again.
struct NotPushed<T> {
    item: T,
    reason: Option<NoTicket>,
}

/// The result of a first attempt to pop that got no item.
enum NotPopped {
    /// A ticket was drawn from this head, and the pop must be finished.
    Ticket(Head),
    /// No ticket was drawn: the queue may be empty, or another consumer was faster.
    Nothing,
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

    /// Pushes `item` if there is room. Never waits.
    ///
    /// # Errors
    /// The item, if the queue is full or closed.
    #[inline(always)]
    pub fn try_push_on(&self, cpu: &M::Cpu, item: T) -> Result<(), PushError<T>> {
        self.push_once(cpu, item).or_else(|not| self.try_push_again(cpu, not))
    }

    #[cold]
    #[inline(never)]
    fn try_push_again(&self, cpu: &M::Cpu, mut not: NotPushed<T>) -> Result<(), PushError<T>> {
        loop {
            match not.reason {
                Some(NoTicket::Closed) => return Err(PushError::Closed(not.item)),
                Some(NoTicket::Full(_)) => return Err(PushError::Full(not.item)),
                None => {}
            }
            match self.push_once(cpu, not.item) {
                Ok(()) => return Ok(()),
                Err(again) => not = again,
            }
        }
    }

    /// Pushes `item`. Waits for room until the way out opens.
    ///
    /// # Errors
    /// The item, if the way out opened or the queue is closed.
    #[inline]
    pub fn push_on(
        &self,
        cpu: &M::Cpu,
        item: T,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), PushError<T>> {
        self.push_once(cpu, item).or_else(|not| self.push_later(cpu, not, way_out))
    }

    #[cold]
    #[inline(never)]
    fn push_later(
        &self,
        cpu: &M::Cpu,
        mut not: NotPushed<T>,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), PushError<T>> {
        loop {
            match not.reason {
                Some(NoTicket::Closed) => return Err(PushError::Closed(not.item)),
                Some(NoTicket::Full(next)) if !self.wait_for_room(cpu, next, way_out) => {
                    return self.try_push_on(cpu, not.item);
                }
                _ => {}
            }
            match self.push_once(cpu, not.item) {
                Ok(()) => return Ok(()),
                Err(again) => not = again,
            }
        }
    }

    /// Takes the fast path of a push. Each rare case is a function of its own that does all the
    /// rest. So this one need not save registers, which is much of the cost of an uncontended push.
    /// The same holds for [`pop_once`](Queue::pop_once).
    #[inline(always)]
    fn push_once(&self, cpu: &M::Cpu, item: T) -> Result<(), NotPushed<T>> {
        let Some(drawn) = self.draw_push_at_once() else {
            return self.push_slowly(cpu, item);
        };
        let ring = self.last();
        let seat = ring.seat(drawn.ticket);
        if !ring.holds(drawn.ticket) || !seat.is_empty() {
            return self.push_with(cpu, drawn, item);
        }
        // SAFETY: the ticket was drawn to push with, and the slot is empty for it.
        unsafe { self.put(seat, drawn, item) }
    }

    #[cold]
    #[inline(never)]
    fn push_slowly(&self, cpu: &M::Cpu, item: T) -> Result<(), NotPushed<T>> {
        match self.draw_push() {
            Ok(drawn) => self.push_with(cpu, drawn, item),
            Err(reason) => Err(NotPushed { item, reason: Some(reason) }),
        }
    }

    /// Pushes with a drawn ticket whose slot was not looked up, or is not empty.
    #[cold]
    #[inline(never)]
    fn push_with(&self, cpu: &M::Cpu, drawn: Drawn, item: T) -> Result<(), NotPushed<T>> {
        let seat = self.seat_of(drawn.ticket);
        if !seat.is_empty() {
            self.grow(seat.ring);
        }
        if !seat.is_empty() && !self.becomes_empty(cpu, seat) {
            self.leave_push(seat);
            return Err(NotPushed { item, reason: None });
        }
        // SAFETY: the ticket was drawn to push with, and the slot is empty for it.
        unsafe { self.put(seat, drawn, item) }
    }

    /// Puts an item into the slot of its ticket.
    ///
    /// # Safety
    /// As for [`Seat::put`].
    #[inline(always)]
    unsafe fn put(&self, seat: Seat<'_, T, M>, drawn: Drawn, item: T) -> Result<(), NotPushed<T>> {
        // SAFETY: as the caller promises.
        unsafe { seat.put(item) };
        if self.hints.left.may_be_any() || drawn.consumers_sleep {
            return self.after_push(drawn);
        }
        Ok(())
    }

    /// Polls for a short time until the slot is empty. Returns whether it is.
    fn becomes_empty(&self, cpu: &M::Cpu, seat: Seat<'_, T, M>) -> bool {
        let is_held_up = self.hints.left.is_any() && self.hints.left.has_slot(seat);
        seat.wait_until_empty(cpu, if is_held_up { 0 } else { self.hints.polls() })
            || self.shape.waits_for_pops && !is_held_up && Self::is_popped_in_time(cpu, seat)
    }

    /// Waits until the pop of the lap before has emptied the slot. Gives up after [`LONGEST_POP`].
    #[cold]
    fn is_popped_in_time(cpu: &M::Cpu, seat: Seat<'_, T, M>) -> bool {
        let (start, mut round) = (cpu.clock(), 0);
        while !seat.is_empty() {
            if cpu.clock().wrapping_sub(start) > LONGEST_POP {
                return false;
            }
            cpu.retry(round);
            round += 1;
        }
        true
    }

    /// Makes the producer leave its ticket, because the consumer of the lap before is stopped.
    #[cold]
    fn leave_push(&self, seat: Seat<'_, T, M>) {
        let left = &self.hints.left;
        left.add(seat, Side::Producer);
        M::heavy_fence();
        // The consumer may have left this ticket, too. Its entry is removed here, because no item will be put in.
        left.remove_consumer(seat.ticket);
        self.skip_laps(seat);
    }

    /// Makes a slot skip the laps that producers have left. A producer may sleep because the ticket
    /// at the head is one of them. It can then continue, although the head has not moved.
    fn skip_laps(&self, seat: Seat<'_, T, M>) {
        if self.hints.left.skip_laps(seat) {
            M::fence(SeqCst);
            if self.head().producers_sleep() {
                self.wake_producers(0);
            }
        }
    }

    /// Finishes a push whose item is in place: a ticket was left, or consumers sleep.
    #[cold]
    #[inline(never)]
    fn after_push(&self, drawn: Drawn) -> Result<(), NotPushed<T>> {
        if drawn.consumers_sleep {
            self.wake_consumers(1);
        }
        M::fence(SeqCst);
        let (left, seat) = (&self.hints.left, self.seat_of(drawn.ticket));
        if left.has_consumer(seat.ticket)
            && let Some(item) = seat.take_disputed()
        {
            left.remove_consumer(seat.ticket);
            M::fence(SeqCst);
            self.skip_laps(seat);
            return Err(NotPushed { item, reason: None });
        }
        Ok(())
    }

    /// Pops the oldest item if there is one. Never waits.
    ///
    /// # Errors
    /// [`PopError::Empty`] if the queue is empty; [`PopError::Closed`] if it is also closed.
    #[inline(always)]
    pub fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        self.pop_once(|not| self.pop_again(cpu, not, 0))
    }

    /// Takes the fast path of a pop; `later` does the rest. (If this returned instead of calling
    /// `later`, a large item would be copied once more.)
    #[inline(always)]
    fn pop_once<E>(&self, later: impl FnOnce(NotPopped) -> Result<T, E>) -> Result<T, E> {
        // Read once: another thread may change it.
        let is_drawn = self.hints.pops_by_fetch_add();
        let head = if is_drawn { self.draw_pop_by_fetch_add() } else { self.head() };
        let ring = self.front();
        let not = if is_drawn { NotPopped::Ticket(head) } else { NotPopped::Nothing };
        if !ring.holds(head.next()) {
            return later(not);
        }
        let seat = ring.seat(head.next());
        if !seat.is_full() || !is_drawn && !self.draw_pop_from(head) {
            return later(not);
        }
        if head.producers_sleep() {
            return later(NotPopped::Ticket(head));
        }
        // SAFETY: the ticket was drawn to pop with, and the slot is full.
        Ok(unsafe { self.take(seat) })
    }

    /// Takes the item of a seat.
    ///
    /// # Safety
    /// As for [`Seat::take`].
    #[inline(always)]
    unsafe fn take(&self, seat: Seat<'_, T, M>) -> T {
        // SAFETY: as the caller promises.
        let item = unsafe { seat.take() };
        if self.hints.left.may_be_any() {
            self.after_pop(seat.ticket);
        }
        item
    }

    /// Finishes a pop after a ticket was left, perhaps by the next producer of this slot.
    #[cold]
    #[inline(never)]
    fn after_pop(&self, ticket: Ticket) {
        M::fence(SeqCst);
        self.skip_laps(self.seat_of(ticket));
    }

    /// Continues after the first attempt. A consumer that has drawn a ticket for which there is no
    /// item polls at most `patience` times before it leaves the ticket.
    #[cold]
    #[inline(never)]
    fn pop_again(&self, cpu: &M::Cpu, mut not: NotPopped, patience: u32) -> Result<T, PopError> {
        loop {
            let head = match not {
                NotPopped::Ticket(head) => head,
                NotPopped::Nothing => self.draw_pop(cpu)?,
            };
            if head.producers_sleep() {
                self.wake_producers(1);
            }
            let popped = match self.confirm(cpu, head.next(), patience)? {
                Confirmed::Drawn => self.take_late(cpu, self.seat_of(head.next())),
                Confirmed::Left => self.finish_leaving(self.seat_of(head.next())),
            };
            if let Some(item) = popped {
                return Ok(item);
            }
            not = NotPopped::Nothing;
        }
    }

    /// Takes the item of a ticket that was drawn both to pop with and to push with. Returns `None`
    /// if that ticket was left.
    fn take_late(&self, cpu: &M::Cpu, seat: Seat<'_, T, M>) -> Option<T> {
        if seat.is_full() {
            // SAFETY: the ticket was drawn to pop with, and the slot is full.
            return Some(unsafe { self.take(seat) });
        }
        let left = &self.hints.left;
        let is_left = || seat.is_over() || left.is_any() && left.has_producer(seat);
        if is_left() {
            return None;
        }
        if seat.wait_until_full(cpu, self.hints.polls()) {
            self.hints.fewer_polls(self.shape.polls);
            // SAFETY: as above.
            return Some(unsafe { self.take(seat) });
        }
        if is_left() {
            return None;
        }
        self.leave_pop(seat)
    }

    /// Makes the consumer leave its ticket, because the producer is stopped. Returns the item if it
    /// comes at the last moment.
    #[cold]
    fn leave_pop(&self, seat: Seat<'_, T, M>) -> Option<T> {
        self.hints.left.add(seat, Side::Consumer);
        M::heavy_fence();
        self.finish_leaving(seat)
    }

    /// Finishes leaving a ticket that was drawn to push with. The consumer may take the item by
    /// compare-exchange only.
    fn finish_leaving(&self, seat: Seat<'_, T, M>) -> Option<T> {
        let left = &self.hints.left;
        let item = seat.take_disputed();
        // In this order: a producer's entry is removed only after the slot has skipped the ticket.
        if item.is_some() || left.has_producer(seat) || seat.is_over() {
            left.remove_consumer(seat.ticket);
        }
        if item.is_some() {
            M::fence(SeqCst);
            self.skip_laps(seat);
        } else {
            self.hints.more_polls();
        }
        item
    }

    /// Pops the oldest item. Waits for one until the way out opens.
    ///
    /// # Errors
    /// If the way out opened, or the queue is empty and closed.
    #[inline(always)]
    pub fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        self.pop_once(|not| self.pop_later(cpu, not, way_out))
    }

    #[cold]
    #[inline(never)]
    fn pop_later(
        &self,
        cpu: &M::Cpu,
        not: NotPopped,
        way_out: &WayOut<'_, M>,
    ) -> Result<T, PopError> {
        let mut popped = match not {
            NotPopped::Nothing if self.seems_empty() => Err(PopError::Empty),
            _ => self.pop_again(cpu, not, PATIENCE * self.shape.polls),
        };
        while let Err(PopError::Empty) = popped {
            self.pause_for_items(cpu);
            let may_have_come = self.wait_for_item(cpu, way_out);
            popped = self.try_pop_on(cpu);
            if !may_have_come {
                break;
            }
        }
        popped
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
