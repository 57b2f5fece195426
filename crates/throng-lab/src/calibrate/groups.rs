//! Finds groups of near cores, from what the system tells and from measured times.

use crate::bench::stats::Stats;

/// Times between cores, by their places in a list; `None` where a pair was not measured.
pub(super) type Times = Vec<Vec<Option<f64>>>;

/// A partition of the cores: the group number of each core, by its place in the list.
pub(super) type Partition = Vec<usize>;

/// Groups of groups, the smallest first. The group of all cores is not among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Groups {
    pub(super) levels: Vec<Partition>,
}

/// The most levels a machine of the simulator has: nodes of several processors, chiplets, sockets.
const MOST_LEVELS: usize = 3;

/// Smallest ratio of times that separates groups. Smaller differences are noise, or not worth a
/// level.
const FARTHER: f64 = 1.4;

impl Groups {
    /// Returns no groups: all cores are alike.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Groups { levels: Vec::new() }
    }

    /// Returns groups of these sizes, smallest first, for cores that stand in order.
    pub(super) fn of_sizes(sizes: &[usize], cores: usize) -> Self {
        let level = |&size: &usize| (0..cores).map(|core| core / size.max(1)).collect();
        let mut groups = Groups { levels: Vec::new() };
        for partition in sizes.iter().map(level) {
            groups.add(partition);
        }
        groups
    }

    /// Finds groups in the times, and joins `told`. Where they contradict each other, the measured
    /// ones win.
    pub(super) fn find(times: &Times, told: Groups) -> Self {
        let mut groups = Groups { levels: Vec::new() };
        for partition in seen_in(times).into_iter().chain(told.levels) {
            groups.add(partition);
        }
        while groups.levels.len() > MOST_LEVELS {
            // The level that separates times the least.
            let steps = groups.typical(times);
            let ratio = |level: &usize| steps[level + 1] / steps[*level];
            let least =
                (0..groups.levels.len()).min_by(|a, b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0);
            groups.levels.remove(least);
        }
        groups
    }

    /// Adds a level at its place. Leaves it out if it has no groups, is there already, or cuts
    /// through a group.
    fn add(&mut self, partition: Partition) {
        let size = largest(&partition);
        if size < 2 || size >= partition.len() {
            return;
        }
        let fits = |level: &Partition| {
            let (fine, coarse) =
                if largest(level) < size { (level, &partition) } else { (&partition, level) };
            largest(level) != size && is_within(fine, coarse)
        };
        if self.levels.iter().all(fits) {
            self.levels.push(partition);
            self.levels.sort_by_key(largest);
        }
    }

    /// Returns the number of cores in a group of each level.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.levels.iter().map(largest).collect()
    }

    /// Returns the smallest level that has both in one group, or the number of levels where none
    /// has.
    pub(super) fn level(&self, one: usize, other: usize) -> usize {
        let together = |level: &Partition| level[one] == level[other];
        self.levels.iter().position(together).unwrap_or(self.levels.len())
    }

    /// Returns the typical time between two cores of each level: those of one group of the smallest
    /// level, .., those that have no group in common. It is never less than that of the level
    /// below. NaN where no pair was measured and there is no level below.
    pub(super) fn typical(&self, times: &Times) -> Vec<f64> {
        let mut found = vec![Vec::new(); self.levels.len() + 1];
        for (one, row) in times.iter().enumerate() {
            for (other, time) in row.iter().enumerate().skip(one + 1) {
                found[self.level(one, other)].extend(time.iter().copied());
            }
        }
        let mut below = f64::NAN;
        found
            .into_iter()
            .map(|times| {
                let median = Stats::of(times.into_iter()).map_or(f64::NAN, |stats| stats.median);
                below = below.max(median);
                below
            })
            .collect()
    }

    /// Returns an order of the cores in which every group stands together; within groups it is
    /// unchanged.
    pub(super) fn order(&self, cores: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..cores).collect();
        let path = |core: usize| -> Vec<usize> {
            self.levels.iter().rev().map(|level| level[core]).collect()
        };
        order.sort_by_key(|&core| path(core));
        order
    }

    /// Returns the same groups for some of the cores, in that order.
    pub(super) fn of_some(&self, cores: &[usize]) -> Self {
        let mut some = Groups { levels: Vec::new() };
        for level in &self.levels {
            some.add(cores.iter().map(|&core| level[core]).collect());
        }
        some
    }
}

fn largest(partition: &Partition) -> usize {
    let count = |group: &usize| partition.iter().filter(|other| *other == group).count();
    partition.iter().map(count).max().unwrap_or(0)
}

/// Returns whether each group of `fine` is inside one of `coarse`.
fn is_within(fine: &Partition, coarse: &Partition) -> bool {
    (0..fine.len()).all(|one| {
        let first = fine.iter().position(|group| *group == fine[one]).unwrap_or(one);
        coarse[one] == coarse[first]
    })
}

/// Returns the groups in the times alone. Below some time are all pairs of a group and no others,
/// and groups have the same size. A gap made by noise seldom divides all cores into equal groups.
fn seen_in(times: &Times) -> Vec<Partition> {
    let mut all: Vec<f64> = times.iter().flatten().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let gaps = all.windows(2).filter(|pair| pair[1] > pair[0] * FARTHER);
    gaps.map(|pair| joined_below(times, (pair[0] + pair[1]) / 2.0))
        .filter(|partition| {
            let size = largest(partition);
            let count = |group: &usize| partition.iter().filter(|other| *other == group).count();
            let is_even = partition.iter().all(|group| count(group) == size);
            let alone = Groups { levels: vec![partition.clone()] };
            let steps = alone.typical(times);
            is_even && steps[1] >= steps[0] * FARTHER
        })
        .collect()
}

/// Joins cores that are connected by steps shorter than this.
fn joined_below(times: &Times, limit: f64) -> Partition {
    let mut group: Partition = (0..times.len()).collect();
    for (one, row) in times.iter().enumerate() {
        for (other, time) in row.iter().enumerate() {
            if time.is_some_and(|time| time < limit) && group[one] != group[other] {
                let (keep, lose) = (group[one].min(group[other]), group[one].max(group[other]));
                group.iter_mut().filter(|group| **group == lose).for_each(|group| *group = keep);
            }
        }
    }
    group
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a matrix in which cores of one group of `sizes[i]` are `ns[i]` apart, and others the
    /// last of `ns`; each pair is a little off.
    pub(in crate::calibrate) fn matrix(cores: usize, sizes: &[usize], ns: &[f64]) -> Times {
        let time = |one: usize, other: usize| {
            let level = sizes.iter().position(|size| one / size == other / size);
            let noise = ((one * 7 + other * 7) % 5) as f64 / 100.0 - 0.02;
            (one != other).then(|| ns[level.unwrap_or(sizes.len())] * (1.0 + noise))
        };
        (0..cores).map(|one| (0..cores).map(|other| time(one, other)).collect()).collect()
    }

    #[test]
    fn groups_are_seen_in_the_times_alone() {
        let sizes = |cores, sizes: &[usize], ns: &[f64]| {
            Groups::find(&matrix(cores, sizes, ns), Groups::none()).sizes()
        };
        assert_eq!(sizes(2, &[], &[40.0]), [0; 0]);
        assert_eq!(sizes(16, &[], &[40.0]), [0; 0]);
        assert_eq!(sizes(16, &[8], &[25.0, 110.0]), [8]);
        assert_eq!(sizes(32, &[8, 16], &[25.0, 110.0, 200.0]), [8, 16]);
        assert_eq!(sizes(32, &[2, 8, 16], &[6.0, 25.0, 110.0, 200.0]), [2, 8, 16]);
        assert_eq!(sizes(1, &[], &[1.0]), [0; 0]);
    }

    #[test]
    fn a_pair_that_was_disturbed_makes_no_group() {
        let mut times = matrix(16, &[8], &[25.0, 110.0]);
        (times[2][3], times[3][2]) = (Some(400.0), Some(400.0));
        (times[4][12], times[12][4]) = (Some(900.0), Some(900.0));
        assert_eq!(Groups::find(&times, Groups::none()).sizes(), [8]);
        let mut flat = matrix(16, &[], &[40.0]);
        (flat[2][3], flat[3][2]) = (Some(9.0), Some(9.0));
        assert_eq!(Groups::find(&flat, Groups::none()).sizes(), [0; 0]);
    }

    #[test]
    fn what_the_system_tells_counts_where_the_times_do_not_contradict() {
        let flat = matrix(16, &[], &[40.0]);
        assert_eq!(Groups::find(&flat, Groups::of_sizes(&[8], 16)).sizes(), [8]);
        let eights = matrix(16, &[8], &[25.0, 110.0]);
        assert_eq!(Groups::find(&eights, Groups::of_sizes(&[2, 8], 16)).sizes(), [2, 8]);
        assert_eq!(Groups::find(&eights, Groups::of_sizes(&[6], 16)).sizes(), [8], "cuts through");
        let many = Groups::of_sizes(&[2, 4, 16], 32);
        let times = matrix(32, &[2, 8, 16], &[6.0, 25.0, 110.0, 200.0]);
        assert_eq!(Groups::find(&times, many).sizes(), [2, 8, 16], "4 tells least");
    }

    #[test]
    fn cores_that_are_numbered_across_are_put_in_order() {
        let straight = matrix(8, &[4], &[20.0, 90.0]);
        let place = |core: usize| core % 2 * 4 + core / 2;
        let crossed: Times = (0..8)
            .map(|one| (0..8).map(|other| straight[place(one)][place(other)]).collect())
            .collect();
        let groups = Groups::find(&crossed, Groups::none());
        assert_eq!(groups.order(8), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(groups.of_some(&[0, 1]), Groups::none());
        assert_eq!(groups.of_some(&[0, 1, 2, 3]).sizes(), [2]);
        assert_eq!((groups.level(0, 2), groups.level(0, 1)), (0, 1));
    }

    #[test]
    fn the_typical_time_of_a_level_is_its_median_and_never_shrinks() {
        let times = matrix(16, &[8], &[25.0, 110.0]);
        let typical = Groups::of_sizes(&[8], 16).typical(&times);
        assert!((typical[0] / 25.0 - 1.0).abs() < 0.02, "{typical:?}");
        assert!((typical[1] / 110.0 - 1.0).abs() < 0.02, "{typical:?}");
        let upside_down = Groups::of_sizes(&[8], 16).typical(&matrix(16, &[8], &[50.0, 40.0]));
        assert_eq!(upside_down[0], upside_down[1]);
    }
}
