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
/// which is then never given back: there is no later moment at which to do so.
#[inline]
pub(super) fn current() -> usize {
    let id = ID.get();
    if id == UNKNOWN { assign() } else { id }
}

#[cold]
fn assign() -> usize {
    let id = POOL.lock().unwrap_or_else(PoisonError::into_inner).take();
    ID.set(id);
    // Fails only during the thread's end, when the number cannot be given back any more.
    let _ = RETURN.try_with(|_| {});
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
    fn a_call_from_a_late_destructor_still_gets_a_number() {
        struct Late;
        impl Drop for Late {
            fn drop(&mut self) {
                assert_ne!(current(), UNKNOWN);
            }
        }
        thread_local!(static LATE: Late = const { Late });
        thread::spawn(|| {
            LATE.with(|_| {});
            current();
        })
        .join()
        .unwrap();
    }
}
