//! Recommends a structure in plain words, with the numbers behind it.

use super::document::{Advice, Cell, Entrant, Gain, Need, Whose};
use super::verdict::{Verdict, WORTH, is_better, is_worse};
use crate::bench::ranks::Duel;
use crate::error::count;

/// Returns the recommendation for a need, or `None` where neither ours nor the usual was measured.
pub(crate) fn advise(need: &Need) -> Option<Advice> {
    let usual = need.entrant(&need.usual)?;
    let ours = need.entrants.iter();
    let ours = ours.filter(|entrant| entrant.whose == Whose::Ours && entrant.compares_with(usual));
    let of = |entrant: &Entrant| gains(need, entrant, usual);
    let (pick, gains) = ours
        .map(|entrant| (entrant, of(entrant)))
        .filter(|(_, gains)| !gains.is_empty())
        .max_by(|(_, a), (_, b)| score(a).total_cmp(&score(b)))?;
    let mut words = in_words(pick, usual, &gains);
    let advised = if Verdict::of(&gains) == Verdict::Usual { usual } else { pick };
    words.push_str(&better_peers(need, advised));
    Some(Advice { pick: pick.name.clone(), code: pick.code.clone(), gains, words })
}

/// Returns the gains over the usual, on each number of threads with both.
fn gains(need: &Need, entrant: &Entrant, usual: &Entrant) -> Vec<Gain> {
    let gain = |cell: &Cell| {
        let other = usual.on(cell.threads)?;
        let times = need.unit.times_as_good(cell.median, other.median);
        times.is_finite().then(|| Gain {
            threads: cell.threads,
            times,
            beyond_noise: differ(cell, other),
        })
    };
    entrant.cells.iter().filter_map(gain).collect()
}

/// Returns whether chance alone puts the runs of one ahead of those of the other with at most 1 in
/// 20. That takes at least three runs of each.
fn differ(a: &Cell, b: &Cell) -> bool {
    const HARDLY: f64 = 0.05 + 1e-9;
    let duel = Duel::of(&a.runs, &b.runs);
    duel.chance_of_better().min(duel.chance_of_worse()) <= HARDLY
}

/// Returns one number for all thread counts: the geometric mean of the gains with several threads,
/// or of all gains if there are only gains with one.
fn score(gains: &[Gain]) -> f64 {
    let several: Vec<f64> = gains.iter().filter(|g| g.threads > 1).map(|g| g.times.ln()).collect();
    let all = || gains.iter().map(|gain| gain.times.ln()).collect();
    let logs: Vec<f64> = if several.is_empty() { all() } else { several };
    logs.iter().sum::<f64>() / logs.len().max(1) as f64
}

fn in_words(pick: &Entrant, usual: &Entrant, gains: &[Gain]) -> String {
    let (ours, theirs) = (&pick.code, &usual.code);
    let having = |is: fn(&Gain) -> bool| gains.iter().filter(|gain| is(gain)).collect::<Vec<_>>();
    let (better, worse) = (having(is_better), having(is_worse));
    match Verdict::of(gains) {
        Verdict::Pick if better.len() == gains.len() => {
            format!("Use {ours}: {} {theirs}, on every number of threads.", as_fast_as(&better))
        }
        Verdict::Pick => format!(
            "Use {ours}: {} {theirs} on {}, and no slower on {}.",
            as_fast_as(&better),
            threads(&better),
            threads(&having(|gain| !is_better(gain)))
        ),
        Verdict::Depends => format!(
            "Use {ours} on {}: {} {theirs}. On {} {theirs} is the faster one, {}.",
            threads(&better),
            as_fast_as(&better),
            threads(&worse),
            inverse(&worse)
        ),
        Verdict::Unclear => format!(
            "It cannot be told from these runs, which differ too much among themselves: {ours} is {} \
             {theirs} in the median. Measure again when the machine is quiet, or longer (--full).",
            as_fast_as(&gains.iter().collect::<Vec<_>>())
        ),
        Verdict::Either => format!(
            "It makes no difference here: {ours} is {} {theirs}. Keep what you have; take {ours} if the \
             program will also run on a machine with more cores.",
            as_fast_as(&gains.iter().collect::<Vec<_>>())
        ),
        Verdict::Usual if worse.len() == gains.len() => format!(
            "Keep {theirs}: it is the faster one on every number of threads, {} as {ours}.",
            inverse(&worse)
        ),
        Verdict::Usual => format!(
            "Keep {theirs}: on {} it is the faster one, {}; elsewhere {ours} is no faster.",
            threads(&worse),
            inverse(&worse)
        ),
    }
}

/// Formats as in "2.1 to 5 times as fast as".
fn as_fast_as(gains: &[&Gain]) -> String {
    format!("{} as fast as", range(gains.iter().map(|gain| gain.times)))
}

/// Formats the reverse, as in "1.2 to 1.5 times as fast".
fn inverse(gains: &[&Gain]) -> String {
    format!("{} as fast", range(gains.iter().map(|gain| 1.0 / gain.times)))
}

fn range(times: impl Iterator<Item = f64>) -> String {
    let (low, high) = times.fold((f64::INFINITY, 0.0), |(low, high), times: f64| {
        (f64::min(low, times), f64::max(high, times))
    });
    let (low, high) = (digits(low), digits(high));
    if low == high { format!("{low} times") } else { format!("{low} to {high} times") }
}

/// Formats a ratio with about two digits.
pub(crate) fn digits(times: f64) -> String {
    match times {
        _ if times >= 9.95 => format!("{times:.0}"),
        _ if times >= 0.995 => format!("{times:.1}"),
        _ => format!("{times:.2}"),
    }
}

/// Formats as in "2 threads", "2, 4 and 8 threads".
fn threads(gains: &[&Gain]) -> String {
    match gains {
        [] => "none".to_owned(),
        [one] => count(one.threads),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(|gain| gain.threads.to_string()).collect();
            format!("{} and {}", first.join(", "), count(last.threads))
        }
    }
}

/// Returns a sentence about other entrants that are better than the advised one, or nothing.
fn better_peers(need: &Need, advised: &Entrant) -> String {
    let best = |cell: &Cell| {
        let peers = need.entrants.iter().filter(|entrant| entrant.whose == Whose::Peer);
        let peers = peers.filter(|peer| peer.name != need.usual && peer.compares_with(advised));
        let better = peers.filter_map(|peer| {
            let other = peer.on(cell.threads)?;
            let times = need.unit.times_as_good(other.median, cell.median);
            (times >= WORTH && times.is_finite() && differ(cell, other)).then_some((peer, times))
        });
        let (peer, times) = better.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some(format!("{} on {} ({} times)", peer.code, count(cell.threads), digits(times)))
    };
    let better: Vec<String> = advised.cells.iter().filter_map(best).collect();
    if better.is_empty() { String::new() } else { format!(" Faster still: {}.", better.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::document::Unit;

    /// Returns an entrant with these medians on 1, 2, 4, ... threads; all runs are within 1 %.
    fn entrant(name: &str, whose: Whose, medians: &[f64]) -> Entrant {
        let cells = medians.iter().enumerate().map(|(k, &median)| {
            let runs = vec![0.995 * median, median, 1.005 * median];
            Cell { threads: 1 << k, median, min: runs[0], max: runs[2], runs, latency: None }
        });
        Entrant {
            name: name.to_owned(),
            code: name.to_uppercase(),
            whose,
            bounded: None,
            cells: cells.collect(),
        }
    }

    fn words(unit: Unit, entrants: Vec<Entrant>) -> String {
        let need = Need {
            name: "n".to_owned(),
            title: String::new(),
            workload: String::new(),
            unit,
            usual: "usual".to_owned(),
            entrants,
            advice: None,
        };
        advise(&need).unwrap().words
    }

    #[test]
    fn what_is_better_everywhere_is_recommended() {
        let usual = entrant("usual", Whose::Peer, &[10.0, 10.0, 10.0]);
        let ours = entrant("ours", Whose::Ours, &[20.0, 30.0, 200.0]);
        let expected = "Use OURS: 2.0 to 20 times as fast as USUAL, on every number of threads.";
        assert_eq!(words(Unit::MillionPerSecond, vec![usual, ours]), expected);
    }

    #[test]
    fn where_less_is_better_the_smaller_number_wins() {
        let usual = entrant("usual", Whose::Peer, &[10.0, 30.0]);
        let ours = entrant("ours", Whose::Ours, &[10.0, 10.0]);
        let expected =
            "Use OURS: 3.0 times as fast as USUAL on 2 threads, and no slower on 1 thread.";
        assert_eq!(words(Unit::NanosecondsARound, vec![usual, ours]), expected);
    }

    #[test]
    fn where_the_usual_is_better_that_is_said() {
        let usual = entrant("usual", Whose::Peer, &[20.0, 10.0, 10.0]);
        let ours = entrant("ours", Whose::Ours, &[10.0, 20.0, 40.0]);
        assert_eq!(
            words(Unit::MillionPerSecond, vec![usual.clone(), ours]),
            "Use OURS on 2 and 4 threads: 2.0 to 4.0 times as fast as USUAL. On 1 thread USUAL is the \
             faster one, 2.0 times as fast."
        );
        let ours = entrant("ours", Whose::Ours, &[10.0, 10.0, 10.0]);
        assert_eq!(
            words(Unit::MillionPerSecond, vec![usual, ours]),
            "Keep USUAL: on 1 thread it is the faster one, 2.0 times as fast; elsewhere OURS is no faster."
        );
    }

    #[test]
    fn where_the_usual_is_better_everywhere_others_are_held_against_it() {
        let usual = entrant("usual", Whose::Peer, &[20.0, 20.0]);
        let ours = entrant("ours", Whose::Ours, &[10.0, 10.0]);
        let peer = entrant("peer", Whose::Peer, &[15.0, 30.0]);
        assert_eq!(
            words(Unit::MillionPerSecond, vec![usual, ours, peer]),
            "Keep USUAL: it is the faster one on every number of threads, 2.0 times as fast as OURS. \
             Faster still: PEER on 2 threads (1.5 times)."
        );
    }

    #[test]
    fn no_difference_is_called_that_and_better_peers_are_named() {
        let usual = entrant("usual", Whose::Peer, &[10.0, 10.0]);
        let ours = entrant("ours", Whose::Ours, &[9.8, 10.1]);
        let peer = entrant("peer", Whose::Peer, &[5.0, 30.3]);
        let text = words(Unit::MillionPerSecond, vec![usual, ours, peer]);
        assert!(
            text.starts_with("It makes no difference here: OURS is 0.98 to 1.0 times"),
            "{text}"
        );
        assert!(text.ends_with(" Faster still: PEER on 2 threads (3.0 times)."), "{text}");
    }

    #[test]
    fn what_differs_less_than_its_runs_is_no_gain() {
        let mut usual = entrant("usual", Whose::Peer, &[10.0, 10.0]);
        for cell in &mut usual.cells {
            cell.runs[2] = 100.0;
        }
        let ours = entrant("ours", Whose::Ours, &[20.0, 20.0]);
        let text = words(Unit::MillionPerSecond, vec![usual, ours]);
        assert!(text.starts_with("It cannot be told from these runs"), "{text}");
    }

    #[test]
    fn of_ours_the_one_that_suits_crowds_is_picked() {
        let usual = entrant("usual", Whose::Peer, &[10.0, 10.0]);
        let alone = entrant("alone", Whose::Ours, &[90.0, 10.0]);
        let crowd = entrant("crowd", Whose::Ours, &[10.0, 20.0]);
        let text = words(Unit::MillionPerSecond, vec![usual, alone, crowd]);
        assert!(text.starts_with("Use CROWD"), "{text}");
    }

    #[test]
    fn without_the_usual_there_is_no_advice() {
        let need = Need {
            name: "n".to_owned(),
            title: String::new(),
            workload: String::new(),
            unit: Unit::MillionPerSecond,
            usual: "usual".to_owned(),
            entrants: vec![entrant("ours", Whose::Ours, &[1.0])],
            advice: None,
        };
        assert_eq!(advise(&need), None);
    }
}
