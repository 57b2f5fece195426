//! One crossbar for all.

use crate::times;
use throng_sim::network::NetworkSpec;

/// A message takes a cycle on a wire and four in the crossbar.
fn slow() -> NetworkSpec {
    NetworkSpec { switch_cycles: 4, ..NetworkSpec::crossbar(4) }
}

#[test]
fn a_message_passes_a_wire_the_switch_and_a_wire() {
    assert_eq!(times(NetworkSpec::crossbar(4), &[(10, 0, 1)]), [13]);
    let spec = NetworkSpec { wire_cycles: 2, switch_cycles: 5, ..NetworkSpec::crossbar(4) };
    assert_eq!(times(spec, &[(10, 3, 0)]), [10 + 2 + 5 + 2]);
}

#[test]
fn messages_with_different_ports_in_and_out_pass_at_the_same_time() {
    assert_eq!(times(slow(), &[(0, 0, 1), (0, 1, 2), (0, 2, 3), (0, 3, 0)]), [6; 4]);
}

#[test]
fn messages_for_one_port_out_pass_one_after_another() {
    // The port is busy from 1 to 5, to 9, to 13, and then comes the wire.
    assert_eq!(times(slow(), &[(0, 0, 3), (0, 1, 3), (0, 2, 3)]), [6, 10, 14]);
}

#[test]
fn messages_of_one_port_in_pass_one_after_another() {
    assert_eq!(times(slow(), &[(0, 0, 1), (0, 0, 2), (0, 0, 3)]), [6, 10, 14]);
}

#[test]
fn a_wire_carries_one_message_at_a_time() {
    let spec = NetworkSpec { wire_cycles: 4, ..NetworkSpec::crossbar(4) };
    // The wire from node 0 until 4 and 8; the ports are free by then.
    assert_eq!(times(spec, &[(0, 0, 1), (0, 0, 2)]), [9, 13]);
    // The wire to node 3 from 5 to 9 and 13.
    assert_eq!(times(spec, &[(0, 0, 3), (0, 1, 3)]), [9, 13]);
}

#[test]
fn who_is_behind_a_message_that_waits_waits_too() {
    // At 1 the first and the second are at the switch and want the same port out; the second has it
    // from 5 to 9. The third has been behind it since 2, and passes from 9 to 13, though its own port
    // out has been free all the time.
    assert_eq!(times(slow(), &[(0, 0, 2), (0, 1, 2), (0, 1, 3)]), [6, 10, 14]);
}

#[test]
fn who_comes_to_a_port_out_first_passes_first() {
    let sent = [(0, 0, 3), (2, 1, 3), (1, 2, 3)];
    assert_eq!(times(slow(), &sent), [6, 14, 10]);
}

#[test]
fn what_stays_on_its_node_does_not_enter_the_network() {
    let spec = NetworkSpec { local_cycles: 2, ..NetworkSpec::crossbar(4) };
    assert_eq!(times(spec, &[(0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 1, 1)]), [2, 3, 2, 2]);
    let spec = NetworkSpec { local_cycles: 0, ..NetworkSpec::crossbar(4) };
    assert_eq!(times(spec, &[(7, 0, 0)]), [7]);
}
