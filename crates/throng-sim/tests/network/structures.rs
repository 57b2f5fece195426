//! The structures of the paper in every network: numbers are right, and the times of one client alone
//! are those of its messages.

use crate::one_of_each;
use throng_messages::{Address, CombiningShape, Delay, DiffractingShape, Plan, Waiting};
use throng_sim::network::{CountingRun, Measured, NetworkError, NetworkSpec, Placement};

fn diffracting(width: usize, delay: Delay) -> Plan {
    Plan::diffracting_tree(&DiffractingShape::new(width, delay)).unwrap()
}

fn combining(clients: usize, waiting: Waiting) -> Plan {
    Plan::combining_tree(&CombiningShape { clients, waiting }).unwrap()
}

fn all(clients: u32) -> [Plan; 5] {
    [
        Plan::central(),
        diffracting(8, Delay::adaptive(16, 256)),
        Plan::counting_network(8).unwrap(),
        combining(clients as usize, Waiting::ForEver),
        combining(clients as usize, Waiting::Fixed(16)),
    ]
}

fn run(
    network: NetworkSpec,
    plan: Plan,
    clients: u32,
    work: u64,
    numbers: u64,
) -> Result<Measured, NetworkError> {
    let placement = Placement::random(&network, &plan, clients, 5)?;
    CountingRun { network, plan, placement, clients, work, numbers, seed: 3 }.run()
}

#[test]
fn every_structure_gives_out_each_number_once_in_every_network() {
    for network in one_of_each(64) {
        for clients in [1, 2, 7, 33, 64] {
            for (plan, work) in all(clients).into_iter().flat_map(|p| [(p.clone(), 0), (p, 300)]) {
                let name = plan.name();
                let measured = run(network, plan, clients, work, 1_000)
                    .unwrap_or_else(|error| panic!("{network}, {name}, {clients}: {error}"));
                assert_eq!(measured.handed_out, 1_000);
                assert!(measured.outstanding <= u64::from(clients));
                // Judged here once more, in another way.
                let mut numbers: Vec<_> =
                    measured.deliveries.iter().map(|one| one.number).collect();
                numbers.sort_unstable();
                numbers.dedup();
                assert_eq!(numbers.len(), 1_000);
                assert!(*numbers.last().unwrap() < 1_000 + measured.outstanding);
            }
        }
    }
}

#[test]
fn a_client_alone_waits_for_as_many_messages_as_the_paper_says() {
    // A message in the crossbar is 3 cycles. No role is on the client's node.
    let network = NetworkSpec::crossbar(512);
    for (plan, messages) in [
        (Plan::central(), 2),
        // Prism and toggle four times, the counter, and back.
        (diffracting(16, Delay::fixed(0)), 10),
        (Plan::counting_network(32).unwrap(), 17),
    ] {
        let nodes: Vec<usize> = (1..=plan.len()).collect();
        let placement = Placement::by_hand(&network, &nodes, &[0]).unwrap();
        let name = plan.name();
        let run =
            CountingRun { network, plan, placement, clients: 1, work: 0, numbers: 100, seed: 1 };
        let measured = run.run().unwrap();
        assert_eq!(measured.mean_latency, f64::from(3 * messages), "{name}");
        assert_eq!(measured.carried.waited, 0);
    }
}

#[test]
fn a_prism_waits_before_it_gives_up() {
    // Seven cycles at each of four prisms, and ten messages.
    let (network, plan) = (NetworkSpec::crossbar(512), diffracting(16, Delay::fixed(7)));
    let nodes: Vec<usize> = (1..=plan.len()).collect();
    let placement = Placement::by_hand(&network, &nodes, &[0]).unwrap();
    let run = CountingRun { network, plan, placement, clients: 1, work: 0, numbers: 20, seed: 1 };
    assert_eq!(run.run().unwrap().mean_latency, f64::from(4 * 7 + 10 * 3));
}

#[test]
fn a_prism_that_waits_for_ever_is_stuck_with_its_last_token() {
    let network = NetworkSpec::crossbar(8);
    let plan = || diffracting(2, Delay::fixed(u64::MAX));
    assert_eq!(run(network, plan(), 2, 0, 10).unwrap().handed_out, 10);
    let error = run(network, plan(), 1, 0, 10).unwrap_err();
    assert!(matches!(error, NetworkError::Stuck { done: 0, wanted: 10, .. }), "{error}");
}

#[test]
fn a_combining_tree_whose_clients_do_not_all_come_is_stuck() {
    let network = NetworkSpec::crossbar(8);
    let error = run(network, combining(8, Waiting::ForEver), 3, 0, 10).unwrap_err();
    assert!(matches!(error, NetworkError::Stuck { wanted: 10, .. }), "{error}");
    // And one with more clients than it has places for is refused.
    let error = run(network, combining(4, Waiting::ForEver), 5, 0, 10).unwrap_err();
    assert_eq!(error.to_string(), "clients of this plan 5: must be from 1 to 4");
}

#[test]
fn more_roles_than_nodes_do_not_fit() {
    let plan = Plan::counting_network(32).unwrap();
    let error = Placement::random(&NetworkSpec::crossbar(256), &plan, 1, 1).unwrap_err();
    assert!(error.to_string().starts_with("272 roles on 256 nodes: a node has room"), "{error}");
}

#[test]
fn annealing_shortens_the_ways_of_every_structure_in_a_mesh() {
    let network = NetworkSpec::mesh_single_wire(256);
    for plan in all(256).into_iter().skip(1) {
        let traffic = plan.traffic(256);
        let random = Placement::random(&network, &plan, 256, 1).unwrap();
        let annealed = Placement::annealed(&network, &plan, 256, 1).unwrap();
        let (before, after) =
            (random.mean_distance(&network, &traffic), annealed.mean_distance(&network, &traffic));
        assert!(after < 0.6 * before, "{}: {before} {after}", plan.name());
        // Each role is on a node of its own.
        let node = |role| annealed.node_of(Address::Role(role)).unwrap();
        let mut nodes: Vec<_> = (0..plan.len() as u32).map(node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        assert_eq!(nodes.len(), plan.len());
    }
}
