//! A structure as its parts: roles, and the entries of clients.

use crate::balancer::Way;
use crate::central::Dispenser;
use crate::message::{Address, Message};
use crate::role::Role;
use throng::ShapeError;
use throng::machine::SplitMix64;

mod combining_tree;
mod diffracting_tree;

/// The width of the widest trees and networks. Such a network is 78 balancers deep, and has 160 000
/// of them.
const MAX_WIDTH: usize = 1 << 12;

/// Returns the base-2 logarithm of a width, if a tree or network of balancers can have it.
pub(crate) fn log_of_width(width: usize) -> Result<u32, ShapeError> {
    if width.is_power_of_two() && width <= MAX_WIDTH {
        Ok(width.ilog2())
    } else {
        let allowed = format!("a power of two from 1 to {MAX_WIDTH}");
        Err(ShapeError::new("width", width, allowed))
    }
}

/// A counter: its roles, numbered from 0, and the roles that clients ask.
///
/// Messages that roles send to each other on the way to a number go from lower numbers to higher
/// ones.
#[derive(Clone, Debug)]
pub struct Plan {
    name: &'static str,
    pub(crate) roles: Vec<Role>,
    pub(crate) way_in: WayIn,
    longest_way: u32,
    step: u64,
}

/// The roles that a client asks.
#[derive(Clone, Debug)]
pub(crate) enum WayIn {
    /// Any of these roles, at random.
    Any(Way),
    /// Any of the roles on the list, at random.
    Listed(Box<[u32]>),
    /// Two clients ask one role, the next two the next one.
    Pairs { clients: u32 },
}

impl Plan {
    /// Returns a plan with one role that gives out all numbers.
    #[must_use]
    pub fn central() -> Plan {
        let roles = vec![Role::Dispenser(Dispenser::new(0, 1))];
        Plan::new("central", roles, WayIn::Any(Way::to(0)), 2)
    }

    pub(crate) fn new(
        name: &'static str,
        roles: Vec<Role>,
        way_in: WayIn,
        longest_way: u32,
    ) -> Self {
        // All dispensers of a structure have the same step, and come last.
        let step = roles.iter().rev().find_map(|role| match role {
            Role::Dispenser(dispenser) => Some(dispenser.step),
            _ => None,
        });
        Plan { name, roles, way_in, longest_way, step: step.unwrap_or(1) }
    }

    /// Returns a short name, such as "diffracting tree".
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the number of roles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roles.len()
    }

    /// Returns whether there are no roles, which is never true.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty()
    }

    /// Returns the largest number of messages in sequence, from a client's request to its answer,
    /// both counted.
    #[must_use]
    pub fn longest_way(&self) -> u32 {
        self.longest_way
    }

    /// Returns the distance between the numbers of one answer: 1 if one role gives out all numbers,
    /// otherwise the width of the tree or network of balancers.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns the number of clients that may ask, or `None` if any number may. They are numbered
    /// from 0.
    #[must_use]
    pub fn clients(&self) -> Option<u32> {
        match self.way_in {
            WayIn::Pairs { clients } => Some(clients),
            WayIn::Any(_) | WayIn::Listed(_) => None,
        }
    }

    /// Returns the roles, in the order of their numbers.
    #[must_use]
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Returns the roles, in the order of their numbers.
    #[must_use]
    pub fn into_roles(self) -> Vec<Role> {
        self.roles
    }

    /// Returns the roles that `client` may ask.
    #[must_use]
    pub fn asked_by(&self, client: u32) -> Vec<u32> {
        match &self.way_in {
            WayIn::Any(way) => way.roles().collect(),
            WayIn::Listed(roles) => roles.to_vec(),
            WayIn::Pairs { .. } => vec![client / 2],
        }
    }

    /// Returns the roles to which `role` sends messages on the way to a number; none for a
    /// dispenser.
    ///
    /// # Panics
    /// If there is no such role.
    #[must_use]
    pub fn followers(&self, role: u32) -> Vec<u32> {
        match &self.roles[role as usize] {
            Role::Dispenser(_) => Vec::new(),
            Role::Toggle(toggle) => toggle.next.into_iter().flat_map(Way::roles).collect(),
            Role::Prism(prism) => {
                let sides = prism.next.into_iter().flat_map(Way::roles);
                sides.chain([prism.toggle]).collect()
            }
            Role::Combiner(node) => match node.parent() {
                Address::Role(parent) => vec![parent],
                Address::Client(_) => Vec::new(),
            },
        }
    }

    /// Returns the message that `client` sends to get a number, and its receiver. A client has at
    /// most one request in flight.
    ///
    /// # Panics
    /// If there is no such [client](Plan::clients).
    #[must_use]
    pub fn ask(&self, client: u32, random: &mut SplitMix64) -> (Address, Message) {
        self.ask_many(client, 1, random)
    }

    /// Returns the message that `client` sends to get `count` numbers, at least one, and its
    /// receiver. The answers are [numbers](Message::Numbers), `count` in all; only then the client
    /// may ask again.
    ///
    /// When no request is in flight the numbers of all answers are 0 to m - 1, each once, where m
    /// is the sum of all counts. If one role gives out all numbers (central, combining tree) the
    /// answer is a single message.
    ///
    /// # Panics
    /// If there is no such [client](Plan::clients).
    #[must_use]
    pub fn ask_many(&self, client: u32, count: u64, random: &mut SplitMix64) -> (Address, Message) {
        let to = match &self.way_in {
            WayIn::Any(way) => way.pick(random),
            WayIn::Listed(roles) => Address::Role(roles[random.below(roles.len() as u64) as usize]),
            WayIn::Pairs { clients } => {
                assert!(client < *clients, "client {client}: there are {clients}");
                Address::Role(client / 2)
            }
        };
        (to, Message::Ask { asker: Address::Client(client), count })
    }
}
