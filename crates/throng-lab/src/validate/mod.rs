//! Runs the same workloads on the simulated machine and on the real one, and compares the results.
//!
//! The machine is made from the calibration alone, from single accesses and one flag, without
//! knowledge of the workloads. So the results may be wrong, and this measures by how much.
//!
//! | need | measured | simulated |
//! |---|---|---|
//! | `numbers` | threads take values in a row | the same; [`CountingRun`] without work |
//! | `meeting` | threads meet, round after round | the same; [`BarrierRun`] without work |
//! | `exchange` | each thread pushes an item and pops one, in turn | the same; [`JobsRun`] in turns, jobs without work |
//!
//! Left out are more threads than cores, because the simulator has no operating system, and
//! structures of other libraries. `fetch_add` stays, since this library has the same.

pub(crate) mod check;
pub(crate) mod ranks;

use indicatif::ProgressBar;
use throng::structures::pool::{Pool, PoolShape, Queue, QueueShape};
use throng_papers::workloads::barrier::{BarrierChoice, BarrierRun, BarrierTuning};
use throng_papers::workloads::jobs::{JobsRun, PoolChoice, Workload};
use throng_papers::workloads::parallel::parallel;
use throng_papers::workloads::{CounterChoice, CountingRun};
use throng_sim::MachineSpec;

use crate::calibrate::{Calibration, Compared, Prospect};
use crate::error::Error;
use crate::survey::document::Need;

pub use ranks::{Ranked, rank};

/// A measured result.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The need, by its name: `numbers`, `meeting`, `exchange` or `jobs`.
    pub need: String,
    /// The entrant, as the tables of `throng bench` call it.
    pub entrant: String,
    /// Number of threads.
    pub threads: usize,
    /// Measured, in the unit of the need.
    pub measured: f64,
}

/// The entrants worth simulating: the defaults, the usual ones, and some methods of the papers.
const WORTHWHILE: [(&str, &[&str]); 4] = [
    ("numbers", &["fetch_add", "counter", "locked-mcs", "combining-tree", "diffracting", "funnel"]),
    ("meeting", &["barrier", "team", "central", "dissemination", "tournament", "mcs-tree"]),
    ("exchange", &["queue", "queue-unbounded"]),
    ("jobs", &["pool"]),
];

/// Returns the results of a survey that are worth simulating: the defaults, the usual ones and some
/// methods, with at most one thread for each core.
#[must_use]
pub fn ask(needs: &[Need], cores: usize) -> Vec<Asked> {
    ask_for(needs, cores, |names, entrant| names.contains(&entrant))
}

/// Entrants that are simulated as another one is.
const TWINS: [&str; 3] = ["hardware", "barrier", "shaped"];

/// Returns all results of a survey that may have a twin in the simulator, each method once, with at
/// most one thread for each core.
#[must_use]
pub fn ask_all(needs: &[Need], cores: usize) -> Vec<Asked> {
    ask_for(needs, cores, |_, entrant| !TWINS.contains(&entrant))
}

/// Returns the results of the entrants for which `chosen` returns true; it gets the names of those
/// that are worth simulating for the need, and the name of one.
fn ask_for(needs: &[Need], cores: usize, chosen: impl Fn(&[&str], &str) -> bool) -> Vec<Asked> {
    let mut asked = Vec::new();
    for need in needs {
        let Some((_, names)) = WORTHWHILE.iter().find(|(name, _)| *name == need.name) else {
            continue;
        };
        let entrants = need.entrants.iter().filter(|entrant| chosen(names, &entrant.name));
        for (entrant, cell) in entrants.flat_map(|e| e.cells.iter().map(move |cell| (e, cell))) {
            let least = if need.name == "meeting" { 2 } else { 1 };
            if (least..=cores).contains(&cell.threads) && cell.median > 0.0 {
                asked.push(Asked {
                    need: need.name.clone(),
                    entrant: entrant.name.clone(),
                    threads: cell.threads,
                    measured: cell.median,
                });
            }
        }
    }
    asked
}

/// Simulates the measured workloads on the machine made from the calibration. Entrants that cannot
/// be simulated are left out.
///
/// # Errors
/// When a structure fails on the simulated machine.
///
/// ```
/// use indicatif::ProgressBar;
/// use throng_lab::calibrate::Calibration;
/// use throng_lab::validate::{Asked, validate};
///
/// let two = Calibration {
///     cores: vec![0, 1],
///     transfer_ns: vec![vec![0.0, 40.0], vec![40.0, 0.0]],
///     ..Calibration::default()
/// };
/// let asked = |entrant: &str| Asked {
///     need: "numbers".into(),
///     entrant: entrant.into(),
///     threads: 2,
///     measured: 50.0,
/// };
/// let rows = validate(&two, &[asked("fetch_add"), asked("abacus")], &ProgressBar::hidden())?;
/// assert_eq!(rows.len(), 1);
/// assert!(rows[0].factor() > 0.0);
/// # Ok::<(), throng_lab::error::Error>(())
/// ```
pub fn validate(
    calibration: &Calibration,
    asked: &[Asked],
    progress: &ProgressBar,
) -> Result<Vec<Compared>, Error> {
    let cores = calibration.cores.len().max(1);
    let possible: Vec<&Asked> =
        asked.iter().filter(|asked| asked.threads >= 1 && asked.threads <= cores).collect();
    progress.set_length(possible.len() as u64);
    let simulated = parallel(&possible, crate::threads::cores(), progress, |asked| {
        let machine = calibration.spec_for_threads(asked.threads);
        Run { machine, processors: asked.threads }.simulate(&asked.need, &asked.entrant)
    });
    let mut rows = Vec::new();
    for (asked, simulated) in possible.into_iter().zip(simulated) {
        if let Some(simulated) = simulated? {
            rows.push(Compared {
                need: asked.need.clone(),
                entrant: asked.entrant.clone(),
                threads: asked.threads,
                measured: asked.measured,
                simulated,
            });
        }
    }
    Ok(rows)
}

/// Multiples of the number of cores that are simulated.
const MULTIPLES: [usize; 3] = [2, 4, 8];
/// Most processors simulated: more take too long, and hardly any machine has them.
const MOST_PROCESSORS: usize = 1024;

/// The defaults and the usual entrants, where the library has those too.
const PROSPECTS: [(&str, &str); 6] = [
    ("numbers", "fetch_add"),
    ("numbers", "counter"),
    ("meeting", "central"),
    ("meeting", "barrier"),
    ("exchange", "queue"),
    ("jobs", "pool"),
];

/// Simulates the machine with 2, 4 and 8 times its cores. There are more groups like those
/// measured, as far from each other as the farthest of those. Without groups, all cores are as near
/// as those measured.
///
/// # Errors
/// When a structure fails on the simulated machine.
pub fn prospects(
    calibration: &Calibration,
    progress: &ProgressBar,
) -> Result<Vec<Prospect>, Error> {
    let cores = calibration.cores.len().max(1);
    let sizes = MULTIPLES.map(|times| cores * times);
    let sizes = sizes.into_iter().filter(|&size| size <= MOST_PROCESSORS);
    let jobs: Vec<(&str, &str, usize)> =
        sizes.flat_map(|size| PROSPECTS.map(|(need, entrant)| (need, entrant, size))).collect();
    progress.set_length(jobs.len() as u64);
    let simulated =
        parallel(&jobs, crate::threads::cores(), progress, |&(need, entrant, processors)| {
            let machine = calibration.spec(processors);
            Run { machine, processors }.simulate(need, entrant)
        });
    let mut prospects = Vec::new();
    for ((need, entrant, processors), simulated) in jobs.into_iter().zip(simulated) {
        if let Some(simulated) = simulated? {
            let (need, entrant) = (need.to_owned(), entrant.to_owned());
            prospects.push(Prospect { need, entrant, processors, simulated });
        }
    }
    Ok(prospects)
}

/// One simulated run.
struct Run {
    machine: MachineSpec,
    processors: usize,
}

/// Values of warm-up for a counter that adapts, and measured values.
const ADAPTING: u64 = 30_000;
const VALUES: u64 = 10_000;
/// Values of warm-up for a counter that does not adapt: every processor has touched its lines.
const WARMING: u64 = 1000;

/// Measured items for each processor; and bounds of the number of all.
const ITEMS: u64 = 1000;
const LEAST_ITEMS: u64 = 4000;
const MOST_ITEMS: u64 = 20_000;
/// Times that the queue's capacity is filled before. By then all its lines have been used, and come
/// from other caches and not from memory.
const FILLED: u64 = 4;

/// Capacity of the bounded queue, as measured: the larger of this number and that for each thread.
const ROOM: usize = 1024;
const ROOM_A_THREAD: usize = 32;

impl Run {
    /// Returns a number in the unit of the need, or `None` where the simulator has no such
    /// structure.
    fn simulate(&self, need: &str, entrant: &str) -> Result<Option<f64>, Error> {
        match need {
            "numbers" => self.numbers(entrant),
            "meeting" => self.meeting(entrant),
            "exchange" | "jobs" => self.exchange(entrant),
            _ => Ok(None),
        }
    }

    /// Returns million values a second.
    fn numbers(&self, entrant: &str) -> Result<Option<f64>, Error> {
        let method = if entrant == "fetch_add" { "hardware" } else { entrant };
        let Some(counter) = CounterChoice::named(method, None) else { return Ok(None) };
        let warm_up = if entrant == "counter" { ADAPTING } else { WARMING };
        let measured = CountingRun {
            processors: self.processors,
            warm_up,
            values: warm_up + VALUES,
            ..CountingRun::new(counter, self.machine.clone())
        }
        .measure()?;
        Ok(Some(self.million_a_second(measured.throughput_per_million_cycles / 1e6)))
    }

    /// Returns nanoseconds a round.
    fn meeting(&self, entrant: &str) -> Result<Option<f64>, Error> {
        let method = if ["barrier", "team"].contains(&entrant) { "shaped" } else { entrant };
        let Some(barrier) = BarrierChoice::named(method, BarrierTuning::default()) else {
            return Ok(None);
        };
        let run = BarrierRun::new(barrier, self.machine.clone());
        let measured = BarrierRun { members: self.processors, ..run }.measure()?;
        Ok(Some(measured.cycles_a_round * 1000.0 / f64::from(self.machine.clock_mhz)))
    }

    /// Returns million items a second.
    fn exchange(&self, entrant: &str) -> Result<Option<f64>, Error> {
        let room = ROOM.max(ROOM_A_THREAD * self.processors);
        let shape = move |method, source| throng_papers::error::Error::Shape { method, source };
        let pool = match entrant {
            "queue" => PoolChoice::custom("queue", move |_| {
                let queue = Queue::on_machine(QueueShape::bounded(room));
                Ok(Box::new(queue.map_err(|source| shape("queue", source))?))
            }),
            "queue-unbounded" => PoolChoice::queue(),
            "pool" => PoolChoice::custom("pool", move |_| {
                let pool = Pool::on_machine(&PoolShape::DEFAULT);
                Ok(Box::new(pool.map_err(|source| shape("pool", source))?))
            }),
            _ => return Ok(None),
        };
        let cycles = |jobs: u64| -> Result<u64, Error> {
            let workload = Workload::InTurns { jobs, work: 0 };
            let run = JobsRun::new(pool.clone(), workload, self.machine.clone());
            Ok(JobsRun { processors: self.processors, ..run }.measure()?.cycles)
        };
        // The longer run begins as the shorter one. Their difference is without the first touch of
        // lines.
        let before = FILLED * room as u64;
        let items = (ITEMS * self.processors as u64).clamp(LEAST_ITEMS, MOST_ITEMS);
        let took = cycles(before + items)?.saturating_sub(cycles(before)?);
        Ok(Some(self.million_a_second(items as f64 / took.max(1) as f64)))
    }

    fn million_a_second(&self, a_cycle: f64) -> f64 {
        a_cycle * f64::from(self.machine.clock_mhz)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::document::{Cell, Entrant, Unit, Whose};

    fn two() -> Calibration {
        Calibration {
            cores: vec![0, 1],
            transfer_ns: vec![vec![0.0, 40.0], vec![40.0, 0.0]],
            ..Calibration::default()
        }
    }

    fn asked(need: &str, entrant: &str, threads: usize) -> Asked {
        Asked { need: need.to_owned(), entrant: entrant.to_owned(), threads, measured: 1.0 }
    }

    #[test]
    fn one_word_is_as_fast_as_a_locked_add_alone_and_as_a_miss_in_company() {
        let rows = validate(
            &two(),
            &[asked("numbers", "fetch_add", 1), asked("numbers", "fetch_add", 2)],
            &ProgressBar::hidden(),
        )
        .unwrap();
        // 18 cycles at 3 GHz, since nothing else was measured.
        assert!((rows[0].simulated - 3000.0 / 18.0).abs() < 0.5, "{rows:?}");
        // A flag takes 120 cycles: 3 + 3 * 33 + 2 * 7 + 4. So a line comes to its next owner in 33 +
        // 7 cycles, and two more additions of 18 follow.
        let expected = 3000.0 / ((40.0 + 2.0 * 18.0) / 3.0);
        assert!((rows[1].simulated / expected - 1.0).abs() < 0.05, "{rows:?}");
    }

    #[test]
    fn everything_worthwhile_can_be_simulated() {
        let all: Vec<Asked> = WORTHWHILE
            .iter()
            .flat_map(|(need, names)| names.iter().map(|name| asked(need, name, 2)))
            .collect();
        let rows = validate(&two(), &all, &ProgressBar::hidden()).unwrap();
        let named = |row: &Compared| (row.need.clone(), row.entrant.clone());
        let expected: Vec<_> = all.iter().map(|a| (a.need.clone(), a.entrant.clone())).collect();
        assert_eq!(rows.iter().map(named).collect::<Vec<_>>(), expected);
        assert!(rows.iter().all(|row| row.simulated > 0.0 && row.simulated.is_finite()));
    }

    #[test]
    fn what_has_no_core_or_no_twin_is_left_out() {
        let all =
            [asked("numbers", "fetch_add", 3), asked("meeting", "std", 2), asked("loop", "x", 1)];
        assert_eq!(validate(&two(), &all, &ProgressBar::hidden()).unwrap(), []);
    }

    #[test]
    fn of_a_survey_the_worthwhile_is_asked_for() {
        let cell = |threads| Cell {
            threads,
            median: 5.0,
            min: 4.0,
            max: 6.0,
            runs: vec![5.0],
            latency: None,
        };
        let entrant = |name: &str| Entrant {
            name: name.to_owned(),
            code: String::new(),
            whose: Whose::Method,
            bounded: None,
            cells: vec![cell(1), cell(2), cell(4)],
        };
        let need = |name: &str, entrants: &[&str]| Need {
            name: name.to_owned(),
            title: String::new(),
            workload: String::new(),
            unit: Unit::MillionPerSecond,
            usual: String::new(),
            entrants: entrants.iter().map(|name| entrant(name)).collect(),
            advice: None,
        };
        let needs = [
            need("numbers", &["counter", "gathering"]),
            need("meeting", &["std", "central"]),
            need("loop", &["rayon"]),
        ];
        let all: Vec<String> = ask_all(&needs, 1).into_iter().map(|asked| asked.entrant).collect();
        assert_eq!(all, ["counter", "gathering"]);
        let chosen: Vec<(String, usize)> =
            ask(&needs, 2).into_iter().map(|asked| (asked.entrant, asked.threads)).collect();
        let expected = [("counter", 1), ("counter", 2), ("central", 2)];
        assert_eq!(chosen, expected.map(|(name, threads)| (name.to_owned(), threads)));
    }

    #[test]
    fn a_barrier_is_shaped_by_the_groups_however_many_there_are() {
        let ns = |one: usize, other: usize| match (one == other, one / 4 == other / 4) {
            (true, _) => 0.0,
            (false, true) => 20.0,
            (false, false) => 90.0,
        };
        let grouped = Calibration {
            cores: (0..8).collect(),
            transfer_ns: (0..8).map(|one| (0..8).map(|other| ns(one, other)).collect()).collect(),
            groups: vec![4],
            ..Calibration::default()
        };
        let meeting = |entrant| {
            let machine = grouped.spec(32);
            Run { machine, processors: 32 }.meeting(entrant).unwrap().unwrap()
        };
        // Each of 32 processors fetches one word, most of them over a distance.
        let (shaped, central) = (meeting("barrier"), meeting("central"));
        assert!(shaped < central / 2.0, "{shaped} against {central}");
    }

    #[test]
    fn there_are_prospects_for_more_cores() {
        let one = Calibration { cores: vec![0], transfer_ns: vec![vec![0.0]], ..two() };
        let found = prospects(&one, &ProgressBar::hidden()).unwrap();
        assert_eq!(found.len(), MULTIPLES.len() * PROSPECTS.len());
        assert!(found.iter().all(|prospect| prospect.simulated > 0.0));
        let most = found.iter().map(|prospect| prospect.processors).max();
        assert_eq!(most, Some(8));
    }
}
