//! A slot: where one push and one pop meet, those with the same ticket.
//!
//! The slots of a block are used again for others. In block b, the state of a slot is
//!
//! | state | meaning | who goes on |
//! |---|---|---|
//! | less than 4b + 2 | the producer has not come | the producer |
//! | 4b + 2 | full: the item is there | the consumer |
//! | 4b + 3 | in the hands of one of the two, after they disagreed | that one |
//! | 4b + 4 | done: both have come and gone | nobody |
//!
//! Here b is the number of the block counted from the beginning of the queue: it never comes again.
//!
//! The producer writes the item and says so, by a plain store. The consumer sees that, takes it and says
//! done, by a plain store, too.
//!
//! # Giving up
//! A consumer that does not want to wait for its producer sets a bit that says so (`gone`, kept with the
//! block), makes a heavy fence, and looks at the state once more. A producer that has put its item in
//! makes a light fence and looks at the bit. So either the consumer sees the item, or the producer sees
//! the bit, or both; and where the bit is set, the item belongs to who brings the state from *full* to
//! *in hands*: the consumer, who then has it, or the producer, who then pushes it anew.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use crate::machine::{Cell, Machine, Word};

#[derive(Debug)]
pub(super) struct Slot<T: Send, M: Machine> {
    state: M::Word,
    item: M::Cell<MaybeUninit<T>>,
}

/// The states of the slots of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    full: u64,
}

impl Use {
    /// Before the first.
    const NONE: u64 = 0;

    #[inline]
    pub(super) const fn of_block(number: u64) -> Self {
        Use { full: 4 * number + 2 }
    }

    /// The use in which this is the state of a slot that is full.
    #[inline]
    pub(super) const fn with_full(full: u64) -> Self {
        Use { full }
    }

    /// The state of a slot that is full.
    pub(super) const fn full(self) -> u64 {
        self.full
    }

    const fn in_hands(self) -> u64 {
        self.full + 1
    }

    #[inline]
    const fn done(self) -> u64 {
        self.full + 2
    }
}

impl<T: Send, M: Machine> Slot<T, M> {
    pub(super) fn new(spot: &M::Spot) -> Self {
        let item = M::Cell::new(MaybeUninit::uninit(), spot);
        Slot { state: M::Word::new(Use::NONE, spot), item }
    }

    /// The producer of this slot's ticket puts its item in. Then it must look whether the consumer has
    /// [gone](self#giving-up).
    ///
    /// # Safety
    /// The caller has the ticket to push with of this slot, and calls this once.
    #[inline]
    pub(super) unsafe fn put(&self, this: Use, item: T) {
        // SAFETY: nobody else has the ticket to write with, and nobody reads before the state says full.
        unsafe {
            self.item.with_mut(|place| {
                place.write(item);
            });
        }
        self.state.store(this.full, Release);
    }

    /// Whether the item is there.
    #[inline]
    pub(super) fn is_full(&self, this: Use) -> bool {
        self.state.load(Acquire) == this.full
    }

    /// The consumer of this slot's ticket takes the item, if it is there.
    ///
    /// # Safety
    /// The caller has the ticket to pop with of this slot, has not said that it is gone, and has not got
    /// the item before.
    #[inline]
    pub(super) unsafe fn take(&self, this: Use) -> Option<T> {
        // SAFETY: full, and for the rest as the caller promises.
        if self.is_full(this) { Some(unsafe { self.take_full(this) }) } else { None }
    }

    /// The consumer of this slot's ticket takes the item.
    ///
    /// # Safety
    /// As for [`take`](Slot::take), and the caller has seen that it is full.
    #[inline]
    pub(super) unsafe fn take_full(&self, this: Use) -> T {
        // SAFETY: full, and nobody disputes that it is the caller's.
        let item = unsafe { self.read() };
        self.state.store(this.done(), Release);
        ManuallyDrop::into_inner(item)
    }

    /// Looks up to `polls` times whether the item is there.
    pub(super) fn wait_a_little(&self, cpu: &M::Cpu, this: Use, polls: u32) {
        self.state.spin_while(cpu, polls, Acquire, |state| state != this.full);
    }

    /// The item, for the one of the two who comes first, where the consumer has said that it is gone.
    #[cold]
    pub(super) fn take_disputed(&self, this: Use) -> Option<T> {
        let taken = self.state.compare_exchange(this.full, this.in_hands(), SeqCst, Acquire);
        taken.ok()?;
        // SAFETY: it was full, and only one brings it from there to here.
        let item = unsafe { self.read() };
        self.state.store(this.done(), Release);
        Some(ManuallyDrop::into_inner(item))
    }

    /// Whether both, producer and consumer, have come and gone. Then what they did is visible.
    pub(super) fn is_done(&self, this: Use) -> bool {
        self.state.load(Acquire) == this.done()
    }

    /// The item that nobody has taken, when nobody uses the slot any more.
    pub(super) fn take_left(&mut self, this: Use) -> Option<T> {
        if self.state.load(Relaxed) != this.full {
            return None;
        }
        self.state.store(this.done(), Relaxed);
        // SAFETY: full, and we are alone.
        Some(ManuallyDrop::into_inner(unsafe { self.read() }))
    }

    /// The item, which is not dropped by accident: a processor that is halted for ever before the state
    /// says that the item has gone is taken apart, and then it must still be in the slot.
    ///
    /// # Safety
    /// The item is there, nobody else looks at it, and nobody reads it again.
    #[inline]
    unsafe fn read(&self) -> ManuallyDrop<T> {
        // SAFETY: it is there, and nobody reads it again.
        let read =
            |place: &mut MaybeUninit<T>| ManuallyDrop::new(unsafe { place.assume_init_read() });
        // SAFETY: nobody else looks at it.
        unsafe { self.item.with_mut(read) }
    }
}
