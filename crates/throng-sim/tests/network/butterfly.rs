//! The butterfly of 8 nodes: three layers, of which the first joins rows that differ by 4, the second
//! by 2, the third by 1.

use crate::{carry, times};
use throng_sim::network::NetworkSpec;

fn eight() -> NetworkSpec {
    NetworkSpec::butterfly(8)
}

#[test]
fn a_message_passes_all_layers_wherever_it_goes() {
    for (from, to) in (0..8).flat_map(|from| (0..8).map(move |to| (from, to))) {
        if from != to {
            let (arrived, network) = carry(eight(), &[(0, from, to)]);
            assert_eq!(arrived, [(7, 0)], "{from} to {to}: four wires and three switches");
            assert_eq!(network.carried().mean_hops, 3.0);
        }
    }
}

#[test]
fn two_that_leave_a_switch_by_one_port_pass_one_after_another() {
    // Both leave the first layer in row 0.
    assert_eq!(times(eight(), &[(0, 0, 3), (0, 4, 1)]), [7, 8]);
    // Both leave the last layer to node 3; they come from rows 2 and 3.
    assert_eq!(times(eight(), &[(0, 6, 3), (0, 7, 3)]), [7, 8]);
}

#[test]
fn two_that_leave_a_switch_by_different_ports_pass_at_the_same_time() {
    assert_eq!(times(eight(), &[(0, 0, 3), (0, 4, 5)]), [7, 7]);
    let slow = NetworkSpec { switch_cycles: 9, ..eight() };
    assert_eq!(times(slow, &[(0, 0, 6), (0, 4, 2)]), [31, 31]);
}

#[test]
fn all_can_send_to_the_next_node_at_the_same_time() {
    let all: Vec<_> = (0..8).map(|node| (0, node, (node + 1) % 8)).collect();
    assert_eq!(times(eight(), &all), [7; 8]);
}

#[test]
fn all_that_send_to_one_node_stand_in_line_for_it() {
    let all: Vec<_> = (1..8).map(|node| (0, node, 0)).collect();
    let mut times = times(eight(), &all);
    times.sort_unstable();
    // The one wire to it is never idle in between.
    assert_eq!(times, [7, 8, 9, 10, 11, 12, 13]);
}
