//! The rings of a queue. A bounded queue has one; in an unbounded queue each ring is twice as large
//! as the one before.
//!
//! A ring of an unbounded queue is replaced when it is full. The tail is *frozen* for that: no
//! ticket is drawn until the next ring is linked and holds the tickets from there on. Every
//! producer that finds the tail frozen does the remaining steps, so that none waits for another.
//! Rings are not freed before the queue is dropped, because any thread may read any of them.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, SeqCst};

use super::Queue;
use super::ring::{Ring, Seat};
use super::words::{FROZEN, MOST_ROOM, NoRoom, Tail, Ticket};
use crate::machine::{Line, Machine, Place, Word};

/// Rings of unbounded queues with fewer slots than this are replaced when producers have to wait
/// for a slot. In each lap, a producer leaves the ticket of a slot whose consumer is preempted, which
/// takes 10 us. With 8 threads on 2 cores and 2^10, 2^12 and 2^13 slots the 99.9th percentile of a call
/// was 3 to 13 us, 0.1 to 1.2 and 0.1 to 0.6 (results/2026-11-20-preempted-epyc-2-cores).
const LEAST_BUSY_RING: usize = 1 << 13;

/// Makes the compiler branch instead of selecting an address. So a bounded queue's first ring is
/// read before it is known that there is no other.
#[cold]
#[inline(always)]
const fn another() {}

impl<T, M: Machine> Queue<T, M> {
    /// Gives a frozen queue a ring for the tickets from `next` on, twice as large as the last one,
    /// and allows draws again. Any number of threads may call this at the same time.
    #[cold]
    pub(super) fn add_ring(&self, next: Ticket) {
        let last = self.last();
        let is_frozen = |tail: Tail| {
            !tail.has_room() && tail.no_room() == NoRoom::Frozen && tail.next() == next
        };
        // The `next` of the replaced ring is set before the freeze ends. So a ring that was the
        // last one during the freeze can only get one successor, now or later.
        if last.start() != next && is_frozen(Tail(self.tail.load(SeqCst))) {
            let address = self.successor_of(last, next);
            last.end_before(next);
            let old = self.address_of(last);
            let _ = self.hints.last.compare_exchange(old, address, SeqCst, Acquire);
        }
        loop {
            let tail = Tail(self.tail.load(Acquire));
            if !is_frozen(tail) {
                return;
            }
            let room = (self.last().len() as i64).min(MOST_ROOM);
            let open = Tail::new(next, room, tail.flag());
            let _ = self.tail.compare_exchange(tail.0, open.0, SeqCst, Acquire);
        }
    }

    /// Gives an unbounded queue a larger ring because producers have to wait for slots of a small
    /// one. In a small ring producers soon come to slots that consumers have not left yet.
    pub(super) fn grow(&self, ring: &Ring<T, M>) {
        let tail = self.tail();
        let is_last = ptr::eq(ring, self.last());
        let is_frozen_or_closed = !tail.has_room() && tail.no_room() != NoRoom::UsedUp;
        if self.capacity().is_none()
            && ring.len() < LEAST_BUSY_RING
            && is_last
            && !is_frozen_or_closed
        {
            let frozen = Tail::new(tail.next(), FROZEN, tail.flag());
            let _ = self.tail.compare_exchange(tail.0, frozen.0, SeqCst, Acquire);
        }
    }

    fn successor_of(&self, last: &Ring<T, M>, start: Ticket) -> u64 {
        let found = last.next.load(Acquire);
        if found != 0 {
            return found;
        }
        if last.len() == 0 {
            self.hints.left.look_only_if_any();
        }
        let is_worn = start.ahead_of(last.start()) > Ring::<T, M>::MOST_SERVED;
        let slots = if is_worn { last.len() } else { 2 * last.len() };
        let slots = slots.max(1 << self.shape.ring_bits);
        let ring = Line::new::<M>(Place::named("ring"), |spot| {
            Ring::<T, M>::growing(start, slots, self.address_of(last), spot)
        });
        let made = Box::into_raw(Box::new(ring.into_inner()));
        let address = made.expose_provenance() as u64;
        match last.next.compare_exchange(0, address, AcqRel, Acquire) {
            Ok(_) => address,
            Err(found) => {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(made) });
                found
            }
        }
    }

    pub(super) fn ring_at(address: u64) -> *const Ring<T, M> {
        ptr::with_exposed_provenance(address as usize)
    }

    #[inline(always)]
    fn ring(&self, address: u64) -> &Ring<T, M> {
        if address == 0 {
            return &self.hints.first;
        }
        another();
        // SAFETY: rings live as long as the queue.
        unsafe { &*Self::ring_at(address) }
    }

    fn address_of(&self, ring: &Ring<T, M>) -> u64 {
        if ptr::eq(ring, &self.hints.first) { 0 } else { ptr::from_ref(ring).addr() as u64 }
    }

    /// Returns the ring of the next push.
    #[inline(always)]
    pub(super) fn last(&self) -> &Ring<T, M> {
        self.ring(self.hints.last.load(Acquire))
    }

    /// Returns the ring of the next pop.
    #[inline(always)]
    pub(super) fn front(&self) -> &Ring<T, M> {
        self.ring(self.hints.front.load(Acquire))
    }

    /// Returns the ring that holds a ticket, searching from `ring` on. Returns `None` if that ring
    /// does not exist yet.
    pub(super) fn ring_of<'a>(
        &'a self,
        ticket: Ticket,
        mut ring: &'a Ring<T, M>,
    ) -> Option<&'a Ring<T, M>> {
        while !ring.holds(ticket) {
            ring = if ticket.ahead_of(ring.start()) < 0 {
                self.ring(ring.previous)
            } else {
                match ring.next.load(Acquire) {
                    0 => return None,
                    next => self.ring(next),
                }
            };
        }
        Some(ring)
    }

    /// Returns the slot of a ticket that was drawn to push with.
    pub(super) fn seat_of(&self, ticket: Ticket) -> Seat<'_, T, M> {
        let ring = self.ring_of(ticket, self.front()).expect("a ticket that was drawn has a slot");
        ring.seat(ticket)
    }

    /// Returns the slot of the ticket at the head, which was drawn to push with. Makes its ring the
    /// front.
    pub(super) fn front_seat(&self, ticket: Ticket) -> Seat<'_, T, M> {
        let seat = self.seat_of(ticket);
        let front = self.front();
        if !ptr::eq(seat.ring, front) && !front.holds(ticket) {
            // All tickets of the earlier rings are drawn.
            let (old, new) = (self.address_of(front), self.address_of(seat.ring));
            let _ = self.hints.front.compare_exchange(old, new, SeqCst, Acquire);
        }
        seat
    }
}
