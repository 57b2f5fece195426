//! What keeps producers from filling the memory where a queue has no bound.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use super::mixes::Role;
use super::run::STINT;

/// Keeps producers from filling the memory where a queue has no bound and its consumers are slower:
/// with a million items in it they wait.
///
/// Everybody notes its count on a line of its own, once in a stint; producers look at all lines once in
/// many stints.
pub(in crate::bench) struct Brake {
    counts: Vec<Count>,
    producers: Vec<bool>,
    most: u64,
}

#[repr(align(128))]
#[derive(Default)]
struct Count(AtomicU64);

/// More items than this need not be in a queue without a bound.
const BACKLOG: u64 = 1 << 20;
/// A producer looks at the others when it has pushed so many more.
const BETWEEN_LOOKS: u64 = 2048;

impl Brake {
    pub(in crate::bench) fn new(roles: &[Role]) -> Self {
        Brake {
            counts: roles.iter().map(|_| Count::default()).collect(),
            producers: roles.iter().map(|&role| role == Role::Producer).collect(),
            // What has not been noted yet must not look like a backlog.
            most: BACKLOG + (2 * STINT * roles.len()) as u64,
        }
    }

    /// A consumer has popped so many.
    #[inline]
    pub(in crate::bench) fn note_popped(&self, rank: usize, popped: u64) {
        self.counts[rank].0.store(popped, Relaxed);
    }

    /// A producer has pushed so many. It is kept here while the backlog is too long and the run goes on.
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
        assert_eq!(brake.backlog(), 0, "nobody waited");
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
