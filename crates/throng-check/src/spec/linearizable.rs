//! Linearizability of counters.

use super::Violation;
use crate::history::Call;

/// Checks that no call got a smaller number than one that was over before it began.
///
/// For a counter this is all of linearizability, once [`check_counting`](super::check_counting)
/// holds: the numbers say in which order the calls must have taken effect, and such an order is
/// right exactly if it never puts a call before one that was over when it began.
///
/// ```
/// use throng_check::history::Call;
/// use throng_check::spec::{Violation, check_linearizable};
///
/// let overlapping = [Call::finished(0, 2, 1), Call::finished(1, 3, 0)];
/// assert_eq!(check_linearizable(&overlapping), Ok(()));
/// let one_after_the_other = [Call::finished(0, 1, 1), Call::finished(2, 3, 0)];
/// let expected = Violation::OutOfOrder { earlier: 1, later: 0 };
/// assert_eq!(check_linearizable(&one_after_the_other), Err(expected));
/// ```
///
/// # Errors
/// [`Violation::OutOfOrder`].
pub fn check_linearizable(calls: &[Call]) -> Result<(), Violation> {
    let mut by_value: Vec<(u64, u64, u64)> = calls
        .iter()
        .filter_map(|call| call.ended.map(|(ended, value)| (value, call.started, ended)))
        .collect();
    by_value.sort_unstable();

    // From the largest number down: the earliest end among the larger numbers, and whose it is.
    let mut earliest: Option<(u64, u64)> = None;
    for (value, started, ended) in by_value.into_iter().rev() {
        if let Some((_, larger)) = earliest.filter(|&(end, _)| end < started) {
            return Err(Violation::OutOfOrder { earlier: larger, later: value });
        }
        earliest = Some(earliest.map_or((ended, value), |least| least.min((ended, value))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, tried on every pair.
    fn by_definition(calls: &[(u64, u64, u64)]) -> bool {
        calls
            .iter()
            .all(|&(_, ended, a)| calls.iter().all(|&(started, _, b)| !(ended < started && b < a)))
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(spans in prop::collection::vec((0_u64..30, 0_u64..10), 1..12),
                                      rotate in 0_usize..12) {
            let n = spans.len();
            let calls: Vec<(u64, u64, u64)> = spans
                .iter()
                .enumerate()
                .map(|(i, &(start, length))| (start, start + length, ((i + rotate) % n) as u64))
                .collect();
            let history: Vec<Call> =
                calls.iter().map(|&(start, end, value)| Call::finished(start, end, value)).collect();
            prop_assert_eq!(check_linearizable(&history).is_ok(), by_definition(&calls));
        }
    }
}
