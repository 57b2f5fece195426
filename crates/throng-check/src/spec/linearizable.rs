//! Linearizability of counters.

use super::Violation;
use crate::history::Call;

/// Checks that the calls can be put in an order that respects both their numbers and time. No call
/// may have a smaller number than one that was over before it began. For every missing number there
/// must be a call in progress that began early enough to hold it.
///
/// Together with [`check_counting`](super::check_counting) this is all of linearizability. The
/// numbers give the order in which the calls must have taken effect. Such an order is correct
/// exactly if it never puts a call before one that was over when it began.
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
/// [`Violation::OutOfOrder`] or [`Violation::Unclaimed`].
pub fn check_linearizable(calls: &[Call]) -> Result<(), Violation> {
    let mut by_value: Vec<(u64, u64, u64)> = calls
        .iter()
        .filter_map(|call| call.ended.map(|(ended, value)| (value, call.started, ended)))
        .collect();
    by_value.sort_unstable();

    // From the largest number down: the earliest end among the calls with larger numbers, and the
    // number of that call. A call with a smaller number must have begun by then.
    let mut deadline: Option<(u64, u64)> = None;
    let mut missing = Vec::new();
    let mut above = 0;
    // One more than can be claimed is enough.
    let most = calls.iter().filter(|call| call.ended.is_none()).count() + 1;
    for &(value, started, ended) in by_value.iter().rev() {
        if let Some((end, larger)) = deadline {
            missing.extend((value + 1..above).map(|skipped| (end, skipped)).take(most));
            if end < started {
                return Err(Violation::OutOfOrder { earlier: larger, later: value });
            }
        }
        deadline = Some(deadline.map_or((ended, value), |least| least.min((ended, value))));
        above = value;
    }
    if let Some((end, _)) = deadline {
        missing.extend((0..above).map(|skipped| (end, skipped)).take(most));
    }
    check_missing(calls, missing)
}

/// Checks that each of the missing numbers can be held by a call of its own that is in progress.
/// Each is given with the time by which its call must have begun.
fn check_missing(calls: &[Call], mut missing: Vec<(u64, u64)>) -> Result<(), Violation> {
    let in_progress = calls.iter().filter(|call| call.ended.is_none());
    let mut starts: Vec<u64> = in_progress.map(|call| call.started).collect();
    starts.sort_unstable();
    missing.sort_unstable();
    for (i, &(deadline, value)) in missing.iter().enumerate() {
        if starts.get(i).is_none_or(|&start| start > deadline) {
            return Err(Violation::Unclaimed { value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Start, end and number.
    type Timed = (u64, u64, u64);

    /// Checks the definition by brute force: returns whether some assignment of the missing numbers
    /// to calls in progress leaves no pair in the wrong order.
    fn by_definition(calls: &[Call]) -> bool {
        let ended = |call: &Call| call.ended.map(|(end, value)| (call.started, end, value));
        let mut timed: Vec<Timed> = calls.iter().filter_map(ended).collect();
        let pending = calls.iter().filter(|call| call.ended.is_none());
        let mut pending: Vec<u64> = pending.map(|call| call.started).collect();
        let largest = timed.iter().map(|call| call.2).max().unwrap_or(0);
        let is_missing = |value: &u64| timed.iter().all(|call| call.2 != *value);
        let missing: Vec<u64> = (0..largest).filter(is_missing).collect();
        can_be_ordered(&missing, &mut pending, &mut timed)
    }

    fn can_be_ordered(missing: &[u64], pending: &mut Vec<u64>, timed: &mut Vec<Timed>) -> bool {
        let Some((&value, rest)) = missing.split_first() else {
            let wrong = |a: &Timed| timed.iter().any(|b| a.1 < b.0 && b.2 < a.2);
            return !timed.iter().any(wrong);
        };
        (0..pending.len()).any(|i| {
            let started = pending.remove(i);
            timed.push((started, u64::MAX, value));
            let found = can_be_ordered(rest, pending, timed);
            timed.pop();
            pending.insert(i, started);
            found
        })
    }

    #[test]
    fn a_number_that_no_call_can_hold_is_found() {
        // 1 was given before the only call that could have 0 began.
        let calls = [Call::finished(0, 5, 1), Call::finished(1, 8, 2), Call::in_progress(6)];
        assert_eq!(check_linearizable(&calls), Err(Violation::Unclaimed { value: 0 }));
        let early = [Call::finished(0, 5, 1), Call::finished(1, 8, 2), Call::in_progress(5)];
        assert_eq!(check_linearizable(&early), Ok(()));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Numbers 0..n in some order; about every fourth call never ends.
        #[test]
        fn agrees_with_the_definition(
            spans in prop::collection::vec((0_u64..20, 0_u64..8, 0_u32..4), 1..8),
            shift in 0_usize..8,
        ) {
            let n = spans.len();
            let call = |(i, &(started, length, fate)): (usize, &(u64, u64, u32))| {
                if fate == 0 {
                    Call::in_progress(started)
                } else {
                    Call::finished(started, started + length, ((i + shift) % n) as u64)
                }
            };
            let calls: Vec<Call> = spans.iter().enumerate().map(call).collect();
            prop_assert_eq!(check_linearizable(&calls).is_ok(), by_definition(&calls));
        }
    }
}
