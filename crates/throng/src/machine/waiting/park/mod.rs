//! Sleeping on a word: by the system's wait on an address if it can be called without a library,
//! otherwise by the standard library's condition variables.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use crate::absent::{Feature, is_absent};

/// Sleeps until [`wake_all`] is called for `word`, if it is still `seen`. Sleeps at most for
/// `longest`, if that is a time. May return early.
pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Option<Duration>) {
    here::sleep(word, seen, longest);
}

/// Wakes all threads that sleep on `word`.
pub(super) fn wake_all(word: &AtomicU64) {
    here::wake_all(word);
}

/// Wakes at least one of the threads that sleep on `word`, if there is one.
pub(super) fn wake_one(word: &AtomicU64) {
    here::wake_one(word);
}

/// The core time and the context switches of the calling thread since its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Nanoseconds on a core.
    pub(super) on_core: u64,
    /// The number of times that it slept or waited.
    pub(super) sleeps: u64,
    /// The number of times that another thread took its core.
    pub(super) preemptions: u64,
}

/// Returns the core time and the context switches of the calling thread, or `None` if the system
/// does not tell them.
pub(super) fn usage() -> Option<Usage> {
    if is_absent(Feature::Usage) { None } else { here::usage() }
}

/// Returns a number below 2^`bits` that depends on the address of `word` alone.
#[inline]
pub(super) fn hash(word: &AtomicU64, bits: u32) -> usize {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let address = std::ptr::from_ref(word).addr() as u64;
    (address.wrapping_mul(GOLDEN) >> (64 - bits)) as usize
}

/// Tests also build the condition variables on systems that do not use them, so that they are
/// tested.
#[cfg(test)]
mod condvar;

#[cfg(not(miri))]
#[cfg_attr(
    all(
        target_os = "linux",
        target_endian = "little",
        any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
    ),
    path = "futex.rs"
)]
#[cfg_attr(all(target_family = "wasm", not(target_feature = "atomics")), path = "alone.rs")]
#[cfg_attr(
    not(any(
        all(
            target_os = "linux",
            target_endian = "little",
            any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
        ),
        all(target_family = "wasm", not(target_feature = "atomics")),
    )),
    path = "condvar.rs"
)]
mod here;

/// Miri treats a word and its half as different objects, so the system cannot compare the half.
#[cfg(miri)]
#[path = "condvar.rs"]
mod here;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;
    use std::thread;
    use std::time::Instant;

    type Sleep = fn(&AtomicU64, u64, Option<Duration>);
    type Wake = fn(&AtomicU64);

    /// Both implementations, whichever is used here.
    fn kinds() -> [(&'static str, Sleep, [Wake; 2]); 2] {
        [
            ("here", here::sleep, [here::wake_all, here::wake_one]),
            ("condvar", condvar::sleep, [condvar::wake_all, condvar::wake_one]),
        ]
    }

    #[test]
    fn a_changed_word_ends_the_sleep_at_once() {
        for (name, sleep, _) in kinds() {
            let start = Instant::now();
            sleep(&AtomicU64::new(1), 0, Some(Duration::from_secs(10)));
            assert!(start.elapsed() < Duration::from_secs(5), "{name}");
        }
    }

    #[test]
    fn a_sleep_without_wake_up_lasts_its_longest() {
        for (name, sleep, _) in kinds() {
            let start = Instant::now();
            sleep(&AtomicU64::new(0), 0, Some(Duration::from_millis(20)));
            assert!(start.elapsed() >= Duration::from_millis(10), "{name}");
        }
    }

    /// Two threads change a word by turns, and each wakes the other. Nothing but a wake-up ends a sleep.
    #[test]
    fn no_wake_up_is_lost_between_look_and_sleep() {
        for (name, sleep, [wake_all, _]) in kinds() {
            let turns = 20_000;
            let (word, start) = (AtomicU64::new(0), Instant::now());
            thread::scope(|scope| {
                for me in [0, 1] {
                    let word = &word;
                    scope.spawn(move || {
                        for turn in 0..turns {
                            let own = 2 * turn + me;
                            loop {
                                let seen = word.load(SeqCst);
                                if seen >= own {
                                    break;
                                }
                                let lost = Duration::from_secs(20);
                                let since = Instant::now();
                                sleep(word, seen, Some(lost));
                                assert!(since.elapsed() < lost, "{name}: a wake-up was lost");
                            }
                            word.fetch_add(1, SeqCst);
                            wake_all(word);
                        }
                    });
                }
            });
            assert!(start.elapsed() < Duration::from_secs(50), "{name}: {:?}", start.elapsed());
        }
    }

    #[test]
    fn without_a_system_call_for_it_nothing_is_known_of_a_thread() {
        assert!(condvar::usage().is_none());
    }

    /// Wakes by one call for all of them, and by one call for each.
    #[test]
    fn sleeping_threads_are_woken() {
        for (name, sleep, [wake_all, wake_one]) in kinds() {
            for (calls, wake) in [(1, wake_all), (3, wake_one)] {
                for longest in [Some(Duration::from_secs(20)), None] {
                    let word = AtomicU64::new(0);
                    let start = Instant::now();
                    thread::scope(|scope| {
                        for _ in 0..3 {
                            scope.spawn(|| {
                                while word.load(SeqCst) == 0 {
                                    sleep(&word, 0, longest);
                                }
                            });
                        }
                        thread::sleep(Duration::from_millis(30));
                        word.store(1, SeqCst);
                        (0..calls).for_each(|_| wake(&word));
                    });
                    assert!(start.elapsed() < Duration::from_secs(10), "{name}, {longest:?}");
                }
            }
        }
    }
}
