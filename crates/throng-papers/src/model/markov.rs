//! The model itself: the discrete Markov chain of SS98, section 3, simulated.
//! (More than 500 lines: the chain is one state machine, and a fifth is its tests.)
//!
//! `P` processors, a tree of depth `d`. In each step, at every balancer at once:
//!
//! 1. each processor there chooses a random cell of the prism. Of those that chose the same cell
//!    two leave, one to each side; the others stay;
//! 2. of all that have stayed, one goes through the toggle, and the toggle changes its state.
//!
//! A processor that reaches a leaf is served by the counter there, works for a geometric number of
//! steps, and returns to the root. Measured are averages over time in the steady state: `E[Z]`, the
//! number of processors that go from one level to the next in a step, and `E[T]`, the number of
//! steps between two visits of one processor to the root. Each processor is followed, so `E[T]` is
//! measured and not derived from `E[Z]` (their relation, `E[T] = P / E[Z]`, is lemma 3.1).
//!
//! # Differs from the paper
//!
//! - Counters may have a limited speed ([`Counters::Speed`]). The paper's chain has none, and its
//!   section 3 adds the bound `E[Z] <= 2^d` afterwards.
//! - Toggles can be left out ([`Setting::toggles`]), as the proof of theorem 3.2 does.
//! - `work = 0` means that a processor returns to the root at once. `G(1/work)` is not defined
//!   there, but the paper's measurements have "work very close to 0".
//! - The paper calls the chain aperiodic and irreducible. With `work = 1`, two or more cells and
//!   `1 < P <= d + 1` it is neither. Sooner or later no two processors are on the same level. From
//!   then on none ever meet, and they cycle in `d + 1` steps for ever. Averages over time exist all
//!   the same, and are measured.
//!
//! A step takes time in proportion to the processors in the tree, regardless of the size of the
//! tree.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::random::Random;
use super::{Counters, Setting, balance};

/// The length of a simulation of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Steps before anything is measured.
    pub warm_up: usize,
    /// Number of batches, each averaged by itself. Their spread gives the error.
    pub batches: usize,
    /// Steps of a batch.
    pub batch_steps: usize,
}

impl Length {
    /// Returns the length for an effort of about `effort` moves or tries of processors.
    ///
    /// The effort is raised up to eightfold until every processor cycles several times.
    /// Where even that is too short, throughput is still measured well, because the chain starts
    /// near its steady state. Rounds are not.
    pub fn of_effort(setting: &Setting, effort: usize) -> Self {
        let settled = balance::settle(setting);
        let round = setting.processors as f64 / settled.throughput;
        // A processor that waits at a counter costs nothing, one that arrives there does.
        let busy = settled.at_balancers().max(settled.throughput);
        let wanted = effort as f64 / busy.max(1.0);
        let steps = (40.0 * round).clamp(wanted, 8.0 * wanted).max(200.0).ceil() as usize;
        let batches = 20;
        Length { warm_up: steps / 4, batches, batch_steps: steps.div_ceil(batches) }
    }
}

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Its standard error, from the spread of the batches.
    pub error: f64,
}

impl Estimate {
    fn of(batches: &[f64]) -> Self {
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        Estimate { mean, error: (variance / n).sqrt() }
    }

    /// Returns the ratio of two sums, over everything, with the error by batches. NaN where the run
    /// was too short for one.
    fn of_ratio(all: Option<f64>, batches: &[f64]) -> Self {
        Estimate { mean: all.unwrap_or(f64::NAN), error: Estimate::of(batches).error }
    }
}

fn ratio(sum: u64, by: u64) -> Option<f64> {
    (by > 0).then(|| sum as f64 / by as f64)
}

/// Averages of the chain over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// `E[Z]`: processors that reach a counter in a step.
    pub throughput: Estimate,
    /// Steps from the root to a number: by Little's law, processors in the tree by throughput.
    pub latency: Estimate,
    /// `E[T]`: steps from one arrival of a processor at the root to its next, work included.
    pub round: Estimate,
    /// Processors on each level of balancers, at the start of a step.
    pub levels: Vec<f64>,
    /// Processors waiting at counters.
    pub at_counters: f64,
    /// Processors at work.
    pub working: f64,
    /// The part of all passages through balancers that were diffractions, by level.
    pub diffracted: Vec<f64>,
}

impl Measured {
    /// Returns the part of all passages through balancers that were diffractions.
    pub fn diffracted_mean(&self) -> f64 {
        // Every level has the same number of passages.
        self.diffracted.iter().fold(0.0, |sum, part| sum + part)
            / self.diffracted.len().max(1) as f64
    }
}

/// Runs the chain and measures it. The same seed gives the same result.
///
/// # Panics
/// If the length has no batch or no step.
pub fn measure(setting: &Setting, length: Length, seed: u64) -> Measured {
    assert!(length.batches > 0 && length.batch_steps > 0, "nothing to measure");
    let mut chain = Chain::new(setting, seed);
    for _ in 0..length.warm_up {
        chain.step();
    }
    let mut total = Sums::new(setting.tree.depth);
    let (mut throughputs, mut latencies, mut rounds) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..length.batches {
        chain.sums = Sums::new(setting.tree.depth);
        for _ in 0..length.batch_steps {
            chain.count_populations();
            chain.step();
        }
        let sums = &chain.sums;
        throughputs.push(sums.counted as f64 / length.batch_steps as f64);
        latencies.extend(ratio(sums.in_tree(), sums.counted));
        rounds.extend(ratio(sums.round_steps, sums.rounds));
        total.add(sums);
    }
    let steps = (length.batches * length.batch_steps) as f64;
    let mean = |&sum: &u64| sum as f64 / steps;
    Measured {
        throughput: Estimate::of(&throughputs),
        latency: Estimate::of_ratio(ratio(total.in_tree(), total.counted), &latencies),
        round: Estimate::of_ratio(ratio(total.round_steps, total.rounds), &rounds),
        levels: total.levels.iter().map(mean).collect(),
        at_counters: mean(&total.at_counters),
        working: mean(&total.working),
        diffracted: (total.diffracted.iter().zip(&total.passed))
            .map(|(&diffracted, &passed)| diffracted as f64 / passed.max(1) as f64)
            .collect(),
    }
}

/// Sums over steps.
struct Sums {
    levels: Vec<u64>,
    at_counters: u64,
    working: u64,
    diffracted: Vec<u64>,
    passed: Vec<u64>,
    counted: u64,
    rounds: u64,
    round_steps: u64,
}

impl Sums {
    fn new(depth: u32) -> Self {
        let zeros = vec![0; depth as usize];
        Sums {
            levels: zeros.clone(),
            at_counters: 0,
            working: 0,
            diffracted: zeros.clone(),
            passed: zeros,
            counted: 0,
            rounds: 0,
            round_steps: 0,
        }
    }

    /// Returns the number of processors not at work.
    fn in_tree(&self) -> u64 {
        self.levels.iter().sum::<u64>() + self.at_counters
    }

    fn add(&mut self, other: &Sums) {
        let add = |to: &mut Vec<u64>, from: &Vec<u64>| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.levels, &other.levels);
        add(&mut self.diffracted, &other.diffracted);
        add(&mut self.passed, &other.passed);
        self.at_counters += other.at_counters;
        self.working += other.working;
        self.counted += other.counted;
        self.rounds += other.rounds;
        self.round_steps += other.round_steps;
    }
}

type Processor = u32;
/// Replaces a processor that has just left.
const GONE: Processor = Processor::MAX;

/// A node of the tree: a balancer or, at a leaf, a counter.
#[derive(Default)]
struct Node {
    /// The processors at this node; at a counter in the order of arrival.
    here: VecDeque<Processor>,
    /// The side to which the toggle sends the next processor.
    toggle: bool,
    /// At a counter: operations completed but not used, as a fraction. Less than 1 at the end of a
    /// step.
    done: f64,
}

/// The state of the chain.
///
/// Nodes have numbers as in the paper, less one: node 0 is the root, the children of node `j` are
/// `2j + 1` and `2j + 2`.
struct Chain<'a> {
    setting: &'a Setting,
    nodes: Vec<Node>,
    /// The nodes with processors, each once.
    occupied: Vec<usize>,
    /// For each level, and for the counters, the number of processors.
    populations: Vec<u64>,
    /// Working processors, with the step of their return. The next one to return is on top.
    working: BinaryHeap<Reverse<(u64, Processor)>>,
    /// When each processor last came to the root.
    at_root_since: Vec<u64>,
    now: u64,
    random: Random,
    cells: Cells,
    /// The moves of this step: a node and the processor that goes there.
    moves: Vec<(usize, Processor)>,
    sums: Sums,
}

impl<'a> Chain<'a> {
    /// Returns a state near the steady one, which shortens the warm-up.
    fn new(setting: &'a Setting, seed: u64) -> Self {
        let nodes = (2_usize << setting.tree.depth) - 1;
        let mut chain = Chain {
            setting,
            nodes: std::iter::repeat_with(Node::default).take(nodes).collect(),
            occupied: Vec::new(),
            populations: vec![0; setting.tree.depth as usize + 1],
            working: BinaryHeap::new(),
            at_root_since: vec![0; setting.processors],
            now: 0,
            random: Random::new(seed),
            cells: Cells::new(setting.tree.cells(0)),
            moves: Vec::new(),
            sums: Sums::new(setting.tree.depth),
        };
        chain.spread();
        chain
    }

    fn spread(&mut self) {
        let settled = balance::settle(self.setting);
        let processors = self.setting.processors as u32;
        let mut next = 0;
        let mut working = settled.working;
        while next < processors && working >= 1.0 {
            self.start_work(next);
            (next, working) = (next + 1, working - 1.0);
        }
        for (level, &population) in settled.levels.iter().enumerate() {
            let nodes = 1 << level;
            for k in 0..(population as u32).min(processors - next) {
                self.place(nodes - 1 + k as usize % nodes, next);
                next += 1;
            }
        }
        let leaves = self.setting.tree.counters();
        for k in 0..(settled.at_counters as u32).min(processors - next) {
            self.place(leaves - 1 + k as usize % leaves, next);
            next += 1;
        }
        (next..processors).for_each(|processor| self.place(0, processor));
    }

    fn level(node: usize) -> usize {
        (node + 1).ilog2() as usize
    }

    fn is_leaf(&self, node: usize) -> bool {
        node >= self.nodes.len() / 2
    }

    fn place(&mut self, node: usize, processor: Processor) {
        if self.nodes[node].here.is_empty() {
            self.occupied.push(node);
        }
        self.nodes[node].here.push_back(processor);
        self.populations[Self::level(node)] += 1;
    }

    fn start_work(&mut self, processor: Processor) {
        let steps = self.random.geometric(f64::from(self.setting.work));
        self.working.push(Reverse((self.now + steps, processor)));
    }

    fn count_populations(&mut self) {
        for (sum, population) in self.sums.levels.iter_mut().zip(&self.populations) {
            *sum += population;
        }
        self.sums.at_counters += self.populations[self.setting.tree.depth as usize];
        self.sums.working += self.working.len() as u64;
    }

    /// Makes one step of the chain.
    fn step(&mut self) {
        self.now += 1;
        let mut moves = std::mem::take(&mut self.moves);
        for at in 0..self.occupied.len() {
            let node = self.occupied[at];
            if !self.is_leaf(node) {
                let before = self.nodes[node].here.len();
                self.pass_balancer(node, &mut moves);
                let left = before - self.nodes[node].here.len();
                self.populations[Self::level(node)] -= left as u64;
            }
        }
        self.leave_empty_nodes();
        for (node, processor) in moves.drain(..) {
            self.place(node, processor);
        }
        self.moves = moves;
        // Processors that returned earlier come first. A processor that leaves a counter in this
        // step does not act again.
        let done = self.serve_counters();
        self.leave_empty_nodes();
        while let Some(&Reverse((step, processor))) = self.working.peek()
            && step <= self.now
        {
            self.working.pop();
            self.return_to_root(processor);
        }
        for processor in done {
            if self.setting.work == 0 {
                self.return_to_root(processor);
            } else {
                self.start_work(processor);
            }
        }
    }

    fn leave_empty_nodes(&mut self) {
        let nodes = &self.nodes;
        self.occupied.retain(|&node| !nodes[node].here.is_empty());
    }

    fn return_to_root(&mut self, processor: Processor) {
        let since = std::mem::replace(&mut self.at_root_since[processor as usize], self.now);
        self.sums.rounds += 1;
        self.sums.round_steps += self.now - since;
        self.place(0, processor);
    }

    /// Does both parts of a step at one balancer.
    fn pass_balancer(&mut self, node: usize, moves: &mut Vec<(usize, Processor)>) {
        let level = Self::level(node);
        let [left, right] = [2 * node + 1, 2 * node + 2];
        let node = &mut self.nodes[node];
        let cells = self.setting.tree.cells(level as u32);
        self.cells.clear();
        for at in 0..node.here.len() {
            if let Some(partner) = self.cells.choose(self.random.below(cells), at) {
                for (at, child) in [(partner, left), (at, right)] {
                    moves.push((child, std::mem::replace(&mut node.here[at], GONE)));
                }
                self.sums.diffracted[level] += 2;
                self.sums.passed[level] += 2;
            }
        }
        node.here.retain(|&processor| processor != GONE);
        if self.setting.toggles && !node.here.is_empty() {
            let chosen = self.random.below(node.here.len());
            let child = if node.toggle { right } else { left };
            let lucky = node.here.swap_remove_back(chosen).expect("chosen among those here");
            moves.push((child, lucky));
            node.toggle = !node.toggle;
            self.sums.passed[level] += 1;
        }
    }

    /// Lets the counters do one step of work, and returns the processors served.
    fn serve_counters(&mut self) -> Vec<Processor> {
        let mut done = Vec::new();
        for at in 0..self.occupied.len() {
            let leaf = self.occupied[at];
            if !self.is_leaf(leaf) {
                continue;
            }
            let node = &mut self.nodes[leaf];
            let most = match self.setting.counters {
                Counters::Unlimited => node.here.len(),
                Counters::Speed(speed) => {
                    node.done += speed;
                    // 1e-9 more, so that ten tenths are an operation in spite of rounding.
                    ((node.done + 1e-9) as usize).min(node.here.len())
                }
            };
            done.extend(node.here.drain(..most));
            node.done = if node.here.is_empty() { 0.0 } else { (node.done - most as f64).max(0.0) };
            self.populations[self.setting.tree.depth as usize] -= most as u64;
            self.sums.counted += most as u64;
        }
        done
    }
}

/// The prism of a balancer: the processors that chose each cell in this step.
struct Cells {
    /// For each cell, the round in which it was last chosen, and its occupant.
    cells: Vec<(u64, Occupant)>,
    round: u64,
}

#[derive(Clone, Copy)]
enum Occupant {
    /// One processor, by its place among those at the balancer.
    One(usize),
    /// Two or more.
    Full,
}

impl Cells {
    fn new(most: usize) -> Self {
        Cells { cells: vec![(0, Occupant::Full); most], round: 0 }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    /// Lets a processor choose a cell, and returns the processor it pairs with.
    fn choose(&mut self, cell: usize, who: usize) -> Option<usize> {
        let (round, occupant) = &mut self.cells[cell];
        if *round != self.round {
            (*round, *occupant) = (self.round, Occupant::One(who));
            return None;
        }
        match std::mem::replace(occupant, Occupant::Full) {
            Occupant::One(first) => Some(first),
            Occupant::Full => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tree;
    use super::*;

    const SHORT: Length = Length { warm_up: 500, batches: 10, batch_steps: 500 };

    fn settings() -> Vec<Setting> {
        let mut settings = Vec::new();
        for (depth, prism, processors) in [(0, 1, 5), (1, 2, 1), (3, 8, 40), (4, 3, 30), (2, 64, 9)]
        {
            for work in [0, 1, 20] {
                for counters in [Counters::Unlimited, Counters::Speed(0.3), Counters::Speed(2.5)] {
                    let tree = Tree { depth, prism };
                    settings.push(Setting {
                        work,
                        counters,
                        ..Setting::of_paper(tree, processors)
                    });
                }
            }
        }
        settings
    }

    #[test]
    fn no_processor_is_lost_or_doubled() {
        for setting in settings() {
            let mut chain = Chain::new(&setting, 3);
            for _ in 0..200 {
                chain.step();
                let mut all: Vec<Processor> =
                    chain.nodes.iter().flat_map(|node| node.here.iter().copied()).collect();
                all.extend(chain.working.iter().map(|&Reverse((_, processor))| processor));
                all.sort_unstable();
                assert!(all.iter().copied().eq(0..setting.processors as u32), "{setting:?}");
                let mut occupied = chain.occupied.clone();
                occupied.sort_unstable();
                let nodes = (0..chain.nodes.len()).filter(|&n| !chain.nodes[n].here.is_empty());
                assert!(nodes.eq(occupied), "{setting:?}");
                let counted: u64 = chain.populations.iter().sum();
                assert_eq!(counted as usize + chain.working.len(), setting.processors);
            }
        }
    }

    #[test]
    fn balancers_keep_the_sides_even() {
        // At every moment a balancer has sent at most one more to the left than to the right.
        let setting = Setting::of_paper(Tree::of_depth(3), 30);
        let mut chain = Chain::new(&setting, 5);
        let mut sent = vec![0_i32; chain.nodes.len() / 2];
        for _ in 0..300 {
            for (node, sent) in sent.iter_mut().enumerate() {
                let mut moves = Vec::new();
                chain.pass_balancer(node, &mut moves);
                *sent += moves.iter().map(|&(to, _)| if to % 2 == 1 { 1 } else { -1 }).sum::<i32>();
                assert!((0..=1).contains(sent), "{sent}");
                // Back to where they were.
                moves
                    .into_iter()
                    .for_each(|(_, processor)| chain.nodes[node].here.push_back(processor));
            }
        }
    }

    #[test]
    fn the_round_of_a_lone_processor_is_the_depth_and_the_work() {
        for depth in 1..6 {
            for work in [0, 1] {
                let setting = Setting { work, ..Setting::of_paper(Tree::of_depth(depth), 1) };
                let measured = measure(&setting, SHORT, 1);
                assert_eq!(measured.round.mean, f64::from(depth + work));
                assert_eq!(measured.diffracted_mean(), 0.0);
            }
        }
    }

    #[test]
    fn rounds_followed_one_by_one_obey_littles_law() {
        for setting in settings().into_iter().step_by(2) {
            let measured = measure(&setting, SHORT, 2);
            let expected = setting.processors as f64 / measured.throughput.mean;
            let off = (measured.round.mean / expected - 1.0).abs();
            assert!(off < 0.05, "{setting:?}: {} for {expected}", measured.round.mean);
            let all: f64 =
                measured.levels.iter().sum::<f64>() + measured.at_counters + measured.working;
            assert!((all - setting.processors as f64).abs() < 1e-6, "{all}");
            let latency = measured.round.mean - f64::from(setting.work);
            assert!((measured.latency.mean - latency).abs() < 0.05 * measured.round.mean);
            // The rest of lemma 3.1.
            let working = f64::from(setting.work) * measured.throughput.mean;
            assert!((measured.working - working).abs() < 0.1 * working + 0.02, "{setting:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run() {
        let setting = Setting::of_paper(Tree::of_depth(4), 60);
        assert_eq!(measure(&setting, SHORT, 9), measure(&setting, SHORT, 9));
        assert_ne!(measure(&setting, SHORT, 9), measure(&setting, SHORT, 10));
    }

    #[test]
    fn counters_are_a_limit() {
        for speed in [0.25, 1.0, 3.0] {
            let tree = Tree { depth: 2, prism: 64 };
            let setting =
                Setting { counters: Counters::Speed(speed), ..Setting::of_paper(tree, 2000) };
            let measured = measure(&setting, Length { warm_up: 2000, ..SHORT }, 4);
            let limit = 4.0 * speed;
            assert!((measured.throughput.mean / limit - 1.0).abs() < 0.01, "{measured:?}");
        }
        // An operation of four steps delays a lone processor by three more than one of one.
        let tree = Tree::of_depth(3);
        let slow = Setting { counters: Counters::Speed(0.25), ..Setting::of_paper(tree, 1) };
        assert_eq!(measure(&slow, SHORT, 1).round.mean, 7.0);
    }

    #[test]
    fn without_toggles_a_lone_processor_never_leaves() {
        let setting = Setting::of_paper(Tree::of_depth(2), 1).without_toggles();
        let measured = measure(&setting, SHORT, 1);
        assert_eq!(measured.throughput.mean, 0.0);
        assert!(measured.round.mean.is_nan() && measured.latency.mean.is_nan());
    }
}
