//! When to change the tree (RDT97 section 4): decided by the time that callers wait for a counter's
//! lock.

use crate::counter::method::PAPER_PATIENCE;
use crate::machine::Cpu;
use crate::setters::setters;

/// When a tree changes its shape. Times are in units of [`Cpu::clock`]: cycles on a simulated
/// machine, nanoseconds on a real one.
///
/// ```
/// use throng::structures::counter::reactive::Policy;
/// assert_eq!(Policy::PAPER.run(10).unfold_above, 800);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// A call that waits less than this for a counter's lock finds it idle.
    pub fold_below: u64,
    /// A call that waits longer than this finds it crowded.
    pub unfold_above: u64,
    /// The number of calls in a row that must agree before the tree changes; 0 means 1.
    pub run: u32,
}

impl Policy {
    /// The values that RDT97 section 5.2.1 found best on Alewife: 150 and 800 cycles, 80 calls in a
    /// row.
    pub const PAPER: Policy = Policy { fold_below: 150, unfold_above: 800, run: PAPER_PATIENCE };

    /// Every call finds every counter idle and crowded at once, and a random bit decides. The tree
    /// changes its shape all the time, for checks.
    #[doc(hidden)]
    pub const RESTLESS: Policy = Policy { fold_below: u64::MAX, unfold_above: 0, run: 1 };

    setters!(const fn fold_below: u64, unfold_above: u64, run: u32);
}

/// A change that can be made at a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Fold it and its sibling into their parent.
    Fold,
    /// Unfold it into two children.
    Unfold,
}

/// The numbers of calls in a row that found a counter idle or crowded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Streaks {
    /// The number of last calls in a row that found the counter idle.
    idle: u32,
    /// The number of last calls in a row that found it crowded.
    crowded: u32,
}

impl Streaks {
    /// Adds a call that waited for the lock for `waited` units of time.
    pub(super) fn add(&mut self, policy: &Policy, waited: u64) {
        let longer = |run: u32, agrees: bool| if agrees { run.saturating_add(1) } else { 0 };
        self.idle = longer(self.idle, waited < policy.fold_below);
        self.crowded = longer(self.crowded, waited > policy.unfold_above);
    }

    /// Returns the change to make, among those that `can_fold` and `can_unfold` allow. If both
    /// apply, a random bit decides. They cannot if `fold_below` is at most `unfold_above`.
    pub(super) fn asks(
        self,
        policy: &Policy,
        can_fold: bool,
        can_unfold: bool,
        cpu: &impl Cpu,
    ) -> Option<Change> {
        let run = policy.run.max(1);
        match (can_fold && self.idle >= run, can_unfold && self.crowded >= run) {
            (false, false) => None,
            (true, false) => Some(Change::Fold),
            (false, true) => Some(Change::Unfold),
            (true, true) if cpu.random_below(2) == 0 => Some(Change::Fold),
            (true, true) => Some(Change::Unfold),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Native;

    fn asked(policy: Policy, waits: &[u64]) -> Option<Change> {
        let mut streaks = Streaks::default();
        waits.iter().for_each(|&waited| streaks.add(&policy, waited));
        streaks.asks(&policy, true, true, &Native::cpu())
    }

    #[test]
    fn only_a_run_of_calls_that_agree_changes_anything() {
        let policy = Policy { run: 3, ..Policy::PAPER };
        assert_eq!(asked(policy, &[1, 149]), None);
        assert_eq!(asked(policy, &[1, 149, 20]), Some(Change::Fold));
        assert_eq!(asked(policy, &[1, 150, 20, 20]), None, "150 breaks the run");
        assert_eq!(asked(policy, &[900, 801, 5000]), Some(Change::Unfold));
        assert_eq!(asked(policy, &[900, 800, 5000, 900]), None, "800 breaks the run");
    }

    #[test]
    fn what_cannot_be_is_not_asked_for() {
        let mut streaks = Streaks::default();
        streaks.add(&Policy::RESTLESS, 5);
        let asks = |fold, unfold| streaks.asks(&Policy::RESTLESS, fold, unfold, &Native::cpu());
        assert_eq!(asks(false, false), None);
        assert_eq!(asks(true, false), Some(Change::Fold));
        assert_eq!(asks(false, true), Some(Change::Unfold));
        let both: Vec<_> = (0..200).map(|_| asks(true, true)).collect();
        assert!(both.contains(&Some(Change::Fold)) && both.contains(&Some(Change::Unfold)));
    }
}
