//! The roles: the work of the nodes of a structure.

use crate::balancer::Toggle;
use crate::central::Dispenser;
use crate::combining_tree::Combiner;
use crate::diffracting_tree::Prism;
use crate::message::{Event, Time};
use crate::post::Post;

/// A role of a structure, of any kind, so that a host can keep them in one list.
#[derive(Clone, Debug)]
pub enum Role {
    /// Gives out numbers.
    Dispenser(Dispenser),
    /// Sends tokens left and right in turn.
    Toggle(Toggle),
    /// Sends pairs of tokens left and right, and single ones to a toggle.
    Prism(Prism),
    /// Combines two requests into one.
    Combiner(Combiner),
}

impl Role {
    /// Handles `event` at the time `now`, and puts its output into `post`.
    pub fn on(&mut self, event: Event, now: Time, post: &mut Post) {
        match self {
            Role::Dispenser(role) => role.on(event, post),
            Role::Toggle(role) => role.on(event, post),
            Role::Prism(role) => role.on(event, now, post),
            Role::Combiner(role) => role.on(event, now, post),
        }
    }

    /// Returns a one-word name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Role::Dispenser(_) => "dispenser",
            Role::Toggle(_) => "toggle",
            Role::Prism(_) => "prism",
            Role::Combiner(_) => "combiner",
        }
    }
}
