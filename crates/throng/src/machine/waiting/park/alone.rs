//! A system with one thread (WebAssembly without its extension for threads). No other thread could
//! change the word or wake this one. A sleep lets its time pass and returns.

use super::Usage;
use super::{AtomicU64, Duration};
use crate::machine::time;

pub(super) fn sleep(_word: &AtomicU64, _seen: u64, longest: Option<Duration>) {
    time::sleep(longest.unwrap_or_default());
}

pub(super) const fn wake_all(_word: &AtomicU64) {}

pub(super) const fn wake_one(_word: &AtomicU64) {}

/// Returns `None`: the system does not count it.
pub(super) const fn usage() -> Option<Usage> {
    None
}
