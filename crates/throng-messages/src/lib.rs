//! Counters and barriers for processors that share nothing but messages (DT96, section 4).
//!
//! Everything here is a state machine without input or output: no sockets, no threads, no clock. A
//! [`Plan`] describes a counter as a set of [`Role`]s, each with a number. A *host* runs the roles
//! on threads, nodes of a simulated network or MPI ranks, carries [`Message`]s between them, and
//! passes the time to them:
//!
//! ```
//! use throng_messages::{Address, Event, Message, Plan, Post};
//! use throng::machine::SplitMix64;
//!
//! // The smallest host: one client asks once, nothing takes time.
//! let plan = Plan::central();
//! let (to, message) = plan.ask(0, &mut SplitMix64::from_state(1));
//! let mut roles = plan.into_roles();
//! let mut post = Post::new();
//! post.send(to, message);
//! let mut answers = Vec::new();
//! while let Some((to, message)) = post.next_message() {
//!     match to {
//!         Address::Role(number) => roles[number as usize].on(Event::Message(message), 0, &mut post),
//!         Address::Client(_) => answers.push(message),
//!     }
//! }
//! assert_eq!(answers, [Message::Numbers { first: 0, count: 1 }]);
//! ```
//!
//! # The structures
//!
//! | structure | messages a number | |
//! |---|---|---|
//! | [`Plan::central`] | 2 | all go to one node |
//! | [`Plan::diffracting_tree`] | log2 w + 2 to 2 log2 w + 2 | no hot spot; fewer messages under high load |
//! | [`Plan::combining_tree`] | less than 4, if all meet, to 2 log2 n | few messages, mostly between neighbours |
//! | [`Plan::counting_network`] | log2 w (log2 w + 1) / 2 + 2 | no hot spot; the same number at any load |
//!
//! Several numbers at a time take fewer messages: [`Plan::ask_many`].
//!
//! Here w is the width of the structure, n the number of clients. [`BarrierKind`] has the barriers, and
//! [`threads`] is a host; `examples/threads.rs` uses both.
//!
//! # Requirements on a host
//!
//! - Every message arrives, once, after any time. Messages from one sender to one receiver arrive
//!   in the order in which they were sent; no other order is promised. (No present structure needs
//!   even that.)
//! - A timer rings at its time or later. It may ring more than once, and after it has become
//!   obsolete: roles know which rings to ignore.
//! - Time never goes back as seen by one role. Its unit is the host's: cycles, nanoseconds.
//! - A role handles one event at a time.

#![forbid(unsafe_code)]

mod balancer;
pub mod barrier;
mod central;
pub mod combining_tree;
pub mod counting_network;
pub mod diffracting_tree;
mod message;
mod numbers;
mod plan;
mod post;
mod role;
pub mod threads;
mod traffic;
mod wire;

pub use balancer::Toggle;
pub use barrier::{BarrierKind, Member};
pub use central::Dispenser;
pub use combining_tree::{Combiner, CombiningShape, Waiting};
pub use diffracting_tree::{Delay, DiffractingShape, Prism};
pub use message::{Address, Event, Message, Time, Timer};
pub use numbers::Numbers;
pub use plan::Plan;
pub use post::Post;
pub use role::Role;
pub use traffic::Traffic;

/// The README's code, compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;
