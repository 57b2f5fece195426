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
    meeting: Duration,
}

impl Options {
    /// 30 seconds of patience, naps of up to a millisecond, one thread a rank, 20 microseconds to meet.
    #[must_use]
    pub fn new() -> Self {
        Options {
            patience: Duration::from_secs(30),
            longest_nap: Duration::from_millis(1),
            threads: 1,
            meeting: Duration::from_micros(20),
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

    /// How long a request waits in a tree for another one to go on with: about as long as a message
    /// takes. Nodes of a combining tree wait for so long; prisms of a diffracting tree begin with it
    /// and adapt, from nothing to eight times as long.
    #[must_use]
    pub fn meeting(mut self, time: Duration) -> Self {
        self.meeting = time;
        self
    }

    pub(crate) fn meeting_ns(&self) -> u64 {
        ns(self.meeting)
    }

    /// Numbers that are the same for equal options.
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
