//! How many threads the loops of a program start, and that they end. One test, so that all threads of the process are
//! its own.

#![cfg(target_os = "linux")]

use std::fs;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use throng::for_each_index;

/// How many threads this process has, as the system counts them.
fn threads() -> Option<usize> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("Threads:"))?.trim().parse().ok()
}

/// Calls `run`, and returns the most threads that were seen meanwhile.
fn most_threads_in(run: impl FnOnce()) -> usize {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !is_over.load(Relaxed) {
                most = most.max(threads().unwrap_or(0));
                thread::sleep(Duration::from_millis(1));
            }
            most
        });
        run();
        is_over.store(true, Relaxed);
        watcher.join().expect("it does not panic")
    })
}

#[test]
fn threads_of_loops_are_limited_and_end() {
    let Some(before) = threads() else {
        eprintln!("/proc/self/status cannot be read: nothing is checked");
        return;
    };
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    // The watcher, and a machine with more cores than this process may use.
    let limit = before + 1 + 256.max(16 * cores);

    let done = AtomicUsize::new(0);
    let most = most_threads_in(|| {
        for_each_index(0..20_000_000, usize::MAX, |_| _ = done.fetch_add(1, Relaxed));
    });
    assert_eq!(done.into_inner(), 20_000_000);
    assert!(most <= limit, "{most} threads");

    // Indices that sleep need more threads than there are cores.
    const CALLERS: usize = 8;
    let done = AtomicUsize::new(0);
    let most = most_threads_in(|| {
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| {
                    for_each_index(0..2000, usize::MAX, |_| {
                        thread::sleep(Duration::from_micros(500));
                        done.fetch_add(1, Relaxed);
                    });
                });
            }
        });
    });
    assert_eq!(done.into_inner(), CALLERS * 2000);
    assert!(most <= limit + CALLERS, "{most} threads");

    let start = Instant::now();
    while threads() > Some(before) {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} threads are left", threads());
        thread::sleep(Duration::from_millis(20));
    }
}
