//! Tickets that were left, so that a thread stopped in the middle of a call holds up no other.
//!
//! Producer and consumer of a ticket meet at a slot. A consumer that finds no item there does not
//! wait for ever: it *leaves* the ticket and draws another one. So does a producer whose slot is
//! still in use by the consumer of the lap before. A table holds the left tickets for the other
//! side:
//!
//! - *Consumer left*: after the producer has put its item in, it reads the table, takes the item
//!   back and pushes it again with another ticket.
//! - *Producer left*: the consumer reads the table and draws another ticket. The slot skips the lap
//!   as soon as it is empty.
//!
//! # The race
//! A push or pop ends with a plain store to the slot, then a [light fence](Machine::light_fence),
//! then a load of the number of left tickets. A thread that leaves writes its entry, makes a [heavy
//! fence](Machine::heavy_fence), then reads the slot. So at least one of the two sees what the
//! other wrote. If both do, the item belongs to the thread whose compare-exchange changes the slot
//! from *full* to *held*. An empty slot skips a lap by compare-exchange, so that happens once.
//!
//! An entry is removed by the thread that settles its ticket: the thread that takes the disputed
//! item, or that makes the slot skip the lap. If both sides have left a ticket, the side that sees
//! the other's entry removes the consumer's entry.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

use super::ring::Seat;
use super::words::Ticket;
use crate::machine::{Line, Machine, Native, NativeWord, Place, Word};

/// The side that left a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Consumer,
    Producer,
}

/// Added to the number of entries where light fences do not work. Every call then makes a full
/// fence and reads the table.
const ALWAYS_LOOK: u64 = 1 << 63;

/// The number of entries of the table: the left tickets that can be remembered at a time.
const ENTRIES: usize = 16;

/// An entry: a ticket, the number of laps of its slot that were left from this ticket on, and the
/// side that left them.
///
/// | bits | |
/// |---|---|
/// | 63..21 | the ticket |
/// | 20..1 | the number of laps, 1 or more |
/// | 0 | 1 for the producer's side |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u64);

impl Entry {
    const NONE: Entry = Entry(0);
    /// One lap, in an entry.
    const LAP: u64 = 2;
    /// The largest number of laps that fits in an entry.
    const MOST_LAPS: i64 = (1 << 20) - 1;

    const fn new(ticket: Ticket, side: Side) -> Self {
        Entry(ticket.0 | Self::LAP | side as u64)
    }

    const fn ticket(self) -> Ticket {
        Ticket::of_word(self.0)
    }

    const fn laps(self) -> i64 {
        (self.0 & ((1 << 21) - 1)) as i64 / Self::LAP as i64
    }

    const fn is_of(self, side: Side) -> bool {
        self.laps() > 0 && self.0 & 1 == side as u64
    }

    /// Returns whether the ticket of the seat is among those that the producers' side left.
    fn covers<T, M: Machine>(self, seat: Seat<'_, T, M>) -> bool {
        let laps = seat.laps_after(self.ticket());
        self.is_of(Side::Producer) && laps.is_some_and(|laps| (0..self.laps()).contains(&laps))
    }

    /// Returns whether the ticket of the seat is the next that the producers' side would leave.
    fn ends_before<T, M: Machine>(self, seat: Seat<'_, T, M>) -> bool {
        self.is_of(Side::Producer)
            && self.laps() < Self::MOST_LAPS
            && seat.laps_after(self.ticket()) == Some(self.laps())
    }
}

/// All tickets of a queue that were left and are not settled.
#[derive(Debug)]
pub(super) struct Left<M: Machine> {
    /// The number of entries. An entry is counted before it is written, until after it has been
    /// removed.
    count: M::Word,
    /// The address of the first table; 0 until one is needed.
    first: M::Word,
}

#[derive(Debug)]
struct Table<M: Machine> {
    entries: Line<[M::Word; ENTRIES]>,
    /// The address of the next table.
    next: M::Word,
}

impl Left<Native> {
    /// Like [`new`](Left::new), for constants.
    pub(super) const fn none_yet() -> Self {
        Left { count: NativeWord::constant(ALWAYS_LOOK), first: NativeWord::constant(0) }
    }
}

impl<M: Machine> Left<M> {
    pub(super) fn new(spot: &M::Spot, links: &M::Spot) -> Self {
        let count = if M::has_light_fence() { 0 } else { ALWAYS_LOOK };
        Left { count: M::Word::new(count, spot), first: M::Word::new(0, links) }
    }

    /// Lets calls skip the table while it is empty, if the machine has light fences. A constant
    /// cannot know that. Must be called before the first slot can be reached.
    pub(super) fn look_only_if_any(&self) {
        if M::has_light_fence() && self.count.load(Relaxed) & ALWAYS_LOOK != 0 {
            self.count.fetch_and(!ALWAYS_LOOK, SeqCst);
        }
    }

    /// Returns whether a ticket may have been left. Must be called after the plain store that ends
    /// a push or a pop.
    #[inline(always)]
    pub(super) fn may_be_any(&self) -> bool {
        M::light_fence();
        self.count.load(Relaxed) != 0
    }

    /// Returns whether a ticket was left, for callers that accept a late answer.
    pub(super) fn is_any(&self) -> bool {
        self.count.load(Relaxed) & !ALWAYS_LOOK != 0
    }

    /// Enters a ticket. The caller must make a heavy fence afterwards.
    pub(super) fn add<T>(&self, seat: Seat<'_, T, M>, side: Side) {
        if side == Side::Producer && self.extend(seat) {
            return;
        }
        self.add_ticket(seat.ticket, side);
    }

    /// Enters a ticket that may have no slot yet.
    pub(super) fn add_ticket(&self, ticket: Ticket, side: Side) {
        self.count.fetch_add(1, SeqCst);
        let new = Entry::new(ticket, side);
        let mut link = &self.first;
        loop {
            let table = self.table(link);
            let empty = Entry::NONE.0;
            let enter = |word: &M::Word| {
                word.load(Relaxed) == empty
                    && word.compare_exchange(empty, new.0, SeqCst, Relaxed).is_ok()
            };
            if table.entries.iter().any(enter) {
                return;
            }
            link = &table.next;
        }
    }

    /// Adds the ticket to an entry for the laps before it. Returns whether there was one.
    fn extend<T>(&self, seat: Seat<'_, T, M>) -> bool {
        let Some((word, entry)) = self.find(|entry| entry.ends_before(seat)) else {
            return false;
        };
        word.compare_exchange(entry.0, entry.0 + Entry::LAP, SeqCst, Relaxed).is_ok()
    }

    /// Returns whether the producer of the seat's ticket has left.
    pub(super) fn has_producer<T>(&self, seat: Seat<'_, T, M>) -> bool {
        self.find(|entry| entry.covers(seat)).is_some()
    }

    /// Returns whether any ticket of the seat's slot was left.
    pub(super) fn has_slot<T>(&self, seat: Seat<'_, T, M>) -> bool {
        self.find(|entry| entry.laps() > 0 && seat.laps_after(entry.ticket()).is_some()).is_some()
    }

    /// Returns whether the consumer of the ticket has left.
    pub(super) fn has_consumer(&self, ticket: Ticket) -> bool {
        self.find(|entry| entry == Entry::new(ticket, Side::Consumer)).is_some()
    }

    /// Removes the entry of a consumer if there is one.
    pub(super) fn remove_consumer(&self, ticket: Ticket) {
        if let Some((word, entry)) = self.find(|entry| entry == Entry::new(ticket, Side::Consumer))
        {
            self.remove(word, entry);
        }
    }

    fn remove(&self, word: &M::Word, entry: Entry) {
        if word.compare_exchange(entry.0, Entry::NONE.0, SeqCst, Relaxed).is_ok() {
            self.count.fetch_sub(1, SeqCst);
        }
    }

    /// Makes the slot skip the laps that producers have left, if it is empty and waits for one of
    /// them. Returns whether it did.
    pub(super) fn skip_laps<T>(&self, seat: Seat<'_, T, M>) -> bool {
        let mut has_skipped = false;
        while let Some(now) = seat.now_empty()
            && let Some((word, entry)) = self.find(|entry| entry.covers(now))
        {
            if now.skip_to(now.after(entry.ticket(), entry.laps())) {
                has_skipped = true;
                // If the entry has got longer, there is more to skip.
                self.remove(word, entry);
            }
        }
        has_skipped
    }

    fn find(&self, is_it: impl Fn(Entry) -> bool) -> Option<(&M::Word, Entry)> {
        let mut table = self.table_if_any(&self.first);
        while let Some(here) = table {
            for word in here.entries.iter() {
                let entry = Entry(word.load(SeqCst));
                if is_it(entry) {
                    return Some((word, entry));
                }
            }
            table = self.table_if_any(&here.next);
        }
        None
    }

    fn table_if_any(&self, link: &M::Word) -> Option<&Table<M>> {
        let address = link.load(Acquire) as usize;
        // SAFETY: tables live as long as the queue.
        (address != 0).then(|| unsafe { &*std::ptr::with_exposed_provenance::<Table<M>>(address) })
    }

    /// Returns the table that a link leads to. Allocates it if there is none.
    fn table(&self, link: &M::Word) -> &Table<M> {
        loop {
            if let Some(table) = self.table_if_any(link) {
                return table;
            }
            let spot = M::spot(Place::named("next table of left tickets").of_addresses());
            let made = Box::into_raw(Box::new(Table::<M> {
                entries: Line::new::<M>(Place::named("left tickets"), |spot| {
                    std::array::from_fn(|_| M::Word::new(Entry::NONE.0, spot))
                }),
                next: M::Word::new(0, &spot),
            }));
            let address = made.expose_provenance() as u64;
            if link.compare_exchange(0, address, AcqRel, Acquire).is_err() {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(made) });
            }
        }
    }
}

impl<M: Machine> Drop for Left<M> {
    fn drop(&mut self) {
        let mut address = self.first.load(Relaxed) as usize;
        while address != 0 {
            // SAFETY: made by `table`, and no other thread uses the queue.
            let table = unsafe {
                Box::from_raw(std::ptr::with_exposed_provenance_mut::<Table<M>>(address))
            };
            address = table.next.load(Relaxed) as usize;
        }
    }
}
