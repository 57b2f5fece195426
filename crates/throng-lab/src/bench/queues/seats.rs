//! The common interface of all queues, without dynamic dispatch: the queue is inlined into the
//! loop, as in a program that uses nothing else.

use std::hint::spin_loop;
use std::thread::yield_now;

use super::items::Item;

/// A queue to be measured.
pub trait Exchange<T: Item>: Sync + Sized {
    /// One thread's handle.
    type Seat<'a>: Seat<T>
    where
        Self: 'a;

    /// Builds a queue with capacity `room`. [`None`]: unbounded.
    fn build(room: Option<usize>) -> Self;

    /// Returns a handle of the calling thread. `pops`: whether it will take items out.
    fn seat(&self, pops: bool) -> Self::Seat<'_>;
}

/// One thread's handle of a queue.
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

/// One thread's handle of a queue that never waits.
pub trait Attempts<T> {
    /// Puts an item in if there is room; gives it back if not.
    ///
    /// # Errors
    /// The item.
    fn try_put(&mut self, item: T) -> Result<(), T>;
    /// Takes an item out if there is one.
    fn try_take(&mut self) -> Option<T>;
}

/// Retries until it works: the same loop for all queues that cannot wait.
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

/// Pauses of growing length, then yields, like `snooze` of crossbeam's `Backoff`.
#[derive(Debug, Default)]
pub(in crate::bench) struct Backoff(u32);

/// Number of pauses, each twice as long as the one before, until the thread yields.
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
