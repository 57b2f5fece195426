//! An unbounded array, and tickets by `fetch_add`: a queue that survives the halt of any processor.
//! Failing pushes and slow pops occupy room in it for a while.
//!
//! A push fills the slot of its ticket, a pop shuts it, each by one read-modify-write. A pop that
//! comes first finds nothing and takes another ticket, and so does the push that finds its slot
//! shut. (The infinite array queue of Morrison and Afek, "Fast concurrent queues for x86
//! processors", 2013.) No slot is ever reused, so it is for short runs.

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use throng::machine::{Cell, Cpu, Growing, Line, Machine, Place, WayOut, Word};
use throng::structures::pool::{PopError, PushError};
use throng_check::workload::Store;

use super::{Parcel, SOUND, waiting_forms};

/// This queue has no fault.
const FAULT: u8 = SOUND;
const DEAF: u8 = u8::MAX;

/// The lowest bit of the tail, below the ticket.
const CLOSED: u64 = 1;
const TICKET: u64 = 2;

/// The state of a slot.
const FRESH: u64 = 0;
const FILLED: u64 = 1;
const SHUT: u64 = 2;

struct Slot<M: Machine> {
    state: M::Word,
    item: M::Cell<Option<Parcel>>,
}

/// A pop looks `PATIENCE` times whether its slot is filled before it shuts it. Otherwise it and a
/// slow push could spoil slots for each other for ever.
pub(crate) struct Tickets<M: Machine, const PATIENCE: u32> {
    tail: Line<M::Word>,
    head: Line<M::Word>,
    /// Places taken: by items, by pushes that may have to return theirs, by pops that have yet to.
    taken: Line<M::Word>,
    slots: Growing<Line<Slot<M>>>,
    capacity: u64,
}

impl<M: Machine, const PATIENCE: u32> Tickets<M, PATIENCE> {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        let slot = |spot: &M::Spot| Slot {
            state: M::Word::new(FRESH, spot),
            item: M::Cell::new(None, spot),
        };
        let line = move |index| Line::new::<M>(Place::named("slot").index(index), slot);
        Tickets {
            tail: Line::word::<M>(0, Place::named("tail")),
            head: Line::word::<M>(0, Place::named("head")),
            taken: Line::word::<M>(0, Place::named("taken")),
            slots: Growing::new(4, line),
            capacity: capacity.map_or(u64::MAX, |capacity| capacity as u64),
        }
    }

    fn is_closed(&self) -> bool {
        self.tail.fetch_add(0, AcqRel) & CLOSED == CLOSED
    }
}

impl<M: Machine, const PATIENCE: u32> Store<Parcel, M> for Tickets<M, PATIENCE> {
    fn try_push_on(&self, cpu: &M::Cpu, mut item: Parcel) -> Result<(), PushError<Parcel>> {
        if self.taken.fetch_add(1, AcqRel) >= self.capacity {
            self.taken.fetch_sub(1, AcqRel);
            let is_closed = self.is_closed();
            return Err(if is_closed { PushError::Closed(item) } else { PushError::Full(item) });
        }
        for round in 0.. {
            let tail = self.tail.fetch_add(TICKET, AcqRel);
            if tail & CLOSED == CLOSED {
                break;
            }
            let slot = self.slots.get((tail / TICKET) as usize);
            // SAFETY: only this processor has the ticket, and a pop that shuts an unfilled slot
            // leaves its item alone.
            unsafe { slot.item.with_mut(|content| *content = Some(item)) };
            if slot.state.compare_exchange(FRESH, FILLED, AcqRel, Acquire).is_ok() {
                return Ok(());
            }
            // SAFETY: as above.
            item = unsafe { slot.item.with_mut(Option::take) }.expect("put there above");
            cpu.retry(round);
        }
        self.taken.fetch_sub(1, AcqRel);
        Err(PushError::Closed(item))
    }

    fn try_pop_on(&self, cpu: &M::Cpu) -> Result<Parcel, PopError> {
        for round in 0.. {
            let head = self.head.fetch_add(0, AcqRel);
            let tail = self.tail.fetch_add(0, AcqRel);
            if tail / TICKET <= head {
                let is_closed = tail & CLOSED == CLOSED;
                return Err(if is_closed { PopError::Closed } else { PopError::Empty });
            }
            let ticket = self.head.fetch_add(1, AcqRel);
            let slot = self.slots.get(ticket as usize);
            slot.state.spin_while(cpu, PATIENCE, Acquire, |state| state == FRESH);
            if slot.state.swap(SHUT, AcqRel) == FILLED {
                // SAFETY: it was filled, and only this processor has shut it.
                let item = unsafe { slot.item.with_mut(Option::take) };
                self.taken.fetch_sub(1, AcqRel);
                return Ok(item.expect("it was filled"));
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
