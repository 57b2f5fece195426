//! Drawing tickets: by compare-exchange after a look, or by `fetch_add` without one.
//!
//! Both sides first check whether the slot is ready, then draw by compare-exchange. That is fastest
//! for one thread. When threads collide although there is room, or an item, for all of them, that
//! side changes to `fetch_add`, which cannot fail.
//!
//! *Producers* may then find no room: such a draw is void. Producers return to compare-exchange
//! when the queue was full, and always use it in a small queue.
//!
//! *Consumers* may draw a ticket for which there is no item: an *overdraft*. They
//! [leave](super::left) that ticket. After an overdraft consumers return to compare-exchange, and
//! each overdraft doubles the number of collisions until the next change to `fetch_add`.

use std::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};

use super::left::{Left, Side};
use super::ring::Ring;
use super::words::{
    CLOSED, DRAW_PUSH, FROZEN, HEAD_CLOSED, Head, MOST_ROOM, NoRoom, ONE, Tail, Ticket,
};
use super::{Queue, QueueShape};
use crate::error::PopError;
use crate::machine::{Machine, Native, NativeWord, Place, Word};

/// The smallest capacity for which producers draw by `fetch_add`. In smaller queues void draws
/// would be too frequent.
const LEAST_FETCH_ADD_CAPACITY: usize = 64;
/// The largest number of collisions until consumers draw by `fetch_add`.
const MOST_COLLISIONS: u64 = 1 << 16;
/// The number of collisions of one call after which its side changes to `fetch_add`.
const COLLISIONS: u32 = 3;
/// The largest number of polls for an item whose push is in progress.
pub(super) const MOST_POLLS: u32 = 1 << 14;

/// The words that all calls read and that are rarely written.
pub(super) struct Hints<T, M: Machine> {
    /// 1 while producers draw by compare-exchange.
    pushes_look_first: M::Word,
    /// The number of collisions until consumers draw by `fetch_add`. 0: they do.
    collisions_to_go: M::Word,
    /// The value of `collisions_to_go` after the next overdraft.
    collisions_next: M::Word,
    /// The number of polls of a call for another call that is in progress.
    polls: M::Word,
    /// The pauses of a consumer that found no item and may wait, in units of [`Cpu::pause`].
    pub(super) item_pauses: M::Word,
    pub(super) left: Left<M>,
    /// The address of the ring of the next push, 0 for the queue's first.
    pub(super) last: M::Word,
    /// The address of the ring of the next pop, 0 for the queue's first.
    pub(super) front: M::Word,
    /// The only ring of a bounded queue. An unbounded one begins with a ring without slots.
    pub(super) first: Ring<T, M>,
}

impl<T> Hints<T, Native> {
    /// Like [`new`](Hints::new) for an unbounded queue, for constants.
    pub(super) const fn unbounded() -> Self {
        Hints {
            pushes_look_first: NativeWord::constant(1),
            collisions_to_go: NativeWord::constant(1),
            collisions_next: NativeWord::constant(1),
            polls: NativeWord::constant(QueueShape::UNBOUNDED.polls as u64),
            item_pauses: NativeWord::constant(1),
            left: Left::none_yet(),
            last: NativeWord::constant(0),
            front: NativeWord::constant(0),
            first: Ring::none_yet(),
        }
    }
}

impl<T, M: Machine> Hints<T, M> {
    pub(super) fn new(start: Ticket, shape: &QueueShape, spot: &M::Spot) -> Self {
        let links = M::spot(Place::named("links").of_addresses());
        Hints {
            pushes_look_first: M::Word::new(1, spot),
            collisions_to_go: M::Word::new(1, spot),
            collisions_next: M::Word::new(1, spot),
            polls: M::Word::new(u64::from(shape.polls), spot),
            item_pauses: M::Word::new(1, spot),
            left: Left::new(spot, &links),
            last: M::Word::new(0, &links),
            front: M::Word::new(0, &links),
            first: match shape.capacity {
                Some(capacity) => {
                    let slots = capacity + usize::from(shape.spare_slot);
                    Ring::endless(start, slots.next_power_of_two(), spot)
                }
                None => Ring::none(start, spot),
            },
        }
    }

    #[inline(always)]
    pub(super) fn pushes_by_fetch_add(&self) -> bool {
        self.pushes_look_first.load(Relaxed) == 0
    }

    #[inline(always)]
    pub(super) fn pops_by_fetch_add(&self) -> bool {
        self.collisions_to_go.load(Relaxed) == 0
    }

    #[cfg(test)]
    pub(super) fn values(&self) -> [u64; 5] {
        let Hints {
            pushes_look_first, collisions_to_go, collisions_next, polls, item_pauses, ..
        } = self;
        [pushes_look_first, collisions_to_go, collisions_next, polls, item_pauses]
            .map(|word| word.load(Relaxed))
    }

    pub(super) fn pop_by_fetch_add(&self) {
        self.collisions_to_go.store(0, Relaxed);
    }

    /// Counts a collision of consumers for which there were enough items.
    #[cold]
    fn count_collision(&self) {
        let left = self.collisions_to_go.load(Relaxed);
        if left > 0 {
            self.collisions_to_go.store(left - 1, Relaxed);
        }
    }

    /// Counts a draw by a consumer for which there was no item.
    #[cold]
    fn count_overdraft(&self) {
        let next = self.collisions_next.load(Relaxed);
        self.collisions_to_go.store(next, Relaxed);
        self.collisions_next.store((2 * next).min(MOST_COLLISIONS), Relaxed);
    }

    pub(super) fn polls(&self) -> u32 {
        self.polls.load(Relaxed) as u32
    }

    /// Doubles the number of polls, because a producer was passed over. Otherwise two threads that
    /// are equally fast could pass each other for ever.
    pub(super) fn more_polls(&self) {
        self.polls.store((2 * self.polls.load(Relaxed)).clamp(1, u64::from(MOST_POLLS)), Relaxed);
    }

    /// Lowers the number of polls towards `least`, because a producer came in time.
    pub(super) fn fewer_polls(&self, least: u32) {
        let (polls, least) = (self.polls.load(Relaxed), u64::from(least));
        if polls > least {
            self.polls.store((polls - polls / 16 - 1).max(least), Relaxed);
        }
    }

    pub(super) fn set_pushes_look_first(&self, looks: bool) {
        if (self.pushes_look_first.load(Relaxed) == 1) != looks {
            self.pushes_look_first.store(u64::from(looks), Relaxed);
        }
    }
}

/// A ticket drawn to push with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub(super) ticket: Ticket,
    /// Whether consumers sleep and must be woken when the item is in place.
    pub(super) consumers_sleep: bool,
}

impl Drawn {
    #[inline(always)]
    pub(super) const fn from(tail: Tail) -> Self {
        Drawn { ticket: tail.drawn(), consumers_sleep: tail.flag() != 0 }
    }
}

/// The state of a ticket that was drawn both to pop with and to push with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confirmed {
    /// The caller is its consumer.
    Drawn,
    /// The caller was its consumer, and has [left](super::left).
    Left,
}

/// The reason why no ticket could be drawn to push with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTicket {
    /// There is no room for this ticket, which is the next one.
    Full(Ticket),
    Closed,
}

impl<T, M: Machine> Queue<T, M> {
    #[inline(always)]
    pub(super) fn tail(&self) -> Tail {
        Tail(self.tail.load(Acquire))
    }

    #[inline(always)]
    pub(super) fn head(&self) -> Head {
        Head(self.head.load(Acquire))
    }

    #[inline(always)]
    pub(super) fn draw_push_by_fetch_add(&self) -> Tail {
        Tail(self.tail.fetch_add(DRAW_PUSH, SeqCst))
    }

    /// Draws a ticket from `tail` if the tail is still `found`. `tail` is `found`, or `found` with
    /// room added.
    #[inline(always)]
    pub(super) fn draw_push_from(&self, found: Tail, tail: Tail) -> bool {
        let drawn = tail.0.wrapping_add(DRAW_PUSH);
        self.tail.compare_exchange(found.0, drawn, SeqCst, Acquire).is_ok()
    }

    /// Draws a ticket to push with. Returns `None` if the first attempt gets none.
    #[inline(always)]
    pub(super) fn draw_push_at_once(&self) -> Option<Drawn> {
        if self.hints.pushes_by_fetch_add() {
            let tail = self.draw_push_by_fetch_add();
            return tail.has_room().then(|| Drawn::from(tail));
        }
        let found = self.tail();
        let tail = if found.has_room() { found } else { self.granted(found) };
        let is_drawn = tail.has_room() && self.draw_push_from(found, tail);
        is_drawn.then(|| Drawn::from(tail))
    }

    /// Returns the tail of a bounded queue with the present room, or the same tail if there is no
    /// room.
    #[inline(always)]
    fn granted(&self, tail: Tail) -> Tail {
        let Some(capacity) = self.capacity() else {
            return tail;
        };
        let (next, capacity) = (tail.next(), capacity as i64);
        let ring = &self.hints.first;
        // If the queue is full, the oldest item is in the slot of this ticket.
        let reused = next.plus(ring.len() as i64 - capacity);
        let is_in_use = |ticket| !ring.seat(ticket).is_empty();
        if tail.is_used_up() && !is_in_use(reused) && is_in_use(reused.plus((capacity / 4).max(1)))
        {
            // The oldest item has been taken, so there is room for one. There is little more, so
            // the consumers' word is not read.
            return Tail::new(next, 1, tail.flag());
        }
        let room = capacity - next.ahead_of(self.head().next());
        if room <= 0 || tail.no_room() != NoRoom::UsedUp {
            return tail;
        }
        Tail::new(next, room.min(MOST_ROOM), tail.flag())
    }

    /// Draws a ticket to push with. Starts again if another thread has changed the tail.
    pub(super) fn draw_push(&self) -> Result<Drawn, NoTicket> {
        let mut collisions = 0;
        loop {
            let tail = self.tail();
            if tail.has_room() {
                if self.draw_push_from(tail, tail) {
                    return Ok(Drawn::from(tail));
                }
                collisions += 1;
                if collisions >= COLLISIONS && self.has_much_room(tail) {
                    self.hints.set_pushes_look_first(false);
                }
                continue;
            }
            match tail.no_room() {
                NoRoom::Closed => {
                    self.hints.set_pushes_look_first(true);
                    return Err(NoTicket::Closed);
                }
                NoRoom::Frozen => self.add_ring(tail.next()),
                NoRoom::UsedUp => {
                    if let Some(drawn) = self.draw_used_up(tail)? {
                        return Ok(drawn);
                    }
                }
            }
        }
    }

    /// Returns whether draws by `fetch_add` will rarely be void.
    fn has_much_room(&self, tail: Tail) -> bool {
        self.capacity().is_none_or(|capacity| {
            let room = self.room_from(tail.next(), self.head());
            capacity >= LEAST_FETCH_ADD_CAPACITY && 2 * room > capacity as i64
        })
    }

    /// Adds room to the tail and draws from it. Returns `None` if the tail has changed, or was
    /// frozen.
    ///
    /// *Full* is correct: the head only grows, so when the tail was read, at least `capacity`
    /// tickets were between them.
    fn draw_used_up(&self, tail: Tail) -> Result<Option<Drawn>, NoTicket> {
        let next = tail.next();
        let head = self.head();
        let room = self.room_from(next, head);
        if room <= 0 && self.skip_left(head, next) {
            return Ok(None);
        }
        if room > 0 {
            let granted = Tail::new(next, room.min(MOST_ROOM), tail.flag());
            return Ok(self.draw_push_from(tail, granted).then(|| Drawn::from(granted)));
        }
        if self.capacity().is_some() {
            self.hints.set_pushes_look_first(true);
            return Err(NoTicket::Full(next));
        }
        let frozen = Tail::new(next, FROZEN, tail.flag());
        let _ = self.tail.compare_exchange(tail.0, frozen.0, SeqCst, Acquire);
        Ok(None)
    }

    /// Moves the head over a ticket that its producer has left, as a consumer would. Otherwise a
    /// queue without items could be full. Returns false if the ticket at the head was not left, or
    /// its slot is still in use.
    pub(super) fn skip_left(&self, head: Head, next: Ticket) -> bool {
        if !self.is_left(head, next) {
            return false;
        }
        // If the exchange fails, a consumer was faster.
        if self.draw_pop_from(head) && head.producers_sleep() {
            self.wake_producers(1);
        }
        true
    }

    /// Returns whether the ticket at the head was left by its producer, and its slot has skipped
    /// it.
    pub(super) fn is_left(&self, head: Head, next: Ticket) -> bool {
        next.ahead_of(head.next()) > 0 && self.seat_of(head.next()).is_over()
    }

    /// Returns the number of tickets that may be drawn from `next` on.
    pub(super) fn room_from(&self, next: Ticket, head: Head) -> i64 {
        let inside = next.ahead_of(head.next());
        match self.capacity() {
            Some(capacity) => capacity as i64 - inside,
            None => {
                let ring = self.last();
                let served = next.ahead_of(ring.start());
                // Items before its start are in older rings.
                if served > Ring::<T, M>::MOST_SERVED {
                    0
                } else {
                    ring.len() as i64 - inside.min(served)
                }
            }
        }
    }

    #[inline(always)]
    pub(super) fn draw_pop_by_fetch_add(&self) -> Head {
        Head(self.head.fetch_add(ONE, SeqCst))
    }

    /// Draws the next ticket if the head is unchanged. Returns whether it was.
    #[inline(always)]
    pub(super) fn draw_pop_from(&self, head: Head) -> bool {
        self.draw_pops_from(head, 1)
    }

    /// Draws the next `count` tickets if the head is unchanged. Returns whether it was.
    #[inline(always)]
    pub(super) fn draw_pops_from(&self, head: Head, count: usize) -> bool {
        let drawn = head.0.wrapping_add(ONE.wrapping_mul(count as u64));
        self.head.compare_exchange(head.0, drawn, SeqCst, Acquire).is_ok()
    }

    /// Draws a ticket to pop with that a producer has drawn. Starts again if another thread has
    /// changed the head.
    ///
    /// *Empty* is correct: the tail was read after the head, and no ticket was between them.
    pub(super) fn draw_pop(&self, cpu: &M::Cpu) -> Result<Head, PopError> {
        let mut collisions = 0;
        loop {
            let (head, tail) = (self.head(), self.tail());
            let items = tail.next().ahead_of(head.next());
            if items <= 0 {
                return Err(if tail.is_closed() { PopError::Closed } else { PopError::Empty });
            }
            if collisions == COLLISIONS {
                self.hints.count_collision();
            }
            let seat = self.front_seat(head.next());
            // A ticket whose push is in progress is better not drawn, since another consumer may
            // come to it, too. A consumer that was overtaken also polls here, although the item is
            // gone. If it tried again at once, it would take the head's cache line from the
            // consumers that are ahead (12 consumers and 4 producers: 3 instead of 11 million items
            // a second).
            seat.wait_until_full(cpu, self.hints.polls());
            if self.draw_pop_from(head) {
                return Ok(head);
            }
            collisions += 1;
        }
    }

    /// Checks whether a ticket drawn to pop with was drawn to push with. Polls its slot at most
    /// `patience` times. Then the consumer [leaves](super::left) the ticket.
    ///
    /// The head is never moved back: another consumer may have read it and found the queue empty,
    /// although an item had come for the ticket by then.
    ///
    /// # Errors
    /// If no producer had drawn the ticket.
    pub(super) fn confirm(
        &self,
        cpu: &M::Cpu,
        ticket: Ticket,
        patience: u32,
    ) -> Result<Confirmed, PopError> {
        let is_drawn = |tail: Tail| tail.next().ahead_of(ticket) > 0;
        if patience > 0
            && let Some(ring) = self.ring_of(ticket, self.front())
            && ring.seat(ticket).wait_until_full(cpu, patience)
        {
            return Ok(Confirmed::Drawn);
        }
        let tail = self.tail();
        if is_drawn(tail) {
            return Ok(Confirmed::Drawn);
        }
        self.hints.count_overdraft();
        if tail.is_closed() {
            return Err(PopError::Closed);
        }
        self.hints.left.add_ticket(ticket, Side::Consumer);
        M::heavy_fence();
        // If no producer has drawn it, its later producer will see the entry.
        let is_drawn = is_drawn(Tail(self.tail.load(SeqCst)));
        if is_drawn { Ok(Confirmed::Left) } else { Err(PopError::Empty) }
    }

    /// Returns the ticket of the next push.
    #[inline]
    pub(super) fn end(&self) -> Ticket {
        self.tail().next()
    }

    /// Ends draws of tickets to push with. Returns whether this call did.
    pub(super) fn close_tickets(&self) -> bool {
        loop {
            let tail = self.tail();
            let next = tail.next();
            if tail.is_closed() {
                return false;
            }
            let closed = Tail::new(next, CLOSED, tail.flag());
            if self.tail.compare_exchange(tail.0, closed.0, SeqCst, Acquire).is_ok() {
                break;
            }
        }
        self.hints.set_pushes_look_first(true);
        self.head.fetch_or(HEAD_CLOSED, SeqCst);
        self.producers.close();
        self.consumers.close();
        true
    }
}
