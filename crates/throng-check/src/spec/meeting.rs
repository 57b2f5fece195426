//! The properties of barriers: no member leaves a round before all have come to it, and one leads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Violation;
use crate::history::Visit;

/// Checks the visits of a team, given for each member in the order in which it made them: the k-th
/// visit of a member is to round k. No member may leave a round before all have come to it.
///
/// Times may be imprecise as long as every visit is recorded to begin no later and to end no
/// earlier than it did; at equal times, arrivals come first.
///
/// ```
/// use throng_check::history::Visit;
/// use throng_check::spec::{Violation, check_rounds};
///
/// let one_late = [vec![Visit::over(0, 3, true)], vec![Visit::over(2, 4, false)]];
/// assert_eq!(check_rounds(&one_late), Ok(()));
/// let too_late = [vec![Visit::over(0, 1, true)], vec![Visit::over(2, 4, false)]];
/// assert_eq!(check_rounds(&too_late), Err(Violation::LeftEarly { round: 0, missing: 1 }));
/// ```
///
/// # Errors
/// [`Violation::LeftEarly`].
pub fn check_rounds(members: &[Vec<Visit>]) -> Result<(), Violation> {
    let rounds = members.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..rounds {
        let visits = || members.iter().map(|visits| visits.get(round));
        let first_out = visits().flatten().filter_map(|visit| visit.left).map(|(at, _)| at).min();
        let Some(first_out) = first_out else { continue };
        let is_missing =
            |visit: &Option<&Visit>| visit.is_none_or(|visit| visit.entered > first_out);
        let missing = visits().filter(is_missing).count();
        if missing > 0 {
            return Err(Violation::LeftEarly { round: round as u64, missing });
        }
    }
    Ok(())
}

/// Checks the visits of a team whose members learn whether they lead: like [`check_rounds`], and
/// each round must have one leader.
///
/// # Errors
/// [`Violation::LeftEarly`] or [`Violation::Leaders`].
pub fn check_team(members: &[Vec<Visit>]) -> Result<(), Violation> {
    check_rounds(members)?;
    let rounds = members.iter().map(Vec::len).max().unwrap_or(0);
    for round in 0..rounds {
        let left = members.iter().filter_map(|visits| visits.get(round)?.left);
        let leads: Vec<bool> = left.map(|(_, leads)| leads).collect();
        let leaders = leads.iter().filter(|&&leads| leads).count();
        // A member that has yet to leave may lead.
        if leaders > 1 || (leaders == 0 && leads.len() == members.len()) {
            return Err(Violation::Leaders { round: round as u64, leaders });
        }
    }
    Ok(())
}

/// Checks the visits of a barrier where any `members` threads meet. The visits must be divisible
/// into rounds of `members`, which overlap in time, with one leader each. A visit that has not
/// ended may be in a round, and may be its leader.
///
/// So when the j-th visit ends, at least ⌈j / n⌉ n have begun. That alone would not be enough:
/// several short visits could use one long visit in turn.
///
/// Rounds are found by their first visit to end. All visits of its round have begun by then. Of
/// those that have begun, it is best to choose the next to end: a visit that lasts longer can be in
/// any round that a shorter one can.
///
/// ```
/// use throng_check::history::Visit;
/// use throng_check::spec::{Violation, check_anonymous};
///
/// let [long, short, late] =
///     [Visit::over(0, 9, true), Visit::over(1, 2, false), Visit::over(3, 4, false)];
/// assert_eq!(check_anonymous(2, &[long, short]), Ok(()));
/// let met_nobody = Violation::LeftEarly { round: 1, missing: 1 };
/// assert_eq!(check_anonymous(2, &[long, short, late]), Err(met_nobody));
/// assert_eq!(check_anonymous(2, &[long, short, late, Visit::in_progress(4)]), Ok(()));
/// ```
///
/// # Errors
/// [`Violation::LeftEarly`] or [`Violation::Leaders`]. Rounds are counted in the order in which the
/// first visit of each ended.
pub fn check_anonymous(members: usize, visits: &[Visit]) -> Result<(), Violation> {
    let mut arrivals: Vec<&Visit> = visits.iter().collect();
    arrivals.sort_unstable_by_key(|visit| visit.entered);
    let mut arrivals = arrivals.into_iter().peekable();
    let mut leaving: Vec<u64> = visits.iter().filter_map(|v| v.left).map(|(at, _)| at).collect();
    leaving.sort_unstable();

    // Visits that have begun and are in no round yet, the next to end first.
    let (mut leaders, mut others, mut staying) = (BinaryHeap::new(), BinaryHeap::new(), 0);
    let mut round = 0;
    for out in leaving {
        while let Some(visit) = arrivals.next_if(|visit| visit.entered <= out) {
            match visit.left {
                Some((at, true)) => leaders.push(Reverse(at)),
                Some((at, false)) => others.push(Reverse(at)),
                None => staying += 1,
            }
        }
        let is_in_no_round =
            |heap: &BinaryHeap<Reverse<u64>>| heap.peek().is_some_and(|&Reverse(next)| next <= out);
        if !is_in_no_round(&leaders) && !is_in_no_round(&others) {
            continue;
        }
        let present = leaders.len() + others.len() + staying;
        if present < members {
            return Err(Violation::LeftEarly { round, missing: members - present });
        }
        let followers = (members - 1).min(others.len());
        let unknown = members - 1 - followers + usize::from(leaders.is_empty());
        if unknown > staying {
            let too_many = members - 1 - followers - staying;
            let leaders = if leaders.is_empty() { 0 } else { 1 + too_many };
            return Err(Violation::Leaders { round, leaders });
        }
        staying -= unknown;
        leaders.pop();
        for _ in 0..followers {
            others.pop();
        }
        round += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_member_goes_on_without_a_member_that_does_not_come() {
        let alone = [vec![Visit::over(0, 1, true)], vec![]];
        assert_eq!(check_rounds(&alone), Err(Violation::LeftEarly { round: 0, missing: 1 }));
        assert_eq!(check_rounds(&[vec![Visit::in_progress(0)], vec![]]), Ok(()));
    }

    #[test]
    fn every_round_has_one_leader() {
        let round = |leads: [bool; 2]| leads.map(|leads| vec![Visit::over(0, 1, leads)]);
        assert_eq!(check_team(&round([false, true])), Ok(()));
        for (leads, leaders) in [([false, false], 0), ([true, true], 2)] {
            let expected = Err(Violation::Leaders { round: 0, leaders });
            assert_eq!(check_team(&round(leads)), expected);
            let visits = leads.map(|leads| Visit::over(0, 1, leads));
            assert_eq!(check_anonymous(2, &visits), expected);
        }
        let one_is_there = [vec![Visit::over(1, 2, false)], vec![Visit::in_progress(0)]];
        assert_eq!(check_team(&one_is_there), Ok(()));
    }

    /// Checks the definition by brute force: returns whether the first visit to end can meet some
    /// n - 1 others, and so on with the rest.
    fn by_definition(members: usize, visits: &[Visit]) -> bool {
        let over = visits.iter().position(|visit| visit.left.is_some());
        let Some(first) = over else { return true };
        let others: Vec<usize> = (0..visits.len()).filter(|&i| i != first).collect();
        (0_u32..1 << others.len()).any(|chosen| {
            if chosen.count_ones() as usize != members - 1 {
                return false;
            }
            let is_chosen = |i: usize| {
                i == first
                    || others.iter().position(|&o| o == i).is_some_and(|at| chosen >> at & 1 == 1)
            };
            let (round, rest): (Vec<_>, Vec<_>) =
                visits.iter().copied().enumerate().partition(|&(i, _)| is_chosen(i));
            let rest: Vec<Visit> = rest.into_iter().map(|(_, visit)| visit).collect();
            is_round(&round) && by_definition(members, &rest)
        })
    }

    fn is_round(visits: &[(usize, Visit)]) -> bool {
        let last_in = visits.iter().map(|(_, visit)| visit.entered).max();
        let first_out = visits.iter().filter_map(|(_, visit)| visit.left).map(|left| left.0).min();
        let leaders = visits.iter().filter(|(_, v)| v.left.is_some_and(|left| left.1)).count();
        let unknown = visits.iter().filter(|(_, visit)| visit.left.is_none()).count();
        let meet = first_out.is_none_or(|out| last_in.is_none_or(|last| last <= out));
        meet && leaders <= 1 && leaders + unknown >= 1
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Visits at any time; one in three leads and one in six never ends.
        #[test]
        fn agrees_with_the_definition(
            members in 1_usize..4,
            spans in prop::collection::vec((0_u64..8, 0_u64..8, 0_u32..6), 1..8),
        ) {
            let visit = |&(entered, length, fate): &(u64, u64, u32)| match fate {
                0 => Visit::in_progress(entered),
                fate => Visit::over(entered, entered + length, members == 1 || fate < 3),
            };
            let visits: Vec<Visit> = spans.iter().map(visit).collect();
            let verdict = check_anonymous(members, &visits);
            prop_assert_eq!(verdict.is_ok(), by_definition(members, &visits), "{:?}", verdict);
            if verdict.is_ok() {
                let mut left: Vec<u64> = visits.iter().filter_map(|v| v.left).map(|l| l.0).collect();
                left.sort_unstable();
                for (before, out) in left.into_iter().enumerate() {
                    let begun = visits.iter().filter(|visit| visit.entered <= out).count();
                    prop_assert!(begun >= (before + 1).div_ceil(members) * members);
                }
            }
        }
    }
}
