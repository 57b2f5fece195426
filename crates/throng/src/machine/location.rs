//! The core that the thread runs on, if it can be found out without a system call.
//!
//! Linux writes the number of the core (and of its memory node, above it) into a register of every
//! x86 core, and one instruction reads it. Elsewhere the thread's own number is used. Threads that
//! were started one after the other are then taken to be close.

use super::ids;

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod core {
    use std::arch::x86_64::{__cpuid, __rdtscp, CpuidResult};
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::Ordering::Relaxed;

    /// The lowest bits of the register, which hold the number of the core.
    const CORE: u32 = (1 << 12) - 1;

    fn can_tell() -> bool {
        const UNKNOWN: u8 = 2;
        static CAN_TELL: AtomicU8 = AtomicU8::new(UNKNOWN);
        match CAN_TELL.load(Relaxed) {
            UNKNOWN => {
                let extended = cpuid(0x8000_0000).eax;
                let can = extended >= 0x8000_0001 && cpuid(0x8000_0001).edx & 1 << 27 != 0;
                CAN_TELL.store(can.into(), Relaxed);
                can
            }
            known => known != 0,
        }
    }

    /// Returns the answer of the `cpuid` instruction for `leaf`.
    #[allow(unused_unsafe, reason = "`__cpuid` is unsafe in Rust 1.88 and safe in later versions")]
    fn cpuid(leaf: u32) -> CpuidResult {
        // SAFETY: every x86-64 processor has the instruction.
        unsafe { __cpuid(leaf) }
    }

    pub(super) fn number() -> Option<usize> {
        if !can_tell() {
            return None;
        }
        let mut register = 0;
        // SAFETY: the processor has the instruction, as it has just reported.
        unsafe { __rdtscp(&mut register) };
        Some((register & CORE) as usize)
    }
}

#[cfg(any(miri, not(all(target_arch = "x86_64", target_os = "linux"))))]
mod core {
    pub(super) fn number() -> Option<usize> {
        None
    }
}

/// Returns the number of the core that the calling thread runs on, or else the number of the
/// thread.
#[inline]
pub(super) fn current() -> usize {
    core::number().unwrap_or_else(ids::current)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_small() {
        assert!(current() < 1 << 16);
    }
}
