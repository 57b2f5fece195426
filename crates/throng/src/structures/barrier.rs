//! Barriers: n members meet, round after round, and no member leaves a round before all have come
//! to it.
//!
//! | method | idea | critical path |
//! |---|---|---|
//! | [`Shaped`] | the default: the method that suits the machine and the number of members | |
//! | [`Grouped`] | groups that are close meet, read each other's words, and meet again | log of the group, and one step |
//! | [`Tally`] | one word that counts all arrivals | n |
//! | [`CountAndRelease`] | one word that counts arrivals, and one to wait at | n |
//! | [`Switching`] | another method while members spin, [`CountAndRelease`] while they sleep | |
//! | [`Central`] | one counter, one word to wait on | n |
//! | [`LockedCentral`] | the same under a lock, as in GV93 | n |
//! | [`CombiningTree`] | a tree of counters; the last to come to a node continues to the next | log n |
//! | [`LockedCombiningTree`] | the same under locks, as in GV93 | log n |
//! | [`Dissemination`] | in step k, member i signals member i + 2^k | log2 n |
//! | [`Tournament`] | a tree of pairs with fixed winners | log2 n |
//! | [`McsTree`] | a tree with a member at every node | log4 n |
//! | [`McsTreeBytes`] | the same, with the flags of a node as bytes of one word | log4 n |
//! | [`StaticFway`] | a tournament of groups of f with fixed winners | log_f n |
//! | [`DynamicFway`] | a tournament of groups of f that the last to come wins | log_f n |
//! | [`DynamicFwayBytes`] | the same, with the flags of a node as bytes of one word | log_f n |
//!
//! Every method implements [`Meeting`], in which members have ranks and rounds. Threads can use it
//! in two ways. A [`Member`] is a handle with a fixed rank, made by [`team`]. An [`Anonymous`]
//! barrier needs no handles: any n threads meet. [`Barrier`](crate::Barrier) is the default of both
//! kinds.

pub use crate::barrier::WaitResult;
pub use crate::barrier::anonymous::Anonymous;
pub use crate::barrier::count_and_release::CountAndRelease;
pub use crate::barrier::grouped::Grouped;
pub use crate::barrier::shaped::Shaped;
pub use crate::barrier::switching::Switching;
pub use crate::barrier::tally::Tally;
pub use crate::barrier::team::{Member, team};
pub use crate::classic::barrier::*;

use crate::machine::Machine;

/// Returns every barrier method.
///
/// A method in this list is checked on real threads, under loom, under shuttle and on the
/// simulator, measured by `throng bench barriers` and shown by `throng list`.
///
/// ```
/// use throng::structures::barrier::{Shape, methods};
/// use throng::machine::{Native, WayOut};
///
/// for method in methods::<Native>() {
///     let alone = method.build(&Shape::for_members(1)).unwrap();
///     for round in 0..3 {
///         assert!(alone.meet_on(&Native::cpu(), 0, round, &WayOut::none()).is_ok());
///     }
/// }
/// ```
#[doc(hidden)]
#[must_use]
pub fn methods<M: Machine>() -> Vec<Registered<M>> {
    vec![
        Registered::of::<Shaped<M>>(),
        Registered::of::<Grouped<M>>(),
        Registered::of::<Tally<M>>(),
        Registered::of::<CountAndRelease<M>>(),
        Registered::of::<Central<M>>(),
        Registered::of::<LockedCentral<M>>(),
        Registered::of::<CombiningTree<M>>(),
        Registered::of::<LockedCombiningTree<M>>(),
        Registered::of::<Dissemination<M>>(),
        Registered::of::<Tournament<M>>(),
        Registered::of::<McsTree<M>>(),
        Registered::of::<McsTreeBytes<M>>(),
        Registered::of::<StaticFway<M>>(),
        Registered::of::<DynamicFway<M>>(),
        Registered::of::<DynamicFwayBytes<M>>(),
        Registered::of::<DynamicFwayBytes<M, true>>(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Native, WayOut};
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_can_be_typed() {
        let mut seen = HashSet::new();
        for method in methods::<Native>() {
            let About { name, summary, paper } = method.about;
            assert!(seen.insert(name), "{name} is listed twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            assert!(!summary.is_empty() && !paper.is_empty());
        }
    }

    #[test]
    fn what_cannot_be_built_is_refused_with_a_reason() {
        for method in methods::<Native>() {
            let none = method.build(&Shape::for_members(0)).err().expect("no members cannot meet");
            assert_eq!(none.to_string(), "members 0: must be from 1 to 65536");
            assert!(method.build(&Shape::for_members(1 << 17)).is_err(), "{}", method.about.name);
        }
        let lonely = Shape { fan_in: FanIn::Fixed(1), ..Shape::for_members(4) };
        let refused = StaticFway::<Native>::build(&lonely).expect_err("one cannot meet");
        assert_eq!(refused.to_string(), "fan-in 1: must be from 2 to 65536");
        let upside_down = FanIn::Fullest { least: 10, most: 4 };
        let upside_down = Shape { fan_in: upside_down, ..Shape::for_members(1000) };
        assert!(StaticFway::<Native>::build(&upside_down).is_err());
    }

    #[test]
    fn one_member_never_waits() {
        for method in methods::<Native>() {
            let barrier = method.build(&Shape::for_members(1)).expect("one member is enough");
            for round in 0..5 {
                assert!(barrier.meet_on(&Native::cpu(), 0, round, &WayOut::none()).is_ok());
            }
        }
    }
}
