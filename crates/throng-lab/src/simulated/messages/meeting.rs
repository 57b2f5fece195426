//! Members of a barrier of messages that meet on a simulated network, again and again.
//!
//! Every run is checked: nobody leaves a round before all have come to it.

use throng_messages::BarrierKind;
use throng_sim::network::{MeetingRun, Met, NetworkError, Placement};

use super::Network;
use crate::error::Error;
use crate::simulated::catching;

/// Rounds of a barrier on a network that has a node for each member.
///
/// ```
/// use throng_lab::simulated::messages::{Network, Rounds};
/// use throng_messages::BarrierKind;
///
/// let rounds = Rounds::new(BarrierKind::Dissemination, Network::Crossbar, 64);
/// // Six steps of three cycles.
/// assert_eq!(rounds.latency_cycles_mean()?, 18.0);
/// # Ok::<(), throng_lab::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rounds {
    /// The barrier.
    pub kind: BarrierKind,
    /// The network.
    pub network: Network,
    /// How many meet.
    pub members: usize,
    /// How often.
    pub rounds: u64,
    /// The command that runs the same again, for the message of a run that fails.
    pub replay: String,
}

/// Nothing is random where members come back at once.
const SEED: u64 = 0;

impl Rounds {
    /// Twenty rounds, without work between them.
    #[must_use]
    pub fn new(kind: BarrierKind, network: Network, members: usize) -> Self {
        Rounds { kind, network, members, rounds: 20, replay: "none".to_owned() }
    }

    /// Runs it: from the last that comes to the last that leaves, in the mean of all rounds.
    ///
    /// # Errors
    /// When there can be no such network or barrier, or somebody left too early.
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
