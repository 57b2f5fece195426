//! What can be set.

use std::time::Duration;

/// How a structure behaves. Must be the same on all ranks.
///
/// ```
/// use std::time::Duration;
/// use throng_mpi::Options;
///
/// let options = Options::new().patience(Duration::from_secs(5)).threads(4);
/// assert_ne!(options, Options::default());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub(crate) patience: Duration,
    pub(crate) longest_nap: Duration,
    pub(crate) threads: u32,
}

impl Options {
    /// 30 seconds of patience, naps of up to a millisecond, one thread a rank.
    #[must_use]
    pub fn new() -> Self {
        Options {
            patience: Duration::from_secs(30),
            longest_nap: Duration::from_millis(1),
            threads: 1,
        }
    }

    /// How long a rank may be silent, though it was asked for a sign of life, before calls that need
    /// it fail with [`Error::NoAnswer`](crate::Error::NoAnswer). With a service thread this has
    /// nothing to do with how long computations take; without one it must be longer than the longest
    /// time between two calls of a rank. [`Duration::MAX`] waits for ever.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The longest time for which an idle rank sleeps before it looks for messages again: the price
    /// of idling in processor time, against the delay of the first message afterwards.
    #[must_use]
    pub fn longest_nap(mut self, nap: Duration) -> Self {
        self.longest_nap = nap;
        self
    }

    /// How many threads of a rank ask at the same time. More may call; they take turns then. It is
    /// the combining tree that needs to know: other counters serve any number of threads at once.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// A number that is the same for equal options.
    pub(crate) fn fingerprint(&self) -> [u64; 3] {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        [ns(self.patience), ns(self.longest_nap), u64::from(self.threads)]
    }
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}
