//! Keeps producers from filling the memory where a queue has no bound.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use super::mixes::Role;

/// Keeps producers from filling the memory where a queue has no bound and its consumers are slower:
/// with a million items in it they wait.
///
/// Every thread publishes its count on a line of its own, once in a stint. A producer reads all
/// lines once in `BETWEEN_LOOKS` items.
pub(in crate::bench) struct Brake {
    counts: Vec<Count>,
    producers: Vec<bool>,
    most: u64,
}

#[repr(align(128))]
#[derive(Default)]
struct Count(AtomicU64);

/// Items between two checks of the phase.
pub(in crate::bench) const STINT: usize = 32;
/// Most items in a queue without a bound.
const BACKLOG: u64 = 1 << 20;
/// Items that a producer pushes between two checks of the others' counts.
const BETWEEN_LOOKS: u64 = 2048;

impl Brake {
    pub(in crate::bench) fn new(roles: &[Role]) -> Self {
        Brake {
            counts: roles.iter().map(|_| Count::default()).collect(),
            producers: roles.iter().map(|&role| role == Role::Producer).collect(),
            // Items that are not published yet must not look like a backlog.
            most: BACKLOG + (2 * STINT * roles.len()) as u64,
        }
    }

    /// Publishes the number of items that a consumer has popped.
    #[inline]
    pub(in crate::bench) fn note_popped(&self, rank: usize, popped: u64) {
        self.counts[rank].0.store(popped, Relaxed);
    }

    /// Publishes the number of items that a producer has pushed. Blocks while the backlog is too
    /// long and the run continues.
    #[inline]
    pub(in crate::bench) fn hold_back(
        &self,
        rank: usize,
        pushed: u64,
        mut goes_on: impl FnMut() -> bool,
    ) {
        self.counts[rank].0.store(pushed, Relaxed);
        if pushed.is_multiple_of(BETWEEN_LOOKS) {
            while self.backlog() > self.most && goes_on() {
                thread::sleep(Duration::from_micros(50));
            }
        }
    }

    fn backlog(&self) -> u64 {
        let total = |pushes| {
            let chosen = self.counts.iter().zip(&self.producers).filter(|(_, is)| **is == pushes);
            chosen.map(|(count, _)| count.0.load(Relaxed)).sum::<u64>()
        };
        total(true).saturating_sub(total(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn producers_wait_while_the_backlog_is_long_and_the_run_goes_on() {
        let brake = Brake::new(&[Role::Producer, Role::Consumer]);
        let goes_on = AtomicBool::new(true);
        let full = (BACKLOG + 4 * BETWEEN_LOOKS).next_multiple_of(BETWEEN_LOOKS);
        let hold_back = || brake.hold_back(0, full, || goes_on.load(Relaxed));
        brake.note_popped(1, full);
        hold_back();
        assert_eq!(brake.backlog(), 0, "no producer waited");
        let kept = |end: &dyn Fn()| {
            brake.note_popped(1, 0);
            thread::scope(|scope| {
                let waiting = scope.spawn(hold_back);
                thread::sleep(Duration::from_millis(10));
                assert!(!waiting.is_finished());
                end();
            });
        };
        kept(&|| brake.note_popped(1, 4 * BETWEEN_LOOKS));
        kept(&|| goes_on.store(false, Relaxed));
    }
}
