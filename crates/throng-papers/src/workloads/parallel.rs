//! Runs independent jobs on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use indicatif::ProgressBar;

/// Runs `work` on every job, on at most `threads` threads. Results come in the order of the jobs,
/// regardless of the number of threads and the order in which they finish.
///
/// ```
/// use indicatif::ProgressBar;
/// use throng_papers::workloads::parallel::parallel;
///
/// let squares = parallel(&[1, 2, 3], 2, &ProgressBar::hidden(), |n| n * n);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
/// When `work` does.
pub fn parallel<Job: Sync, Done: Send>(
    jobs: &[Job],
    threads: usize,
    progress: &ProgressBar,
    work: impl Fn(&Job) -> Done + Sync,
) -> Vec<Done> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Done>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let take_jobs = || {
        while let Some(index) = Some(next.fetch_add(1, Relaxed)).filter(|&i| i < jobs.len()) {
            let result = work(&jobs[index]);
            *done[index].lock().expect("no thread panics while holding it") = Some(result);
            progress.inc(1);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(jobs.len()) {
            // If the system refuses a thread, the threads already started do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, take_jobs);
        }
        take_jobs();
    });
    let result = |slot: Mutex<Option<Done>>| {
        slot.into_inner().ok().flatten().expect("every job was taken and done")
    };
    done.into_iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..40).collect();
        let work = |&job: &u64| {
            // The first jobs take longest.
            thread::sleep(Duration::from_micros(50 * (40 - job)));
            job * 10
        };
        for threads in [0, 1, 3, 100] {
            let done = parallel(&jobs, threads, &ProgressBar::hidden(), work);
            assert!(done.iter().copied().eq((0..40).map(|job| job * 10)), "{threads} threads");
        }
    }

    #[test]
    fn no_jobs_give_no_results() {
        let none: Vec<u64> = parallel(&[], 4, &ProgressBar::hidden(), |job: &u64| *job);
        assert!(none.is_empty());
    }
}
