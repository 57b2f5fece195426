//! Cheap random numbers that depend only on their seed.

/// The sequence splitmix64 (Steele, Lea and Flood 2014), which gives the processors of a machine
/// random numbers.
///
/// ```
/// use throng::machine::SplitMix64;
///
/// let mut sequence = SplitMix64::from_state(7);
/// let first = sequence.draw();
/// assert_ne!(first, sequence.draw());
/// assert_eq!(first, SplitMix64::from_state(7).draw());
/// assert!(sequence.below(6) < 6);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns the sequence that continues from `state`.
    #[inline]
    #[must_use]
    pub const fn from_state(state: u64) -> Self {
        SplitMix64(state)
    }

    /// Returns the present state of the sequence.
    #[inline]
    #[must_use]
    pub const fn state(self) -> u64 {
        self.0
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        Self::mix(self.0)
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0.
    #[inline]
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.draw() as u128 * bound as u128) >> 64) as u64
    }

    /// Spreads every bit over all bits, one to one. It turns similar numbers into unrelated states.
    #[inline]
    #[must_use]
    pub const fn mix(bits: u64) -> u64 {
        let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sequence_that_others_know_by_that_name() {
        let mut sequence = SplitMix64::from_state(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!([sequence.draw(), sequence.draw()], expected);
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut sequence = SplitMix64::from_state(1);
        let mut seen = [0; 5];
        (0..1000).for_each(|_| seen[sequence.below(5) as usize] += 1);
        assert!(seen.iter().all(|&times| (140..260).contains(&times)), "{seen:?}");
        assert_eq!(sequence.below(0), 0);
    }
}
