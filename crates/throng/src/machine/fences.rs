//! Fences that cost one side nothing.
//!
//! Two threads each write a word and then look at the other's: one of them must see what the other
//! wrote. That takes a full fence between write and look, on both sides. Linux can make every running
//! thread of the program pass a fence at the caller's command (`membarrier`); then the other side needs
//! none, only a compiler that keeps the order. Where the system does not do that, both sides need full
//! fences.

use std::sync::atomic::{AtomicU8, Ordering, compiler_fence, fence};

const UNKNOWN: u8 = 0;
const ONE_SIDED: u8 = 1;
const TWO_SIDED: u8 = 2;

/// Which kind this program has. Once known, it stays.
static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether [`light`] is enough. Once it has been, it is.
pub(super) fn are_one_sided() -> bool {
    kind() == ONE_SIDED
}

/// Where fences [are one-sided](are_one_sided).
#[inline]
pub(super) fn light() {
    compiler_fence(Ordering::SeqCst);
}

#[cold]
pub(super) fn heavy() {
    // Also orders this thread's own accesses.
    fence(Ordering::SeqCst);
    if kind() == ONE_SIDED {
        system::interrupt_all();
        fence(Ordering::SeqCst);
    }
}

/// Finds out, at most once.
fn kind() -> u8 {
    match KIND.load(Ordering::Relaxed) {
        UNKNOWN => {
            let kind = if system::can_interrupt_all() { ONE_SIDED } else { TWO_SIDED };
            KIND.store(kind, Ordering::Relaxed);
            kind
        }
        known => known,
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod system {
    use std::ffi::{c_int, c_long};

    #[cfg(target_arch = "x86_64")]
    const MEMBARRIER: c_long = 324;
    #[cfg(target_arch = "aarch64")]
    const MEMBARRIER: c_long = 283;

    const EXPEDITED: c_int = 1 << 3;
    const REGISTER: c_int = 1 << 4;

    unsafe extern "C" {
        /// Of the C library, which the standard library is linked with.
        fn syscall(number: c_long, ...) -> c_long;
    }

    fn membarrier(command: c_int) -> bool {
        // SAFETY: the call takes numbers only and changes no memory.
        unsafe { syscall(MEMBARRIER, command, 0 as c_int, 0 as c_int) == 0 }
    }

    /// A program must announce its wish before it may ask.
    pub(super) fn can_interrupt_all() -> bool {
        membarrier(REGISTER) && membarrier(EXPEDITED)
    }

    pub(super) fn interrupt_all() {
        // It worked before; should a copy of the program have lost its announcement, it is made again.
        let done = membarrier(EXPEDITED) || can_interrupt_all();
        assert!(done, "the system does not fence threads any more (membarrier)");
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod system {
    pub(super) fn can_interrupt_all() -> bool {
        false
    }

    pub(super) fn interrupt_all() {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::SplitMix64;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// Each writes its word and looks at the other's. Without fences both miss the other now and then, on
    /// machines with store buffers, which all are: if they do so at the same moment. So the one with the
    /// heavy fence gives the start, and waits for a time that differs from round to round.
    #[test]
    fn of_two_that_write_and_look_one_sees_the_other() {
        const ROUNDS: u64 = 30_000;
        const LONGEST_WAIT: u64 = 1_000;
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
                (1..=ROUNDS).map(play_round).collect()
            });
            let play_round = |round| {
                start.0.store(round, Ordering::Release);
                (0..SplitMix64::mix(round) % LONGEST_WAIT)
                    .for_each(|_| compiler_fence(Ordering::SeqCst));
                let seen = play(heavy, &of_heavy, &of_light, round);
                wait_for(&end, round);
                seen
            };
            let heavies: Vec<bool> = (1..=ROUNDS).map(play_round).collect();
            let lights = lights.join().expect("it does not panic");
            lights.iter().zip(&heavies).filter(|&(&light, &heavy)| !light && !heavy).count()
        });
        assert_eq!(both_missed, 0);
    }

    #[repr(align(128))]
    struct Line(AtomicU64);
}
