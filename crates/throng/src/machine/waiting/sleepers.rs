//! The count of threads that sleep on a word, and waking them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::park;

/// Wakes the threads that sleep on `word`. The change of the word must have been a sequentially
/// consistent operation.
#[inline]
pub(in crate::machine) fn wake(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        wake_all(word);
    }
}

/// Wakes at least one of the threads that sleep on `word`. The change of the word must have been a
/// sequentially consistent operation.
pub(in crate::machine) fn wake_one(word: &AtomicU64) {
    if sleepers(word).load(Ordering::SeqCst) != 0 {
        park::wake_one(word);
    }
}

/// Wakes the threads that sleep on `word`, counted or not.
#[cold]
pub(in crate::machine) fn wake_all(word: &AtomicU64) {
    park::wake_all(word);
}

/// Returns the number of threads that sleep on `word` and on other words that share its entry. The
/// table is large, because a wake-up of a word that shares an entry with a sleeper makes a system
/// call in vain.
#[inline]
pub(super) fn sleepers(word: &AtomicU64) -> &'static AtomicU32 {
    const BITS: u32 = 12;
    static SLEEPERS: [AtomicU32; 1 << BITS] = [const { AtomicU32::new(0) }; 1 << BITS];
    &SLEEPERS[park::hash(word, BITS)]
}
