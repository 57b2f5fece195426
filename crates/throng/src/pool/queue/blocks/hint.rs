//! Where the block of the next ticket probably is.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use super::super::slot::{Slot, Use};
use super::super::tickets::Ticket;
use super::frames::Frame;
use crate::machine::{Line, Machine, Place, Word};

/// Where the block of the next ticket probably is: looked up before the ticket is drawn, because nothing
/// is faster than what has been done already. It is of half a block only: so who comes to the second half
/// first finds that it is of the first, and that there is something to do half-way.
#[derive(Debug)]
pub(in super::super) struct Hint<T: Send, M: Machine> {
    /// The first ticket of the half, counted from the beginning of the queue.
    first: u64,
    /// The same again, or its complement where the slots are scattered; where it is neither, the rest may belong
    /// to another half.
    first_again: u64,
    pub(super) slots: *const Slot<T, M>,
    pub(super) this_use: Use,
}

impl<T: Send, M: Machine> Hint<T, M> {
    /// Where a block is that is in place, for the half that begins with this ticket of the block.
    pub(super) fn of(frame: &Frame<T, M>, first: u64) -> Self {
        let is_scattered = frame.is_scattered.load(Relaxed);
        let first_again = if is_scattered { !first } else { first };
        Hint { first, first_again, slots: frame.slots.load(Relaxed), this_use: frame.this_use() }
    }

    /// Whether it is of the half that this ticket is of, and its slots are in a row. In the mask are the bits
    /// that all tickets of a half have in common.
    #[inline]
    pub(super) fn is_of(&self, ticket: Ticket, mask: u64) -> bool {
        self.has(ticket, mask, self.first_again)
    }

    /// Whether it is of the half that this ticket is of, and its slots are scattered.
    pub(super) fn is_scattered_of(&self, ticket: Ticket, mask: u64) -> bool {
        self.has(ticket, mask, !self.first_again)
    }

    #[inline]
    fn has(&self, ticket: Ticket, mask: u64, first_again: u64) -> bool {
        // In one test: it is nearly always true.
        ((self.first ^ ticket.last_bits()) & mask) | (self.first ^ first_again) == 0
    }
}

/// A hint, written down: four words on a line, which are read at the same time.
///
/// Who writes is alone: it has taken the first ticket out. That is written twice, after the rest and after
/// that, and never comes again: nobody writes an older one. So who reads the same ticket before the rest and
/// after it has read what belongs to it.
#[derive(Debug)]
pub(super) struct Memo<M: Machine> {
    first: M::Word,
    /// Not words: where memory lies differs from run to run, and words are what a run is told by.
    slots: AtomicPtr<()>,
    full: AtomicU64,
    first_again: M::Word,
}

/// Somebody is writing. Later than any, and in both places another.
const BUSY: u64 = u64::MAX;
const BUSY_AGAIN: u64 = u64::MAX - 1;

impl<M: Machine> Memo<M> {
    pub(super) fn new(name: &'static str) -> Line<Self> {
        Line::new::<M>(Place::named(name), |spot| Memo {
            first: M::Word::new(0, spot),
            slots: AtomicPtr::default(),
            full: AtomicU64::default(),
            first_again: M::Word::new(BUSY_AGAIN, spot),
        })
    }

    #[inline]
    pub(super) fn read<T: Send>(&self) -> Hint<T, M> {
        let first = self.first.load(Acquire);
        let slots = self.slots.load(Acquire).cast_const().cast();
        let this_use = Use::with_full(self.full.load(Acquire));
        Hint { first, slots, this_use, first_again: self.first_again.load(Relaxed) }
    }

    /// Writes a hint down, unless there is a later one or somebody else is at it.
    pub(super) fn write<T: Send>(&self, hint: &Hint<T, M>) {
        let old = self.first.load(Relaxed);
        if old >= hint.first || self.first.compare_exchange(old, BUSY, AcqRel, Relaxed).is_err() {
            return;
        }
        self.first_again.store(BUSY_AGAIN, Relaxed);
        self.slots.store(hint.slots.cast_mut().cast(), Release);
        self.full.store(hint.this_use.full(), Release);
        self.first_again.store(hint.first_again, Release);
        self.first.store(hint.first, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    fn hint(first: u64, first_again: u64) -> Hint<u8, Native> {
        let slots = std::ptr::without_provenance(8 * first as usize);
        Hint { first, first_again, slots, this_use: Use::of_block(first) }
    }

    /// Else a ticket could come again while somebody reads, and stand before and after what belongs to
    /// another.
    #[test]
    fn who_is_late_does_not_write_an_old_hint_over_a_new_one() {
        let memo = Memo::<Native>::new("hint");
        assert!(!memo.read::<u8>().is_of(Ticket::new(0), 0), "nothing has been written");
        assert!(!memo.read::<u8>().is_scattered_of(Ticket::new(0), 0));
        for (written, stands) in [(4, 4), (5, 5), (4, 5), (5, 5), (9, 9), (2, 9)] {
            memo.write(&hint(written, written));
            let read = memo.read::<u8>();
            assert!(read.is_of(Ticket::new(stands), u64::MAX), "{stands} after {written}");
            assert_eq!(read.slots.addr(), 8 * stands as usize);
            assert_eq!(read.this_use, Use::of_block(stands));
        }
    }

    #[test]
    fn a_hint_is_good_for_its_half_and_its_kind() {
        let (plain, scattered, torn) = (hint(8, 8), hint(8, !8), hint(8, 16));
        for (ticket, is_good) in [(7, false), (8, true), (11, true), (12, false), (8 + 64, true)] {
            let ticket = Ticket::new(ticket);
            // Halves of 4 tickets, and numbers below 64.
            assert_eq!(plain.is_of(ticket, 60), is_good);
            assert_eq!(scattered.is_scattered_of(ticket, 60), is_good);
            assert!(!plain.is_scattered_of(ticket, 60) && !scattered.is_of(ticket, 60));
            assert!(!torn.is_of(ticket, 60) && !torn.is_scattered_of(ticket, 60));
        }
    }
}
