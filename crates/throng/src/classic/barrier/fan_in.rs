//! The number of members that meet at each node of a tree, level by level.

use crate::topology::Topology;

/// The number of members that meet at each node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FanIn {
    /// The fan-in that the method's authors advise.
    Usual,
    /// The same on all levels.
    Fixed(usize),
    /// By GV93 Figure 5: on each level the fan-in of `least + 1..=most` whose last node is fullest.
    /// Both bounds fall by one for each level while `least` is above 2.
    ///
    /// The figure as printed divides integers, so that all fan-ins except the divisors of the
    /// number of members measure 0. It also does not say where its search begins: here, at `most`.
    Fullest {
        /// The search ends above this.
        least: usize,
        /// The search begins here.
        most: usize,
    },
    /// By the machine: groups that share a cache meet first, and nodes have at most `most` members.
    Machine {
        /// The largest fan-in.
        most: usize,
        /// The groups of cores that share caches.
        topology: Topology,
    },
}

impl FanIn {
    /// Returns the fan-ins of a tree for `members`, from the leaves up. Their product is at least
    /// `members`; none is below 2.
    pub(crate) fn levels(&self, members: usize) -> Vec<usize> {
        match self {
            FanIn::Usual => fixed(members, USUAL),
            FanIn::Fixed(fan_in) => fixed(members, *fan_in),
            FanIn::Fullest { least, most } => fullest(members, *least, *most),
            FanIn::Machine { most, topology } => by_machine(members, *most, topology),
        }
    }
}

/// The default fan-in: Yew, Tzeng and Lawrie found it best, and MCS use it.
const USUAL: usize = 4;

fn fixed(members: usize, fan_in: usize) -> Vec<usize> {
    let fan_in = fan_in.max(2);
    let mut levels = Vec::new();
    let mut left = members;
    while left > 1 {
        levels.push(fan_in.min(left));
        left = left.div_ceil(fan_in);
    }
    levels
}

/// Returns the fan-ins of GV93 Figure 5.
fn fullest(members: usize, mut least: usize, mut most: usize) -> Vec<usize> {
    let mut levels = Vec::new();
    let mut left = members;
    while left > 1 {
        let (low, high) = (least.max(1) + 1, most.max(2));
        // How full the last node is. Of equally full ones the largest is chosen, which comes first.
        let fullness = |fan_in: usize| {
            let last = match left % fan_in {
                0 => fan_in,
                rest => rest,
            };
            last as f64 / fan_in as f64
        };
        let mut best = high;
        for fan_in in (low..high).rev() {
            if fullness(fan_in) > fullness(best) {
                best = fan_in;
            }
        }
        levels.push(best.min(left));
        left = left.div_ceil(best);
        if least > 2 {
            least -= 1;
            most -= 1;
        }
    }
    levels
}

/// Splits each group of the machine into levels of its own, as even as possible, so that no node
/// within a group has members of another group. A group is left out if its size is not a multiple
/// of the one before, or has a prime factor above `most`.
fn by_machine(members: usize, most: usize, topology: &Topology) -> Vec<usize> {
    let mut levels = Vec::new();
    let mut size = 1;
    for &group in topology.groups().iter().filter(|&&group| group < members) {
        if group.is_multiple_of(size)
            && let Some(split) = exact(group / size, most)
        {
            levels.extend(split);
            size = group;
        }
    }
    levels.extend(even(members.div_ceil(size), most));
    levels
}

/// Returns the fewest levels of at most `most` whose product is `count`, as even as possible,
/// largest first.
fn exact(count: usize, most: usize) -> Option<Vec<usize>> {
    (1..=count.ilog2()).find_map(|height| factors(count, height, most.max(2)))
}

/// Returns `height` factors of `count`, none above `most`: the product whose largest factor is
/// smallest.
fn factors(count: usize, height: u32, most: usize) -> Option<Vec<usize>> {
    if height == 1 {
        return (2..=most).contains(&count).then(|| vec![count]);
    }
    (2..=most).filter(|&largest| count.is_multiple_of(largest)).find_map(|largest| {
        let others = factors(count / largest, height - 1, largest)?;
        Some([vec![largest], others].concat())
    })
}

/// Returns the fewest levels of at most `most` whose product is at least `count`, as even as
/// possible.
fn even(count: usize, most: usize) -> Vec<usize> {
    let most = most.max(2);
    let height = (1..).find(|&height| most.saturating_pow(height) >= count).unwrap_or(1);
    let mut levels = Vec::new();
    let mut left = count;
    for levels_left in (1..=height).rev() {
        if left <= 1 {
            break;
        }
        let fan_in = (2..=most).find(|f| f.saturating_pow(levels_left) >= left).unwrap_or(most);
        levels.push(fan_in);
        left = left.div_ceil(fan_in);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(members: usize, most: usize, groups: &[usize]) -> Vec<usize> {
        FanIn::Machine { most, topology: Topology::of_groups(groups) }.levels(members)
    }

    #[test]
    fn trees_hold_everybody() {
        for members in 1..300 {
            for fan_in in [
                FanIn::Usual,
                FanIn::Fixed(2),
                FanIn::Fixed(7),
                FanIn::Fullest { least: 4, most: 8 },
                FanIn::Machine { most: 4, topology: Topology::of_groups(&[8, 96]) },
            ] {
                let levels = fan_in.levels(members);
                assert!(levels.iter().product::<usize>() >= members, "{members} {fan_in:?}");
                assert!(levels.iter().all(|&level| level >= 2), "{members} {fan_in:?}: {levels:?}");
            }
        }
    }

    #[test]
    fn the_last_node_is_the_fullest_there_is() {
        // 8 and 7 leave 1 and 4 over, 6 leaves 1, 5 none.
        assert_eq!(FanIn::Fullest { least: 4, most: 8 }.levels(25), [5, 5]);
        assert_eq!(FanIn::Fullest { least: 4, most: 8 }.levels(64), [8, 4, 2]);
        assert_eq!(FanIn::Fullest { least: 2, most: 4 }.levels(9), [3, 3]);
    }

    #[test]
    fn groups_of_the_machine_meet_first() {
        assert_eq!(machine(16, 16, &[]), [16]);
        assert_eq!(machine(192, 8, &[8, 96]), [8, 4, 3, 2]);
        assert_eq!(machine(192, 16, &[8, 96]), [8, 12, 2]);
        assert_eq!(machine(6, 4, &[8, 96]), [3, 2]);
        assert_eq!(machine(1, 4, &[8]), [] as [usize; 0]);
    }

    #[test]
    fn nodes_of_a_group_have_no_members_of_another() {
        assert_eq!(machine(96, 16, &[32]), [8, 4, 3]);
        // 17 is prime, and 10 is no multiple of 4.
        assert_eq!(machine(34, 16, &[17]), [6, 6]);
        assert_eq!(machine(20, 4, &[4, 10]), [4, 3, 2]);
        for most in [2, 3, 4, 8, 16] {
            for group in 2..100 {
                let levels = machine(10 * group, most, &[group]);
                let sizes = levels.iter().scan(1, |size, level| {
                    *size *= level;
                    Some(*size)
                });
                let sizes: Vec<usize> = sizes.collect();
                if sizes.contains(&group) {
                    let within = sizes.iter().filter(|&&size| size <= group);
                    assert!(
                        within.into_iter().all(|&size| group.is_multiple_of(size)),
                        "{group}: {levels:?}"
                    );
                } else {
                    let has_large_factor = (most + 1..=group).any(|factor| {
                        group.is_multiple_of(factor)
                            && (2..factor).all(|f| !factor.is_multiple_of(f))
                    });
                    assert!(has_large_factor, "{group} can be split: {levels:?}");
                }
                assert!(
                    levels.iter().all(|level| (2..=most).contains(level)),
                    "{group}: {levels:?}"
                );
            }
        }
    }
}
