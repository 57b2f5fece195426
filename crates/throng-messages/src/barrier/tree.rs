//! A barrier whose messages go up a tree and down again.

use super::{Rounds, tell};
use crate::message::Message;
use crate::post::Post;

/// A member of a tree barrier: the nodes are the members, and each has up to f children, members
/// f·i + 1 to f·i + f. When a member and all its children have arrived, it signals its parent. When
/// the root knows that all have, it releases its children, and they release theirs.
///
/// # Why it is correct
///
/// A member signals for all members below it, and the root releases none before all have signalled.
/// A child does not arrive in the next round before it is released, so one flag a child would do.
/// The member itself may not be back yet when its children are: it signals when it is.
#[derive(Clone, Debug)]
pub struct Tree {
    rank: u32,
    fan_in: u32,
    pub(super) rounds: Rounds,
    /// The number of rounds in which the member has signalled for all members below it.
    spoken: u64,
    /// For each child, the number of rounds in which it has signalled.
    heard: Box<[u64]>,
}

impl Tree {
    pub(super) fn new(rank: u32, members: u32, fan_in: u32) -> Self {
        let first = u64::from(rank) * u64::from(fan_in) + 1;
        let children = u64::from(members).saturating_sub(first).min(fan_in.into());
        let heard = vec![0; children as usize].into();
        Tree { rank, fan_in, rounds: Rounds::default(), spoken: 0, heard }
    }

    pub(super) fn arrive(&mut self, post: &mut Post) {
        self.rounds.arrive();
        self.speak(post);
    }

    pub(super) fn on(&mut self, message: Message, post: &mut Post) {
        match message {
            Message::Arrived { step } => {
                if let Some(heard) = self.heard.get_mut(step as usize) {
                    *heard += 1;
                    self.speak(post);
                }
            }
            Message::Released if self.spoken > self.rounds.passed => self.pass(post),
            _ => {}
        }
    }

    /// Returns the parent and the children.
    pub(super) fn waits_for(&self) -> Vec<u32> {
        let parent = self.rank.checked_sub(1).map(|place| place / self.fan_in);
        parent.into_iter().chain(self.children()).collect()
    }

    fn children(&self) -> impl Iterator<Item = u32> {
        (0..self.heard.len() as u32).map(|child| self.rank * self.fan_in + 1 + child)
    }

    /// Signals the parent if this member and all its children have arrived.
    fn speak(&mut self, post: &mut Post) {
        let round = self.rounds.arrived;
        if self.spoken == round || self.heard.iter().any(|&heard| heard < round) {
            return;
        }
        self.spoken = round;
        match self.rank.checked_sub(1) {
            None => self.pass(post),
            Some(place) => {
                let step = place % self.fan_in;
                tell(place / self.fan_in, Message::Arrived { step }, post);
            }
        }
    }

    fn pass(&mut self, post: &mut Post) {
        self.rounds.passed += 1;
        self.children().for_each(|child| tell(child, Message::Released, post));
    }
}
