//! Frames: where blocks are kept while they are in place.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

use super::super::slot::{Slot, Use};
use super::{MOST_SLOT_BITS, on_lines};
use crate::machine::{Growing, Line, Machine, Place, Word};

/// The slots of a block.
type Slots<T, M> = Box<[Slot<T, M>]>;

/// Where the slots of a block are kept.
#[derive(Debug)]
pub(super) struct Frame<T: Send, M: Machine> {
    /// The number of the block, or [`NO_BLOCK`].
    pub(super) block: M::Word,
    /// The link to the frame below, in a bucket or in a heap of unused ones.
    pub(super) below: M::Word,
    /// A bit for each slot whose consumer has gone.
    gone: [M::Word; GONE_WORDS],
    /// The slots, and the number of the block counted from the beginning of the queue. Written by the only
    /// owner before the frame is put in place, which publishes it.
    pub(super) slots: AtomicPtr<Slot<T, M>>,
    pub(super) number: AtomicU64,
    /// Whether slots of tickets that follow each other are on different lines.
    pub(super) is_scattered: AtomicBool,
}

const GONE_WORDS: usize = (1 << MOST_SLOT_BITS) / 64;

impl<T: Send, M: Machine> Frame<T, M> {
    fn new(index: usize) -> Line<Self> {
        Line::new::<M>(Place::named("frame").index(index), |spot| Frame {
            block: M::Word::new(NO_BLOCK, spot),
            below: M::Word::new(0, spot),
            gone: std::array::from_fn(|_| M::Word::new(0, spot)),
            slots: AtomicPtr::new(ptr::null_mut()),
            number: AtomicU64::new(0),
            is_scattered: AtomicBool::new(false),
        })
    }

    #[inline]
    pub(super) fn this_use(&self) -> Use {
        Use::of_block(self.number.load(Relaxed))
    }

    /// Forgets which consumers have gone; tells how many had.
    pub(super) fn clean(&self) -> u64 {
        let mut gone = 0;
        for bits in &self.gone {
            let those = bits.load(Relaxed).count_ones();
            if those != 0 {
                bits.store(0, Relaxed);
                gone += u64::from(those);
            }
        }
        gone
    }

    /// Where it says whether the consumer of the ticket with this index has gone: a word, and a bit in it.
    pub(super) fn gone(&self, index: usize) -> (&M::Word, u64) {
        (&self.gone[index / 64 % GONE_WORDS], 1 << (index % 64))
    }
}

/// The number of no block.
pub(super) const NO_BLOCK: u64 = u64::MAX;

/// A block's number and its frame, or none, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link(pub(super) u64);

impl Link {
    const FRAME_BITS: u32 = 24;
    const FRAME: u64 = (1 << Self::FRAME_BITS) - 1;
    const MOST_FRAMES: usize = Self::FRAME as usize;
    pub(super) const NONE: Link = Link(0);

    pub(super) const fn new(block: u64, frame: usize) -> Self {
        Link(block << Self::FRAME_BITS | (frame as u64 + 1))
    }

    /// As much of the block's number as there is room for.
    const fn block(self) -> u64 {
        self.0 >> Self::FRAME_BITS
    }

    pub(super) const fn is_of(self, block: u64) -> bool {
        block != NO_BLOCK
            && self.has_frame()
            && self.block() == block << Self::FRAME_BITS >> Self::FRAME_BITS
    }

    const fn with_block(self, block: u64) -> Self {
        Link(block << Self::FRAME_BITS | self.0 & Self::FRAME)
    }

    pub(super) const fn has_frame(self) -> bool {
        self.0 & Self::FRAME != 0
    }

    /// The number of the frame, where there is one.
    pub(super) const fn frame(self) -> usize {
        (self.0 & Self::FRAME) as usize - 1
    }
}

/// Frames without a block, as a stack. The upper bits of the top count changes, so that one that was read
/// long ago is not taken for the present one.
#[derive(Debug)]
struct Heap<M: Machine> {
    top: Line<M::Word>,
}

impl<M: Machine> Heap<M> {
    fn new(name: &'static str) -> Self {
        Heap { top: Line::word::<M>(Link::NONE.0, Place::named(name)) }
    }
}

/// Makes a frame.
type MakeFrame<T, M> = fn(usize) -> Line<Frame<T, M>>;

/// All frames there are.
#[derive(Debug)]
pub(super) struct Frames<T: Send, M: Machine> {
    all: Growing<Line<Frame<T, M>>, MakeFrame<T, M>>,
    made: Line<M::Word>,
    /// Frames with slots that are not in use, and how many they are.
    spare: Heap<M>,
    spares: AtomicU64,
    /// Frames without slots.
    bare: Heap<M>,
    slots_a_block: usize,
    slots_a_line: usize,
    most_spares: u64,
}

impl<T: Send, M: Machine> Frames<T, M> {
    pub(super) fn new(slots_a_block: usize, slots_a_line: usize, most_spares: usize) -> Self {
        Frames {
            all: Growing::with(8, Frame::new),
            made: Line::word::<M>(0, Place::named("frames made")),
            spare: Heap::new("spare frames"),
            spares: AtomicU64::new(0),
            bare: Heap::new("bare frames"),
            slots_a_block,
            slots_a_line,
            most_spares: most_spares as u64,
        }
    }

    /// The frame `index`.
    pub(super) fn get(&self, index: usize) -> &Frame<T, M> {
        self.all.get(index)
    }

    /// How many frames have been used.
    pub(super) fn made(&self) -> usize {
        self.made.load(Relaxed) as usize
    }

    /// A frame with slots that nobody else knows.
    pub(super) fn make(&self) -> usize {
        if let Some(frame) = self.pop(&self.spare) {
            self.spares.fetch_sub(1, Relaxed);
            return frame;
        }
        let index =
            self.pop(&self.bare).unwrap_or_else(|| self.made.fetch_add(1, Relaxed) as usize);
        assert!(index < Link::MOST_FRAMES, "a queue of more items than memory can hold");
        let frame = self.get(index);
        let slots: Slots<T, M> =
            on_lines::<M, _>("slots", self.slots_a_block, self.slots_a_line, Slot::new);
        frame.slots.store(Box::into_raw(slots).cast(), Relaxed);
        index
    }

    /// Keeps a frame with slots for later, or gives the slots back, if that is allowed.
    pub(super) fn keep(&self, index: usize, may_give_back: impl FnOnce() -> bool) {
        if self.spares.fetch_add(1, Relaxed) < self.most_spares || !may_give_back() {
            self.push(&self.spare, index);
        } else {
            self.spares.fetch_sub(1, Relaxed);
            drop(self.take_slots(self.get(index)));
            self.push(&self.bare, index);
        }
    }

    /// The slots of a frame that nobody else knows.
    fn take_slots(&self, frame: &Frame<T, M>) -> Option<Slots<T, M>> {
        let slots = frame.slots.swap(ptr::null_mut(), Relaxed);
        if slots.is_null() {
            return None;
        }
        let slots = ptr::slice_from_raw_parts_mut(slots, self.slots_a_block);
        // SAFETY: made by `Box::into_raw` of a slice of that length, and taken out once.
        Some(unsafe { Box::from_raw(slots) })
    }

    fn push(&self, heap: &Heap<M>, index: usize) {
        let frame = self.get(index);
        let mut top = Link(heap.top.load(Acquire));
        loop {
            frame.below.store(top.0, Release);
            let link = Link::new(top.block().wrapping_add(1), index);
            match heap.top.compare_exchange(top.0, link.0, AcqRel, Acquire) {
                Ok(_) => return,
                Err(found) => top = Link(found),
            }
        }
    }

    fn pop(&self, heap: &Heap<M>) -> Option<usize> {
        let mut top = Link(heap.top.load(Acquire));
        while top.has_frame() {
            let below = Link(self.get(top.frame()).below.load(Acquire));
            let link = below.with_block(top.block().wrapping_add(1));
            match heap.top.compare_exchange(top.0, link.0, AcqRel, Acquire) {
                Ok(_) => return Some(top.frame()),
                Err(found) => top = Link(found),
            }
        }
        None
    }
}

impl<T: Send, M: Machine> Drop for Frames<T, M> {
    fn drop(&mut self) {
        for frame in self.all.iter() {
            drop(self.take_slots(frame));
        }
    }
}
