//! A structure as its parts: roles, and how clients reach them.

use crate::message::{Address, Message};
use crate::role::Role;
use throng::machine::SplitMix64;

/// A counter: its roles, numbered from 0, and where clients ask.
#[derive(Clone, Debug)]
pub struct Plan {
    roles: Vec<Role>,
    way_in: WayIn,
}

/// Whom a client asks.
#[derive(Clone, Debug)]
pub(crate) enum WayIn {
    /// Any of these roles, at random.
    Any { first: u32, count: u32 },
}

/// How much two parts of a structure have to say to each other: for who places roles on nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Who sends.
    pub from: Address,
    /// Who receives.
    pub to: Address,
    /// Messages expected while each client asks once.
    pub messages: f64,
}

impl Plan {
    pub(crate) fn new(roles: Vec<Role>, way_in: WayIn) -> Self {
        Plan { roles, way_in }
    }

    /// How many roles there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// Whether there are none; never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// The roles, in the order of their numbers.
    #[must_use]
    pub fn into_roles(self) -> Vec<Role> {
        self.roles
    }

    /// What `client` sends, and to whom, to get a number. A client has one request on its way at most.
    #[must_use]
    pub fn ask(&self, client: u32, random: &mut SplitMix64) -> (Address, Message) {
        let to = match self.way_in {
            WayIn::Any { first, count } => first + random.below(u64::from(count)) as u32,
        };
        (Address::Role(to), Message::Ask { asker: Address::Client(client), count: 1 })
    }

    /// Who sends how much to whom when `clients` ask equally often.
    #[must_use]
    pub fn traffic(&self, clients: u32) -> Vec<Traffic> {
        let mut all = Vec::new();
        for client in (0..clients).map(Address::Client) {
            match self.way_in {
                WayIn::Any { first, count } => {
                    for role in (first..first + count).map(Address::Role) {
                        let messages = 1.0 / f64::from(count);
                        all.push(Traffic { from: client, to: role, messages });
                        all.push(Traffic { from: role, to: client, messages });
                    }
                }
            }
        }
        all
    }
}
