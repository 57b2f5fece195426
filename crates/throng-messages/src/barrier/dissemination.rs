//! A barrier in which every member signals others, in log2 n steps.

use super::{Rounds, tell};
use crate::message::Message;
use crate::post::Post;

/// A member of a dissemination barrier (Hensgen, Finkel and Manber 1988): in step k, member i
/// signals member i + 2^k (mod n) and waits for the signal of member i - 2^k. After step k a member
/// knows that 2^(k+1) members have come.
///
/// # Why it is correct
///
/// Messages of step k come from one member only, so their count is the number of rounds in which
/// that member has come to step k. A member ends step k of round r when it has got r + 1 of these
/// messages. Messages of a round that others have begun are counted, never mistaken for those of
/// this one, in whatever order the steps arrive. No member gets a message of the round after the
/// next, since for that all must have arrived in the next one.
#[derive(Clone, Debug)]
pub struct Dissemination {
    rank: u32,
    members: u32,
    pub(super) rounds: Rounds,
    /// The step of this round that the member is in.
    step: u32,
    /// The number of messages that the member has got, for each step.
    signals: Box<[u64]>,
}

/// Returns the number of steps of a round.
pub(super) fn steps(members: u32) -> u32 {
    u64::from(members).next_power_of_two().trailing_zeros()
}

impl Dissemination {
    pub(super) fn new(rank: u32, members: u32) -> Self {
        let signals = vec![0; steps(members) as usize].into();
        Dissemination { rank, members, rounds: Rounds::default(), step: 0, signals }
    }

    pub(super) fn arrive(&mut self, post: &mut Post) {
        self.rounds.arrive();
        self.begin_step(0, post);
        self.go_on(post);
    }

    pub(super) fn on(&mut self, message: Message, post: &mut Post) {
        if let Message::Arrived { step } = message
            && let Some(signals) = self.signals.get_mut(step as usize)
        {
            *signals += 1;
            self.go_on(post);
        }
    }

    /// Returns one member for each step.
    pub(super) fn waits_for(&self) -> Vec<u32> {
        let (rank, members) = (u64::from(self.rank), u64::from(self.members));
        let before = |step| ((rank + members - (1_u64 << step)) % members) as u32;
        (0..self.signals.len()).map(before).collect()
    }

    fn begin_step(&mut self, step: u32, post: &mut Post) {
        self.step = step;
        if (step as usize) < self.signals.len() {
            let partner = (u64::from(self.rank) + (1 << step)) % u64::from(self.members);
            tell(partner as u32, Message::Arrived { step }, post);
        }
    }

    /// Ends all steps whose messages have come.
    fn go_on(&mut self, post: &mut Post) {
        while self.rounds.waits() {
            match self.signals.get(self.step as usize) {
                None => self.rounds.passed += 1,
                Some(&signals) if signals > self.rounds.passed => {
                    self.begin_step(self.step + 1, post)
                }
                Some(_) => return,
            }
        }
    }
}
