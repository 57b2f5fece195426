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
//! the slots back.

mod frames;
mod hint;

use std::fmt;
use std::mem;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};

use super::slot::{Slot, Use};
use super::tickets::Ticket;
use crate::machine::{Cell, Line, Machine, Place, Word};
use frames::{Frame, Frames, Link, NO_BLOCK};
pub(super) use hint::Hint;
use hint::Memo;

/// log2 of the most slots in a block.
pub(super) const MOST_SLOT_BITS: u32 = 8;

/// The slot of a ticket.
#[derive(Debug)]
pub(super) struct Found<'a, T: Send, M: Machine> {
    pub(super) slot: &'a Slot<T, M>,
    pub(super) this_use: Use,
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
    /// The stride of blocks that are placed from now on.
    stride: AtomicUsize,
    /// How many consumers have gone from slots that are not done yet.
    gone: Line<M::Word>,
    /// How many producers dispute.
    disputes: Line<M::Word>,
    retiring: Line<M::Word>,
    retirement: M::Cell<Retirement>,
    /// log2 of S, S - 1 and S / 2.
    slot_bits: u32,
    slot_mask: usize,
    half: usize,
    slots_a_line: usize,
}

impl<T: Send, M: Machine> Blocks<T, M> {
    /// Blocks of 2^`slot_bits` slots; `most_spares` of them are kept when they are not in use.
    pub(super) fn new(first: Ticket, slot_bits: u32, most_spares: usize, buckets: usize) -> Self {
        const LINE: usize = 64;
        const BUCKETS_A_LINE: usize = 8;
        let slots_a_line = (LINE / size_of::<Slot<T, M>>()).max(1);
        let retirement = Retirement { next: first.number() >> slot_bits, late: Vec::new() };
        Blocks {
            hints: [Memo::new("push hint"), Memo::new("pop hint")],
            buckets: on_lines::<M, _>("buckets", buckets, BUCKETS_A_LINE, |spot| {
                M::Word::new(Link::NONE.0, spot)
            }),
            frames: Frames::new(1 << slot_bits, slots_a_line, most_spares),
            stride: AtomicUsize::new(1),
            gone: Line::word::<M>(0, Place::named("gone")),
            disputes: Line::word::<M>(0, Place::named("disputes")),
            retiring: Line::word::<M>(0, Place::named("retiring")),
            retirement: M::Cell::new(retirement, &M::spot(Place::named("retirement"))),
            slot_bits,
            slot_mask: (1 << slot_bits) - 1,
            half: (1 << slot_bits) / 2,
            slots_a_line,
        }
    }

    #[inline]
    const fn block(&self, ticket: Ticket) -> u64 {
        ticket.number() >> self.slot_bits
    }

    /// Which of the tickets of its block it is.
    #[inline]
    const fn index(&self, ticket: Ticket) -> usize {
        ticket.number() as usize & self.slot_mask
    }

    /// Half-way through a block: time to care for others.
    #[inline]
    pub(super) const fn is_half_way(&self, ticket: Ticket) -> bool {
        self.index(ticket) == self.half
    }

    /// To be called before a ticket is drawn.
    #[inline]
    pub(super) fn hint(&self, side: Side) -> Hint<T, M> {
        self.hints[side as usize].read()
    }

    /// The slot of a ticket. The caller has that ticket, and its push or pop is not done; it looked up the
    /// hint before it drew the ticket.
    #[inline]
    pub(super) fn find(&self, side: Side, ticket: Ticket, hint: Hint<T, M>) -> Found<'_, T, M> {
        // What a hint says of its block is right while the block is in place, and the ticket holds it.
        if hint.is_of(self.block(ticket)) {
            self.find_in(ticket, &hint)
        } else {
            let frame = self.find_anew(side, ticket);
            self.find_in(ticket, &Hint::of(self.block(ticket), self.frames.get(frame)))
        }
    }

    /// The same without a hint, for those who are not in a hurry.
    pub(super) fn find_again(&self, ticket: Ticket) -> Found<'_, T, M> {
        let frame = self.find_or_place(self.block(ticket));
        self.find_in(ticket, &Hint::of(self.block(ticket), self.frames.get(frame)))
    }

    #[inline(always)]
    fn find_in(&self, ticket: Ticket, hint: &Hint<T, M>) -> Found<'_, T, M> {
        // The stride is odd, so every slot has its turn.
        let position = (ticket.number() as usize).wrapping_mul(hint.stride) & self.slot_mask;
        // SAFETY: the block is in place, as the caller's ticket says; so these are its slots, and the
        // position is below their number.
        let slot = unsafe { hint.slots.add(position) };
        // SAFETY: they stay until every slot of the block is done, the caller's among them.
        Found { slot: unsafe { &*slot }, this_use: hint.this_use }
    }

    /// The frame of a ticket's block. It goes into the hint, but not by everybody who comes to a new
    /// block: all would write the same.
    #[cold]
    #[inline(never)]
    fn find_anew(&self, side: Side, ticket: Ticket) -> usize {
        const WRITERS: usize = 16;
        let block = self.block(ticket);
        let frame = self.find_or_place(block);
        if self.index(ticket).is_multiple_of(self.slot_mask.div_ceil(WRITERS).max(1)) {
            self.hints[side as usize].write(&Hint::of(block, self.frames.get(frame)));
        }
        frame
    }

    /// The consumer of a ticket has waited long enough: takes the item after all, or leaves for good.
    pub(super) fn give_up(&self, ticket: Ticket) -> Option<T> {
        let frame = self.frames.get(self.find_or_place(self.block(ticket)));
        let (gone, bit) = frame.gone(self.index(ticket));
        gone.fetch_or(bit, SeqCst);
        self.gone.fetch_add(1, SeqCst);
        M::heavy_fence();
        let Found { slot, this_use } = self.find_again(ticket);
        slot.take_disputed(this_use)
    }

    /// The item of a ticket, just put in, if its consumer has gone without it.
    #[inline]
    pub(super) fn take_back(
        &self,
        ticket: Ticket,
        slot: *const Slot<T, M>,
        this_use: Use,
    ) -> Option<T> {
        M::light_fence();
        if self.gone.load(Relaxed) == 0 { None } else { self.dispute(ticket, slot, this_use) }
    }

    #[cold]
    #[inline(never)]
    fn dispute(&self, ticket: Ticket, slot: *const Slot<T, M>, this_use: Use) -> Option<T> {
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
            if gone.load(Relaxed) & bit == 0 {
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
        let stride = if is_crowded { self.slots_a_line | 1 } else { 1 };
        self.stride.store(stride, Relaxed);
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
            frame.stride.store(self.stride.load(Relaxed), Relaxed);
            frame.block.store(block, Release);
            frame.below.store(top.0, Release);
            let link = Link::new(block, index);
            if bucket.compare_exchange(top.0, link.0, AcqRel, Acquire).is_ok() {
                return index;
            }
        }
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
            self.disputes.load(Relaxed) == 0
        });
    }

    fn is_done(&self, frame: &Frame<T, M>) -> bool {
        let slots = ptr::slice_from_raw_parts(frame.slots.load(Relaxed), self.slot_mask + 1);
        // SAFETY: the block is in place, and nobody but the caller, who is alone, retires it.
        let slots = unsafe { &*slots };
        slots.iter().all(|slot| slot.is_done(frame.this_use()))
    }

    /// The items that nobody has taken, when nobody uses the queue any more.
    pub(super) fn left(&mut self) -> Left<'_, T, M> {
        Left { blocks: self, frame: 0, position: 0 }
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
