//! The roles: what the nodes of a structure do.

use crate::central::Dispenser;
use crate::message::Event;
use crate::post::Post;

/// A time, in the host's unit.
pub type Time = u64;

/// A role of a structure, of any kind, so that a host can keep them in one list.
#[derive(Clone, Debug)]
pub enum Role {
    /// Gives out numbers.
    Dispenser(Dispenser),
}

impl Role {
    /// Handles `event` at the time `now`, and leaves with `post` what is to be done.
    pub fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        let _ = now;
        match self {
            Role::Dispenser(role) => role.on(event, post),
        }
    }
}
