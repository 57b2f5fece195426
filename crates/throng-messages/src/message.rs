//! What is sent, and to whom.

/// Who sends and receives messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// A role of the structure, by its number in the [`Plan`](crate::Plan).
    Role(u32),
    /// Somebody who uses the structure: asks for numbers, or is a member of a barrier.
    Client(u32),
}

/// A message. Small, and the same for all structures, so that a host needs to carry one kind only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// `asker` wants `count` numbers. In a tree or network of balancers these are `count` tokens that
    /// travel together, and carry the asker's address all the way. A combining node asks in its own name.
    Ask {
        /// Whom to answer.
        asker: Address,
        /// How many numbers.
        count: u64,
    },
    /// An answer: `count` numbers from `first` on, a [step](crate::Plan::step) apart. A request is
    /// answered by one such message or several, whose counts add up to its own.
    Numbers {
        /// The first of them.
        first: u64,
        /// How many.
        count: u64,
    },
    /// A member of a barrier has arrived, and so have those it speaks for. Which of its receiver's
    /// waits this ends is told by `step`.
    Arrived {
        /// The step of the barrier's round.
        step: u32,
    },
    /// Everybody has arrived.
    Released,
}

/// Which of a role's timers rings. What it means is the role's own business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timer(pub u64);

/// What happens to a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message has arrived.
    Message(Message),
    /// A timer that the role had set rings.
    Timer(Timer),
}
