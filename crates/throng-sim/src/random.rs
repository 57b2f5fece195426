//! Random numbers that depend on the seed alone.

use throng::machine::SplitMix64;

/// What a sequence is for: sequences of different purposes do not disturb each other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// What processor `.0` gets from `Cpu::random`.
    Processor(usize),
    /// The delays of processor `.0`.
    Delays(usize),
    /// The random preemptions of processor `.0`.
    Preemptions(usize),
    /// Which processors are stalled or halted, and where.
    ChoiceOfFaults,
}

/// The sequence for a purpose.
pub(crate) fn random(seed: u64, purpose: Purpose) -> SplitMix64 {
    let stream = match purpose {
        Purpose::ChoiceOfFaults => 0,
        Purpose::Processor(id) => 2 * id as u64 + 1,
        Purpose::Delays(id) => 2 * id as u64 + 2,
        Purpose::Preemptions(id) => (1 << 63) | id as u64,
    };
    SplitMix64::from_state(SplitMix64::mix(seed ^ SplitMix64::mix(stream)))
}
