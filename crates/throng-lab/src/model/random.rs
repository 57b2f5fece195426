//! Random numbers that depend on the seed alone: the sequence splitmix64.

/// A sequence of random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(mix(seed ^ 0x9E37_79B9_7F4A_7C15))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// How often to try until something of probability `1 / mean` happens; 1 at least.
    pub(super) fn geometric(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        // Above 0 and at most 1, so that its logarithm is finite.
        let uniform = ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        1 + (uniform.ln() / (1.0 - 1.0 / mean).ln()) as u64
    }

    /// Whether something of probability `1 / mean` happens.
    pub(super) fn one_in(&mut self, mean: f64) -> bool {
        ((self.next() >> 11) as f64) * mean < (1_u64 << 53) as f64
    }
}

/// Spreads every bit over all bits; one to one.
const fn mix(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
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

    #[test]
    fn numbers_stay_below_their_bound_and_reach_all_of_it() {
        let mut random = Random::new(1);
        let mut seen = [0; 5];
        (0..1000).for_each(|_| seen[random.below(5)] += 1);
        assert!(seen.iter().all(|&times| (140..260).contains(&times)), "{seen:?}");
    }
}
