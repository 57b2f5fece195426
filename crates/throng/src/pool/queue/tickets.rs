//! The two words that tickets are drawn from.
//!
//! A ticket is a number below 2^43; the one after the last is 0 again, so tickets are compared by their
//! distance. The producers' word, the *tail*, says which ticket is next and how many may still be drawn
//! before somebody must look how far the consumers are:
//!
//! | bits | tail |
//! |---|---|
//! | 63..21 | the next ticket |
//! | 20..1 | room: so many more may be drawn, less 1, two's complement |
//! | 0 | consumers sleep, and want to be told of an item |
//!
//! Who draws adds 1 to the ticket and takes 1 from the room, in one `fetch_add`; where the room was not
//! above 0, the draw is void. Void draws move both halves alike, so the ticket that is really next can
//! always be told. So a bounded queue needs no more than an unbounded one: one `fetch_add` a push, and a
//! compare-exchange whenever the room has been used up. Far below 0, the room means *closed*.
//!
//! | room | meaning |
//! |---|---|
//! | 1 to 2^18 | so many tickets may be drawn |
//! | 0 to -2^17 | none; so many draws were void |
//! | below -2^17 | closed; `CLOSED` less so many void draws |
//!
//! The consumers' word, the *head*:
//!
//! | bits | head |
//! |---|---|
//! | 63..2 | the next ticket |
//! | 1 | producers sleep, and want to be told of room |
//! | 0 | closed |

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

use super::QueueShape;
use super::crowd::{Breath, Crowd};
use super::forbearance::Forbearance;
use crate::machine::{Cpu, Line, Machine, Place, WayOut, Word};
use crate::pool::PopError;

const TICKET_SHIFT: u32 = 21;
const ROOM_BITS: u32 = 20;
const CONSUMERS_SLEEP: u64 = 1;

/// No more tickets than this are given out at once. Half of what fits, so that void draws have the other
/// half, one for every thread that draws at this moment.
const MOST_ROOM: i64 = 1 << (ROOM_BITS - 2);
const CLOSED: i64 = -(1 << (ROOM_BITS - 2));
const CLOSED_BELOW: i64 = CLOSED / 2;

/// What a draw adds to the tail: one ticket more, one room less.
const DRAW_PUSH: u64 = (1 << TICKET_SHIFT) - 2;

const HEAD_CLOSED: u64 = 1;
const PRODUCERS_SLEEP: u64 = 2;
/// What a draw adds to the head.
const DRAW_POP: u64 = 4;

/// How one waits before it sleeps. All looks together take as long as falling asleep and being woken does,
/// several times: who is only faster than the other side for a while should not sleep.
#[derive(Clone, Copy, Debug)]
struct Looks {
    /// Pauses between two looks: 1, 2, 4, .. up to 2^`most_wait`.
    most_wait: u32,
    /// So many looks.
    count: u32,
}

/// An item should not wait for its consumer.
const FOR_ITEM: Looks = Looks { most_wait: 6, count: 24 };
/// Room can wait: while there is none, consumers have enough to do. Each look takes their line away from them.
const FOR_ROOM: Looks = Looks { most_wait: 8, count: 24 };
/// So much room there should be for a producer that waits, where it does not wait long for it, but no more than
/// so many parts of the capacity: if all come back for every place that gets free, nobody gets ahead.
const ENOUGH_ROOM: i64 = 64;
const ENOUGH_PARTS: i64 = 8;

/// Items should not wait long.
const BREATH_FOR_ITEM: Breath = Breath { enough: 64, most: 64 };
/// As for room: when there is enough, consumers have still enough to do.
const fn breath_for_room(capacity: i64) -> Breath {
    Breath { enough: capacity / 4 + 1, most: 256 }
}

/// So many items are many: more than there are on the lines that a consumer fetches early.
const MANY: i64 = 16;

/// The number of a push and of the pop that gets its item. Bits above those of a number mean nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket(u64);

impl PartialEq for Ticket {
    fn eq(&self, other: &Ticket) -> bool {
        self.ahead_of(*other) == 0
    }
}

impl Eq for Ticket {}

impl Ticket {
    /// So many bits a number has.
    pub(super) const BITS: u32 = 64 - TICKET_SHIFT;

    #[inline]
    pub(super) const fn new(number: u64) -> Self {
        Ticket(number)
    }

    #[inline]
    pub(super) const fn number(self) -> u64 {
        self.0 << TICKET_SHIFT >> TICKET_SHIFT
    }

    /// The number, for those who look at its last bits only.
    #[inline]
    pub(super) const fn last_bits(self) -> u64 {
        self.0
    }

    /// How many tickets it is ahead of `other`; negative where it is behind.
    #[inline]
    pub(super) const fn ahead_of(self, other: Ticket) -> i64 {
        (self.0.wrapping_sub(other.0) << TICKET_SHIFT) as i64 >> TICKET_SHIFT
    }
}

/// What the tail says.
#[derive(Clone, Copy, Debug)]
struct Tail(u64);

impl Tail {
    const fn new(ticket: Ticket, room: i64, flag: u64) -> Self {
        Tail((ticket.0 << TICKET_SHIFT).wrapping_add(((room - 1) << 1) as u64) | flag)
    }

    #[inline]
    const fn room(self) -> i64 {
        (((self.0 << (64 - TICKET_SHIFT)) as i64) >> (65 - TICKET_SHIFT)) + 1
    }

    const fn flag(self) -> u64 {
        self.0 & CONSUMERS_SLEEP
    }

    /// Whether a draw is not void.
    #[inline]
    const fn has_room(self) -> bool {
        const BELOW_ZERO: u64 = 1 << (TICKET_SHIFT - 1);
        self.0 & BELOW_ZERO == 0
    }

    /// The ticket that a draw gets, if it is not void.
    #[inline]
    const fn drawn(self) -> Ticket {
        // While there is room, it does not reach the ticket's bits; else it has taken 1 from them.
        Ticket(self.0 >> TICKET_SHIFT)
    }

    #[inline]
    const fn is_closed(self) -> bool {
        self.room() < CLOSED_BELOW
    }

    /// The ticket that is really next.
    #[inline]
    const fn next(self) -> Ticket {
        if self.has_room() { self.drawn() } else { self.next_without_void() }
    }

    #[cold]
    #[inline(never)]
    const fn next_without_void(self) -> Ticket {
        let void = match self.room() {
            room if room < CLOSED_BELOW => CLOSED - room,
            room => -room,
        };
        Ticket::new(self.drawn().0.wrapping_add(1).wrapping_sub(void as u64))
    }
}

/// What the head says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head(u64);

impl Head {
    #[inline]
    pub(super) const fn next(self) -> Ticket {
        Ticket::new(self.0 >> 2)
    }

    /// Producers sleep: [`tell_room`](Tickets::tell_room) when a ticket was drawn.
    #[inline]
    pub(super) const fn is_awaited(self) -> bool {
        self.0 & PRODUCERS_SLEEP != 0
    }

    /// The head, without its flags, when so many more items have been taken.
    #[inline]
    const fn after(self, items: i64) -> u64 {
        (self.0 & !(DRAW_POP - 1)).wrapping_add(items as u64 * DRAW_POP)
    }
}

/// A ticket to push with.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToPush {
    pub(super) ticket: Ticket,
    /// Consumers sleep: [`tell_item`](Tickets::tell_item) when the item is in place.
    pub(super) is_awaited: bool,
}

impl ToPush {
    #[inline]
    const fn new(tail: Tail) -> Self {
        ToPush { ticket: tail.drawn(), is_awaited: tail.flag() == CONSUMERS_SLEEP }
    }
}

/// Why no ticket could be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoTicket {
    /// There is no room for this ticket, which is the next.
    Full(Ticket),
    /// The queue is closed.
    Closed,
}

/// Both words, each on a line of its own, and what is known of the crowd.
#[derive(Debug)]
pub(super) struct Tickets<M: Machine> {
    tail: Line<M::Word>,
    /// The head, and how far the tail was when a consumer last looked.
    head: Line<Front<M>>,
    /// 1 while the queue is full or has been lately, or is closed. Then a look at the tail comes before a draw, so
    /// that those who find it so again and again do not write to it, and void draws stay few.
    tight: Line<M::Word>,
    push_crowd: Line<Crowd<M>>,
    pop_crowd: Line<Crowd<M>>,
    forbearance: Forbearance<M>,
    capacity: Option<i64>,
    /// So many tickets a block has.
    block: u64,
    /// No more often than that one who waits looks before it sleeps.
    most_looks: u32,
}

#[derive(Debug)]
struct Front<M: Machine> {
    head: M::Word,
    /// What the head will be, but for its flags, when all items are taken that have been seen.
    seen: M::Word,
}

impl<M: Machine> Front<M> {
    /// How far the items that have been seen reach beyond `head`, in units of 1/4; above 0 where there is
    /// one.
    #[inline]
    fn ahead_of(&self, head: Head) -> i64 {
        self.seen.load(Relaxed).wrapping_sub(head.0) as i64
    }
}

impl<M: Machine> Tickets<M> {
    pub(super) fn new(first: Ticket, shape: &QueueShape) -> Self {
        let &QueueShape { polls, bold_ns, .. } = shape;
        let capacity = shape.capacity.map(|capacity| capacity as i64);
        let room = capacity.unwrap_or(MOST_ROOM).min(MOST_ROOM);
        Tickets {
            most_looks: polls,
            tail: Line::word::<M>(Tail::new(first, room, 0).0, Place::named("tail")),
            head: Line::new::<M>(Place::named("head"), |spot| Front {
                head: M::Word::new(first.0 << 2, spot),
                seen: M::Word::new(first.0 << 2, spot),
            }),
            tight: Line::word::<M>(0, Place::named("tight")),
            push_crowd: Crowd::new("crowd of producers", bold_ns, breath_for_room(room)),
            pop_crowd: Crowd::new("crowd of consumers", bold_ns, BREATH_FOR_ITEM),
            forbearance: Forbearance::new(polls),
            capacity,
            block: 1 << shape.block_bits,
        }
    }

    /// Whether there is a crowd of producers.
    pub(super) fn is_crowded(&self) -> bool {
        self.push_crowd.is_bold()
    }

    /// To be called with a ticket in the middle of a block.
    pub(super) fn look_at_producers(&self, cpu: &M::Cpu) {
        self.push_crowd.look(&self.pop_crowd, cpu, self.block);
    }

    /// To be called with a ticket in the middle of a block.
    pub(super) fn look_at_consumers(&self, cpu: &M::Cpu) {
        self.pop_crowd.look(&self.push_crowd, cpu, self.block);
        self.forbearance.shrink();
    }

    /// Draws a ticket to push with, if the first try gets one.
    #[inline(always)]
    pub(super) fn draw_push_at_once(&self) -> Option<ToPush> {
        if self.push_crowd.is_bold() && !self.is_tight() {
            let tail = Tail(self.tail.fetch_add(DRAW_PUSH, SeqCst));
            return tail.has_room().then(|| ToPush::new(tail));
        }
        let tail = Tail(self.tail.load(Acquire));
        (tail.has_room() && self.try_draw_push(tail)).then(|| ToPush::new(tail))
    }

    #[inline]
    fn try_draw_push(&self, tail: Tail) -> bool {
        let drawn = tail.0.wrapping_add(DRAW_PUSH);
        self.tail.compare_exchange(tail.0, drawn, SeqCst, Acquire).is_ok()
    }

    /// Draws a ticket to push with: looks, and collides, as often as it takes.
    pub(super) fn draw_push(&self, cpu: &M::Cpu) -> Result<ToPush, NoTicket> {
        let mut collisions = 0;
        loop {
            let tail = Tail(self.tail.load(Acquire));
            if !tail.has_room() {
                match self.make_room(tail) {
                    Err(NoTicket::Full(_)) if self.push_crowd.takes_breath(cpu) => {}
                    made => made?,
                }
            } else if self.try_draw_push(tail) {
                return Ok(ToPush::new(tail));
            } else {
                collisions += 1;
                let next = || self.end();
                let (crowd, other) = (&self.push_crowd, &self.pop_crowd);
                crowd.step_aside(other, cpu, collisions, u64::MAX, tail.next(), next);
            }
        }
    }

    /// Looks how far the consumers are, and lets as many tickets be drawn as there is room for.
    ///
    /// Whoever answers *full* has read the head after the tail, and found `capacity` tickets between
    /// them. The tail cannot have moved in between: nobody makes room unless the head has moved.
    fn make_room(&self, tail: Tail) -> Result<(), NoTicket> {
        if tail.is_closed() {
            self.be_tight();
            return Err(NoTicket::Closed);
        }
        let next = tail.next();
        let room = self.room_before(next, Head(self.head.head.load(Acquire)));
        if room <= 0 {
            self.be_tight();
            return Err(NoTicket::Full(next));
        }
        if self.is_tight() && self.capacity.is_some_and(|capacity| 2 * room > capacity) {
            self.tight.store(0, Relaxed);
        }
        if self.push_crowd.was_told() {
            self.push_crowd.serve(room);
        }
        // Where this fails, somebody else was here: look again.
        let roomy = Tail::new(next, room, tail.flag());
        let _ = self.tail.compare_exchange(tail.0, roomy.0, AcqRel, Acquire);
        Ok(())
    }

    #[inline]
    fn is_tight(&self) -> bool {
        self.tight.load(Relaxed) == 1
    }

    fn be_tight(&self) {
        if !self.is_tight() {
            self.tight.store(1, Relaxed);
        }
    }

    fn room_before(&self, next: Ticket, head: Head) -> i64 {
        let Some(capacity) = self.capacity else {
            return MOST_ROOM;
        };
        (capacity - next.ahead_of(head.next())).min(MOST_ROOM)
    }

    /// Waits until there may be room for ticket `next`, the queue is closed, or the way out opens; `false`
    /// in the last case.
    pub(super) fn wait_for_room(
        &self,
        cpu: &M::Cpu,
        next: Ticket,
        way_out: &WayOut<'_, M>,
    ) -> bool {
        let enough = (self.capacity.unwrap_or(0) / ENOUGH_PARTS).clamp(1, ENOUGH_ROOM);
        let is_below =
            |head, room| head & HEAD_CLOSED == 0 && self.room_before(next, Head(head)) < room;
        let is_tight = |head| is_below(head, enough);
        self.look_while(&self.head.head, cpu, FOR_ROOM, way_out, is_tight);
        let is_full = |head| is_below(head, 1);
        self.sleep_while(&self.head.head, PRODUCERS_SLEEP, cpu, way_out, is_full)
    }

    /// Draws a ticket to pop with, if there is an item for it and the first try gets one. It may turn out that
    /// there is none after all: [`polls_for`](Tickets::polls_for) tells. Returns the head as it was before.
    ///
    /// Who answers *empty* has read the tail after the head, and found no ticket between them: every
    /// ticket pushed with up to then had its consumer.
    #[inline(always)]
    pub(super) fn draw_pop_at_once(&self) -> Result<Option<Head>, PopError> {
        if self.pop_crowd.is_bold() {
            return Ok(Some(Head(self.head.head.fetch_add(DRAW_POP, SeqCst))));
        }
        let head = Head(self.head.head.load(Acquire));
        let is_drawn =
            (self.head.ahead_of(head) > 0 || self.look_at_tail(head)?) && self.draw_pop_from(head);
        Ok(is_drawn.then_some(head))
    }

    /// Whether the queue is as empty as those were told who came last: the answer for who asks again and again.
    #[inline(always)]
    pub(super) fn is_empty_still(&self) -> bool {
        if !self.pop_crowd.was_told() {
            return false;
        }
        let head = Head(self.head.head.load(Acquire));
        let tail = Tail(self.tail.load(Acquire));
        // Where there is no room, it is full, or closed, or takes longer to tell.
        tail.has_room() && tail.drawn() == head.next()
    }

    /// Whether the tail is ahead of the head. If it is far ahead, that is worth remembering. Those who
    /// found nothing have more to do, unless they have been told before.
    #[inline]
    fn look_at_tail(&self, head: Head) -> Result<bool, PopError> {
        let was_told = self.pop_crowd.was_told();
        let tail = Tail(self.tail.load(Acquire));
        let items = tail.next().ahead_of(head.next());
        if was_told {
            let is_empty = items <= 0 && !tail.is_closed();
            return if is_empty { Err(PopError::Empty) } else { Ok(false) };
        }
        if items > 1 {
            self.head.seen.store(head.after(items), Relaxed);
        }
        Ok(items > 0)
    }

    /// The head, for those who look before they draw; `None` in a crowd, or where there was nothing to be
    /// seen lately.
    #[inline]
    pub(super) fn look_at_head(&self) -> Option<Head> {
        self.pop_crowd.is_at_work().then(|| Head(self.head.head.load(Acquire)))
    }

    /// Draws the next ticket, if the head is still that.
    #[inline]
    pub(super) fn draw_pop_from(&self, head: Head) -> bool {
        let drawn = head.0.wrapping_add(DRAW_POP);
        self.head.head.compare_exchange(head.0, drawn, SeqCst, Acquire).is_ok()
    }

    /// Whether so many items are known to follow that their producers have long gone on from where they are: one
    /// may touch the lines of the next ones.
    #[inline]
    pub(super) fn has_many_after(&self, head: Head) -> bool {
        self.head.ahead_of(head) >= MANY * DRAW_POP as i64
    }

    /// As [`draw_pop_at_once`](Tickets::draw_pop_at_once), but looks, and collides, as often as it takes.
    pub(super) fn draw_pop(&self, cpu: &M::Cpu) -> Result<Head, PopError> {
        let mut collisions = 0;
        loop {
            let head = Head(self.head.head.load(Acquire));
            let tail = Tail(self.tail.load(Acquire));
            let items = tail.next().ahead_of(head.next());
            if items <= 0 {
                if tail.is_closed() {
                    return Err(PopError::Closed);
                }
                if self.pop_crowd.takes_breath(cpu) {
                    continue;
                }
                return Err(PopError::Empty);
            }
            if self.pop_crowd.was_told() {
                self.pop_crowd.serve(items);
            }
            if self.draw_pop_from(head) {
                if items > 1 {
                    self.head.seen.store(head.after(items), Relaxed);
                }
                return Ok(head);
            }
            collisions += 1;
            let next = || self.front();
            let (crowd, other) = (&self.pop_crowd, &self.push_crowd);
            crowd.step_aside(other, cpu, collisions, items as u64, head.next(), next);
        }
    }

    /// A ticket was drawn from a head that was awaited: who waits for room is told.
    pub(super) fn tell_room(&self) {
        wake::<M>(&self.head.head, PRODUCERS_SLEEP);
    }

    /// How often to look for the item of a ticket drawn to pop with; 0 where nobody has drawn it to push
    /// with: consumers were too bold.
    pub(super) fn polls_for(&self, ticket: Ticket) -> u32 {
        if self.end().ahead_of(ticket) > 0 {
            return self.forbearance.polls();
        }
        self.pop_crowd.be_careful();
        0
    }

    /// The item of a ticket did not come in time.
    pub(super) fn tell_passed_over(&self) {
        self.forbearance.grow();
    }

    /// An item is in place, and there was somebody to be told.
    #[cold]
    pub(super) fn tell_item(&self) {
        wake::<M>(&self.tail, CONSUMERS_SLEEP);
    }

    /// Waits until there may be an item, the queue is closed, or the way out opens; `false` in the last
    /// case.
    pub(super) fn wait_for_item(&self, cpu: &M::Cpu, way_out: &WayOut<'_, M>) -> bool {
        let empty = |tail| {
            let tail = Tail(tail);
            !tail.is_closed() && tail.next().ahead_of(self.front()) <= 0
        };
        self.look_while(&self.tail, cpu, FOR_ITEM, way_out, empty);
        self.sleep_while(&self.tail, CONSUMERS_SLEEP, cpu, way_out, empty)
    }

    /// Looks at the word while it is as told, ever more rarely, so that many who wait do not keep the line from
    /// those who work, and not for long.
    fn look_while(
        &self,
        word: &M::Word,
        cpu: &M::Cpu,
        looks: Looks,
        way_out: &WayOut<'_, M>,
        blocked: impl Fn(u64) -> bool,
    ) {
        for look in 0..looks.count.min(self.most_looks) {
            if !blocked(word.load(Acquire)) || way_out.is_open(cpu) {
                return;
            }
            cpu.pause(1 << look.min(looks.most_wait));
        }
    }

    /// Sleeps until `blocked` is false of the word or the way out opens; `false` in the latter case, also where
    /// both are so. May return early.
    ///
    /// Before it sleeps, it sets the flag. Who changes the word sees the flag then, or did so before: in that
    /// case this one has seen the change.
    fn sleep_while(
        &self,
        word: &M::Word,
        flag: u64,
        cpu: &M::Cpu,
        way_out: &WayOut<'_, M>,
        blocked: impl Fn(u64) -> bool,
    ) -> bool {
        if !blocked(word.load(Acquire)) || !blocked(word.fetch_or(flag, SeqCst)) {
            return !way_out.is_open(cpu);
        }
        let asleep = |value| value & flag != 0 && blocked(value);
        word.sleep_while(cpu, Acquire, way_out, asleep).is_some()
    }

    #[cfg(test)]
    pub(super) fn producers_sleep(&self) -> bool {
        Head(self.head.head.load(Acquire)).is_awaited()
    }

    #[cfg(test)]
    pub(super) fn consumers_sleep(&self) -> bool {
        Tail(self.tail.load(Acquire)).flag() == CONSUMERS_SLEEP
    }

    /// As in a crowd of producers.
    #[cfg(test)]
    pub(super) fn be_bold(&self) {
        self.push_crowd.be_bold(u64::MAX);
    }

    /// The ticket of the next pop.
    #[inline]
    pub(super) fn front(&self) -> Ticket {
        Head(self.head.head.load(Acquire)).next()
    }

    /// The ticket of the next push.
    #[inline]
    pub(super) fn end(&self) -> Ticket {
        Tail(self.tail.load(Acquire)).next()
    }

    pub(super) fn is_closed(&self) -> bool {
        Tail(self.tail.load(Acquire)).is_closed()
    }

    /// No ticket to push with will be drawn from now on. Tells whether this call is the reason.
    pub(super) fn close(&self) -> bool {
        let mut tail = Tail(self.tail.load(Acquire));
        loop {
            if tail.is_closed() {
                return false;
            }
            let closed = Tail::new(tail.next(), CLOSED, tail.flag());
            match self.tail.compare_exchange(tail.0, closed.0, SeqCst, Acquire) {
                Ok(_) => break,
                Err(found) => tail = Tail(found),
            }
        }
        self.head.head.fetch_or(HEAD_CLOSED, SeqCst);
        wake::<M>(&self.head.head, PRODUCERS_SLEEP);
        wake::<M>(&self.tail, CONSUMERS_SLEEP);
        true
    }
}

/// Wakes those who sleep and have set the flag.
#[cold]
#[inline(never)]
fn wake<M: Machine>(word: &M::Word, flag: u64) {
    word.fetch_and(!flag, SeqCst);
    word.wake();
}
