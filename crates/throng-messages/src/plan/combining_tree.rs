//! The roles of a [combining tree](crate::combining_tree), and how they are connected.

use super::{Plan, WayIn};
use crate::central::Dispenser;
use crate::combining_tree::{Combiner, CombiningShape};
use crate::message::Address;
use crate::role::Role;
use throng::ShapeError;

/// The largest number of clients.
const MAX_CLIENTS: usize = 1 << 17;

impl Plan {
    /// Returns a combining tree of optimal depth: one leaf for every two clients. It is
    /// linearizable: a client that asks after another was answered gets a larger number.
    ///
    /// # Errors
    /// If there are no clients, or more than 131072.
    pub fn combining_tree(shape: &CombiningShape) -> Result<Plan, ShapeError> {
        let clients = ShapeError::check_range("clients", shape.clients, 1..=MAX_CLIENTS)? as u32;
        let mut roles = Vec::new();
        let mut children: Vec<Address> = (0..clients).map(Address::Client).collect();
        let mut height = 1;
        // Every level is numbered in sequence, after the level below it.
        while children.len() > 2 {
            let first = roles.len() as u32;
            let above = first + children.len().div_ceil(2) as u32;
            for (number, pair) in (0_u32..).zip(children.chunks(2)) {
                let pair = [Some(pair[0]), pair.get(1).copied()];
                let node = Combiner::new(first + number, above + number / 2, pair, shape.waiting);
                roles.push(Role::Combiner(node));
            }
            children = (first..above).map(Address::Role).collect();
            height += 1;
        }
        roles.push(Role::Dispenser(Dispenser::new(0, 1)));
        Ok(Plan::new("combining tree", roles, WayIn::Pairs { clients }, 2 * height))
    }
}
