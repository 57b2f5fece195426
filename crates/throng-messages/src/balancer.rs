//! A balancer that is one toggle, and the outputs of balancers.
//!
//! A toggle sends the tokens that reach it left, right, left, right ... so when no token is inside,
//! as many have gone left as right, or one more. It is the second half of a diffracting balancer
//! ([`Plan::diffracting_tree`](crate::Plan::diffracting_tree)) and the whole of a balancer of a
//! counting network ([`Plan::counting_network`](crate::Plan::counting_network)). There it does not
//! matter from which of its two wires a token comes, since the message has all information.
//!
//! Tokens that travel together count as many. The toggle sends half of them left and half right,
//! and the odd one to the side that is next. It treats them as if they had come one by one.
//!
//! A toggle keeps no token: what reaches it leaves it in the same event. If its node dies, the
//! tokens on their way to it are lost with it, and their askers wait for ever.

use crate::message::{Address, Event, Message};
use crate::post::Post;
use throng::machine::SplitMix64;

/// The next stop of a token: any of some roles that are numbered in sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Way {
    pub(crate) fn to(role: u32) -> Self {
        Way { first: role, count: 1 }
    }

    /// `dispatch_message` of DT96, Figure 17.
    pub(crate) fn pick(self, random: &mut SplitMix64) -> Address {
        let other = if self.count == 1 { 0 } else { random.below(self.count.into()) as u32 };
        Address::Role(self.first + other)
    }

    pub(crate) fn roles(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

/// Returns the random numbers of the role with this number. Those of different roles are unrelated.
pub(crate) fn random_of(seed: u64, role: u32) -> SplitMix64 {
    SplitMix64::from_state(SplitMix64::mix(seed ^ SplitMix64::mix(u64::from(role) + 1)))
}

/// Sends tokens left and right in turn: `ToggleProc` of DT96, Figure 17.
#[derive(Clone, Debug)]
pub struct Toggle {
    pub(crate) next: [Way; 2],
    right: bool,
    random: SplitMix64,
}

impl Toggle {
    pub(crate) fn new(next: [Way; 2], random: SplitMix64) -> Self {
        Toggle { next, right: false, random }
    }

    /// Sends tokens on.
    pub fn on(&mut self, event: Event, post: &mut Post) {
        if let Event::Message(Message::Ask { asker, count }) = event {
            let side = usize::from(self.right);
            self.right ^= count % 2 == 1;
            for (side, count) in [(side, count.div_ceil(2)), (1 - side, count / 2)] {
                if count > 0 {
                    let to = self.next[side].pick(&mut self.random);
                    post.send(to, Message::Ask { asker, count });
                }
            }
        }
    }
}
