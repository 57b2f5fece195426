//! What the first structures of a process cost. Alone in this file, and so in its process: the topology is read once.

#![cfg(target_os = "linux")]

use std::fs;
use std::thread;

use throng::{Barrier, Counter, Pool, Queue};

/// How many times this process has asked the system to read, as the system counts it.
fn reads() -> Option<u64> {
    let counts = fs::read_to_string("/proc/self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("syscr: "))?.trim().parse().ok()
}

/// To read a topology takes dozens of reads.
#[test]
fn the_first_structures_of_a_process_read_no_files() {
    let members = thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
    let (Some(before), Some(meanwhile)) = (reads(), reads()) else {
        eprintln!("/proc/self/io cannot be read: nothing is checked");
        return;
    };
    let barrier = Barrier::new(members);
    let (counter, queue, pool) = (Counter::new(), Queue::bounded(4), Pool::new());
    thread::scope(|scope| (0..members).for_each(|_| _ = scope.spawn(|| barrier.wait())));
    counter.next();
    queue.push(1).expect("it is open");
    pool.push(1).expect("it is open");
    let after = reads().expect("it could be read before");
    assert_eq!(after - meanwhile, meanwhile - before, "reads of others than this test");
}
