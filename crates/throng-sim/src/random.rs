//! Random numbers that depend on the seed alone.

/// The sequence splitmix64.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Random(u64);

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

impl Random {
    pub(crate) fn new(seed: u64, purpose: Purpose) -> Self {
        let stream = match purpose {
            Purpose::ChoiceOfFaults => 0,
            Purpose::Processor(id) => 2 * id as u64 + 1,
            Purpose::Delays(id) => 2 * id as u64 + 2,
            Purpose::Preemptions(id) => (1 << 63) | id as u64,
        };
        Random(mix(seed ^ mix(stream)))
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`, which is not 0.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// Spreads every bit over all bits; one to one.
#[inline]
const fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
