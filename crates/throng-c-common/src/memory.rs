//! Checks whether there is memory, before it is needed.
//!
//! The constructors of `throng` abort the process if there is no memory. A caller that checks here
//! first can return an error instead. The answer holds until another thread takes that memory: this
//! makes an abort rare, not impossible.

use std::hint::black_box;

/// Returns whether `bytes` can be allocated in one piece. They are freed at once.
#[must_use]
pub fn is_there(bytes: usize) -> bool {
    let mut probe = Vec::<u8>::new();
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    // Without this the compiler may leave out an allocation that is not used.
    black_box(&mut probe);
    is_there
}

/// Moves `value` to the heap, or returns `None` if there is no memory.
#[must_use]
pub fn boxed<T>(value: T) -> Option<Box<T>> {
    let mut one = Vec::new();
    one.try_reserve_exact(1).ok()?;
    one.push(value);
    // SAFETY: the slice has one value of this type, so it is allocated in the same way.
    Some(unsafe { Box::from_raw(Box::into_raw(one.into_boxed_slice()).cast()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_not_there() {
        assert!(is_there(0));
        assert!(is_there(1 << 20));
        assert!(!is_there(isize::MAX as usize));
        assert!(!is_there(usize::MAX));
    }

    #[test]
    fn a_box_has_its_value() {
        assert_eq!(boxed([7_u64; 3]).as_deref(), Some(&[7; 3]));
        assert_eq!(boxed(()).as_deref(), Some(&()));
    }
}
