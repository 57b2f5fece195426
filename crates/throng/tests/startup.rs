//! What the first structures of a process cost. One test, so that the process is its own: the topology is read once.

#![cfg(target_os = "linux")]

use std::fs;
use std::thread;

use throng::{Barrier, Counter, Pool, Queue};

/// How many times this process has asked the system to read, as the system counts it.
fn reads() -> Option<u64> {
    let counts = fs::read_to_string("/proc/self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("syscr: "))?.trim().parse().ok()
}

/// Whether this thread may use all cores of a list like `0-15`.
fn all_are_ours(online: &str) -> bool {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    allowed.is_some_and(|allowed| allowed.trim() == online.trim())
}

/// To read a topology takes dozens of reads.
#[test]
fn the_first_structures_of_a_process_read_no_files_and_a_large_barrier_few() {
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

    // More members than cores, so that the number of caches does not matter.
    let crowd = Barrier::new(4096);
    let at_last = reads().expect("it could be read before");
    let of_barrier = (at_last - after) - (meanwhile - before);
    assert!(of_barrier <= 1 || of_barrier > 20, "{of_barrier} reads: neither one file nor all");
    if fs::read_to_string("/sys/devices/system/cpu/online")
        .is_ok_and(|online| all_are_ours(&online))
    {
        assert_eq!(of_barrier, 1, "one file tells whether there are more cores");
    }
    drop(crowd);
}
