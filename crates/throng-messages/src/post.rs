//! What a state machine wants done: messages to carry, timers to ring.

use crate::message::{Address, Message, Timer};
use crate::role::Time;
use std::collections::VecDeque;

/// Collects what a role sends and the timers it sets; the host takes them out. Made once and used for
/// every event: it allocates only until it is as large as the largest answer to one event.
#[derive(Debug, Default)]
pub struct Post {
    messages: VecDeque<(Address, Message)>,
    timers: VecDeque<(Time, Timer)>,
}

impl Post {
    /// Nothing to do yet.
    #[must_use]
    pub fn new() -> Self {
        Post::default()
    }

    /// Sends `message` to `to`.
    pub fn send(&mut self, to: Address, message: Message) {
        self.messages.push_back((to, message));
    }

    /// Rings `timer`, of the role that sets it, at `time` or later.
    pub fn ring_at(&mut self, time: Time, timer: Timer) {
        self.timers.push_back((time, timer));
    }

    /// Takes out the message that was sent first.
    pub fn next_message(&mut self) -> Option<(Address, Message)> {
        self.messages.pop_front()
    }

    /// Takes out the timer that was set first.
    pub fn next_timer(&mut self) -> Option<(Time, Timer)> {
        self.timers.pop_front()
    }
}
