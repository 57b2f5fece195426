//! What holds in every network, whatever is sent.

use std::collections::BTreeMap;

use crate::{Sent, arrivals, carry, one_of_each};
use proptest::prelude::*;
use throng_sim::network::{Network, NetworkSpec};

/// One of all kinds, with parts of different speeds.
fn networks() -> impl Strategy<Value = NetworkSpec> {
    (0..5_usize, 2..20_usize, 1..5_u64, 1..5_u64, 0..3_u64).prop_map(
        |(kind, nodes, wire_cycles, switch_cycles, local_cycles)| {
            let spec = one_of_each(nodes)[kind];
            match kind {
                4 => spec,
                _ => NetworkSpec { wire_cycles, switch_cycles, local_cycles, ..spec },
            }
        },
    )
}

/// Messages that are sent at about the same time, so that they meet.
fn load() -> impl Strategy<Value = (NetworkSpec, Vec<Sent>)> {
    networks().prop_flat_map(|spec| {
        let one = (0..40_u64, 0..spec.nodes, 0..spec.nodes);
        (Just(spec), prop::collection::vec(one, 1..200))
    })
}

proptest! {
    #[test]
    fn messages_of_a_pair_arrive_in_the_order_in_which_they_were_sent((spec, all) in load()) {
        let mut last = BTreeMap::new();
        for (_, index) in arrivals(spec, &all) {
            let (at, from, to) = all[index];
            let sent = (at, index);
            let before = last.insert((from, to), sent);
            prop_assert!(before < Some(sent), "{before:?} before {sent:?}, {from} to {to}");
        }
    }

    #[test]
    fn every_message_arrives_once_and_never_sooner_than_alone((spec, all) in load()) {
        let (arrived, network) = carry(spec, &all);
        let mut seen = vec![false; all.len()];
        let mut waited = 0;
        for (time, index) in arrived {
            let (at, from, to) = all[index];
            prop_assert!(!std::mem::replace(&mut seen[index], true));
            prop_assert!(time >= at + spec.cycles_alone(from, to));
            waited += time - at - spec.cycles_alone(from, to);
        }
        prop_assert!(seen.into_iter().all(|seen| seen));
        let carried = network.carried();
        let local = all.iter().filter(|(_, from, to)| from == to).count();
        prop_assert_eq!(carried.waited, waited);
        prop_assert_eq!(carried.local_messages, local as u64);
        prop_assert_eq!(carried.messages, (all.len() - local) as u64);
        prop_assert_eq!(carried.on_the_way, 0);
        prop_assert!(carried.busiest.is_none_or(|part| part.share <= 1.0));
    }

    #[test]
    fn the_wire_to_a_node_brings_one_message_at_a_time((spec, all) in load()) {
        let mut last = BTreeMap::new();
        for (time, index) in arrivals(spec, &all) {
            let (_, from, to) = all[index];
            if from != to && let Some(before) = last.insert(to, time) {
                prop_assert!(time - before >= spec.wire_cycles, "at {before} and {time} to {to}");
            }
        }
    }

    #[test]
    fn what_was_sent_has_arrived_or_is_on_the_way((spec, all) in load(), stop in 0..200_usize) {
        let mut network = Network::new(spec).unwrap();
        for (index, &(_, from, to)) in all.iter().enumerate() {
            network.send(from, to, index);
        }
        let arrived = (0..stop).map_while(|_| network.advance()).count();
        let carried = network.carried();
        prop_assert_eq!(carried.messages + carried.local_messages, arrived as u64);
        prop_assert_eq!(carried.on_the_way, (all.len() - arrived) as u64);
    }
}

#[test]
fn three_of_a_pair_follow_each_other_closely() {
    for spec in one_of_each(16) {
        let arrived = arrivals(spec, &[(0, 0, 5), (0, 0, 5), (0, 0, 5)]);
        let first = spec.cycles_alone(0, 5);
        let apart = spec.wire_cycles;
        let expected = [(first, 0), (first + apart, 1), (first + 2 * apart, 2)];
        assert_eq!(arrived, expected, "{spec}");
    }
}
