//! Pushing into a full queue: the oldest item makes room.

use std::sync::atomic::Ordering::{Acquire, SeqCst};

use super::draw::{Drawn, NoTicket};
use super::ring::Seat;
use super::words::{Closure, Tail, Ticket};
use super::{NotPushed, Queue};
use crate::machine::{Cpu, Machine, Word};

impl<T, M: Machine> Queue<T, M> {
    /// Pushes; if a bounded queue is full, takes out the oldest item and returns it. For queues that are not closed
    /// meanwhile.
    ///
    /// The call draws a ticket t to push with although there is no room, and then the ticket `capacity` before t to pop
    /// with, unless a consumer was faster. So each call takes out one item at most, and no other push can get
    /// the room. It may wait for calls in progress: for the push of the item that it takes out, and
    /// for the pop of an item whose slot it needs.
    pub fn force_push_on(&self, cpu: &M::Cpu, item: T) -> Option<T> {
        let mut taken = None;
        let mut round = 0;
        let mut pushed = self.push_once(cpu, item);
        while let Err(NotPushed { item, reason }) = pushed {
            pushed = match reason {
                Some(NoTicket::Full(next)) if taken.is_none() => match self.overdraw(next) {
                    Some(drawn) => {
                        taken = self.displace(cpu, drawn.ticket);
                        self.push_when_empty(cpu, drawn, item)
                    }
                    None => self.push_once(cpu, item),
                },
                _ => {
                    // Consumers have passed this call over after it had made room: there is room, or will be.
                    cpu.retry(round);
                    round += 1;
                    self.push_once(cpu, item)
                }
            };
        }
        taken
    }

    /// Draws ticket `next` although there is no room for it, if it is still the next one.
    fn overdraw(&self, next: Ticket) -> Option<Drawn> {
        let tail = self.tail();
        if tail.has_room() || tail.closure() != Closure::UsedUp || tail.next() != next {
            return None;
        }
        let drawn = Tail::new(next.plus(1), 0, tail.flag());
        self.tail.compare_exchange(tail.0, drawn.0, SeqCst, Acquire).ok()?;
        Some(Drawn { ticket: next, consumers_sleep: tail.flag() != 0 })
    }

    /// Makes room for a ticket: takes the item of the ticket `capacity` before it, unless a consumer has drawn that.
    fn displace(&self, cpu: &M::Cpu, ticket: Ticket) -> Option<T> {
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
                    self.wake_producers();
                }
                return self.take_when_full(cpu, self.seat_of(oldest));
            }
            // Another call is about to make room for the ticket before.
            cpu.retry(round);
            round += 1;
        }
    }

    /// Takes the item of a ticket drawn to pop with, when it is there; `None` if its producer has left.
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

    /// Pushes with a ticket that was drawn, when its slot is empty.
    fn push_when_empty(&self, cpu: &M::Cpu, drawn: Drawn, item: T) -> Result<(), NotPushed<T>> {
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
