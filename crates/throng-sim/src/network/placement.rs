//! The nodes of roles and clients.

use throng::machine::SplitMix64;
use throng_messages::{Address, Plan, Traffic};

use super::anneal::anneal;
use super::{NetworkError, NetworkSpec};

/// The node of every role and every client. A node has room for one role of the structure and for
/// one client.
///
/// ```
/// use throng_messages::{Address, Plan};
/// use throng_sim::network::{NetworkSpec, Placement};
///
/// let (network, plan) = (NetworkSpec::mesh_crossbar(64), Plan::central());
/// // Three clients, on the first nodes of the bottom row.
/// let placement = Placement::annealed(&network, &plan, 3, 1)?;
/// assert_eq!(placement.node_of(Address::Client(2)), Some(2));
/// // The way is shortest in their middle.
/// assert_eq!(placement.node_of(Address::Role(0)), Some(1));
/// # Ok::<(), throng_sim::network::NetworkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    roles: Vec<u32>,
    clients: Vec<u32>,
}

impl Placement {
    /// Returns a placement of roles and clients on these nodes, in the order of their numbers.
    ///
    /// # Errors
    ///
    /// If there is no such network, if a node does not exist, or if two roles or two clients are on
    /// one node.
    pub fn by_hand(
        spec: &NetworkSpec,
        roles: &[usize],
        clients: &[usize],
    ) -> Result<Self, NetworkError> {
        spec.check()?;
        let addresses: [fn(u32) -> Address; 2] = [Address::Role, Address::Client];
        for (nodes, address) in [roles, clients].into_iter().zip(addresses) {
            let mut taken = vec![false; spec.nodes];
            for (who, &node) in (0..).map(address).zip(nodes) {
                if node >= spec.nodes {
                    return Err(NetworkError::NoSuchNode { who, node, nodes: spec.nodes });
                }
                if std::mem::replace(&mut taken[node], true) {
                    return Err(NetworkError::Shared { who, node });
                }
            }
        }
        let small = |nodes: &[usize]| nodes.iter().map(|&node| node as u32).collect();
        Ok(Placement { roles: small(roles), clients: small(clients) })
    }

    /// Returns a placement of clients on the first nodes, in order, without roles: the members of a
    /// barrier.
    ///
    /// # Errors
    ///
    /// If there is no such network, or if there are more clients than nodes.
    pub fn of_clients(spec: &NetworkSpec, clients: u32) -> Result<Self, NetworkError> {
        spec.check()?;
        fits("clients", clients as usize, spec.nodes)?;
        Ok(Placement { roles: Vec::new(), clients: (0..clients).collect() })
    }

    /// Returns a placement of clients on the first nodes, in order: from left to right, from the
    /// bottom up. The roles are placed at random.
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
        let mut placement = Placement::of_clients(spec, clients)?;
        let nodes = spec.nodes;
        fits("roles", plan.len(), nodes)?;
        let mut random = SplitMix64::from_state(SplitMix64::mix(seed));
        let mut roles: Vec<u32> = (0..nodes as u32).collect();
        for place in 0..plan.len() {
            roles.swap(place, place + random.below((nodes - place) as u64) as usize);
        }
        roles.truncate(plan.len());
        placement.roles = roles;
        Ok(placement)
    }

    /// Returns a placement of clients like [`random`](Self::random). The roles are placed so that
    /// the mean path of a message is short, by [`Plan::traffic`]: simulated annealing (Kirkpatrick,
    /// Gelatt, Vecchi 1983), as in DT96.
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
        let mut placement = Placement::random(spec, plan, clients, seed)?;
        let traffic = plan.traffic(clients);
        anneal(spec, &traffic, &mut placement.roles, &placement.clients, seed);
        Ok(placement)
    }

    /// Returns the node of a role or client, or `None` if there is no such role or client.
    #[inline]
    #[must_use]
    pub fn node_of(&self, who: Address) -> Option<usize> {
        let node = match who {
            Address::Role(number) => self.roles.get(number as usize),
            Address::Client(number) => self.clients.get(number as usize),
        };
        node.map(|&node| node as usize)
    }

    /// Returns the mean time of a message that meets no other: [`NetworkSpec::cycles_alone`],
    /// weighted by the number of messages. Messages from or to unknown participants are left out.
    ///
    /// # Panics
    ///
    /// May panic if the placement is for another network.
    #[must_use]
    pub fn mean_distance(&self, spec: &NetworkSpec, traffic: &[Traffic]) -> f64 {
        let (mut all, mut cycles) = (0.0, 0.0);
        for one in traffic {
            if let (Some(from), Some(to)) = (self.node_of(one.from), self.node_of(one.to)) {
                all += one.messages;
                cycles += one.messages * spec.cycles_alone(from, to) as f64;
            }
        }
        if all > 0.0 { cycles / all } else { 0.0 }
    }

    /// Checks that there is such a network, and that all participants have a node of it.
    pub(super) fn check(
        &self,
        spec: &NetworkSpec,
        roles: usize,
        clients: u32,
    ) -> Result<(), NetworkError> {
        spec.check()?;
        let roles = (0..roles as u32).map(Address::Role);
        for who in roles.chain((0..clients).map(Address::Client)) {
            let node = self.node_of(who).ok_or(NetworkError::NotPlaced { who })?;
            if node >= spec.nodes {
                return Err(NetworkError::NoSuchNode { who, node, nodes: spec.nodes });
            }
        }
        Ok(())
    }
}

/// Checks that there are not more of a kind than nodes.
fn fits(what: &'static str, count: usize, nodes: usize) -> Result<(), NetworkError> {
    if count > nodes { Err(NetworkError::DoesNotFit { what, count, nodes }) } else { Ok(()) }
}
