//! The counter, the network and the layout of a run.

use std::fmt;

use throng::structures::counter::diffracting::Prisms;
use throng_messages::{CombiningShape, Delay, DiffractingShape, Plan, Waiting};
use throng_sim::network::NetworkSpec;

/// A counter made of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// One role that hands out all numbers.
    Central,
    /// A combining tree of optimal depth for its clients.
    CombiningTree {
        /// Cycles that a node waits for its second request. `None`: for ever.
        wait: Option<u64>,
    },
    /// A bitonic counting network.
    CountingNetwork {
        /// Number of wires, and of counters.
        width: usize,
    },
    /// A diffracting tree.
    DiffractingTree {
        /// Number of prism processors of a balancer, for each level from the root down.
        prisms: Vec<usize>,
        /// Cycles that a prism holds a message: (initial, largest).
        delay: (u64, u64),
    },
}

/// Default (initial, largest) cycles that a prism holds a message. The largest is that of DT96
/// section 3.3.1.
const DELAY_CYCLES: (u64, u64) = (16, 128);

impl Structure {
    /// Returns a combining tree whose nodes wait `wait` cycles for their second request, or for
    /// ever.
    pub fn combining_tree(wait: Option<u64>) -> Self {
        Structure::CombiningTree { wait }
    }

    /// Returns a bitonic counting network.
    pub fn counting_network(width: usize) -> Self {
        Structure::CountingNetwork { width }
    }

    /// Returns a diffracting tree with this number of prism processors a balancer, for each level
    /// from the root down.
    pub fn diffracting_tree(prisms: Vec<usize>) -> Self {
        Structure::DiffractingTree { prisms, delay: DELAY_CYCLES }
    }

    /// Sets the initial and the largest hold of a tree's prisms, in cycles. Has no effect on other
    /// structures.
    #[must_use]
    pub fn with_delay(self, first: u64, most: u64) -> Self {
        match self {
            Structure::DiffractingTree { prisms, .. } => {
                Structure::DiffractingTree { prisms, delay: (first, most) }
            }
            other => other,
        }
    }

    /// Returns the width of a tree or network of balancers, or `None` for other structures.
    pub fn width(&self) -> Option<usize> {
        match self {
            Structure::Central | Structure::CombiningTree { .. } => None,
            Structure::CountingNetwork { width } => Some(*width),
            Structure::DiffractingTree { prisms, .. } => Some(1 << prisms.len()),
        }
    }

    /// Returns the name, as in the paper's legends.
    ///
    /// ```
    /// use throng_papers::workloads::messages::Structure;
    ///
    /// assert_eq!(Structure::diffracting_tree(vec![4, 2, 1]).name(), "DTree[8]");
    /// ```
    pub fn name(&self) -> String {
        match self {
            Structure::Central => "central".to_owned(),
            Structure::CombiningTree { wait: None } => "CTree".to_owned(),
            Structure::CombiningTree { wait: Some(wait) } => format!("CTree, waits {wait}"),
            Structure::CountingNetwork { width } => format!("CNet[{width}]"),
            Structure::DiffractingTree { prisms, .. } => format!("DTree[{}]", 1 << prisms.len()),
        }
    }

    /// Returns the name, with the parameters that distinguish it from others of the same name.
    pub fn in_words(&self) -> String {
        match self {
            Structure::DiffractingTree { prisms, delay } => {
                let sizes: Vec<String> = prisms.iter().map(usize::to_string).collect();
                let (name, sizes) = (self.name(), sizes.join(", "));
                format!(
                    "{name} with prisms of {sizes} that wait {} cycles at first, {} at most",
                    delay.0, delay.1
                )
            }
            _ => self.name(),
        }
    }

    /// Returns the structure for `clients` clients. The seed decides the random choices of its
    /// tokens.
    ///
    /// # Panics
    /// When there is no such structure.
    pub fn plan(&self, clients: usize, seed: u64) -> Plan {
        let plan = match self {
            Structure::Central => Ok(Plan::central()),
            Structure::CombiningTree { wait } => {
                let waiting = wait.map_or(Waiting::ForEver, Waiting::Fixed);
                Plan::combining_tree(&CombiningShape { clients, waiting })
            }
            Structure::CountingNetwork { width } => Plan::counting_network(*width),
            Structure::DiffractingTree { prisms, delay: (first, most) } => {
                let shape =
                    DiffractingShape::new(1 << prisms.len(), Delay::adaptive(*first, *most));
                let prisms = Prisms::Sizes(prisms.clone());
                Plan::diffracting_tree(&DiffractingShape { prisms, seed, ..shape })
            }
        };
        plan.unwrap_or_else(|error| panic!("{}: {error}", self.in_words()))
    }
}

/// A kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// A torus mesh whose switches pass one message at a time.
    MeshSingleWire,
    /// A torus mesh whose switches are crossbars.
    MeshCrossbar,
    /// Layers of small crossbars.
    Butterfly,
    /// One crossbar that connects all nodes.
    Crossbar,
    /// A current cluster; its cycles are nanoseconds.
    FatTree,
}

impl Network {
    /// The networks of DT96, section 4.2, in its order, and a current one.
    pub const ALL: [Network; 5] = [
        Network::MeshSingleWire,
        Network::MeshCrossbar,
        Network::Butterfly,
        Network::Crossbar,
        Network::FatTree,
    ];

    /// Returns a description in a line.
    pub fn about(self) -> &'static str {
        match self {
            Network::MeshSingleWire => "a torus; a switch passes one message at a time",
            Network::MeshCrossbar => {
                "a torus; a switch passes a message for each of its five ports"
            }
            Network::Butterfly => "log n layers of 2 x 2 crossbars, around back to the processors",
            Network::Crossbar => "n x n: only senders and receivers are in each other's way",
            Network::FatTree => {
                "a cluster: 1 us within a host, 10 us between two, 200 ns at a port"
            }
        }
    }

    /// Returns the network with `nodes` nodes.
    pub fn spec(self, nodes: usize) -> NetworkSpec {
        match self {
            Network::MeshSingleWire => NetworkSpec::mesh_single_wire(nodes),
            Network::MeshCrossbar => NetworkSpec::mesh_crossbar(nodes),
            Network::Butterfly => NetworkSpec::butterfly(nodes),
            Network::Crossbar => NetworkSpec::crossbar(nodes),
            Network::FatTree => NetworkSpec::fat_tree(nodes),
        }
    }

    /// Returns the smallest number of nodes, at least `least`, that gives a regular shape: a square
    /// for a mesh, a power of two for a butterfly.
    ///
    /// ```
    /// use throng_papers::workloads::messages::Network;
    ///
    /// assert_eq!(Network::MeshCrossbar.nodes(272), 17 * 17);
    /// assert_eq!(Network::Butterfly.nodes(272), 512);
    /// assert_eq!(Network::Crossbar.nodes(272), 272);
    /// ```
    pub fn nodes(self, least: usize) -> usize {
        match self {
            Network::MeshSingleWire | Network::MeshCrossbar => {
                let side = least.isqrt();
                let side = if side * side < least { side + 1 } else { side };
                side * side
            }
            Network::Butterfly => least.next_power_of_two().max(2),
            Network::Crossbar | Network::FatTree => least,
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Network::MeshSingleWire => "mesh with single-wire switches",
            Network::MeshCrossbar => "mesh with crossbar switches",
            Network::Butterfly => "butterfly",
            Network::Crossbar => "crossbar",
            Network::FatTree => "fat tree",
        })
    }
}

/// How the roles of a structure are placed on the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// By simulated annealing, which shortens the messages' ways.
    Annealed,
    /// At random.
    Random,
    /// On the first nodes, with clients only on the nodes after them. A client on the node of a
    /// central counter would take numbers faster than all others together.
    Apart,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layout::Annealed => "laid out by annealing",
            Layout::Random => "laid out at random",
            Layout::Apart => "roles on nodes of their own",
        })
    }
}
