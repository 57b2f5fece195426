//! [`Crew`]: threads for loops, configured once.

use std::any::Any;
use std::fmt;
use std::iter;
use std::mem;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind, resume_unwind};
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use super::indices::Indices;
use super::workers::{self, Settings, Workers};
use crate::topology::Topology;

/// Threads for loops: configured once, used by any number of loops, ended when the crew is dropped.
///
/// The functions of [`loops`](super) need no crew: they share the threads of the program. A crew is
/// for a program that chooses the number of threads, their cores, their name and the time when they
/// end.
///
/// ```
/// use throng::loops::Crew;
///
/// let crew = Crew::new(4);
/// let squares = crew.map_indices(0..1000, |index| index * index);
/// let sum = crew.reduce_indices(0..1000, || 0, |sum, index| sum + squares[index], |a, b| a + b);
/// assert_eq!(sum, 332_833_500);
/// ```
///
/// A crew of n has n - 1 threads, since the calling thread works, too. They are started when a loop
/// first needs them, and sleep between loops. Several threads may call a crew at the same time, and
/// a function may call the crew that it runs on. Such loops share the threads, and run on the
/// calling thread alone if all are busy.
///
/// Dropping a crew ends its threads and waits until they have ended.
///
/// In the child of a `fork`, a crew of the parent starts [threads of its own](crate#after-a-fork),
/// and calls [`on_start`](CrewBuilder::on_start) on them. On Linux the messages of their panics do
/// not have their name.
///
/// # Panics
/// If a function of a loop panics, no thread begins another chunk of indices. When all threads have
/// ended their chunks, the panic is resumed in the calling thread. The crew can be used again.
pub struct Crew {
    threads: usize,
    workers: Arc<Workers>,
}

impl Crew {
    /// Returns a crew of `threads` threads, the calling thread included. 0 means as many as can run
    /// at once on this machine.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self::builder().threads(threads).build()
    }

    /// Returns a builder of a crew.
    pub fn builder() -> CrewBuilder {
        CrewBuilder {
            threads: 0,
            thread_name: "throng".to_owned(),
            stack_size: None,
            on_start: None,
        }
    }

    /// Returns the largest number of threads that work on a loop, the calling thread included.
    ///
    /// ```
    /// assert_eq!(throng::loops::Crew::new(4).threads(), 4);
    /// ```
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the threads that the functions of this module share.
    pub(super) fn of_program(threads: usize) -> Self {
        Crew { threads: resolved(threads), workers: Arc::clone(Workers::of_program()) }
    }

    /// Calls `f` once with every index, like [`loops::for_each_index`](super::for_each_index).
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    ///
    /// let sum = AtomicUsize::new(0);
    /// throng::loops::Crew::new(2).for_each_index(0..100, |index| _ = sum.fetch_add(index, Relaxed));
    /// assert_eq!(sum.into_inner(), 4950);
    /// ```
    pub fn for_each_index(&self, range: Range<usize>, f: impl Fn(usize) + Sync) {
        self.share_out(range, |chunks| {
            for chunk in chunks {
                for index in chunk {
                    f(index);
                }
            }
        });
    }

    /// Returns the results of `f` for each index, in the order of the indices, like
    /// [`loops::map_indices`](super::map_indices).
    ///
    /// ```
    /// let crew = throng::loops::Crew::new(2);
    /// assert_eq!(crew.map_indices(0..4, |index| index * index), [0, 1, 4, 9]);
    /// ```
    pub fn map_indices<R: Send>(
        &self,
        range: Range<usize>,
        f: impl Fn(usize) -> R + Sync,
    ) -> Vec<R> {
        let all = range.len();
        let mut parts = self.in_chunks(range, |chunk| chunk.map(&f).collect::<Vec<R>>());
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let mut results = Vec::with_capacity(all);
        results.extend(parts.into_iter().flatten());
        results
    }

    /// Folds the indices and combines the results in the order of the indices, like
    /// [`loops::reduce_indices`](super::reduce_indices).
    ///
    /// ```
    /// let crew = throng::loops::Crew::new(2);
    /// assert_eq!(crew.reduce_indices(0..101, || 0, |sum, index| sum + index, |a, b| a + b), 5050);
    /// ```
    pub fn reduce_indices<R: Send>(
        &self,
        range: Range<usize>,
        identity: impl Fn() -> R + Sync,
        fold: impl Fn(R, usize) -> R + Sync,
        combine: impl Fn(R, R) -> R,
    ) -> R {
        let parts = self.in_chunks(range, |chunk| chunk.fold(identity(), &fold));
        parts.into_iter().reduce(combine).unwrap_or_else(identity)
    }

    /// Calls `f` once with every element, like [`loops::for_each`](super::for_each).
    ///
    /// ```
    /// use throng::Counter;
    ///
    /// let long = Counter::new();
    /// throng::loops::Crew::new(2).for_each(&["a", "few", "words"], |word| {
    ///     if word.len() > 2 {
    ///         long.next();
    ///     }
    /// });
    /// assert_eq!(long.peek(), 2);
    /// ```
    pub fn for_each<T: Sync>(&self, slice: &[T], f: impl Fn(&T) + Sync) {
        self.share_out(0..slice.len(), |chunks| {
            for chunk in chunks {
                slice[chunk].iter().for_each(&f);
            }
        });
    }

    /// Calls `f` once with every index and its element, like
    /// [`loops::for_each_mut`](super::for_each_mut).
    ///
    /// ```
    /// let crew = throng::loops::Crew::new(2);
    /// let mut halves = vec![0.0; 100];
    /// crew.for_each_mut(&mut halves, |index, half| *half = index as f64 / 2.0);
    /// assert_eq!(halves[99], 49.5);
    /// ```
    pub fn for_each_mut<T: Send>(&self, slice: &mut [T], f: impl Fn(usize, &mut T) + Sync) {
        let elements = Elements(slice.as_mut_ptr());
        self.share_out(0..slice.len(), |chunks| {
            for chunk in chunks {
                // SAFETY: the chunk is within the slice.
                let first = unsafe { elements.from(chunk.start) };
                // SAFETY: each index of the slice is in one chunk, so no other thread has these elements. The slice is
                // borrowed until the call returns, and it returns when all threads have done their chunks.
                let part = unsafe { slice::from_raw_parts_mut(first, chunk.len()) };
                chunk.zip(part).for_each(|(index, element)| f(index, element));
            }
        });
    }

    /// Calls `part` for chunks of the range, and returns the results in the order of the indices.
    fn in_chunks<R: Send>(
        &self,
        range: Range<usize>,
        part: impl Fn(Range<usize>) -> R + Sync,
    ) -> Vec<R> {
        let parts = Mutex::new(Vec::new());
        self.share_out(range, |chunks| {
            let mut own: Vec<_> = chunks.map(|chunk| (chunk.start, part(chunk))).collect();
            parts.lock().unwrap_or_else(PoisonError::into_inner).append(&mut own);
        });
        let mut parts = parts.into_inner().unwrap_or_else(PoisonError::into_inner);
        parts.sort_unstable_by_key(|(start, _)| *start);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// Calls `part` on each thread with the chunks that this thread gets.
    fn share_out(
        &self,
        range: Range<usize>,
        part: impl Fn(&mut dyn Iterator<Item = Range<usize>>) + Sync,
    ) {
        let threads = self.threads.min(range.len());
        if threads <= 1 {
            return part(&mut iter::once(range).filter(|range| !range.is_empty()));
        }
        let indices = Indices::new(range, threads);
        let panicked: Mutex<Option<Box<dyn Any + Send>>> = Mutex::new(None);
        self.workers.together(threads - 1, &|| indices.has_more(), &|| {
            let mut share = indices.iter();
            let mut chunks = iter::from_fn(|| share.next_chunk());
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| part(&mut chunks))) {
                indices.stop();
                let mut first = panicked.lock().unwrap_or_else(PoisonError::into_inner);
                match *first {
                    None => *first = Some(payload),
                    // Its drop could panic again, on a thread whose panics are not passed on.
                    Some(_) => mem::forget(payload),
                }
            }
        });
        if let Some(payload) = panicked.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(payload);
        }
    }
}

/// A crew of as many threads as can run at once on this machine.
impl Default for Crew {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        if !Arc::ptr_eq(&self.workers, Workers::of_program()) {
            self.workers.end();
        }
    }
}

// A panic in a loop leaves a crew unchanged: it is resumed in the calling thread when all threads
// have done their part.
impl UnwindSafe for Crew {}
impl RefUnwindSafe for Crew {}

impl fmt::Debug for Crew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("threads", &self.threads).finish_non_exhaustive()
    }
}

/// Builds a [`Crew`].
///
/// ```
/// use throng::loops::Crew;
///
/// let crew = Crew::builder()
///     .threads(3)
///     .thread_name("render")
///     .on_start(|number| println!("thread {number} of 1 and 2 is here, and could pin itself to a core"))
///     .build();
/// crew.for_each_index(0..1000, |_| {});
/// ```
#[must_use]
pub struct CrewBuilder {
    threads: usize,
    thread_name: String,
    stack_size: Option<usize>,
    on_start: Option<Box<dyn Fn(usize) + Send + Sync>>,
}

impl CrewBuilder {
    /// Sets the largest number of threads that work on a loop, the calling thread included. 0, the
    /// default, means as many as can run at once on this machine. At most 256, or 16 for each core
    /// if that is more.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the name of the threads, for debuggers and messages of panics. `throng` by default.
    ///
    /// # Panics
    /// If the name contains a zero byte, which no system allows.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        assert!(
            !self.thread_name.contains('\0'),
            "the thread name {:?} contains a zero byte",
            self.thread_name
        );
        self
    }

    /// Sets the size of the threads' stacks in bytes. The default is that of the standard library.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// Sets the function that each thread calls first, to pin itself to a core or to lower its
    /// priority. `f` gets the number of the thread, from 1 on. The calling thread of a loop does
    /// not call it. If `f` panics, the thread is used nevertheless.
    pub fn on_start(mut self, f: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Box::new(f));
        self
    }

    /// Returns the crew. Starts no thread yet.
    #[must_use]
    pub fn build(self) -> Crew {
        let threads = resolved(self.threads);
        let settings = Settings {
            most: threads - 1,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            on_start: self.on_start,
        };
        Crew { threads, workers: Arc::new(Workers::new(Some(settings))) }
    }
}

impl fmt::Debug for CrewBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrewBuilder")
            .field("threads", &self.threads)
            .field("thread_name", &self.thread_name)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}

/// Returns the number of threads that a setting of `threads` means; at least 1.
fn resolved(threads: usize) -> usize {
    match threads {
        0 => Topology::here().processors(),
        _ => workers::capped(threads),
    }
}

/// A pointer to the first element of a slice that threads share out.
struct Elements<T>(*mut T);

// SAFETY: a thread reaches only the elements of its chunks, which `T: Send` lets it have.
unsafe impl<T: Send> Sync for Elements<T> {}

impl<T> Elements<T> {
    /// Returns a pointer to element `index`.
    ///
    /// # Safety
    /// `index` is within the slice.
    unsafe fn from(&self, index: usize) -> *mut T {
        // SAFETY: as the caller says.
        unsafe { self.0.add(index) }
    }
}
