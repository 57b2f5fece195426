//! Detects ranks that have been silent for too long.
//!
//! No rank is asked while answers come. A caller that waits for longer than a part of the patience
//! asks the ranks on which it depends directly for signs of life. Their service threads answer,
//! however long their computations take. So a rank counts as lost because it is silent and never
//! because it is slow to arrive.
//!
//! A rank that is asked asks in turn the ranks on which it depends (see `Engine`). So all ranks on
//! which the caller depends, directly or not, are watched, each by a few others: a member of a
//! barrier for 1024 ranks asks ten.

use std::time::Duration;

/// The signs of life of some ranks, as one rank knows them. Times are nanoseconds since it began.
///
/// A poll takes as long for many ranks as for few: they are checked once in a quarter of the
/// patience.
#[derive(Debug)]
pub(crate) struct Watch {
    /// In the order of their numbers.
    ranks: Vec<Seen>,
    patience_ns: u64,
    /// The time when the ranks were last checked.
    looked_ns: u64,
    /// At that time, the rank that had owed an answer for the longest time. `None` if it has sent
    /// something since.
    slowest: Option<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    rank: u32,
    /// Whether it is still watched.
    needed: bool,
    /// The time when it was asked; `None` if it has sent something since.
    asked_ns: Option<u64>,
}

impl Watch {
    /// Watches `ranks`.
    pub(crate) fn new(ranks: impl IntoIterator<Item = u32>, patience: Duration) -> Self {
        let seen = |rank| Seen { rank, needed: true, asked_ns: None };
        let mut ranks: Vec<Seen> = ranks.into_iter().map(seen).collect();
        ranks.sort_unstable_by_key(|seen| seen.rank);
        ranks.dedup_by_key(|seen| seen.rank);
        let patience_ns = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        Watch { ranks, patience_ns, looked_ns: 0, slowest: None }
    }

    /// Records that `rank` has sent something.
    pub(crate) fn heard(&mut self, rank: u32) {
        if let Some(seen) = self.find(rank) {
            seen.asked_ns = None;
            self.slowest = self.slowest.filter(|slowest| slowest.rank != rank);
        }
    }

    /// Records that `rank` is not needed any more.
    pub(crate) fn forget(&mut self, rank: u32) {
        if let Some(seen) = self.find(rank) {
            (seen.needed, seen.asked_ns) = (false, None);
            self.slowest = self.slowest.filter(|slowest| slowest.rank != rank);
        }
    }

    fn find(&mut self, rank: u32) -> Option<&mut Seen> {
        let index = self.ranks.binary_search_by_key(&rank, |seen| seen.rank).ok()?;
        Some(&mut self.ranks[index])
    }

    /// Returns a quarter of the patience: the time between two questions, and before the first.
    pub(crate) fn quarter_ns(&self) -> u64 {
        self.patience_ns / 4
    }

    /// Returns whether it is time to check the ranks again.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        !self.ranks.is_empty() && now_ns.saturating_sub(self.looked_ns) >= self.quarter_ns()
    }

    /// Checks the ranks, and returns those to ask for a sign of life.
    pub(crate) fn ranks_to_ask(&mut self, now_ns: u64) -> Vec<u32> {
        // This rank was stopped itself, or waited for nothing, and has not read the packets that
        // came meanwhile. The times of the others begin anew.
        let was_away = now_ns.saturating_sub(self.looked_ns) >= self.patience_ns / 2;
        self.looked_ns = now_ns;
        self.slowest = None;
        let mut ask = Vec::new();
        for seen in self.ranks.iter_mut().filter(|seen| seen.needed) {
            if seen.asked_ns.is_none() {
                ask.push(seen.rank);
            }
            let asked_ns = seen.asked_ns.filter(|_| !was_away).unwrap_or(now_ns);
            seen.asked_ns = Some(asked_ns);
            if self
                .slowest
                .and_then(|slowest| slowest.asked_ns)
                .is_none_or(|least| asked_ns < least)
            {
                self.slowest = Some(*seen);
            }
        }
        ask
    }

    /// Returns a rank that has not answered for the whole patience, for a caller that has waited
    /// since `since_ns`, and the time for which it has not.
    pub(crate) fn silent(&self, now_ns: u64, since_ns: u64) -> Option<(u32, Duration)> {
        let slowest = self.slowest?;
        let asked_ns = slowest.asked_ns?;
        let missed = now_ns.saturating_sub(asked_ns.max(since_ns)) >= self.patience_ns;
        missed.then(|| (slowest.rank, Duration::from_nanos(now_ns - asked_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE_NS: u64 = 1000;

    /// The watch of a rank that depends on ranks 1 and 2.
    fn watch() -> Watch {
        Watch::new([2, 1, 2], Duration::from_nanos(PATIENCE_NS))
    }

    /// Looks every 100 ns from `from_ns` to `to_ns`; the ranks of `alive` answer at once.
    fn look(watch: &mut Watch, from_ns: u64, to_ns: u64, alive: &[u32]) {
        for now_ns in (from_ns..to_ns).step_by(100) {
            if watch.is_due(now_ns) {
                for rank in watch.ranks_to_ask(now_ns) {
                    if alive.contains(&rank) {
                        watch.heard(rank);
                    }
                }
            }
        }
    }

    #[test]
    fn a_rank_that_answers_is_never_silent() {
        let mut watch = watch();
        look(&mut watch, 0, 100_000, &[1, 2]);
        assert_eq!(watch.silent(100_000, 0), None);
    }

    #[test]
    fn a_rank_that_does_not_answer_is_named() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        let (rank, silent_for) = watch.silent(2_000, 0).expect("rank 2 never answered");
        // It was asked at 300.
        assert_eq!((rank, silent_for), (2, Duration::from_nanos(1_700)));
    }

    #[test]
    fn a_rank_is_missed_until_it_answers_and_another_then() {
        let mut watch = watch();
        look(&mut watch, 0, 1_000, &[1]);
        look(&mut watch, 1_000, 2_000, &[]);
        assert_eq!(watch.silent(2_000, 0).map(|(rank, _)| rank), Some(2));
        watch.heard(2);
        assert_eq!(watch.silent(2_000, 0), None, "rank 1 has some time left");
        look(&mut watch, 2_000, 2_600, &[2]);
        assert_eq!(watch.silent(2_600, 0).map(|(rank, _)| rank), Some(1));
    }

    #[test]
    fn a_rank_that_is_not_needed_any_more_is_not_missed() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        watch.forget(2);
        assert_eq!(watch.silent(2_000, 0), None);
        look(&mut watch, 2_000, 4_000, &[1]);
        assert_eq!(watch.silent(4_000, 0), None);
    }

    #[test]
    fn a_rank_that_depends_on_none_asks_none() {
        let mut watch = Watch::new([], Duration::from_nanos(PATIENCE_NS));
        assert!(!watch.is_due(100_000));
        assert_eq!(watch.silent(100_000, 0), None);
        watch.heard(3);
    }

    #[test]
    fn a_new_wait_gives_every_rank_time() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        assert_eq!(watch.silent(2_000, 1_500), None);
        assert!(watch.silent(2_500, 1_500).is_some());
    }

    #[test]
    fn a_rank_that_did_not_look_does_not_report_others() {
        let mut watch = watch();
        look(&mut watch, 0, 500, &[1]);
        // It was stopped here for a long time; the answer of rank 2 has come but is not read yet.
        watch.ranks_to_ask(50_000);
        assert_eq!(watch.silent(50_000, 0), None);
        assert!(watch.silent(51_000, 0).is_some());
    }

    #[test]
    fn endless_patience_never_asks() {
        let watch = Watch::new([1, 2], Duration::MAX);
        assert!(!watch.is_due(u64::MAX / 8));
        assert_eq!(watch.silent(u64::MAX / 8, 0), None);
    }
}
