//! Clients that draw numbers from one role, cycle by cycle.

use crate::one_of_each;
use throng_messages::Plan;
use throng_sim::network::{CountingRun, Delivery, Measured, NetworkSpec, Placement};

/// One role on that node; client `i` on node `i`.
fn central(network: NetworkSpec, role: usize, clients: u32, numbers: u64) -> Measured {
    let nodes: Vec<usize> = (0..clients as usize).collect();
    let placement = Placement::by_hand(&network, &[role], &nodes).unwrap();
    let plan = Plan::central();
    CountingRun { network, plan, placement, clients, work: 0, numbers, seed: 1 }.run().unwrap()
}

fn deliveries(all: &[(u32, u64, u64, u64)]) -> Vec<Delivery> {
    let delivery =
        |&(client, number, asked_at, got_at)| Delivery { client, number, asked_at, got_at };
    all.iter().map(delivery).collect()
}

#[test]
fn two_clients_of_a_crossbar() {
    // Both requests are at the switch at time 1. The first is at the role at 3, the second, which
    // waits for the port, at 4; the answers take three cycles each. From then on they are a cycle
    // apart and never meet.
    let measured = central(NetworkSpec::crossbar(3), 2, 2, 6);
    let expected = [(0, 0, 0, 6), (1, 1, 0, 7), (0, 2, 6, 12), (1, 3, 7, 13), (0, 4, 12, 18)];
    assert_eq!(measured.deliveries[..5], deliveries(&expected));
    assert_eq!(measured.deliveries[5], deliveries(&[(1, 5, 13, 19)])[0]);
    assert_eq!((measured.cycles, measured.handed_out, measured.outstanding), (19, 6, 1));
    assert_eq!(measured.mean_latency, 37.0 / 6.0);
    assert_eq!((measured.latency_at(0.5), measured.latency_at(1.0)), (6, 7));
    assert_eq!(measured.throughput_per(1_900), 600.0);
    let carried = measured.carried;
    // Six numbers of two messages each; client 0 has asked again at 18 and its request, at 19, has
    // arrived nowhere.
    assert_eq!((carried.messages, carried.local_messages, carried.on_the_way), (12, 0, 1));
    assert_eq!((carried.waited, carried.mean_hops), (1, 1.0));
    let busiest = carried.busiest.unwrap();
    // Six messages through each of these.
    assert_eq!(busiest.part, "wire from node 2");
    assert_eq!(busiest.share, 6.0 / 19.0);
}

#[test]
fn three_clients_of_a_crossbar() {
    let measured = central(NetworkSpec::crossbar(4), 3, 3, 6);
    let expected =
        [(0, 0, 0, 6), (1, 1, 0, 7), (2, 2, 0, 8), (0, 3, 6, 12), (1, 4, 7, 13), (2, 5, 8, 14)];
    assert_eq!(measured.deliveries, deliveries(&expected));
    assert_eq!(measured.carried.waited, 1 + 2);
}

#[test]
fn a_client_on_the_node_of_the_role_is_served_faster() {
    // Client 0 gets a number every two cycles without the network. The request of client 1 is there
    // at 3, at the same time as the second of client 0, and was sent on first: number 1.
    let measured = central(NetworkSpec::crossbar(2), 0, 2, 4);
    let expected = [(0, 0, 0, 2), (0, 2, 2, 4), (1, 1, 0, 6), (0, 3, 4, 6)];
    assert_eq!(measured.deliveries, deliveries(&expected));
    // Six are with client 0, which has asked for the fifth; client 1 has had its two.
    assert_eq!((measured.carried.messages, measured.carried.local_messages), (2, 6));
}

#[test]
fn two_clients_of_a_mesh() {
    // 0 1 2 in a ring, the role in the middle, clients on 0 and 2. Both requests are at switch 1 at
    // time 3.
    for (network, second) in [
        // Request at 5, answer at 10. The second request is through switch 1 at 5 and there at 6; its
        // answer is at switch 1 at 7 and no other message is in its way.
        (NetworkSpec::mesh_single_wire(3), 11),
        // The same: both want the port to the processor.
        (NetworkSpec::mesh_crossbar(3), 11),
    ] {
        let placement = Placement::by_hand(&network, &[1], &[0, 2]).unwrap();
        let plan = Plan::central();
        let run =
            CountingRun { network, plan, placement, clients: 2, work: 0, numbers: 2, seed: 1 };
        let expected = deliveries(&[(0, 0, 0, 10), (1, 1, 0, second)]);
        assert_eq!(run.run().unwrap().deliveries, expected);
    }
}

#[test]
fn the_node_that_gives_out_numbers_gives_one_a_cycle_at_most() {
    // Requests come over one wire, and answers leave over one.
    for network in [
        NetworkSpec::mesh_single_wire(64),
        NetworkSpec::mesh_crossbar(64),
        NetworkSpec::butterfly(64),
        NetworkSpec::crossbar(64),
    ] {
        let measured = central(network, 63, 60, 20_000);
        let rate = measured.throughput_per(1_000);
        // The switch of a mesh with single wires has requests and answers to pass.
        let most = if network == NetworkSpec::mesh_single_wire(64) { 500.0 } else { 1_000.0 };
        assert!((0.97 * most..=most).contains(&rate), "{network}: {rate} a thousand cycles");
        assert!(measured.carried.busiest.unwrap().share > 0.97);
    }
    // A message every 200 ns.
    let rate = central(NetworkSpec::fat_tree(128), 127, 120, 20_000).throughput_per(1_000_000);
    assert!((4_850.0..=5_000.0).contains(&rate), "{rate} a millisecond");
}

#[test]
fn the_client_on_the_node_of_the_role_gets_as_much_as_many_others() {
    for (network, share) in [
        // Two messages of a cycle each for a number, and one number a cycle for all the others.
        (NetworkSpec::crossbar(64), 1.0 / 3.0),
        (NetworkSpec::mesh_crossbar(64), 1.0 / 3.0),
        // One every two cycles for all the others.
        (NetworkSpec::mesh_single_wire(64), 1.0 / 2.0),
    ] {
        let measured = central(network, 63, 64, 20_000);
        let its = measured.deliveries.iter().filter(|one| one.client == 63).count() as f64;
        assert!((its / 20_000.0 - share).abs() < 0.01, "{network}: {its} of 20000");
    }
}

#[test]
fn clients_idle_for_a_random_time() {
    let network = NetworkSpec::crossbar(16);
    let (plan, clients, work) = (Plan::central(), 4, 9);
    let placement = Placement::random(&network, &plan, clients, 1).unwrap();
    let run = CountingRun { network, plan, placement, clients, work, numbers: 4_000, seed: 1 };
    let mut last = [None; 4];
    let mut seen = [0; 10];
    for one in run.run().unwrap().deliveries {
        if let Some(before) = last[one.client as usize].replace(one.got_at) {
            seen[(one.asked_at - before) as usize] += 1;
        }
    }
    assert!(seen.iter().all(|times| (330..470).contains(times)), "{seen:?}");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    for network in one_of_each(64) {
        let run = |seed| {
            let (plan, clients) = (Plan::central(), 40);
            let placement = Placement::annealed(&network, &plan, clients, seed).unwrap();
            let run =
                CountingRun { network, plan, placement, clients, work: 100, numbers: 3_000, seed };
            run.run().unwrap()
        };
        assert_eq!(run(7), run(7), "{network}");
        assert_ne!(run(7), run(8), "{network}");
    }
}

#[test]
fn the_largest_networks_run() {
    for network in one_of_each(4096) {
        let measured = central(network, 4095, 4096, 20_000);
        assert_eq!(measured.handed_out, 20_000);
    }
}
