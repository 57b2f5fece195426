//! One way into all queues, without a call through a pointer: what is measured is the queue, inlined
//! into the loop as in a program that uses nothing else.

use std::hint::spin_loop;
use std::thread::yield_now;

use super::items::Item;

/// A queue to be measured.
pub trait Exchange<T: Item>: Sync + Sized {
    /// One thread's way in.
    type Seat<'a>: Seat<T>
    where
        Self: 'a;

    /// A new queue with room for so many items; [`None`]: for all there is memory for.
    fn build(room: Option<usize>) -> Self;

    /// The way in of the calling thread. `pops`: whether it will take items out.
    fn seat(&self, pops: bool) -> Self::Seat<'_>;
}

/// One thread's way into a queue.
pub trait Seat<T> {
    /// Puts an item in; waits for room.
    fn put(&mut self, item: T);
    /// Puts an item in if there is room, or gives it back.
    ///
    /// # Errors
    /// The item.
    fn offer(&mut self, item: T) -> Result<(), T>;
    /// Takes an item out; waits for one.
    fn take(&mut self) -> T;
    /// Takes an item out if there is one.
    fn poll(&mut self) -> Option<T>;
}

/// One thread's way into a queue that never waits.
pub trait Attempts<T> {
    /// Puts an item in if there is room; gives it back if not.
    ///
    /// # Errors
    /// The item.
    fn try_put(&mut self, item: T) -> Result<(), T>;
    /// Takes an item out if there is one.
    fn try_take(&mut self) -> Option<T>;
}

/// Tries again until it works: the same loop for all that have no way to wait.
#[derive(Debug)]
pub struct Retry<A>(pub A);

impl<T, A: Attempts<T>> Seat<T> for Retry<A> {
    #[inline(always)]
    fn put(&mut self, mut item: T) {
        let mut backoff = Backoff::default();
        while let Err(back) = self.0.try_put(item) {
            item = back;
            backoff.wait();
        }
    }

    #[inline(always)]
    fn offer(&mut self, item: T) -> Result<(), T> {
        self.0.try_put(item)
    }

    #[inline(always)]
    fn take(&mut self) -> T {
        let mut backoff = Backoff::default();
        loop {
            if let Some(item) = self.0.try_take() {
                return item;
            }
            backoff.wait();
        }
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<T> {
        self.0.try_take()
    }
}

/// Pauses that get longer, and then lets others run: as people write it, and as `snooze` of crossbeam's
/// `Backoff` does it.
#[derive(Debug, Default)]
pub(in crate::bench) struct Backoff(u32);

/// After so many pauses, each twice as long as the one before, others may run.
const PAUSES: u32 = 7;

impl Backoff {
    #[inline(always)]
    pub(in crate::bench) fn wait(&mut self) {
        if self.0 < PAUSES {
            (0..1 << self.0).for_each(|_| spin_loop());
            self.0 += 1;
        } else {
            yield_now();
        }
    }
}
