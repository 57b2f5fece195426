//! Messages and addresses.

/// A sender and receiver of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Address {
    /// A role of the structure, by its number in the [`Plan`](crate::Plan).
    Role(u32),
    /// A user of the structure: it asks for numbers, or is a member of a barrier.
    Client(u32),
}

/// A message. It is small, and the same for all structures, so that a host carries only one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// `asker` wants `count` numbers. In a tree or network of balancers these are `count` tokens
    /// that travel together, and carry the asker's address all the way. A combining node asks in
    /// its own name.
    Ask {
        /// The receiver of the answer.
        asker: Address,
        /// The count of numbers.
        count: u64,
    },
    /// An answer: `count` numbers from `first` on, a [step](crate::Plan::step) apart. A request is
    /// answered by one such message or several, whose counts add up to its own.
    Numbers {
        /// The first of them.
        first: u64,
        /// The count of numbers.
        count: u64,
    },
    /// A member of a barrier has arrived, and so have all for which it signals. `step` says which
    /// wait of its receiver this ends.
    Arrived {
        /// The step of the barrier's round.
        step: u32,
    },
    /// All members have arrived.
    Released,
}

/// A time, in the host's unit.
pub type Time = u64;

/// Identifies one of a role's timers. Only the role knows its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timer(pub u64);

/// An event of a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message has arrived.
    Message(Message),
    /// A timer that the role had set rings.
    Timer(Timer),
}
