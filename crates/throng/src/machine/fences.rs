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
    use std::sync::Barrier;
    use std::sync::atomic::AtomicU64;
    use std::thread;

    /// Each writes its word and looks at the other's. Without fences both miss the other now and then,
    /// on machines with store buffers, which all are.
    #[test]
    fn of_two_that_write_and_look_one_sees_the_other() {
        const ROUNDS: usize = 20_000;
        let light = if are_one_sided() { light } else { || fence(Ordering::SeqCst) };
        let words = [const { AtomicU64::new(0) }; 2];
        let (start, end) = (Barrier::new(2), Barrier::new(2));
        let play = |me: usize, fence: fn()| -> Vec<u64> {
            (0..ROUNDS)
                .map(|_| {
                    start.wait();
                    words[me].store(1, Ordering::Relaxed);
                    fence();
                    let seen = words[1 - me].load(Ordering::Relaxed);
                    end.wait();
                    words[me].store(0, Ordering::Relaxed);
                    seen
                })
                .collect()
        };
        let (light, heavy) = thread::scope(|scope| {
            let other = scope.spawn(|| play(1, heavy));
            (play(0, light), other.join().expect("it does not panic"))
        });
        let both_missed = light.iter().zip(&heavy).filter(|&(&a, &b)| a + b == 0).count();
        assert_eq!(both_missed, 0);
    }
}
