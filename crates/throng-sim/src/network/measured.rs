//! What a run on a network has shown.

/// A number that a client got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Who.
    pub client: u32,
    /// Which.
    pub number: u64,
    /// When it asked.
    pub asked_at: u64,
    /// When the number came.
    pub got_at: u64,
}

/// The part of a network that was busy for the largest part of the time.
#[derive(Clone, Debug, PartialEq)]
pub struct Busiest {
    /// In words.
    pub part: String,
    /// The share of the time in which it held a message, from 0 to 1.
    pub share: f64,
}

/// What the network did.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// Messages that arrived over the network.
    pub messages: u64,
    /// Messages that arrived and stayed on their node.
    pub local_messages: u64,
    /// Messages that are still on their way.
    pub on_the_way: u64,
    /// The switches that a message over the network passed.
    pub mean_hops: f64,
    /// The cycles that all those over the network together waited in buffers.
    pub waited: u64,
    /// The part that was busy for the largest part of the time, if a message was sent at all.
    pub busiest: Option<Busiest>,
    /// Events that the simulator worked through.
    pub events: u64,
}

impl Carried {
    /// The cycles that a message over the network waited in buffers.
    #[must_use]
    pub fn mean_wait(&self) -> f64 {
        self.waited as f64 / self.messages.max(1) as f64
    }
}

/// What a counting run has shown. Every number was given out once, and none is larger than what
/// had been asked for; otherwise there is no such report.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When the last number came.
    pub cycles: u64,
    /// The numbers that came.
    pub handed_out: u64,
    /// The clients that had asked and waited at that time.
    pub outstanding: u64,
    /// From the request to the number.
    pub mean_latency: f64,
    /// Every number, in the order in which they came.
    pub deliveries: Vec<Delivery>,
    /// What the network did.
    pub carried: Carried,
}

impl Measured {
    /// The numbers handed out in so many cycles: `T d / t` of DT96, section 4.2.
    #[must_use]
    pub fn throughput_per(&self, cycles: u64) -> f64 {
        cycles as f64 * self.handed_out as f64 / self.cycles as f64
    }

    /// The latency that this share of the requests, from 0 to 1, did not exceed.
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
