//! The word that says that a barrier will never be complete.

use std::sync::atomic::Ordering::{AcqRel, Acquire};

use crate::classic::barrier::Meeting;
use crate::machine::{Cpu, Line, Machine, Patience, Place, RoundTimes, Watch, WayOut, Word};

/// How the members of a barrier wait, and from which round on the barrier is broken.
///
/// | `broken_from` | meaning |
/// |---|---|
/// | 0 | not broken |
/// | r + 1 | no round from r on will be complete; a member that waits in one should leave |
///
/// Once it is not 0, it never rises.
#[derive(Debug)]
pub(super) struct Alarm<M: Machine>(Line<Content<M>>);

/// Read by all members in every round, and rarely written.
#[derive(Debug)]
struct Content<M: Machine> {
    broken_from: M::Word,
    patience: Patience,
    /// Measures whether members should sleep at once. `None` if a user has set the patience.
    times: Option<RoundTimes>,
}

impl<M: Machine> Alarm<M> {
    /// Returns the alarm of a barrier whose members wait with this patience. A default patience is
    /// dropped while rounds are shorter without it. A patience that a user has set is kept.
    pub(super) fn new(patience: Patience) -> Self {
        let usual = [Patience::DEDICATED, Patience::OVERSUBSCRIBED, Patience::UNKNOWN];
        let is_usual = usual.contains(&patience);
        Alarm(Line::new::<M>(Place::named("alarm"), |spot| Content {
            broken_from: M::Word::new(0, spot),
            patience,
            times: is_usual.then(RoundTimes::new),
        }))
    }

    /// Reports that a round is over. Called by the leader of the round.
    #[inline]
    pub(super) fn round_is_over(&self, cpu: &M::Cpu) {
        if let Some(times) = &self.0.times {
            times.round_is_over(|| cpu.clock());
        }
    }

    pub(super) fn patience(&self) -> Patience {
        self.0.patience
    }

    /// Breaks the barrier: no round of `meeting` from `round` on will be complete.
    pub(super) fn raise(&self, round: u64, meeting: &impl Meeting<M>) {
        if self.is_lowered_to(round) {
            meeting.wake_members();
        }
    }

    /// Lowers `broken_from` to `round` + 1, and returns whether this call has changed it.
    fn is_lowered_to(&self, round: u64) -> bool {
        let raised = round.saturating_add(1);
        let mut seen = self.0.broken_from.load(Acquire);
        while seen == 0 || raised < seen {
            match self.0.broken_from.compare_exchange(seen, raised, AcqRel, Acquire) {
                Ok(_) => return true,
                Err(found) => seen = found,
            }
        }
        false
    }

    /// Returns whether any round will not be complete.
    pub(super) fn is_raised(&self) -> bool {
        self.0.broken_from.load(Acquire) != 0
    }

    /// Returns whether `round` will not be complete.
    #[inline]
    pub(super) fn is_raised_at(&self, round: u64) -> bool {
        (1..=round.saturating_add(1)).contains(&self.0.broken_from.load(Acquire))
    }

    /// Returns the conditions under which a member that waits in `round` gives up.
    #[inline]
    pub(super) fn way_out(&self, round: u64, deadline: Option<u64>) -> WayOut<'_, M> {
        let Content { broken_from, patience, times } = &*self.0;
        WayOut {
            alarm: Some(broken_from),
            until: round.saturating_add(1),
            deadline,
            patience: *patience,
            watch: times.as_ref().map_or(Watch::Nothing, Watch::Rounds),
            is_always_woken: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classic::barrier::{Dissemination, Method, Shape};
    use crate::machine::Native;

    #[test]
    fn the_first_broken_round_counts() {
        let alarm = Alarm::<Native>::new(Patience::default());
        let meeting = Dissemination::build(&Shape::for_members(1)).expect("one member is enough");
        let is_open = |round| alarm.way_out(round, None).is_open(&Native::cpu());
        assert!(!alarm.is_raised() && !is_open(u64::MAX));
        alarm.raise(7, &meeting);
        assert!(alarm.is_raised() && is_open(7) && !is_open(6));
        alarm.raise(9, &meeting);
        assert!(is_open(7) && !is_open(6), "a later round changes nothing");
        alarm.raise(3, &meeting);
        assert!(is_open(3) && !is_open(2));
    }
}
