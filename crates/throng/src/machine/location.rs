//! Which core the thread runs on, where the system tells without being asked.
//!
//! Linux writes the number of the core (and of its memory node, above it) into a register of every
//! x86 core, and one instruction reads it. Elsewhere the thread's own number has to do: threads that
//! were started one after the other are then taken to be close.

use super::ids;

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod core {
    use std::arch::x86_64::{__cpuid, __rdtscp};
    use std::sync::OnceLock;

    /// The lowest bits of the register: the number of the core.
    const CORE: u32 = (1 << 12) - 1;

    fn can_tell() -> bool {
        static CAN_TELL: OnceLock<bool> = OnceLock::new();
        *CAN_TELL.get_or_init(|| {
            let extended = __cpuid(0x8000_0000).eax;
            extended >= 0x8000_0001 && __cpuid(0x8000_0001).edx & 1 << 27 != 0
        })
    }

    pub(super) fn number() -> Option<usize> {
        if !can_tell() {
            return None;
        }
        let mut register = 0;
        // SAFETY: the processor has the instruction, as it has just said.
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

/// The core that the calling thread runs on, or else the number of the thread.
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
