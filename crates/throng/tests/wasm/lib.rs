//! The default structures on a system with one thread and no clock; built for WebAssembly and called by the script
//! `targets`.

#![cfg(all(target_family = "wasm", target_os = "unknown"))]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use throng::{Barrier, Counter, Pool, Queue, for_each_index};

const SHORT: Duration = Duration::from_millis(5);

thread_local! {
    static CHECKS: Cell<u32> = const { Cell::new(0) };
}

fn check(is_true: bool) {
    assert!(is_true);
    CHECKS.set(CHECKS.get() + 1);
}

/// Returns the number of checks, all of which held. A panic traps.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> u32 {
    // Enough numbers for looks at the clock.
    let counter = Counter::new();
    check((0..100_000).all(|number| counter.next() == number));

    let bounded = Queue::bounded(2);
    check(bounded.push(1).is_ok() && bounded.try_push(2).is_ok() && bounded.try_push(3).is_err());
    check(bounded.push_timeout(3, SHORT).is_err());
    check(bounded.drain().eq([1, 2]));
    check(bounded.pop_timeout(SHORT).is_err());

    let unbounded = Queue::unbounded();
    (0..1000).for_each(|item| check(unbounded.push(item).is_ok()));
    check(unbounded.drain().eq(0..1000));

    let pool = Pool::new();
    (0..100).for_each(|job| check(pool.push(job).is_ok()));
    check((0..100).filter_map(|_| pool.pop()).sum::<u32>() == 4950);
    check(pool.pop_timeout(SHORT).is_err());
    check(pool.close() && pool.pop().is_none());

    check(Barrier::new(1).wait().is_leader());
    check(Barrier::new(2).wait_timeout(SHORT).is_err());

    let sum = AtomicUsize::new(0);
    for_each_index(0..1000, 4, |index| _ = sum.fetch_add(index, Relaxed));
    check(sum.into_inner() == 499_500);
    CHECKS.get()
}
