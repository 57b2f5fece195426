//! The counting property: no number is given twice, and none is lost.

use std::collections::HashSet;

use super::Violation;
use crate::history::Call;

/// Checks that no number was given twice. Also checks that at every moment no more numbers were
/// missing below the largest one given than calls were in progress (DT96 Lemma 5.6). When no call
/// is in progress, that means: the numbers given are exactly 0..m-1.
///
/// Times may be imprecise as long as every call is recorded to start no later and to end no earlier
/// than it did; at equal times, starts come first.
///
/// ```
/// use throng_check::history::Call;
/// use throng_check::spec::{Violation, check_counting};
///
/// let calls = [Call::finished(0, 2, 1), Call::finished(1, 3, 0)];
/// assert_eq!(check_counting(&calls), Ok(()));
/// let lost = [Call::finished(0, 1, 1)];
/// let expected = Violation::Missing { largest: 1, missing: 1, in_progress: 0 };
/// assert_eq!(check_counting(&lost), Err(expected));
/// ```
///
/// # Errors
/// [`Violation::Duplicate`] or [`Violation::Missing`].
pub fn check_counting(calls: &[Call]) -> Result<(), Violation> {
    let mut given = HashSet::with_capacity(calls.len());
    for (_, value) in calls.iter().filter_map(|call| call.ended) {
        if !given.insert(value) {
            return Err(Violation::Duplicate { value });
        }
    }

    // An event is a time and, for an end, the number given; starts (None) sort first.
    let starts = calls.iter().map(|call| (call.started, None));
    let ends = calls.iter().filter_map(|call| call.ended.map(|(at, value)| (at, Some(value))));
    let mut events: Vec<(u64, Option<u64>)> = starts.chain(ends).collect();
    events.sort_unstable();

    let (mut in_progress, mut returned, mut largest) = (0, 0, 0);
    for (_, value) in events {
        let Some(value) = value else {
            in_progress += 1;
            continue;
        };
        in_progress -= 1;
        returned += 1;
        largest = value.max(largest);
        let missing = largest - (returned - 1);
        if missing > in_progress {
            return Err(Violation::Missing { largest, missing, in_progress });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_duplicate_is_found() {
        let calls = [Call::finished(0, 3, 0), Call::finished(1, 2, 0)];
        assert_eq!(check_counting(&calls), Err(Violation::Duplicate { value: 0 }));
    }

    #[test]
    fn a_gap_is_excused_only_while_a_call_may_still_fill_it() {
        let early = Call::finished(1, 2, 1);
        assert_eq!(check_counting(&[Call::in_progress(0), early]), Ok(()));
        assert_eq!(check_counting(&[Call::finished(0, 3, 0), early]), Ok(()));
        // The call that gets 0 began only after 1 had been given: 1 came too early.
        let late = Call::finished(3, 4, 0);
        assert!(matches!(check_counting(&[early, late]), Err(Violation::Missing { .. })));
    }

    proptest! {
        /// Calls one after another pass; removing any but the last leaves a gap.
        #[test]
        fn a_lost_number_is_found(n in 2_u64..50, lost in 0_usize..48) {
            let mut calls: Vec<Call> = (0..n).map(|i| Call::finished(2 * i, 2 * i + 1, i)).collect();
            prop_assert_eq!(check_counting(&calls), Ok(()));
            calls.remove(lost % (n as usize - 1));
            prop_assert!(check_counting(&calls).is_err());
        }
    }
}
