//! Random numbers that depend on the seed alone.

use throng::machine::SplitMix64;

/// The purpose of a sequence. Sequences of different purposes do not disturb each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// The results of `Cpu::random` on processor `.0`.
    Processor(usize),
    /// The delays of processor `.0`.
    Delays(usize),
    /// The random preemptions of processor `.0`.
    Preemptions(usize),
    /// The choice of processors that are stalled or halted, and of the accesses.
    ChoiceOfFaults,
    /// The order of events of the same cycle.
    Ties,
}

/// Returns the sequence for a purpose.
pub(crate) fn random(seed: u64, purpose: Purpose) -> SplitMix64 {
    let stream = match purpose {
        Purpose::ChoiceOfFaults => 0,
        Purpose::Ties => u64::MAX,
        Purpose::Processor(id) => 2 * id as u64 + 1,
        Purpose::Delays(id) => 2 * id as u64 + 2,
        Purpose::Preemptions(id) => (1 << 63) | id as u64,
    };
    SplitMix64::from_state(SplitMix64::mix(seed ^ SplitMix64::mix(stream)))
}
