//! How many events a second the simulated networks work through.
//!
//! `cargo run --release -p throng-sim --example network_speed`

use std::time::Instant;

use throng_messages::Plan;
use throng_sim::network::{CountingRun, Network, NetworkError, NetworkSpec, Placement};

fn main() -> Result<(), NetworkError> {
    for nodes in [256, 4096] {
        for network in [
            NetworkSpec::mesh_single_wire(nodes),
            NetworkSpec::mesh_crossbar(nodes),
            NetworkSpec::butterfly(nodes),
            NetworkSpec::crossbar(nodes),
            NetworkSpec::fat_tree(nodes),
        ] {
            let (plan, clients) = (Plan::central(), nodes as u32);
            let placement = Placement::random(&network, &plan, clients, 1)?;
            let numbers = 100_000;
            let run = CountingRun { network, plan, placement, clients, work: 0, numbers, seed: 1 };
            let start = Instant::now();
            let events = run.run()?.carried.events;
            let central = events as f64 / start.elapsed().as_secs_f64() / 1e6;
            let spread = everybody_to_everybody(network)?;
            println!(
                "{network}: {central:.1} M events/s with one role, {spread:.1} M spread over all"
            );
        }
    }
    Ok(())
}

/// Every node always has a message on its way to somewhere else.
fn everybody_to_everybody(network: NetworkSpec) -> Result<f64, NetworkError> {
    const MESSAGES: usize = 1_000_000;
    let nodes = network.nodes;
    let mut network = Network::new(network)?;
    let start = Instant::now();
    (0..nodes).for_each(|node| network.send(node, (node * 7 + 1) % nodes, node));
    let mut state = throng::machine::SplitMix64::from_state(1);
    for _ in 0..MESSAGES {
        let Some(at) = network.advance() else { break };
        let to = state.below(nodes as u64) as usize;
        network.send(at, to, to);
    }
    Ok(network.carried().events as f64 / start.elapsed().as_secs_f64() / 1e6)
}
