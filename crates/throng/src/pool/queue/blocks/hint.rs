//! Where the block of the next ticket probably is.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::super::slot::{Slot, Use};
use super::frames::{Frame, NO_BLOCK};
use crate::machine::{Line, Machine, Place, Word};

/// Where the block of the next ticket probably is: looked up before the ticket is drawn, because nothing
/// is faster than what has been done already.
#[derive(Debug)]
pub(in super::super) struct Hint<T: Send, M: Machine> {
    block: u64,
    pub(super) slots: *mut Slot<T, M>,
    pub(super) this_use: Use,
    pub(super) stride: usize,
    /// The block again; where it is another, the rest may belong to neither.
    block_again: u64,
}

impl<T: Send, M: Machine> Hint<T, M> {
    /// Where a block is that is in place.
    pub(super) fn of(block: u64, frame: &Frame<T, M>) -> Self {
        Hint {
            block,
            slots: frame.slots.load(Relaxed),
            this_use: frame.this_use(),
            stride: frame.stride.load(Relaxed),
            block_again: block,
        }
    }

    /// Whether it is of this block.
    #[inline]
    pub(super) fn is_of(&self, block: u64) -> bool {
        self.block == block && self.block_again == block
    }
}

/// A hint, written down: four words on a line, which are read at the same time.
///
/// Who writes is alone: it has taken the block's number out. The number is written twice, before the rest
/// and after it, so that who reads the same number before and after has read what belongs to it.
#[derive(Debug)]
pub(super) struct Memo<M: Machine> {
    block: M::Word,
    /// Not a word: where memory lies differs from run to run, and words are what a run is told by.
    slots: AtomicPtr<()>,
    use_and_stride: M::Word,
    block_again: M::Word,
}

/// Somebody is writing.
const BUSY: u64 = NO_BLOCK - 1;

impl<M: Machine> Memo<M> {
    pub(super) fn new(name: &'static str) -> Line<Self> {
        Line::new::<M>(Place::named(name), |spot| {
            let [block, use_and_stride, block_again] =
                [NO_BLOCK, 0, NO_BLOCK].map(|value| M::Word::new(value, spot));
            Memo { block, slots: AtomicPtr::default(), use_and_stride, block_again }
        })
    }

    #[inline]
    pub(super) fn read<T: Send>(&self) -> Hint<T, M> {
        let block = self.block.load(Acquire);
        let slots = self.slots.load(Acquire);
        let use_and_stride = self.use_and_stride.load(Acquire);
        Hint {
            block,
            slots: slots.cast(),
            this_use: Use::from_bits(use_and_stride >> STRIDE_BITS),
            stride: use_and_stride as usize & ((1 << STRIDE_BITS) - 1),
            block_again: self.block_again.load(Relaxed),
        }
    }

    /// Writes a hint down, unless somebody else is at it.
    pub(super) fn write<T: Send>(&self, hint: &Hint<T, M>) {
        let old = self.block.load(Relaxed);
        if old == hint.block
            || old == BUSY
            || self.block.compare_exchange(old, BUSY, AcqRel, Relaxed).is_err()
        {
            return;
        }
        self.block_again.store(BUSY, Relaxed);
        self.slots.store(hint.slots.cast(), Release);
        let use_and_stride = hint.this_use.bits() << STRIDE_BITS | hint.stride as u64;
        self.use_and_stride.store(use_and_stride, Release);
        self.block_again.store(hint.block, Release);
        self.block.store(hint.block, Release);
    }
}

/// Strides are smaller than that.
const STRIDE_BITS: u32 = 8;
