//! Where roles and clients are.

use crate::one_of_each;
use throng_messages::{Address, Plan};
use throng_sim::network::{NetworkSpec, Placement};

#[test]
fn clients_are_on_the_first_nodes_in_order() {
    for network in one_of_each(16) {
        for place in [Placement::random, Placement::annealed] {
            let placement = place(&network, &Plan::central(), 5, 3).unwrap();
            let nodes = (0..6).map(|client| placement.node_of(Address::Client(client)));
            assert_eq!(
                nodes.collect::<Vec<_>>(),
                [Some(0), Some(1), Some(2), Some(3), Some(4), None]
            );
        }
    }
}

#[test]
fn a_random_place_is_anywhere() {
    let network = NetworkSpec::crossbar(8);
    let mut seen = [0; 8];
    for seed in 0..800 {
        let placement = Placement::random(&network, &Plan::central(), 1, seed).unwrap();
        seen[placement.node_of(Address::Role(0)).unwrap()] += 1;
    }
    assert!(seen.iter().all(|times| (65..135).contains(times)), "{seen:?}");
}

#[test]
fn one_role_goes_to_the_middle_of_its_clients() {
    // The lower five rows of seven columns each: the middle is in the third, column 3. All columns are
    // alike, since the rows are closed to rings.
    let (network, plan) = (NetworkSpec::mesh_crossbar(49), Plan::central());
    let placement = Placement::annealed(&network, &plan, 35, 1).unwrap();
    assert_eq!(placement.node_of(Address::Role(0)).unwrap() / 7, 2);
}

#[test]
fn the_mean_distance_is_that_of_a_message_alone() {
    let (network, plan) = (NetworkSpec::mesh_crossbar(25), Plan::central());
    let placement = Placement::by_hand(&network, &[0], &[0, 1, 2]).unwrap();
    // On its node, next to it, and one further: there and back.
    let mean = placement.mean_distance(&network, &plan.traffic(3));
    assert_eq!(mean, (1.0 + 5.0 + 7.0) / 3.0);
}
