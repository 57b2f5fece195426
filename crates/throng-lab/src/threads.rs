//! How many threads are measured where nothing else is said.

use std::thread::available_parallelism;

use throng_papers::arguments::ascending_once;

/// The most threads that are measured: each finds room for some thousand values.
pub(crate) const MAX_THREADS: usize = 4096;

/// Returns how many threads can run at once.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

/// Returns powers of two up to twice the cores, the cores, and twice the cores; none above `most`.
pub(crate) fn default_threads(cores: usize, most: usize) -> Vec<usize> {
    let twice = (2 * cores).min(MAX_THREADS);
    let powers = (0..).map(|k| 1 << k).take_while(|&n| n < twice);
    let mut all = ascending_once(powers.chain([cores.min(twice), twice]).collect());
    all.retain(|&threads| threads <= most);
    all
}

/// Returns the same from two threads on, since one thread never waits.
pub(crate) fn threads_that_meet(most: usize) -> Vec<usize> {
    let mut all = default_threads(cores(), most);
    all.retain(|&threads| threads >= 2);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_threads_include_the_cores_and_twice_the_cores() {
        assert_eq!(default_threads(1, MAX_THREADS), [1, 2]);
        assert_eq!(default_threads(2, MAX_THREADS), [1, 2, 4]);
        assert_eq!(default_threads(6, MAX_THREADS), [1, 2, 4, 6, 8, 12]);
        assert_eq!(*default_threads(5000, MAX_THREADS).last().unwrap(), MAX_THREADS);
        assert_eq!(default_threads(6, 7), [1, 2, 4, 6]);
    }
}
