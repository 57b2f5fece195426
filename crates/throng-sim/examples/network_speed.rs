//! Measures the events a second that the simulated networks process, the time of annealing, and its
//! effect.
//!
//! `cargo run --release -p throng-sim --example network_speed [nodes]`

use std::error::Error;
use std::time::Instant;

use throng::machine::SplitMix64;
use throng_messages::{CombiningShape, Delay, DiffractingShape, Plan, Waiting};
use throng_sim::network::{CountingRun, Network, NetworkError, NetworkSpec, Placement};

fn main() -> Result<(), Box<dyn Error>> {
    let nodes = std::env::args().nth(1).map_or(Ok(256), |nodes| nodes.parse())?;
    for network in [
        NetworkSpec::mesh_single_wire(nodes),
        NetworkSpec::mesh_crossbar(nodes),
        NetworkSpec::butterfly(nodes.next_power_of_two()),
        NetworkSpec::crossbar(nodes),
        NetworkSpec::fat_tree(nodes),
    ] {
        let speed = all_to_all(network)?;
        println!("{network}: {speed:.1} M events/s, messages of every node to every other");
        let waiting = Waiting::ForEver;
        for (plan, name) in [
            (Plan::central(), "central"),
            (
                Plan::diffracting_tree(&DiffractingShape::new(16, Delay::adaptive(16, 256)))?,
                "DTree[16]",
            ),
            (Plan::counting_network(16)?, "CNet[16]"),
            (Plan::combining_tree(&CombiningShape { clients: nodes, waiting })?, "CTree"),
        ] {
            structure(network, plan, name)?;
        }
    }
    Ok(())
}

/// Runs a structure at a random placement, and at an annealed one.
fn structure(network: NetworkSpec, plan: Plan, name: &str) -> Result<(), NetworkError> {
    let clients = network.nodes as u32;
    if plan.len() > network.nodes {
        println!("  {name}: {} roles, too many", plan.len());
        return Ok(());
    }
    let random = Placement::random(&network, &plan, clients, 1)?;
    let start = Instant::now();
    let annealed = Placement::annealed(&network, &plan, clients, 1)?;
    let seconds = start.elapsed().as_secs_f64();
    let traffic = plan.traffic(clients);
    print!("  {name}, {} roles, annealed in {seconds:.2} s:", plan.len());
    for (placement, how) in [(random, "random"), (annealed, "annealed")] {
        let distance = placement.mean_distance(&network, &traffic);
        let plan = plan.clone();
        let numbers = 50_000;
        let run = CountingRun { network, plan, placement, clients, work: 0, numbers, seed: 1 };
        let start = Instant::now();
        let measured = run.run()?;
        let events = measured.carried.events as f64 / start.elapsed().as_secs_f64() / 1e6;
        print!(
            " {how} distance {distance:.2} latency {:.0} throughput {:.0} ({events:.1} M events/s)",
            measured.mean_latency,
            measured.throughput_per(1_000)
        );
    }
    println!();
    Ok(())
}

/// Measures a load in which every node always has a message on its way to a random node.
fn all_to_all(network: NetworkSpec) -> Result<f64, NetworkError> {
    const MESSAGES: usize = 1_000_000;
    let nodes = network.nodes;
    let mut network = Network::new(network)?;
    let start = Instant::now();
    (0..nodes).for_each(|node| network.send(node, (node * 7 + 1) % nodes, node));
    let mut random = SplitMix64::from_state(1);
    for _ in 0..MESSAGES {
        let Some(at) = network.advance() else { break };
        let to = random.below(nodes as u64) as usize;
        network.send(at, to, to);
    }
    Ok(network.carried().events as f64 / start.elapsed().as_secs_f64() / 1e6)
}
