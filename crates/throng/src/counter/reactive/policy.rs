//! When to change (RDT97 section 4): how long callers wait for a counter's lock.

use crate::machine::Cpu;

/// When a tree changes its shape. Times are in units of [`Cpu::clock`]: cycles on a simulated
/// machine, nanoseconds on a real one.
///
/// ```
/// use throng::counter::reactive::Policy;
/// assert_eq!(Policy { run: 10, ..Policy::PAPER }.unfold_above, 800);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// A call that waits less than this for a counter's lock finds it idle.
    pub fold_below: u64,
    /// A call that waits longer than this finds it crowded.
    pub unfold_above: u64,
    /// So many calls in a row must agree before anything is done; 0 is as 1.
    pub run: u32,
}

impl Policy {
    /// What RDT97 section 5.2.1 found best on Alewife: 150 and 800 cycles, 80 calls in a row.
    pub const PAPER: Policy = Policy { fold_below: 150, unfold_above: 800, run: 80 };

    /// Every call finds every counter idle and crowded at once, and tosses a coin: a tree that
    /// changes its shape all the time, for checks.
    pub const RESTLESS: Policy = Policy { fold_below: u64::MAX, unfold_above: 0, run: 1 };
}

/// What can be done at a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It and its sibling into their parent.
    Fold,
    /// It into two children.
    Unfold,
}

/// What the last calls at a counter found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mood {
    /// Calls in a row that found the counter idle.
    idle: u32,
    /// Calls in a row that found it crowded.
    crowded: u32,
}

impl Mood {
    /// Adds a call that waited so long for the lock.
    pub(super) fn add(&mut self, policy: &Policy, waited: u64) {
        let longer = |run: u32, agrees: bool| if agrees { run.saturating_add(1) } else { 0 };
        self.idle = longer(self.idle, waited < policy.fold_below);
        self.crowded = longer(self.crowded, waited > policy.unfold_above);
    }

    /// What should be done, where `can_fold` and `can_unfold` say what can be. If both should,
    /// which they cannot where idle is below crowded, a coin decides.
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
        let mut mood = Mood::default();
        waits.iter().for_each(|&waited| mood.add(&policy, waited));
        mood.asks(&policy, true, true, &Native::cpu())
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
        let mut mood = Mood::default();
        mood.add(&Policy::RESTLESS, 5);
        let asks = |fold, unfold| mood.asks(&Policy::RESTLESS, fold, unfold, &Native::cpu());
        assert_eq!(asks(false, false), None);
        assert_eq!(asks(true, false), Some(Change::Fold));
        assert_eq!(asks(false, true), Some(Change::Unfold));
        let both: Vec<_> = (0..200).map(|_| asks(true, true)).collect();
        assert!(both.contains(&Some(Change::Fold)) && both.contains(&Some(Change::Unfold)));
    }
}
