//! The four ranges of `P` (SS98, end of section 3.1 and section 5).
//!
//! | range | processors | what moves them | `E[Z]` | `E[T]` |
//! |---|---|---|---|---|
//! | [`Sparse`](Range::Sparse) | `P < d` | toggles, without waiting | `P / d` | `d` |
//! | [`Toggling`](Range::Toggling) | `d <= P < d√L` | toggles | `>= 1` | `<= P` |
//! | [`Diffracting`](Range::Diffracting) | `d√L <= P < c d L` | prisms | `2 L m` | `P / (2 L m)` |
//! | [`Crowded`](Range::Crowded) | `c d L <= P` | prisms, all cells in use | `min(2L, 2^d)` | `P / E[Z]` |
//!
//! The paper has orders of magnitude and no constants. The bounds here are its terms with constant
//! 1, except for the last: `c = 1 + √2` is the load at which `m = 1/2`, where the [closed
//! form](super::closed_form) gives `E[Z] = L`. With `L = 2^d` the prisms then pass on as much as
//! counters of their own speed can take. Ranges change gradually; no bound is sharp.
//!
//! # Differs from the paper
//!
//! - `P` is the number of processors in the tree, those at work not counted. The paper has `work =
//!   1`, where the difference is small.
//! - In the last range the paper has `E[Z] = min(L - o(L), 2^d)` and `E[T] = max(P/L, P/2^d)`. That
//!   contradicts its theorem 3.2, by which `E[Z]` goes to `2 L`; and each cell lets *two*
//!   processors pass in a step. Here it is `2 L`.
//! - "If `P < d`, `E[T] <= d`": every level takes a step, so `E[T] >= d + work`.

use super::{Setting, Tree};

/// The range of a number of processors for a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Range {
    /// Fewer processors than levels: hardly any two meet.
    Sparse,
    /// Too few to meet in the prisms: processors pass the toggles one by one.
    Toggling,
    /// Pairs meet in the prisms.
    Diffracting,
    /// More processors than the prisms can take.
    Crowded,
}

/// The bounds between the ranges, in processors in the tree.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Bounds {
    /// `d`: here toggling begins.
    pub toggling_from: f64,
    /// `d√L`: here diffraction takes over, and latency is worst.
    pub diffracting_from: f64,
    /// `(1 + √2) d L`: here the tree becomes crowded.
    pub crowded_from: f64,
}

impl Bounds {
    /// Returns the bounds for a tree.
    pub fn of(tree: &Tree) -> Self {
        let (d, l) = (f64::from(tree.depth), tree.prism as f64);
        Bounds {
            toggling_from: d,
            diffracting_from: d * l.sqrt(),
            crowded_from: (1.0 + 2.0_f64.sqrt()) * d * l,
        }
    }

    /// Returns the range of a number of processors in the tree.
    pub fn range(&self, in_tree: f64) -> Range {
        if in_tree < self.toggling_from {
            Range::Sparse
        } else if in_tree < self.diffracting_from {
            Range::Toggling
        } else if in_tree < self.crowded_from {
            Range::Diffracting
        } else {
            Range::Crowded
        }
    }
}

impl Range {
    /// Describes the range in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Range::Sparse => "sparse: fewer processors than levels, the tree is idle",
            Range::Toggling => "toggling: too few processors to pair off in the prisms",
            Range::Diffracting => "diffracting: processors pair off in the prisms",
            Range::Crowded => "crowded: more processors than the prisms or counters can take",
        }
    }

    /// Returns `E[T]` as the paper has it in this range (a bound in the first two), with the last
    /// range corrected. Processors at work are not counted.
    pub fn latency(self, setting: &Setting, in_tree: f64) -> f64 {
        let tree = &setting.tree;
        let (d, l) = (f64::from(tree.depth), tree.prism as f64);
        match self {
            Range::Sparse => d,
            Range::Toggling => in_tree,
            Range::Diffracting => {
                let pairs = super::closed_form::pairs(in_tree / tree.all_cells());
                in_tree / (2.0 * l * pairs)
            }
            Range::Crowded => in_tree / (2.0 * l).min(tree.counters() as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::closed_form;
    use super::*;

    #[test]
    fn a_bound_belongs_to_the_range_above_it() {
        let bounds = Bounds::of(&Tree { depth: 4, prism: 16 });
        assert_eq!((bounds.toggling_from, bounds.diffracting_from), (4.0, 16.0));
        assert!((bounds.crowded_from - 154.51).abs() < 0.01);
        for (in_tree, range) in [
            (1.0, Range::Sparse),
            (3.9, Range::Sparse),
            (4.0, Range::Toggling),
            (15.9, Range::Toggling),
            (16.0, Range::Diffracting),
            (154.0, Range::Diffracting),
            (155.0, Range::Crowded),
        ] {
            assert_eq!(bounds.range(in_tree), range, "{in_tree}");
        }
    }

    #[test]
    fn the_crowd_begins_where_the_prisms_pass_on_what_the_counters_take() {
        let bounds = Bounds::of(&Tree::of_depth(6));
        let load = bounds.crowded_from / Tree::of_depth(6).all_cells();
        assert!((closed_form::pairs(load) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn ranges_come_in_order_for_every_tree() {
        for depth in 1..=16 {
            for prism in [1, 2, 64, 65536] {
                let bounds = Bounds::of(&Tree { depth, prism });
                assert!(bounds.toggling_from <= bounds.diffracting_from);
                assert!(bounds.diffracting_from < bounds.crowded_from);
            }
        }
    }
}
