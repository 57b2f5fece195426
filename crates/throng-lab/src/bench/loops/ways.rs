//! Ways to share the indices of a loop out among threads.

use std::io;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use rayon::prelude::*;
use throng::for_each_index;
use throng::loops::Indices;

use super::work::Work;
use crate::error::Error;

/// A way to share out a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `into_par_iter().for_each` of rayon, called by a thread of its pool.
    Rayon,
    /// The same, with every index a task of its own: `with_max_len(1)`.
    RayonSingle,
    /// New threads, each with an equal range of indices.
    Static,
    /// New threads that take one index after the other by `fetch_add`.
    FetchAdd,
    /// New threads that share the library's [`Indices`].
    Indices,
    /// The library's [`for_each_index`].
    ForEachIndex,
}

/// The way that all others are compared with.
pub const REFERENCE: Way = Way::Rayon;
/// The library's.
pub const OURS: Way = Way::ForEachIndex;

impl Way {
    /// All ways, the reference first.
    pub const ALL: [Way; 6] =
        [Way::Rayon, Way::RayonSingle, Way::Static, Way::FetchAdd, Way::Indices, Way::ForEachIndex];

    /// Returns the name, as printed.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Rayon => "rayon",
            Way::RayonSingle => "rayon-single",
            Way::Static => "static",
            Way::FetchAdd => "fetch_add",
            Way::Indices => "indices",
            Way::ForEachIndex => "for_each_index",
        }
    }

    /// Calls `run` with a function that runs a loop on `threads` threads. Threads that stay from
    /// loop to loop are started before.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn with_threads(
        self,
        threads: usize,
        run: impl FnOnce(&dyn Fn(&Work<'_>)) + Send,
    ) -> Result<(), Error> {
        match self {
            Way::Rayon => in_pool(threads, run, |work| {
                (0..work.indices()).into_par_iter().for_each(|index| work.do_index(index));
            }),
            Way::RayonSingle => in_pool(threads, run, |work| {
                let indices = (0..work.indices()).into_par_iter().with_max_len(1);
                indices.for_each(|index| work.do_index(index));
            }),
            Way::Static => {
                run(&|work| {
                    scoped(threads, |thread| {
                        part_of(work.indices(), thread, threads).for_each(|i| work.do_index(i));
                    });
                });
                Ok(())
            }
            Way::FetchAdd => {
                run(&|work| {
                    let next = AtomicUsize::new(0);
                    scoped(threads, |_| {
                        loop {
                            let index = next.fetch_add(1, Relaxed);
                            if index >= work.indices() {
                                break;
                            }
                            work.do_index(index);
                        }
                    });
                });
                Ok(())
            }
            Way::Indices => {
                run(&|work| {
                    let indices = Indices::new(0..work.indices(), threads);
                    scoped(threads, |_| indices.iter().for_each(|index| work.do_index(index)));
                });
                Ok(())
            }
            Way::ForEachIndex => {
                run(&|work| {
                    for_each_index(0..work.indices(), threads, |index| work.do_index(index));
                });
                Ok(())
            }
        }
    }
}

/// Returns the indices of one of `threads` threads, in equal parts to within one.
fn part_of(indices: usize, thread: usize, threads: usize) -> Range<usize> {
    indices * thread / threads..indices * (thread + 1) / threads
}

/// Calls `part` with 0, 1, ... on `threads` threads. The calling thread is the last.
fn scoped(threads: usize, part: impl Fn(usize) + Sync) {
    let part = &part;
    thread::scope(|scope| {
        for thread in 1..threads {
            scope.spawn(move || part(thread - 1));
        }
        part(threads - 1);
    });
}

fn in_pool(
    threads: usize,
    run: impl FnOnce(&dyn Fn(&Work<'_>)) + Send,
    share_out: impl Fn(&Work<'_>) + Sync,
) -> Result<(), Error> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::Spawn { threads, source: io::Error::other(error) })?;
    pool.install(|| run(&share_out));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_disjoint_and_complete() {
        for (indices, threads) in [(0, 1), (1, 3), (10, 3), (12, 4)] {
            let all = (0..threads).flat_map(|thread| part_of(indices, thread, threads));
            assert!(all.eq(0..indices), "{indices} by {threads}");
        }
    }
}
