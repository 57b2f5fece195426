//! Any system: words share 16 condition variables.

use std::sync::atomic::Ordering;
use std::sync::{Condvar, Mutex, PoisonError};

use super::Usage;
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
    // A thread that changes the word after this look takes the lock before it notifies, so this
    // thread is asleep by then.
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

/// Wakes all: the thread to be woken may not be the first of the threads that share the condition
/// variable.
pub(super) fn wake_one(word: &AtomicU64) {
    wake_all(word);
}

/// Returns `None`: the system does not count it.
pub(super) fn usage() -> Option<Usage> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    /// A thread between its look and its sleep holds the door. A bell that rings meanwhile would not wake it.
    #[test]
    fn the_bell_does_not_ring_before_a_thread_at_the_door_is_asleep() {
        let (word, has_rung) = (AtomicU64::new(0), AtomicBool::new(false));
        let wakes: [fn(&AtomicU64); 2] = [wake_all, wake_one];
        for wake in wakes {
            thread::scope(|scope| {
                let door = ROOMS[hash(&word, BITS)].door.lock().expect("no sleep panics");
                scope.spawn(|| {
                    wake(&word);
                    has_rung.store(true, Ordering::SeqCst);
                });
                thread::sleep(Duration::from_millis(30));
                assert!(!has_rung.load(Ordering::SeqCst));
                drop(door);
            });
            assert!(has_rung.swap(false, Ordering::SeqCst));
        }
    }
}
