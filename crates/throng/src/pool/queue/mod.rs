//! A FIFO queue for any number of producers and consumers.
//!
//! DT96 has a job queue of an array and two counters: each push and each pop draws a ticket, and the two
//! with the same ticket meet at an element of the array. This is that queue, brought up to date: the
//! counters are two words, a ticket is one `fetch_add` (or `compare_exchange`, while few are there), and the
//! array has no end, so that an element is used for one push and one pop and nobody ever waits for the one
//! who used it before.
//!
//! | module | what it does |
//! |---|---|
//! | `tickets` | the two words; how full, how empty, how closed the queue is |
//! | `crowd` | how those who draw keep out of each other's way |
//! | `forbearance` | how long an item is waited for that is on its way |
//! | `slot` | where a push and a pop with the same ticket meet |
//! | `blocks` | the array without an end |
//! | `native` | the queue on real threads |

mod blocks;
mod crowd;
mod forbearance;
mod native;
mod slot;
#[cfg(test)]
mod tests;
mod tickets;

use std::fmt;

pub use native::{Drain, Iter};

use super::{Jobs, PopError, PushError};
use crate::ShapeError;
use crate::machine::{Machine, Native, WayOut};
use blocks::{Blocks, Found, MOST_SLOT_BITS, Mine, Side};
use slot::{Slot, Use};
use tickets::{Head, NoTicket, Ticket, Tickets, ToPush};

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
/// It is linearizable: there is one order of all pushes and pops that agrees with what every caller
/// saw, and in which items leave as they came. What a thread did before a push is visible to who pops the
/// item. Items of any type are dropped exactly once.
///
/// `try_push` and `try_pop` never wait, and no thread that stops in the middle of a call, for a while or
/// for ever, keeps the calls of others from returning:
/// - A consumer that stops has an item in its hands, or will get the next one; nothing else is held up.
/// - A producer that stops with its item not yet in place is passed over after a microsecond or so (where that
///   happens often, up to a hundred), and takes a new place when it goes on. Until then it counts as an item
///   when *full* is answered.
/// - [`try_pop`](Queue::try_pop) answers *empty* only if there was an instant during the call when every
///   item pushed had been taken or was in the hands of a consumer.
/// - [`try_push`](Queue::try_push) answers *full* only if there was an instant during the call when the
///   items inside and the pushes in progress were [`capacity`](Queue::capacity) together. There are never
///   more items inside than that.
/// - While a thread stops in the middle of a call, the memory of the 256 items around it stays; if it
///   stops while it gives memory back, passes a producer over or finds that it was passed over, none is
///   given back until it goes on.
///
/// Those who wait look ever more rarely, for 10 to 200 microseconds by the processor and what they wait for; then
/// they sleep. They are not served in the order in which they came.
///
/// # What it costs
/// A push and a pop are one `compare_exchange` each. Who collides with another steps aside for some 13
/// microseconds, and looks then how far the others came. Where nothing is faster than one thread with all
/// it needs in its own cache, as when all threads do nothing but push and pop, it will be 100 microseconds
/// the next time: so a single call may take long, but all together they are served fastest. Where many
/// threads are faster than that, they take their turns by one `fetch_add` each. What the queue finds best is
/// tried anew from time to time. Who finds the queue full, or empty, looks once more after a pause of up to 10
/// microseconds, or 3, before it is told so; who comes again is told at once.
///
/// An item of 8 bytes takes 16, in pieces of 256 items (fewer where items are large and few fit in). Pieces
/// that were emptied are used again. A bounded queue keeps them all while it lives; an unbounded one keeps
/// four and gives the others back.
pub struct Queue<T: Send, M: Machine = Native> {
    tickets: Tickets<M>,
    blocks: Blocks<T, M>,
    shape: QueueShape,
}

/// What a [`Queue`] should be like.
///
/// ```
/// use throng::pool::{Queue, QueueShape};
///
/// let shape = QueueShape { block_bits: 4, ..QueueShape::UNBOUNDED };
/// let small_pieces = Queue::<u64>::on_machine(shape)?;
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueShape {
    /// The most items that fit in, if there is a bound.
    pub capacity: Option<usize>,
    /// log2 of the items that live in one piece of memory.
    pub block_bits: u32,
    /// So often a consumer looks whether an item has come that is on its way, before it passes the
    /// producer over; and no more often than that one who waits looks before it sleeps.
    pub polls: u32,
    /// So many nanoseconds a ticket takes where many threads draw by `fetch_add`: what is thought before it
    /// has been measured. With 0, nothing is thought to be faster than that.
    pub bold_ns: u32,
}

impl QueueShape {
    /// The largest capacity.
    pub const MOST_CAPACITY: usize = 1 << 32;
    /// The largest pieces.
    pub const MOST_BLOCK_BITS: u32 = MOST_SLOT_BITS;

    /// For as many items as there is memory for.
    pub const UNBOUNDED: Self =
        QueueShape { capacity: None, block_bits: MOST_SLOT_BITS, polls: 128, bold_ns: 64 };

    /// For so many items at most, in pieces of 256: see [`for_items_of`](QueueShape::for_items_of) where items
    /// are large.
    #[must_use]
    pub const fn bounded(capacity: usize) -> Self {
        QueueShape { capacity: Some(capacity), ..Self::UNBOUNDED }
    }

    /// The same for items of so many bytes: where they are large and few fit in, in smaller pieces. A change from
    /// one piece to the next costs time, and a piece that is never full costs memory.
    ///
    /// ```
    /// use throng::pool::QueueShape;
    ///
    /// let shape = QueueShape::bounded(100);
    /// assert_eq!(shape.for_items_of(8).block_bits, 8);
    /// assert_eq!(shape.for_items_of(1000).block_bits, 7);
    /// ```
    #[must_use]
    pub const fn for_items_of(mut self, bytes: usize) -> Self {
        const SMALL: usize = 1 << 14;
        if let Some(capacity) = self.capacity {
            while self.block_bits > LEAST_BLOCK_BITS
                && self.block_bits <= Self::MOST_BLOCK_BITS
                && 1 << (self.block_bits - 1) >= capacity
                && bytes > SMALL >> self.block_bits
            {
                self.block_bits -= 1;
            }
        }
        self
    }

    /// The smallest pieces, and no patience: what exhaustive checks use.
    #[must_use]
    pub const fn tiny(capacity: Option<usize>, block_bits: u32) -> Self {
        QueueShape { capacity, block_bits, polls: 1, bold_ns: 0 }
    }

    fn checked(self) -> Result<Self, ShapeError> {
        if let Some(capacity) = self.capacity {
            ShapeError::check_range("capacity", capacity, 1..=Self::MOST_CAPACITY)?;
        }
        let most = Self::MOST_BLOCK_BITS as usize;
        ShapeError::check_range("log2 of the block", self.block_bits as usize, 1..=most)?;
        Ok(self)
    }
}

/// How far a pop has come.
enum Reach<'a, T: Send, M: Machine> {
    /// To its item.
    Here(Mine<'a, T, M>),
    /// A ticket was drawn from this head, but its item is not where it would be, or there is more to do.
    Elsewhere(Head),
    /// The queue may be empty, or another was faster.
    Nowhere,
}

/// An item that has not been pushed: there is a reason, or else its consumer did not wait for it.
struct NotPushed<T> {
    item: T,
    reason: Option<NoTicket>,
}

/// log2 of the items in one piece of memory of the smallest queue.
const LEAST_BLOCK_BITS: u32 = 4;
/// How many blocks an unbounded queue keeps for later.
const SPARES: usize = 4;
/// Entries of its table of blocks. With more blocks than that alive, finding one takes longer.
const BUCKETS: usize = 256;
const MOST_BUCKETS: usize = 1 << 16;

impl<T: Send, M: Machine> Queue<T, M> {
    /// A queue of this shape, on machine `M`.
    ///
    /// # Errors
    /// When the capacity is 0 or above [`QueueShape::MOST_CAPACITY`], or the pieces are too large.
    pub fn on_machine(shape: QueueShape) -> Result<Self, ShapeError> {
        Self::starting_at(Ticket::new(0), shape)
    }

    fn starting_at(first: Ticket, shape: QueueShape) -> Result<Self, ShapeError> {
        let QueueShape { capacity, block_bits, .. } = shape.checked()?;
        let (spares, buckets) = match capacity {
            None => (Some(SPARES), BUCKETS),
            Some(capacity) => {
                let blocks = (capacity >> block_bits) + 2;
                (None, (2 * blocks).next_power_of_two().min(MOST_BUCKETS))
            }
        };
        Ok(Queue {
            tickets: Tickets::new(first, &shape),
            blocks: Blocks::new(first, block_bits, spares, buckets),
            shape,
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
                Some(NoTicket::Full(next)) if !self.tickets.wait_for_room(cpu, next, way_out) => {
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

    /// Nothing is needed any more when one of the rare cases has been seen to, each in a function of its own
    /// that does all the rest: so the registers that this one uses need not be saved, and that is much of what
    /// an uncontended push takes. The same holds for [`reach`](Queue::reach).
    #[inline(always)]
    fn push_once(&self, cpu: &M::Cpu, item: T) -> Result<(), NotPushed<T>> {
        let hint = self.blocks.hint(Side::Push);
        let Some(drawn) = self.tickets.draw_push_at_once() else {
            return self.push_slowly(cpu, item);
        };
        let Some(found) = self.blocks.find(drawn.ticket, &hint) else {
            return self.push_elsewhere(cpu, drawn, item);
        };
        // Only where it is: when the item is in, the slot may be given back at any time.
        let slot: *const Slot<T, M> = found.slot;
        // SAFETY: the ticket was drawn to push with, and is used here only.
        unsafe { found.slot.put(found.this_use, item) };
        M::prefetch(Blocks::lines_after(slot));
        if self.blocks.may_have_gone() || drawn.is_awaited {
            return self.push_disputed(drawn, slot, found.this_use);
        }
        Ok(())
    }

    /// Where the queue may be full, or another was faster.
    #[cold]
    #[inline(never)]
    fn push_slowly(&self, cpu: &M::Cpu, item: T) -> Result<(), NotPushed<T>> {
        match self.tickets.draw_push(cpu) {
            Ok(drawn) => self.push_elsewhere(cpu, drawn, item),
            Err(reason) => Err(NotPushed { item, reason: Some(reason) }),
        }
    }

    /// In a block that is scattered; or in one, or half of one, that nobody has come to before or not many.
    #[cold]
    #[inline(never)]
    fn push_elsewhere(&self, cpu: &M::Cpu, drawn: ToPush, item: T) -> Result<(), NotPushed<T>> {
        let ticket = drawn.ticket;
        if let Some(found) = self.blocks.find_scattered(Side::Push, ticket) {
            let slot: *const Slot<T, M> = found.slot;
            // SAFETY: the ticket was drawn to push with, and is used here only.
            unsafe { found.slot.put(found.this_use, item) };
            if self.blocks.may_have_gone() || drawn.is_awaited {
                return self.push_disputed(drawn, slot, found.this_use);
            }
            return Ok(());
        }
        let found = self.blocks.find_anew(Side::Push, ticket);
        let slot: *const Slot<T, M> = found.slot;
        // SAFETY: the ticket was drawn to push with, and is used here only.
        unsafe { found.slot.put(found.this_use, item) };
        let pushed = self.push_disputed(drawn, slot, found.this_use);
        if self.blocks.is_half_way(ticket) {
            self.tickets.look_at_producers(cpu);
            self.blocks.prepare_after(ticket, self.tickets.is_crowded());
        }
        pushed
    }

    /// The item is in its slot, but its consumer may have gone without it, or must be told.
    #[cold]
    #[inline(never)]
    fn push_disputed(
        &self,
        drawn: ToPush,
        slot: *const Slot<T, M>,
        this_use: Use,
    ) -> Result<(), NotPushed<T>> {
        let back = self.blocks.take_back(drawn.ticket, slot, this_use);
        if drawn.is_awaited {
            self.tickets.tell_item();
        }
        match back {
            None => Ok(()),
            Some(item) => Err(NotPushed { item, reason: None }),
        }
    }

    /// Pops if there is an item. Never waits.
    ///
    /// # Errors
    /// When the queue is empty, and whether it is closed.
    #[inline(always)]
    pub fn try_pop_on(&self, cpu: &M::Cpu) -> Result<T, PopError> {
        match self.reach()? {
            Reach::Here(found) => Ok(found.take()),
            other => self.try_pop_from(cpu, other),
        }
    }

    #[cold]
    #[inline(never)]
    fn try_pop_from<'a>(&'a self, cpu: &M::Cpu, mut reach: Reach<'a, T, M>) -> Result<T, PopError> {
        loop {
            if let Some(item) = self.pop_from(cpu, reach)? {
                return Ok(item);
            }
            reach = self.reach()?;
        }
    }

    /// Draws a ticket, and finds its item, if that can be done at once. Only where it is, so that a large item
    /// is not copied from here to there.
    #[inline(always)]
    fn reach(&self) -> Result<Reach<'_, T, M>, PopError> {
        // Where slots stay, one can look whether the item is there before the ticket is drawn: then there is
        // no need to know how far the producers are, or to touch their word.
        let (head, found) = if self.blocks.stay()
            && let Some(head) = self.tickets.look_at_head()
        {
            match self.blocks.find(head.next(), &self.blocks.hint(Side::Pop)) {
                Some(found) if found.is_full() && self.tickets.draw_pop_from(head) => (head, found),
                Some(_) => return Ok(Reach::Nowhere),
                None => return Ok(self.reach_scattered(head)),
            }
        } else {
            if self.tickets.is_empty_still() {
                return Err(PopError::Empty);
            }
            let hint = self.blocks.hint(Side::Pop);
            let Some(head) = self.tickets.draw_pop_at_once()? else {
                return Ok(Reach::Nowhere);
            };
            match self.blocks.find(head.next(), &hint) {
                Some(found) if found.is_full() => (head, found),
                _ => return Ok(Reach::Elsewhere(head)),
            }
        };
        if head.is_awaited() {
            return Ok(Reach::Elsewhere(head));
        }
        if self.tickets.has_many_after(head) {
            // A slot is read and then written. If its line comes to be written at once, it comes once only.
            M::prefetch(Blocks::lines_after(found.slot));
        }
        // SAFETY: the ticket was drawn to pop with, and the item is there.
        Ok(Reach::Here(unsafe { found.mine() }))
    }

    /// The same in a block that is scattered, where slots stay: a crowd pushes, and one who is alone pops.
    #[cold]
    #[inline(never)]
    fn reach_scattered(&self, head: Head) -> Reach<'_, T, M> {
        match self.blocks.find_scattered(Side::Pop, head.next()) {
            Some(found) if found.is_full() && self.tickets.draw_pop_from(head) => {
                Reach::Elsewhere(head)
            }
            _ => Reach::Nowhere,
        }
    }

    /// The item that is within reach, or another; `None` where its producer did not come in time.
    fn pop_from(&self, cpu: &M::Cpu, reach: Reach<'_, T, M>) -> Result<Option<T>, PopError> {
        match reach {
            Reach::Here(found) => Ok(Some(found.take())),
            Reach::Elsewhere(head) => Ok(self.pop_elsewhere(cpu, head)),
            Reach::Nowhere => Ok(self.pop_elsewhere(cpu, self.tickets.draw_pop(cpu)?)),
        }
    }

    /// A ticket was drawn from this head: of a block that is scattered; or of one, or half of one, that nobody
    /// has come to before or not many; or the item was not there; or producers wait for room.
    fn pop_elsewhere(&self, cpu: &M::Cpu, head: Head) -> Option<T> {
        if head.is_awaited() {
            self.tickets.tell_room();
        }
        let ticket = head.next();
        if let Some(found) = self.blocks.find_scattered(Side::Pop, ticket)
            && found.is_full()
        {
            // SAFETY: the ticket was drawn to pop with, and the item is there.
            return Some(unsafe { found.mine() }.take());
        }
        let found = self.blocks.find_anew(Side::Pop, ticket);
        // SAFETY: the ticket was drawn to pop with, and its item has not been taken.
        let item = unsafe { found.slot.take(found.this_use) };
        let item = item.or_else(|| self.take_late(cpu, ticket));
        if self.blocks.is_half_way(ticket) {
            self.tickets.look_at_consumers(cpu);
            self.blocks.retire_before(ticket);
        }
        item
    }

    /// The item of a ticket drawn to pop with, which was not there at first. Waits a little, if its
    /// producer is on the way.
    fn take_late(&self, cpu: &M::Cpu, ticket: Ticket) -> Option<T> {
        let Found { slot, this_use } = self.blocks.find_again(ticket);
        let polls = self.tickets.polls_for(ticket);
        slot.wait_a_little(cpu, this_use, polls);
        // SAFETY: the caller has not got the item, and has not given up.
        let item = unsafe { slot.take(this_use) }.or_else(|| self.blocks.give_up(ticket));
        if item.is_none() && polls > 0 {
            self.tickets.tell_passed_over();
        }
        item
    }

    /// Pops; waits for an item until the way out opens.
    ///
    /// # Errors
    /// When the way out opened, or the queue is empty and closed.
    #[inline(always)]
    pub fn pop_on(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> Result<T, PopError> {
        match self.reach() {
            Ok(Reach::Here(found)) => Ok(found.take()),
            other => self.pop_later(cpu, other, way_out),
        }
    }

    #[cold]
    #[inline(never)]
    fn pop_later<'a>(
        &'a self,
        cpu: &M::Cpu,
        reach: Result<Reach<'a, T, M>, PopError>,
        way_out: &WayOut<'_, M>,
    ) -> Result<T, PopError> {
        let mut popped = reach.and_then(|reach| self.try_pop_from(cpu, reach));
        while let Err(PopError::Empty) = popped {
            let may_have_come = self.tickets.wait_for_item(cpu, way_out);
            popped = self.try_pop_on(cpu);
            if !may_have_come {
                break;
            }
        }
        popped
    }

    /// Closes the queue: pushes are refused from now on; what is inside can still be popped. Tells whether
    /// this call closed it.
    pub fn close_on(&self, _cpu: &M::Cpu) -> bool {
        self.tickets.close()
    }

    /// Whether the queue is closed.
    pub fn is_closed(&self) -> bool {
        self.tickets.is_closed()
    }

    /// How many items are inside, pushes in progress included. While others push and pop, that is a
    /// number from the past.
    pub fn len(&self) -> usize {
        let front = self.tickets.front();
        let items = self.tickets.end().ahead_of(front).max(0) as usize;
        self.capacity().map_or(items, |capacity| items.min(capacity))
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

impl<T: Send, M: Machine> fmt::Debug for Queue<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

impl<T: Send, M: Machine> Drop for Queue<T, M> {
    /// Drops what is inside. Where that panics, the rest is dropped all the same.
    fn drop(&mut self) {
        struct Rest<'a, T: Send, M: Machine>(&'a mut Queue<T, M>);

        impl<T: Send, M: Machine> Drop for Rest<'_, T, M> {
            fn drop(&mut self) {
                self.0.blocks.left().for_each(drop);
            }
        }

        Rest(self).0.blocks.left().for_each(drop);
    }
}
