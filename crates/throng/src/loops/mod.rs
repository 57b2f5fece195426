//! Index distribution: loops whose iterations take different times, on several threads.
//!
//! No thread gets its part in advance. Each takes the next few indices whenever it is free, so all
//! threads end at about the same time.
//!
//! | part | what it does |
//! |---|---|
//! | [`for_each_index`], [`map_indices`], [`reduce_indices`] | the loop, with threads |
//! | [`for_each`], [`for_each_mut`] | the same over a slice |
//! | [`Crew`] | all of these as methods, with threads that are configured once |
//! | [`Indices`] | the same for threads that are already there |
//! | `generic` | [`Indices`] on any machine |
//! | `pace` | how many indices to take at once |
//! | `workers` | the threads, kept from loop to loop |
//! | `start` | starting a thread, also in the child of a fork |

mod crew;
pub(crate) mod generic;
mod indices;
mod pace;
mod start;
mod workers;

pub use crew::{Crew, CrewBuilder};
pub use indices::{Indices, Share};

use std::ops::Range;

/// Calls `f` once with every index of `range`, on up to `threads` threads, the calling thread
/// included. `threads` = 0 means as many as can run at once on this machine. Returns when all calls
/// have returned.
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
/// microseconds by the measurements so far, fewer towards the end ([`Indices`]). So it does not
/// matter which indices take long, and a loop of many short indices does not lose speed.
///
/// All effects of `f` are visible to the caller when the call returns.
///
/// When the same loop runs again, an index may go to another thread, and the memory that it writes
/// then moves from core to core. That shows if an index takes only ten nanoseconds or so.
///
/// # Threads
/// Helper threads serve all loops of the program, and end about a second after they were last
/// needed. So the second loop does not wait for threads to start. No thread is started or woken
/// when no indices are left.
///
/// There are at most 256 of these threads in a program, or 16 for each core if that is more,
/// however large `threads` is and however many threads call. A loop may have fewer than `threads`
/// threads because of that, because the range has fewer indices, because others would come too
/// late, or because the system gives no more. So no index should wait for the effect of another
/// one.
///
/// In the child of a `fork` loops start [threads of their own](crate#after-a-fork).
///
/// Any number of threads may call this at the same time, and `f` may call it. A loop within a loop
/// gets help from idle threads. More threads are started for it only while there are fewer than
/// cores.
///
/// A thread that is started for a loop may run on the cores on which the calling thread may run. If
/// threads are pinned to cores, use a [`Crew`], whose threads can pin themselves, or give
/// [`Indices`] to threads of your own.
///
/// # Panics
/// If `f` panics, no thread begins another chunk of indices. When all threads have ended their
/// chunks, the panic is resumed in the calling thread with its payload (of several panics, the
/// first one). Indices that were not begun by then are not done.
pub fn for_each_index(range: Range<usize>, threads: usize, f: impl Fn(usize) + Sync) {
    Crew::of_program(threads).for_each_index(range, f);
}

/// Calls `f` like [`for_each_index`] and returns its results, in the order of the indices.
///
/// ```
/// let squares = throng::loops::map_indices(0..5, 2, |index| index * index);
/// assert_eq!(squares, [0, 1, 4, 9, 16]);
/// ```
///
/// # Panics
/// If `f` panics, like [`for_each_index`]; the results of other calls are dropped.
pub fn map_indices<R: Send>(
    range: Range<usize>,
    threads: usize,
    f: impl Fn(usize) -> R + Sync,
) -> Vec<R> {
    Crew::of_program(threads).map_indices(range, f)
}

/// Folds the indices of `range` on up to `threads` threads, like [`for_each_index`], and returns
/// the result.
///
/// Each chunk of indices is folded in order, beginning with `identity()`. The results of the chunks
/// are combined in the order of their indices. So the result is that of a fold on one thread if
/// `combine` is associative and `identity()` is its neutral element. The ends of chunks differ from
/// run to run.
///
/// ```
/// use throng::loops::reduce_indices;
///
/// let words = ["a", "few", "words"];
/// let joined = reduce_indices(0..3, 2, String::new, |text, index| text + words[index], |a, b| a + &b);
/// assert_eq!(joined, "afewwords");
/// ```
///
/// # Panics
/// If a function panics, like [`for_each_index`].
pub fn reduce_indices<R: Send>(
    range: Range<usize>,
    threads: usize,
    identity: impl Fn() -> R + Sync,
    fold: impl Fn(R, usize) -> R + Sync,
    combine: impl Fn(R, R) -> R,
) -> R {
    Crew::of_program(threads).reduce_indices(range, identity, fold, combine)
}

/// Calls `f` once with every element of `slice`, on up to `threads` threads, like
/// [`for_each_index`] with indices.
///
/// ```
/// use throng::Queue;
///
/// let lengths = Queue::unbounded();
/// throng::loops::for_each(&["a", "few", "words"], 2, |word| lengths.push(word.len()).unwrap());
/// assert_eq!(lengths.into_iter().sum::<usize>(), 9);
/// ```
///
/// # Panics
/// If `f` panics, like [`for_each_index`].
pub fn for_each<T: Sync>(slice: &[T], threads: usize, f: impl Fn(&T) + Sync) {
    Crew::of_program(threads).for_each(slice, f);
}

/// Calls `f` once with every index and a mutable reference to its element of `slice`, on up to
/// `threads` threads, like [`for_each_index`] with indices.
///
/// ```
/// let mut squares = [0; 100];
/// throng::loops::for_each_mut(&mut squares, 4, |index, square| *square = index * index);
/// assert_eq!(squares[99], 9801);
/// ```
///
/// # Panics
/// If `f` panics, like [`for_each_index`].
pub fn for_each_mut<T: Send>(slice: &mut [T], threads: usize, f: impl Fn(usize, &mut T) + Sync) {
    Crew::of_program(threads).for_each_mut(slice, f);
}
