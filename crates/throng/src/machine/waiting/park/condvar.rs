//! Any system: words share a few condition variables.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};

use super::super::usage::Usage;
use super::{AtomicU64, Duration, hash};

struct Room {
    door: Mutex<()>,
    bell: Condvar,
}

const BITS: u32 = 4;
static ROOMS: [Room; 1 << BITS] =
    [const { Room { door: Mutex::new(()), bell: Condvar::new() } }; 1 << BITS];

pub(super) fn sleep(word: &AtomicU64, seen: u64, longest: Option<Duration>) {
    let room = &ROOMS[hash(word, BITS)];
    let door = room.door.lock().unwrap_or_else(PoisonError::into_inner);
    // A thread that changes the word after this look passes the door, and so rings when this one is asleep.
    if word.load(Ordering::SeqCst) == seen {
        match longest {
            Some(longest) => drop(room.bell.wait_timeout(door, longest)),
            None => drop(room.bell.wait(door)),
        }
    }
}

pub(super) fn wake_all(word: &AtomicU64) {
    let room = &ROOMS[hash(word, BITS)];
    drop(room.door.lock().unwrap_or_else(PoisonError::into_inner));
    room.bell.notify_all();
}

/// Not known here.
pub(super) fn usage() -> Option<Usage> {
    None
}
