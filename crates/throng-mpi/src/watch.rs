//! Who has been silent for too long.
//!
//! Nobody is asked while answers come. Who waits longer than a part of the patience asks the ranks it
//! depends on whether they are there; their service threads answer, however long their computations
//! take. So a rank is given up because it is silent and never because it is slow to arrive.

use std::time::Duration;

/// What one rank knows about the others' signs of life. Times are nanoseconds since it began.
#[derive(Debug)]
pub(crate) struct Watch {
    ranks: Vec<Seen>,
    patience_ns: u64,
    /// When the ranks were looked at last.
    looked_ns: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    heard_ns: u64,
    /// When it was asked; `None` when it has said something since.
    asked_ns: Option<u64>,
}

impl Watch {
    pub(crate) fn new(ranks: u32, patience: Duration) -> Self {
        Watch {
            ranks: vec![Seen::default(); ranks as usize],
            patience_ns: u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX),
            looked_ns: 0,
        }
    }

    /// `rank` has said something.
    pub(crate) fn heard(&mut self, rank: u32, now_ns: u64) {
        self.ranks[rank as usize] = Seen { heard_ns: now_ns, asked_ns: None };
    }

    /// Whether it is time to look at the ranks again.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.looked_ns) >= self.patience_ns / 4
    }

    /// Looks at the ranks for which `needed` is true, and tells which to ask whether they are there.
    pub(crate) fn whom_to_ask(&mut self, now_ns: u64, needed: impl Fn(u32) -> bool) -> Vec<u32> {
        // Who did not look for so long was stopped itself, or waited for nobody, and has not read what
        // others said meanwhile: they get their time anew.
        let was_away = now_ns.saturating_sub(self.looked_ns) >= self.patience_ns / 2;
        self.looked_ns = now_ns;
        let mut ask = Vec::new();
        for (rank, seen) in self.ranks.iter_mut().enumerate() {
            if !needed(rank as u32) {
                continue;
            }
            match seen.asked_ns {
                Some(_) if was_away => seen.asked_ns = Some(now_ns),
                Some(_) => {}
                None if now_ns.saturating_sub(seen.heard_ns) >= self.patience_ns / 4 => {
                    seen.asked_ns = Some(now_ns);
                    ask.push(rank as u32);
                }
                None => {}
            }
        }
        ask
    }

    /// A needed rank that has not answered for the whole patience, as seen by somebody who waits
    /// since `since_ns`; and for how long it has not.
    pub(crate) fn silent(
        &self,
        now_ns: u64,
        since_ns: u64,
        needed: impl Fn(u32) -> bool,
    ) -> Option<(u32, Duration)> {
        self.ranks.iter().enumerate().find_map(|(rank, seen)| {
            let asked_ns = seen.asked_ns?.max(since_ns);
            let silent = now_ns.saturating_sub(asked_ns) >= self.patience_ns && needed(rank as u32);
            silent.then(|| (rank as u32, Duration::from_nanos(now_ns - seen.heard_ns)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE_NS: u64 = 1000;

    fn watch() -> Watch {
        Watch::new(3, Duration::from_nanos(PATIENCE_NS))
    }

    /// Looks every 100 ns from `from_ns` to `to_ns`; ranks of `alive` answer at once.
    fn look(watch: &mut Watch, from_ns: u64, to_ns: u64, alive: &[u32]) {
        for now_ns in (from_ns..to_ns).step_by(100) {
            if watch.is_due(now_ns) {
                for rank in watch.whom_to_ask(now_ns, |rank| rank != 0) {
                    if alive.contains(&rank) {
                        watch.heard(rank, now_ns + 1);
                    }
                }
            }
        }
    }

    #[test]
    fn a_rank_that_answers_is_never_silent() {
        let mut watch = watch();
        look(&mut watch, 0, 100_000, &[1, 2]);
        assert_eq!(watch.silent(100_000, 0, |_| true), None);
    }

    #[test]
    fn a_rank_that_does_not_answer_is_named() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        let (rank, silent_for) = watch.silent(2_000, 0, |_| true).expect("rank 2 never answered");
        assert_eq!((rank, silent_for), (2, Duration::from_nanos(2_000)));
    }

    #[test]
    fn a_rank_that_is_not_needed_is_not_missed() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        assert_eq!(watch.silent(2_000, 0, |rank| rank == 1), None);
    }

    #[test]
    fn who_has_just_begun_to_wait_gives_everybody_time() {
        let mut watch = watch();
        look(&mut watch, 0, 2_000, &[1]);
        assert_eq!(watch.silent(2_000, 1_500, |_| true), None);
        assert!(watch.silent(2_500, 1_500, |_| true).is_some());
    }

    #[test]
    fn who_was_away_itself_does_not_blame_others() {
        let mut watch = watch();
        look(&mut watch, 0, 500, &[1]);
        // Stopped here for a long time; the answer of rank 2 has come but is not read yet.
        watch.whom_to_ask(50_000, |rank| rank != 0);
        assert_eq!(watch.silent(50_000, 0, |_| true), None);
        assert!(watch.silent(51_000, 0, |_| true).is_some());
    }

    #[test]
    fn endless_patience_never_asks() {
        let mut watch = Watch::new(3, Duration::MAX);
        assert!(!watch.is_due(u64::MAX / 8));
        assert_eq!(watch.silent(u64::MAX / 8, 0, |_| true), None);
        assert!(watch.whom_to_ask(0, |_| true).is_empty());
    }
}
