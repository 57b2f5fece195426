//! Releasing the members that wait, by senses that are reversed from round to round.

use std::sync::atomic::Ordering::Acquire;

use super::tree::Step;
use super::{Broken, WakeUp};
use crate::machine::{Line, Machine, Place, WayOut, Word};

/// The sense of members in round `round`: the papers' `local_sense`. Words have the other sense, 0, before round 0.
#[inline]
pub(super) const fn sense_of(round: u64) -> u64 {
    (round + 1) & 1
}

/// The words that members look at while they wait for the end of a round: each has the sense of the last round that is
/// over, as far as the members that read it know. [`Bells`](super::wake_up::Bells) have counts of rounds instead.
///
/// Two senses are enough: a word is reversed again at the end of the next round, to which every member that reads it must come.
#[derive(Debug)]
pub(super) struct Senses<M: Machine> {
    senses: Vec<Line<M::Word>>,
    wake_up: WakeUp,
}

impl<M: Machine> Senses<M> {
    /// Makes one word, or one at each of `homes`.
    pub(super) fn new(wake_up: WakeUp, homes: impl IntoIterator<Item = usize>) -> Self {
        let local =
            |(index, home)| Line::word::<M>(0, Place::named("bell").index(index).near(home));
        let senses = match wake_up {
            WakeUp::Global => vec![Line::word::<M>(0, Place::named("bell"))],
            WakeUp::Tree => homes.into_iter().enumerate().map(local).collect(),
        };
        Senses { senses, wake_up }
    }

    /// Waits at `home` until the round of `sense` is over.
    #[inline]
    pub(super) fn wait(
        &self,
        cpu: &M::Cpu,
        home: usize,
        sense: u64,
        way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let word = match self.wake_up {
            WakeUp::Global => &self.senses[0],
            WakeUp::Tree => &self.senses[home],
        };
        word.sleep_while(cpu, Acquire, way_out, |now| now != sense).map(drop).ok_or(Broken)
    }

    /// Reverses the word that all look at, if there is one.
    #[inline]
    pub(super) fn reverse_all(&self, sense: u64) {
        if self.wake_up == WakeUp::Global {
            self.senses[0].signal(sense);
        }
    }

    /// Reverses the word at `home`, if there is one.
    #[inline]
    pub(super) fn reverse(&self, home: usize, sense: u64) {
        if self.wake_up == WakeUp::Tree {
            self.senses[home].signal(sense);
        }
    }

    /// Reverses what a member must that knows that the round is over. It went on at the first `passed` nodes of its
    /// `path`, and comes from the root if those were all.
    #[inline]
    pub(super) fn reverse_back(&self, path: &[Step], passed: usize, sense: u64) {
        if passed == path.len() {
            self.reverse_all(sense);
        }
        for step in path[..passed].iter().rev() {
            self.reverse(step.node, sense);
        }
    }
}
