//! Small, reused numbers for the threads of the process.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

/// The numbers that are free to be given to the next thread.
struct Pool {
    /// Numbers of threads that have ended, smallest first.
    returned: BinaryHeap<Reverse<usize>>,
    /// No number from here on was ever given.
    fresh: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { returned: BinaryHeap::new(), fresh: 0 });

impl Pool {
    fn take(&mut self) -> usize {
        self.returned.pop().map_or_else(
            || {
                self.fresh += 1;
                self.fresh - 1
            },
            |Reverse(id)| id,
        )
    }
}

const UNKNOWN: usize = usize::MAX;

thread_local! {
    /// This thread's number, or `UNKNOWN`. Without a destructor, so that it can be read for as
    /// long as the thread runs any code.
    static ID: Cell<usize> = const { Cell::new(UNKNOWN) };
    /// Gives the number back when the thread ends.
    static RETURN: ReturnAtExit = const { ReturnAtExit };
    /// Gives back the number that was taken after that, by another thread-local's destructor.
    static RETURN_LATE: ReturnAtExit = const { ReturnAtExit };
}

struct ReturnAtExit;

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        let id = ID.replace(UNKNOWN);
        if id != UNKNOWN {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            pool.returned.push(Reverse(id));
        }
    }
}

/// The number of the calling thread: unique among the threads alive, given back when it ends.
///
/// A thread that asks again from a thread-local destructor that runs after ours gets a new number,
/// and gives that back too. Only one that it asks for later still is lost.
#[inline]
pub(super) fn current() -> usize {
    let id = ID.get();
    if id == UNKNOWN { assign() } else { id }
}

#[cold]
fn assign() -> usize {
    let id = POOL.lock().unwrap_or_else(PoisonError::into_inner).take();
    ID.set(id);
    if RETURN.try_with(|_| {}).is_err() {
        let _ = RETURN_LATE.try_with(|_| {});
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::{Arc, Barrier};
    use std::thread;

    fn ids_of_threads_alive_together(count: usize) -> HashSet<usize> {
        let all_here = Arc::new(Barrier::new(count));
        let threads: Vec<_> = (0..count)
            .map(|_| {
                let all_here = Arc::clone(&all_here);
                thread::spawn(move || {
                    let id = current();
                    all_here.wait();
                    assert_eq!(id, current(), "a thread keeps its number");
                    id
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    }

    #[test]
    fn threads_alive_together_differ_and_numbers_come_back() {
        assert_eq!(ids_of_threads_alive_together(40).len(), 40);
        let mut largest = 0;
        for _ in 0..20 {
            largest = ids_of_threads_alive_together(40).into_iter().max().unwrap().max(largest);
        }
        // Other tests of this process hold numbers too, but nowhere near twenty times forty.
        assert!(largest < 400, "800 threads came and went, and the largest number is {largest}");
    }

    #[test]
    fn numbers_taken_by_late_destructors_come_back() {
        static LATE_IDS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                LATE_IDS.lock().unwrap().push(current());
            }
        }
        thread_local!(static LATE: Late = const { Late });
        for _ in 0..500 {
            // Destructors run in the order of first use or the other way round, by the system.
            let ours_first = || (current(), LATE.with(|_| {})).0;
            let ours_last = || (LATE.with(|_| {}), current()).1;
            thread::spawn(ours_first).join().unwrap();
            thread::spawn(ours_last).join().unwrap();
        }
        let ids = LATE_IDS.lock().unwrap();
        assert_eq!(ids.len(), 1000);
        let largest = ids.iter().max().unwrap();
        assert!(*largest < 400, "1000 threads came and went, and the largest number is {largest}");
    }
}
