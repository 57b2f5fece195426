//! Where threads sleep: the system's wait on an address, where there is one that can be reached
//! without a library, and else the standard library's condition variables.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

/// Sleeps until [`wake_all`] is called for `word`, if it is still `seen`; for `longest` at most. May
/// return early.
pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Duration) {
    here::sleep(word, seen, longest);
}

/// Wakes all who sleep on `word`.
pub(super) fn wake_all(word: &AtomicU64) {
    here::wake_all(word);
}

/// A number below 2^`bits` that depends on the address of `word` alone.
#[inline]
pub(super) fn hash(word: &AtomicU64, bits: u32) -> usize {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let address = std::ptr::from_ref(word).addr() as u64;
    (address.wrapping_mul(GOLDEN) >> (64 - bits)) as usize
}

#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
    not(miri)
))]
use futex as here;
#[cfg(not(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
    not(miri)
)))]
use parked as here;

/// Linux: the kernel compares the lower half of the word with what was seen. The upper half may
/// differ: who writes a word changes its lower half, or the sleep lasts its longest.
#[cfg(all(
    target_os = "linux",
    target_endian = "little",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
    not(miri)
))]
mod futex {
    use super::{AtomicU64, Duration};
    use std::ffi::{c_int, c_long};
    use std::ptr;

    #[cfg(target_arch = "x86_64")]
    const FUTEX: c_long = 202;
    #[cfg(not(target_arch = "x86_64"))]
    const FUTEX: c_long = 98;

    /// Between threads of one process, which the kernel finds faster.
    const PRIVATE: c_int = 128;
    const WAIT: c_int = PRIVATE;
    const WAKE: c_int = 1 | PRIVATE;

    #[repr(C)]
    struct TimeSpec {
        seconds: i64,
        nanoseconds: i64,
    }

    unsafe extern "C" {
        /// Of the C library, which the standard library is linked with.
        fn syscall(number: c_long, ...) -> c_long;
    }

    pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Duration) {
        let time = TimeSpec {
            seconds: longest.as_secs() as i64,
            nanoseconds: i64::from(longest.subsec_nanos()),
        };
        // SAFETY: the kernel reads 4 bytes of the word, which is 8 bytes long, and the time, which
        // lives until the call returns. All results, errors too, mean: look again.
        unsafe {
            syscall(FUTEX, ptr::from_ref(word).cast::<u32>(), WAIT, seen as u32, &raw const time);
        }
    }

    pub(super) fn wake_all(word: &AtomicU64) {
        // SAFETY: the kernel takes the address for a name and reads nothing there.
        unsafe {
            syscall(FUTEX, ptr::from_ref(word).cast::<u32>(), WAKE, c_int::MAX);
        }
    }
}

/// Any system: words share a few condition variables.
#[cfg_attr(
    all(
        target_os = "linux",
        target_endian = "little",
        any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"),
        not(miri)
    ),
    cfg(test)
)]
mod parked {
    use super::{AtomicU64, Duration, hash};
    use std::sync::atomic::Ordering;
    use std::sync::{Condvar, Mutex, PoisonError};

    struct Room {
        door: Mutex<()>,
        bell: Condvar,
    }

    const BITS: u32 = 4;
    static ROOMS: [Room; 1 << BITS] =
        [const { Room { door: Mutex::new(()), bell: Condvar::new() } }; 1 << BITS];

    pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Duration) {
        let room = &ROOMS[hash(word, BITS)];
        let door = room.door.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever changes the word after this look comes through the door, and so finds us asleep.
        if word.load(Ordering::SeqCst) == seen {
            drop(room.bell.wait_timeout(door, longest));
        }
    }

    pub(super) fn wake_all(word: &AtomicU64) {
        let room = &ROOMS[hash(word, BITS)];
        drop(room.door.lock().unwrap_or_else(PoisonError::into_inner));
        room.bell.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::SeqCst;
    use std::thread;
    use std::time::Instant;

    type Sleep = fn(&AtomicU64, u64, Duration);
    type Wake = fn(&AtomicU64);

    /// Both kinds of bed, whichever is used here.
    fn beds() -> [(&'static str, Sleep, Wake); 2] {
        [("here", here::sleep, here::wake_all), ("parked", parked::sleep, parked::wake_all)]
    }

    #[test]
    fn a_word_that_has_changed_lets_nobody_sleep() {
        for (name, sleep, _) in beds() {
            let start = Instant::now();
            sleep(&AtomicU64::new(1), 0, Duration::from_secs(10));
            assert!(start.elapsed() < Duration::from_secs(5), "{name}");
        }
    }

    #[test]
    fn a_sleep_lasts_its_longest_where_nobody_wakes() {
        for (name, sleep, _) in beds() {
            let start = Instant::now();
            sleep(&AtomicU64::new(0), 0, Duration::from_millis(20));
            assert!(start.elapsed() >= Duration::from_millis(10), "{name}");
        }
    }

    #[test]
    fn who_sleeps_is_woken() {
        for (name, sleep, wake_all) in beds() {
            let word = AtomicU64::new(0);
            let start = Instant::now();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        while word.load(SeqCst) == 0 {
                            sleep(&word, 0, Duration::from_secs(20));
                        }
                    });
                }
                thread::sleep(Duration::from_millis(30));
                word.store(1, SeqCst);
                wake_all(&word);
            });
            assert!(start.elapsed() < Duration::from_secs(10), "{name}");
        }
    }
}
