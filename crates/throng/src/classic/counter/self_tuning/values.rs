//! The first numbers of new leaves: arithmetic only.
//!
//! A leaf on level d hands out every 2^d-th number. It is equivalent to the 2^k leaves that it
//! would have k levels further down, each with a first number of its own:
//!
//! ```text
//!   level 1, next 5:  5, 7, 9, 11, 13, ..     level 3:  5, 13, ..   7, 15, ..   9, ..   11, ..
//! ```

/// Returns the leaves `levels` further down than `node`, in the order in which tokens will come to
/// them.
///
/// `next_is_right` returns whether the next token of a balancer goes right.
pub(super) fn grown(
    node: usize,
    levels: u32,
    next_is_right: &impl Fn(usize) -> bool,
) -> Vec<usize> {
    if levels == 0 {
        return vec![node];
    }
    let right_first = usize::from(next_is_right(node));
    let sooner = grown(2 * node + right_first, levels - 1, next_is_right);
    let later = grown(2 * node + 1 - right_first, levels - 1, next_is_right);
    sooner.into_iter().zip(later).flat_map(|(a, b)| [a, b]).collect()
}

/// A leaf in use: its level, and its next number.
pub(super) type Start = (u32, u64);

/// Returns the first number of the leaf on `level` that takes the place of a subtree with these
/// leaves, while `effective` tokens inside have not got their numbers yet.
///
/// Take all leaves down to the deepest level. A subtree without tokens whose next number is v then
/// has leaves that begin with v, v + s, .. v + (k - 1) s, in some order. So v follows from their
/// sum. A token that passes adds s k to the sum, whichever leaf it comes to. So tokens that have
/// yet to pass can be added beforehand.
pub(super) fn shrunk(level: u32, leaves: &[Start], effective: u64) -> u64 {
    let deepest = leaves.iter().map(|leaf| leaf.0).max().unwrap_or(level);
    let leaf_sum = |&(depth, next): &Start| {
        let copies = 1_u128 << (deepest - depth);
        copies * u128::from(next) + staircase(copies, depth)
    };
    let sum: u128 = leaves.iter().map(leaf_sum).sum();
    let copies = 1_u128 << (deepest - level);
    let above = sum - staircase(copies, level);
    debug_assert!(above.is_multiple_of(copies), "{leaves:?} are no leaves of one subtree");
    (above / copies) as u64 + (effective << level)
}

/// Returns 0 + s + 2s + .. + (k - 1) s, with s = 2^level.
const fn staircase(k: u128, level: u32) -> u128 {
    (k * (k - 1) / 2) << level
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_subtree_continues_where_its_leaf_was() {
        // Tokens go to 6 and 7 in turn, there to 13 before 12 and to 14 before 15.
        assert_eq!(grown(3, 2, &|node| node == 6), [13, 14, 12, 15]);
        assert_eq!(grown(1, 3, &|_| false), [8, 12, 10, 14, 9, 13, 11, 15]);
    }

    #[test]
    fn the_example_of_the_paper() {
        // Leaf 4 stands for 8 and 9, beside 10 and 11; levels 2, 3, 3 below balancer 2 on level 1.
        assert_eq!(shrunk(1, &[(2, 0), (3, 2), (3, 6)], 0), 0);
        assert_eq!(shrunk(1, &[(2, 4), (3, 2), (3, 6)], 0), 2);
        assert_eq!(shrunk(1, &[(2, 0), (3, 2), (3, 6)], 3), 6);
        assert_eq!(shrunk(2, &[(2, 7)], 1), 11);
    }

    /// A tree of toggles in which leaves have grown while tokens came.
    #[derive(Default)]
    struct Model {
        toggles: BTreeMap<usize, u64>,
        leaves: BTreeMap<usize, u64>,
    }

    impl Model {
        fn pass(&mut self) -> u64 {
            let mut node = 1;
            while !self.leaves.contains_key(&node) {
                let passed = self.toggles.entry(node).or_default();
                node = 2 * node + (*passed % 2) as usize;
                *passed += 1;
            }
            let next = self.leaves.get_mut(&node).unwrap();
            *next += 1 << node.ilog2();
            *next - (1 << node.ilog2())
        }

        fn grow(&mut self, leaf: usize, levels: u32) {
            let first = self.leaves.remove(&leaf).unwrap();
            let Model { toggles, leaves } = self;
            let right = |node: usize| toggles.get(&node).copied().unwrap_or(0) % 2 == 1;
            for (leaf_below, turn) in grown(leaf, levels, &right).into_iter().zip(0..) {
                leaves.insert(leaf_below, first + (turn << leaf.ilog2()));
            }
        }

        fn shrink(&mut self, node: usize, effective: u64) -> u64 {
            let below = |leaf: usize| super::super::is_same_or_above(node, leaf);
            let starts: Vec<Start> = (self.leaves.iter())
                .filter(|leaf| below(*leaf.0))
                .map(|(leaf, next)| (leaf.ilog2(), *next))
                .collect();
            shrunk(node.ilog2(), &starts, effective)
        }
    }

    proptest! {
        /// Leaves grow and balancers shrink in any order, and every token still gets the next
        /// number.
        #[test]
        fn any_changes_keep_the_count(steps in prop::collection::vec((0_usize..40, 0_u8..4), 1..80)) {
            let mut model = Model { leaves: BTreeMap::from([(1, 0)]), ..Model::default() };
            let mut count = 0;
            for (choice, what) in steps {
                let leaf = *model.leaves.keys().nth(choice % model.leaves.len()).unwrap();
                let room = 5 - leaf.ilog2();
                match what {
                    0 if room > 0 => model.grow(leaf, 1 + choice as u32 % room),
                    1 => {
                        let node = leaf >> (choice as u32 % (leaf.ilog2() + 1));
                        let next = model.shrink(node, 0);
                        model.leaves.retain(|leaf, _| !super::super::is_same_or_above(node, *leaf));
                        model.leaves.insert(node, next);
                    }
                    _ => {
                        // Tokens still inside are counted beforehand.
                        prop_assert_eq!(model.shrink(1, 2), count + 2);
                        prop_assert_eq!(model.pass(), count);
                        count += 1;
                    }
                }
            }
        }
    }
}
