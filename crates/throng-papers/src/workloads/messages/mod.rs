//! Simulates one counting run on a network and measures it: the benchmark of DT96 section 4.2, in
//! which clients take numbers from a counter made of messages.
//!
//! Every run is checked: each number is handed out once, and only to a request. A run ends with its
//! last number, while other clients may still wait: combining nodes that wait for ever would wait
//! for clients that have stopped.
//!
//! ```
//! use throng_papers::workloads::messages::{MessagesRun, Network, Structure};
//!
//! let run = MessagesRun::new(Structure::Central, Network::Crossbar, 16);
//! let measured = MessagesRun { clients: 1, numbers: 10, ..run }.measure()?;
//! // There and back, over a wire, the switch and a wire; or the dispenser is on the client's node.
//! assert!(measured.latency_cycles_mean() <= 6.0);
//! # Ok::<(), throng_papers::error::Error>(())
//! ```

mod choice;
mod layouts;
mod meeting;

use throng_sim::network::{CountingRun, Measured, NetworkError};

use super::catching;
use crate::error::Error;

pub use choice::{Layout, Network, Structure};
pub use layouts::Layouts;
pub use meeting::Rounds;

/// A counting run on a network.
#[derive(Clone, Debug)]
pub struct MessagesRun {
    /// The counter.
    pub structure: Structure,
    /// The network.
    pub network: Network,
    /// Number of nodes.
    pub nodes: usize,
    /// Placement of the roles.
    pub layout: Layout,
    /// Number of clients: on the first nodes, except with [`Layout::Apart`].
    pub clients: usize,
    /// Upper bound of a client's idle time after each number, in cycles; the lower bound is 0.
    pub work: u64,
    /// Numbers after which the run ends.
    pub numbers: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// The command that repeats the run, for the error message of a run that fails.
    pub replay: String,
}

/// The results of a counting run on a network.
#[derive(Clone, Debug)]
pub struct MessagesMeasured {
    cycles: u64,
    handed_out: u64,
    latency_mean: f64,
    messages: u64,
    local_messages: u64,
    mean_hops: f64,
    mean_wait: f64,
    busiest: Option<(String, f64)>,
}

impl MessagesRun {
    /// Returns a run with a client on each node, no work, annealed layout, 10 000 numbers and seed
    /// 0.
    pub fn new(structure: Structure, network: Network, nodes: usize) -> Self {
        MessagesRun {
            structure,
            network,
            nodes,
            layout: Layout::Annealed,
            clients: nodes,
            work: 0,
            numbers: 10_000,
            seed: 0,
            replay: "none".to_owned(),
        }
    }

    /// Returns a key: equal runs have equal keys.
    pub fn key(&self) -> String {
        let MessagesRun { structure, network, nodes, layout, clients, work, numbers, seed, .. } =
            self;
        format!("{structure:?} {network:?} {nodes} {layout:?} {clients} {work} {numbers} {seed}")
    }

    /// Runs it, checks every number, and measures.
    ///
    /// # Errors
    /// When the structure does not fit on the network, or the run failed: a number handed out twice
    /// or without a request, no end, or a panic.
    pub fn measure(&self) -> Result<MessagesMeasured, Error> {
        self.measure_laid_out(&Layouts::default())
    }

    /// Runs it as [`measure`](Self::measure) does, with placements from a cache.
    ///
    /// # Errors
    /// As [`measure`](Self::measure).
    pub fn measure_laid_out(&self, layouts: &Layouts) -> Result<MessagesMeasured, Error> {
        let measured = catching(|| self.simulate(layouts))
            .map_err(|message| self.failed(format!("it panicked: {message}")))?
            .map_err(|error| self.failed(error.to_string()))?;
        Ok(MessagesMeasured::of(&measured))
    }

    fn simulate(&self, layouts: &Layouts) -> Result<Measured, NetworkError> {
        CountingRun {
            network: self.network.spec(self.nodes),
            plan: self.structure.plan(self.clients, self.seed),
            placement: layouts.placement(self)?,
            clients: self.clients as u32,
            work: self.work,
            numbers: self.numbers,
            seed: self.seed,
        }
        .run()
    }

    fn failed(&self, what: String) -> Error {
        Error::NetworkRun {
            structure: self.structure.in_words(),
            network: self.network.spec(self.nodes).to_string(),
            clients: self.clients,
            seed: self.seed,
            what,
            replay: self.replay.clone(),
        }
    }
}

impl MessagesMeasured {
    fn of(measured: &Measured) -> Self {
        let carried = &measured.carried;
        MessagesMeasured {
            cycles: measured.cycles,
            handed_out: measured.handed_out,
            latency_mean: measured.mean_latency,
            messages: carried.messages,
            local_messages: carried.local_messages,
            mean_hops: carried.mean_hops,
            mean_wait: carried.mean_wait(),
            busiest: carried.busiest.as_ref().map(|one| (one.part.clone(), one.share)),
        }
    }

    /// Returns the number of numbers handed out.
    pub fn handed_out(&self) -> u64 {
        self.handed_out
    }

    /// Returns the mean cycles from a request to its answer.
    pub fn latency_cycles_mean(&self) -> f64 {
        self.latency_mean
    }

    /// Returns the numbers handed out in a million cycles.
    pub fn throughput_per_million_cycles(&self) -> f64 {
        1e6 * self.handed_out as f64 / self.cycles as f64
    }

    /// Returns the messages for each number, including those that stay on a node.
    pub fn messages_a_number(&self) -> f64 {
        (self.messages + self.local_messages) as f64 / self.handed_out as f64
    }

    /// Returns the mean number of switches a message passes; a message that stays on its node
    /// passes 0.
    pub fn hops_a_message(&self) -> f64 {
        let all = (self.messages + self.local_messages).max(1) as f64;
        self.mean_hops * self.messages as f64 / all
    }

    /// Returns the mean cycles that a message over the network waits for wires and switches.
    pub fn waited_a_message(&self) -> f64 {
        self.mean_wait
    }

    /// Returns the part with the highest utilisation, in brackets, or nothing.
    pub fn busiest_in_words(&self) -> String {
        let words = |(part, share): &(String, f64)| {
            format!(" ({part} is busy {:.0} % of the time)", 100.0 * share)
        };
        self.busiest.as_ref().map_or(String::new(), words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structures() -> [Structure; 5] {
        [
            Structure::Central,
            Structure::combining_tree(None),
            Structure::combining_tree(Some(16)),
            Structure::counting_network(4),
            Structure::diffracting_tree(vec![2, 1]),
        ]
    }

    #[test]
    fn every_structure_counts_on_every_network_and_runs_can_be_repeated() {
        for network in Network::ALL {
            for structure in structures() {
                for (clients, work) in [(1, 0), (5, 0), (16, 0), (16, 500)] {
                    let run = MessagesRun {
                        clients,
                        work,
                        numbers: 200,
                        seed: 3,
                        ..MessagesRun::new(structure.clone(), network, 16)
                    };
                    let (once, again) = (run.measure().unwrap(), run.measure().unwrap());
                    assert!(once.handed_out() >= 200, "{}", run.key());
                    assert_eq!(once.cycles, again.cycles, "{}", run.key());
                    assert_eq!(once.latency_mean, again.latency_mean, "{}", run.key());
                }
            }
        }
    }

    /// Checks one client alone on a crossbar: three cycles a message.
    #[test]
    fn what_one_client_waits_for_can_be_counted_by_hand() {
        let alone = |structure: Structure| {
            let run = MessagesRun::new(structure, Network::Crossbar, 300);
            MessagesRun { clients: 1, numbers: 500, layout: Layout::Random, ..run }
                .measure()
                .unwrap()
        };
        // "17 messages to traverse" (DT96 section 4.3.2).
        let network = alone(Structure::counting_network(32));
        assert_eq!(network.messages_a_number().round(), 17.0);
        assert_eq!(network.latency_cycles_mean().round(), 51.0);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_way_to_see_it_again() {
        let run = MessagesRun::new(Structure::counting_network(8), Network::Crossbar, 16);
        let run = MessagesRun { replay: "throng figure X".to_owned(), ..run };
        let error = run.measure().unwrap_err().to_string();
        assert!(error.contains("CNet[8]") && error.contains("roles on 16 nodes"), "{error}");
        assert!(error.ends_with("to see it again: throng figure X"), "{error}");
    }
}
