//! Popping: with a drawn ticket, from the slot of that ticket.

use std::sync::atomic::Ordering::SeqCst;

use super::Queue;
use super::draw::Confirmed;
use super::left::Side;
use super::ring::Seat;
use super::words::{Head, Ticket};
use crate::error::PopError;
use crate::machine::{Machine, WayOut};

/// The factor by which a consumer that may wait polls longer for the item of its ticket than a
/// consumer that may not. The polls then take some 50 microseconds.
const PATIENCE: u32 = 8;

/// The result of a first attempt to pop that got no item.
pub(super) enum NotPopped {
    /// A ticket was drawn from this head, and the pop must be finished.
    Ticket(Head),
    /// No ticket was drawn: the queue may be empty, or another consumer was faster.
    Nothing,
}

impl<T, M: Machine> Queue<T, M> {
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
    pub(super) fn pop_once<E>(
        &self,
        later: impl FnOnce(NotPopped) -> Result<T, E>,
    ) -> Result<T, E> {
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
    pub(super) unsafe fn take(&self, seat: Seat<'_, T, M>) -> T {
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
    pub(super) fn leave_pop(&self, seat: Seat<'_, T, M>) -> Option<T> {
        self.hints.left.add(seat, Side::Consumer);
        M::heavy_fence();
        self.finish_leaving(seat)
    }

    /// Finishes leaving a ticket that was drawn to push with. The consumer may take the item by
    /// compare-exchange only.
    pub(super) fn finish_leaving(&self, seat: Seat<'_, T, M>) -> Option<T> {
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
    pub(super) fn pop_later(
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
}
