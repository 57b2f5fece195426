//! The way out of a barrier that will never be complete.

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use crate::machine::{Line, Machine, Patience, Place, WayOut, Word};

/// Says from which round on a barrier is broken.
///
/// | word | means |
/// |---|---|
/// | 0 | not broken |
/// | r + 1 | no round from r on will be complete; whoever waits in one should leave |
///
/// Never rises but from 0.
#[derive(Debug)]
pub(super) struct Alarm<M: Machine>(Line<M::Word>);

impl<M: Machine> Alarm<M> {
    pub(super) fn new() -> Self {
        Alarm(Line::word::<M>(0, Place::named("alarm")))
    }

    /// No round from `round` on will be complete.
    pub(super) fn raise(&self, round: u64) {
        let raised = round.saturating_add(1);
        let mut seen = self.0.load(Acquire);
        while seen == 0 || raised < seen {
            match self.0.compare_exchange(seen, raised, AcqRel, Acquire) {
                Ok(_) => return,
                Err(found) => seen = found,
            }
        }
    }

    /// Whether some round will not be complete.
    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Acquire) != 0
    }

    /// Whether `round` will not be complete.
    #[inline]
    pub(super) fn is_raised_at(&self, round: u64) -> bool {
        (1..=round.saturating_add(1)).contains(&self.0.load(Acquire))
    }

    /// The way out for who waits in `round`.
    #[inline]
    pub(super) fn way_out(
        &self,
        round: u64,
        deadline: Option<u64>,
        patience: Patience,
    ) -> WayOut<'_, M> {
        WayOut { alarm: Some(&self.0), until: round.saturating_add(1), deadline, patience }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    #[test]
    fn the_first_broken_round_counts() {
        let alarm = Alarm::<Native>::new();
        let is_open =
            |round| alarm.way_out(round, None, Patience::default()).is_open(&Native::cpu());
        assert!(!alarm.is_raised() && !is_open(u64::MAX));
        alarm.raise(7);
        assert!(alarm.is_raised() && is_open(7) && !is_open(6));
        alarm.raise(9);
        assert!(is_open(7) && !is_open(6), "a later round changes nothing");
        alarm.raise(3);
        assert!(is_open(3) && !is_open(2));
    }
}
