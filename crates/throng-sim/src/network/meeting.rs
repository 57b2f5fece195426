//! Members of a barrier of messages that meet repeatedly.

use throng::machine::SplitMix64;
use throng_messages::{Address, BarrierKind, Member, Message, Post};

use super::carrier::Network;
use super::{Carried, NetworkError, NetworkSpec, Placement};

/// Members that come to a barrier, continue when all have come, idle for a random time, and come
/// again.
///
/// ```
/// use throng_messages::BarrierKind;
/// use throng_sim::network::{MeetingRun, NetworkSpec, Placement};
///
/// let (network, members) = (NetworkSpec::crossbar(64), 64);
/// let placement = Placement::of_clients(&network, members)?;
/// let kind = BarrierKind::Dissemination;
/// let run = MeetingRun { network, kind, placement, members, work: 0, rounds: 10, seed: 1 };
/// let met = run.run()?;
/// // Six steps of three cycles, and no message is in another's way.
/// assert_eq!(met.mean_latency, 18.0);
/// assert_eq!(met.carried.messages, 10 * kind.messages(members));
/// # Ok::<(), throng_sim::network::NetworkError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeetingRun {
    /// The network.
    pub network: NetworkSpec,
    /// The barrier.
    pub kind: BarrierKind,
    /// The nodes of the members.
    pub placement: Placement,
    /// The number of members.
    pub members: u32,
    /// The longest idle time of a member after each round, in cycles. Each is random, from 0 up.
    pub work: u64,
    /// The number of rounds.
    pub rounds: u64,
    /// The seed of the idle times.
    pub seed: u64,
}

/// A round of a barrier. No member left before all had come; otherwise there is no such report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The time when the last member came.
    pub complete_at: u64,
    /// The time when the last member left.
    pub over_at: u64,
}

/// The measurements of a run of meetings.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// The time when the last member left the last round.
    pub cycles: u64,
    /// The mean time of all rounds from the last arrival to the last departure.
    pub mean_latency: f64,
    /// All rounds.
    pub rounds: Vec<Round>,
    /// The counts of the network.
    pub carried: Carried,
}

impl MeetingRun {
    /// Runs the meetings. All members come for the first time at time 0.
    ///
    /// # Errors
    ///
    /// If the network, the barrier or the placement is not possible; if the barrier gets stuck, or
    /// a member leaves before all have come.
    pub fn run(self) -> Result<Met, NetworkError> {
        let mut host = Host::new(self)?;
        for member in 0..host.run.members {
            host.network.wake_at(0, Happening::Comes { member });
        }
        host.run()?;
        let latency = |round: &Round| round.over_at - round.complete_at;
        let latencies = host.rounds.iter().map(latency).sum::<u64>();
        Ok(Met {
            cycles: host.network.now(),
            mean_latency: latencies as f64 / host.rounds.len() as f64,
            carried: host.network.carried(),
            rounds: host.rounds,
        })
    }
}

/// An event that the network delivers.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Arrives { to: u32, message: Message },
    Comes { member: u32 },
}

struct Host {
    run: MeetingRun,
    network: Network<Happening>,
    members: Vec<Member>,
    random: SplitMix64,
    post: Post,
    /// For each round, the numbers of members that have come, and that have left.
    counts: Vec<(u32, u32)>,
    rounds: Vec<Round>,
    /// The number of rounds that all members have left.
    over: u64,
}

impl Host {
    fn new(run: MeetingRun) -> Result<Self, NetworkError> {
        NetworkError::check_run("members", run.members, run.work, "rounds", run.rounds)?;
        run.placement.check(&run.network, 0, run.members)?;
        Ok(Host {
            network: Network::new(run.network)?,
            members: run.kind.members(run.members).map_err(NetworkError::Shape)?,
            random: SplitMix64::from_state(SplitMix64::mix(run.seed)),
            post: Post::new(),
            counts: Vec::new(),
            rounds: Vec::new(),
            over: 0,
            run,
        })
    }

    fn run(&mut self) -> Result<(), NetworkError> {
        while self.over < self.run.rounds {
            match self.network.advance() {
                Some(Happening::Comes { member }) => {
                    self.come(self.members[member as usize].passed() as usize);
                    self.handle(member, None)?;
                }
                Some(Happening::Arrives { to, message }) => self.handle(to, Some(message))?,
                None => {
                    let (done, wanted) = (self.over, self.run.rounds);
                    return Err(NetworkError::Stuck { done, wanted, at: self.network.now() });
                }
            }
        }
        Ok(())
    }

    fn come(&mut self, round: usize) {
        if self.counts.len() == round {
            self.counts.push((0, 0));
            self.rounds.push(Round { complete_at: 0, over_at: 0 });
        }
        self.counts[round].0 += 1;
        self.rounds[round].complete_at = self.network.now();
    }

    /// Handles the arrival of a member, or of a message to it.
    fn handle(&mut self, number: u32, message: Option<Message>) -> Result<(), NetworkError> {
        let member = &mut self.members[number as usize];
        let before = member.passed();
        match message {
            Some(message) => member.on(message, &mut self.post),
            None => member.arrive(&mut self.post),
        }
        let after = member.passed();
        let from = self.node_of(number);
        while let Some((to, message)) = self.post.next_message() {
            match to {
                Address::Client(to) if to < self.run.members => {
                    let node = self.node_of(to);
                    self.network.send(from, node, Happening::Arrives { to, message });
                }
                _ => return Err(NetworkError::Unexpected { to, message }),
            }
        }
        if after > before { self.leave(number, before) } else { Ok(()) }
    }

    fn leave(&mut self, member: u32, round: u64) -> Result<(), NetworkError> {
        let (come, left) = &mut self.counts[round as usize];
        if *come < self.run.members {
            return Err(NetworkError::TooEarly { member, round });
        }
        *left += 1;
        self.over += u64::from(*left == self.run.members);
        self.rounds[round as usize].over_at = self.network.now();
        if round + 1 < self.run.rounds {
            let idle = self.random.below(self.run.work + 1);
            self.network.wake_at(self.network.now() + idle, Happening::Comes { member });
        }
        Ok(())
    }

    fn node_of(&self, member: u32) -> usize {
        // The placement was checked before the run.
        self.run.placement.node_of(Address::Client(member)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> Host {
        let network = NetworkSpec::crossbar(3);
        let placement = Placement::of_clients(&network, 3).unwrap();
        let kind = BarrierKind::Tree { fan_in: 2 };
        let run = MeetingRun { network, kind, placement, members: 3, work: 0, rounds: 1, seed: 1 };
        Host::new(run).unwrap()
    }

    #[test]
    fn a_member_that_leaves_before_all_have_come_is_found() {
        let mut host = host();
        host.network.wake_at(0, Happening::Comes { member: 0 });
        host.network.wake_at(0, Happening::Comes { member: 1 });
        // No member of a correct barrier sends this message.
        host.network.wake_at(0, Happening::Arrives { to: 1, message: Message::Released });
        host.network.wake_at(0, Happening::Comes { member: 2 });
        assert_eq!(host.run(), Err(NetworkError::TooEarly { member: 1, round: 0 }));
    }

    #[test]
    fn members_who_wait_for_one_who_does_not_come_are_stuck() {
        let mut host = host();
        host.network.wake_at(0, Happening::Comes { member: 0 });
        host.network.wake_at(0, Happening::Comes { member: 1 });
        assert_eq!(host.run(), Err(NetworkError::Stuck { done: 0, wanted: 1, at: 3 }));
    }
}
