//! Torus meshes. The one of 25 nodes is this one, closed around in both directions:
//!
//! ```text
//! 20 21 22 23 24
//! 15 16 17 18 19
//! 10 11 12 13 14
//!  5  6  7  8  9
//!  0  1  2  3  4
//! ```

use crate::{carry, times};
use throng_sim::network::NetworkSpec;

fn single() -> NetworkSpec {
    NetworkSpec::mesh_single_wire(25)
}

fn crossbar() -> NetworkSpec {
    NetworkSpec::mesh_crossbar(25)
}

#[test]
fn a_message_alone_passes_a_switch_at_each_node_of_its_way() {
    for spec in [single(), crossbar()] {
        // Two switches and three wires, and two cycles more for each node further away.
        for (to, expected) in [(1, 5), (2, 7), (5, 5), (6, 7), (7, 9), (12, 11)] {
            assert_eq!(times(spec, &[(0, 0, to)]), [expected], "{spec}: to {to}");
            assert_eq!(times(spec, &[(0, to, 0)]), [expected], "{spec}: from {to}");
        }
    }
    let spec = NetworkSpec { wire_cycles: 3, switch_cycles: 10, ..single() };
    assert_eq!(times(spec, &[(0, 0, 2)]), [4 * 3 + 3 * 10]);
}

#[test]
fn the_way_around_the_back_is_taken_where_it_is_shorter() {
    for spec in [single(), crossbar()] {
        for (to, expected) in [(4, 5), (3, 7), (20, 5), (15, 7), (24, 7), (18, 11)] {
            assert_eq!(times(spec, &[(0, 0, to)]), [expected], "{spec}: to {to}");
        }
    }
}

#[test]
fn two_that_cross_in_a_switch_pass_one_after_another_where_it_has_a_single_wire() {
    // Both are at switch 11 at time 3: one goes to the right, one up.
    let cross = [(0, 10, 12), (0, 6, 16)];
    assert_eq!(times(single(), &cross), [7, 8]);
    assert_eq!(times(crossbar(), &cross), [7, 7]);
}

#[test]
fn a_crossbar_passes_five_at_a_time() {
    // They come to switch 12 at time 3 from all five sides, and leave by all five.
    let five = [(0, 11, 13), (0, 17, 12), (0, 13, 11), (0, 7, 17), (2, 12, 7)];
    assert_eq!(times(crossbar(), &five), [7, 5, 7, 7, 7]);
    // One after another, from 3 to 7. The last was given to its wire first: that is the tie rule.
    assert_eq!(times(single(), &five), [8, 7, 10, 11, 7]);
}

#[test]
fn two_that_want_one_wire_pass_one_after_another() {
    for spec in [single(), crossbar()] {
        let spec = NetworkSpec { wire_cycles: 3, ..spec };
        // The first is on the wire from 11 to 12 from 8 to 11. The second has passed switch 11 at 9,
        // and is on the wire until 14, through switch 12 at 15, and there at 18.
        let (arrived, network) = carry(spec, &[(0, 10, 12), (5, 11, 12)]);
        assert_eq!(arrived, [(15, 0), (18, 1)]);
        assert_eq!(network.carried().waited, 2);
    }
}

#[test]
fn two_that_meet_on_their_way_do_not_disturb_each_other() {
    for spec in [single(), crossbar()] {
        assert_eq!(times(spec, &[(0, 10, 11), (0, 11, 10)]), [5, 5]);
    }
}

#[test]
fn a_mesh_is_as_near_to_a_square_as_its_nodes_allow() {
    let sides = |nodes| NetworkSpec::mesh_crossbar(nodes).sides();
    assert_eq!(
        [16, 12, 32, 4096, 7, 1].map(sides),
        [(4, 4), (3, 4), (4, 8), (64, 64), (1, 7), (1, 1)]
    );
}

#[test]
fn a_ring_of_two_has_a_wire_each_way() {
    for spec in [NetworkSpec::mesh_single_wire(2), NetworkSpec::mesh_crossbar(2)] {
        assert_eq!(times(spec, &[(0, 0, 1), (0, 1, 0)]), [5, 5]);
    }
}
