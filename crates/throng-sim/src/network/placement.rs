//! Which role and which client is on which node.

use throng_messages::{Address, Plan, Traffic};

use super::{NetworkError, NetworkSpec};

/// The node of every role and every client. A node has room for one role of the structure and one
/// client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    roles: Vec<u32>,
    clients: Vec<u32>,
}

impl Placement {
    /// Clients on the first nodes, in order: from left to right, from the bottom up. The roles
    /// anywhere.
    ///
    /// # Errors
    ///
    /// If there is no such network, or if there are more roles or clients than nodes.
    pub fn random(
        spec: &NetworkSpec,
        plan: &Plan,
        clients: u32,
        seed: u64,
    ) -> Result<Self, NetworkError> {
        let _ = (spec, plan, clients, seed);
        Err(NetworkError::NotBuilt)
    }

    /// Clients as in [`random`](Self::random). The roles where messages have a short way.
    ///
    /// # Errors
    ///
    /// If there is no such network, or if there are more roles or clients than nodes.
    pub fn annealed(
        spec: &NetworkSpec,
        plan: &Plan,
        clients: u32,
        seed: u64,
    ) -> Result<Self, NetworkError> {
        let _ = (spec, plan, clients, seed);
        Err(NetworkError::NotBuilt)
    }

    /// The node of a role or client; `None` if there is no such role or client.
    #[must_use]
    pub fn node_of(&self, who: Address) -> Option<usize> {
        let node = match who {
            Address::Role(number) => self.roles.get(number as usize),
            Address::Client(number) => self.clients.get(number as usize),
        };
        node.map(|&node| node as usize)
    }

    /// The mean time of a message that meets no other: [`NetworkSpec::cycles_alone`], weighted by
    /// how often each is sent.
    #[must_use]
    pub fn mean_distance(&self, spec: &NetworkSpec, traffic: &[Traffic]) -> f64 {
        let _ = (spec, traffic);
        0.0
    }
}
