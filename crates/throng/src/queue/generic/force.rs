//! Pushing into a full queue, which takes out the oldest item.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use super::Queue;
use super::draw::{Drawn, NoTicket};
use super::push::NotPushed;
use super::ring::Seat;
use super::words::{NoRoom, Tail, Ticket};
use crate::error::Closed;
use crate::machine::{Cpu, Machine, Word};

impl<T, M: Machine> Queue<T, M> {
    /// Pushes `item`. If a bounded queue is full, takes out the oldest item and returns it.
    ///
    /// The call draws a ticket t to push with although there is no room, and puts its item in. Then
    /// it draws the ticket `capacity` before t to pop with, unless a consumer was faster. So each
    /// call takes out at most one item, and not before its own item is inside. It may wait for
    /// calls in progress: for the pop of an item whose slot it needs, for the push of the item that
    /// it takes out, and for other calls of this kind.
    ///
    /// The ticket is drawn only if its slot is free or being emptied. Otherwise each call would
    /// wait for the one before it, in a fixed order, and each of them for a core.
    ///
    /// # Errors
    /// The item, if the queue is closed.
    ///
    /// # Panics
    /// If the queue has a bound and was built without a [spare slot](super::QueueShape::spare_slot).
    pub fn force_push_on(&self, cpu: &M::Cpu, item: T) -> Result<Option<T>, Closed<T>> {
        assert!(
            self.capacity().is_none() || self.shape.spare_slot,
            "force_push needs a queue with a spare slot"
        );
        let mut pushed = self.push_once(cpu, item);
        let mut round = 0;
        while let Err(NotPushed { item, reason }) = pushed {
            let drawn = match reason {
                Some(NoTicket::Closed) => return Err(Closed(item)),
                Some(NoTicket::Full(next)) if self.has_spare_slot(next) => self.overdraw(next),
                Some(NoTicket::Full(_)) => {
                    // Other calls of this kind have all spare slots. Each of them will take out an
                    // item.
                    cpu.retry(round);
                    round += 1;
                    None
                }
                None => None,
            };
            pushed = match drawn {
                Some(drawn) => match self.push_when_empty(cpu, drawn, item) {
                    Ok(()) => return Ok(self.displace(cpu, drawn.ticket)),
                    passed_over => passed_over,
                },
                None => self.push_once(cpu, item),
            };
        }
        Ok(None)
    }

    /// Returns whether the last item in the slot of ticket `next` has been popped, or is being
    /// popped. Once true, it stays true.
    pub(super) fn has_spare_slot(&self, next: Ticket) -> bool {
        next.ahead_of(self.head().next()) < self.last().len() as i64
    }

    /// Draws ticket `next` although there is no room for it, if it is still the next one.
    pub(super) fn overdraw(&self, next: Ticket) -> Option<Drawn> {
        let tail = self.tail();
        if tail.has_room() || tail.no_room() != NoRoom::UsedUp || tail.next() != next {
            return None;
        }
        let drawn = Tail::new(next.plus(1), 0, tail.flag());
        self.tail.compare_exchange(tail.0, drawn.0, SeqCst, Acquire).ok()?;
        Some(Drawn { ticket: next, consumers_sleep: tail.flag() != 0 })
    }

    /// Takes out the item that this ticket displaces, unless a consumer has drawn its ticket. That
    /// is the ticket `capacity` before.
    pub(super) fn displace(&self, cpu: &M::Cpu, ticket: Ticket) -> Option<T> {
        let oldest = ticket.plus(-(self.capacity()? as i64));
        let mut round = 0;
        loop {
            let head = self.head();
            let ahead = head.next().ahead_of(oldest);
            if ahead > 0 {
                return None;
            }
            if ahead == 0 && self.draw_pop_from(head) {
                if head.producers_sleep() {
                    self.wake_producers(1);
                }
                return self.take_when_full(cpu, self.seat_of(oldest));
            }
            if self.skip_left(head, ticket) {
                continue;
            }
            // Another call is about to take out the item before.
            cpu.retry(round);
            round += 1;
        }
    }

    /// Waits for the item of a ticket drawn to pop with, and takes it. Returns `None` if its
    /// producer has left.
    fn take_when_full(&self, cpu: &M::Cpu, seat: Seat<'_, T, M>) -> Option<T> {
        let mut round = 0;
        while !seat.is_full() {
            if seat.is_over() || self.hints.left.is_any() && self.hints.left.has_producer(seat) {
                return None;
            }
            cpu.retry(round);
            round += 1;
        }
        // SAFETY: the ticket was drawn to pop with, and the slot is full.
        Some(unsafe { self.take(seat) })
    }

    /// Waits until the slot of a drawn ticket is empty, and pushes `item` there.
    pub(super) fn push_when_empty(
        &self,
        cpu: &M::Cpu,
        drawn: Drawn,
        item: T,
    ) -> Result<(), NotPushed<T>> {
        let seat = self.seat_of(drawn.ticket);
        let mut round = 0;
        while !seat.is_empty() {
            cpu.retry(round);
            round += 1;
        }
        // SAFETY: the ticket was drawn to push with, and the slot is empty for it.
        unsafe { self.put(seat, drawn, item) }
    }
}
