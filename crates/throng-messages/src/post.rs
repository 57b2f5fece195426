//! The output of a state machine: messages to carry, timers to ring.

use crate::message::{Address, Message, Time, Timer};
use std::collections::VecDeque;

/// Collects the messages that a role sends and the timers that it sets; the host takes them out.
/// One is used for all events: it allocates only until it is as large as the largest output of one
/// event.
#[derive(Debug, Default)]
pub struct Post {
    messages: VecDeque<(Address, Message)>,
    timers: VecDeque<(Time, Timer)>,
}

impl Post {
    /// Returns an empty output.
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

    /// Removes and returns the message that was sent first.
    pub fn next_message(&mut self) -> Option<(Address, Message)> {
        self.messages.pop_front()
    }

    /// Removes and returns the timer that was set first.
    pub fn next_timer(&mut self) -> Option<(Time, Timer)> {
        self.timers.pop_front()
    }
}
