//! The exact check of what a counter handed out.

use std::fmt;

/// The smallest value that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Handed out more than once.
    Repeated(u64),
    /// Never handed out, though enough values were that it should have been.
    Missing(u64),
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wrong::Repeated(value) => write!(f, "value {value} was handed out more than once"),
            Wrong::Missing(value) => write!(f, "value {value} was never handed out"),
        }
    }
}

/// Checks that m values, in any distribution over the threads, are exactly 0..m-1. Returns m.
///
/// # Errors
/// The smallest value that is missing or was handed out twice.
///
/// ```
/// use throng_lab::bench::counters::verify::{Wrong, check};
/// assert_eq!(check(&[&[0, 3], &[2, 1]]), Ok(4));
/// assert_eq!(check(&[&[0, 1], &[1, 2]]), Err(Wrong::Repeated(1)));
/// assert_eq!(check(&[&[0, 1], &[3, 4]]), Err(Wrong::Missing(2)));
/// ```
pub fn check(handed_out: &[&[u64]]) -> Result<u64, Wrong> {
    let total: usize = handed_out.iter().map(|values| values.len()).sum();
    let mut seen = Bitmap::new(total);
    let mut smallest_repeated = None;
    for &value in handed_out.iter().copied().flatten() {
        // A value from `total` on leaves a smaller one missing, which the bitmap shows.
        let index = usize::try_from(value).unwrap_or(usize::MAX);
        if index < total && seen.set(index) {
            smallest_repeated = Some(smallest_repeated.map_or(value, |v: u64| v.min(value)));
        }
    }
    match (smallest_repeated, seen.first_unset()) {
        // A repeated value leaves another one missing. The smaller of the two is reported.
        (Some(repeated), Some(missing)) if missing < repeated => Err(Wrong::Missing(missing)),
        (Some(repeated), _) => Err(Wrong::Repeated(repeated)),
        (None, Some(missing)) => Err(Wrong::Missing(missing)),
        (None, None) => Ok(total as u64),
    }
}

/// A bit for each of the values 0..m-1.
struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

impl Bitmap {
    fn new(len: usize) -> Self {
        Bitmap { words: vec![0; len.div_ceil(64)], len }
    }

    /// Sets a bit and returns whether it was set before.
    fn set(&mut self, index: usize) -> bool {
        let (word, bit) = (&mut self.words[index / 64], 1 << (index % 64));
        let was_set = *word & bit != 0;
        *word |= bit;
        was_set
    }

    fn first_unset(&self) -> Option<u64> {
        let word = self.words.iter().position(|&word| word != u64::MAX)?;
        let index = word * 64 + self.words[word].trailing_ones() as usize;
        (index < self.len).then_some(index as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deals 0..m-1 to three threads in turn.
    fn dealt(m: u64) -> [Vec<u64>; 3] {
        [0, 1, 2].map(|thread| (thread..m).step_by(3).collect())
    }

    fn check_all(hands: &[Vec<u64>; 3]) -> Result<u64, Wrong> {
        check(&hands.each_ref().map(Vec::as_slice))
    }

    #[test]
    fn all_values_once_are_right_whatever_the_number() {
        for m in [0, 1, 2, 63, 64, 65, 127, 128, 1000] {
            assert_eq!(check_all(&dealt(m)), Ok(m));
        }
        assert_eq!(check(&[]), Ok(0));
    }

    #[test]
    fn an_inserted_duplicate_is_found() {
        let mut hands = dealt(1000);
        hands[2].push(500);
        assert_eq!(check_all(&hands), Err(Wrong::Repeated(500)));
        hands[0].push(7);
        assert_eq!(check_all(&hands), Err(Wrong::Repeated(7)));
    }

    #[test]
    fn a_gap_is_found() {
        for missing in [0, 64, 63, 998] {
            let mut hands = dealt(1000);
            for hand in &mut hands {
                hand.retain(|&value| value != missing);
            }
            assert_eq!(check_all(&hands), Err(Wrong::Missing(missing)));
        }
    }

    #[test]
    fn a_value_in_the_place_of_another_is_found() {
        let mut hands = dealt(1000);
        hands[1][10] = 900; // was 31
        assert_eq!(check_all(&hands), Err(Wrong::Missing(31)));
        let mut hands = dealt(1000);
        hands[1][10] = 3;
        assert_eq!(check_all(&hands), Err(Wrong::Repeated(3)));
        let mut hands = dealt(1000);
        hands[1][10] = u64::MAX;
        assert_eq!(check_all(&hands), Err(Wrong::Missing(31)));
    }
}
