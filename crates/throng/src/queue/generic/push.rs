//! Pushing: with a drawn ticket, into the slot of that ticket.

use std::sync::atomic::Ordering::SeqCst;

use super::Queue;
use super::draw::{Drawn, NoTicket};
use super::left::Side;
use super::ring::Seat;
use crate::error::PushError;
use crate::machine::{Cpu, Machine, WayOut};

/// The longest that a push waits for a pop in progress, in nanoseconds: a second. A preempted thread goes on within some
/// milliseconds. A thread that was stopped for longer may never go on.
pub(super) const LONGEST_POP: u64 = 1_000_000_000;

/// An item that was not pushed, and the reason. Without a reason its ticket was left, and it must
/// be pushed again.
pub(super) struct NotPushed<T> {
    pub(super) item: T,
    pub(super) reason: Option<NoTicket>,
}

impl<T, M: Machine> Queue<T, M> {
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
    pub(super) fn push_later(
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
    pub(super) fn push_once(&self, cpu: &M::Cpu, item: T) -> Result<(), NotPushed<T>> {
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
    pub(super) unsafe fn put(
        &self,
        seat: Seat<'_, T, M>,
        drawn: Drawn,
        item: T,
    ) -> Result<(), NotPushed<T>> {
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
    pub(super) fn leave_push(&self, seat: Seat<'_, T, M>) {
        let left = &self.hints.left;
        left.add(seat, Side::Producer);
        M::heavy_fence();
        // The consumer may have left this ticket, too. Its entry is removed here, because no item will be put in.
        left.remove_consumer(seat.ticket);
        self.skip_laps(seat);
    }

    /// Makes a slot skip the laps that producers have left. A producer may sleep because the ticket
    /// at the head is one of them. It can then continue, although the head has not moved.
    pub(super) fn skip_laps(&self, seat: Seat<'_, T, M>) {
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
    pub(super) fn after_push(&self, drawn: Drawn) -> Result<(), NotPushed<T>> {
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
}
