//! Where the block of the next ticket probably is.

use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use super::super::slot::Slot;
use super::frames::Frame;
use crate::machine::{Line, Machine, Place, Word};

/// Where the block of the next ticket probably is: looked up before the ticket is drawn, because nothing
/// is faster than what has been done already. It is of half a block only: so who comes to the second half
/// first finds that it is of the first, and that there is something to do half-way.
#[derive(Debug)]
pub(in super::super) struct Hint<T: Send, M: Machine> {
    /// Twice the block's number since the beginning of the queue; 1 more for its second half.
    pub(super) half: u64,
    /// The same again; where it is another, the slots may belong to neither.
    half_again: u64,
    pub(super) slots: Slots<T, M>,
}

/// The slots of a block, and whether they are scattered: a pointer, or the byte after where it points to.
#[derive(Debug)]
pub(super) struct Slots<T: Send, M: Machine>(*mut Slot<T, M>);

impl<T: Send, M: Machine> Slots<T, M> {
    const SCATTERED: usize = 1;

    fn new(slots: *mut Slot<T, M>, are_scattered: bool) -> Self {
        const { assert!(align_of::<Slot<T, M>>() > Self::SCATTERED) };
        Slots(if are_scattered { slots.wrapping_byte_add(Self::SCATTERED) } else { slots })
    }

    /// Whether slots of tickets that follow each other are on different lines.
    #[inline]
    pub(super) fn are_scattered(self) -> bool {
        self.0.addr() & Self::SCATTERED != 0
    }

    /// The first slot.
    #[inline]
    pub(super) fn first(self) -> *mut Slot<T, M> {
        if self.are_scattered() { self.0.wrapping_byte_sub(Self::SCATTERED) } else { self.0 }
    }
}

impl<T: Send, M: Machine> Clone for Slots<T, M> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send, M: Machine> Copy for Slots<T, M> {}

impl<T: Send, M: Machine> Hint<T, M> {
    /// Where a block is that is in place, for its first half or its second.
    pub(super) fn of(frame: &Frame<T, M>, is_second: bool) -> Self {
        let half = 2 * frame.number.load(Relaxed) + u64::from(is_second);
        let slots = Slots::new(frame.slots.load(Relaxed), frame.is_scattered.load(Relaxed));
        Hint { half, half_again: half, slots }
    }

    /// Whether it is of this half of a block, of whose number there are as many bits as in `mask`.
    #[inline]
    pub(super) fn is_of(&self, half: u64, mask: u64) -> bool {
        // In one test: it is nearly always true.
        ((self.half ^ half) & mask) | (self.half ^ self.half_again) == 0
    }
}

/// A hint, written down: three words on a line, which are read at the same time.
///
/// Who writes is alone: it has taken the number out. The number is written twice, after the slots and
/// after that, and never comes again: nobody writes an older one. So who reads the same number before the
/// slots and after them has read what belongs to it.
#[derive(Debug)]
pub(super) struct Memo<M: Machine> {
    half: M::Word,
    /// Not a word: where memory lies differs from run to run, and words are what a run is told by.
    slots: AtomicPtr<()>,
    half_again: M::Word,
}

/// Somebody is writing. Later than any, and in both places another.
const BUSY: u64 = u64::MAX;
const BUSY_AGAIN: u64 = u64::MAX - 1;

impl<M: Machine> Memo<M> {
    pub(super) fn new(name: &'static str) -> Line<Self> {
        Line::new::<M>(Place::named(name), |spot| Memo {
            half: M::Word::new(0, spot),
            slots: AtomicPtr::default(),
            half_again: M::Word::new(BUSY_AGAIN, spot),
        })
    }

    #[inline]
    pub(super) fn read<T: Send>(&self) -> Hint<T, M> {
        let half = self.half.load(Acquire);
        let slots = Slots(self.slots.load(Acquire).cast());
        Hint { half, slots, half_again: self.half_again.load(Relaxed) }
    }

    /// Writes a hint down, unless there is a later one or somebody else is at it.
    pub(super) fn write<T: Send>(&self, hint: &Hint<T, M>) {
        let old = self.half.load(Relaxed);
        if old >= hint.half || self.half.compare_exchange(old, BUSY, AcqRel, Relaxed).is_err() {
            return;
        }
        self.half_again.store(BUSY_AGAIN, Relaxed);
        self.slots.store(hint.slots.0.cast(), Release);
        self.half_again.store(hint.half, Release);
        self.half.store(hint.half, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    /// Else a number could come again while somebody reads, and stand before and after what belongs to
    /// another.
    #[test]
    fn who_is_late_does_not_write_an_old_hint_over_a_new_one() {
        let hint = |half: u64| Hint::<u8, Native> {
            half,
            half_again: half,
            slots: Slots(std::ptr::without_provenance_mut(8 * half as usize)),
        };
        let memo = Memo::<Native>::new("hint");
        assert!(!memo.read::<u8>().is_of(0, 0), "nothing has been written");
        for (written, stands) in [(4, 4), (5, 5), (4, 5), (5, 5), (9, 9), (2, 9)] {
            memo.write(&hint(written));
            let read = memo.read::<u8>();
            assert!(read.is_of(stands, u64::MAX), "{stands} after {written}");
            assert_eq!(read.slots.0.addr(), 8 * stands as usize);
        }
    }
}
