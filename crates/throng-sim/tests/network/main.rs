//! Networks of messages, against times worked out by hand. A wire and a switch take a cycle each
//! unless a test says otherwise.

mod butterfly;
mod counting;
mod crossbar;
mod errors;
mod fat_tree;
mod meeting;
mod mesh;
mod order;
mod placement;
mod structures;

use throng_sim::network::{Network, NetworkSpec};

/// A message that a test sends: when, from where, to where.
type Sent = (u64, usize, usize);

#[derive(Clone, Copy, Debug)]
enum Happening {
    Send(usize),
    Arrive(usize),
}

/// Sends these and tells what arrives, in order: when, and which.
fn arrivals(spec: NetworkSpec, all: &[Sent]) -> Vec<(u64, usize)> {
    carry(spec, all).0
}

/// The same, with the network as it is afterwards.
fn carry(spec: NetworkSpec, all: &[Sent]) -> (Vec<(u64, usize)>, Network<impl Copy + use<>>) {
    let mut network = Network::new(spec).unwrap();
    for (index, &(at, ..)) in all.iter().enumerate() {
        network.wake_at(at, Happening::Send(index));
    }
    let mut arrived = Vec::new();
    while let Some(happening) = network.advance() {
        match happening {
            Happening::Send(index) => {
                network.send(all[index].1, all[index].2, Happening::Arrive(index));
            }
            Happening::Arrive(index) => arrived.push((network.now(), index)),
        }
    }
    (arrived, network)
}

/// When each of these arrives.
fn times(spec: NetworkSpec, all: &[Sent]) -> Vec<u64> {
    let mut times = vec![0; all.len()];
    for (at, index) in arrivals(spec, all) {
        times[index] = at;
    }
    times
}

/// Returns one network of each kind, of about `nodes` nodes.
fn one_of_each(nodes: usize) -> [NetworkSpec; 5] {
    [
        NetworkSpec::mesh_single_wire(nodes),
        NetworkSpec::mesh_crossbar(nodes),
        NetworkSpec::butterfly(nodes.next_power_of_two()),
        NetworkSpec::crossbar(nodes),
        NetworkSpec::fat_tree(nodes),
    ]
}
