//! A FIFO queue for any number of producers and consumers.
//!
//! DT96 has a job queue of an array and two counters: each push and each pop draws a ticket, and the two
//! with the same ticket meet at an element of the array. This is that queue, brought up to date: the
//! counters are two words, a ticket is one `fetch_add`, and the array is a ring.
//!
//! | module | what it does |
//! |---|---|
//! | `words` | the two words as values: tickets, room, flags |
//! | `ring` | the slots: where a push and a pop with the same ticket meet |
//! | `rings` | the rings of an unbounded queue |
//! | `left` | tickets that were left, so that a stopped thread holds up no other |
//! | `draw` | drawing tickets, closing |
//! | `wait` | waiting for room and for items |
//! | `ready` | looks for tasks that wait outside of the queue |
//! | `force` | pushing into a full queue |
//! | `native` | the queue on real threads |

mod draw;
mod force;
mod left;
mod native;
mod ready;
mod ring;
mod rings;
#[cfg(test)]
mod tests;
mod wait;
mod words;

use std::fmt;
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::thread;

pub use native::{Drain, IntoIter, Iter};

use super::{Jobs, PopError, PushError};
use crate::ShapeError;
use crate::machine::{BusyCores, Line, Machine, Native, Place, WayOut, Word};
use draw::{Confirmed, Drawn, Hints, NoTicket};
use left::Side;
use ring::{Ring, Seat};
use words::{Head, Tail, Ticket};

/// A queue, first in, first out, for any number of producers and consumers; bounded or not.
///
/// ```
/// use std::thread;
/// use throng::Queue;
///
/// let jobs = Queue::bounded(100);
/// thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| {
///             while let Some(job) = jobs.pop() {
///                 // do it
///                 # let _: u32 = job;
///             }
///         });
///     }
///     for job in 0..1000 {
///         jobs.push(job).unwrap();
///     }
///     jobs.close();           // what is inside is still popped; then `pop` returns `None`
/// });
/// ```
///
/// # What it promises
/// The queue is linearizable: there is one order of all pushes and pops that agrees with what every caller
/// saw, and in which items leave as they came. What a thread did before a push is visible to the thread that
/// pops the item. Items of any type are dropped exactly once.
///
/// [`try_push`](Queue::try_push) and [`try_pop`](Queue::try_pop) never wait: they do not back off, yield or sleep,
/// and they start again only after another thread has made progress, or to go round one that has stopped. *Empty* and
/// *full* are answered at once. A thread that stops in the middle of a call, for a while or for ever, does not keep the
/// calls of other threads from returning:
/// - A consumer that stops has an item in its hands, or will get the next one.
/// - A producer that stops before its item is in place is passed over: a consumer looks for the item 256 times, or up
///   to 32 768 times where that happens often, then goes on to the next one. The producer pushes its item again when
///   it goes on.
/// - `try_pop` answers *empty* only if there was an instant during the call when every item pushed had been
///   taken or was in the hands of a consumer.
/// - `try_push` answers *full* if the items inside and the calls in progress are [`capacity`](Queue::capacity)
///   together. There are never more items inside than that. A call that stopped in the middle can take its place
///   out of use: then *full* is answered with fewer items inside, until the items after that place have been popped. A
///   queue without items that no other call uses is never full.
///
/// [`push`](Queue::push) and [`pop`](Queue::pop) wait for room or for an item: they look for 10 to 200
/// microseconds with growing pauses, then yield for a while, then sleep. Waiting threads are not served in the order in which they came.
///
/// If dropping an item panics while the queue is dropped, the other items are dropped all the same, and the
/// first panic goes on afterwards.
///
/// # What it costs
/// A push and a pop are one atomic read-modify-write each, and a plain store to the slot. An empty or full queue
/// is recognised by loads alone, except once after threads have collided.
///
/// An item of 8 bytes takes 16. A bounded queue has its slots, the capacity rounded up to a power of two, from
/// the start. An unbounded queue has none until the first push; when it is full it gets a ring twice
/// as large. Its memory is given back when the queue is dropped.
///
/// Items need to be [`Send`] only if the queue is shared or sent:
///
/// ```compile_fail
/// use std::rc::Rc;
/// use throng::Queue;
///
/// fn share<T: Sync>(_: T) {}
/// share(Queue::<Rc<u8>>::unbounded());
/// ```
///
/// ```
/// use std::rc::Rc;
/// use throng::Queue;
///
/// let for_one_thread = Queue::unbounded();
/// for_one_thread.push(Rc::new(7)).unwrap();
/// assert_eq!(*for_one_thread.pop().unwrap(), 7);
/// ```
pub struct Queue<T, M: Machine = Native> {
    tail: Line<M::Word>,
    head: Line<M::Word>,
    hints: Line<Hints<T, M>>,
    shape: QueueShape,
    /// Whether other threads want the cores of the threads that wait here.
    busy: BusyCores,
}

// SAFETY: items go from the threads that push them to those that pop or drop them; nothing else of them is shared.
unsafe impl<T: Send, M: Machine> Send for Queue<T, M> {}
// SAFETY: as above.
unsafe impl<T: Send, M: Machine> Sync for Queue<T, M> {}

/// The parameters of a [`Queue`].
///
/// ```
/// use throng::pool::{Queue, QueueShape};
///
/// let shape = QueueShape { ring_bits: 4, ..QueueShape::UNBOUNDED };
/// let small_at_first = Queue::<u64>::on_machine(shape)?;
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueShape {
    /// The most items that fit in, if there is a bound.
    pub capacity: Option<usize>,
    /// log2 of the slots in the first ring of an unbounded queue.
    pub ring_bits: u32,
    /// How often a consumer looks for an item whose push is in progress before it passes the producer over, and
    /// how often at most a waiting thread looks before it sleeps.
    pub polls: u32,
    /// Whether a bounded queue has more slots than its capacity, which [forced pushes](Queue::force_push_on) need.
    pub spare_slot: bool,
}

impl QueueShape {
    /// The largest capacity: 2^32, and 2^27 on a 32-bit machine, whose memory has room for no more slots.
    pub const MOST_CAPACITY: usize = 1 << if usize::BITS < 64 { 27 } else { 32 };
    /// The largest first ring of an unbounded queue, as log2 of its slots.
    pub const MOST_RING_BITS: u32 = 20;

    /// For as many items as there is memory for.
    pub const UNBOUNDED: Self =
        QueueShape { capacity: None, ring_bits: 4, polls: 128, spare_slot: false };

    /// For at most `capacity` items.
    #[must_use]
    pub const fn bounded(capacity: usize) -> Self {
        QueueShape { capacity: Some(capacity), ..Self::UNBOUNDED }
    }

    /// A small first ring and one poll: for exhaustive checks.
    #[must_use]
    pub const fn tiny(capacity: Option<usize>, ring_bits: u32) -> Self {
        QueueShape { capacity, ring_bits, polls: 1, ..Self::UNBOUNDED }
    }

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

/// A consumer that may wait and has drawn a ticket without an item waits at the slot for this many times the
/// polls of a call that may not: some 50 microseconds.
const PATIENCE: u32 = 8;

/// An item that was not pushed: for a reason, or because its ticket was left, and then it is pushed again.
struct NotPushed<T> {
    item: T,
    reason: Option<NoTicket>,
}

/// Why the first attempt of a pop got no item.
enum NotPopped {
    /// A ticket is drawn from this head, and there is more to do.
    Ticket(Head),
    /// No ticket is drawn: the queue may be empty, or another consumer was faster.
    Nothing,
}

impl<T, M: Machine> Queue<T, M> {
    /// A queue of this shape, on machine `M`.
    ///
    /// # Errors
    /// When the capacity is 0 or above [`QueueShape::MOST_CAPACITY`], or the first ring is too large.
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
            busy: BusyCores::new(),
        })
    }

    /// Pushes if there is room. Never waits.
    ///
    /// # Errors
    /// The item, when the queue is full or closed.
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

    /// Pushes; waits for room until the way out opens.
    ///
    /// # Errors
    /// The item, when the way out opened or the queue is closed.
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

    /// The fast path of a push. Each rare case is a function of its own that does all the rest: this one
    /// then need not save registers, which is much of what an uncontended push takes. The same holds for
    /// [`pop_once`](Queue::pop_once).
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

    /// Pushes with a ticket whose slot was not looked for, or is not empty.
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

    /// Whether the slot becomes empty for a producer that does not wait long for it.
    fn becomes_empty(&self, cpu: &M::Cpu, seat: Seat<'_, T, M>) -> bool {
        let is_held_up = self.hints.left.is_any() && self.hints.left.has_slot(seat);
        seat.wait_until_empty(cpu, if is_held_up { 0 } else { self.hints.polls() })
    }

    /// The producer leaves its ticket: the consumer of the lap before is stopped.
    #[cold]
    fn leave_push(&self, seat: Seat<'_, T, M>) {
        let left = &self.hints.left;
        left.add(seat, Side::Producer);
        M::heavy_fence();
        // The consumer may have left this ticket, too. Its entry is removed here, because no item will be put in.
        left.remove_consumer(seat.ticket);
        self.skip_laps(seat);
    }

    /// Makes a slot skip the laps that producers have left. A producer may sleep because the ticket at the head is one
    /// of them: then it can go on, though the head has not moved.
    fn skip_laps(&self, seat: Seat<'_, T, M>) {
        if self.hints.left.skip_laps(seat) {
            M::fence(SeqCst);
            if self.head().producers_sleep() {
                self.wake_producers();
            }
        }
    }

    /// An item is in place; a ticket was left, or consumers sleep.
    #[cold]
    #[inline(never)]
    fn after_push(&self, drawn: Drawn) -> Result<(), NotPushed<T>> {
        if drawn.consumers_sleep {
            self.wake_consumers();
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

    /// Pops if there is an item. Never waits.
    ///
    /// # Errors
    /// When the queue is empty, and whether it is closed.
    #[inline(always)]
    pub fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        self.pop_once(|not| self.pop_again(cpu, not, 0))
    }

    /// The fast path of a pop; `later` does the rest. (With a result of its own a large item would be copied once more.)
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

    /// A slot was emptied, and a ticket was left: perhaps by the next producer of this slot.
    #[cold]
    #[inline(never)]
    fn after_pop(&self, ticket: Ticket) {
        M::fence(SeqCst);
        self.skip_laps(self.seat_of(ticket));
    }

    /// Goes on from where the first attempt ended. A consumer that has drawn a ticket for which there is no item
    /// looks for one at most `patience` times before it leaves the ticket.
    #[cold]
    #[inline(never)]
    fn pop_again(&self, cpu: &M::Cpu, mut not: NotPopped, patience: u32) -> Result<T, PopError> {
        loop {
            let head = match not {
                NotPopped::Ticket(head) => head,
                NotPopped::Nothing => self.draw_pop(cpu)?,
            };
            if head.producers_sleep() {
                self.wake_producers();
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

    /// Takes the item of a ticket that was drawn to pop with and to push with. `None` if that ticket was left.
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

    /// The consumer leaves its ticket: the producer is stopped. Or it gets the item in the last moment.
    #[cold]
    fn leave_pop(&self, seat: Seat<'_, T, M>) -> Option<T> {
        self.hints.left.add(seat, Side::Consumer);
        M::heavy_fence();
        self.finish_leaving(seat)
    }

    /// The consumer has left a ticket that was drawn to push with. It may take the item by compare-exchange only.
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

    /// Pops; waits for an item until the way out opens.
    ///
    /// # Errors
    /// When the way out opened, or the queue is empty and closed.
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
        let mut popped = self.pop_again(cpu, not, PATIENCE * self.shape.polls);
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

    /// Closes the queue: pushes are refused from now on; what is inside can still be popped. Returns whether
    /// this call closed it.
    pub fn close_on(&self, _cpu: &M::Cpu) -> bool {
        self.close_tickets()
    }

    /// Whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.tail().is_closed()
    }

    /// How many items are inside, pushes in progress included. While other threads push and pop, this is a
    /// number from the past.
    pub fn len(&self) -> usize {
        loop {
            let (head, end) = (self.head(), self.end());
            let mut first = head.next();
            // Tickets that were left have no item.
            while end.ahead_of(first) > 0 && self.seat_of(first).is_over() {
                first = first.plus(1);
            }
            // Otherwise consumers may have taken what was seen.
            if self.head().next() == head.next() {
                let items = end.ahead_of(first).max(0) as usize;
                return self.capacity().map_or(items, |capacity| items.min(capacity));
            }
        }
    }

    /// Whether there is no item inside.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room.
    pub fn is_full(&self) -> bool {
        self.capacity() == Some(self.len())
    }

    /// The most items that fit in, if there is a bound.
    pub const fn capacity(&self) -> Option<usize> {
        self.shape.capacity
    }
}

impl<T: Send, M: Machine> Jobs<T, M> for Queue<T, M> {
    /// A closed queue drops the job.
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
