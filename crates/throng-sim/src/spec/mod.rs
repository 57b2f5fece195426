//! What a machine is made of: a description, as data.
//!
//! A [`MachineSpec`] is a list of parts and their times. Presets of known machines come with the
//! crate ([`presets`]); anyone can write another one as a TOML file ([`MachineSpec::from_toml`]).
//! All times are cycles of the machine's own clock.
//!
//! ```
//! use throng_sim::MachineSpec;
//!
//! let spec = MachineSpec::from_toml(r#"
//!     name = "mine"
//!     about = "eight processors, each as far from every other"
//!     processors = 8
//!     clock_mhz = 1000
//!
//!     [processor]
//!     hit_cycles = 1
//!
//!     [network]
//!     kind = "uniform"
//!     message_cycles = 40
//!
//!     [coherence]
//!     kind = "directory"
//!     home_cycles = 20
//! "#)?;
//! assert_eq!(spec.name, "mine");
//!
//! let error = MachineSpec::from_toml("name = 'x'\nprocessors = 0").unwrap_err();
//! assert!(error.to_string().contains("missing field `about`"), "{error}");
//!
//! let error = MachineSpec::from_toml("[network]\nkind = 'mesh'\nhop_cycles = 'one'").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "line 3: network.hop_cycles = 'one': must be a whole number from 0 to 4294967296",
//! );
//! # Ok::<(), throng_sim::SpecError>(())
//! ```

mod check;
mod presets;
mod sections;

use serde::{Deserialize, Serialize};

pub use check::SpecError;
pub use presets::{Preset, presets};

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// A short name, as typed on a command line.
    pub name: String,
    /// One line: what it is.
    pub about: String,
    /// How many processors it has where nobody says otherwise. It can be built at any size.
    pub processors: usize,
    /// The clock, so that cycles can be told as time.
    pub clock_mhz: u32,
    /// The processor and its cache.
    pub processor: ProcessorSpec,
    /// The way to other processors and to memory.
    pub network: NetworkSpec,
    /// How copies are kept equal.
    pub coherence: CoherenceSpec,
}

/// A processor and its cache. The cache never runs out of room: what the structures of this
/// library share is small, and a copy goes only when another processor writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorSpec {
    /// An access that the own cache answers.
    pub hit_cycles: u64,
    /// The same for reading and writing in one, where that takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmw_hit_cycles: Option<u64>,
    /// The private instructions that go with each shared access: addresses, tests, branches.
    #[serde(default)]
    pub instruction_cycles: u64,
    /// From the miss until the request leaves.
    #[serde(default)]
    pub miss_cycles: u64,
    /// From the arrival of the answer until the access is complete.
    #[serde(default)]
    pub fill_cycles: u64,
    /// Processors that share a node, and so its way to the network and its memory. On a bus each
    /// has its own.
    #[serde(default = "one")]
    pub per_node: usize,
}

fn one() -> usize {
    1
}

/// The way from node to node. A node reaches itself at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum NetworkSpec {
    /// Every node is as far as every other.
    Uniform {
        /// A message, wherever it goes.
        message_cycles: u64,
    },
    /// A square of nodes, each joined to its four neighbours.
    Mesh {
        /// Entering and leaving the network.
        message_cycles: u64,
        /// From a node to the next.
        hop_cycles: u64,
    },
    /// One transaction at a time, and all hear it.
    Bus {
        /// From asking for the bus until it is granted, if it is free.
        #[serde(default)]
        arbitration_cycles: u64,
    },
    /// Rings of nodes, joined by a ring of rings.
    Rings {
        /// Nodes on a ring.
        ring_nodes: usize,
        /// A message to the same ring.
        near_cycles: u64,
        /// A message to another ring.
        far_cycles: u64,
        /// Each ring that a message passes takes the next one only so much later.
        #[serde(default)]
        slot_cycles: u64,
    },
    /// Stages of switches between all nodes and all memories.
    Butterfly {
        /// Ways out of a switch.
        radix: usize,
        /// Entering and leaving the network.
        message_cycles: u64,
        /// A stage.
        stage_cycles: u64,
    },
    /// Routers at the corners of a cube of as many dimensions as it takes.
    Hypercube {
        /// Nodes at a router.
        router_nodes: usize,
        /// Entering and leaving the network.
        message_cycles: u64,
        /// From a router to the next.
        hop_cycles: u64,
    },
    /// Chiplets of nodes, on sockets.
    Chiplets {
        /// Nodes of a chiplet.
        chiplet_nodes: usize,
        /// Chiplets of a socket.
        socket_chiplets: usize,
        /// A message within a chiplet.
        chiplet_cycles: u64,
        /// A message to another chiplet of the socket.
        socket_cycles: u64,
        /// A message to another socket.
        far_cycles: u64,
        /// Each chiplet and each socket sends out a message only so much after the one before.
        #[serde(default)]
        port_cycles: u64,
    },
}

/// How copies are kept equal, and how memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CoherenceSpec {
    /// No caches, no network: an access takes so long, and a line serves one at a time.
    Ideal {
        /// An access.
        access_cycles: u64,
    },
    /// Each line has a home node that knows who has copies. A home serves one request at a time.
    Directory {
        /// The home looks at a request: memory and directory.
        home_cycles: u64,
        /// A processor gives up its copy, or only says so. One that is still waiting for the line
        /// completes its own access first.
        #[serde(default)]
        holder_cycles: u64,
        /// The home sends one of the messages that take copies away.
        #[serde(default)]
        invalidate_cycles: u64,
        /// A changed line goes straight from its holder to who wants it, not back over its home.
        #[serde(default)]
        forward: bool,
        /// A reader gets the right to write, too, where nobody else has a copy.
        #[serde(default)]
        exclusive: bool,
        /// Copies that the directory can keep track of in hardware, if their number is limited.
        #[serde(default)]
        pointers: Option<usize>,
        /// What it costs the home to keep track of one more than that.
        #[serde(default)]
        overflow_cycles: u64,
        /// The home can add, subtract, set and clear bits in memory by itself, in this time. Then
        /// it does: such an operation takes all copies away and leaves none.
        #[serde(default)]
        fetch_op_cycles: Option<u64>,
    },
    /// All caches listen to one bus. Needs a bus as its network.
    Snoop {
        /// How long fetching a line has the bus.
        fetch_cycles: u64,
        /// How long taking the others' copies away has the bus, where the own copy is good. Then
        /// there is nothing to fill.
        upgrade_cycles: u64,
    },
    /// The nearest copy answers, and memory only where there is none: rings of caches without
    /// memory (COMA), or chiplets with a shared cache. Needs rings, chiplets or a uniform network.
    Nearest {
        /// A processor gives a copy away, or gives it up.
        #[serde(default)]
        holder_cycles: u64,
        /// Memory looks at a request; one at a time.
        memory_cycles: u64,
    },
    /// Nobody keeps copies: every access goes to the memory at its line's home, which serves one
    /// at a time.
    None {
        /// Memory reads or writes.
        memory_cycles: u64,
        /// Memory reads and writes in one: fetch-ops, exchanges, compare-exchanges.
        rmw_cycles: u64,
    },
}

impl MachineSpec {
    /// A machine in which every access takes so many cycles, and a line serves one at a time.
    ///
    /// ```
    /// use throng_sim::MachineSpec;
    /// assert_eq!(MachineSpec::ideal(10).name, "ideal");
    /// ```
    #[must_use]
    pub fn ideal(access_cycles: u64) -> Self {
        MachineSpec {
            name: "ideal".into(),
            about: format!("every access takes {access_cycles} cycles; lines queue, nothing else"),
            processors: 64,
            clock_mhz: 1000,
            processor: ProcessorSpec {
                hit_cycles: 1,
                rmw_hit_cycles: None,
                instruction_cycles: 0,
                miss_cycles: 0,
                fill_cycles: 0,
                per_node: 1,
            },
            network: NetworkSpec::Uniform { message_cycles: 0 },
            coherence: CoherenceSpec::Ideal { access_cycles },
        }
    }

    /// The preset of this name.
    ///
    /// ```
    /// use throng_sim::MachineSpec;
    /// assert_eq!(MachineSpec::preset("alewife").unwrap().processors, 256);
    /// assert!(MachineSpec::preset("abacus").is_none());
    /// ```
    #[must_use]
    pub fn preset(name: &str) -> Option<Self> {
        presets().iter().find(|preset| preset.name() == name).map(Preset::spec)
    }

    /// The machine that a TOML text describes.
    ///
    /// # Errors
    /// When the text is no TOML, has fields that do not exist or lacks some, or a value is out of
    /// its range. The error names the field and its line.
    ///
    /// In a text, `overflow_cycles` must be there where `pointers` is.
    pub fn from_toml(text: &str) -> Result<Self, SpecError> {
        sections::check_sections(text)?;
        let spec: MachineSpec = toml::from_str(text).map_err(SpecError::from_toml)?;
        spec.check().map_err(|error| sections::with_line(text, error))?;
        Ok(spec)
    }

    /// The machine as TOML, to be changed and read again.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and short texts can be written as TOML")
    }

    /// How long so many cycles are.
    ///
    /// ```
    /// use throng_sim::MachineSpec;
    /// assert_eq!(MachineSpec::preset("alewife").unwrap().nanoseconds(2), 100.0);
    /// ```
    #[must_use]
    pub fn nanoseconds(&self, cycles: u64) -> f64 {
        cycles as f64 * 1000.0 / f64::from(self.clock_mhz)
    }
}
