//! Hosts of 16 nodes: 1 us within, 10 us between, 200 ns at a port.

use crate::times;
use throng_sim::network::{NetworkSpec, Topology};

fn cluster() -> NetworkSpec {
    NetworkSpec::fat_tree(64)
}

#[test]
fn a_message_alone_takes_what_the_spec_says() {
    assert_eq!(times(cluster(), &[(5, 0, 15)]), [1_005]);
    assert_eq!(times(cluster(), &[(5, 0, 16)]), [10_005]);
    assert_eq!(times(cluster(), &[(5, 3, 3)]), [105]);
}

#[test]
fn a_port_takes_one_message_at_a_time() {
    // From one node, to several.
    assert_eq!(times(cluster(), &[(0, 0, 1), (0, 0, 16), (0, 0, 32)]), [1_000, 10_200, 10_400]);
    // From several, to one.
    assert_eq!(times(cluster(), &[(0, 16, 0), (0, 32, 0), (0, 48, 0)]), [10_000, 10_200, 10_400]);
    // Far and near meet at the port: it is busy from 9_800 to 10_000.
    assert_eq!(times(cluster(), &[(0, 16, 0), (9_050, 1, 0)]), [10_000, 10_200]);
}

#[test]
fn there_is_room_for_all_between_the_hosts() {
    let all: Vec<_> = (0..64).map(|node| (0, node, (node + 16) % 64)).collect();
    assert_eq!(times(cluster(), &all), [10_000; 64]);
}

#[test]
fn hosts_and_latencies_are_what_one_likes() {
    let topology = Topology::FatTree { host_nodes: 4, within: 500, between: 2_000 };
    let spec = NetworkSpec { topology, wire_cycles: 100, ..cluster() };
    assert_eq!(times(spec, &[(0, 0, 3), (0, 0, 4)]), [500, 2_100]);
}
