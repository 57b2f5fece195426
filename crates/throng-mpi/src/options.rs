//! The settings of a structure.

use std::time::Duration;

/// The settings of a structure. They must be the same on all ranks.
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
    meeting: Duration,
}

impl Options {
    /// Returns the default options: 30 seconds of patience, naps of up to a millisecond, one thread
    /// a rank, 20 microseconds to meet.
    #[must_use]
    pub fn new() -> Self {
        Options {
            patience: Duration::from_secs(30),
            longest_nap: Duration::from_millis(1),
            threads: 1,
            meeting: Duration::from_micros(20),
        }
    }

    /// Sets the time for which a rank may be silent, although it was asked for a sign of life,
    /// before calls that need it fail with [`Error::NoAnswer`](crate::Error::NoAnswer). With a
    /// service thread this does not limit the length of computations. Without one it must be longer
    /// than the longest time between two calls of a rank. [`Duration::MAX`] waits for ever.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the longest time for which an idle rank sleeps before it looks for messages again. A
    /// longer nap saves processor time, and delays the first message after it.
    #[must_use]
    pub fn longest_nap(mut self, nap: Duration) -> Self {
        self.longest_nap = nap;
        self
    }

    /// Sets the number of threads of a rank that ask at the same time. More may call; they take
    /// turns then. Only the combining tree needs to know it: other counters serve any number of
    /// threads at once.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Sets the time for which a request waits in a tree for another one to combine with: about the
    /// time of a message. Nodes of a combining tree wait for this time. Prisms of a diffracting
    /// tree begin with it and adapt, from 0 to eight times as long.
    #[must_use]
    pub fn meeting(mut self, time: Duration) -> Self {
        self.meeting = time;
        self
    }

    pub(crate) fn meeting_ns(&self) -> u64 {
        ns(self.meeting)
    }

    /// Returns numbers that are the same for equal options.
    pub(crate) fn fingerprint(&self) -> [u64; 4] {
        let threads = u64::from(self.threads);
        [ns(self.patience), ns(self.longest_nap), threads, self.meeting_ns()]
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}
