//! Shared counters: every call gets the next number, and no two calls the same.
//!
//! A counter hands out 0, 1, 2, ... each exactly once. When no call is in progress, the numbers
//! handed out are exactly 0..m-1. The methods differ in how they reduce contention between callers:
//!
//! | method | idea | consistency | progress |
//! |---|---|---|---|
//! | [`Counter`] | the default: one `fetch_add` under low contention, groups under high contention | linearizable | wait-free on one word, otherwise blocking |
//! | [`Hardware`] | one `fetch_add` | linearizable | wait-free |
//! | [`Locked`] | a number under a lock, of two kinds | linearizable | blocking |
//! | [`CombiningTree`] | callers that meet on the way up a tree combine | linearizable | blocking |
//! | [`LockedCombiningTree`] | the same with a lock in every node, as in DT96 | linearizable | blocking |
//! | [`CountingNetwork`] | a bitonic network of toggles, of two kinds | quiescent | by its [`Number`]s |
//! | [`DiffractingTree`] | a tree of toggles that callers pass in pairs | quiescent | by its [balancer](diffracting) |
//! | [`LockedLeaves`] | the same with a lock at every leaf, as in DT96 | quiescent | blocking |
//! | [`ReactiveTree`] | such a tree, which grows and shrinks with the load | quiescent | blocking |
//! | [`SelfTuning`] | such a tree that finds its own depth | quiescent | blocking |
//! | [`Funnel`] | one caller fetches numbers for all waiting callers | linearizable | blocking |
//! | [`Gathering`] | the same in groups of callers that are close, and groups of groups | linearizable | blocking |
//!
//! *Linearizable*: a call that starts after another has returned gets a larger number. *Quiescently
//! consistent*: it may get a smaller one, but only while calls are in progress; when none is, no
//! number is missing.
//!
//! A linearizable counter also orders memory: what a thread did before the call that got n is
//! visible to a thread that gets a larger number. A quiescently consistent counter orders nothing.
//!
//! Numbers have 64 bits ([`Funnel`]: 63): enough for centuries of a billion calls a second.
//!
//! Every method implements [`Counting`] and has a plain `next()` for real threads.

pub use crate::classic::counter::*;
pub use crate::counter::gathering::Gathering;
pub use crate::counter::generic::{Builder, Counter, Policy, Stats};

/// Groups of callers that are close, and groups of groups.
pub mod gathering {
    pub use crate::counter::gathering::*;
}

use self::diffracting::{
    Adaptive, LockedLeaves, Original, SecondChance, StarvationFree, Toggle, WaitFree,
};
use crate::lock::{BackoffLock, McsLock};
use crate::machine::Machine;

/// Returns every counting method.
///
/// A method in this list is checked on real threads, under loom, under shuttle and on the
/// simulator, measured by `throng bench counters` and shown by `throng list`.
///
/// ```
/// use throng::structures::counter::{Shape, methods};
/// use throng::machine::Native;
///
/// for method in methods::<Native>() {
///     let counter = method.build(&Shape::for_processors(4)).unwrap();
///     assert_eq!(counter.next_on(&Native::cpu()), 0, "{}", method.about.name);
/// }
/// ```
#[doc(hidden)]
#[must_use]
pub fn methods<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<Counter<M>>(),
        Registered::of::<Hardware<M>>(),
        Registered::of::<Locked<M, BackoffLock<M>>>(),
        Registered::of::<Locked<M, McsLock<M>>>(),
        Registered::of::<CombiningTree<M>>(),
        Registered::of::<LockedCombiningTree<M>>(),
        Registered::of::<CountingNetwork<M>>(),
        Registered::of::<CountingNetwork<M, LockedNumber<M>>>(),
        Registered::of::<DiffractingTree<M, Toggle<M>>>(),
        Registered::of::<DiffractingTree<M, Original<M>>>(),
        Registered::of::<DiffractingTree<M, Adaptive<M>>>(),
        Registered::of::<DiffractingTree<M, SecondChance<M>>>(),
        Registered::of::<DiffractingTree<M, StarvationFree<M>>>(),
        Registered::of::<DiffractingTree<M, WaitFree<M>>>(),
        Registered::of::<LockedLeaves<M>>(),
        Registered::of::<ReactiveTree<M>>(),
        Registered::of::<SelfTuning<M>>(),
        Registered::of::<SelfTuning<M, StarvationFree<M>>>(),
        Registered::of::<Funnel<M>>(),
        Registered::of::<Gathering<M>>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_can_be_typed() {
        let mut seen = HashSet::new();
        for method in methods::<Native>() {
            let About { name, summary, paper, .. } = method.about;
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            assert!(!summary.is_empty() && !paper.is_empty());
        }
    }
}
