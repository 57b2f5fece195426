//! The structures that are built and used once, ours and others', each in a process of its own.

use std::collections::VecDeque;
use std::process;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_deque::Injector;
use crossbeam_queue::{ArrayQueue, SegQueue};
use serde::{Deserialize, Serialize};
use throng::{Barrier, Counter, Pool, Queue};
use throng_papers::output;

/// The cost of the first use of a structure.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cost {
    /// Nanoseconds to construct it.
    pub new_ns: u64,
    /// Nanoseconds of the first operation.
    pub first_ns: u64,
}

impl Cost {
    /// Returns the sum of both.
    pub fn sum_ns(self) -> u64 {
        self.new_ns + self.first_ns
    }
}

/// One structure of one library.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The structure, as typed.
    pub structure: &'static str,
    /// Its library, as printed.
    pub method: &'static str,
    /// Builds it and uses it once.
    pub run: fn() -> Cost,
}

/// The library that all others are compared with.
pub const REFERENCE: &str = "std";
/// The library's.
pub const OURS: &str = "throng";

/// Capacity of bounded queues.
const ROOM: usize = 16;

/// Returns all cases. Those of one structure stand together, the reference first.
pub fn all() -> Vec<Case> {
    let case = |structure, method, run| Case { structure, method, run };
    vec![
        case("barrier-2", REFERENCE, || meet(2, std::sync::Barrier::new, |b| _ = b.wait())),
        case("barrier-2", OURS, || meet(2, Barrier::new, |b| _ = b.wait())),
        case("barrier-16", REFERENCE, || meet(16, std::sync::Barrier::new, |b| _ = b.wait())),
        case("barrier-16", OURS, || meet(16, Barrier::new, |b| _ = b.wait())),
        case("queue-bounded", REFERENCE, || {
            pass(
                || sync_channel(ROOM),
                |(to, from), item| to.send(item).is_ok() && from.recv() == Ok(item),
            )
        }),
        case("queue-bounded", "crossbeam-channel", || {
            let new = || crossbeam_channel::bounded(ROOM);
            pass(new, |(to, from), item| to.send(item).is_ok() && from.recv() == Ok(item))
        }),
        case("queue-bounded", "array-queue", || {
            pass(
                || ArrayQueue::new(ROOM),
                |queue, item| queue.push(item).is_ok() && queue.pop() == Some(item),
            )
        }),
        case("queue-bounded", OURS, || {
            pass(
                || Queue::bounded(ROOM),
                |queue, item| queue.push(item).is_ok() && queue.pop() == Some(item),
            )
        }),
        case("queue-unbounded", REFERENCE, || {
            pass(channel, |(to, from), item| to.send(item).is_ok() && from.recv() == Ok(item))
        }),
        case("queue-unbounded", "crossbeam-channel", || {
            let new = crossbeam_channel::unbounded;
            pass(new, |(to, from), item| to.send(item).is_ok() && from.recv() == Ok(item))
        }),
        case("queue-unbounded", "seg-queue", || {
            pass(SegQueue::new, |queue, item| {
                queue.push(item);
                queue.pop() == Some(item)
            })
        }),
        case("queue-unbounded", OURS, || {
            pass(Queue::unbounded, |queue, item| {
                queue.push(item).is_ok() && queue.pop() == Some(item)
            })
        }),
        case("counter", REFERENCE, || {
            once(|| AtomicU64::new(0), |counter| counter.fetch_add(1, Relaxed) == 0)
        }),
        case("counter", OURS, || once(Counter::new, |counter| counter.next() == 0)),
        case("pool", REFERENCE, || {
            pass(
                || Mutex::new(VecDeque::new()),
                |jobs, job| {
                    jobs.lock().is_ok_and(|mut jobs| {
                        jobs.push_back(job);
                        jobs.pop_front() == Some(job)
                    })
                },
            )
        }),
        case("pool", "injector", || {
            pass(Injector::new, |jobs, job| {
                jobs.push(job);
                jobs.steal().success() == Some(job)
            })
        }),
        case("pool", OURS, || {
            pass(Pool::new, |pool, job| pool.push(job).is_ok() && pool.pop() == Some(job))
        }),
    ]
}

/// Puts an item in and takes it out.
fn pass<Q>(new: impl FnOnce() -> Q, pass: impl FnOnce(&Q, u64) -> bool) -> Cost {
    once(new, |queue| pass(queue, 7))
}

/// Builds a structure and uses it once, on this thread alone.
fn once<S>(new: impl FnOnce() -> S, use_once: impl FnOnce(&S) -> bool) -> Cost {
    look_at_the_clock();
    let start = Instant::now();
    let structure = new();
    let made = Instant::now();
    let is_right = use_once(&structure);
    let used = Instant::now();
    if !is_right {
        give_up("another value came back");
    }
    cost(start, made, used)
}

fn cost(start: Instant, made: Instant, used: Instant) -> Cost {
    let ns = |time: Duration| time.as_nanos() as u64;
    Cost { new_ns: ns(made - start), first_ns: ns(used - made) }
}

/// Time after which all started threads have parked.
const SETTLED: Duration = Duration::from_millis(2);

/// Builds a barrier when its threads are parked. The first operation is the time from then until
/// the first round is over. Most of that is waking the threads, which takes equally long for any
/// barrier.
fn meet<B: Send + Sync>(threads: usize, new: fn(usize) -> B, wait: fn(&B)) -> Cost {
    look_at_the_clock();
    let place = &OnceLock::new();
    thread::scope(|scope| {
        let member = || {
            while place.get().is_none() {
                thread::park();
            }
            if let Some(barrier) = place.get() {
                wait(barrier);
            }
        };
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, member);
        let members: Result<Vec<_>, _> = (1..threads).map(spawn).collect();
        let members = members.unwrap_or_else(|_| give_up("threads cannot be had"));
        thread::sleep(SETTLED);
        let start = Instant::now();
        let barrier = new(threads);
        let made = Instant::now();
        let barrier = place.get_or_init(|| barrier);
        members.iter().for_each(|member| member.thread().unpark());
        wait(barrier);
        cost(start, made, Instant::now())
    })
}

/// Reads the clock: its first reading is slow, and must not be measured.
fn look_at_the_clock() {
    std::hint::black_box(Instant::now().elapsed());
}

fn give_up(why: &str) -> ! {
    output::say(&format!("error: {why}\n"));
    process::exit(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_runs_and_every_structure_has_a_reference_and_ours() {
        let all = all();
        for case in &all {
            let cost = (case.run)();
            assert!(cost.sum_ns() > 0, "{case:?}");
            assert_eq!(cost.sum_ns(), cost.new_ns + cost.first_ns);
        }
        for case in &all {
            let here = || all.iter().filter(|other| other.structure == case.structure);
            assert_eq!(here().next().unwrap().method, REFERENCE, "{case:?}");
            assert_eq!(here().filter(|other| other.method == OURS).count(), 1, "{case:?}");
        }
    }
}
