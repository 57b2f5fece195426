//! Ranks that are idle.

use crate::{Ranks, gather};
use rustix::time::{ClockId, clock_gettime};
use std::thread;
use std::time::{Duration, Instant};
use throng_mpi::{Barrier, BarrierKind, Counter, Shape};

pub(crate) fn all(ranks: &Ranks) {
    ranks.test("an idle rank does not burn a core", idle);
    ranks.test("a rank that waits for long does not burn a core", waits);
}

/// The largest use of a core, in percent.
const MOST: f64 = 10.0;

fn idle(ranks: &Ranks) {
    let counter = Counter::new(&ranks.world, &Shape::Central).expect("all are here");
    counter.next().expect("all answer");
    let before = cpu_time();
    thread::sleep(Duration::from_secs(1));
    let percent = (cpu_time() - before).as_secs_f64() * 100.0;
    let start = Instant::now();
    counter.next().expect("all answer");
    let first = start.elapsed();
    // Only rank 0 has a role, so its use is the cost of serving others.
    let worst = gather::largest(&ranks.world, percent);
    let slowest = gather::largest(&ranks.world, first.as_secs_f64());
    if ranks.rank == 0 {
        println!("idle: {worst:.2} % of a core; the first number after it {:.2} ms", slowest * 1e3);
    }
    assert!(percent < MOST, "rank {} used {percent:.1} % of a core", ranks.rank);
    counter.finish().expect("all leave");
}

/// The last rank comes to the barrier a second late.
fn waits(ranks: &Ranks) {
    let kind = BarrierKind::Dissemination;
    let mut barrier = Barrier::new(&ranks.world, kind).expect("all are here");
    barrier.wait().expect("all come");
    let before = cpu_time();
    if ranks.rank == ranks.count - 1 {
        thread::sleep(Duration::from_secs(1));
    }
    barrier.wait().expect("all come");
    let percent = (cpu_time() - before).as_secs_f64() * 100.0;
    let worst = gather::largest(&ranks.world, percent);
    if ranks.rank == 0 {
        println!("waiting: {worst:.2} % of a core");
    }
    assert!(percent < MOST, "rank {} used {percent:.1} % of a core", ranks.rank);
    barrier.finish().expect("all leave");
}

/// Returns the processor time of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
