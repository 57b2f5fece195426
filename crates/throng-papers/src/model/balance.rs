//! The mean of the Markov chain, level by level: as many processors leave a level as enter it.
//!
//! In the steady state every level passes on the same `E[Z]` processors a step, a balancer of level
//! `i` its part `z = E[Z] / 2^i`. A balancer with `k` cells at which `n` processors are passes on
//!
//! ```text
//! f(n) = 2 * pairs(n) + min(1, n - 2 * pairs(n))      the one through the toggle
//! pairs(n) = k * (1 - (1 - 1/k)^n - n/k * (1 - 1/k)^(n - 1))
//! ```
//!
//! on the average. `pairs` is the expected number of cells chosen by two or more of `n` (Kolchin et
//! al., *Random Allocations*; the paper cites it). Inverted, `f` gives the number of processors that
//! a level holds at a given `E[Z]`. All levels, the counters and the working processors together
//! hold `P`, which determines `E[Z]`. Population and throughput grow with each other, so bisection
//! finds the one solution.
//!
//! This is not in the paper. It takes almost no time, and includes toggles and counters. It replaces
//! each balancer by its mean and so ignores chance. For trees of depth 5 to 10 with `L = 2^d` and
//! `work = 1` its `E[T]` is within 4 % of the simulated chain at every `P` tried (a test holds it to
//! 5 %). Where work times are random, or counters have a limit, there are queues that it does not
//! see: its latency was up to 15 % too low in the cases tried.

use super::{Counters, Setting};

/// The steady state by the balance.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// `E[Z]`.
    pub throughput: f64,
    /// Processors on each level of balancers.
    pub levels: Vec<f64>,
    /// Processors waiting at counters.
    pub at_counters: f64,
    /// Processors at work.
    pub working: f64,
}

impl Settled {
    /// Returns the number of processors that are not at work.
    pub fn in_tree(&self) -> f64 {
        self.at_balancers() + self.at_counters
    }

    /// Returns the number of processors at balancers, which load the prisms.
    pub fn at_balancers(&self) -> f64 {
        self.levels.iter().sum()
    }

    /// Returns the steps from the root to a number, by Little's law.
    pub fn latency(&self) -> f64 {
        self.in_tree() / self.throughput
    }
}

/// Finds the steady state.
pub fn settle(setting: &Setting) -> Settled {
    let processors = setting.processors as f64;
    let (mut low, mut high) = (0.0, limit(setting).min(processors));
    for _ in 0..45 {
        let middle = 0.5 * (low + high);
        if population(setting, middle) <= processors {
            low = middle;
        } else {
            high = middle;
        }
    }
    let mut settled = at(setting, low);
    // At the limit of the counters or of the prisms, all other processors wait in front of them.
    let rest = processors - settled.in_tree() - settled.working;
    if limit(setting) == counter_limit(setting) || settled.levels.is_empty() {
        settled.at_counters += rest;
    } else {
        settled.levels[0] += rest;
    }
    settled
}

/// Returns the mean number of processors that leave a balancer in a step, of `processors` at a
/// balancer with `cells` cells.
pub fn leaving(processors: f64, cells: f64, toggle: bool) -> f64 {
    let below = processors.floor();
    let part = processors - below;
    let at = |n: f64| {
        let pairs = pairs(n, cells);
        let stayed = n - 2.0 * pairs;
        2.0 * pairs + if toggle { stayed.min(1.0) } else { 0.0 }
    };
    if part == 0.0 { at(below) } else { (1.0 - part) * at(below) + part * at(below + 1.0) }
}

/// Returns the expected number of cells that two or more of `n` processors have chosen; `n` is
/// whole.
fn pairs(n: f64, cells: f64) -> f64 {
    if n < 2.0 {
        return 0.0;
    }
    if cells == 1.0 {
        return 1.0;
    }
    // By logarithms: powers lose all digits where cells are many. `q = 1 - 1/k`.
    let ln_q = (-1.0 / cells).ln_1p();
    let none = (n * ln_q).exp_m1();
    let one = n / cells * ((n - 1.0) * ln_q).exp();
    (cells * (-none - one)).clamp(0.0, 0.5 * n)
}

/// Returns the number of processors at a balancer that passes on `passed` of them a step.
fn holding(passed: f64, cells: f64, toggle: bool) -> f64 {
    if passed <= 0.0 {
        return 0.0;
    }
    if toggle && passed <= 1.0 {
        return passed;
    }
    let mut high = 2.0;
    while leaving(high, cells, toggle) < passed && high < MOST {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..45 {
        let middle = 0.5 * (low + high);
        if leaving(middle, cells, toggle) < passed {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// More processors than any setting has.
const MOST: f64 = 1e9;

fn at(setting: &Setting, throughput: f64) -> Settled {
    let tree = &setting.tree;
    let level = |level: u32| {
        let nodes = (1_usize << level) as f64;
        nodes * holding(throughput / nodes, tree.cells(level) as f64, setting.toggles)
    };
    Settled {
        throughput,
        levels: (0..tree.depth).map(level).collect(),
        at_counters: match setting.counters {
            // The step of arrival at a counter is the one spent at the last balancer.
            _ if tree.depth == 0 => throughput * steps(setting.counters).max(1.0),
            counters => throughput * (steps(counters) - 1.0).max(0.0),
        },
        working: throughput * f64::from(setting.work),
    }
}

/// Returns the steps of a counter's operation.
fn steps(counters: Counters) -> f64 {
    match counters {
        Counters::Unlimited => 0.0,
        Counters::Speed(speed) => 1.0 / speed,
    }
}

fn population(setting: &Setting, throughput: f64) -> f64 {
    let settled = at(setting, throughput);
    settled.in_tree() + settled.working
}

/// Returns the upper bound of the throughput for any number of processors.
fn limit(setting: &Setting) -> f64 {
    let toggle = if setting.toggles { 1.0 } else { 0.0 };
    let level =
        |level: u32| (1_usize << level) as f64 * (2.0 * setting.tree.cells(level) as f64 + toggle);
    (0..setting.tree.depth).map(level).fold(counter_limit(setting), f64::min)
}

/// Returns the number of processors from which on all counters are busy nearly all the time, or
/// `None` where the prisms never pass on enough.
pub fn counters_busy_from(setting: &Setting) -> Option<f64> {
    let busy = counter_limit(setting);
    (limit(setting) == busy && busy.is_finite()).then(|| population(setting, BUSY * busy))
}

/// The part of the counters' limit from which on they count as busy.
pub(super) const BUSY: f64 = 0.99;

/// Returns the throughput at which all counters are busy all the time.
pub(super) fn counter_limit(setting: &Setting) -> f64 {
    match setting.counters {
        Counters::Unlimited => f64::INFINITY,
        Counters::Speed(speed) => speed * setting.tree.counters() as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, markov};
    use super::*;

    #[test]
    fn counters_are_busy_from_where_more_processors_bring_nothing() {
        for (depth, prism, work) in [(0, 1, 0), (2, 16, 0), (4, 16, 7)] {
            let setting = |processors| Setting {
                tree: Tree { depth, prism },
                processors,
                work,
                toggles: true,
                counters: Counters::Speed(1.0),
            };
            let from = counters_busy_from(&setting(1)).unwrap();
            let part = |n: f64| settle(&setting(n as usize)).throughput / f64::from(1 << depth);
            assert!(part(from.ceil()) > 0.98, "{depth}: {from}");
            assert!(part((0.8 * from).floor()) < 0.97, "{depth}: {from}");
        }
        // Two cells pass on five in a step, one of them by the toggle; eight counters take eight.
        let narrow = Setting {
            counters: Counters::Speed(1.0),
            ..Setting::of_paper(Tree { depth: 3, prism: 2 }, 9)
        };
        assert_eq!(counters_busy_from(&narrow), None);
        assert_eq!(counters_busy_from(&Setting::of_paper(Tree::of_depth(3), 9)), None);
    }

    #[test]
    fn pairs_are_those_of_small_cases() {
        for cells in [1.0_f64, 2.0, 7.0, 65536.0] {
            assert_eq!(pairs(1.0, cells), 0.0);
            assert!((pairs(2.0, cells) - 1.0 / cells).abs() <= 1e-6 / cells);
        }
        // Of the 8 ways of 3 processors in 2 cells, all have one cell with two or more.
        assert!((pairs(3.0, 2.0) - 1.0).abs() < 1e-12);
        // Of the 16 ways of 4 in 2 cells, 6 have two.
        assert!((pairs(4.0, 2.0) - 22.0 / 16.0).abs() < 1e-12);
    }

    #[test]
    fn no_processor_is_lost() {
        for processors in [1, 5, 100, 65536] {
            for depth in [0, 1, 9] {
                for work in [0, 1, 100] {
                    for counters in
                        [Counters::Unlimited, Counters::Speed(1.0), Counters::Speed(0.125)]
                    {
                        let tree = Tree::of_depth(depth);
                        let setting = Setting { tree, processors, work, toggles: true, counters };
                        let settled = settle(&setting);
                        let all = settled.in_tree() + settled.working;
                        assert!((all / processors as f64 - 1.0).abs() < 1e-6, "{setting:?}");
                        assert!(settled.throughput > 0.0);
                        assert!(settled.latency() >= f64::from(depth.max(1)) - 1e-6);
                    }
                }
            }
        }
    }

    #[test]
    fn the_chain_agrees() {
        for (depth, processors) in [(3, 4), (3, 20), (3, 90), (5, 12), (5, 49), (5, 160), (5, 755)]
        {
            for (work, counters) in [(1, Counters::Unlimited), (10, Counters::Speed(1.0))] {
                let tree = Tree::of_depth(depth);
                let setting = Setting { tree, processors, work, toggles: true, counters };
                let length = markov::Length::of_effort(&setting, 60_000);
                let measured = markov::measure(&setting, length, 1).throughput.mean;
                let ratio = settle(&setting).throughput / measured;
                // The balance models counters as servers without a queue until all are busy.
                let most = if counters == Counters::Unlimited { 1.05 } else { 1.15 };
                assert!((0.95..most).contains(&ratio), "{setting:?}: {ratio}");
            }
        }
    }

    #[test]
    fn large_prisms_without_toggles_have_pairs_as_poisson_says() {
        // m = 1 - (1 + x) exp(-x), and not x² / (1 + x)² as in continuous time.
        for load in [0.25_f64, 1.0, 3.0] {
            let tree = Tree { depth: 2, prism: 2048 };
            let processors = (load * tree.all_cells()) as usize;
            let setting =
                Setting { work: 0, ..Setting::of_paper(tree, processors).without_toggles() };
            let poisson = 2.0 * 2048.0 * (1.0 - (1.0 + load) * (-load).exp());
            assert!((settle(&setting).throughput / poisson - 1.0).abs() < 0.01);
            let length = markov::Length { warm_up: 100, batches: 4, batch_steps: 50 };
            let measured = markov::measure(&setting, length, 1).throughput.mean;
            assert!((measured / poisson - 1.0).abs() < 0.03, "{measured} {poisson}");
        }
    }

    #[test]
    fn more_processors_never_count_less() {
        let throughput =
            |processors| settle(&Setting::of_paper(Tree::of_depth(6), processors)).throughput;
        let all: Vec<f64> = (1..100).map(|k| throughput(5 * k)).collect();
        assert!(all.is_sorted_by(|a, b| a <= &(b + 1e-9)));
    }
}
