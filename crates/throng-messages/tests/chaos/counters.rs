//! Counters count, whatever the host does.

use crate::host::Chaos;
use proptest::prelude::*;
use std::thread;
use throng::machine::SplitMix64;
use throng::structures::counter::diffracting::Prisms;
use throng_check::history::Call;
use throng_messages::{
    Address, CombiningShape, Delay, DiffractingShape, Event, Message, Numbers, Plan, Post, Waiting,
    threads,
};

prop_compose! {
    fn delays()(
        levels in prop::option::of(prop::collection::vec(0_u64..=40, 6)),
        first in 0_u64..=40,
        least in prop_oneof![Just(0_u64), 1..10_u64],
        most in 40_u64..200,
        adaptive in any::<bool>(),
    ) -> (Option<Vec<u64>>, Delay) {
        let least = least.min(first);
        let levels = levels.map(|levels| levels.into_iter().map(|first| first.max(least)).collect());
        (levels, Delay { first: vec![first], least, most, adaptive })
    }
}

prop_compose! {
    fn diffracting_trees()(
        depth in 0_u32..=5,
        sizes in prop::collection::vec(1_usize..5, 5),
        (levels, delay) in delays(),
        seed in any::<u64>(),
    ) -> Plan {
        let first = match levels {
            Some(levels) if depth > 0 => levels[..depth as usize].to_vec(),
            _ => delay.first.clone(),
        };
        Plan::diffracting_tree(&DiffractingShape {
            width: 1 << depth,
            prisms: Prisms::Sizes(sizes[..depth as usize].to_vec()),
            delay: Delay { first, ..delay },
            seed,
        })
        .unwrap()
    }
}

fn plans() -> impl Strategy<Value = Plan> {
    prop_oneof![
        4 => diffracting_trees(),
        1 => (0_u32..5).prop_map(|log| Plan::counting_network(1 << log).unwrap()),
        1 => Just(Plan::central()),
    ]
}

/// The largest count of numbers that a client asks for at a time.
fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), 2_u64..10, 10_u64..200]
}

fn number(call: &Call) -> u64 {
    call.ended.expect("all calls are over").1
}

/// The number of requests of each client, in each of a few bursts.
fn bursts() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1_usize..40).prop_flat_map(|clients| {
        prop::collection::vec(prop::collection::vec(0_u32..6, clients), 1..4)
    })
}

/// The result of a run: the numbers of each client, and the number of messages.
fn history(seed: u64) -> (Vec<Vec<u64>>, u64) {
    let shape = DiffractingShape::new(8, Delay::adaptive(20, 100));
    let plan = Plan::diffracting_tree(&DiffractingShape { seed, ..shape }).unwrap();
    let mut chaos = Chaos::of(plan, 20, 1);
    chaos.run(&[5; 20]).unwrap();
    let total = chaos.network.total();
    (chaos.got, total)
}

#[test]
fn a_plan_does_the_same_again_and_another_seed_something_else() {
    assert_eq!(history(1), history(1));
    assert_ne!(history(1), history(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn trees_and_networks_of_balancers_count(
        plan in plans(), bursts in bursts(), most in counts(), seed in any::<u64>(),
    ) {
        let mut chaos = Chaos::of(plan, bursts[0].len(), seed).at_most(most);
        for asks in &bursts {
            prop_assert_eq!(chaos.run(asks), Ok(()));
        }
    }

    #[test]
    fn combining_trees_count(
        bursts in bursts(), wait in 0_u64..60, most in counts(), seed in any::<u64>(),
    ) {
        let clients = bursts[0].len();
        let shape = CombiningShape { clients, waiting: Waiting::Fixed(wait) };
        let plan = Plan::combining_tree(&shape).unwrap();
        let mut chaos = Chaos::of(plan, clients, seed).at_most(most);
        for asks in &bursts {
            prop_assert_eq!(chaos.run(asks), Ok(()));
        }
        prop_assert!(chaos.is_linearizable());
    }

    /// One role gives them out, so a client that asks for several gets them in a row.
    #[test]
    fn numbers_of_central_and_of_combining_trees_are_in_a_row(
        asks in prop::collection::vec(0_u32..6, 1..20),
        combines in any::<bool>(), most in counts(), seed in any::<u64>(),
    ) {
        let waiting = Waiting::Fixed(20);
        let plan = match combines {
            true => Plan::combining_tree(&CombiningShape { clients: asks.len(), waiting }).unwrap(),
            false => Plan::central(),
        };
        let mut chaos = Chaos::of(plan, asks.len(), seed).at_most(most);
        prop_assert_eq!(chaos.run(&asks), Ok(()));
        prop_assert!(chaos.is_linearizable());
        // Numbers of one request have the same start, which no other request has.
        let one = |calls: &[Call]| calls.windows(2).all(|two| number(&two[0]) + 1 == number(&two[1]));
        prop_assert!(chaos.calls.chunk_by(|a, b| a.started == b.started).all(one));
    }

    #[test]
    fn combining_trees_that_wait_for_ever_count_while_all_ask_equally_often(
        clients in 1_usize..40, rounds in 1_u32..6, seed in any::<u64>(),
    ) {
        let shape = CombiningShape { clients, waiting: Waiting::ForEver };
        let plan = Plan::combining_tree(&shape).unwrap();
        let nodes = plan.len() as u64;
        let mut chaos = Chaos::of(plan, clients, seed);
        prop_assert_eq!(chaos.run(&vec![rounds; clients]), Ok(()));
        // All requests combine: each node but the root asks once a round, and is answered.
        let expected = 2 * (clients as u64 + nodes - 1) * u64::from(rounds);
        prop_assert_eq!(chaos.network.total(), expected);
    }
}

/// Returns whether any of some runs shows that a structure is not linearizable.
fn out_of_order(plan: &Plan) -> bool {
    (0..50).any(|seed| {
        let mut chaos = Chaos::of(plan.clone(), 8, seed);
        chaos.run(&[5; 8]).unwrap();
        !chaos.is_linearizable()
    })
}

/// Returns the number of messages until a client that is alone has `count` numbers.
fn messages_of_batch(plan: &Plan, count: u64) -> u64 {
    let (mut random, mut post) = (SplitMix64::from_state(count), Post::new());
    let mut roles = plan.roles().to_vec();
    let (to, message) = plan.ask_many(0, count, &mut random);
    post.send(to, message);
    let (mut messages, mut numbers, mut rings) = (0, Vec::new(), Vec::new());
    loop {
        while let Some((to, message)) = post.next_message() {
            messages += 1;
            match (to, message) {
                (Address::Role(role), message) => {
                    roles[role as usize].on(Event::Message(message), 0, &mut post);
                    rings.extend(std::iter::from_fn(|| post.next_timer()).map(|ring| (role, ring)));
                }
                (_, Message::Numbers { first, count }) => {
                    numbers.extend((0..count).map(|index| first + index * plan.step()));
                }
                (to, message) => panic!("{to:?} got {message:?}"),
            }
        }
        let Some((role, (time, timer))) = rings.pop() else { break };
        roles[role as usize].on(Event::Timer(timer), time, &mut post);
    }
    // No other client has asked.
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..count), "{}, {count}", plan.name());
    messages
}

#[test]
fn numbers_that_are_asked_for_together_share_messages() {
    for log in 0..6_u32 {
        let width = 1_usize << log;
        let shape = DiffractingShape::new(width, Delay::fixed(10));
        let tree = Plan::diffracting_tree(&shape).unwrap();
        let network = Plan::counting_network(width).unwrap();
        for count in 1..=200 {
            for plan in [&tree, &network] {
                let alone = count * u64::from(plan.longest_way());
                let messages = messages_of_batch(plan, count);
                assert!(messages <= alone, "{}[{width}], {count}: {messages}", plan.name());
            }
            // The root is asked for all, its children for half, and so on; each dispenser answers.
            if count.is_multiple_of(width as u64) {
                assert_eq!(messages_of_batch(&tree, count), 3 * width as u64 - 1);
            }
        }
        assert_eq!(messages_of_batch(&Plan::central(), 1_000_000), 2);
    }
}

#[test]
fn as_many_numbers_as_there_are_can_be_asked_for() {
    let waiting = Waiting::Fixed(10);
    let shape = CombiningShape { clients: 3, waiting };
    let mut chaos = [
        Plan::central(),
        Plan::combining_tree(&shape).unwrap(),
        Plan::diffracting_tree(&DiffractingShape::new(8, Delay::fixed(10))).unwrap(),
        Plan::counting_network(4).unwrap(),
    ]
    .map(|plan| {
        let clients = threads::counter(plan, 3, 2).unwrap();
        thread::scope(|scope| {
            let ask = |(mut client, count): (threads::Client, u64)| {
                scope.spawn(move || (client.next_many(count), client))
            };
            // 2^64 numbers in all: their sum is 0 in 64 bits.
            let counts = [1 << 63, 1 << 62, 1 << 62];
            let threads: Vec<_> = clients.into_iter().zip(counts).map(ask).collect();
            let drawn = threads.into_iter().map(|thread| thread.join().unwrap());
            let (numbers, clients): (Vec<_>, Vec<_>) = drawn.unzip();
            assert_eq!(numbers.iter().map(Numbers::len).collect::<Vec<_>>(), counts);
            clients
        })
    });
    // Then they begin again, wherever the next one asks.
    for clients in &mut chaos {
        let mut again: Vec<u64> = (0..8).map(|turn| clients[turn % 3].next()).collect();
        again.sort_unstable();
        assert_eq!(again, Vec::from_iter(0..8));
    }
}

#[test]
fn one_dispenser_is_linearizable_and_many_are_not() {
    let shape = DiffractingShape::new(4, Delay::adaptive(20, 100));
    assert!(!out_of_order(&Plan::central()));
    assert!(out_of_order(&Plan::diffracting_tree(&shape).unwrap()));
    assert!(out_of_order(&Plan::counting_network(4).unwrap()));
}

#[test]
fn a_combining_tree_that_waits_for_ever_hangs_when_one_client_stops() {
    let shape = CombiningShape { clients: 8, waiting: Waiting::ForEver };
    let mut chaos = Chaos::of(Plan::combining_tree(&shape).unwrap(), 8, 1);
    let error = chaos.run(&[1, 1, 1, 0, 1, 1, 1, 1]).unwrap_err();
    assert_eq!(error, "client 0 is never answered");
    // The clients below the other child of the root have their numbers.
    assert_eq!(chaos.got.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 0, 0, 1, 1, 1, 1]);
}

/// Returns the number of messages for all numbers.
fn messages(plan: Plan, asks: &[u32]) -> u64 {
    let mut chaos = Chaos::of(plan, asks.len(), 1).patient();
    chaos.run(asks).unwrap();
    chaos.network.total()
}

#[test]
fn a_number_takes_as_many_messages_as_the_paper_says() {
    let tree = |width: usize, delay| {
        let prisms = Prisms::Sizes(vec![1; width.ilog2() as usize]);
        Plan::diffracting_tree(&DiffractingShape { prisms, ..DiffractingShape::new(width, delay) })
            .unwrap()
    };
    for log in 0..7_u32 {
        let (width, depth) = (1_usize << log, u64::from(log));
        // One client alone: every balancer takes two messages.
        for delay in [Delay::fixed(0), Delay::fixed(50), Delay::adaptive(8, 100)] {
            assert_eq!(messages(tree(width, delay), &[20]), 20 * (2 * depth + 2));
        }
        // As many clients as leaves, which wait as long as it takes: every balancer takes one
        // message.
        let clients = vec![1; width];
        let all = messages(tree(width, Delay::fixed(1_000_000)), &clients);
        assert_eq!(all, width as u64 * (depth + 2));

        let network = Plan::counting_network(width).unwrap();
        assert_eq!(messages(network, &[3; 9]), 27 * (depth * (depth + 1) / 2 + 2));
    }
    assert_eq!(tree(16, Delay::fixed(0)).longest_way(), 10);
    assert_eq!(Plan::counting_network(32).unwrap().longest_way(), 17);
    assert_eq!(Plan::central().longest_way(), 2);
}

#[test]
fn traffic_is_what_is_sent() {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let shape = DiffractingShape::new(8, Delay::fixed(5));
    let forever = CombiningShape { clients: 11, waiting: Waiting::ForEver };
    let plans = [
        // Half of the tokens go by way of each toggle.
        (Plan::diffracting_tree(&shape).unwrap(), 11.0 * (2.0 + 3.0 * 1.5)),
        (Plan::counting_network(8).unwrap(), 11.0 * 8.0),
        (Plan::central(), 22.0),
        (Plan::combining_tree(&forever).unwrap(), 2.0 * (11.0 + 6.0 + 3.0 + 2.0)),
    ];
    for (plan, expected) in plans {
        let traffic = plan.traffic(11);
        let total: f64 = traffic.iter().map(|traffic| traffic.messages).sum();
        assert!(close(total, expected), "{}: {total}", plan.name());
        for number in 0..plan.len() as u32 {
            let address = throng_messages::Address::Role(number);
            let sum = |of: fn(&throng_messages::Traffic) -> throng_messages::Address| {
                let with = traffic.iter().filter(|traffic| of(traffic) == address);
                with.map(|traffic| traffic.messages).sum::<f64>()
            };
            let (out, into) = (sum(|t| t.from), sum(|t| t.to));
            assert!(into > 0.0 && close(out, into), "{} {number}: {into} {out}", plan.name());
            let load = plan.loads(11)[number as usize];
            assert!(close(load, into + out), "{} {number}: {load}", plan.name());
        }
    }
    let plan = Plan::combining_tree(&forever).unwrap();
    assert_eq!(plan.traffic(2).len(), 2 * (2 + 3), "only messages on the paths of the callers");
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let tree = |width, delay| Plan::diffracting_tree(&DiffractingShape::new(width, delay));
    let error = |plan: Result<Plan, throng::ShapeError>| plan.unwrap_err().to_string();
    for width in [0, 3, 8192, usize::MAX] {
        let expected = format!("width {width}: must be a power of two from 1 to 4096");
        assert_eq!(error(tree(width, Delay::fixed(0))), expected);
        assert_eq!(error(Plan::counting_network(width)), expected);
    }
    assert_eq!(
        error(tree(8, Delay { first: vec![1, 2], ..Delay::adaptive(0, 9) })),
        "number of first delays 2: must be 1, or 3: one for each level of the tree"
    );
    assert_eq!(error(tree(8, Delay::adaptive(10, 9))), "first delay 10: must be from 0 to 9");
    assert_eq!(
        error(tree(8, Delay { least: 10, ..Delay::adaptive(9, 9) })),
        "least delay 10: must be at most 9, the most"
    );
    let prisms = Prisms::Sizes(vec![1]);
    let shape = DiffractingShape { prisms, ..DiffractingShape::new(8, Delay::fixed(0)) };
    assert_eq!(
        error(Plan::diffracting_tree(&shape)),
        "number of prism sizes 1: must be 3, one for each level of the tree"
    );
    let shape = CombiningShape { clients: 0, waiting: Waiting::ForEver };
    assert_eq!(error(Plan::combining_tree(&shape)), "clients 0: must be from 1 to 131072");
}
