//! One rank's part of a barrier: its member.

use crate::error::Error;
use crate::part::Part;
use std::thread::Thread;
use throng_messages::{Address, Event, Member, Post};

/// A member, and the thread that waits for it.
#[derive(Debug)]
pub(crate) struct Meeting {
    member: Member,
    /// Whether the member has arrived and no caller has got the result yet.
    arrived: bool,
    caller: Option<Thread>,
    /// A rank that has left, and the number of rounds that it had passed.
    last: Option<(u32, u64)>,
}

impl Meeting {
    pub(crate) fn new(member: Member) -> Self {
        Meeting { member, arrived: false, caller: None, last: None }
    }

    /// Arrives, unless the arrival of a call that gave up is still valid. It is valid even if all
    /// have come meanwhile, since no caller got the result.
    pub(crate) fn arrive(&mut self, caller: Thread, post: &mut Post) {
        self.caller = Some(caller);
        if !std::mem::replace(&mut self.arrived, true) {
            self.member.arrive(post);
        }
    }

    /// Returns `Some` once after all have come.
    pub(crate) fn pass(&mut self) -> Option<()> {
        let passed = self.arrived && !self.member.waits();
        if passed {
            self.arrived = false;
            self.caller = None;
        }
        passed.then_some(())
    }
}

impl Part for Meeting {
    fn home(&self, of: Address) -> u32 {
        match of {
            Address::Role(number) | Address::Client(number) => number,
        }
    }

    fn on(&mut self, _to: Address, event: Event, _now_ns: u64, post: &mut Post) {
        if let Event::Message(message) = event {
            self.member.on(message, post);
            if !self.member.waits() {
                self.wake();
            }
        }
    }

    fn depends_on(&self) -> Vec<u32> {
        self.member.waits_for()
    }

    fn serves(&self) -> bool {
        // Messages that come before the member arrives may wait until it does, and after it has
        // passed no other member waits for it.
        false
    }

    fn wake(&self) {
        self.caller.iter().for_each(Thread::unpark);
    }

    fn rounds(&self) -> Option<u64> {
        Some(self.member.passed())
    }

    fn ends_after(&mut self, rank: u32, rounds: u64) {
        self.last = Some((rank, rounds));
    }

    fn hopeless(&self) -> Option<Error> {
        let (rank, rounds) = self.last?;
        (self.member.waits() && self.member.passed() >= rounds).then_some(Error::Left { rank })
    }
}
