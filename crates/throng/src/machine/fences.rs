//! Fences that cost one of the two sides nothing.
//!
//! Two threads each write a word and then look at the other's word: at least one of them must see
//! what the other wrote. That takes a full fence between write and look, on both sides. Linux can
//! make every running thread of the program pass a fence at the caller's command (`membarrier`).
//! Then the other side needs no fence, only a compiler that keeps the order. Without that feature
//! both sides need full fences.
//!
//! # The kinds
//!
//! | kind | a light fence | a heavy fence |
//! |---|---|---|
//! | `ONE_SIDED` | keeps the compiler's order | a full fence, and one in every thread by `membarrier` |
//! | `TWO_SIDED` | does not suffice: structures make a full fence instead | a full fence |
//! | `LOST` | as in `TWO_SIDED`, but older structures still rely on it | a full fence, then a wait of [`DRAIN`] |
//!
//! The kind is found once. It changes only from `ONE_SIDED` to `LOST`, if `membarrier` stops
//! working because a filter of system calls was installed later. (Nothing can be done about a
//! filter that ends the program at that call.)
//!
//! # Why a wait is a fence
//! The light side's load can pass its store only while the store is in the store buffer of its core. A load that has
//! taken effect is younger than that store, which has retired by then and leaves the buffer by itself, even if the
//! thread is stopped. That takes at most as many cache misses as the buffer has entries: some microseconds. After a
//! wait of [`DRAIN`] the heavy side sees every store whose load came before its own. This bound is one of hardware,
//! not of the language: A. Morrison and Y. Afek, "Temporally Bounding TSO for Fence-Free Asymmetric Synchronization",
//! ASPLOS 2015.

use std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};
use std::thread;
use std::time::Duration;

use super::time::Instant;

const UNKNOWN: u8 = 0;
const ONE_SIDED: u8 = 1;
const TWO_SIDED: u8 = 2;
const LOST: u8 = 3;

/// The kind that this program has.
static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);

/// The wait of a heavy fence without `membarrier`. A store leaves the store buffer in a thousandth
/// of this time.
const DRAIN: Duration = Duration::from_millis(10);

/// Returns whether [`light`] is enough for a structure that is made now. It then stays enough for
/// this structure.
pub(super) fn are_one_sided() -> bool {
    kind() == ONE_SIDED
}

/// Makes a light fence. It is a fence only if fences [are one-sided](are_one_sided).
#[inline]
pub(super) fn light() {
    if cfg!(miri) {
        // Miri has stores that are delayed, but nothing that fences other threads.
        fence(Ordering::SeqCst);
    } else {
        compiler_fence(Ordering::SeqCst);
    }
}

#[cold]
pub(super) fn heavy() {
    // This fence also orders this thread's own accesses.
    fence(Ordering::SeqCst);
    match kind() {
        TWO_SIDED => return,
        ONE_SIDED if system::interrupt_all() => {}
        _ => {
            KIND.store(LOST, Ordering::Relaxed);
            wait_for_stores();
        }
    }
    fence(Ordering::SeqCst);
}

/// Waits until stores that other threads have made are visible. Yields, because sleeping may be
/// filtered as well.
fn wait_for_stores() {
    let start = Instant::now();
    while start.elapsed() < DRAIN {
        thread::yield_now();
    }
}

/// Returns the kind, which the first call finds out. All threads use the answer of the first one
/// that has it.
fn kind() -> u8 {
    match KIND.load(Ordering::Relaxed) {
        UNKNOWN => {
            let found = if system::can_interrupt_all() { ONE_SIDED } else { TWO_SIDED };
            KIND.compare_exchange(UNKNOWN, found, Ordering::Relaxed, Ordering::Relaxed)
                .map_or_else(|known| known, |_| found)
        }
        known => known,
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod system {
    use std::ffi::{c_int, c_long};

    use crate::absent::{Feature, is_absent};

    #[cfg(target_arch = "x86_64")]
    const MEMBARRIER: c_long = 324;
    #[cfg(target_arch = "aarch64")]
    const MEMBARRIER: c_long = 283;

    const EXPEDITED: c_int = 1 << 3;
    const REGISTER: c_int = 1 << 4;

    unsafe extern "C" {
        /// A function of the C library, which the standard library is linked with.
        fn syscall(number: c_long, ...) -> c_long;
    }

    fn membarrier(command: c_int) -> bool {
        // SAFETY: the call takes numbers only and changes no memory.
        unsafe { syscall(MEMBARRIER, command, 0 as c_int, 0 as c_int) == 0 }
    }

    /// Registers the program, which must happen before the first fence, and tries a fence. Returns
    /// whether both worked.
    pub(super) fn can_interrupt_all() -> bool {
        !is_absent(Feature::Membarrier) && membarrier(REGISTER) && membarrier(EXPEDITED)
    }

    /// Makes all threads pass a fence. Returns whether they did.
    pub(super) fn interrupt_all() -> bool {
        // It worked before. If a copy of the program has lost its registration, it registers again.
        !is_absent(Feature::MembarrierLater) && (membarrier(EXPEDITED) || can_interrupt_all())
    }
}

#[cfg(any(
    miri,
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))
))]
mod system {
    /// Returns whether this runs under Miri, where [`light`](super::light) is a full fence, so that
    /// nothing else is needed.
    pub(super) const fn can_interrupt_all() -> bool {
        cfg!(miri)
    }

    pub(super) const fn interrupt_all() -> bool {
        cfg!(miri)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::absent::{Feature, is_absent};
    use crate::machine::SplitMix64;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// Each thread writes its word and looks at the other's. On machines with store buffers, which
    /// all are, threads without fences sometimes miss each other's store if they do so at the same
    /// moment. So the thread with the heavy fence gives the start, and waits for a time that
    /// differs from round to round.
    #[test]
    fn of_two_that_write_and_look_one_sees_the_other() {
        const LONGEST_WAIT: u64 = 1_000;
        // Without `membarrier` a heavy fence takes 10 ms.
        let is_slow = cfg!(miri) || is_absent(Feature::MembarrierLater);
        let rounds = if is_slow { 50 } else { 30_000 };
        let light = if are_one_sided() { light } else { || fence(Ordering::SeqCst) };
        let [start, end, of_light, of_heavy] = [const { Line(AtomicU64::new(0)) }; 4];
        let wait_for = |line: &Line, round| {
            let mut looks = 0;
            while line.0.load(Ordering::Acquire) < round {
                looks += 1;
                if looks % 10_000 == 0 {
                    thread::yield_now();
                }
            }
        };
        let play = |fence: fn(), mine: &Line, other: &Line, round: u64| {
            mine.0.store(round, Ordering::Relaxed);
            fence();
            other.0.load(Ordering::Relaxed) == round
        };
        let both_missed = thread::scope(|scope| {
            let lights = scope.spawn(|| -> Vec<bool> {
                let play_round = |round| {
                    wait_for(&start, round);
                    let seen = play(light, &of_light, &of_heavy, round);
                    end.0.store(round, Ordering::Release);
                    seen
                };
                (1..=rounds).map(play_round).collect()
            });
            let play_round = |round| {
                start.0.store(round, Ordering::Release);
                (0..SplitMix64::mix(round) % LONGEST_WAIT)
                    .for_each(|_| compiler_fence(Ordering::SeqCst));
                let seen = play(heavy, &of_heavy, &of_light, round);
                wait_for(&end, round);
                seen
            };
            let heavies: Vec<bool> = (1..=rounds).map(play_round).collect();
            let lights = lights.join().expect("it does not panic");
            lights.iter().zip(&heavies).filter(|&(&light, &heavy)| !light && !heavy).count()
        });
        assert_eq!(both_missed, 0);
    }

    #[repr(align(128))]
    struct Line(AtomicU64);
}
