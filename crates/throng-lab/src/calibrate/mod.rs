//! `throng calibrate`: how long a line takes from core to core, and a machine file from that.

use serde::{Deserialize, Serialize};

use crate::cli::CalibrateArguments;
use crate::error::Error;

/// What was measured of a machine.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Calibration {
    /// The system's numbers of the cores, in the order of rows and columns.
    pub cores: Vec<usize>,
    /// Nanoseconds that a line takes from one core to another, the median; on the diagonal 0.
    pub transfer_ns: Vec<Vec<f64>>,
    /// What else was measured, each with a name.
    pub costs: Vec<Cost>,
    /// The machine file made from that: TOML, as `throng simulate --machine` takes it.
    pub machine: String,
}

/// What one kind of access costs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cost {
    /// What, in a few words.
    pub name: String,
    /// So many nanoseconds.
    pub ns: f64,
}

/// How far a simulated machine is from the real one.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Validation {
    /// What was measured and simulated.
    pub rows: Vec<Compared>,
    /// What the machine would do with more cores, simulated.
    #[serde(default)]
    pub prospects: Vec<Prospect>,
}

/// The same workload, measured and simulated.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Compared {
    /// The need, by its name.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// On how many threads.
    pub threads: usize,
    /// Measured, in the unit of the need.
    pub measured: f64,
    /// Simulated, in the same unit.
    pub simulated: f64,
}

impl Compared {
    /// How many times too large the simulated number is: 1 is exact.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.simulated / self.measured
    }
}

/// What the machine would do with more cores.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Prospect {
    /// The need, by its name.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// On how many processors.
    pub processors: usize,
    /// Simulated, in the unit of the need.
    pub simulated: f64,
}

/// Measures this machine and writes a machine file.
///
/// # Errors
/// When a file cannot be written.
pub fn calibrate(_typed: &CalibrateArguments) -> Result<(), Error> {
    Ok(())
}
