//! The error of a run on a network.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

use throng::ShapeError;
use throng_messages::{Address, Message};

use super::NODES_MAX;

/// The error of a network, a placement or a run that is not possible, or of a run that failed. It
/// names what is wrong and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// A setting is outside its range.
    OutOfRange {
        /// The name of the setting.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What is allowed.
        allowed: RangeInclusive<u64>,
    },
    /// A butterfly has a power of two nodes, at least two.
    NotAPowerOfTwo {
        /// The number of nodes.
        nodes: usize,
    },
    /// There is no such barrier.
    Shape(ShapeError),
    /// A message in a fat tree passes two ports: it cannot be faster than they are.
    FasterThanPorts {
        /// The name of the latency.
        what: &'static str,
        /// Its value.
        latency: u64,
        /// The time that a message takes at both ports.
        ports: u64,
    },
    /// A node has room for one role of the structure and for one client.
    DoesNotFit {
        /// The kind of which there are too many: `roles` or `clients`.
        what: &'static str,
        /// The number of them.
        count: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// Two roles, or two clients, are on one node.
    Shared {
        /// The second of them.
        who: Address,
        /// The node.
        node: usize,
    },
    /// A role or client is on a node that does not exist.
    NoSuchNode {
        /// The role or client.
        who: Address,
        /// The number of that node.
        node: usize,
        /// The number of nodes.
        nodes: usize,
    },
    /// The placement was made for another plan, or for other clients.
    NotPlaced {
        /// The role or client that has no node.
        who: Address,
    },
    /// A role sent a message to a role or client that does not exist, or that does not expect such
    /// a message.
    Unexpected {
        /// The receiver.
        to: Address,
        /// The message.
        message: Message,
    },
    /// No event will ever happen again, and not all is done. The structure waits for a participant
    /// that does not come.
    Stuck {
        /// The amount of work done.
        done: u64,
        /// The amount of work requested.
        wanted: u64,
        /// The time of the last event.
        at: u64,
    },
    /// A number was given out twice, or is too large to be right.
    Wrong {
        /// The number.
        number: u64,
        /// The count of numbers given out or asked for.
        asked: u64,
        /// Whether it had been given out before.
        again: bool,
    },
    /// A member of a barrier left before another had come.
    TooEarly {
        /// The member that left.
        member: u32,
        /// The round in which it left.
        round: u64,
    },
}

impl NetworkError {
    /// Checks that `value` is within `allowed`.
    pub(super) fn check(
        what: &'static str,
        value: u64,
        allowed: RangeInclusive<u64>,
    ) -> Result<(), Self> {
        if allowed.contains(&value) {
            Ok(())
        } else {
            Err(NetworkError::OutOfRange { what, value, allowed })
        }
    }

    /// Checks the sizes of a run: the number of participants, their longest idle time, and the
    /// number of repetitions.
    pub(super) fn check_run(
        who: &'static str,
        many: u32,
        work: u64,
        what: &'static str,
        times: u64,
    ) -> Result<(), Self> {
        /// Far more than any run needs, and no time overflows.
        const MOST: u64 = 1 << 40;
        Self::check(who, many.into(), 1..=NODES_MAX as u64)?;
        Self::check("work", work, 0..=MOST)?;
        Self::check(what, times, 1..=MOST)
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::OutOfRange { what, value, allowed } => {
                let (least, most) = (allowed.start(), allowed.end());
                write!(f, "{what} {value}: must be from {least} to {most}")
            }
            NetworkError::NotAPowerOfTwo { nodes } => {
                write!(f, "nodes {nodes}: a butterfly has 2, 4, 8, ... nodes, a power of two")
            }
            NetworkError::Shape(error) => error.fmt(f),
            NetworkError::FasterThanPorts { what, latency, ports } => write!(
                f,
                "{what} {latency}: must be at least {ports}, which is the time at the sender's \
                 and the receiver's ports"
            ),
            NetworkError::DoesNotFit { what, count, nodes } => write!(
                f,
                "{count} {what} on {nodes} nodes: a node has room for one role of the structure \
                 and one client, so at most {nodes} {what} fit"
            ),
            NetworkError::Shared { who, node } => write!(
                f,
                "{who:?} on node {node}: it is occupied, and a node has room for one \
                 role of the structure and one client"
            ),
            NetworkError::NoSuchNode { who, node, nodes } => {
                write!(f, "{who:?} on node {node}: must be from 0 to {}", nodes - 1)
            }
            NetworkError::NotPlaced { who } => write!(
                f,
                "{who:?} has no node: make the placement for the plan and the clients of the run"
            ),
            NetworkError::Unexpected { to, message } => write!(
                f,
                "{to:?} does not expect {message:?}: the plan must be for this number of \
                 clients, and a client gets nothing but the numbers that it asked for"
            ),
            NetworkError::Stuck { done, wanted, at } => write!(
                f,
                "after {done} of {wanted}, at time {at}, nothing is on its way: the structure \
                 waits for a participant that does not come"
            ),
            NetworkError::Wrong { number, again: true, .. } => {
                write!(f, "the number {number} was given out twice: the structure is wrong")
            }
            NetworkError::Wrong { number, asked, again: false } => write!(
                f,
                "the number {number} was given out when only {asked} had been asked for: the \
                 structure is wrong"
            ),
            NetworkError::TooEarly { member, round } => write!(
                f,
                "member {member} left round {round} before all had come: the barrier is wrong"
            ),
        }
    }
}

impl Error for NetworkError {}
