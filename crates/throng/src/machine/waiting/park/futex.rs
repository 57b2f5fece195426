//! Linux: the kernel compares the lower half of the word with the value that the thread saw.

use std::ffi::{c_int, c_long};
use std::io::{Error, ErrorKind};
use std::ptr;

use super::super::NAP;
use super::Usage;
use super::{AtomicU64, Duration, Feature, is_absent};
use crate::machine::time;

#[cfg(target_arch = "x86_64")]
const FUTEX: c_long = 202;
#[cfg(not(target_arch = "x86_64"))]
const FUTEX: c_long = 98;

/// The flag for threads of one process, which the kernel finds faster.
const PRIVATE: c_int = 128;
const WAIT: c_int = PRIVATE;
const WAKE: c_int = 1 | PRIVATE;

#[repr(C)]
struct TimeSpec {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    /// A function of the C library, which the standard library is linked with.
    fn syscall(number: c_long, ...) -> c_long;
    fn getrusage(who: c_int, usage: *mut [c_long; RUSAGE_WORDS]) -> c_int;
    fn clock_gettime(clock: c_int, time: *mut TimeSpec) -> c_int;
}

/// The number of words of `struct rusage`. The last two words are the voluntary and the involuntary
/// context switches. (Its times lag by up to a tick.)
const RUSAGE_WORDS: usize = 18;
const OF_THIS_THREAD: c_int = 1;
const TIME_OF_THIS_THREAD: c_int = 3;

pub(super) fn usage() -> Option<Usage> {
    let mut words = [0; RUSAGE_WORDS];
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure has this size on 64-bit Linux, and its fields are words.
    let has_words = unsafe { getrusage(OF_THIS_THREAD, &raw mut words) } == 0;
    // SAFETY: the structure is that of 64-bit Linux.
    let has_time = unsafe { clock_gettime(TIME_OF_THIS_THREAD, &raw mut time) } == 0;
    let [.., asked, not_asked] = words.map(|word| word as u64);
    let on_core = time.seconds as u64 * 1_000_000_000 + time.nanoseconds as u64;
    (has_words && has_time).then_some(Usage { on_core, sleeps: asked, preemptions: not_asked })
}

pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Option<Duration>) {
    if !wait(word, seen, longest) {
        // No wake-up will come either, so the word is polled.
        time::sleep(longest.map_or(NAP, |longest| longest.min(NAP)));
    }
}

/// Sleeps until woken, for `longest` at most, unless `word` no longer has the value `seen`. Returns
/// `false` at once if the system has no futex.
fn wait(word: &AtomicU64, seen: u64, longest: Option<Duration>) -> bool {
    if is_absent(Feature::Futex) {
        return false;
    }
    let time = longest.map(|longest| TimeSpec {
        seconds: longest.as_secs() as i64,
        nanoseconds: i64::from(longest.subsec_nanos()),
    });
    let time = time.as_ref().map_or(ptr::null(), ptr::from_ref);
    // The kernel compares 32 bits of 64. No wake-up is lost by that, because a value that ends a
    // wait differs from the value slept on in these 32 bits. The section "Half of a word" of the
    // README of `waiting` shows that for each word of the library. `NativeWord::sleep_long` asserts
    // it at the end of each wait.
    // SAFETY: the kernel reads 4 bytes of the word, which is 8 bytes long, and the time, if there
    // is one, which lives until the call returns.
    let end = unsafe { syscall(FUTEX, ptr::from_ref(word).cast::<u32>(), WAIT, seen as u32, time) };
    let is_usual = |error: Error| {
        matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::TimedOut)
    };
    end == 0 || is_usual(Error::last_os_error())
}

pub(super) fn wake_all(word: &AtomicU64) {
    wake(word, c_int::MAX);
}

pub(super) fn wake_one(word: &AtomicU64) {
    wake(word, 1);
}

fn wake(word: &AtomicU64, most: c_int) {
    // SAFETY: the kernel uses the address as a name and reads nothing there.
    unsafe {
        syscall(FUTEX, ptr::from_ref(word).cast::<u32>(), WAKE, most);
    }
}
