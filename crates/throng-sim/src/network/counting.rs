//! Clients that draw numbers from a structure of messages.

use throng_messages::Plan;

use super::{Measured, NetworkError, NetworkSpec, Placement};

/// The benchmark of DT96, section 4: every client asks for a number, idles for a random time when it
/// has it, and asks again.
#[derive(Clone, Debug)]
pub struct CountingRun {
    /// The network.
    pub network: NetworkSpec,
    /// The structure.
    pub plan: Plan,
    /// Where its roles and the clients are.
    pub placement: Placement,
    /// How many clients there are.
    pub clients: u32,
    /// A client idles from 0 to so many cycles after each number.
    pub work: u64,
    /// The run ends when so many numbers have come.
    pub numbers: u64,
    /// What decides the rest.
    pub seed: u64,
}

impl CountingRun {
    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the network or the placement does not make sense; if the structure gets stuck, or gives
    /// out a number twice or one that nobody can have yet.
    pub fn run(self) -> Result<Measured, NetworkError> {
        Err(NetworkError::NotBuilt)
    }
}
