//! Chooses a tree for a number of processors by the rules of SS98, and says what the model expects
//! of it.
//!
//! The rules:
//!
//! - "A diffracting tree is shown to operate optimally when `P = O(dL)` and `L = 2^d`, i.e. the
//!   number of processors should be approximately equal to the number of prism locations in the
//!   tree" (section 4). So of all powers of two `L = 2^d` the rule takes the one for which `d L` is
//!   nearest to `P`, by ratio.
//! - Processors at work are not in the tree and do not count (ours; the paper has `work = 1`).
//!   Their number follows from the [balance]: `work * E[Z]`.
//! - "If the counter is `l` times faster than a diffracting process, we can trim the diffracting
//!   tree so that a prism of size `l` feeds one counter. On the other hand if the speed of a
//!   diffraction or a toggle step is `l` times faster than the counter, each leaf of the full
//!   diffracting tree should feed a binary tree of depth `⌈log2 l⌉`" (end of section 3). So a
//!   counter `R` times as fast as a prism takes `floor(log2 R)` levels off the tree, a slower one
//!   puts `ceil(log2 1/R)` under it, and `L` stays.
//!
//! For very few processors the rules end at a tree of depth 0: one counter.

use super::ranges::{Bounds, Range};
use super::{Counters, Setting, Tree, balance};

/// Depth of the deepest tree, and logarithm of the widest prism.
pub const MAX_DEPTH: u32 = 16;

/// The load that a tree is wanted for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Processors that cycle through the tree, to work, and back.
    pub processors: usize,
    /// Steps of work between two visits.
    pub work: u32,
    /// How many times faster a counter is than a prism.
    pub counter_speed: f64,
}

impl Question {
    /// Returns a tree under the load of the question.
    pub fn setting(&self, tree: Tree) -> Setting {
        Setting {
            tree,
            processors: self.processors,
            work: self.work,
            toggles: true,
            counters: Counters::Speed(self.counter_speed),
        }
    }

    /// Returns the tree that the rules give.
    pub fn tree(&self) -> Tree {
        let trees = (0..=MAX_DEPTH).map(|log| {
            let prism = 1 << log;
            Tree { depth: self.depth_under(prism), prism }
        });
        let misfit = |tree: &Tree| {
            // The full tree has counters as fast as prisms; a single counter counts as one place.
            let places = (f64::from(tree.prism.ilog2()) * tree.prism as f64).max(1.0);
            (balance::settle(&self.setting(*tree)).in_tree() / places).ln().abs()
        };
        trees.min_by(|a, b| misfit(a).total_cmp(&misfit(b))).expect("there are trees")
    }

    /// Returns the tree with the lowest latency by the [balance], among trees with a prism by the
    /// rules; the smallest of several. The rules go by cells, so they may give another tree.
    pub fn fastest_tree(&self) -> Tree {
        let trees = (0..=MAX_DEPTH).map(|depth| Tree { depth, prism: self.prism_over(depth) });
        let latency = |tree: Tree| balance::settle(&self.setting(tree)).latency();
        let timed = trees.map(|tree| (tree, latency(tree)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are trees").0
    }

    /// Returns the depth for a prism: `L = 2^d`, less for faster counters, more for slower ones.
    pub fn depth_under(&self, prism: usize) -> u32 {
        let full = prism.next_power_of_two().ilog2() as i32;
        (full - self.trimmed_levels()).clamp(0, MAX_DEPTH as i32) as u32
    }

    /// Returns the prism for a depth, the inverse of `depth_under`.
    pub fn prism_over(&self, depth: u32) -> usize {
        1 << (depth as i32 + self.trimmed_levels()).clamp(0, MAX_DEPTH as i32)
    }

    /// Returns how many levels the speed of the counters saves; negative where it costs some.
    fn trimmed_levels(&self) -> i32 {
        // Below one, the ceiling of log2(1/R) is minus the floor of log2(R).
        self.counter_speed.log2().floor() as i32
    }
}

/// A tree, and what the balance expects of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    /// The tree.
    pub tree: Tree,
    /// Steps from the root to a number.
    pub latency: f64,
    /// Numbers a step.
    pub throughput: f64,
    /// Mean number of processors at its balancers.
    pub at_balancers: f64,
    /// The range they are in; `None` for a single counter.
    pub range: Option<Range>,
}

impl Expected {
    /// Computes what to expect of a tree.
    pub fn of(question: &Question, tree: Tree) -> Self {
        let setting = question.setting(tree);
        let settled = balance::settle(&setting);
        let at_balancers = settled.at_balancers();
        // A processor that waits at a counter is at no prism. But if nearly all wait there, the
        // tree is crowded.
        let range = if settled.throughput > balance::BUSY * balance::counter_limit(&setting) {
            Range::Crowded
        } else {
            Bounds::of(&tree).range(at_balancers)
        };
        Expected {
            tree,
            latency: settled.latency(),
            throughput: settled.throughput,
            at_balancers,
            range: (tree.depth > 0).then_some(range),
        }
    }

    /// Returns the processors a prism cell, or `None` for a single counter.
    pub fn load(&self) -> Option<f64> {
        (self.tree.depth > 0).then(|| self.at_balancers / self.tree.prism_cells() as f64)
    }
}

/// A number of processors with which a tree is slower than with fewer *and* with more.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Peak {
    /// Number of processors.
    pub processors: usize,
    /// Steps from the root to a number.
    pub latency: f64,
}

/// Returns the peak of a tree's latency as `P` grows, if it has one: too many processors for the
/// toggles, too few for the prisms. The paper has it at about `P = d√L`.
pub fn peak(question: &Question, tree: Tree) -> Option<Peak> {
    let latency = |processors: usize| {
        balance::settle(&Question { processors, ..*question }.setting(tree)).latency()
    };
    let mut sizes: Vec<usize> = (0..=80).map(|k| 2_f64.powf(f64::from(k) / 5.0) as usize).collect();
    sizes.dedup();
    let curve: Vec<Peak> = sizes
        .into_iter()
        .map(|processors| Peak { processors, latency: latency(processors) })
        .collect();
    // The balance is not smooth, so a dip counts from 5 % on.
    let mut highest = curve[0];
    for point in curve {
        if point.latency > highest.latency {
            highest = point;
        } else if point.latency < 0.95 * highest.latency {
            return Some(highest);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(processors: usize) -> Question {
        Question { processors, work: 0, counter_speed: 1.0 }
    }

    #[test]
    fn as_many_cells_as_processors() {
        for (processors, depth) in [(1, 0), (2, 1), (8, 2), (24, 3), (64, 4), (160, 5), (10240, 10)]
        {
            assert_eq!(question(processors).tree(), Tree::of_depth(depth), "{processors}");
        }
    }

    #[test]
    fn more_processors_never_want_a_smaller_tree() {
        for work in [0, 1, 40] {
            let depths: Vec<u32> =
                (0..16).map(|k| Question { work, ..question(1 << k) }.tree().depth).collect();
            assert!(depths.is_sorted(), "{depths:?}");
        }
    }

    #[test]
    fn more_work_never_wants_a_larger_tree() {
        let depths: Vec<u32> = [1000, 100, 30, 10, 3, 1, 0]
            .map(|work| Question { work, ..question(300) }.tree().depth)
            .to_vec();
        assert!(depths.is_sorted() && depths[0] < depths[6], "{depths:?}");
        assert_eq!(Question { work: 100_000, ..question(64) }.tree().depth, 0);
    }

    #[test]
    fn fast_counters_trim_the_tree_and_slow_ones_put_levels_under_it() {
        let at = |counter_speed| Question { counter_speed, ..question(160) };
        let prism = 32;
        for (speed, depth) in
            [(1.0, 5), (1.9, 5), (2.0, 4), (8.0, 2), (1000.0, 0), (0.5, 6), (0.3, 7), (0.25, 7)]
        {
            assert_eq!(at(speed).depth_under(prism), depth, "{speed}");
        }
        assert_eq!(
            (at(8.0).prism_over(2), at(0.3).prism_over(7), at(0.5).prism_over(0)),
            (32, 32, 1)
        );
        let [slow, even, fast] = [0.25, 1.0, 4.0].map(|speed| at(speed).tree().depth);
        assert!(slow > even && even > fast, "{slow} {even} {fast}");
    }

    #[test]
    fn no_tree_by_the_rules_is_faster_than_the_fastest() {
        for (processors, work, counter_speed) in
            [(1, 0, 1.0), (64, 0, 1.0), (64, 100, 4.0), (300, 3, 0.3), (5000, 0, 16.0)]
        {
            let question = Question { processors, work, counter_speed };
            let latency = |tree| Expected::of(&question, tree).latency;
            let fastest = question.fastest_tree();
            for other in (0..=10).map(|depth| Tree { depth, prism: question.prism_over(depth) }) {
                assert!(latency(fastest) <= latency(other), "{question:?}: {fastest:?} {other:?}");
            }
        }
        // For processors that work nearly all the time a single counter is best.
        assert_eq!(Question { work: 100, ..question(64) }.fastest_tree().depth, 0);
    }

    #[test]
    fn the_peak_is_near_the_place_the_paper_gives() {
        for depth in [5_u32, 6, 8] {
            let tree = Tree::of_depth(depth);
            let peak = peak(&question(1), tree).unwrap();
            let ratio = peak.processors as f64 / Bounds::of(&tree).diffracting_from;
            assert!((0.5..2.0).contains(&ratio), "depth {depth}: {peak:?}, {ratio}");
        }
        assert_eq!(peak(&question(1), Tree::of_depth(0)), None);
    }

    #[test]
    fn a_tree_that_fits_is_expected_to_diffract() {
        let fitting = question(160);
        let expected = Expected::of(&fitting, fitting.tree());
        assert_eq!(expected.range, Some(Range::Diffracting));
        assert!((0.5..1.1).contains(&expected.load().unwrap()));
        assert!(expected.latency > 5.0 && expected.latency < 12.0, "{expected:?}");
        let ranges = [(3, 1.0, 160), (5, 0.1, 160), (5, 0.01, 4), (5, 0.01, 100)].map(
            |(depth, speed, n)| {
                let question = Question { counter_speed: speed, ..question(n) };
                Expected::of(&question, Tree::of_depth(depth)).range.unwrap()
            },
        );
        // Counters that are too slow make a tree crowded, whatever the load of the prisms.
        assert_eq!(ranges, [Range::Crowded, Range::Crowded, Range::Sparse, Range::Crowded]);
    }
}
