//! The network between nodes: distances, and the queues of messages.
//!
//! Rings and the ports of chiplets take one message after another. Only the first message of an
//! access, the request, is held up there; the answers to it come back in the same slot. The request
//! takes its place in all queues of its path when it is issued. So the first queue is exact, and
//! the next ones have the right amount of work, but a request that still waits in the first queue
//! holds up no other at the next. All other networks have room for all messages: in those machines
//! the homes are the bottleneck.

use crate::spec::{MachineSpec, NetworkSpec};

/// A network of a given size.
#[derive(Debug)]
pub(super) struct Network {
    spec: NetworkSpec,
    /// The column and row of each node of a mesh.
    places: Vec<(u16, u16)>,
    /// The stages of a butterfly.
    stages: u64,
    /// The time when each ring, or each port, takes the next message; the ring of rings is the
    /// last.
    free_at: Vec<u64>,
    pub(super) messages: u64,
}

impl Network {
    /// Returns the network of a machine of `nodes` nodes.
    pub(super) fn new(spec: &MachineSpec, nodes: usize) -> Self {
        let queues = match spec.network {
            NetworkSpec::Rings { ring_nodes, .. } => nodes.div_ceil(ring_nodes) + 1,
            NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, .. } => {
                nodes.div_ceil(chiplet_nodes) + nodes.div_ceil(chiplet_nodes * socket_chiplets)
            }
            _ => 0,
        };
        let stages = match spec.network {
            NetworkSpec::Butterfly { radix, .. } => {
                (1..).find(|&stages| radix.saturating_pow(stages) >= nodes).unwrap_or(1)
            }
            _ => 0,
        };
        let places = match spec.network {
            NetworkSpec::Mesh { .. } => {
                let side = (1..).find(|side| side * side >= nodes).unwrap_or(1);
                (0..nodes).map(|node| ((node % side) as u16, (node / side) as u16)).collect()
            }
            _ => Vec::new(),
        };
        Network {
            spec: spec.network,
            places,
            stages: stages.into(),
            free_at: vec![0; queues],
            messages: 0,
        }
    }

    /// Returns the time of a message.
    #[inline]
    pub(super) fn cycles(&self, from: usize, to: usize) -> u64 {
        if from == to {
            return 0;
        }
        match self.spec {
            NetworkSpec::Uniform { message_cycles } => message_cycles,
            NetworkSpec::Bus { .. } => 0,
            NetworkSpec::Mesh { message_cycles, hop_cycles } => {
                let (a, b) = (self.places[from], self.places[to]);
                let hops = u64::from(a.0.abs_diff(b.0)) + u64::from(a.1.abs_diff(b.1));
                message_cycles + hops * hop_cycles
            }
            NetworkSpec::Butterfly { message_cycles, stage_cycles, .. } => {
                message_cycles + self.stages * stage_cycles
            }
            NetworkSpec::Hypercube { router_nodes, message_cycles, hop_cycles } => {
                let hops = ((from / router_nodes) ^ (to / router_nodes)).count_ones();
                message_cycles + u64::from(hops) * hop_cycles
            }
            NetworkSpec::Rings { ring_nodes, near_cycles, far_cycles, .. } => {
                if from / ring_nodes == to / ring_nodes { near_cycles } else { far_cycles }
            }
            NetworkSpec::Chiplets {
                chiplet_nodes,
                socket_chiplets,
                chiplet_cycles,
                socket_cycles,
                far_cycles,
                ..
            } => {
                let socket_nodes = chiplet_nodes * socket_chiplets;
                if from / chiplet_nodes == to / chiplet_nodes {
                    chiplet_cycles
                } else if from / socket_nodes == to / socket_nodes {
                    socket_cycles
                } else {
                    far_cycles
                }
            }
        }
    }

    /// Returns the shortest time of a message to another node.
    pub(super) fn least_cycles(&self) -> u64 {
        match self.spec {
            NetworkSpec::Uniform { message_cycles } => message_cycles,
            NetworkSpec::Bus { .. } => 0,
            NetworkSpec::Mesh { message_cycles, hop_cycles } => message_cycles + hop_cycles,
            NetworkSpec::Butterfly { message_cycles, stage_cycles, .. } => {
                message_cycles + self.stages * stage_cycles
            }
            NetworkSpec::Hypercube { message_cycles, .. } => message_cycles,
            NetworkSpec::Rings { near_cycles, far_cycles, .. } => near_cycles.min(far_cycles),
            NetworkSpec::Chiplets { chiplet_cycles, socket_cycles, far_cycles, .. } => {
                chiplet_cycles.min(socket_cycles).min(far_cycles)
            }
        }
    }

    /// Sends a message at a time that may be in the future. Returns the time when it arrives.
    #[inline]
    pub(super) fn send(&mut self, from: usize, to: usize, at: u64) -> u64 {
        self.messages += u64::from(from != to);
        at + self.cycles(from, to)
    }

    /// Sends a message and its answer. Returns the time of each.
    #[inline]
    pub(super) fn there_and_back(&mut self, from: usize, to: usize) -> u64 {
        self.messages += 2 * u64::from(from != to);
        self.cycles(from, to)
    }

    /// Queues the request of an access that was issued now behind earlier ones. Returns the time
    /// when it leaves.
    #[inline]
    pub(super) fn stand_in_line(&mut self, from: usize, to: usize, wanted: u64) -> u64 {
        if from == to {
            return wanted;
        }
        let mut at = wanted;
        match self.spec {
            NetworkSpec::Rings { ring_nodes, slot_cycles, .. } => {
                let (here, there) = (from / ring_nodes, to / ring_nodes);
                at = self.pass(here, wanted, at, slot_cycles);
                if here != there {
                    at = self.pass(self.free_at.len() - 1, wanted, at, slot_cycles);
                    at = self.pass(there, wanted, at, slot_cycles);
                }
            }
            NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, port_cycles, .. } => {
                let socket_nodes = chiplet_nodes * socket_chiplets;
                if from / chiplet_nodes != to / chiplet_nodes {
                    at = self.pass(from / chiplet_nodes, wanted, at, port_cycles);
                }
                if from / socket_nodes != to / socket_nodes {
                    let socket = self.free_at.len() - 1 - from / socket_nodes;
                    at = self.pass(socket, wanted, at, port_cycles);
                }
            }
            _ => {}
        }
        at
    }

    /// Queues a request that was `wanted` earlier and comes to a queue `at` this time. Returns the
    /// time when it is through.
    fn pass(&mut self, queue: usize, wanted: u64, at: u64, cycles: u64) -> u64 {
        let free_at = self.free_at[queue];
        self.free_at[queue] = free_at.max(wanted) + cycles;
        free_at.max(at)
    }

    /// Returns the sizes of groups of nodes that are nearer to each other than to all others, the
    /// smallest first. The last group has all nodes.
    pub(super) fn groups(&self) -> Vec<usize> {
        match self.spec {
            NetworkSpec::Rings { ring_nodes, .. } => vec![ring_nodes, usize::MAX],
            NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, .. } => {
                vec![chiplet_nodes, chiplet_nodes * socket_chiplets, usize::MAX]
            }
            _ => vec![usize::MAX],
        }
    }
}
