//! crossbeam-deque as its documentation uses it: a worker for each thread, and stealers of all of them.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use crossbeam_deque::{Injector, Steal, Stealer, Worker};

use super::items::Item;
use super::seats::{Attempts, Exchange, Retry};

/// Most threads that can have a deque of their own at the same time.
pub(crate) const MOST_THREADS: usize = 256;

/// Deques of all threads, last in, first out for their owners.
#[derive(Debug)]
pub(crate) struct Deques<T> {
    injector: Injector<T>,
    free: Mutex<Vec<(usize, Worker<T>)>>,
    stealers: Vec<Stealer<T>>,
    /// Number of deques that have been in use: the others are empty.
    used: AtomicUsize,
}

impl<T: Item> Exchange<T> for Deques<T> {
    type Seat<'a> = Retry<Own<'a, T>>;

    fn build(_room: Option<usize>) -> Self {
        let workers: Vec<Worker<T>> = (0..MOST_THREADS).map(|_| Worker::new_lifo()).collect();
        Deques {
            injector: Injector::new(),
            stealers: workers.iter().map(Worker::stealer).collect(),
            // Popped from the end: the last is handed out first.
            free: Mutex::new(workers.into_iter().enumerate().rev().collect()),
            used: AtomicUsize::new(0),
        }
    }

    fn seat(&self, _pops: bool) -> Self::Seat<'_> {
        let own = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some((index, _)) = &own {
            self.used.fetch_max(index + 1, Relaxed);
        }
        Retry(Own { deques: self, own })
    }
}

/// One thread's deque. When the thread is done, it goes back with its contents.
#[derive(Debug)]
pub(crate) struct Own<'a, T> {
    deques: &'a Deques<T>,
    /// [`None`] beyond [`MOST_THREADS`] threads, which then use the injector alone.
    own: Option<(usize, Worker<T>)>,
}

impl<T: Item> Attempts<T> for Own<'_, T> {
    #[inline(always)]
    fn try_put(&mut self, item: T) -> Result<(), T> {
        match &self.own {
            Some((_, worker)) => worker.push(item),
            None => self.deques.injector.push(item),
        }
        Ok(())
    }

    #[inline(always)]
    fn try_take(&mut self) -> Option<T> {
        match &self.own {
            Some((index, worker)) => worker.pop().or_else(|| self.deques.find(*index, worker)),
            None => std::iter::repeat_with(|| self.deques.injector.steal())
                .find(|steal| !steal.is_retry())
                .and_then(Steal::success),
        }
    }
}

impl<T> Deques<T> {
    /// Steals from the injector or from another thread, as the crate's documentation does.
    fn find(&self, index: usize, worker: &Worker<T>) -> Option<T> {
        let used = self.used.load(Relaxed);
        std::iter::repeat_with(|| {
            // Begins at the thread's neighbour, so that not all threads begin at the first.
            let others = (1..used).map(|step| &self.stealers[(index + step) % used]);
            self.injector
                .steal_batch_and_pop(worker)
                .or_else(|| others.map(|other| other.steal_batch_and_pop(worker)).collect())
        })
        .find(|steal| !steal.is_retry())
        .and_then(Steal::success)
    }
}

impl<T> Drop for Own<'_, T> {
    fn drop(&mut self) {
        let mut free = self.deques.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(self.own.take());
    }
}
