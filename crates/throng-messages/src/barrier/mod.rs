//! Barriers of messages: no member continues before all have come.
//!
//! A barrier has no roles, only members, numbered from 0, whose addresses are [`Address::Client`].
//! Each is a state machine. Its host calls [`Member::arrive`] when the member comes, hands it every
//! message for it by [`Member::on`], and lets it continue when [`Member::passed`] has grown.
//!
//! | kind | messages a round | one after another | |
//! |---|---|---|---|
//! | [`BarrierKind::Dissemination`] | n log2 n | log2 n | all members are alike; fastest where messages do not disturb each other |
//! | [`BarrierKind::Tree`] | 2 (n - 1) | 2 log n, of base f | few messages; neighbours in the tree can be neighbours in the network |
//!
//! A member needs to be served only between its arrival and its passing. Messages that come earlier
//! may stay in the host's mailbox until then, and after passing no other member waits for it.
//!
//! # What is promised
//!
//! When a member passes round r, all members have arrived in round r. This holds if messages of
//! different senders overtake each other, however late they are. A member that is ahead by one
//! round does no harm, and none can be ahead by two. If a member or a message is lost, no member
//! passes that round.

mod dissemination;
mod tree;

pub use dissemination::Dissemination;
pub use tree::Tree;

use crate::message::{Address, Message};
use crate::post::Post;
use throng::ShapeError;

/// The largest number of members.
const MAX_MEMBERS: usize = 1 << 20;

/// How members learn that all have come.
///
/// ```
/// use throng_messages::{Address, BarrierKind, Post};
///
/// let mut members = BarrierKind::Tree { fan_in: 2 }.members(5)?;
/// let mut post = Post::new();
/// // All but one arrive.
/// members[1..].iter_mut().for_each(|member| member.arrive(&mut post));
/// let mut carry = |members: &mut [throng_messages::Member], post: &mut Post| {
///     while let Some((Address::Client(to), message)) = post.next_message() {
///         members[to as usize].on(message, post);
///     }
/// };
/// carry(&mut members, &mut post);
/// assert!(members.iter().all(|member| member.passed() == 0));
///
/// members[0].arrive(&mut post);
/// carry(&mut members, &mut post);
/// assert!(members.iter().all(|member| member.passed() == 1));
/// # Ok::<(), throng::ShapeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// In step k, each member signals the member 2^k after it.
    Dissemination,
    /// Each member signals to its parent that it and all members below it have come, and is
    /// released by it when all have.
    Tree {
        /// The largest number of children of a member.
        fan_in: u32,
    },
}

impl BarrierKind {
    /// Returns a short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BarrierKind::Dissemination => "dissemination",
            BarrierKind::Tree { .. } => "tree",
        }
    }

    /// Returns the member `rank` of `members`.
    ///
    /// # Errors
    /// If there are no members or more than 2^20, no member of that rank, or a tree without a
    /// fan-in.
    pub fn member(self, rank: u32, members: u32) -> Result<Member, ShapeError> {
        ShapeError::check_range("members", members as usize, 1..=MAX_MEMBERS)?;
        ShapeError::check_range("rank", rank as usize, 0..=members as usize - 1)?;
        match self {
            BarrierKind::Dissemination => {
                Ok(Member::Dissemination(Dissemination::new(rank, members)))
            }
            BarrierKind::Tree { fan_in } => {
                ShapeError::check_range("fan-in", fan_in as usize, 1..=MAX_MEMBERS)?;
                Ok(Member::Tree(Tree::new(rank, members, fan_in)))
            }
        }
    }

    /// Returns all members.
    ///
    /// # Errors
    /// If there are none or more than 2^20, or for a tree without a fan-in.
    pub fn members(self, members: u32) -> Result<Vec<Member>, ShapeError> {
        // For 0 members, `member` returns the error.
        (0..members.max(1)).map(|rank| self.member(rank, members)).collect()
    }

    /// Returns the number of messages of a round.
    #[must_use]
    pub fn messages(self, members: u32) -> u64 {
        match self {
            BarrierKind::Dissemination => {
                u64::from(members) * u64::from(dissemination::steps(members))
            }
            BarrierKind::Tree { .. } => 2 * u64::from(members.saturating_sub(1)),
        }
    }
}

/// A member of a barrier, of any kind.
#[derive(Clone, Debug)]
pub enum Member {
    /// Of a [`BarrierKind::Dissemination`].
    Dissemination(Dissemination),
    /// Of a [`BarrierKind::Tree`].
    Tree(Tree),
}

impl Member {
    /// Makes the member come to the barrier.
    ///
    /// # Panics
    /// If it has come already and has not passed yet.
    pub fn arrive(&mut self, post: &mut Post) {
        match self {
            Member::Dissemination(member) => member.arrive(post),
            Member::Tree(member) => member.arrive(post),
        }
    }

    /// Handles a message. Messages that are not for barriers are ignored.
    pub fn on(&mut self, message: Message, post: &mut Post) {
        match self {
            Member::Dissemination(member) => member.on(message, post),
            Member::Tree(member) => member.on(message, post),
        }
    }

    /// Returns the number of rounds that the member has passed.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.rounds().passed
    }

    /// Returns whether the member has come and has not passed yet.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.rounds().waits()
    }

    /// Returns the members whose messages this one waits for in a round. Along these, from member
    /// to member, each depends on all others.
    #[must_use]
    pub fn waits_for(&self) -> Vec<u32> {
        match self {
            Member::Dissemination(member) => member.waits_for(),
            Member::Tree(member) => member.waits_for(),
        }
    }

    fn rounds(&self) -> &Rounds {
        match self {
            Member::Dissemination(member) => &member.rounds,
            Member::Tree(member) => &member.rounds,
        }
    }
}

/// The rounds of one member. It has arrived as often as it has passed, or once more.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    arrived: u64,
    passed: u64,
}

impl Rounds {
    fn arrive(&mut self) {
        assert!(!self.waits(), "the member has come already");
        self.arrived += 1;
    }

    fn waits(&self) -> bool {
        self.arrived > self.passed
    }
}

fn tell(rank: u32, message: Message, post: &mut Post) {
    post.send(Address::Client(rank), message);
}
