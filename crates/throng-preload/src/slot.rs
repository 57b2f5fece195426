//! The content of the program's `pthread_barrier_t`.
//!
//! | bytes | ours | destroyed | glibc's own |
//! |---|---|---|---|
//! | 0..8 | `OURS` | `DESTROYED` | `in`, `current_round` |
//! | 8..16 | the address of an [`Object`] | 0 | `count`, `shared` |
//! | 16..24 | that address xor `CHECK` | 0 | `out`, unused |
//! | 24..32 | unused | unused | unused |
//!
//! In glibc's own barrier `current_round` is never above `in`, and in both words of this library it
//! is. So neither can be taken for the other.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use libc::pthread_barrier_t;

use crate::Object;

/// The first word of a barrier of this library. Its upper half is larger than its lower one.
const OURS: u64 = 0xF1B0_7A3E_7468_726E;

/// The first word of a barrier of this library that was destroyed.
const DESTROYED: u64 = 0xF1B0_7A3F_7468_726E;

/// Distinguishes an address that was written here from chance.
const CHECK: u64 = 0x6C8E_9CF5_70A1_D42B;

#[repr(C)]
struct Slot {
    magic: AtomicU64,
    object: AtomicU64,
    check: AtomicU64,
}

const _: () = assert!(size_of::<Slot>() <= size_of::<pthread_barrier_t>());
const _: () = assert!(align_of::<Slot>() <= align_of::<pthread_barrier_t>());

/// The library to which a barrier belongs.
#[derive(Debug)]
pub enum Found {
    /// A barrier of this library.
    Ours(*mut Object),
    /// A destroyed barrier of this library.
    Destroyed,
    /// The C library's own.
    Own,
}

/// Returns the library to which this barrier belongs.
///
/// # Safety
/// `barrier` can be read.
#[inline]
pub unsafe fn read(barrier: *const pthread_barrier_t) -> Found {
    // SAFETY: as the caller says; it is not larger and not more aligned than what is there.
    let slot = unsafe { &*barrier.cast::<Slot>() };
    match slot.magic.load(Relaxed) {
        OURS => {
            let address = slot.object.load(Relaxed);
            if slot.check.load(Relaxed) == address ^ CHECK {
                Found::Ours(std::ptr::with_exposed_provenance_mut(address as usize))
            } else {
                Found::Own
            }
        }
        DESTROYED => Found::Destroyed,
        _ => Found::Own,
    }
}

/// Makes it a barrier of this library.
///
/// # Safety
/// `barrier` can be written.
pub unsafe fn write(barrier: *mut pthread_barrier_t, object: *mut Object) {
    let address = object.expose_provenance() as u64;
    // SAFETY: as the caller says.
    unsafe { fill(barrier, OURS, address, address ^ CHECK) };
}

/// Marks it as destroyed.
///
/// # Safety
/// `barrier` can be written.
pub unsafe fn write_destroyed(barrier: *mut pthread_barrier_t) {
    // SAFETY: as the caller says.
    unsafe { fill(barrier, DESTROYED, 0, 0) };
}

/// Writes a slot over the memory of `barrier`.
///
/// # Safety
/// `barrier` can be written.
unsafe fn fill(barrier: *mut pthread_barrier_t, magic: u64, object: u64, check: u64) {
    // SAFETY: as the caller says; it is not larger and not more aligned than what is there.
    let slot = unsafe { &*barrier.cast::<Slot>() };
    slot.object.store(object, Relaxed);
    slot.check.store(check, Relaxed);
    slot.magic.store(magic, Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;
    use std::ptr;

    #[test]
    fn a_slot_tells_whose_it_is() {
        let mut memory = MaybeUninit::<pthread_barrier_t>::zeroed();
        let barrier = memory.as_mut_ptr();
        let object: *mut Object = ptr::without_provenance_mut(0x1000);
        // SAFETY: the memory is there, and the address in it is not followed.
        let found = || unsafe { read(barrier) };
        assert!(matches!(found(), Found::Own));
        // SAFETY: the memory is there.
        unsafe { write(barrier, object) };
        assert!(matches!(found(), Found::Ours(same) if same == object));
        // SAFETY: the memory is there.
        unsafe { write_destroyed(barrier) };
        assert!(matches!(found(), Found::Destroyed));
    }

    #[test]
    fn no_word_of_ours_can_be_one_of_glibc() {
        for word in [OURS, DESTROYED] {
            let (entered, current_round) = (word as u32, (word >> 32) as u32);
            assert!(current_round > entered);
        }
    }
}
