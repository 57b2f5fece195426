//! Index distribution: loops whose iterations take different times, on several threads.
//!
//! No thread gets its part in advance: each takes the next few indices whenever it is free, and so all
//! of them end at the same time.
//!
//! | part | what it does |
//! |---|---|
//! | [`for_each_index`], [`map_indices`], [`reduce_indices`] | the loop, with threads |
//! | [`for_each`], [`for_each_mut`] | the same over a slice |
//! | [`Indices`] | the same for threads that are already there |
//! | `pace` | how many indices to take at once |
//! | `crew` | the threads, kept from loop to loop |

mod crew;
mod indices;
mod pace;
mod slices;

pub use slices::{for_each, for_each_mut};

pub use indices::{Indices, Share};

use std::any::Any;
use std::iter;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use crate::topology::Topology;

/// Calls `f` once with every index of `range`, on up to `threads` threads, of which the calling one is
/// the first. With `threads` = 0, on as many as can run at once on this machine.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
///
/// let sum = AtomicUsize::new(0);
/// throng::for_each_index(0..1000, 4, |index| {
///     sum.fetch_add(index, Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 999 * 1000 / 2);
/// ```
///
/// Indices are taken from a [`Counter`](crate::Counter), several at once: as many as take some 50
/// microseconds by what was measured so far, fewer towards the end ([`Indices`]). So it does not matter
/// which indices take long, and a loop of many short ones loses nothing either.
///
/// All that `f` has done can be seen when the call returns.
///
/// When the same loop is done again, an index may go to another thread, and the memory that it writes
/// then moves from core to core. Where indices take but ten nanoseconds or so, that shows.
///
/// # Threads
/// Threads that help are kept for about a second after they were last needed, and serve all loops of
/// the program; so the second loop does not wait for threads to start. Where the system gives no more
/// threads, those that there are do it. There may be fewer than `threads` also because the others
/// would come too late, or because the range has fewer indices. So no index should wait for what
/// another one does.
///
/// Any number of threads may call this at the same time, and `f` may do so itself. A loop within a loop
/// gets help from threads that are idle; more are started for it only while there are fewer than cores.
///
/// A thread that is started for a loop may run where the thread that needed it may run: where threads
/// are pinned to cores, give them [`Indices`] instead.
///
/// # Panics
/// When `f` panics: nobody takes more indices after that, and when all threads have done those that they
/// had, the panic goes on in the calling thread with what it carries (of several, the first one). Indices
/// that were not begun by then are not done.
pub fn for_each_index(range: Range<usize>, threads: usize, f: impl Fn(usize) + Sync) {
    share_out(range, threads, |chunks| {
        for chunk in chunks {
            for index in chunk {
                f(index);
            }
        }
    });
}

/// Calls `f` as [`for_each_index`] does and returns what it returned, in the order of the indices.
///
/// ```
/// let squares = throng::pool::map_indices(0..5, 2, |index| index * index);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// When `f` panics, as [`for_each_index`]; what other calls returned is dropped.
pub fn map_indices<R: Send>(
    range: Range<usize>,
    threads: usize,
    f: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    let all = range.len();
    let mut parts = in_chunks(range, threads, |chunk| chunk.map(&f).collect::<Vec<R>>());
    if parts.len() == 1 {
        return parts.swap_remove(0);
    }
    let mut results = Vec::with_capacity(all);
    results.extend(parts.into_iter().flatten());
    results
}

/// Folds the indices of `range` on up to `threads` threads, as [`for_each_index`] does, and returns the result.
///
/// Each chunk of indices is folded in order, beginning with `identity()`. The results of the chunks are combined in
/// the order of their indices. So the result is that of a fold on one thread if `combine` is associative and
/// `identity()` changes nothing. Where the chunks end differs from run to run.
///
/// ```
/// use throng::pool::reduce_indices;
///
/// let words = ["a", "few", "words"];
/// let joined = reduce_indices(0..3, 2, String::new, |text, index| text + words[index], |a, b| a + &b);
/// assert_eq!(joined, "afewwords");
/// ```
///
/// # Panics
/// When a function panics, as [`for_each_index`].
pub fn reduce_indices<R: Send>(
    range: Range<usize>,
    threads: usize,
    identity: impl Fn() -> R + Sync,
    fold: impl Fn(R, usize) -> R + Sync,
    combine: impl Fn(R, R) -> R,
) -> R {
    let parts = in_chunks(range, threads, |chunk| chunk.fold(identity(), &fold));
    parts.into_iter().reduce(combine).unwrap_or_else(identity)
}

/// Calls `part` for chunks of the range, and returns the results in the order of the indices.
fn in_chunks<R: Send>(
    range: Range<usize>,
    threads: usize,
    part: impl Fn(Range<usize>) -> R + Sync,
) -> Vec<R> {
    let parts = Mutex::new(Vec::new());
    share_out(range, threads, |chunks| {
        let mut own: Vec<_> = chunks.map(|chunk| (chunk.start, part(chunk))).collect();
        parts.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
    });
    let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_unstable_by_key(|(start, _)| *start);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Calls `part` on each thread with the chunks that this thread gets.
fn share_out(
    range: Range<usize>,
    threads: usize,
    part: impl Fn(&mut dyn Iterator<Item = Range<usize>>) + Sync,
) {
    let threads = if threads == 0 { Topology::here().processors() } else { threads };
    let threads = threads.min(range.len());
    if threads <= 1 {
        return part(&mut iter::once(range).filter(|range| !range.is_empty()));
    }
    let indices = Indices::new(range, threads);
    let panicked: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
    crew::together(threads - 1, &|| {
        let mut share = indices.iter();
        let mut chunks = iter::from_fn(|| share.next_chunk());
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| part(&mut chunks))) {
            indices.stop();
            let mut first = panicked.lock().unwrap_or_else(PoisonError::into_inner);
            match *first {
                None => *first = Some(payload),
                // Dropped it could panic again, and on a thread where nobody would see it.
                Some(_) => mem::forget(payload),
            }
        }
    });
    if let Some(payload) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
        resume_unwind(payload);
    }
}
