//! The expected traffic between roles, for placing roles on nodes.

use crate::balancer::Way;
use crate::message::Address;
use crate::plan::{Plan, WayIn};
use crate::role::Role;

/// The expected number of messages between two parts of a structure, for placing roles on nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// The sender.
    pub from: Address,
    /// The receiver.
    pub to: Address,
    /// The number of messages expected while each client asks once.
    pub messages: f64,
}

/// The share of tokens that are assumed to meet another one in a prism. It depends on the load,
/// which a plan does not know; either way the same roles talk to each other.
const DIFFRACTED: f64 = 0.5;

impl Plan {
    /// Returns the expected messages between all parts when `clients` clients ask at the same rate.
    ///
    /// A plan does not know how many tokens will meet. It is assumed that half the tokens that come
    /// to a prism are diffracted, and that all requests that can combine do.
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
        let Some(into) = self.tokens_into(clients) else { return self.combining_traffic(clients) };
        let mut all = Vec::new();
        let mut send = |from, to, messages| all.push(Traffic { from, to, messages });
        let entries = self.asked_by(0);
        for client in 0..clients {
            for &role in &entries {
                send(Address::Client(client), Address::Role(role), 1.0 / entries.len() as f64);
            }
        }
        for (number, tokens) in (0..).zip(into) {
            let from = Address::Role(number);
            match &self.roles[number as usize] {
                Role::Dispenser(_) => {
                    for client in 0..clients {
                        send(from, Address::Client(client), tokens / f64::from(clients));
                    }
                }
                role => for_each_follower(role, tokens, |to, tokens| {
                    send(from, Address::Role(to), tokens);
                }),
            }
        }
        all
    }

    /// Returns the number of messages that each role receives and sends, under the same
    /// assumptions. These are the sums of [`traffic`](Plan::traffic), computed without a look at
    /// each client.
    ///
    /// ```
    /// use throng_messages::Plan;
    ///
    /// assert_eq!(Plan::central().loads(1_000_000), [2_000_000.0]);
    /// ```
    #[must_use]
    pub fn loads(&self, clients: u32) -> Vec<f64> {
        let clients = self.clients().map_or(clients, |most| most.min(clients));
        // Each token that comes to a balancer or dispenser leaves it again.
        if let Some(into) = self.tokens_into(clients) {
            return into.into_iter().map(|tokens| 2.0 * tokens).collect();
        }
        let mut loads = vec![0.0; self.len()];
        for traffic in self.combining_traffic(clients) {
            for address in [traffic.from, traffic.to] {
                if let Address::Role(number) = address {
                    loads[number as usize] += traffic.messages;
                }
            }
        }
        loads
    }

    /// Returns the number of tokens that come to each role, or `None` if there are no tokens.
    fn tokens_into(&self, clients: u32) -> Option<Vec<f64>> {
        if matches!(self.way_in, WayIn::Pairs { .. }) {
            return None;
        }
        let mut into = vec![0.0; self.len()];
        let entries = self.asked_by(0);
        let share = 1.0 / entries.len() as f64;
        let of_clients = (0..clients).fold(0.0, |tokens, _| tokens + share);
        entries.into_iter().for_each(|role| into[role as usize] = of_clients);
        // The tokens of a role come from lower numbers.
        for number in 0..self.len() {
            let tokens = into[number];
            for_each_follower(&self.roles[number], tokens, |to, tokens| {
                into[to as usize] += tokens
            });
        }
        Some(into)
    }

    /// Returns one request from every node with clients below it, and one answer.
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

/// Calls `send` for each role to which a balancer sends some of `tokens`, with their number.
fn for_each_follower(balancer: &Role, tokens: f64, mut send: impl FnMut(u32, f64)) {
    let mut spread = |way: Way, tokens: f64| {
        way.roles().for_each(|role| send(role, tokens / f64::from(way.count)));
    };
    match balancer {
        Role::Toggle(toggle) => toggle.next.into_iter().for_each(|way| spread(way, tokens / 2.0)),
        Role::Prism(prism) => {
            spread(Way::to(prism.toggle), tokens * (1.0 - DIFFRACTED));
            prism.next.into_iter().for_each(|way| spread(way, tokens * DIFFRACTED / 2.0));
        }
        Role::Dispenser(_) | Role::Combiner(_) => {}
    }
}
