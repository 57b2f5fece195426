//! Unique ids for records that many threads make at once.
//!
//! ```text
//! cargo run --release -p throng --example ids
//! ```

use std::thread;

use throng::Counter;

const THREADS: usize = 4;
const RECORDS_A_THREAD: usize = 100_000;

fn main() {
    // One counter, shared by reference: no lock around it, nothing to set up for each thread.
    let next_id = Counter::new();

    let ids_by_thread: Vec<Vec<u64>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| (0..RECORDS_A_THREAD).map(|_| next_id.next()).collect()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("taking an id does not panic"))
            .collect()
    });

    // The numbers that a thread gets depend on the other threads, but each thread's ids ascend.
    for (thread, ids) in ids_by_thread.iter().enumerate() {
        assert!(ids.is_sorted());
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        println!("thread {thread}: {} ids, from {first} to {last}", ids.len());
    }

    // All threads have ended, so the ids are exactly 0, 1, 2, ...: none twice, none left out.
    let mut all: Vec<u64> = ids_by_thread.into_iter().flatten().collect();
    all.sort_unstable();
    assert!(all.iter().copied().eq(0..all.len() as u64));
    println!("together: 0 to {}, each exactly once", all.len() - 1);
}
