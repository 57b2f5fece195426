//! Tickets and turns, and races.
//!
//! A push takes the next ticket at the tail, a pop the next at the head; a ticket's slot has the
//! ticket whose turn it is. Without a fault it is linearizable: all effects are at the
//! compare-exchange, or at the second of two reads of the newest values, as `fetch_add(0)` gives
//! them. A processor with a ticket waits for its turn.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use throng::machine::{Cell, Cpu, Growing, Line, Machine, Place, WayOut, Word};
use throng::structures::pool::{PopError, PushError};
use throng_check::workload::Store;

use super::{Parcel, waiting_forms};

/// A push reads the tail and writes it.
pub(crate) const TICKET_TWICE: u8 = 1;
/// A pop that finds the first slot not filled yet reports that the queue is empty.
pub(crate) const SAYS_EMPTY: u8 = 2;
/// A push that finds the next slot not free yet reports that the queue is full.
pub(crate) const SAYS_FULL: u8 = 3;
/// A push does not wait until its slot has been read.
pub(crate) const OVERWRITES: u8 = 4;
/// A pop does not wait until its slot has been written.
pub(crate) const TAKES_EARLY: u8 = 5;
/// A push checks whether it is closed, and then takes a ticket.
pub(crate) const LOOKS_THEN_TAKES: u8 = 6;
/// A slot is filled without releasing its contents.
pub(crate) const RELAXED: u8 = 7;
/// A waiting consumer continues to wait when it is closed.
pub(crate) const DEAF: u8 = 8;

/// Number of slots at the beginning of an unbounded queue.
const SLOTS: usize = 4;
/// Capacity of an unbounded queue; no run has more items.
const NO_BOUND: u64 = 1 << 40;

/// The lowest bit of the tail, below the ticket.
const CLOSED: u64 = 1;
const TICKET: u64 = 2;

struct Slot<M: Machine> {
    /// Twice the number of the round; odd if the slot is filled.
    turn: M::Word,
    item: M::Cell<Option<Parcel>>,
}

pub(crate) struct Ring<M: Machine, const FAULT: u8> {
    tail: Line<M::Word>,
    head: Line<M::Word>,
    slots: Growing<Line<Slot<M>>>,
    capacity: u64,
}

impl<M: Machine, const FAULT: u8> Ring<M, FAULT> {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let slot =
            |spot: &M::Spot| Slot { turn: M::Word::new(0, spot), item: M::Cell::new(None, spot) };
        let line = move |index| Line::new::<M>(Place::named("slot").index(index), slot);
        Ring {
            tail: Line::word::<M>(0, Place::named("tail")),
            head: Line::word::<M>(0, Place::named("head")),
            slots: Growing::new(capacity.unwrap_or(SLOTS), line),
            capacity: capacity.map_or(NO_BOUND, |capacity| capacity as u64),
        }
    }

    /// Returns the slot of a ticket, and its turn when it is free.
    fn slot(&self, ticket: u64) -> (&Slot<M>, u64) {
        (self.slots.get((ticket % self.capacity) as usize), ticket / self.capacity * 2)
    }
}

impl<M: Machine, const FAULT: u8> Store<Parcel, M> for Ring<M, FAULT> {
    fn try_push_on(&self, cpu: &M::Cpu, item: Parcel) -> Result<(), PushError<Parcel>> {
        for round in 0.. {
            let tail = self.tail.fetch_add(0, AcqRel);
            if tail & CLOSED == CLOSED {
                return Err(PushError::Closed(item));
            }
            let head = self.head.fetch_add(0, AcqRel);
            let ticket = tail / TICKET;
            let (slot, free) = self.slot(ticket);
            // Below 0 where the tail has moved on since.
            if ticket.wrapping_sub(head) as i64 >= self.capacity as i64 {
                return Err(PushError::Full(item));
            }
            if FAULT == SAYS_FULL && slot.turn.load(Acquire) < free {
                // BROKEN: the head already counts the item of this slot as popped.
                return Err(PushError::Full(item));
            }
            let has_ticket = match FAULT {
                TICKET_TWICE => {
                    // BROKEN: another push may have done the same.
                    self.tail.store(tail + TICKET, Release);
                    true
                }
                LOOKS_THEN_TAKES => {
                    // BROKEN: it may have been closed since.
                    let now = self.tail.fetch_add(0, AcqRel);
                    let next = now + TICKET;
                    now / TICKET == ticket
                        && self.tail.compare_exchange(now, next, AcqRel, Relaxed).is_ok()
                }
                _ => {
                    let next = tail + TICKET;
                    self.tail.compare_exchange(tail, next, AcqRel, Relaxed).is_ok()
                }
            };
            if has_ticket {
                if FAULT == SAYS_EMPTY {
                    // Real threads yield now: on one core no other thread would run.
                    cpu.retry(1000);
                }
                if FAULT != OVERWRITES {
                    slot.turn.wait_while(cpu, Acquire, |turn| turn < free);
                }
                // SAFETY: the turn is the ticket's, which no other processor has; except with
                // BROKEN: OVERWRITES.
                unsafe { slot.item.with_mut(|content| *content = Some(item)) };
                // BROKEN: RELAXED.
                let order = if FAULT == RELAXED { Relaxed } else { Release };
                slot.turn.store(free + 1, order);
                return Ok(());
            }
            cpu.retry(round);
        }
        unreachable!("no call tries this often")
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        for round in 0.. {
            let head = self.head.fetch_add(0, AcqRel);
            let tail = self.tail.fetch_add(0, AcqRel);
            if tail / TICKET <= head {
                let is_closed = tail & CLOSED == CLOSED;
                return Err(if is_closed { PopError::Closed } else { PopError::Empty });
            }
            let (slot, free) = self.slot(head);
            if FAULT == SAYS_EMPTY && slot.turn.load(Acquire) <= free {
                // BROKEN: a later slot may be filled.
                return Err(PopError::Empty);
            }
            if self.head.compare_exchange(head, head + 1, AcqRel, Relaxed).is_ok() {
                if FAULT != TAKES_EARLY {
                    slot.turn.wait_while(cpu, Acquire, |turn| turn <= free);
                }
                // SAFETY: as above, except with BROKEN: TAKES_EARLY.
                let item = unsafe { slot.item.with_mut(Option::take) };
                slot.turn.store(free + 2, Release);
                return item.ok_or(PopError::Empty);
            }
            cpu.retry(round);
        }
        unreachable!("no call tries this often")
    }

    fn close_on(&self, _cpu: &M::Cpu) -> bool {
        self.tail.fetch_or(CLOSED, AcqRel) & CLOSED == 0
    }

    waiting_forms!();
}
