//! Who has how much to say to whom: for those who place roles on nodes.

use crate::message::Address;
use crate::plan::{Plan, WayIn};
use crate::role::Role;

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

/// The share of tokens that are taken to meet another one in a prism. It depends on the load, which a
/// plan does not know; either way the same roles talk to each other.
const DIFFRACTED: f64 = 0.5;

impl Plan {
    /// Who sends how much to whom when `clients` ask equally often.
    ///
    /// A plan does not know how many will meet. Here half the tokens that come to a prism are
    /// diffracted, and all requests that can combine do.
    ///
    /// ```
    /// use throng_messages::Plan;
    ///
    /// let messages: f64 = Plan::counting_network(32)?.traffic(10).iter().map(|t| t.messages).sum();
    /// assert!((messages - 17.0 * 10.0).abs() < 1e-9);
    /// # Ok::<(), throng::ShapeError>(())
    /// ```
    #[must_use]
    pub fn traffic(&self, clients: u32) -> Vec<Traffic> {
        let clients = self.clients().map_or(clients, |most| most.min(clients));
        let mut flow = Flow { all: Vec::new(), into: vec![0.0; self.len()] };
        let entries: Vec<u32> = match &self.way_in {
            WayIn::Any(way) => way.roles().collect(),
            WayIn::Listed(roles) => roles.to_vec(),
            WayIn::Pairs { .. } => return self.combining_traffic(clients),
        };
        for client in (0..clients).map(Address::Client) {
            flow.spread(client, entries.iter().copied(), 1.0);
        }
        // What comes to a role comes from lower numbers.
        for (number, role) in (0..).zip(&self.roles) {
            let (from, messages) = (Address::Role(number), flow.into[number as usize]);
            match role {
                Role::Dispenser(_) => {
                    for to in (0..clients).map(Address::Client) {
                        let messages = messages / f64::from(clients);
                        flow.all.push(Traffic { from, to, messages });
                    }
                }
                Role::Toggle(toggle) => {
                    for way in toggle.next {
                        flow.spread(from, way.roles(), messages / 2.0);
                    }
                }
                Role::Prism(prism) => {
                    let alone = prism.toggle..prism.toggle + 1;
                    flow.spread(from, alone, messages * (1.0 - DIFFRACTED));
                    for way in prism.next {
                        flow.spread(from, way.roles(), messages * DIFFRACTED / 2.0);
                    }
                }
                Role::Combiner(_) => {}
            }
        }
        flow.all
    }

    /// One request from everybody who has any client below, and one answer.
    fn combining_traffic(&self, clients: u32) -> Vec<Traffic> {
        let mut all = Vec::new();
        let mut asks = vec![false; self.len()];
        let mut exchange = |from, to, asks: &mut Vec<bool>| {
            all.push(Traffic { from, to, messages: 1.0 });
            all.push(Traffic { from: to, to: from, messages: 1.0 });
            if let Address::Role(number) = to {
                asks[number as usize] = true;
            }
        };
        for client in 0..clients {
            exchange(Address::Client(client), Address::Role(client / 2), &mut asks);
        }
        for (number, role) in (0..).zip(&self.roles) {
            if let Role::Combiner(node) = role
                && asks[number as usize]
            {
                exchange(Address::Role(number), node.parent(), &mut asks);
            }
        }
        all
    }
}

/// What is known so far.
struct Flow {
    all: Vec<Traffic>,
    /// What comes to each role.
    into: Vec<f64>,
}

impl Flow {
    /// So much goes from `from` to each of `roles` in equal parts.
    fn spread(&mut self, from: Address, roles: impl ExactSizeIterator<Item = u32>, messages: f64) {
        let messages = messages / roles.len() as f64;
        for role in roles {
            self.into[role as usize] += messages;
            self.all.push(Traffic { from, to: Address::Role(role), messages });
        }
    }
}
