//! Shared counters: every call gets the next number, and no two calls the same.
//!
//! A counter hands out 0, 1, 2, ... each exactly once; when no call is in progress, the numbers
//! handed out are exactly 0..m-1. What differs is how the callers keep out of each other's way:
//!
//! | method | idea | consistency | progress |
//! |---|---|---|---|
//! | [`Counter`] | the default: one `fetch_add` when alone, groups in a crowd | linearizable | wait-free alone, else blocking |
//! | [`Hardware`] | one `fetch_add` | linearizable | wait-free |
//! | [`Locked`] | a number under a lock, of two kinds | linearizable | blocking |
//! | [`CombiningTree`] | callers that meet on the way up a tree go on as one | linearizable | blocking |
//! | [`CountingNetwork`] | a bitonic network of toggles, of two kinds | quiescent | by its [`Number`]s |
//! | [`DiffractingTree`] | a tree of toggles that callers pass in pairs | quiescent | by its [balancer](diffracting) |
//! | [`ReactiveTree`] | such a tree, which grows and shrinks with the crowd | quiescent | blocking |
//! | [`SelfTuning`] | such a tree that finds its own depth | quiescent | blocking |
//! | [`Funnel`] | one caller fetches numbers for all who wait | linearizable | blocking |
//! | [`Gathering`] | the same in groups of callers that are close, and groups of groups | linearizable | blocking |
//!
//! *Linearizable*: a call that starts after another has returned gets a larger number.
//! *Quiescently consistent*: it may get a smaller one, but only while calls are in progress; at
//! rest nothing is missing.
//!
//! A linearizable counter also orders memory: what a thread did before the call that got n is visible
//! to whoever gets a larger number. A quiescently consistent one orders nothing.
//!
//! Numbers have 64 bits ([`Funnel`], [`Gathering`]: 63): enough for centuries of a billion calls a second.
//!
//! Every method implements [`Counting`], has a plain `next()` for real threads, and is listed in
//! [`methods`].

mod combining_tree;
mod counting_network;
mod default;
pub mod diffracting;
mod funnel;
pub mod gathering;
mod hardware;
mod locked;
mod method;
pub mod reactive;
pub mod self_tuning;

pub use combining_tree::CombiningTree;
pub use counting_network::{AtomicNumber, CountingNetwork, End, LockedNumber, Number, Wiring};
pub use default::{Builder, Counter, Policy, Stats};
pub use diffracting::DiffractingTree;
pub use funnel::{Funnel, FunnelShape};
pub use gathering::Gathering;
pub use hardware::Hardware;
pub use locked::Locked;
pub(crate) use method::MAX_DEPTH;
pub use method::{About, Consistency, Method, Progress, Registered, Shape, methods};
pub use reactive::ReactiveTree;
pub use self_tuning::SelfTuning;

pub use crate::ShapeError;
use crate::machine::{Machine, Native};

/// A shared counter on machine `M`.
///
/// ```
/// use throng::counter::{Counting, Hardware};
/// use throng::machine::Native;
///
/// let counter = Hardware::new();
/// let mut values = [0; 3];
/// counter.fill_on(&Native::cpu(), &mut values);
/// assert_eq!(values, [0, 1, 2]);
/// ```
pub trait Counting<M: Machine = Native>: Send + Sync {
    /// The next number, on processor `cpu`.
    fn next_on(&self, cpu: &M::Cpu) -> u64;

    /// Fills `values`, one call of [`next_on`](Counting::next_on) each: many calls behind one
    /// dynamic dispatch.
    fn fill_on(&self, cpu: &M::Cpu, values: &mut [u64]) {
        for value in values {
            *value = self.next_on(cpu);
        }
    }
}

impl<M: Machine, C: Counting<M> + ?Sized> Counting<M> for Box<C> {
    fn next_on(&self, cpu: &M::Cpu) -> u64 {
        (**self).next_on(cpu)
    }

    fn fill_on(&self, cpu: &M::Cpu, values: &mut [u64]) {
        (**self).fill_on(cpu, values);
    }
}
