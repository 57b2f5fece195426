//! Rounds of a barrier of messages on a simulated network.
//!
//! Every run is checked: no member leaves a round before all have entered it.

use throng_messages::BarrierKind;
use throng_sim::network::{MeetingRun, Met, NetworkError, Placement};

use super::Network;
use crate::error::Error;
use crate::workloads::catching;

/// Rounds of a barrier on a network with a node for each member.
///
/// ```
/// use throng_papers::workloads::messages::{Network, Rounds};
/// use throng_messages::BarrierKind;
///
/// let rounds = Rounds::new(BarrierKind::Dissemination, Network::Crossbar, 64);
/// // Six steps of three cycles.
/// assert_eq!(rounds.latency_cycles_mean()?, 18.0);
/// # Ok::<(), throng_papers::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rounds {
    /// The barrier.
    pub kind: BarrierKind,
    /// The network.
    pub network: Network,
    /// Number of members.
    pub members: usize,
    /// Number of rounds.
    pub rounds: u64,
    /// The command that repeats the run, for the error message of a run that fails.
    pub replay: String,
}

/// Any seed: without work between rounds nothing is random.
const SEED: u64 = 0;

impl Rounds {
    /// Returns a run of twenty rounds, without work between them.
    pub fn new(kind: BarrierKind, network: Network, members: usize) -> Self {
        Rounds { kind, network, members, rounds: 20, replay: "none".to_owned() }
    }

    /// Runs it, and returns the mean cycles from the last arrival of a round to its last exit.
    ///
    /// # Errors
    /// When there can be no such network or barrier, or a member left too early.
    pub fn latency_cycles_mean(&self) -> Result<f64, Error> {
        let met = catching(|| self.simulate())
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|error| self.failed(error.to_string()))?;
        Ok(met.mean_latency)
    }

    fn simulate(&self) -> Result<Met, NetworkError> {
        let network = self.network.spec(self.members);
        let members = self.members as u32;
        let placement = Placement::of_clients(&network, members)?;
        let (kind, rounds) = (self.kind, self.rounds);
        MeetingRun { network, kind, placement, members, work: 0, rounds, seed: SEED }.run()
    }

    fn failed(&self, what: String) -> Error {
        Error::NetworkRun {
            structure: format!("{:?}", self.kind),
            network: self.network.spec(self.members).to_string(),
            clients: self.members,
            seed: SEED,
            what,
            replay: self.replay.clone(),
        }
    }
}
