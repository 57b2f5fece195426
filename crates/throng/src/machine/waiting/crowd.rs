//! Whether others want the cores that this program's threads run on.
//!
//! A thread that spins, or lets others run again and again, is in the way if another program or a thread that
//! computes wants its core. Two signs tell:
//!
//! - *Stolen time*: a thread could have run, and did not. That is its time on the clock without its time on a core and
//!   its sleeps here. It counts only if the thread was preempted and did not sleep elsewhere, of which this module knows
//!   nothing. Who is late at a barrier is the one that was preempted, and does not wait; so threads look after
//!   every [`WAKES_A_LOOK`]th signal, too. Where more threads wait for each other than there are cores, they take
//!   time from each other, so this sign says nothing there.
//! - *A long yield*: the thread that ran meanwhile did not wait for anything.
//!
//! Each sign is a [`Sign`] of its own:
//!
//! | after | what happens |
//! |---|---|
//! | the sign is seen | all waits of the program that heed it sleep at once until a point in time, [`SHORTEST`] from now |
//! | that time | waits spin again, as if nothing had been |
//! | it is seen again soon after that | the same for twice as long, up to [`LONGEST`] |

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::bed;
use crate::machine::{Cpu, Native};

/// All times are nanoseconds, points in time those of [`Cpu::clock`].
const MILLISECOND: u64 = 1_000_000;
/// How long the signs are believed at first.
const SHORTEST: u64 = 20 * MILLISECOND;
/// How long they are believed at most: after that time a machine that has become quiet is noticed. The signs are those of
/// the whole program: with a second here, two threads with a core each slept for a second after four had shared two cores.
const LONGEST: u64 = 80 * MILLISECOND;
/// Stolen time is looked for in stretches of at least this length: longer than what the system itself takes now and
/// then, and than the slice of a neighbour.
const LEAST_STRETCH: u64 = 5 * MILLISECOND;
/// A yield that takes longer is a sign.
const LONG_YIELD: Duration = Duration::from_micros(500);
/// A thread looks for stolen time after this number of signals: a look takes two system calls.
const WAKES_A_LOOK: u32 = 64;

/// A sign that others want the cores.
pub(super) struct Sign {
    /// Until when it is believed; 0 if it is not.
    until: AtomicU64,
    /// When that ended or will end the last time, and how long it lasted.
    last_end: AtomicU64,
    last_length: AtomicU64,
}

pub(super) static STOLEN_TIME: Sign = Sign::new();
pub(super) static LONG_YIELDS: Sign = Sign::new();

impl Sign {
    const fn new() -> Self {
        Sign {
            until: AtomicU64::new(0),
            last_end: AtomicU64::new(0),
            last_length: AtomicU64::new(0),
        }
    }

    /// Whether a wait that heeds this sign should sleep at once.
    #[inline]
    pub(super) fn is_believed(&self) -> bool {
        self.until.load(Relaxed) != 0 && self.is_still_believed()
    }

    #[cold]
    fn is_still_believed(&self) -> bool {
        let is_over = Native::cpu().clock() >= self.until.load(Relaxed);
        if is_over {
            self.until.store(0, Relaxed);
        }
        !is_over
    }

    /// The sign was seen at this time.
    #[cold]
    pub(super) fn raise(&self, now: u64) {
        if self.until.load(Relaxed) > now {
            return;
        }
        let since_last = now.saturating_sub(self.last_end.load(Relaxed));
        let length = next_length(self.last_length.load(Relaxed), since_last);
        self.last_length.store(length, Relaxed);
        self.last_end.store(now + length, Relaxed);
        self.until.store(now + length, Relaxed);
    }
}

/// How long a sign is believed that comes `after` the end of the last such time, which was `last`.
fn next_length(last: u64, after: u64) -> u64 {
    if after <= last { (2 * last).clamp(SHORTEST, LONGEST) } else { SHORTEST }
}

/// What a thread has used, as the system counts it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Nanoseconds on a core.
    pub(super) on_core: u64,
    /// How often it slept, or waited for something.
    pub(super) sleeps: u64,
    /// How often another thread took its core.
    pub(super) preemptions: u64,
}

/// A stretch of time in the life of a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    since: u64,
    usage: Usage,
    /// Of the sleeps since then, those of this module, and how long they took.
    own_sleeps: u64,
    slept: u64,
}

impl Stretch {
    /// Whether time was stolen from it that ends `now` with this `usage`.
    fn was_stolen_from(&self, now: u64, usage: Usage) -> bool {
        let length = now - self.since;
        let used = usage.on_core.saturating_sub(self.usage.on_core) + self.slept;
        let is_known = usage.sleeps.saturating_sub(self.usage.sleeps) <= self.own_sleeps;
        let is_preempted = usage.preemptions > self.usage.preemptions;
        is_known && is_preempted && 4 * length.saturating_sub(used) > length
    }
}

thread_local! {
    static STRETCH: Cell<Stretch> = const { Cell::new(Stretch {
        since: 0,
        usage: Usage { on_core: 0, sleeps: 0, preemptions: 0 },
        own_sleeps: 0,
        slept: 0,
    }) };
    static WAKES: Cell<u32> = const { Cell::new(0) };
}

/// Looks for stolen time, if the last look was not just now.
#[cold]
#[inline(never)]
pub(super) fn look() {
    let now = Native::cpu().clock();
    let stretch = STRETCH.get();
    if now.saturating_sub(stretch.since) < LEAST_STRETCH {
        return;
    }
    let Some(usage) = bed::usage() else { return };
    if stretch.since > 0 && stretch.was_stolen_from(now, usage) {
        STOLEN_TIME.raise(now);
    }
    STRETCH.set(Stretch { since: now, usage, own_sleeps: 0, slept: 0 });
}

/// A signal was given.
#[inline]
pub(super) fn count_wake() {
    let wakes = WAKES.get().wrapping_add(1);
    WAKES.set(wakes);
    if wakes.is_multiple_of(WAKES_A_LOOK) {
        look();
    }
}

/// Sleeps by `sleep`, which counts as no theft.
pub(super) fn sleep(sleep: impl FnOnce()) {
    look();
    let start = Instant::now();
    sleep();
    let stretch = STRETCH.get();
    let slept = stretch.slept + start.elapsed().as_nanos() as u64;
    STRETCH.set(Stretch { own_sleeps: stretch.own_sleeps + 1, slept, ..stretch });
}

/// A yield took this long.
pub(super) fn judge_yield(took: Duration) {
    if took > LONG_YIELD {
        LONG_YIELDS.raise(Native::cpu().clock());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = MILLISECOND;

    #[test]
    fn signs_that_come_back_are_believed_for_longer() {
        assert_eq!(next_length(0, u64::MAX), SHORTEST);
        assert_eq!(next_length(SHORTEST, 5 * MS), 2 * SHORTEST);
        assert_eq!(next_length(LONGEST, 5 * MS), LONGEST);
        assert_eq!(next_length(2 * SHORTEST, 3 * SHORTEST), SHORTEST, "it was quiet for long");
    }

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

    #[test]
    fn a_sign_is_believed_for_a_while() {
        let sign = Sign::new();
        assert!(!sign.is_believed());
        let now = Native::cpu().clock();
        sign.raise(now);
        let until = sign.until.load(Relaxed);
        assert_eq!(until, now + SHORTEST);
        sign.raise(now + MS);
        assert_eq!(sign.until.load(Relaxed), until, "it is known already");
        while Native::cpu().clock() < until {
            let is_believed = sign.is_believed();
            assert!(is_believed || Native::cpu().clock() >= until);
        }
        assert!(!sign.is_believed());
        sign.raise(until + MS);
        assert_eq!(sign.until.load(Relaxed), until + MS + 2 * SHORTEST, "soon again");
    }

    /// On any machine, busy or not.
    #[test]
    fn what_a_thread_uses_is_counted() {
        let Some(before) = bed::usage() else { return };
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {}
        std::thread::sleep(Duration::from_millis(1));
        let after = bed::usage().expect("it was there before");
        assert!(after.on_core > before.on_core, "{before:?} {after:?}");
        assert!(after.sleeps > before.sleeps, "{before:?} {after:?}");
    }
}
