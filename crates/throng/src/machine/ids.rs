//! Small, reused numbers for the threads of the process.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fork;
use crate::published::Published;

/// The numbers of threads that have ended, smallest first.
type Returned = Mutex<BinaryHeap<Reverse<usize>>>;

/// The returned numbers of a process that is not the child of a counted fork.
static RETURNED: Returned = Mutex::new(BinaryHeap::new());

/// The returned numbers of a child, with the number of forks before it. It has its own lock, since
/// another thread of the parent may have held the parent's.
static RETURNED_IN_CHILD: Published<(u64, Returned)> = Published::new();

/// The smallest number that was never given. A child continues with its parent's value. It does not
/// reuse the numbers of its parent's other threads, which may have been in the middle of calls.
static FRESH: AtomicUsize = AtomicUsize::new(0);

fn returned() -> MutexGuard<'static, BinaryHeap<Reverse<usize>>> {
    let returned = match fork::count() {
        0 => &RETURNED,
        forks => {
            let is_current = |(made_at, _): &(u64, Returned)| *made_at == forks;
            let make = || (forks, Mutex::new(BinaryHeap::new()));
            &RETURNED_IN_CHILD.get_or_renew(is_current, make).1
        }
    };
    returned.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take() -> usize {
    let returned = returned().pop();
    // Numbers do not overflow before memory is used up.
    returned.map_or_else(|| FRESH.fetch_add(1, Relaxed), |Reverse(id)| id)
}

const UNKNOWN: usize = usize::MAX;

thread_local! {
    /// This thread's number, or `UNKNOWN`. It has no destructor, so that it can be read as long as
    /// the thread runs any code.
    static ID: Cell<usize> = const { Cell::new(UNKNOWN) };
    /// Gives the number back when the thread ends.
    static RETURN: ReturnAtExit = const { ReturnAtExit };
    /// Gives back the number that a destructor of another thread-local took after that.
    static RETURN_LATE: ReturnAtExit = const { ReturnAtExit };
}

struct ReturnAtExit;

impl Drop for ReturnAtExit {
    fn drop(&mut self) {
        let id = ID.replace(UNKNOWN);
        if id != UNKNOWN {
            returned().push(Reverse(id));
        }
    }
}

/// Returns the number of the calling thread. It is unique among the threads alive, and is given
/// back when the thread ends.
///
/// A thread-local destructor that runs after ours gets a new number for its thread, which is given
/// back, too. A number that is asked for later still is lost.
#[inline]
pub(super) fn current() -> usize {
    let id = ID.get();
    if id == UNKNOWN { assign() } else { id }
}

#[cold]
fn assign() -> usize {
    let id = take();
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
        // Other tests of this process hold numbers too, but far fewer than twenty times forty.
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
            // The system decides whether destructors run in the order of first use or in reverse.
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
