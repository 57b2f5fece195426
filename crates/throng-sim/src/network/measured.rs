//! The measurements of a run on a network.

/// A number that a client got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The client.
    pub client: u32,
    /// The number.
    pub number: u64,
    /// The time when the client asked.
    pub asked_at: u64,
    /// The time when the number came.
    pub got_at: u64,
}

/// The part of a network that was busy for the largest share of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Busiest {
    /// The name of the part.
    pub part: String,
    /// The share of the time in which it held a message, from 0 to 1.
    pub share: f64,
}

/// The counts of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Messages that arrived over the network.
    pub messages: u64,
    /// Messages that arrived and stayed on their node.
    pub local_messages: u64,
    /// Messages that are still on their way.
    pub on_the_way: u64,
    /// The mean number of switches that a message over the network passed.
    pub mean_hops: f64,
    /// The cycles for which all messages over the network together waited in buffers.
    pub waited: u64,
    /// The part that was busy for the largest share of the time, if any message was sent.
    pub busiest: Option<Busiest>,
    /// The number of events that the simulator processed.
    pub events: u64,
}

impl Carried {
    /// Returns the mean number of cycles for which a message over the network waited in buffers.
    #[must_use]
    pub fn mean_wait(&self) -> f64 {
        self.waited as f64 / self.messages.max(1) as f64
    }
}

/// The measurements of a counting run. Every number was given out once, and none is larger than the
/// count of numbers asked for; otherwise there is no such report.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The time when the last number came.
    pub cycles: u64,
    /// The count of numbers that came.
    pub handed_out: u64,
    /// The number of clients that were waiting for a number at that time.
    pub outstanding: u64,
    /// The mean time from the request to the number.
    pub mean_latency: f64,
    /// Every number, in the order in which they came.
    pub deliveries: Vec<Delivery>,
    /// The counts of the network.
    pub carried: Carried,
}

impl Measured {
    /// Returns the count of numbers handed out in `cycles` cycles: `T d / t` of DT96, section 4.2.
    #[must_use]
    pub fn throughput_per(&self, cycles: u64) -> f64 {
        cycles as f64 * self.handed_out as f64 / self.cycles as f64
    }

    /// Returns the latency that this share of the requests, from 0 to 1, did not exceed.
    #[must_use]
    pub fn latency_at(&self, share: f64) -> u64 {
        let mut all: Vec<u64> =
            self.deliveries.iter().map(|one| one.got_at - one.asked_at).collect();
        if all.is_empty() {
            return 0;
        }
        let at = (share.clamp(0.0, 1.0) * (all.len() - 1) as f64).ceil() as usize;
        *all.select_nth_unstable(at).1
    }
}
