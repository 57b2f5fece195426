//! Checks whether a machine is possible. Every error names the field.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use super::{CoherenceSpec, MachineSpec, NetworkSpec};

/// The largest number of processors.
pub(crate) const PROCESSORS_MAX: usize = 1 << 16;
/// The longest time of a single part, in cycles. Simulated time must not run out.
pub(super) const CYCLES_MAX: u64 = 1 << 32;
const NAME_MAX: usize = 64;

/// The error of a machine that cannot be built. It names the wrong field and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError(String);

impl SpecError {
    pub(super) fn new(text: String) -> Self {
        SpecError(text)
    }

    pub(super) fn from_toml(error: toml::de::Error) -> Self {
        SpecError(error.to_string().trim_end().to_owned())
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for SpecError {}

fn within(field: &str, value: u64, allowed: RangeInclusive<u64>) -> Result<(), SpecError> {
    if allowed.contains(&value) {
        return Ok(());
    }
    let (least, most) = (allowed.start(), allowed.end());
    Err(SpecError(format!("{field} = {value}: must be from {least} to {most}")))
}

fn cycles(field: &str, value: u64) -> Result<(), SpecError> {
    within(field, value, 0..=CYCLES_MAX)
}

/// Checks a time that must not be 0.
fn passing(field: &str, value: u64) -> Result<(), SpecError> {
    within(field, value, 1..=CYCLES_MAX)
}

fn count(field: &str, value: usize) -> Result<(), SpecError> {
    within(field, value as u64, 1..=PROCESSORS_MAX as u64)
}

impl MachineSpec {
    /// Checks every field.
    ///
    /// # Errors
    /// If a field is out of its range, or two do not go together.
    pub fn check(&self) -> Result<(), SpecError> {
        let long_enough = (1..=NAME_MAX).contains(&self.name.chars().count());
        if !long_enough || self.name.chars().any(char::is_control) {
            return Err(SpecError(format!(
                "name = {:?}: must have 1 to {NAME_MAX} characters, all of them printable",
                self.name
            )));
        }
        count("processors", self.processors)?;
        within("clock_mhz", self.clock_mhz.into(), 1..=1_000_000)?;
        let processor = &self.processor;
        passing("processor.hit_cycles", processor.hit_cycles)?;
        passing("processor.rmw_hit_cycles", processor.rmw_hit_cycles.unwrap_or(1))?;
        cycles("processor.instruction_cycles", processor.instruction_cycles)?;
        cycles("processor.miss_cycles", processor.miss_cycles)?;
        cycles("processor.fill_cycles", processor.fill_cycles)?;
        count("processor.per_node", processor.per_node)?;
        self.network.check()?;
        self.coherence.check()?;
        self.check_match()
    }

    /// Checks whether the coherence can work over the network.
    fn check_match(&self) -> Result<(), SpecError> {
        use NetworkSpec::{Bus, Chiplets, Rings, Uniform};
        let is_bus = matches!(self.network, Bus { .. });
        let (needs, fits) = match self.coherence {
            CoherenceSpec::Snoop { .. } => ("\"bus\"", is_bus),
            CoherenceSpec::Nearest { .. } => (
                "\"uniform\", \"rings\" or \"chiplets\"",
                matches!(self.network, Uniform { .. } | Rings { .. } | Chiplets { .. }),
            ),
            CoherenceSpec::Ideal { .. } => return Ok(()),
            CoherenceSpec::Directory { .. } | CoherenceSpec::None { .. } => {
                ("any network but a bus", !is_bus)
            }
        };
        if fits {
            return Ok(());
        }
        let (coherence, network) = (self.coherence.kind(), self.network.kind());
        Err(SpecError(format!(
            "network.kind = \"{network}\": coherence.kind = \"{coherence}\" needs {needs}"
        )))
    }
}

impl NetworkSpec {
    /// Returns the name used in TOML.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            NetworkSpec::Uniform { .. } => "uniform",
            NetworkSpec::Mesh { .. } => "mesh",
            NetworkSpec::Bus { .. } => "bus",
            NetworkSpec::Rings { .. } => "rings",
            NetworkSpec::Butterfly { .. } => "butterfly",
            NetworkSpec::Hypercube { .. } => "hypercube",
            NetworkSpec::Chiplets { .. } => "chiplets",
        }
    }

    fn check(&self) -> Result<(), SpecError> {
        match *self {
            NetworkSpec::Uniform { message_cycles } => {
                cycles("network.message_cycles", message_cycles)
            }
            NetworkSpec::Bus { arbitration_cycles } => {
                cycles("network.arbitration_cycles", arbitration_cycles)
            }
            NetworkSpec::Mesh { message_cycles, hop_cycles } => {
                cycles("network.message_cycles", message_cycles)?;
                cycles("network.hop_cycles", hop_cycles)
            }
            NetworkSpec::Rings { ring_nodes, near_cycles, far_cycles, slot_cycles } => {
                count("network.ring_nodes", ring_nodes)?;
                cycles("network.near_cycles", near_cycles)?;
                cycles("network.far_cycles", far_cycles)?;
                cycles("network.slot_cycles", slot_cycles)
            }
            NetworkSpec::Butterfly { radix, message_cycles, stage_cycles } => {
                within("network.radix", radix as u64, 2..=PROCESSORS_MAX as u64)?;
                cycles("network.message_cycles", message_cycles)?;
                cycles("network.stage_cycles", stage_cycles)
            }
            NetworkSpec::Hypercube { router_nodes, message_cycles, hop_cycles } => {
                count("network.router_nodes", router_nodes)?;
                cycles("network.message_cycles", message_cycles)?;
                cycles("network.hop_cycles", hop_cycles)
            }
            NetworkSpec::Chiplets {
                chiplet_nodes,
                socket_chiplets,
                chiplet_cycles,
                socket_cycles,
                far_cycles,
                port_cycles,
            } => {
                count("network.chiplet_nodes", chiplet_nodes)?;
                count("network.socket_chiplets", socket_chiplets)?;
                cycles("network.chiplet_cycles", chiplet_cycles)?;
                cycles("network.socket_cycles", socket_cycles)?;
                cycles("network.far_cycles", far_cycles)?;
                cycles("network.port_cycles", port_cycles)
            }
        }
    }
}

impl CoherenceSpec {
    /// Returns the name used in TOML.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            CoherenceSpec::Ideal { .. } => "ideal",
            CoherenceSpec::Directory { .. } => "directory",
            CoherenceSpec::Snoop { .. } => "snoop",
            CoherenceSpec::Nearest { .. } => "nearest",
            CoherenceSpec::None { .. } => "none",
        }
    }

    fn check(&self) -> Result<(), SpecError> {
        match *self {
            CoherenceSpec::Ideal { access_cycles } => {
                passing("coherence.access_cycles", access_cycles)
            }
            CoherenceSpec::Directory {
                home_cycles,
                holder_cycles,
                invalidate_cycles,
                forward: _,
                exclusive: _,
                pointers,
                overflow_cycles,
                fetch_op_cycles,
            } => {
                passing("coherence.home_cycles", home_cycles)?;
                cycles("coherence.holder_cycles", holder_cycles)?;
                cycles("coherence.invalidate_cycles", invalidate_cycles)?;
                if let Some(pointers) = pointers {
                    count("coherence.pointers", pointers)?;
                }
                cycles("coherence.overflow_cycles", overflow_cycles)?;
                cycles("coherence.fetch_op_cycles", fetch_op_cycles.unwrap_or(0))
            }
            CoherenceSpec::Snoop { fetch_cycles, upgrade_cycles } => {
                passing("coherence.fetch_cycles", fetch_cycles)?;
                passing("coherence.upgrade_cycles", upgrade_cycles)
            }
            CoherenceSpec::Nearest { holder_cycles, memory_cycles, hold_accesses } => {
                cycles("coherence.holder_cycles", holder_cycles)?;
                passing("coherence.memory_cycles", memory_cycles)?;
                within("coherence.hold_accesses", hold_accesses, 1..=PROCESSORS_MAX as u64)
            }
            CoherenceSpec::None { memory_cycles, rmw_cycles } => {
                passing("coherence.memory_cycles", memory_cycles)?;
                passing("coherence.rmw_cycles", rmw_cycles)
            }
        }
    }
}
