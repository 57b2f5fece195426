//! Runs simulations for figures, in parallel, and none twice.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use throng_sim::MachineSpec;

use super::curve::{Curve, Point};
use crate::error::Error;
use crate::output;
use crate::workloads::CountingRun;
use crate::workloads::barrier::{BarrierMeasured, BarrierRun};
use crate::workloads::jobs::{JobsMeasured, JobsRun};
use crate::workloads::measured::Measured;
use crate::workloads::messages::{Layouts, MessagesMeasured, MessagesRun};
use crate::workloads::parallel::parallel;
use crate::workloads::surge::{Surge, SurgeRun};

/// The settings for all figures, and the results of all runs so far. Several figures show the same
/// runs.
#[derive(Debug)]
pub struct Lab {
    /// Whether all sizes are tiny. Such runs test that figures can be made; their numbers mean
    /// nothing.
    pub smoke: bool,
    /// The seed of the first repetition; each further one adds 1.
    pub seed: u64,
    /// Threads on which runs are simulated.
    pub threads: usize,
    /// Results of finished runs, keyed by their description.
    done: RefCell<HashMap<String, Rc<dyn Any>>>,
    layouts: Layouts,
}

impl Lab {
    /// Returns a laboratory without results.
    pub fn new(smoke: bool, seed: u64, threads: usize) -> Self {
        Lab { smoke, seed, threads, done: RefCell::default(), layouts: Layouts::default() }
    }

    /// Returns `full`, or `smoke` in a small test.
    pub fn pick<T>(&self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }

    /// Returns the judgement, or `None` in a small test.
    pub fn judge(&self, holds: bool) -> Option<bool> {
        self.pick(Some(holds), None)
    }

    /// Says how many runs, from different seeds, a number is the mean of.
    pub(super) fn runs_in_words(&self, repetitions: u64) -> String {
        self.pick(format!("mean of {repetitions} runs"), "1 run".to_owned())
    }

    /// Returns the machine of DT96 and SS98.
    pub fn alewife(&self) -> MachineSpec {
        MachineSpec::preset("alewife").expect("it comes with the simulator")
    }

    /// Returns the preset machine `name`.
    ///
    /// # Panics If there is none of this name.
    pub fn preset(&self, name: &str) -> MachineSpec {
        MachineSpec::preset(name).unwrap_or_else(|| panic!("{name} comes with the simulator"))
    }

    /// Measures all runs, each once, and checks them.
    ///
    /// # Errors The error of the first run that failed.
    pub fn measure<R: Run>(&self, figure: &str, runs: &[R]) -> Result<Vec<Rc<R::Measured>>, Error> {
        // A run without a key gets one that no other run has.
        let before = self.done.borrow().len();
        let anew = |i: usize| format!("{before} {i}");
        let keys: Vec<String> =
            runs.iter().enumerate().map(|(i, run)| run.key().unwrap_or_else(|| anew(i))).collect();
        let mut named = HashSet::new();
        let new: Vec<(&String, &R)> = (keys.iter().zip(runs))
            .filter(|(key, _)| !self.done.borrow().contains_key(*key) && named.insert(*key))
            .collect();
        let progress = output::progress_bar(new.len());
        progress.set_message(figure.to_owned());
        let layouts = &self.layouts;
        let measured = parallel(&new, self.threads, &progress, |(_, run)| run.measure(layouts));
        progress.finish_and_clear();
        for ((key, _), measured) in new.into_iter().zip(measured) {
            self.done.borrow_mut().insert(key.clone(), Rc::new(measured?));
        }
        let done = self.done.borrow();
        let result = |key| Rc::clone(&done[key]).downcast().expect("runs of a key are of a kind");
        Ok(keys.iter().map(result).collect())
    }

    /// Measures each run several times, from consecutive seeds.
    ///
    /// # Errors The error of the first run that failed.
    pub fn sweep<R: Run>(
        &self,
        figure: &str,
        repetitions: u64,
        rows: Vec<(String, Vec<(f64, R)>)>,
    ) -> Result<Vec<Row<R::Measured>>, Error> {
        let seeds = self.seed..self.seed + self.pick(repetitions, 1);
        let with_seeds = |run: &R| seeds.clone().map(|seed| run.seeded(figure, seed)).collect();
        let runs = rows.iter().flat_map(|(_, runs)| runs);
        let all: Vec<Vec<R>> = runs.map(|(_, run)| with_seeds(run)).collect();
        let mut measured = self.measure(figure, &all.concat())?.into_iter();
        let mut cell = |x: f64| (x, measured.by_ref().take(seeds.clone().count()).collect());
        let row = |(name, runs): (String, Vec<(f64, R)>)| Row {
            name,
            command: runs.last().and_then(|(_, run)| with_seeds(run).first()?.command()),
            cells: runs.iter().map(|&(x, _)| cell(x)).collect(),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

/// A run of a figure.
pub trait Run: Clone + Sync {
    /// The results.
    type Measured: Send + 'static;

    /// Returns everything the result depends on. `None`: the run is made each time it is asked for.
    fn key(&self) -> Option<String>;

    /// Returns the same run from this seed.
    fn seeded(&self, figure: &str, seed: u64) -> Self;

    /// Returns the command that makes this run alone, if there is one.
    fn command(&self) -> Option<String> {
        None
    }

    /// Makes the run and checks it.
    ///
    /// # Errors When it failed.
    fn measure(&self, layouts: &Layouts) -> Result<Self::Measured, Error>;
}

impl Run for CountingRun {
    type Measured = Measured;

    fn key(&self) -> Option<String> {
        Some(format!("{} {} {}", self.replay_command(), self.warm_up, self.stagger_cycles))
    }

    fn seeded(&self, _: &str, seed: u64) -> Self {
        CountingRun { seed, ..self.clone() }
    }

    fn command(&self) -> Option<String> {
        Some(self.replay_command())
    }

    fn measure(&self, _: &Layouts) -> Result<Measured, Error> {
        self.measure()
    }
}

impl Run for BarrierRun {
    type Measured = BarrierMeasured;

    fn key(&self) -> Option<String> {
        Some(format!("{} {}", self.replay_command(), self.warm_up))
    }

    fn seeded(&self, _: &str, seed: u64) -> Self {
        BarrierRun { seed, ..self.clone() }
    }

    fn command(&self) -> Option<String> {
        Some(self.replay_command())
    }

    fn measure(&self, _: &Layouts) -> Result<BarrierMeasured, Error> {
        self.measure()
    }
}

impl Run for MessagesRun {
    type Measured = MessagesMeasured;

    fn key(&self) -> Option<String> {
        Some(self.key())
    }

    fn seeded(&self, figure: &str, seed: u64) -> Self {
        MessagesRun { seed, replay: replay(figure, seed), ..self.clone() }
    }

    fn measure(&self, layouts: &Layouts) -> Result<MessagesMeasured, Error> {
        self.measure_laid_out(layouts)
    }
}

impl Run for JobsRun {
    type Measured = JobsMeasured;

    fn key(&self) -> Option<String> {
        None
    }

    fn seeded(&self, figure: &str, seed: u64) -> Self {
        JobsRun { seed, replay: replay(figure, seed), ..self.clone() }
    }

    fn measure(&self, _: &Layouts) -> Result<JobsMeasured, Error> {
        self.measure()
    }
}

impl Run for SurgeRun {
    type Measured = Surge;

    fn key(&self) -> Option<String> {
        None
    }

    fn seeded(&self, figure: &str, seed: u64) -> Self {
        SurgeRun { seed, replay: replay(figure, seed), ..self.clone() }
    }

    fn measure(&self, _: &Layouts) -> Result<Surge, Error> {
        self.measure()
    }
}

/// Returns the command that makes a run again that has none of its own.
fn replay(figure: &str, seed: u64) -> String {
    format!("throng figure {figure} --seed {seed}")
}

/// The runs of one curve: for each x, its repetitions.
#[derive(Debug)]
pub struct Row<M = Measured> {
    /// The name in the legend.
    pub name: String,
    /// The command that runs the last point, from the first seed.
    pub command: Option<String>,
    /// From left to right.
    pub cells: Vec<(f64, Vec<Rc<M>>)>,
}

impl<M> Row<M> {
    /// Returns the curve of `number`, taken from each run.
    pub fn curve(&self, number: impl Fn(&M) -> f64) -> Curve {
        let point = |(x, runs): &(f64, Vec<Rc<M>>)| {
            let repetitions: Vec<f64> = runs.iter().map(|run| number(run)).collect();
            Point::of(*x, &repetitions)
        };
        Curve {
            command: self.command.clone(),
            ..Curve::measured(self.name.clone(), self.cells.iter().map(point).collect())
        }
    }

    /// Returns the mean of `number` over the runs at `x`, or NaN where there are none.
    pub fn mean(&self, x: f64, number: impl Fn(&M) -> f64) -> f64 {
        self.curve(number).at(x).unwrap_or(f64::NAN)
    }

    /// Returns the runs at `x`.
    pub fn at(&self, x: f64) -> impl Iterator<Item = &Rc<M>> {
        self.cells.iter().filter(move |cell| cell.0 == x).flat_map(|cell| &cell.1)
    }
}

impl Row {
    /// Describes where processors waited longest in the runs at `x`. Lines of one name and index
    /// count as one place. Node 1 is the root.
    pub fn hottest(&self, x: f64) -> String {
        let lines = self.at(x).flat_map(|run| &run.memory.lines);
        hottest(lines.map(|(place, traffic)| (place.to_string(), traffic.waited_cycles)))
    }
}

/// Describes the three places with the longest waits, and their shares of all waiting.
pub(super) fn hottest(waits: impl Iterator<Item = (String, u64)>) -> String {
    let mut waited: BTreeMap<String, u64> = BTreeMap::new();
    for (place, cycles) in waits {
        *waited.entry(place).or_default() += cycles;
    }
    let total: u64 = waited.values().sum();
    let mut places: Vec<(String, u64)> = waited.into_iter().collect();
    places.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
    let share = |(name, cycles): &(String, u64)| {
        format!("{name} {:.0} %", 100.0 * *cycles as f64 / total.max(1) as f64)
    };
    places.iter().take(3).map(share).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::CounterChoice;

    fn run(processors: usize) -> CountingRun {
        let counter = CounterChoice::named("hardware", None).unwrap();
        CountingRun { processors, values: 300, ..CountingRun::new(counter, MachineSpec::ideal(10)) }
    }

    #[test]
    fn no_run_is_made_twice_and_the_number_of_threads_does_not_matter() {
        let runs = [run(2), run(8), run(2)];
        let lab = Lab::new(false, 1, 3);
        let measured = lab.measure("x", &runs).unwrap();
        assert!(Rc::ptr_eq(&measured[0], &measured[2]));
        assert!(Rc::ptr_eq(&measured[0], &lab.measure("x", &runs[..1]).unwrap()[0]));
        let alone = Lab::new(false, 1, 1).measure("x", &runs).unwrap();
        for (one, other) in measured.iter().zip(&alone) {
            assert_eq!(one.cycles, other.cycles);
        }
    }

    #[test]
    fn a_sweep_repeats_each_run_from_following_seeds() {
        let rows = || vec![("hardware".to_owned(), vec![(2.0, run(2)), (8.0, run(8))])];
        let lab = Lab::new(false, 5, 2);
        let swept = lab.sweep("x", 3, rows()).unwrap();
        assert_eq!(swept[0].cells.len(), 2);
        assert!(swept[0].cells.iter().all(|(_, runs)| runs.len() == 3));
        let curve = swept[0].curve(|m| m.throughput_per_million_cycles);
        assert!((curve.at(8.0).unwrap() - 100_000.0).abs() < 2000.0);
        let command = curve.command.unwrap();
        assert!(command.contains("--processors 8") && command.contains("--seed 5"), "{command}");
        assert_eq!(Lab::new(true, 5, 2).sweep("x", 3, rows()).unwrap()[0].cells[0].1.len(), 1);
    }
}
