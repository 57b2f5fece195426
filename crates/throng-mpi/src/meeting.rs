//! One rank's part of a barrier: its member.

use crate::engine::Part;
use crate::error::Error;
use std::thread::Thread;
use throng_messages::{Address, Event, Member, Post};

/// A member, and who waits as it.
#[derive(Debug)]
pub(crate) struct Meeting {
    member: Member,
    /// Whether the member has arrived and nobody has been told yet that it has passed.
    arrived: bool,
    caller: Option<Thread>,
    /// A rank that has left, and how many rounds it had passed.
    last: Option<(u32, u64)>,
}

impl Meeting {
    pub(crate) fn new(member: Member) -> Self {
        Meeting { member, arrived: false, caller: None, last: None }
    }

    /// Arrives, unless an arrival that somebody gave up on still holds. It does even if all have come
    /// meanwhile: nobody was told.
    pub(crate) fn arrive(&mut self, caller: Thread, post: &mut Post) {
        self.caller = Some(caller);
        if !std::mem::replace(&mut self.arrived, true) {
            self.member.arrive(post);
        }
    }

    /// Whether all have come; this is told once.
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
        // What comes before the member arrives may lie until it does, and after it has passed it owes
        // nobody anything.
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
