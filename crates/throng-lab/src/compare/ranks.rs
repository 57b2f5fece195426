//! How likely chance alone is to put the runs of one report so far ahead of those of another.
//!
//! The rank-sum test of Mann, Whitney and Wilcoxon, exact: of all pairs of a run before and a run now, count
//! those that the run of now wins. If old and new meant nothing, every order of all runs would be equally
//! likely, and from that follows the chance of every number of wins, whatever the numbers are and however
//! they are spread. Several cells of a table are taken together by adding up their wins, ranked each by
//! itself (a stratified rank sum).

/// More runs than this are not looked at: they would tell nothing new, and take long to work out.
const MOST_RUNS: usize = 25;

/// Who wins how many of the pairs of a run before and a run now, and how likely each number of wins is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duel {
    /// Pairs of which the run of now is better.
    better: usize,
    /// Pairs of which it is worse. Where two are equal it is neither, so that ties never help to find
    /// something.
    worse: usize,
    /// By number of wins, if chance alone decides. The same for losses.
    chances: Vec<f64>,
}

impl Duel {
    /// Of no cells: nothing can be told.
    pub(crate) fn none() -> Self {
        Duel { better: 0, worse: 0, chances: vec![1.0] }
    }

    /// Of these runs; larger numbers are better.
    pub(crate) fn of(before: &[f64], now: &[f64]) -> Self {
        let before = &before[..before.len().min(MOST_RUNS)];
        let now = &now[..now.len().min(MOST_RUNS)];
        let pairs = || now.iter().flat_map(|now| before.iter().map(move |before| (now, before)));
        Duel {
            better: pairs().filter(|(now, before)| now > before).count(),
            worse: pairs().filter(|(now, before)| now < before).count(),
            chances: chances(before.len(), now.len()),
        }
    }

    /// Both duels as one.
    pub(crate) fn and(&self, other: &Duel) -> Self {
        let mut chances = vec![0.0; self.chances.len() + other.chances.len() - 1];
        for (wins, one) in other.chances.iter().enumerate() {
            for (chance, another) in chances[wins..].iter_mut().zip(&self.chances) {
                *chance += one * another;
            }
        }
        Duel { better: self.better + other.better, worse: self.worse + other.worse, chances }
    }

    /// The chance of at least so many wins.
    pub(crate) fn chance_of_better(&self) -> f64 {
        self.chances[self.better..].iter().sum()
    }

    /// The chance of at least so many losses.
    pub(crate) fn chance_of_worse(&self) -> f64 {
        self.chances[self.worse..].iter().sum()
    }

    /// The smallest that either chance can be with so many runs.
    pub(crate) fn smallest_chance(&self) -> f64 {
        self.chances[self.chances.len() - 1]
    }
}

/// The chance of each number of wins: the coefficients of the Gaussian binomial coefficient, over their
/// sum. Whole numbers below 2^53 up to there, so exact.
fn chances(before: usize, now: usize) -> Vec<f64> {
    let mut ways = vec![0.0; before * now + 1];
    ways[0] = 1.0;
    for i in 1..=now {
        let up = before + i;
        for wins in (up..ways.len()).rev() {
            ways[wins] -= ways[wins - up];
        }
        for wins in i..ways.len() {
            ways[wins] += ways[wins - i];
        }
    }
    let all: f64 = ways.iter().sum();
    ways.iter().map(|ways| ways / all).collect()
}

/// The largest chance that counts as no chance, where many duels are looked at and in all together there
/// should be a false alarm with a chance of at most `level`: Bonferroni's, less those duels that could
/// not raise one (Tarone 1990). `smallest` has the smallest chance that each duel can have.
pub(crate) fn threshold(level: f64, smallest: &[f64]) -> f64 {
    let mut sorted = smallest.to_vec();
    sorted.sort_by(f64::total_cmp);
    let able = |threshold: f64| sorted.partition_point(|&chance| chance <= threshold);
    let looked_at = (1..=sorted.len()).find(|&k| able(level / k as f64) <= k).unwrap_or(1);
    level / looked_at as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By trying all ways to choose which of the runs are those of now.
    fn by_trying(before: usize, now: usize) -> Vec<f64> {
        let all = before + now;
        let mut ways = vec![0.0; before * now + 1];
        for chosen in (0_u32..1 << all).filter(|bits| bits.count_ones() as usize == now) {
            let is_now = |rank: usize| chosen >> rank & 1 == 1;
            let beaten = |rank: usize| (0..rank).filter(|&low| !is_now(low)).count();
            let wins: usize = (0..all).filter(|&rank| is_now(rank)).map(beaten).sum();
            ways[wins] += 1.0;
        }
        let sum: f64 = ways.iter().sum();
        ways.iter().map(|ways| ways / sum).collect()
    }

    #[test]
    fn chances_are_those_found_by_trying_everything() {
        for (before, now) in [(1, 1), (3, 3), (3, 5), (5, 2), (5, 5), (6, 7)] {
            assert_eq!(chances(before, now), by_trying(before, now), "{before}, {now}");
        }
        assert_eq!(chances(0, 3), [1.0], "nothing to compare, nothing to tell");
    }

    #[test]
    fn runs_that_do_not_overlap_have_the_smallest_chance_there_is() {
        for (runs, ways) in [(3, 20.0), (4, 70.0), (5, 252.0), (9, 48_620.0)] {
            let before: Vec<f64> = (0..runs).map(|run| 10.0 + f64::from(run)).collect();
            let now: Vec<f64> = before.iter().map(|run| run / 2.0).collect();
            let duel = Duel::of(&before, &now);
            assert!((duel.chance_of_worse() * ways - 1.0).abs() < 1e-9, "{runs}");
            assert_eq!(duel.smallest_chance(), duel.chance_of_worse());
            assert!((duel.chance_of_better() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_same_runs_are_neither_better_nor_worse() {
        let duel = Duel::of(&[1.0; 5], &[1.0; 5]);
        assert!(duel.chance_of_better() > 0.999 && duel.chance_of_worse() > 0.999);
    }

    #[test]
    fn two_cells_together_tell_more_than_one() {
        let one = Duel::of(&[5.0, 6.0, 7.0], &[1.0, 2.0, 3.0]);
        let both = one.and(&one);
        assert!((both.chance_of_worse() - one.chance_of_worse().powi(2)).abs() < 1e-12);
        let undone = one.and(&Duel::of(&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0]));
        assert!(undone.chance_of_worse() > 0.5, "a loss here and a win there are nothing");
        assert_eq!(Duel::none().and(&one), one);
    }

    #[test]
    fn hundreds_of_runs_take_no_longer() {
        let many: Vec<f64> = (0..100_000).map(f64::from).collect();
        assert!((Duel::of(&many, &many).chance_of_better() - 0.5).abs() < 0.1);
    }

    #[test]
    fn duels_that_cannot_tell_anything_do_not_count() {
        assert_eq!(threshold(0.05, &[]), 0.05);
        assert_eq!(threshold(0.05, &[1e-9; 10]), 0.05 / 10.0);
        let mut mixed = vec![0.1; 1000];
        mixed.extend([1e-9; 10]);
        assert_eq!(threshold(0.05, &mixed), 0.05 / 10.0);
        // Five runs each, alone: able as one of six, but not as one of a hundred.
        assert_eq!(threshold(0.05, &[2.0 / 252.0; 6]), 0.05 / 6.0);
        assert!(threshold(0.05, &[2.0 / 252.0; 100]) < 2.0 / 252.0);
    }

    #[test]
    fn so_few_runs_are_enough_as_the_docs_say() {
        // Of 60 entrants on 5 numbers of threads each; none: no stretch is long enough.
        let table =
            [(1, None), (2, Some(5)), (3, Some(4)), (4, Some(3)), (5, Some(2)), (8, Some(2))];
        for (runs, enough) in table.into_iter().chain([(9, Some(1)), (10, Some(1))]) {
            let one = Duel::of(&vec![2.0; runs], &vec![1.0; runs]);
            let smallest = |length: usize| {
                let all = (0..length).fold(Duel::none(), |all, _| all.and(&one));
                2.0 * all.smallest_chance()
            };
            let stretches = (1..=5).flat_map(|length| vec![smallest(length); 60 * (6 - length)]);
            let threshold = threshold(0.05, &stretches.collect::<Vec<_>>());
            let found = (1..=5).find(|&length| smallest(length) <= threshold);
            assert_eq!(found, enough, "{runs} runs");
        }
    }
}
