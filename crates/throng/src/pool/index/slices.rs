//! Loops over the elements of a slice.

use std::slice;

use super::share_out;

/// Calls `f` once with every element of `slice`, on up to `threads` threads, as
/// [`for_each_index`](super::for_each_index) does with indices.
///
/// ```
/// use throng::Queue;
///
/// let lengths = Queue::unbounded();
/// throng::pool::for_each(&["a", "few", "words"], 2, |word| lengths.push(word.len()).unwrap());
/// assert_eq!(lengths.into_iter().sum::<usize>(), 9);
/// ```
///
/// # Panics
/// When `f` panics, as [`for_each_index`](super::for_each_index).
pub fn for_each<T: Sync>(slice: &[T], threads: usize, f: impl Fn(&T) + Sync) {
    share_out(0..slice.len(), threads, |chunks| {
        for chunk in chunks {
            slice[chunk].iter().for_each(&f);
        }
    });
}

/// Calls `f` once with every element of `slice`, which it may change, and its index, on up to `threads` threads, as
/// [`for_each_index`](super::for_each_index) does with indices.
///
/// ```
/// let mut squares = [0; 100];
/// throng::pool::for_each_mut(&mut squares, 4, |index, square| *square = index * index);
/// assert_eq!(squares[99], 9801);
/// ```
///
/// # Panics
/// When `f` panics, as [`for_each_index`](super::for_each_index).
pub fn for_each_mut<T: Send>(slice: &mut [T], threads: usize, f: impl Fn(usize, &mut T) + Sync) {
    let elements = Elements(slice.as_mut_ptr());
    share_out(0..slice.len(), threads, |chunks| {
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

/// The first of the elements that threads share out among themselves.
struct Elements<T>(*mut T);

// SAFETY: a thread reaches only the elements of its chunks, which `T: Send` lets it have.
unsafe impl<T: Send> Sync for Elements<T> {}

impl<T> Elements<T> {
    /// # Safety
    /// `index` is within the slice.
    unsafe fn from(&self, index: usize) -> *mut T {
        // SAFETY: as the caller says.
        unsafe { self.0.add(index) }
    }
}
