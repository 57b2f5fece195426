//! The parts of a network, as data.

use std::fmt;

use super::NetworkError;

/// The largest number of nodes of a network.
pub const NODES_MAX: usize = 4096;

/// How the nodes of a network are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A torus mesh. A switch at each node passes one message at a time.
    MeshSingleWire,
    /// A torus mesh. A switch at each node is a crossbar with five ports: one message at a time for
    /// each port in, and one for each port out.
    MeshCrossbar,
    /// log2 n layers of crossbars with two ports, from the processors around back to them.
    Butterfly,
    /// One crossbar with a port for each node.
    Crossbar,
    /// A present-day cluster: hosts joined by a fat tree that has room for all messages at once.
    /// The bottleneck is each node's port. Time is in nanoseconds.
    FatTree {
        /// The number of nodes of one host.
        host_nodes: usize,
        /// The time of a message alone between two nodes of a host.
        within: u64,
        /// The time of a message alone between two hosts.
        between: u64,
    },
}

/// A network.
///
/// ```
/// use throng_sim::network::NetworkSpec;
///
/// let network = NetworkSpec { local_cycles: 0, ..NetworkSpec::mesh_crossbar(64) };
/// // A wire, a switch, a wire, the next switch, a wire.
/// assert_eq!(network.cycles_alone(0, 1), 5);
/// // Node 7 is at the other end of the row, and the row is closed to a ring.
/// assert_eq!(network.cycles_alone(0, 7), 5);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSpec {
    /// How the nodes are joined.
    pub topology: Topology,
    /// The number of nodes.
    pub nodes: usize,
    /// The time for which a wire, and in a fat tree a port, holds a message.
    pub wire_cycles: u64,
    /// The time for which a switch holds a message; 0 in a fat tree, whose latencies contain it.
    pub switch_cycles: u64,
    /// The time of a message between a role and a client of the same node.
    pub local_cycles: u64,
}

impl NetworkSpec {
    /// Returns a torus mesh whose switches pass one message at a time.
    #[must_use]
    pub fn mesh_single_wire(nodes: usize) -> Self {
        Self::of_cycles(Topology::MeshSingleWire, nodes)
    }

    /// Returns a torus mesh whose switches are crossbars.
    #[must_use]
    pub fn mesh_crossbar(nodes: usize) -> Self {
        Self::of_cycles(Topology::MeshCrossbar, nodes)
    }

    /// Returns a butterfly; the number of nodes must be a power of two.
    #[must_use]
    pub fn butterfly(nodes: usize) -> Self {
        Self::of_cycles(Topology::Butterfly, nodes)
    }

    /// Returns one crossbar for all nodes.
    #[must_use]
    pub fn crossbar(nodes: usize) -> Self {
        Self::of_cycles(Topology::Crossbar, nodes)
    }

    /// Returns a cluster of hosts with 16 nodes each: 1 us within a host, 10 us between two, 200 ns
    /// a message at a port. The README of this module has the sources.
    #[must_use]
    pub fn fat_tree(nodes: usize) -> Self {
        NetworkSpec {
            topology: Topology::FatTree { host_nodes: 16, within: 1_000, between: 10_000 },
            nodes,
            wire_cycles: 200,
            switch_cycles: 0,
            local_cycles: 100,
        }
    }

    /// Returns a network with a cycle for each wire, each switch, and a message that stays on its
    /// node.
    fn of_cycles(topology: Topology, nodes: usize) -> Self {
        NetworkSpec { topology, nodes, wire_cycles: 1, switch_cycles: 1, local_cycles: 1 }
    }

    /// Returns the rows and columns of a mesh, as near to a square as a full rectangle of its nodes
    /// can be. Node 0 is at the left of the bottom row, and the nodes of a row follow each other.
    #[must_use]
    pub fn sides(&self) -> (usize, usize) {
        let rows = (1..=self.nodes.isqrt()).rev().find(|rows| self.nodes.is_multiple_of(*rows));
        let rows = rows.unwrap_or(1);
        (rows, self.nodes / rows)
    }

    /// Checks that such a network is possible.
    ///
    /// # Errors
    ///
    /// Names what is wrong and what is allowed.
    pub fn check(&self) -> Result<(), NetworkError> {
        let within = NetworkError::check;
        const CYCLES_MAX: u64 = 1_000_000_000;
        within("nodes", self.nodes as u64, 1..=NODES_MAX as u64)?;
        within("wire_cycles", self.wire_cycles, 1..=CYCLES_MAX)?;
        within("local_cycles", self.local_cycles, 0..=CYCLES_MAX)?;
        match self.topology {
            Topology::FatTree { host_nodes, within: near, between: far } => {
                within("switch_cycles of a fat tree", self.switch_cycles, 0..=0)?;
                within("host_nodes", host_nodes as u64, 1..=NODES_MAX as u64)?;
                let ports = 2 * self.wire_cycles;
                for (what, latency) in [("within", near), ("between", far)] {
                    if latency < ports {
                        return Err(NetworkError::FasterThanPorts { what, latency, ports });
                    }
                    within(what, latency, ports..=CYCLES_MAX.max(ports))?;
                }
            }
            _ => within("switch_cycles", self.switch_cycles, 1..=CYCLES_MAX)?,
        }
        if self.topology == Topology::Butterfly && !(self.nodes.is_power_of_two() && self.nodes > 1)
        {
            return Err(NetworkError::NotAPowerOfTwo { nodes: self.nodes });
        }
        Ok(())
    }

    /// Returns the number of switches that a message passes from one node to another.
    ///
    /// # Panics
    ///
    /// May panic if there is no such node, or if such a network is not possible:
    /// [`check`](Self::check).
    #[must_use]
    pub fn hops(&self, from: usize, to: usize) -> u64 {
        if from == to {
            return 0;
        }
        match self.topology {
            Topology::MeshSingleWire | Topology::MeshCrossbar => {
                let (rows, columns) = self.sides();
                let around = |a: usize, b: usize, side| a.abs_diff(b).min(side - a.abs_diff(b));
                let x = around(from % columns, to % columns, columns);
                let y = around(from / columns, to / columns, rows);
                (x + y + 1) as u64
            }
            Topology::Butterfly => u64::from(self.nodes.ilog2()),
            Topology::Crossbar => 1,
            Topology::FatTree { host_nodes, .. } => {
                if from / host_nodes == to / host_nodes {
                    1
                } else {
                    3
                }
            }
        }
    }

    /// Returns the time of a message from one node to another if it meets no other.
    ///
    /// # Panics
    ///
    /// Like [`hops`](Self::hops).
    #[must_use]
    pub fn cycles_alone(&self, from: usize, to: usize) -> u64 {
        if from == to {
            return self.local_cycles;
        }
        match self.topology {
            Topology::FatTree { host_nodes, within, between } => {
                if from / host_nodes == to / host_nodes { within } else { between }
            }
            _ => {
                let hops = self.hops(from, to);
                hops * self.switch_cycles + (hops + 1) * self.wire_cycles
            }
        }
    }
}

impl fmt::Display for NetworkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes;
        let (rows, columns) = self.sides();
        match self.topology {
            Topology::MeshSingleWire => {
                write!(f, "torus mesh {rows} x {columns}, single-wire switches")
            }
            Topology::MeshCrossbar => write!(f, "torus mesh {rows} x {columns}, crossbar switches"),
            Topology::Butterfly => write!(f, "butterfly of {nodes} nodes"),
            Topology::Crossbar => write!(f, "crossbar {nodes} x {nodes}"),
            Topology::FatTree { host_nodes, .. } => {
                write!(f, "fat tree of {nodes} nodes, {host_nodes} a host")
            }
        }
    }
}
