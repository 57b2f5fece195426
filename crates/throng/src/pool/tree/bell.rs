//! Bells: how takers who found nothing wait, and how putters wake them.
//!
//! There is a bell for each leaf. A taker waits at the bell of its home; a putter whose job may be wanted
//! rings one bell at which somebody waits, the nearest to its own home. Who moves jobs from one leaf to another is
//! a putter in all that follows.
//!
//! # The bell word
//!
//! | bits | meaning |
//! |---|---|
//! | 0..32 | how many wait here whom nobody has rung for |
//! | 32..64 | how often it was rung, modulo 2^32 |
//!
//! Who rings sets the first to 0 and adds 1 to the second: all who wait at this bell are told, and
//! nobody rings for them again. `waiting` counts those who wait at any bell; while it is 0, putters read
//! that word and nothing else.
//!
//! # Why no wake-up is lost
//! A taker (1) counts itself in `waiting`, (2) in its bell, (3) looks at every leaf, each time by a
//! read-modify-write of a leaf that is free, and (4) sleeps if all were empty. A putter (a) locks a leaf,
//! puts its job in, frees it, (b) reads `waiting`, (c) looks at the bells. Both change the leaf's word.
//! If the putter's lock comes first there, the taker finds the leaf locked, and looks again, or finds the
//! job. If the taker's mark comes first, the putter acquires from it, so its (b) and (c) come after (1)
//! and (2): `waiting`, which is never less than the sum over the bells, is not 0, and somebody is counted
//! in a bell, or has just left. So the putter rings for somebody, or the taker is not there any more. No
//! fence is needed, and a putter pays one load.
//!
//! A ring is one for all: who is rung for may come away with another job than that of who rang, and leave
//! that one behind. So a taker that was rung for and leaves with a job rings for the next if it sees
//! another job in any leaf; and one that leaves without has seen all leaves empty after the ring. Hence
//! while a job is to be had and somebody sleeps, somebody else is awake and will either take it or ring.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};

use crate::machine::{Line, Machine, Place, WayOut, Word};

const RING: u64 = 1 << 32;
const WAITING: u64 = RING - 1;

#[derive(Debug)]
pub(super) struct Bells<M: Machine> {
    bells: Box<[Line<M::Word>]>,
    /// How many wait; never less than are counted in the bells.
    waiting: Line<M::Word>,
}

/// One who waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guest {
    bell: usize,
    /// How often the bell had been rung.
    rings: u64,
}

impl<M: Machine> Bells<M> {
    pub(super) fn new(bells: usize) -> Self {
        let bell = |i| Line::word::<M>(0, Place::named("pool bell").index(i).near(i));
        Bells {
            bells: (0..bells).map(bell).collect(),
            waiting: Line::word::<M>(0, Place::named("pool waiting")),
        }
    }

    /// Whether somebody waits. To be asked after a job was put in.
    #[inline]
    pub(super) fn anybody(&self) -> bool {
        self.waiting.load(Relaxed) != 0
    }

    /// How many wait.
    #[cfg(test)]
    pub(super) fn count(&self) -> u64 {
        self.waiting.load(Relaxed)
    }

    /// Begins to wait; the caller must look at every leaf before it sleeps.
    pub(super) fn enter(&self, bell: usize) -> Guest {
        self.waiting.fetch_add(1, AcqRel);
        let before = self.bells[bell].fetch_add(1, AcqRel);
        Guest { bell, rings: before / RING }
    }

    /// Sleeps until the bell rings or the way out is open.
    pub(super) fn sleep(&self, cpu: &M::Cpu, guest: Guest, way_out: &WayOut<'_, M>) {
        let still = |bell: u64| bell / RING == guest.rings;
        self.bells[guest.bell].sleep_while(cpu, Acquire, way_out, still);
    }

    /// Waits no more. Tells whether the bell had rung.
    pub(super) fn leave(&self, guest: Guest) -> bool {
        let bell = &self.bells[guest.bell];
        let mut now = bell.load(Acquire);
        while now / RING == guest.rings {
            match bell.compare_exchange(now, now - 1, AcqRel, Acquire) {
                Ok(_) => {
                    self.waiting.fetch_sub(1, AcqRel);
                    return false;
                }
                Err(other) => now = other,
            }
        }
        true
    }

    /// Rings the first bell from `first` on at which somebody waits, if there is one.
    #[cold]
    pub(super) fn ring(&self, first: usize) {
        let (before, after) = self.bells.split_at(first);
        let _rung = after.iter().chain(before).any(|bell| self.ring_one(bell));
    }

    /// Rings all bells.
    pub(super) fn ring_all(&self) {
        self.bells.iter().for_each(|bell| _ = self.ring_one(bell));
    }

    /// Rings this bell, if somebody waits there.
    fn ring_one(&self, bell: &M::Word) -> bool {
        let mut now = bell.load(Acquire);
        while now & WAITING != 0 {
            let rung = (now - (now & WAITING)).wrapping_add(RING);
            match bell.compare_exchange(now, rung, SeqCst, Acquire) {
                Ok(_) => {
                    self.waiting.fetch_sub(now & WAITING, AcqRel);
                    bell.wake();
                    return true;
                }
                Err(other) => now = other,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn a_ring_is_for_all_at_one_bell_and_for_nobody_twice() {
        let bells = Bells::<Native>::new(4);
        let (one, two, three) = (bells.enter(2), bells.enter(2), bells.enter(1));
        bells.ring(2);
        assert!(bells.anybody(), "one still waits");
        assert!(!bells.leave(three));
        assert!(!bells.anybody());
        assert!(bells.leave(one));
        assert!(bells.leave(two));
        bells.ring(0);
        assert!(!bells.anybody());
    }

    #[test]
    fn bells_are_rung_from_the_nearest_on_and_around() {
        let bells = Bells::<Native>::new(4);
        let (zero, one) = (bells.enter(0), bells.enter(1));
        bells.ring(3);
        assert!(bells.leave(zero));
        assert!(!bells.leave(one));
    }
}
