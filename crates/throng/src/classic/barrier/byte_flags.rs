//! Flags that are the bytes of one word.

use super::FanIn;

/// The bytes of a word: the most flags it has.
const BYTES: usize = 8;

/// The flag at `place`, set.
#[inline]
pub(super) const fn flag(place: usize) -> u64 {
    1 << (8 * place)
}

/// The first `count` flags, set.
pub(super) fn flags(count: usize) -> u64 {
    (0..count).map(flag).sum()
}

/// The same choice among the fan-ins for which one word has a flag each.
pub(super) fn within_a_word(fan_in: &FanIn) -> FanIn {
    match fan_in {
        FanIn::Usual => FanIn::Usual,
        FanIn::Fixed(fan_in) => FanIn::Fixed(BYTES.min(*fan_in)),
        FanIn::Fullest { least, most } => {
            FanIn::Fullest { least: (*least).min(BYTES - 1), most: BYTES.min(*most) }
        }
        FanIn::Machine { most, topology } => {
            FanIn::Machine { most: BYTES.min(*most), topology: topology.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_a_byte() {
        assert_eq!(flag(0), 1);
        assert_eq!(flag(7), 0x0100_0000_0000_0000);
        assert_eq!(flags(0), 0);
        assert_eq!(flags(3), 0x01_0101);
        assert_eq!(flags(8), 0x0101_0101_0101_0101);
    }

    #[test]
    fn a_fan_in_is_at_most_a_word() {
        for fan_in in [FanIn::Fixed(20), FanIn::Fullest { least: 10, most: 20 }, FanIn::Fixed(3)] {
            let levels = within_a_word(&fan_in).levels(1000);
            assert!(levels.iter().all(|&level| level <= BYTES), "{fan_in:?}: {levels:?}");
        }
        assert_eq!(within_a_word(&FanIn::Fixed(5)), FanIn::Fixed(5));
    }
}
