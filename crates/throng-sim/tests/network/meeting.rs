//! Members of a barrier, cycle by cycle.

use crate::one_of_each;
use throng_messages::BarrierKind::{Dissemination, Tree};
use throng_sim::network::{MeetingRun, Met, NetworkError, NetworkSpec, Placement, Round};

fn meet(
    network: NetworkSpec,
    kind: throng_messages::BarrierKind,
    members: u32,
    work: u64,
    rounds: u64,
) -> Result<Met, NetworkError> {
    let placement = Placement::of_clients(&network, members)?;
    MeetingRun { network, kind, placement, members, work, rounds, seed: 1 }.run()
}

fn rounds(all: &[(u64, u64)]) -> Vec<Round> {
    all.iter().map(|&(complete_at, over_at)| Round { complete_at, over_at }).collect()
}

#[test]
fn two_members_tell_each_other() {
    // They know at 3, come again at once, and know at 6.
    let met = meet(NetworkSpec::crossbar(2), Dissemination, 2, 0, 3).unwrap();
    assert_eq!(met.rounds, rounds(&[(0, 3), (3, 6), (6, 9)]));
    assert_eq!((met.cycles, met.mean_latency, met.carried.messages), (9, 3.0, 6));
}

#[test]
fn three_members_of_a_tree() {
    // Both children tell the root; the second message is there at 4. The root releases one after the
    // other: at 7 and at 8. The first is back before the second has left: the second round is complete
    // at 8. The message of the first has been there since 10, that of the second comes at 11: they are
    // out at 14 and 15.
    let met = meet(NetworkSpec::crossbar(3), Tree { fan_in: 2 }, 3, 0, 2).unwrap();
    assert_eq!(met.rounds, rounds(&[(0, 8), (8, 15)]));
    assert_eq!(met.carried.messages, 8);
}

#[test]
fn a_member_alone_meets_itself() {
    let met = meet(NetworkSpec::crossbar(4), Dissemination, 1, 0, 5).unwrap();
    assert_eq!(met.rounds, rounds(&[(0, 0); 5]));
}

#[test]
fn nobody_leaves_early_in_any_network() {
    for network in one_of_each(64) {
        for kind in [Dissemination, Tree { fan_in: 2 }, Tree { fan_in: 4 }, Tree { fan_in: 63 }] {
            for members in [1, 2, 5, 33, 64] {
                for work in [0, 200] {
                    let met = meet(network, kind, members, work, 20).unwrap();
                    assert_eq!(met.rounds.len(), 20);
                    let sent = met.carried.messages + met.carried.local_messages;
                    assert_eq!(sent, 20 * kind.messages(members), "{network}, {kind:?}, {members}");
                }
            }
        }
    }
}

#[test]
fn a_barrier_that_cannot_be_is_refused() {
    let error = meet(NetworkSpec::crossbar(4), Tree { fan_in: 0 }, 3, 0, 1).unwrap_err();
    assert_eq!(error.to_string(), "fan-in 0: must be from 1 to 1048576");
    let error = meet(NetworkSpec::crossbar(4), Dissemination, 5, 0, 1).unwrap_err();
    assert!(error.to_string().starts_with("5 clients on 4 nodes"), "{error}");
    let error = meet(NetworkSpec::crossbar(4), Dissemination, 4, 0, 0).unwrap_err();
    assert_eq!(error.to_string(), "rounds 0: must be from 1 to 1099511627776");
}
