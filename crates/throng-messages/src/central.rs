//! One role that gives out all numbers: the baseline of all comparisons.
//!
//! It is linearizable, and takes two messages for each number. All messages go to one node: if it
//! dies, all clients wait.

use crate::message::{Event, Message};
use crate::post::Post;

/// Gives out numbers, `step` apart: `CountingProc` of DT96, Figure 17.
#[derive(Clone, Copy, Debug)]
pub struct Dispenser {
    next: u64,
    pub(crate) step: u64,
}

impl Dispenser {
    /// Returns a dispenser of `first`, `first + step`, and so on.
    #[must_use]
    pub fn new(first: u64, step: u64) -> Self {
        Dispenser { next: first, step }
    }

    /// Answers an asker with as many numbers as it asks for. After 2^64 numbers it begins again.
    pub fn on(&mut self, event: Event, post: &mut Post) {
        if let Event::Message(Message::Ask { asker, count }) = event {
            post.send(asker, Message::Numbers { first: self.next, count });
            self.next = self.next.wrapping_add(count.wrapping_mul(self.step));
        }
    }
}
