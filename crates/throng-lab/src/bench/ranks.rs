//! Computes the probability that chance alone puts the runs of one report this far ahead of those
//! of another.
//!
//! It is the exact rank-sum test of Mann, Whitney and Wilcoxon. Of all pairs of a run before and a
//! run now, it counts those in which the run now is better. If old and new did not differ, every
//! order of all runs would be equally likely. That gives the probability of every number of wins,
//! whatever the distribution of the numbers. Several cells of a table are combined by adding up
//! their wins, each ranked by itself (a stratified rank sum).

/// Most runs used: more would add little, and take long to compute.
const MOST_RUNS: usize = 25;

/// The wins of one side over all pairs of a run before and a run now, and the probability of each
/// number of wins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Duel {
    /// Pairs of which the run now is better.
    better: usize,
    /// Pairs of which the run now is worse. Ties count as neither, so they never help to find a
    /// change.
    worse: usize,
    /// Probability of each number of wins by chance alone. The same holds for losses.
    chances: Vec<f64>,
}

impl Duel {
    /// Returns the duel of no cells, which tells nothing.
    pub(crate) fn none() -> Self {
        Duel { better: 0, worse: 0, chances: vec![1.0] }
    }

    /// Compares these runs; larger numbers are better.
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

    /// Combines two duels.
    pub(crate) fn and(&self, other: &Duel) -> Self {
        let mut chances = vec![0.0; self.chances.len() + other.chances.len() - 1];
        for (wins, one) in other.chances.iter().enumerate() {
            for (chance, another) in chances[wins..].iter_mut().zip(&self.chances) {
                *chance += one * another;
            }
        }
        Duel { better: self.better + other.better, worse: self.worse + other.worse, chances }
    }

    /// Returns the probability of at least this many wins.
    pub(crate) fn chance_of_better(&self) -> f64 {
        self.chances[self.better..].iter().sum()
    }

    /// Returns the probability of at least this many losses.
    pub(crate) fn chance_of_worse(&self) -> f64 {
        self.chances[self.worse..].iter().sum()
    }

    /// Returns the smallest value of either probability with these numbers of runs.
    pub(crate) fn smallest_chance(&self) -> f64 {
        self.chances[self.chances.len() - 1]
    }
}

/// Returns the probability of each number of wins: the coefficients of the Gaussian binomial
/// coefficient, over their sum. Whole numbers below 2^53 for up to [`MOST_RUNS`] runs, so exact.
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

/// Returns the largest probability of a single duel that counts as significant, so that all
/// together raise a false alarm with a probability of at most `level`. It is Bonferroni's, without
/// the duels that could not raise one (Tarone 1990). `smallest` has the smallest probability that
/// each duel can have.
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

    /// Computes the same by trying all choices of the runs of now.
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
        // Five runs each, alone: significant as one of six, but not as one of a hundred.
        assert_eq!(threshold(0.05, &[2.0 / 252.0; 6]), 0.05 / 6.0);
        assert!(threshold(0.05, &[2.0 / 252.0; 100]) < 2.0 / 252.0);
    }

    #[test]
    fn so_few_runs_are_enough_as_the_docs_say() {
        // Of 60 entrants on 5 numbers of threads each. `None`: no stretch is long enough.
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
