//! The random choices of the chains, which depend on the seed alone.

use throng::machine::SplitMix64;

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(SplitMix64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        let far_from_zero = SplitMix64::mix(seed ^ 0x9E37_79B9_7F4A_7C15);
        Random(SplitMix64::from_state(far_from_zero))
    }

    /// Draws a number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }

    /// Draws the number of tries until an event of probability `1 / mean` happens; at least 1.
    pub(super) fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        // Above 0 and at most 1, so that its logarithm is finite.
        let uniform = ((self.0.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        1 + (uniform.ln() / (1.0 - 1.0 / mean).ln()) as u64
    }

    /// Returns true with probability `1 / mean`.
    pub(super) fn one_in(&mut self, mean: f64) -> bool {
        ((self.0.draw() >> 11) as f64) * mean < (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_times_have_the_mean_asked_for() {
        for mean in [1.0, 2.0, 30.0] {
            let mut random = Random::new(7);
            let sum: u64 = (0..20_000).map(|_| random.geometric(mean)).sum();
            let measured = sum as f64 / 20_000.0;
            // The deviation of the mean is below mean / sqrt(20000).
            assert!((measured - mean).abs() <= 0.03 * mean, "{measured} for {mean}");
        }
        let mut random = Random::new(7);
        let hits = (0..20_000).filter(|_| random.one_in(4.0)).count();
        assert!((4700..5300).contains(&hits), "{hits}");
        assert!((0..100).all(|_| random.one_in(1.0)));
    }
}
