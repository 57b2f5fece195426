//! The description of a machine, as data.
//!
//! A [`MachineSpec`] is a list of parts and their times. Presets of known machines come with the
//! crate ([`presets`]); others can be written as TOML files ([`MachineSpec::from_toml`]). All times
//! are cycles of the machine's own clock.
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

pub(crate) use check::PROCESSORS_MAX;
pub use check::SpecError;
pub use presets::{Preset, presets};

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// A short name, as typed on a command line.
    pub name: String,
    /// One line that says what it is.
    pub about: String,
    /// The default number of processors. It can be built at any size.
    pub processors: usize,
    /// The clock, for converting cycles to time.
    pub clock_mhz: u32,
    /// The processor and its cache.
    pub processor: ProcessorSpec,
    /// The network to other processors and to memory.
    pub network: NetworkSpec,
    /// How copies are kept equal.
    pub coherence: CoherenceSpec,
}

/// A processor and its cache. The cache never runs out of room: the data that the structures of
/// this library share is small, and a copy goes only when another processor writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorSpec {
    /// The time of an access that the own cache answers.
    pub hit_cycles: u64,
    /// The same for a read-modify-write, if that takes longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rmw_hit_cycles: Option<u64>,
    /// The private instructions that go with each shared access: addresses, tests, branches.
    #[serde(default)]
    pub instruction_cycles: u64,
    /// The time from the miss until the request leaves.
    #[serde(default)]
    pub miss_cycles: u64,
    /// The time from the arrival of the answer until the access is complete.
    #[serde(default)]
    pub fill_cycles: u64,
    /// The number of processors that share a node, and so its port to the network and its memory.
    /// On a bus each has its own.
    #[serde(default = "one")]
    pub per_node: usize,
}

fn one() -> usize {
    1
}

fn one_access() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(accesses: &u64) -> bool {
    *accesses == 1
}

/// The network between nodes. A node reaches itself at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum NetworkSpec {
    /// All nodes are equally far from each other.
    Uniform {
        /// The time of a message.
        message_cycles: u64,
    },
    /// A square of nodes, each joined to its four neighbours.
    Mesh {
        /// The time to enter and leave the network.
        message_cycles: u64,
        /// The time from a node to the next.
        hop_cycles: u64,
    },
    /// One transaction at a time, which all see.
    Bus {
        /// The time from the request for the bus until it is granted, if it is free.
        #[serde(default)]
        arbitration_cycles: u64,
    },
    /// Rings of nodes, joined by a ring of rings.
    Rings {
        /// The number of nodes on a ring.
        ring_nodes: usize,
        /// The time of a message to the same ring.
        near_cycles: u64,
        /// The time of a message to another ring.
        far_cycles: u64,
        /// The time after which a ring takes the next message.
        #[serde(default)]
        slot_cycles: u64,
    },
    /// Stages of switches between all nodes and all memories.
    Butterfly {
        /// The number of outputs of a switch.
        radix: usize,
        /// The time to enter and leave the network.
        message_cycles: u64,
        /// The time of a stage.
        stage_cycles: u64,
    },
    /// Routers at the corners of a hypercube.
    Hypercube {
        /// The number of nodes at a router.
        router_nodes: usize,
        /// The time to enter and leave the network.
        message_cycles: u64,
        /// The time from a router to the next.
        hop_cycles: u64,
    },
    /// Chiplets of nodes, on sockets.
    Chiplets {
        /// The number of nodes of a chiplet.
        chiplet_nodes: usize,
        /// The number of chiplets of a socket.
        socket_chiplets: usize,
        /// The time of a message within a chiplet.
        chiplet_cycles: u64,
        /// The time of a message to another chiplet of the socket.
        socket_cycles: u64,
        /// The time of a message to another socket.
        far_cycles: u64,
        /// The time after which a chiplet or a socket sends the next message.
        #[serde(default)]
        port_cycles: u64,
    },
}

/// How copies are kept equal, and how memory answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum CoherenceSpec {
    /// No caches, no network: every access takes the same time, and a line serves one at a time.
    Ideal {
        /// The time of an access.
        access_cycles: u64,
    },
    /// Each line has a home node with a list of its copies. A home serves one request at a time.
    Directory {
        /// The time for which the home looks at a request: memory and directory.
        home_cycles: u64,
        /// The time in which a processor gives up its copy, or confirms that it has. A processor
        /// that is still waiting for the line completes its own access first.
        #[serde(default)]
        holder_cycles: u64,
        /// The time in which the home sends one of the messages that take copies away.
        #[serde(default)]
        invalidate_cycles: u64,
        /// Whether a changed line goes straight from its holder to the requester, not back over its
        /// home.
        #[serde(default)]
        forward: bool,
        /// Whether a reader also gets the right to write, if no other processor has a copy.
        #[serde(default)]
        exclusive: bool,
        /// The number of copies that the directory can keep track of in hardware, if it is limited.
        #[serde(default)]
        pointers: Option<usize>,
        /// The time in which the home adds one more than that.
        #[serde(default)]
        overflow_cycles: u64,
        /// The time in which the home can add, subtract, set and clear bits in memory by itself. If
        /// it is set, the home does so: such an operation takes all copies away and leaves none.
        #[serde(default)]
        fetch_op_cycles: Option<u64>,
    },
    /// All caches snoop one bus. Needs a bus as its network.
    Snoop {
        /// The time for which fetching a line occupies the bus.
        fetch_cycles: u64,
        /// The time for which taking the others' copies away occupies the bus, if the own copy is
        /// valid. Then no line is fetched.
        upgrade_cycles: u64,
    },
    /// The nearest copy answers, and memory only if there is none: rings of caches without memory
    /// (COMA), or chiplets with a shared cache. Needs rings, chiplets or a uniform network.
    Nearest {
        /// The time in which a processor gives a copy to another, or gives it up.
        #[serde(default)]
        holder_cycles: u64,
        /// The time for which memory looks at a request; one at a time.
        memory_cycles: u64,
        /// The number of accesses, one after another without a gap, that a processor makes to a
        /// line which it has got before it gives the line to the next that waits for it.
        #[serde(default = "one_access", skip_serializing_if = "is_one")]
        hold_accesses: u64,
    },
    /// There are no copies: every access goes to the memory at its line's home, which serves one at
    /// a time.
    None {
        /// The time of a read or write in memory.
        memory_cycles: u64,
        /// The time of a read-modify-write in memory: fetch-ops, exchanges, compare-exchanges.
        rmw_cycles: u64,
    },
}

impl MachineSpec {
    /// Returns a machine in which every access takes `access_cycles` cycles, and a line serves one
    /// at a time.
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

    /// Returns the preset of this name.
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

    /// Parses a machine from TOML.
    ///
    /// # Errors
    /// If the text is not TOML, has unknown fields or lacks some, or a value is out of its range.
    /// The error names the field and its line.
    ///
    /// In a text, `pointers` requires `overflow_cycles`.
    pub fn from_toml(text: &str) -> Result<Self, SpecError> {
        sections::check_sections(text)?;
        let spec: MachineSpec = toml::from_str(text).map_err(SpecError::from_toml)?;
        spec.check().map_err(|error| sections::with_line(text, error))?;
        Ok(spec)
    }

    /// Returns the machine as TOML, to be changed and read again.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("numbers and short texts can be written as TOML")
    }

    /// Returns the length of `cycles` cycles in nanoseconds.
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
