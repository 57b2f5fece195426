//! How those who draw tickets on one side keep out of each other's way.

use std::sync::atomic::Ordering::Relaxed;

use crate::machine::{Cpu, Line, Machine, Place, Word};

/// With fewer items than this consumers stay careful, at first; and never ask for more than the second.
const BOLD_FROM: u64 = 3;
const MOST_BOLD_FROM: u64 = 1 << 10;

/// Who collided with another pauses for so many nanoseconds, and the next time in the same call twice as long.
/// In that time the other does its next calls with all it needs in its own cache.
const PAUSE_NS: u32 = 6400;
/// So many collisions in one call mean that there is a crowd.
const CROWD: u32 = 3;

/// Nobody looks more often than that for an item that is on its way.
const MOST_POLLS: u64 = 1 << 14;

/// The longest breath: so many pauses.
const MOST_BREATH: u64 = 64;

/// How those who draw keep out of each other's way.
///
/// *Careful*, they look and draw by compare-exchange; who collides pauses. With few threads nothing is
/// faster: one goes on while the others pause, and it has every line it needs. *Bold*, they draw by
/// `fetch_add`, which never fails. In a crowd nothing is faster.
#[derive(Debug)]
pub(super) struct Crowd<M: Machine> {
    /// 1: bold.
    bold: M::Word,
    /// So many items there must be for consumers to become bold: more each time that they were too bold.
    bold_from: M::Word,
    /// Whether those who came last found the queue empty, or full, and were told so.
    told: M::Word,
    /// How often they pause before they are told.
    breath: M::Word,
    /// The processor that last drew a ticket in the middle of a block, and how many times in a row.
    last: M::Word,
}

impl<M: Machine> Crowd<M> {
    pub(super) fn new(name: &'static str) -> Line<Self> {
        Line::new::<M>(Place::named(name), |spot| Crowd {
            bold: M::Word::new(0, spot),
            bold_from: M::Word::new(BOLD_FROM, spot),
            told: M::Word::new(0, spot),
            breath: M::Word::new(1, spot),
            last: M::Word::new(0, spot),
        })
    }

    #[inline]
    pub(super) fn is_bold(&self) -> bool {
        self.bold.load(Relaxed) == 1
    }

    /// There is a crowd: be bold, if there is so much to be drawn that nobody draws in vain.
    pub(super) fn be_bold(&self, much: u64) {
        if !self.is_bold() && much >= self.bold_from.load(Relaxed) {
            self.bold.store(1, Relaxed);
        }
    }

    /// Somebody was bold and drew in vain. Next time there must be more.
    #[cold]
    pub(super) fn be_careful(&self) {
        self.bold.store(0, Relaxed);
        let bold_from = self.bold_from.load(Relaxed);
        self.bold_from.store((2 * bold_from).min(MOST_BOLD_FROM), Relaxed);
    }

    /// Whether those who came last were told that there is nothing.
    #[inline]
    pub(super) fn was_told(&self) -> bool {
        self.told.load(Relaxed) == 1
    }

    /// There is nothing to be drawn. Whether that should be looked at again, after a short pause.
    ///
    /// Who is as fast as the other side meets it at every item, and each waits for the other's line. If
    /// it takes a breath, the other gets ahead, and many items can be drawn at once. How long a breath
    /// should be is learned: as long as it gives several. One breath only: who finds the queue empty
    /// again and again is told so at once.
    pub(super) fn takes_breath(&self, cpu: &M::Cpu) -> bool {
        if self.was_told() {
            return false;
        }
        self.told.store(1, Relaxed);
        cpu.pause(self.breath.load(Relaxed) as u32);
        true
    }

    /// After they were told: there is something to be drawn again, so much.
    #[cold]
    pub(super) fn serve(&self, much: i64) {
        self.told.store(0, Relaxed);
        let breath = self.breath.load(Relaxed);
        let learned = if much > 1 { (2 * breath).min(MOST_BREATH) } else { (breath - 1).max(1) };
        if learned != breath {
            self.breath.store(learned, Relaxed);
        }
    }

    /// This processor drew the ticket in the middle of a block. If the same one did so again and again,
    /// there is no crowd.
    pub(super) fn look(&self, cpu: &M::Cpu) {
        const RUN: u64 = 4;
        if !self.is_bold() {
            return;
        }
        let (id, last) = (cpu.id() as u64 + 1, self.last.load(Relaxed));
        let run = if last >> 8 == id { (last & 0xff) + 1 } else { 1 };
        if run >= RUN {
            self.bold.store(0, Relaxed);
        }
        // It has gone well for a while.
        let bold_from = self.bold_from.load(Relaxed);
        if bold_from > BOLD_FROM {
            self.bold_from.store(bold_from - bold_from / 4, Relaxed);
        }
        self.last.store((id << 8) | (run % RUN), Relaxed);
    }
}

/// How long consumers wait for an item that is on its way before they pass its producer over.
///
/// Longer each time that one is passed over, for a consumer and a producer that are equally fast could pass
/// each other for ever; shorter again while all goes well.
#[derive(Debug)]
pub(super) struct Forbearance<M: Machine> {
    polls: Line<M::Word>,
    first: u64,
}

impl<M: Machine> Forbearance<M> {
    /// Consumers look `polls` times at first.
    pub(super) fn new(polls: u32) -> Self {
        let first = u64::from(polls);
        Forbearance { polls: Line::word::<M>(first, Place::named("forbearance")), first }
    }

    /// How often a consumer looks for an item that is on its way.
    pub(super) fn polls(&self) -> u32 {
        self.polls.load(Relaxed) as u32
    }

    /// A producer was passed over that was on its way.
    pub(super) fn grow(&self) {
        self.polls.store((2 * self.polls.load(Relaxed)).clamp(1, MOST_POLLS), Relaxed);
    }

    /// Many items have come in time.
    pub(super) fn shrink(&self) {
        let polls = self.polls.load(Relaxed);
        if polls > self.first {
            self.polls.store((polls - polls.div_ceil(4)).max(self.first), Relaxed);
        }
    }
}

/// Pauses after a collision.
#[derive(Debug)]
pub(super) struct Pauses {
    collisions: u32,
}

impl Pauses {
    pub(super) const fn new() -> Self {
        Pauses { collisions: 0 }
    }

    /// Pauses; tells whether this was a crowd.
    pub(super) fn pause<M: Machine>(&mut self, cpu: &M::Cpu) -> bool {
        cpu.pause(M::pauses_in(PAUSE_NS << self.collisions.min(1)));
        self.collisions += 1;
        self.collisions >= CROWD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn forbearance_grows_while_producers_are_late_and_shrinks_again() {
        let forbearance = Forbearance::<Native>::new(128);
        assert_eq!(forbearance.polls(), 128);
        (0..40).for_each(|_| forbearance.grow());
        assert_eq!(forbearance.polls(), MOST_POLLS as u32);
        (0..40).for_each(|_| forbearance.shrink());
        assert_eq!(forbearance.polls(), 128, "as at first, and not less");
        let none = Forbearance::<Native>::new(0);
        none.grow();
        assert_eq!(none.polls(), 1);
        none.shrink();
        assert_eq!(none.polls(), 0);
    }
}
