//! The array of slots: where a push and the pop with the same ticket meet.
//!
//! A ring of N slots serves ticket t in the slot of t mod N. The *stamp* of t is t without its lower log2 N
//! bits: the lap. The state of a slot:
//!
//! | state | meaning | changed next by |
//! |---|---|---|
//! | stamp of t | empty | the producer of t |
//! | stamp of t, plus 1 | full | the consumer of t |
//! | stamp of t, plus 2 | held by one of the two after they disagreed (see [`left`](super::left)) | the holder |
//!
//! The producer writes the item and stores *full*; the consumer reads the item and stores the stamp of the
//! next lap. Neither needs a read-modify-write.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use super::words::{ONE, Ticket};
use crate::machine::{Cell, Machine, Native, NativeWord, Place, Word};

const FULL: u64 = 1;
const HELD: u64 = 2;
/// The bits of both.
const PHASE: u64 = 3;

/// The place of an item in a slot. The queue decides whether the item may go to another thread.
struct Item<T>(MaybeUninit<T>);

// SAFETY: a queue is `Send` and `Sync` only if its items are `Send`.
unsafe impl<T> Send for Item<T> {}

/// A slot: a state of the module's table, and an item.
pub(super) struct Slot<T, M: Machine> {
    state: M::Word,
    item: M::Cell<Item<T>>,
}

impl<T, M: Machine> Slot<T, M> {
    fn new(state: u64, spot: &M::Spot) -> Self {
        let item = M::Cell::new(Item(MaybeUninit::uninit()), spot);
        Slot { state: M::Word::new(state, spot), item }
    }

    /// Writes the item of a ticket. The producer must check afterwards whether the consumer has
    /// left.
    ///
    /// # Safety
    /// The caller drew the ticket to push with, the slot [is empty](Seat::is_empty) for it, and the caller
    /// calls this once.
    #[inline(always)]
    unsafe fn put(&self, stamp: u64, item: T) {
        // SAFETY: only the producer of the ticket writes, and no thread reads before the state is full.
        unsafe {
            self.item.with_mut(|place| {
                place.0.write(item);
            });
        }
        self.state.store(stamp + FULL, Release);
    }

    /// Reads the item. A simulated processor may be taken apart after this and before the state
    /// says that the item is gone. The item must not be dropped then, because it is dropped with
    /// the queue.
    ///
    /// # Safety
    /// The item is there, no other thread accesses it, and it is read once.
    #[inline(always)]
    unsafe fn read(&self) -> ManuallyDrop<T> {
        let read = |place: &mut Item<T>| {
            // SAFETY: the item is there, and is read once.
            ManuallyDrop::new(unsafe { place.0.assume_init_read() })
        };
        // SAFETY: no other thread accesses it.
        unsafe { self.item.with_mut(read) }
    }

    /// Takes the item that no consumer has taken, if there is one.
    pub(super) fn take_remaining(&mut self) -> Option<T> {
        let state = self.state.load(Relaxed);
        if state & PHASE != FULL {
            return None;
        }
        self.state.store(state & !PHASE, Relaxed);
        // SAFETY: full, and borrowed exclusively.
        Some(ManuallyDrop::into_inner(unsafe { self.read() }))
    }
}

/// The slot of a ticket, and the values with which its state is compared.
pub(super) struct Seat<'a, T, M: Machine> {
    pub(super) ring: &'a Ring<T, M>,
    slot: &'a Slot<T, M>,
    pub(super) ticket: Ticket,
    stamp: u64,
    /// The distance between the stamps of two consecutive laps.
    lap: u64,
}

impl<T, M: Machine> Clone for Seat<'_, T, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, M: Machine> Copy for Seat<'_, T, M> {}

impl<'a, T, M: Machine> Seat<'a, T, M> {
    /// Returns whether the producer of the ticket may write.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.slot.state.load(Acquire) == self.stamp
    }

    /// Returns whether the item of the ticket is in place.
    #[inline(always)]
    pub(super) fn is_full(&self) -> bool {
        self.slot.state.load(Acquire) == self.stamp + FULL
    }

    /// Returns whether the slot already serves a later lap.
    pub(super) fn is_over(&self) -> bool {
        let ahead = (self.slot.state.load(Acquire) & !PHASE).wrapping_sub(self.stamp);
        (ahead as i64) > 0
    }

    /// Polls at most `polls` times until the slot is empty for the ticket. Returns whether it is.
    pub(super) fn wait_until_empty(&self, cpu: &M::Cpu, polls: u32) -> bool {
        self.slot.state.spin_while(cpu, polls, Acquire, |state| state != self.stamp) == self.stamp
    }

    /// Polls at most `polls` times until the item is in place. Returns whether it is.
    pub(super) fn wait_until_full(&self, cpu: &M::Cpu, polls: u32) -> bool {
        let full = self.stamp + FULL;
        self.slot.state.spin_while(cpu, polls, Acquire, |state| state != full) == full
    }

    /// Writes the item: see [`Slot::put`].
    ///
    /// # Safety
    /// As for [`Slot::put`].
    #[inline(always)]
    pub(super) unsafe fn put(self, item: T) {
        // SAFETY: as the caller promises.
        unsafe { self.slot.put(self.stamp, item) };
    }

    /// Takes the item and makes the slot ready for the next lap.
    ///
    /// # Safety
    /// The caller drew the ticket to pop with, has seen that the slot [is full](Seat::is_full), has not left,
    /// and calls this once.
    #[inline(always)]
    pub(super) unsafe fn take(self) -> T {
        // SAFETY: full, and no other thread may take it.
        let item = unsafe { self.slot.read() };
        self.slot.state.store(self.stamp.wrapping_add(self.lap), Release);
        ManuallyDrop::into_inner(item)
    }

    /// Takes the item of a ticket whose consumer has left, if it is there and the other side has
    /// not taken it.
    pub(super) fn take_disputed(self) -> Option<T> {
        let Seat { slot, stamp, lap, .. } = self;
        slot.state.compare_exchange(stamp + FULL, stamp + HELD, SeqCst, Acquire).ok()?;
        // SAFETY: it was full, and the exchange succeeds once.
        let item = unsafe { slot.read() };
        slot.state.store(stamp.wrapping_add(lap), Release);
        Some(ManuallyDrop::into_inner(item))
    }

    /// Returns the same slot at the lap that it serves, or `None` if it is not empty.
    pub(super) fn now_empty(self) -> Option<Self> {
        let state = self.slot.state.load(Acquire);
        let below = self.ticket.0 & (self.lap - 1);
        (state & PHASE == 0).then_some(Seat { ticket: Ticket(state | below), stamp: state, ..self })
    }

    /// Makes an empty slot skip to the lap of a later ticket of the same slot. Returns false if
    /// another thread was faster.
    pub(super) fn skip_to(self, later: Ticket) -> bool {
        let stamp = later.0 & !(self.lap - 1);
        self.slot.state.compare_exchange(self.stamp, stamp, SeqCst, Acquire).is_ok()
    }

    /// Returns the number of laps from `earlier` to this ticket, or `None` if `earlier` is not of
    /// the same slot.
    pub(super) fn laps_after(self, earlier: Ticket) -> Option<i64> {
        let distance = self.ticket.0.wrapping_sub(earlier.0);
        let is_same = distance & (self.lap - 1) == 0 && self.ring.holds(earlier);
        is_same.then(|| distance as i64 / self.lap as i64)
    }

    /// Returns the ticket of the same slot `laps` laps after `earlier`.
    pub(super) fn after(self, earlier: Ticket, laps: i64) -> Ticket {
        Ticket(earlier.0.wrapping_add((laps as u64).wrapping_mul(self.lap)))
    }
}

/// The slots for the tickets from `start` on.
pub(super) struct Ring<T, M: Machine> {
    start: M::Word,
    /// The ring holds the tickets whose distance from `start` is below this, in units of 2^-21 tickets.
    span: M::Word,
    slots: Vec<Slot<T, M>>,
    /// The address of the ring before, 0 if that is the queue's first. Not used by the first.
    pub(super) previous: u64,
    /// The address of the ring after, 0 while there is none.
    pub(super) next: M::Word,
}

impl<T> Ring<T, Native> {
    /// Like [`none`](Ring::none), before ticket 0.
    pub(super) const fn none_yet() -> Self {
        Ring {
            start: NativeWord::constant(Ticket::new(0).plus(-1).0),
            span: NativeWord::constant(ONE),
            slots: Vec::new(),
            previous: 0,
            next: NativeWord::constant(0),
        }
    }
}

impl<T, M: Machine> Ring<T, M> {
    const SLOTS_A_LINE: usize = match 64 / size_of::<Slot<T, M>>() {
        0 => 1,
        slots => slots,
    };

    /// The number of tickets after which a ring of an unbounded queue is replaced, because tickets
    /// wrap. The push that replaces it comes at most [`MOST_ROOM`](super::words::MOST_ROOM) tickets
    /// later.
    pub(super) const MOST_SERVED: i64 = 1 << 41;

    /// Returns a ring for all tickets from `start` on, without an end.
    pub(super) fn endless(start: Ticket, slots: usize, spot: &M::Spot) -> Self {
        Self::new(start, u64::MAX, slots, 0, spot)
    }

    /// Returns a ring that will be replaced when it is full, or has served
    /// [`MOST_SERVED`](Ring::MOST_SERVED) tickets. It holds half of all tickets.
    pub(super) fn growing(start: Ticket, slots: usize, previous: u64, spot: &M::Spot) -> Self {
        Self::new(start, 1 << 63, slots, previous, spot)
    }

    /// Returns a ring without slots. It holds one ticket that is never drawn: the one before
    /// `first`.
    pub(super) fn none(first: Ticket, spot: &M::Spot) -> Self {
        Self::new(first.plus(-1), ONE, 0, 0, spot)
    }

    fn new(start: Ticket, span: u64, slots: usize, previous: u64, spot: &M::Spot) -> Self {
        let lap = Self::lap_of(slots.max(1));
        // The first slots are for tickets of the next lap.
        let stamp = start.0 & !(lap - 1);
        let before = start.number() & slots.saturating_sub(1);
        let mut line_spot = M::spot(Place::named("slots").index(0));
        let slot = |position: usize| {
            if position > 0 && position.is_multiple_of(Self::SLOTS_A_LINE) {
                line_spot = M::spot(Place::named("slots").index(position / Self::SLOTS_A_LINE));
            }
            let is_next = before > 0 && position < before;
            Slot::new(if is_next { stamp.wrapping_add(lap) } else { stamp }, &line_spot)
        };
        let slots = (0..slots).map(slot).collect();
        Ring {
            start: M::Word::new(start.0, spot),
            span: M::Word::new(span, spot),
            slots,
            previous,
            next: M::Word::new(0, &M::spot(Place::named("next ring").of_addresses())),
        }
    }

    #[inline(always)]
    const fn lap_of(slots: usize) -> u64 {
        (slots as u64).wrapping_mul(ONE)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn start(&self) -> Ticket {
        Ticket(self.start.load(Acquire))
    }

    /// Returns whether the ring has the slot of the ticket.
    #[inline(always)]
    pub(super) fn holds(&self, ticket: Ticket) -> bool {
        ticket.0.wrapping_sub(self.start.load(Acquire)) < self.span.load(Acquire)
    }

    /// Ends the ring before a ticket.
    pub(super) fn end_before(&self, ticket: Ticket) {
        self.span.store(ticket.0.wrapping_sub(self.start().0), Release);
    }

    /// Returns the slot of a ticket that the ring [holds](Ring::holds).
    #[inline(always)]
    pub(super) fn seat(&self, ticket: Ticket) -> Seat<'_, T, M> {
        let position = ticket.number() & (self.slots.len() - 1);
        // SAFETY: the number of slots is a power of two; a ring without slots holds no ticket that is drawn.
        let slot = unsafe { self.slots.get_unchecked(position) };
        let lap = Self::lap_of(self.slots.len());
        Seat { ring: self, slot, ticket, stamp: ticket.0 & !(lap - 1), lap }
    }

    /// Returns the slots, to be dropped with the queue.
    pub(super) fn slots_mut(&mut self) -> &mut [Slot<T, M>] {
        &mut self.slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn every_ticket_finds_its_slot_empty_at_first() {
        for slots in [1, 2, 4, 32, 64, 1024, 4096, 8192] {
            for start in [0, 1, 7, 1000, u64::MAX - 5] {
                let ring = Ring::<u32, Native>::endless(Ticket::new(start), slots, &());
                let mut seen = std::collections::HashSet::new();
                for number in 0..slots as i64 {
                    let seat = ring.seat(Ticket::new(start).plus(number));
                    assert!(seat.is_empty() && !seat.is_full(), "{slots} from {start}: {number}");
                    assert!(seen.insert(std::ptr::from_ref(seat.slot)), "each slot once");
                    let next = ring.seat(Ticket::new(start).plus(number + slots as i64));
                    assert!(!next.is_empty() && std::ptr::eq(next.slot, seat.slot));
                    assert_eq!(next.laps_after(seat.ticket), Some(1));
                    assert_eq!(next.after(seat.ticket, 1), next.ticket);
                }
            }
        }
    }
}
