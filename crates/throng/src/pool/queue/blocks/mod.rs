//! The array without an end: blocks of slots, there when somebody comes to them, gone when everybody has
//! left.
//!
//! Block b holds the slots of tickets b·S to b·S + S - 1. Whoever has a ticket whose push or pop is not
//! done keeps its block in place: a block is *retired* only when all its slots are done, and a slot is
//! done only when both have come and gone. So nobody needs to announce what it is looking at: **your own
//! ticket holds the block that you need**.
//!
//! # Finding a block
//! A block is found in bucket b mod D of a table. A bucket is a word, *(number of the block, its frame)*,
//! and a frame says which block is below it in the same bucket: a stack. With few blocks alive the one
//! wanted is on top. Blocks are put on top, by compare-exchange, and taken out by one thread at a time. A
//! block's number is not used again for ages, so while the top is the same nothing has been put in.
//!
//! Frames are never given back while the queue lives: a frame that is looked at may be in use for another
//! block by now, and then its number has changed, but it is a frame. What they hold, the slots, is given
//! back: some are kept for the next block, and the rest go back to the allocator.
//!
//! # Retiring
//! One at a time looks which blocks are done; nobody waits for it. Where it stops for ever in the middle,
//! nothing is retired any more and memory grows, but everything else goes on.
//!
//! A producer whose item has been taken is done without knowing it, and may still want to
//! [dispute](super::slot) it. So it says that it does, and looks whether its block is still there; who
//! retires looks, after the block is out of its bucket, whether somebody disputes, and then does not give
//! the slots back. A consumer that goes without its item says so before it goes, for the same reason: its
//! producer may be done with the slot at once.

mod frames;
mod hint;

use std::fmt;
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicU64};

use super::slot::{Slot, Use};
use super::tickets::Ticket;
use crate::machine::{Cell, Line, Machine, Place, Word};
use frames::{Frame, Frames, Link, NO_BLOCK};
pub(super) use hint::Hint;
use hint::Memo;

/// log2 of the most slots in a block.
pub(super) const MOST_SLOT_BITS: u32 = 8;

/// See `Blocks::gone`.
const CAREFUL: u64 = 1 << 63;

/// The slot of a ticket.
#[derive(Debug)]
pub(super) struct Found<'a, T: Send, M: Machine> {
    pub(super) slot: &'a Slot<T, M>,
    pub(super) this_use: Use,
}

impl<'a, T: Send, M: Machine> Found<'a, T, M> {
    /// Whether the item is there.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.slot.is_full(self.this_use)
    }

    /// The item, for the one whose it is.
    ///
    /// # Safety
    /// The caller has the ticket to pop with of this slot, has seen that it is full, and has not said that it is
    /// gone. It calls this once.
    #[inline]
    pub(super) unsafe fn mine(self) -> Mine<'a, T, M> {
        Mine(self)
    }
}

/// An item that is there, and that nobody else takes.
#[derive(Debug)]
pub(super) struct Mine<'a, T: Send, M: Machine>(Found<'a, T, M>);

impl<T: Send, M: Machine> Mine<'_, T, M> {
    /// Takes it.
    #[inline(always)]
    pub(super) fn take(self) -> T {
        // SAFETY: as was promised when this was made, and it is gone now.
        unsafe { self.0.slot.take_full(self.0.this_use) }
    }
}

/// Which of the two hints.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Push,
    Pop,
}

/// What the one who retires knows.
#[derive(Debug, Default)]
struct Retirement {
    /// Blocks from here on have not been looked at.
    next: u64,
    /// Blocks before that which were not done when they were looked at.
    late: Vec<u64>,
}

/// The bucket changed while it was searched.
struct Changed;

/// All blocks that are in place.
pub(super) struct Blocks<T: Send, M: Machine> {
    /// Where the block of the last ticket pushed with is, and of the last popped with; or older ones.
    hints: [Line<Memo<M>>; 2],
    buckets: Box<[M::Word]>,
    frames: Frames<T, M>,
    /// Whether blocks that are placed from now on are scattered.
    scatter: AtomicBool,
    /// The latest block that was placed, by its number since the beginning of the queue.
    latest: AtomicU64,
    /// How many consumers have gone from slots that are not done yet, or are about to. [`CAREFUL`] more where
    /// who has put an item in must look twice, since a first look without a fence proves nothing.
    gone: Line<M::Word>,
    /// How many dispute, on either side.
    disputes: Line<M::Word>,
    retiring: Line<M::Word>,
    retirement: M::Cell<Retirement>,
    stay: bool,
    /// log2 of S, and S - 1.
    slot_bits: u32,
    slot_mask: usize,
    /// The bits that all tickets of half a block have in common.
    half_mask: u64,
}

impl<T: Send, M: Machine> Blocks<T, M> {
    const LINE: usize = 64;
    const SLOTS_A_LINE: usize = match Self::LINE / size_of::<Slot<T, M>>() {
        0 => 1,
        slots => slots,
    };
    /// How far the slots of two tickets that follow each other are apart in a scattered block. Odd, so
    /// that every slot has its turn.
    const STRIDE: usize = Self::SLOTS_A_LINE | 1;

    /// Blocks of 2^`slot_bits` slots; `most_spares` of them are kept when they are not in use, or all.
    pub(super) fn new(
        first: Ticket,
        slot_bits: u32,
        most_spares: Option<usize>,
        buckets: usize,
    ) -> Self {
        const BUCKETS_A_LINE: usize = 8;
        let retirement = Retirement { next: first.number() >> slot_bits, late: Vec::new() };
        Blocks {
            hints: [Memo::new("push hint"), Memo::new("pop hint")],
            buckets: on_lines::<M, _>("buckets", buckets, BUCKETS_A_LINE, |spot| {
                M::Word::new(Link::NONE.0, spot)
            }),
            frames: Frames::new(
                1 << slot_bits,
                Self::SLOTS_A_LINE,
                most_spares.unwrap_or(usize::MAX),
            ),
            scatter: AtomicBool::new(false),
            // One wrap ahead, so that no number is 0.
            latest: AtomicU64::new((first.number() + (1 << Ticket::BITS)) >> slot_bits),
            gone: Line::word::<M>(
                if M::has_light_fence() { 0 } else { CAREFUL },
                Place::named("gone"),
            ),
            disputes: Line::word::<M>(0, Place::named("disputes")),
            retiring: Line::word::<M>(0, Place::named("retiring")),
            retirement: M::Cell::new(retirement, &M::spot(Place::named("retirement"))),
            stay: most_spares.is_none(),
            slot_bits,
            slot_mask: (1 << slot_bits) - 1,
            half_mask: (1 << Ticket::BITS) - (1 << (slot_bits - 1)),
        }
    }

    #[inline]
    const fn block(&self, ticket: Ticket) -> u64 {
        ticket.number() >> self.slot_bits
    }

    /// Which of the tickets of its block it is.
    #[inline]
    const fn index(&self, ticket: Ticket) -> usize {
        ticket.last_bits() as usize & self.slot_mask
    }

    /// Half-way through a block: time to care for others. Who has this ticket always comes to
    /// [`find_anew`](Blocks::find_anew): no hint that was looked up before the ticket was drawn can be good, for a
    /// good one could only be from somebody with a later ticket.
    pub(super) const fn is_half_way(&self, ticket: Ticket) -> bool {
        self.index(ticket) == self.slot_mask.div_ceil(2)
    }

    /// Whether slots are never given back while the queue lives. Then one can look at the slot of any
    /// ticket, drawn or not, if there is a hint: in another block it is not in any state of this one.
    #[inline]
    pub(super) const fn stay(&self) -> bool {
        self.stay
    }

    /// To be called before a ticket is drawn.
    #[inline]
    pub(super) fn hint(&self, side: Side) -> Hint<T, M> {
        self.hints[side as usize].read()
    }

    /// The slot of a ticket, if the hint is good, which was looked up before the ticket was drawn. The
    /// caller has that ticket, and its push or pop is not done; or else slots [stay](Blocks::stay).
    ///
    /// Not where slots are [scattered](Blocks::find_scattered).
    #[inline(always)]
    pub(super) fn find(&self, ticket: Ticket, hint: &Hint<T, M>) -> Option<Found<'_, T, M>> {
        // What a hint says of its block is right while the block is in place, and the ticket holds it.
        hint.is_of(ticket, self.half_mask).then(|| self.at(self.index(ticket), hint))
    }

    /// The same where slots are scattered: in a crowd, where a call more does not count. Not for a ticket in
    /// the middle of a block, which is to find that there is something to do.
    pub(super) fn find_scattered(&self, side: Side, ticket: Ticket) -> Option<Found<'_, T, M>> {
        let hint = self.hint(side);
        (hint.is_scattered_of(ticket, self.half_mask) && !self.is_half_way(ticket))
            .then(|| self.at(self.scattered(ticket), &hint))
    }

    /// The same without a hint.
    pub(super) fn find_again(&self, ticket: Ticket) -> Found<'_, T, M> {
        self.find_in(ticket, &self.hint_for(ticket))
    }

    /// The same, where the hint was not good, or not looked at. What is found goes into the hint, but not by everybody who
    /// comes to a new half of a block: all would write the same.
    pub(super) fn find_anew(&self, side: Side, ticket: Ticket) -> Found<'_, T, M> {
        const WRITERS: usize = 16;
        let hint = self.hint_for(ticket);
        if self.index(ticket).is_multiple_of(self.slot_mask.div_ceil(WRITERS).max(1)) {
            self.hints[side as usize].write(&hint);
        }
        self.find_in(ticket, &hint)
    }

    /// A hint that is good for this ticket.
    fn hint_for(&self, ticket: Ticket) -> Hint<T, M> {
        let frame = self.frames.get(self.find_or_place(self.block(ticket)));
        self.hint_of(frame, ticket)
    }

    /// The same, in the frame of its block.
    fn hint_of(&self, frame: &Frame<T, M>, ticket: Ticket) -> Hint<T, M> {
        let block = frame.number.load(Relaxed) << self.slot_bits;
        Hint::of(frame, block + (self.index(ticket) as u64 & self.half_mask))
    }

    /// To be called as [`find`](Blocks::find) is, with a hint that is good.
    fn find_in(&self, ticket: Ticket, hint: &Hint<T, M>) -> Found<'_, T, M> {
        let is_plain = hint.is_of(ticket, self.half_mask);
        self.at(if is_plain { self.index(ticket) } else { self.scattered(ticket) }, hint)
    }

    /// The position of a ticket's slot where slots are scattered.
    const fn scattered(&self, ticket: Ticket) -> usize {
        (ticket.last_bits() as usize).wrapping_mul(Self::STRIDE) & self.slot_mask
    }

    /// The slot at a position of the hint's block. To be called as [`find`](Blocks::find) is.
    #[inline(always)]
    fn at(&self, position: usize, hint: &Hint<T, M>) -> Found<'_, T, M> {
        // SAFETY: the block is in place, as the caller's ticket says, or has been; so these are its slots,
        // and the position is below their number.
        let slot = unsafe { hint.slots.add(position) };
        // SAFETY: they stay for ever, or until every slot of the block is done, the caller's among them.
        let slot = unsafe { &*slot };
        Found { slot, this_use: hint.this_use }
    }

    /// Where the slot is that will be needed soon after this one, if they are in a row: two lines on. At the
    /// end of a block that is anywhere.
    #[inline]
    pub(super) fn lines_after(slot: *const Slot<T, M>) -> *const () {
        let far = (2 * Self::LINE).max(size_of::<Slot<T, M>>());
        slot.wrapping_byte_add(far).cast()
    }

    /// The consumer of a ticket has waited long enough: takes the item after all, or leaves for good.
    ///
    /// As soon as its bit is set, its producer may be done with the slot, and the block be retired. So it is
    /// counted before: among those who have gone, for the block takes from that count what it finds in its
    /// bits; and among those who dispute, for the slot is looked at once more.
    pub(super) fn give_up(&self, ticket: Ticket) -> Option<T> {
        self.disputes.fetch_add(1, SeqCst);
        self.gone.fetch_add(1, SeqCst);
        let frame = self.frames.get(self.find_or_place(self.block(ticket)));
        let Found { slot, this_use } = self.find_in(ticket, &self.hint_of(frame, ticket));
        let (gone, bit) = frame.gone(self.index(ticket));
        gone.fetch_or(bit, SeqCst);
        M::heavy_fence();
        let item = slot.take_disputed(this_use);
        self.disputes.fetch_sub(1, Release);
        item
    }

    /// Whether a consumer may have gone without its item, perhaps of this one: to be asked after an item was
    /// put in.
    #[inline]
    pub(super) fn may_have_gone(&self) -> bool {
        M::light_fence();
        self.gone.load(Relaxed) != 0
    }

    /// The item of a ticket, just put in, if its consumer has gone without it.
    /// Its slot may have been given back by now.
    pub(super) fn take_back(
        &self,
        ticket: Ticket,
        slot: *const Slot<T, M>,
        this_use: Use,
    ) -> Option<T> {
        M::fence(SeqCst);
        if self.gone.load(Relaxed) & !CAREFUL == 0 {
            return None;
        }
        self.disputes.fetch_add(1, SeqCst);
        M::fence(SeqCst);
        let block = self.block(ticket);
        let frame = loop {
            if let Ok(frame) = self.search(Link(self.bucket(block).load(Acquire)), block) {
                break frame;
            }
        };
        // If it is not in place, the item was taken long ago.
        let item = frame.and_then(|frame| {
            let (gone, bit) = self.frames.get(frame).gone(self.index(ticket));
            // Who retires the block then knows of the consumer's dispute, too.
            if gone.load(Acquire) & bit == 0 {
                return None;
            }
            // SAFETY: the block was in place after the dispute began, so its slots are not given back
            // before it ends.
            unsafe { &*slot }.take_disputed(this_use)
        });
        self.disputes.fetch_sub(1, Release);
        item
    }

    /// Puts the block after the ticket's in place, before it is needed. In a crowd tickets that are close
    /// get slots on different lines, since threads that come one after the other have them; else on the
    /// same, since one thread has several.
    #[cold]
    pub(super) fn prepare_after(&self, ticket: Ticket, is_crowded: bool) {
        self.scatter.store(is_crowded, Relaxed);
        self.find_or_place(self.block_after(self.block(ticket)));
    }

    fn bucket(&self, block: u64) -> &M::Word {
        &self.buckets[block as usize & (self.buckets.len() - 1)]
    }

    fn block_after(&self, block: u64) -> u64 {
        self.block(Ticket::new((block + 1) << self.slot_bits))
    }

    /// Whether `block` comes before `other`.
    fn is_before(&self, block: u64, other: u64) -> bool {
        Ticket::new(block << self.slot_bits).ahead_of(Ticket::new(other << self.slot_bits)) < 0
    }

    /// The frame of a block; puts the block in place if it is not.
    fn find_or_place(&self, block: u64) -> usize {
        let bucket = self.bucket(block);
        let mut made = None;
        loop {
            let top = Link(bucket.load(Acquire));
            match self.search(top, block) {
                Ok(Some(frame)) => {
                    if let Some(unused) = made {
                        self.keep(unused);
                    }
                    return frame;
                }
                Ok(None) => {}
                Err(Changed) => continue,
            }
            let index = *made.get_or_insert_with(|| self.frames.make());
            let frame = self.frames.get(index);
            frame.is_scattered.store(self.scatter.load(Relaxed), Relaxed);
            frame.number.store(self.since_the_beginning(block), Relaxed);
            frame.block.store(block, Release);
            frame.below.store(top.0, Release);
            let link = Link::new(block, index);
            if bucket.compare_exchange(top.0, link.0, AcqRel, Acquire).is_ok() {
                self.latest.fetch_max(frame.number.load(Relaxed), Relaxed);
                return index;
            }
        }
    }

    /// The number of a block counted from the beginning of the queue. A ticket tells its last bits only,
    /// but no block is far away from the latest.
    fn since_the_beginning(&self, block: u64) -> u64 {
        let latest = self.latest.load(Relaxed);
        let first = |block: u64| Ticket::new(block << self.slot_bits);
        let ahead = first(block).ahead_of(first(latest)) >> self.slot_bits;
        latest.wrapping_add_signed(ahead)
    }

    /// Looks for a block from `top` down.
    fn search(&self, top: Link, block: u64) -> Result<Option<usize>, Changed> {
        let mut link = top;
        while link.has_frame() {
            if link.is_of(block) {
                return Ok(Some(link.frame()));
            }
            let frame = self.frames.get(link.frame());
            let below = Link(frame.below.load(Acquire));
            // If the frame has another block by now, or none, `below` is not of this bucket.
            if !link.is_of(frame.block.load(Acquire)) {
                return Err(Changed);
            }
            link = below;
        }
        Ok(None)
    }

    /// Retires the blocks before the ticket's that are done, unless somebody else is at it.
    #[cold]
    pub(super) fn retire_before(&self, ticket: Ticket) {
        if self.retiring.compare_exchange(0, 1, AcqRel, Relaxed).is_err() {
            return;
        }
        // SAFETY: one at a time gets here.
        let mut known = unsafe { self.retirement.with_mut(mem::take) };
        let block = self.block(ticket);
        while self.is_before(known.next, block) {
            known.late.push(known.next);
            known.next = self.block_after(known.next);
        }
        let mut index = 0;
        while let Some(&late) = known.late.get(index) {
            if self.try_retire(late, &known) {
                known.late.swap_remove(index);
            } else {
                index += 1;
            }
        }
        // SAFETY: still alone.
        unsafe { self.retirement.with_mut(|place| *place = known) };
        self.retiring.store(0, Release);
    }

    /// Retires a block if it is in place and done. Other blocks that are met on the way and were prepared
    /// too late, for nobody, are retired, too.
    fn try_retire(&self, block: u64, known: &Retirement) -> bool {
        let bucket = self.bucket(block);
        let mut above: Option<&Frame<T, M>> = None;
        let mut link = Link(bucket.load(Acquire));
        while link.has_frame() {
            let frame = self.frames.get(link.frame());
            let number = frame.block.load(Acquire);
            let below = Link(frame.below.load(Acquire));
            let is_for_nobody = self.is_before(number, known.next) && !known.late.contains(&number);
            if number == block && !self.is_done(frame) {
                return false;
            }
            if number != block && !is_for_nobody {
                (above, link) = (Some(frame), below);
                continue;
            }
            match above {
                // Nobody else changes what is below a block in place.
                Some(above) => above.below.store(below.0, Release),
                None => {
                    if let Err(top) = bucket.compare_exchange(link.0, below.0, AcqRel, Acquire) {
                        link = Link(top);
                        continue;
                    }
                }
            }
            // From here on, who comes this way learns that it is lost.
            frame.block.store(NO_BLOCK, Release);
            if number == block {
                self.gone.fetch_sub(frame.clean(), SeqCst);
            }
            self.keep(link.frame());
            if number == block {
                return true;
            }
            link = below;
        }
        false
    }

    /// Keeps a frame that is not in place for later.
    fn keep(&self, frame: usize) {
        self.frames.keep(frame, || {
            M::fence(SeqCst);
            self.disputes.load(Acquire) == 0
        });
    }

    fn is_done(&self, frame: &Frame<T, M>) -> bool {
        let slots = ptr::slice_from_raw_parts(frame.slots.load(Relaxed), self.slot_mask + 1);
        // SAFETY: the block is in place, and nobody but the caller, who is alone, retires it.
        let slots = unsafe { &*slots };
        let this_use = frame.this_use();
        // Without a way out before the end: they are nearly always done.
        slots.iter().fold(true, |all, slot| all & slot.is_done(this_use))
    }

    /// The items that nobody has taken, when nobody uses the queue any more.
    pub(super) fn left(&mut self) -> Left<'_, T, M> {
        Left { blocks: self, frame: 0, position: 0 }
    }

    /// As on a system without light fences.
    #[cfg(test)]
    pub(super) fn be_careful(&self) {
        self.gone.fetch_or(CAREFUL, SeqCst);
    }

    /// How many frames have been used.
    #[cfg(test)]
    pub(super) fn frames_made(&self) -> usize {
        self.frames.made()
    }

    /// How many frames have slots.
    #[cfg(test)]
    pub(super) fn allocated(&self) -> usize {
        let has_slots = |&frame: &usize| !self.frames.get(frame).slots.load(Relaxed).is_null();
        (0..self.frames.made()).filter(has_slots).count()
    }
}

/// See [`Blocks::left`].
pub(super) struct Left<'a, T: Send, M: Machine> {
    blocks: &'a mut Blocks<T, M>,
    frame: usize,
    position: usize,
}

impl<T: Send, M: Machine> Iterator for Left<'_, T, M> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        while self.frame < self.blocks.frames.made() {
            let frame = self.blocks.frames.get(self.frame);
            let slots = frame.slots.load(Relaxed);
            while !slots.is_null() && self.position <= self.blocks.slot_mask {
                // SAFETY: a frame that has slots has that many.
                let slot = unsafe { slots.add(self.position) };
                self.position += 1;
                // SAFETY: `blocks` is borrowed exclusively, so nobody else is here.
                if let Some(item) = unsafe { &mut *slot }.take_left(frame.this_use()) {
                    return Some(item);
                }
            }
            self.frame += 1;
            self.position = 0;
        }
        None
    }
}

/// `count` things, `a_line` of them on each line.
fn on_lines<M: Machine, V>(
    name: &'static str,
    count: usize,
    a_line: usize,
    make: impl Fn(&M::Spot) -> V,
) -> Box<[V]> {
    let mut made = Vec::with_capacity(count);
    for line in 0..count.div_ceil(a_line) {
        let spot = M::spot(Place::named(name).index(line));
        made.extend((0..a_line.min(count - made.len())).map(|_| make(&spot)));
    }
    made.into_boxed_slice()
}

impl<T: Send, M: Machine> fmt::Debug for Blocks<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("frames", &self.frames.made()).finish_non_exhaustive()
    }
}
