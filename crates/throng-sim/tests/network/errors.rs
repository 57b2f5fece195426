//! What cannot be, and what is said about it.

use crate::one_of_each;
use throng_messages::Plan;
use throng_sim::network::{CountingRun, Network, NetworkError, NetworkSpec, Placement, Topology};

fn said(spec: NetworkSpec) -> String {
    Network::<()>::new(spec).unwrap_err().to_string()
}

#[test]
fn a_network_that_cannot_be_is_refused_with_what_is_allowed() {
    let crossbar = NetworkSpec::crossbar(4);
    for (spec, expected) in [
        (NetworkSpec::crossbar(0), "nodes 0: must be from 1 to 4096"),
        (NetworkSpec::mesh_crossbar(4097), "nodes 4097: must be from 1 to 4096"),
        (
            NetworkSpec::butterfly(12),
            "nodes 12: a butterfly has 2, 4, 8, ... nodes, a power of two",
        ),
        (NetworkSpec::butterfly(1), "nodes 1: a butterfly has 2, 4, 8, ... nodes, a power of two"),
        (NetworkSpec { wire_cycles: 0, ..crossbar }, "wire_cycles 0: must be from 1 to 1000000000"),
        (
            NetworkSpec { switch_cycles: 0, ..crossbar },
            "switch_cycles 0: must be from 1 to 1000000000",
        ),
        (
            NetworkSpec { switch_cycles: 1, ..NetworkSpec::fat_tree(4) },
            "switch_cycles of a fat tree 1: must be from 0 to 0",
        ),
        (
            NetworkSpec { wire_cycles: 600, ..NetworkSpec::fat_tree(4) },
            "within 1000: must be at least 1200, which is the time at the sender's and the \
             receiver's ports",
        ),
        (
            NetworkSpec {
                topology: Topology::FatTree { host_nodes: 0, within: 1_000, between: 1_000 },
                ..NetworkSpec::fat_tree(4)
            },
            "host_nodes 0: must be from 1 to 4096",
        ),
    ] {
        assert_eq!(said(spec), expected);
    }
    for spec in one_of_each(4096) {
        spec.check().unwrap();
    }
}

#[test]
fn a_run_that_makes_no_sense_is_refused() {
    let network = NetworkSpec::crossbar(4);
    let placement = Placement::random(&network, &Plan::central(), 2, 1).unwrap();
    let plan = Plan::central();
    let run = CountingRun { network, plan, placement, clients: 2, work: 0, numbers: 1, seed: 1 };
    let said = |run: CountingRun| run.run().unwrap_err().to_string();
    assert_eq!(
        said(CountingRun { clients: 0, ..run.clone() }),
        "clients 0: must be from 1 to 4096"
    );
    assert_eq!(
        said(CountingRun { numbers: 0, ..run.clone() }),
        "numbers 0: must be from 1 to 1099511627776"
    );
    assert_eq!(
        said(CountingRun { clients: 3, ..run.clone() }),
        "Client(2) has no node: make the placement for the plan and the clients of the run"
    );
    let none = NetworkSpec::crossbar(0);
    assert_eq!(
        said(CountingRun { network: none, ..run.clone() }),
        "nodes 0: must be from 1 to 4096"
    );
    let small = NetworkSpec::crossbar(1);
    let error = CountingRun { network: small, ..run }.run().unwrap_err();
    assert!(matches!(error, NetworkError::NoSuchNode { nodes: 1, .. }), "{error}");
}

#[test]
fn what_does_not_fit_on_the_nodes_is_refused() {
    let network = NetworkSpec::crossbar(4);
    let plan = Plan::central();
    for place in [Placement::random, Placement::annealed] {
        assert_eq!(
            place(&network, &plan, 5, 1).unwrap_err().to_string(),
            "5 clients on 4 nodes: a node has room for one role of the structure and one client, \
             so at most 4 clients fit"
        );
        place(&network, &plan, 4, 1).unwrap();
    }
    assert_eq!(
        Placement::by_hand(&network, &[1, 2, 1], &[]).unwrap_err().to_string(),
        "Role(2) on node 1: it is occupied, and a node has room for one role of the \
         structure and one client"
    );
    assert_eq!(
        Placement::by_hand(&network, &[], &[0, 4]).unwrap_err().to_string(),
        "Client(1) on node 4: must be from 0 to 3"
    );
    // One of each is allowed.
    Placement::by_hand(&network, &[1], &[1]).unwrap();
}
