//! Time that other threads took from the calling thread.
//!
//! Time is *stolen* from a thread that could have run and did not. It is the time that has passed,
//! less the time on a core and the sleeps of this module. It counts only if the thread was
//! preempted. A thread that slept elsewhere (for a lock, for input) has no stolen time here,
//! because the length of that sleep is not known.

use std::cell::Cell;

use super::super::time::Instant;
use super::park::{self, Usage};

/// The shortest stretch in which stolen time is looked for, in nanoseconds. It is longer than the
/// interruptions by the system itself, and than the time slice of a neighbour (3 ms).
const LEAST_STRETCH: u64 = 5_000_000;

/// A stretch of time of the calling thread.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The time when it began; 0 if none was begun.
    since: u64,
    /// The usage of the thread at that time.
    usage: Usage,
    /// The number of sleeps of this module since then, and their total length.
    own_sleeps: u64,
    slept: u64,
}

impl Stretch {
    const NONE: Stretch = Stretch {
        since: 0,
        usage: Usage { on_core: 0, sleeps: 0, preemptions: 0 },
        own_sleeps: 0,
        slept: 0,
    };

    /// Returns whether more than a quarter of the stretch was stolen. It ends `now` with this
    /// `usage`.
    fn was_stolen_from(&self, now: u64, usage: Usage) -> bool {
        let length = now - self.since;
        let used = usage.on_core.saturating_sub(self.usage.on_core) + self.slept;
        let is_known = usage.sleeps.saturating_sub(self.usage.sleeps) <= self.own_sleeps;
        let is_preempted = usage.preemptions > self.usage.preemptions;
        is_known && is_preempted && 4 * length.saturating_sub(used) > length
    }
}

thread_local! {
    static STRETCH: Cell<Stretch> = const { Cell::new(Stretch::NONE) };
}

/// Returns whether time was stolen from the calling thread since the last call, and begins another stretch. Returns
/// false if the last call was less than [`LEAST_STRETCH`] ago, or there was none.
pub(super) fn was_time_stolen(now: u64) -> bool {
    let stretch = STRETCH.get();
    if now.saturating_sub(stretch.since) < LEAST_STRETCH {
        return false;
    }
    let Some(usage) = park::usage() else { return false };
    STRETCH.set(Stretch { since: now, usage, ..Stretch::NONE });
    stretch.since > 0 && stretch.was_stolen_from(now, usage)
}

/// Sleeps by `sleep`, and counts the time as sleep.
pub(super) fn sleep(sleep: impl FnOnce()) {
    let start = Instant::now();
    sleep();
    let stretch = STRETCH.get();
    let slept = stretch.slept + start.elapsed().as_nanos() as u64;
    STRETCH.set(Stretch { own_sleeps: stretch.own_sleeps + 1, slept, ..stretch });
}

/// Returns the number of times that another thread took the core of the calling thread, or `None`
/// if the system does not tell.
pub(super) fn preemptions() -> Option<u64> {
    park::usage().map(|usage| usage.preemptions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    #[test]
    fn time_is_stolen_if_it_was_spent_neither_on_a_core_nor_asleep() {
        let usage = Usage { on_core: 100 * MS, sleeps: 7, preemptions: 3 };
        let start = Stretch { since: 500 * MS, usage, own_sleeps: 2, slept: 3 * MS };
        let after = |on_core, sleeps, preemptions| {
            let usage = Usage { on_core: 100 * MS + on_core, sleeps, preemptions };
            start.was_stolen_from(510 * MS, usage)
        };
        assert!(after(4 * MS, 9, 4));
        assert!(!after(5 * MS, 9, 4), "nearly all of it is accounted for");
        assert!(!after(4 * MS, 9, 3), "the thread was not preempted");
        assert!(!after(4 * MS, 10, 4), "it slept elsewhere");
    }

    /// Holds on any machine, busy or not.
    #[test]
    fn what_a_thread_uses_is_counted() {
        let Some(before) = park::usage() else { return };
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {}
        std::thread::sleep(Duration::from_millis(1));
        let after = park::usage().expect("it was there before");
        assert!(after.on_core > before.on_core, "{before:?} {after:?}");
        assert!(after.sleeps > before.sleeps, "{before:?} {after:?}");
    }
}
