//! A tree of jobs: each job creates two, down to a depth.
//!
//! A thread takes a job, works, and puts in two more, until there are no jobs left. A thread that
//! finds no job publishes its number of done jobs and adds up those of all threads. So no word is
//! shared while there is work.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use rayon::{Scope, ThreadPool, ThreadPoolBuilder};

use super::team::{self, Figures, Order};
use crate::bench::barriers::run::pin;
use crate::bench::pace::SteadyWork;
use crate::bench::queues::check::Wrong;
use crate::bench::queues::run::{Alone, Failure};
use crate::bench::queues::seats::{Backoff, Exchange, Seat};
use crate::bench::together::ThreadsFailure;

/// The default depth: 524 287 jobs.
const USUAL_DEPTH: u32 = 18;
/// Without `--depth`, longest time of a tree's work; the tree gets shallower until it fits.
const MOST_NS: u64 = 150_000_000;
/// Smallest depth whose result says something.
const LEAST_DEPTH: u32 = 10;

fn depth(order: &Order<'_>, work_ns: u32) -> u32 {
    let fits = |depth: &u32| {
        // Taking and putting a job takes time too.
        jobs(*depth) * u64::from(work_ns + 50) / order.case.threads as u64 <= MOST_NS
    };
    order
        .depth
        .unwrap_or_else(|| (LEAST_DEPTH..=USUAL_DEPTH).rev().find(fits).unwrap_or(LEAST_DEPTH))
}

/// Returns the number of jobs in a tree of this depth.
fn jobs(depth: u32) -> u64 {
    (2 << depth) - 1
}

/// Returns the result of a run: million jobs a second.
///
/// # Errors
/// When another number of jobs was done than the tree has.
fn judge(depth: u32, done: u64, seconds: f64) -> Result<Figures, Failure> {
    if done != jobs(depth) {
        return Err(Failure::Wrong(Wrong::Count { pushed: jobs(depth), popped: done }));
    }
    let value = done as f64 / seconds.max(1e-9) / 1e6;
    Ok(Figures { value, checked: done, ..Figures::default() })
}

/// Measures a queue or a pool.
pub(super) fn run<X: Exchange<u64>>(order: &Order<'_>, work_ns: u32) -> Result<Figures, Failure> {
    let queue = Box::new(Alone(X::build(None)));
    let exchange = &queue.0;
    let depth = depth(order, work_ns);
    let board = &Board::new(order.case.threads, jobs(depth));
    let (results, _) = team::run(order, None, |rank, team| {
        let work = SteadyWork::of(work_ns);
        let mut seat = exchange.seat(true);
        if rank == 0 {
            seat.put(u64::from(depth));
        }
        if !team.begin() {
            return (Instant::now(), Instant::now());
        }
        let start = Instant::now();
        board.work_off(rank, &mut seat, work);
        (start, Instant::now())
    })?;
    let left = std::iter::from_fn({
        let mut seat = exchange.seat(true);
        move || seat.poll()
    });
    let done = board.done() + left.count() as u64;
    let start = results.iter().map(|(start, _)| *start).min();
    let end = results.iter().map(|(_, end)| *end).max();
    let time = end.zip(start).map(|(end, start)| end - start).unwrap_or_default();
    judge(depth, done, time.as_secs_f64())
}

/// The number of done jobs of each thread, on a line each.
struct Board {
    done: Vec<Alone<AtomicU64>>,
    jobs: u64,
    is_over: Alone<AtomicBool>,
}

impl Board {
    fn new(threads: usize, jobs: u64) -> Self {
        let done = (0..threads).map(|_| Alone(AtomicU64::new(0))).collect();
        Board { done, jobs, is_over: Alone(AtomicBool::new(false)) }
    }

    fn done(&self) -> u64 {
        self.done.iter().map(|done| done.0.load(Acquire)).sum()
    }

    #[inline(never)]
    fn work_off(&self, rank: usize, seat: &mut impl Seat<u64>, work: SteadyWork) {
        let mut done = 0;
        let mut backoff = Backoff::default();
        loop {
            match seat.poll() {
                Some(depth) => {
                    work.once();
                    if depth > 0 {
                        seat.put(depth - 1);
                        seat.put(depth - 1);
                    }
                    done += 1;
                    backoff = Backoff::default();
                }
                None if self.is_over(rank, done) => return,
                None => backoff.wait(),
            }
        }
    }

    /// Publishes a thread's number of done jobs. Returns whether all jobs are done.
    fn is_over(&self, rank: usize, done: u64) -> bool {
        if self.done[rank].0.load(Relaxed) != done {
            self.done[rank].0.store(done, Release);
        }
        // More done than there are is an error, which is found afterwards.
        let is_over = self.is_over.0.load(Acquire) || self.done() >= self.jobs;
        if is_over {
            self.is_over.0.store(true, Release);
        }
        is_over
    }
}

/// Measures `rayon::join`.
pub(super) fn rayon_join(order: &Order<'_>, work_ns: u32) -> Result<Figures, Failure> {
    fn tree(depth: u32, work: SteadyWork) -> u64 {
        work.once();
        if depth == 0 {
            return 1;
        }
        let (left, right) = rayon::join(|| tree(depth - 1, work), || tree(depth - 1, work));
        1 + left + right
    }
    let depth = depth(order, work_ns);
    let pool = rayon_pool(order)?;
    let work = pool.install(|| SteadyWork::of(work_ns));
    let start = Instant::now();
    let done = pool.install(|| tree(depth, work));
    judge(depth, done, start.elapsed().as_secs_f64())
}

/// Measures `rayon::scope` and its `spawn`.
pub(super) fn rayon_spawn(order: &Order<'_>, work_ns: u32) -> Result<Figures, Failure> {
    type Counts = [Alone<AtomicU64>];
    fn tree<'a>(scope: &Scope<'a>, depth: u32, work: SteadyWork, done: &'a Counts) {
        work.once();
        if let Some(done) = rayon::current_thread_index().and_then(|rank| done.get(rank)) {
            // No other thread writes this word.
            done.0.store(done.0.load(Relaxed) + 1, Relaxed);
        }
        if depth > 0 {
            scope.spawn(move |scope| tree(scope, depth - 1, work, done));
            scope.spawn(move |scope| tree(scope, depth - 1, work, done));
        }
    }
    let depth = depth(order, work_ns);
    let pool = rayon_pool(order)?;
    let work = pool.install(|| SteadyWork::of(work_ns));
    let board = Board::new(order.case.threads, 0);
    let start = Instant::now();
    pool.scope(|scope| tree(scope, depth, work, &board.done));
    let seconds = start.elapsed().as_secs_f64();
    judge(depth, board.done(), seconds)
}

fn rayon_pool(order: &Order<'_>) -> Result<ThreadPool, Failure> {
    let (cores, threads) = (order.pinning.clone(), order.case.threads);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |rank| pin(&cores, rank, threads))
        .build();
    pool.map_err(|error| Failure::Threads(ThreadsFailure::Spawn(std::io::Error::other(error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_two_jobs_for_each_inner_one() {
        assert_eq!([0, 1, 2, 18].map(jobs), [1, 3, 7, 524_287]);
    }

    #[test]
    fn a_missing_and_a_doubled_job_are_seen() {
        assert!(judge(3, 15, 1.0).is_ok());
        for done in [14, 16] {
            let Err(Failure::Wrong(wrong)) = judge(3, done, 1.0) else { panic!("not seen") };
            assert_eq!(wrong, Wrong::Count { pushed: 15, popped: done });
        }
    }
}
