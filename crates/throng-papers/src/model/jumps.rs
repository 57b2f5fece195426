//! The continuous chain of the proof of theorem 3.2 of SS98, simulated.
//!
//! Every processor acts after times that are exponential with mean 1. It chooses a prism cell and
//! stays there until it acts again. If the cell is free and has a new processor (one that came
//! after the cell became free), the two are matched. The cell is then occupied until the pair
//! leaves after another such time, one to each child. Toggles and counters are not part of the
//! chain.
//!
//! Its mean is the [flow](super::flow) where prisms are large. So it checks the differential
//! equations, apart from the question how well this chain represents the discrete
//! [one](super::markov).
//!
//! Simulated by uniformization: events come at the rate of all processors together, and each
//! belongs to a processor drawn at random. A pair leaves at rate 1 and not 2, so its surplus events
//! are skipped with the right probability.

use super::Setting;
use super::random::Random;

/// Averages of the chain over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// `E[Z]`: processors that reach the leaves in a unit of time.
    pub throughput: f64,
    /// `m`: the part of all prism cells with a pair in them.
    pub pairs: f64,
    /// `x`: processors a prism cell.
    pub load: f64,
}

/// Runs the chain for `time` after `settle` to reach its steady state. `None` for a tree without
/// prisms.
pub fn measure(setting: &Setting, settle: f64, time: f64, seed: u64) -> Option<Measured> {
    if setting.tree.depth == 0 {
        return None;
    }
    let mut chain = Chain::new(setting, seed);
    let events = |time: f64| (time * setting.processors as f64).ceil() as usize;
    (0..events(settle)).for_each(|_| chain.event());
    (chain.counted, chain.pair_sum, chain.working_sum) = (0, 0, 0);
    let measured = events(time).max(1);
    for _ in 0..measured {
        chain.event();
        chain.pair_sum += chain.pairs as u64;
        chain.working_sum += chain.working as u64;
    }
    let mean = |sum: u64| sum as f64 / measured as f64;
    let cells = chain.cells.len() as f64;
    Some(Measured {
        throughput: mean(chain.counted) * setting.processors as f64,
        pairs: mean(chain.pair_sum) / cells,
        load: (setting.processors as f64 - mean(chain.working_sum)) / cells,
    })
}

type Processor = usize;

#[derive(Clone, Copy)]
enum Place {
    Working,
    /// At a balancer of a level, in one of its cells.
    In {
        node: usize,
        cell: usize,
    },
}

/// The state of a prism cell, numbered over all balancers.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    /// No new processor.
    Free,
    /// One new processor.
    Single(Processor),
    /// A pair that leaves at the event of the first.
    Pair(Processor, Processor),
}

struct Chain<'a> {
    setting: &'a Setting,
    random: Random,
    places: Vec<Place>,
    cells: Vec<Cell>,
    /// The first cell of each balancer, numbered as in [`super::markov`], and then the number of
    /// all cells.
    first_cell: Vec<usize>,
    pairs: usize,
    working: usize,
    counted: u64,
    pair_sum: u64,
    working_sum: u64,
}

impl<'a> Chain<'a> {
    fn new(setting: &'a Setting, seed: u64) -> Self {
        let mut first_cell = vec![0];
        for level in 0..setting.tree.depth {
            for _ in 0..1 << level {
                first_cell.push(first_cell[first_cell.len() - 1] + setting.tree.cells(level));
            }
        }
        let cells = first_cell[first_cell.len() - 1];
        let mut chain = Chain {
            setting,
            random: Random::new(seed),
            places: vec![Place::Working; setting.processors],
            cells: vec![Cell::Free; cells],
            first_cell,
            pairs: 0,
            working: setting.processors,
            counted: 0,
            pair_sum: 0,
            working_sum: 0,
        };
        // Evenly over the levels, as the flow starts.
        for processor in 0..setting.processors {
            let level = processor as u32 % setting.tree.depth;
            let node = (1 << level) - 1 + chain.random.below(1 << level);
            chain.working -= 1;
            chain.choose(processor, node);
        }
        chain
    }

    /// Lets a processor at a balancer choose a cell.
    fn choose(&mut self, processor: Processor, node: usize) {
        let (first, end) = (self.first_cell[node], self.first_cell[node + 1]);
        let cell = first + self.random.below(end - first);
        self.places[processor] = Place::In { node, cell };
        match self.cells[cell] {
            Cell::Free => self.cells[cell] = Cell::Single(processor),
            Cell::Single(first) => {
                self.cells[cell] = Cell::Pair(first, processor);
                self.pairs += 1;
            }
            Cell::Pair(..) => {}
        }
    }

    fn event(&mut self) {
        let processor = self.random.below(self.places.len());
        match self.places[processor] {
            Place::Working => {
                if self.random.one_in(f64::from(self.setting.work)) {
                    self.working -= 1;
                    self.choose(processor, 0);
                }
            }
            Place::In { node, cell } => match self.cells[cell] {
                Cell::Pair(first, second) if first == processor => {
                    self.cells[cell] = Cell::Free;
                    self.pairs -= 1;
                    self.go_on(first, 2 * node + 1);
                    self.go_on(second, 2 * node + 2);
                }
                Cell::Pair(_, second) if second == processor => {}
                state => {
                    if state == Cell::Single(processor) {
                        self.cells[cell] = Cell::Free;
                    }
                    self.choose(processor, node);
                }
            },
        }
    }

    /// Moves a processor to a node, which may be a leaf.
    fn go_on(&mut self, processor: Processor, node: usize) {
        if node + 1 < self.first_cell.len() {
            self.choose(processor, node);
            return;
        }
        self.counted += 1;
        if self.setting.work == 0 {
            self.choose(processor, 0);
        } else {
            self.places[processor] = Place::Working;
            self.working += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Tree, closed_form};
    use super::*;

    #[test]
    fn large_prisms_behave_as_the_closed_form_says() {
        for load in [0.25, 1.0, 3.0] {
            let tree = Tree { depth: 3, prism: 2048 };
            let processors = (load * tree.all_cells()) as usize;
            let setting = Setting::of_paper(tree, processors);
            let measured = measure(&setting, 25.0, 25.0, 5).unwrap();
            let form = closed_form::exact(&setting).unwrap();
            // 6144 cells over 25 units of time.
            assert!((measured.pairs / form.pairs - 1.0).abs() < 0.03, "{measured:?} {form:?}");
            assert!((measured.throughput / form.throughput - 1.0).abs() < 0.03, "{measured:?}");
            assert!((measured.load / form.load - 1.0).abs() < 0.01, "{measured:?} {form:?}");
        }
    }

    #[test]
    fn pairs_and_processors_are_accounted_for() {
        let setting = Setting { work: 3, ..Setting::of_paper(Tree { depth: 3, prism: 6 }, 50) };
        let mut chain = Chain::new(&setting, 2);
        for _ in 0..5000 {
            chain.event();
            let pairs = chain.cells.iter().filter(|cell| matches!(cell, Cell::Pair(..))).count();
            let working = chain.places.iter().filter(|p| matches!(p, Place::Working)).count();
            assert_eq!((chain.pairs, chain.working), (pairs, working));
        }
    }
}
