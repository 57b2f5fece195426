//! Runs simulations for figures, in parallel, and none twice.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use throng_sim::MachineSpec;

use super::curve::{Curve, Point};
use crate::error::Error;
use crate::output;
use crate::workloads::CountingRun;
use crate::workloads::barrier::{BarrierMeasured, BarrierRun};
use crate::workloads::measured::Measured;
use crate::workloads::messages::{Layouts, MessagesMeasured, MessagesRun};
use crate::workloads::parallel::parallel;

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
    done: Done<Measured>,
    done_barriers: Done<BarrierMeasured>,
    done_messages: Done<MessagesMeasured>,
    layouts: Layouts,
}

/// Results of finished runs, keyed by their description.
type Done<M> = RefCell<HashMap<String, Rc<M>>>;

impl Lab {
    /// Returns a laboratory without results.
    #[must_use]
    pub fn new(smoke: bool, seed: u64, threads: usize) -> Self {
        Lab {
            smoke,
            seed,
            threads,
            done: RefCell::default(),
            done_barriers: RefCell::default(),
            done_messages: RefCell::default(),
            layouts: Layouts::default(),
        }
    }

    /// Returns `full`, or `smoke` in a small test.
    pub fn pick<T>(&self, full: T, smoke: T) -> T {
        if self.smoke { smoke } else { full }
    }

    /// Returns the judgement, or `None` in a small test.
    #[must_use]
    pub fn judge(&self, holds: bool) -> Option<bool> {
        self.pick(Some(holds), None)
    }

    /// Returns the machine of DT96 and SS98.
    #[must_use]
    pub fn alewife(&self) -> MachineSpec {
        MachineSpec::preset("alewife").expect("it comes with the simulator")
    }

    /// Returns the preset machine `name`.
    ///
    /// # Panics If there is none of this name.
    #[must_use]
    pub fn preset(&self, name: &str) -> MachineSpec {
        MachineSpec::preset(name).unwrap_or_else(|| panic!("{name} comes with the simulator"))
    }

    /// Measures all runs, each once, and checks them.
    ///
    /// # Errors The error of the first run that failed.
    pub fn measure(&self, figure: &str, runs: &[CountingRun]) -> Result<Vec<Rc<Measured>>, Error> {
        self.measure_new(figure, runs, &self.done, key, CountingRun::measure)
    }

    /// Measures all runs of barriers, each once, and checks them.
    ///
    /// # Errors The error of the first run that failed.
    pub fn measure_barriers(
        &self,
        figure: &str,
        runs: &[BarrierRun],
    ) -> Result<Vec<Rc<BarrierMeasured>>, Error> {
        let key = |run: &BarrierRun| format!("{} {}", run.replay_command(), run.warm_up);
        self.measure_new(figure, runs, &self.done_barriers, key, BarrierRun::measure)
    }

    /// Measures all runs on networks, each once, and checks them.
    ///
    /// # Errors The error of the first run that failed.
    pub fn measure_messages(
        &self,
        figure: &str,
        runs: &[MessagesRun],
    ) -> Result<Vec<Rc<MessagesMeasured>>, Error> {
        let layouts = &self.layouts;
        let measure = |run: &MessagesRun| run.measure_laid_out(layouts);
        self.measure_new(figure, runs, &self.done_messages, MessagesRun::key, measure)
    }

    /// Measures the runs that are not in `done` yet, and returns all results.
    fn measure_new<R: Sync, M: Send>(
        &self,
        figure: &str,
        runs: &[R],
        done: &Done<M>,
        key: impl Fn(&R) -> String,
        measure: impl Fn(&R) -> Result<M, Error> + Sync,
    ) -> Result<Vec<Rc<M>>, Error> {
        let mut new: Vec<(String, &R)> = Vec::new();
        let mut named = HashSet::new();
        for run in runs {
            let key = key(run);
            if !done.borrow().contains_key(&key) && named.insert(key.clone()) {
                new.push((key, run));
            }
        }
        let progress = output::progress_bar(new.len());
        progress.set_message(figure.to_owned());
        let measured = parallel(&new, self.threads, &progress, |(_, run)| measure(run));
        progress.finish_and_clear();
        for ((key, _), measured) in new.into_iter().zip(measured) {
            done.borrow_mut().insert(key, Rc::new(measured?));
        }
        let done = done.borrow();
        Ok(runs.iter().map(|run| Rc::clone(&done[&key(run)])).collect())
    }

    /// Measures each run several times, from consecutive seeds.
    ///
    /// # Errors The error of the first run that failed.
    pub fn sweep(
        &self,
        figure: &str,
        repetitions: u64,
        rows: Vec<(String, Vec<(f64, CountingRun)>)>,
    ) -> Result<Vec<Row>, Error> {
        let seeds = self.seed..self.seed + self.pick(repetitions, 1);
        let with_seeds = |run: &CountingRun| {
            let run = run.clone();
            seeds.clone().map(move |seed| CountingRun { seed, ..run.clone() })
        };
        let replay = |run: CountingRun| run.replay_command();
        let all: Vec<CountingRun> =
            rows.iter().flat_map(|(_, runs)| runs).flat_map(|(_, run)| with_seeds(run)).collect();
        let mut measured = self.measure(figure, &all)?.into_iter();
        let mut cell = |x: f64| (x, measured.by_ref().take(seeds.clone().count()).collect());
        let row = |(name, runs): (String, Vec<(f64, CountingRun)>)| Row {
            name,
            command: runs.last().and_then(|(_, run)| with_seeds(run).next()).map(replay),
            cells: runs.iter().map(|&(x, _)| cell(x)).collect(),
        };
        Ok(rows.into_iter().map(row).collect())
    }
}

/// Returns the key of a run: everything its result depends on.
fn key(run: &CountingRun) -> String {
    format!("{} {} {}", run.replay_command(), run.warm_up, run.stagger_cycles)
}

/// The runs of one curve: for each x, its repetitions.
#[derive(Debug)]
pub struct Row {
    /// The name in the legend.
    pub name: String,
    /// The command that runs the last point, from the first seed.
    pub command: Option<String>,
    /// From left to right.
    pub cells: Vec<(f64, Vec<Rc<Measured>>)>,
}

impl Row {
    /// Returns the curve of `number`, taken from each run.
    #[must_use]
    pub fn curve(&self, number: impl Fn(&Measured) -> f64) -> Curve {
        let point = |(x, runs): &(f64, Vec<Rc<Measured>>)| {
            let repetitions: Vec<f64> = runs.iter().map(|run| number(run)).collect();
            Point::of(*x, &repetitions)
        };
        Curve {
            command: self.command.clone(),
            ..Curve::measured(self.name.clone(), self.cells.iter().map(point).collect())
        }
    }

    /// Describes where processors waited longest in the runs at `x`: the three worst places, and
    /// their shares of all waiting. Lines of one name and index count as one place. Node 1 is the
    /// root.
    #[must_use]
    pub fn hottest(&self, x: f64) -> String {
        let runs = self.cells.iter().filter(|cell| cell.0 == x).flat_map(|cell| &cell.1);
        let mut waited: BTreeMap<String, u64> = BTreeMap::new();
        for (place, traffic) in runs.flat_map(|run| &run.memory.lines) {
            *waited.entry(place.to_string()).or_default() += traffic.waited_cycles;
        }
        let total: u64 = waited.values().sum();
        let mut places: Vec<(String, u64)> = waited.into_iter().collect();
        places.sort_by_key(|&(_, cycles)| std::cmp::Reverse(cycles));
        let share = |(name, cycles): &(String, u64)| {
            format!("{name} {:.0} %", 100.0 * *cycles as f64 / total.max(1) as f64)
        };
        places.iter().take(3).map(share).collect::<Vec<_>>().join(", ")
    }
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
