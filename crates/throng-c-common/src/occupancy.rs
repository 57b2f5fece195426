//! Returns when all threads have left a barrier, so that its memory can be freed.
//!
//! A thread that has returned from a barrier may destroy it while others of the same round are
//! still leaving. Each thread therefore counts itself in before it waits, and out when it will not
//! touch the barrier again. The counts are spread over shards by thread, so that this adds no line
//! that all threads write.
//!
//! ## Memory ordering
//! A thread counts itself in before it arrives, and the arrival happens before the return of every thread
//! of that round. So the thread that destroys sees all counts of the rounds that are complete, with relaxed
//! loads. Counting out releases, and [`Occupancy::vacate`] acquires: what a thread did in the barrier
//! happens before the memory is freed.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread;
use std::time::Duration;

/// The largest number of shards of a barrier; more threads share them.
const MOST_SHARDS: usize = 64;

/// Counts the threads inside a barrier.
#[derive(Debug)]
pub struct Occupancy {
    shards: Box<[Shard]>,
    members: u64,
}

/// Neither count ever decreases.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Shard {
    entered: AtomicU64,
    left: AtomicU64,
}

/// Threads wait for a round that is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked;

/// Proof that a thread was counted in.
#[derive(Debug)]
#[must_use]
pub struct Inside(*const AtomicU64);

impl Occupancy {
    /// Returns the counts of a barrier of `members` threads, at least 1.
    #[must_use]
    pub fn new(members: usize) -> Self {
        let shards = members.next_power_of_two().min(MOST_SHARDS);
        Occupancy {
            shards: (0..shards).map(|_| Shard::default()).collect(),
            members: members as u64,
        }
    }

    /// Counts this thread in, before it waits.
    #[inline]
    pub fn enter(&self) -> Inside {
        // A power of two.
        let shard = &self.shards[thread_number() & (self.shards.len() - 1)];
        shard.entered.fetch_add(1, Relaxed);
        Inside(&raw const shard.left)
    }

    /// Waits until all threads of complete rounds have left.
    ///
    /// # Errors
    /// If threads wait for a round that is not complete: they cannot leave.
    pub fn vacate(&self) -> Result<(), Blocked> {
        let entered: u64 = self.shards.iter().map(|shard| shard.entered.load(Relaxed)).sum();
        if !entered.is_multiple_of(self.members) {
            return Err(Blocked);
        }
        self.wait_for_leavers();
        Ok(())
    }

    /// Waits until as many threads have left as have entered.
    pub fn wait_for_leavers(&self) {
        for shard in &self.shards {
            let mut polls = 0;
            while shard.left.load(Acquire) != shard.entered.load(Relaxed) {
                polls += 1;
                pause(polls);
            }
        }
    }
}

impl Inside {
    /// Counts the thread out. Touches nothing of the barrier after that.
    ///
    /// # Safety
    /// The [`Occupancy`] is still there: it is freed only after [`Occupancy::vacate`], which waits for this.
    #[inline]
    pub unsafe fn leave(self) {
        // SAFETY: as the caller says. The shard may be freed as soon as this has counted.
        unsafe { (*self.0).fetch_add(1, Release) };
    }
}

/// Pauses for the `poll`-th time in a wait for threads that are about to leave. They may need this
/// very core, so it spins briefly, yields, and then sleeps: a thread with a real-time priority
/// would not yield to them.
fn pause(poll: u32) {
    const SPINS: u32 = 64;
    const YIELDS: u32 = 1000;
    const NAP: Duration = Duration::from_micros(100);
    match poll {
        0..SPINS => spin_loop(),
        SPINS..YIELDS => thread::yield_now(),
        _ => thread::sleep(NAP),
    }
}

/// Returns a number of this thread. Threads that start one after the other get neighbouring
/// numbers.
#[inline]
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    // Without a destructor, so that it can be read in the destructors of other thread-locals.
    thread_local!(static NUMBER: Cell<usize> = const { Cell::new(0) });
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Relaxed));
        }
        number.get()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_rounds_can_be_left() {
        let occupancy = Occupancy::new(2);
        assert_eq!(occupancy.vacate(), Ok(()));
        let first = occupancy.enter();
        assert_eq!(occupancy.vacate(), Err(Blocked));
        let second = occupancy.enter();
        thread::scope(|scope| {
            scope.spawn(|| assert_eq!(occupancy.vacate(), Ok(())));
            thread::sleep(Duration::from_millis(5));
            for inside in [first, second] {
                // SAFETY: `occupancy` outlives this scope.
                unsafe { inside.leave() };
            }
        });
    }
}
