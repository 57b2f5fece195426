//! How long consumers wait for an item that is on its way.

use std::sync::atomic::Ordering::Relaxed;

use crate::machine::{Line, Machine, Place, Word};

/// Nobody looks more often than that for an item that is on its way.
const MOST_POLLS: u64 = 1 << 14;

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
