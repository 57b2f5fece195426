//! Barriers are correct, whatever the host does.

use crate::host::Network;
use proptest::prelude::*;
use throng::machine::SplitMix64;
use throng_messages::{Address, BarrierKind, Member, Message, Post};

/// A member of a barrier, or a broken one.
pub(crate) trait Meets {
    fn arrive(&mut self, post: &mut Post);
    fn on(&mut self, message: Message, post: &mut Post);
    fn passed(&self) -> u64;
}

impl Meets for Member {
    fn arrive(&mut self, post: &mut Post) {
        Member::arrive(self, post);
    }
    fn on(&mut self, message: Message, post: &mut Post) {
        Member::on(self, message, post);
    }
    fn passed(&self) -> u64 {
        Member::passed(self)
    }
}

/// Members meet for some rounds, each at its own speed. Checks that no member leaves before all
/// have arrived, and that all do leave. Returns the number of messages sent.
pub(crate) fn meet(mut members: Vec<impl Meets>, rounds: u64, seed: u64) -> Result<u64, String> {
    let mut random = SplitMix64::from_state(seed);
    let mut network = Network::new(&mut random);
    let mut post = Post::new();
    let mut arrived = vec![0; members.len()];
    let slow = random.below(members.len() as u64) as usize;
    for _ in 0..1_000_000 {
        let mut rank = random.below(members.len() as u64) as usize;
        if arrived[rank] < rounds
            && arrived[rank] == members[rank].passed()
            && (rank != slow || random.below(20) == 0)
        {
            arrived[rank] += 1;
            members[rank].arrive(&mut post);
        } else if let Some((Address::Client(to), message)) = network.deliver(&mut random) {
            rank = to as usize;
            members[rank].on(message, &mut post);
        } else if arrived.iter().all(|&arrived| arrived == rounds) {
            if members.iter().any(|member| member.passed() != rounds) {
                return Err("a member never leaves".to_string());
            }
            return Ok(network.total());
        }
        while let Some((to, message)) = post.next_message() {
            network.send(Address::Client(rank as u32), to, message);
        }
        let passed = members[rank].passed();
        if let Some(late) = arrived.iter().position(|&arrived| arrived < passed) {
            return Err(format!("member {rank} left round {passed} before {late} came"));
        }
    }
    Err("a member never arrives".to_string())
}

fn kinds() -> impl Strategy<Value = BarrierKind> {
    prop_oneof![
        Just(BarrierKind::Dissemination),
        (1_u32..6).prop_map(|fan_in| BarrierKind::Tree { fan_in }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn no_member_leaves_before_all_have_come(
        kind in kinds(), members in 1_u32..40, rounds in 0_u64..6, seed in any::<u64>(),
    ) {
        let sent = meet(kind.members(members).unwrap(), rounds, seed);
        prop_assert_eq!(sent, Ok(rounds * kind.messages(members)));
    }
}

#[test]
fn shapes_that_cannot_be_are_refused() {
    let error = |kind: BarrierKind, members| kind.members(members).unwrap_err().to_string();
    let tree = |fan_in| BarrierKind::Tree { fan_in };
    for kind in [BarrierKind::Dissemination, tree(2)] {
        assert_eq!(error(kind, 0), "members 0: must be from 1 to 1048576");
        assert_eq!(error(kind, u32::MAX), "members 4294967295: must be from 1 to 1048576");
        let outside = kind.member(3, 3).unwrap_err().to_string();
        assert_eq!(outside, "rank 3: must be from 0 to 2");
    }
    assert_eq!(error(tree(0), 4), "fan-in 0: must be from 1 to 1048576");
}

#[test]
#[should_panic(expected = "the member has come already")]
fn coming_twice_is_a_mistake() {
    let mut member = BarrierKind::Dissemination.member(0, 2).unwrap();
    member.arrive(&mut Post::new());
    member.arrive(&mut Post::new());
}

#[test]
fn members_ignore_what_is_not_for_them() {
    for kind in [BarrierKind::Dissemination, BarrierKind::Tree { fan_in: 2 }] {
        let (mut member, mut post) = (kind.member(0, 2).unwrap(), Post::new());
        for message in [
            Message::Numbers { first: 0, count: 1 },
            Message::Ask { asker: Address::Client(1), count: 1 },
            Message::Arrived { step: 7 },
            Message::Released,
        ] {
            member.on(message, &mut post);
        }
        assert!(post.next_message().is_none() && !member.waits() && member.passed() == 0);
    }
}
