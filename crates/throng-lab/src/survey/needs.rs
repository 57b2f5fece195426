//! The needs of programs, and the entrants that are measured for each.

use std::time::Duration;

use throng::machine::Native;
use throng::structures::counter::{Registered, methods};

use super::document::{Unit, Whose};
use crate::bench::barriers::plan::Question;
use crate::bench::barriers::rows::{self as barrier_rows, Parties, Row as BarrierRow};
use crate::bench::barriers::{self, Found};
use crate::bench::counters;
use crate::bench::counters::run::{Memory, Plan as Crew};
use crate::bench::latency::Latency;
use crate::bench::loops::ways::Way;
use crate::bench::loops::work::Size;
use crate::bench::loops::work::{Load, Shape as LoopShape, units_a_microsecond};
use crate::bench::pace::Pace;
use crate::bench::queues::mixes::Mix;
use crate::bench::queues::rows::{self as queue_rows, Row as QueueRow};
use crate::bench::setup::Pinning;
use crate::bench::window::Times;
use crate::bench::{Origin, loops, queues};
use crate::error::Error;
use crate::{peers, threads};

/// A need, before anything is measured.
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) workload: &'static str,
    pub(crate) unit: Unit,
    pub(crate) usual: &'static str,
    pub(crate) entrants: Vec<Candidate>,
}

/// An entrant that can be measured for a need.
pub(crate) struct Candidate {
    pub(crate) name: &'static str,
    pub(crate) code: String,
    pub(crate) whose: Whose,
    kind: Measurable,
}

/// The benchmark that measures an entrant.
enum Measurable {
    Counter(Registered<Native>),
    Barrier(BarrierRow),
    Queue(QueueRow, Mix),
    Loop(Way),
}

/// State shared by the runs of a survey.
pub(crate) struct Bench {
    pub(crate) pinning: Pinning,
    /// For the values of a counter; made when first needed.
    memory: Option<Memory>,
    /// The work of loops; made when first needed.
    load: Option<Load>,
    /// Memory of earlier structures, kept so that the next one gets another address: the distance
    /// of a line from the cores depends on it.
    ballast: Vec<Vec<crate::bench::Line>>,
    kept: Vec<Parties>,
}

/// The size of the loop.
const LOOP: Size = Size { indices: 1000, microseconds: 1000 };

impl Bench {
    pub(crate) fn new() -> Self {
        let pinning = Pinning::find();
        Bench { pinning, memory: None, load: None, ballast: Vec::new(), kept: Vec::new() }
    }
}

impl Candidate {
    fn new(name: &'static str, code: impl Into<String>, whose: Whose, kind: Measurable) -> Self {
        Candidate { name, code: code.into(), whose, kind }
    }

    /// Returns whether this entrant can be measured on `threads` threads.
    pub(crate) fn suits(&self, threads: usize) -> bool {
        match &self.kind {
            Measurable::Counter(_) | Measurable::Loop(_) => true,
            Measurable::Barrier(row) => threads > 1 && row.suits(threads, threads::cores()),
            Measurable::Queue(row, mix) => row.suits(*mix, threads),
        }
    }

    /// Makes one checked run, and returns a number in the unit of the need.
    pub(crate) fn measure(
        &self,
        bench: &mut Bench,
        threads: usize,
        time: Duration,
    ) -> Result<f64, Error> {
        let times = Times { warm_up: time / 4, measure: time };
        match &self.kind {
            Measurable::Counter(method) => {
                let memory = bench.memory.get_or_insert_with(Memory::touched);
                let crew = Crew { threads, times, pace: Pace::InARow };
                let shape = throng::structures::counter::Shape::for_processors(threads);
                let (found, layout) =
                    counters::measure(method, &shape, crew, memory, &bench.pinning)?;
                let lines = layout.size().div_ceil(size_of::<crate::bench::Line>());
                bench.ballast.push(Vec::with_capacity(lines));
                let values: u64 = found.per_thread.iter().sum();
                Ok(values as f64 / found.seconds.max(1e-9) / 1e6)
            }
            Measurable::Barrier(row) => {
                let question = Question::Rounds { time, rounds: None };
                let (found, parties) = barriers::measure(row, threads, question, &bench.pinning)?;
                bench.kept.push(parties);
                match found {
                    Found::Rounds { ns_a_round, .. } => Ok(ns_a_round),
                    Found::Idle { .. } => unreachable!("rounds were asked for"),
                }
            }
            Measurable::Queue(row, mix) => {
                let found = queues::measure(row, *mix, threads, times, 0, &bench.pinning)?;
                bench.ballast.push(Vec::with_capacity(1 + bench.ballast.len() % 7));
                Ok(found.items as f64 / found.seconds.max(1e-9) / 1e6)
            }
            Measurable::Loop(way) => {
                let load = bench.load.get_or_insert_with(|| {
                    Load::new(LoopShape::Skewed, LOOP, units_a_microsecond())
                });
                let loops = (time.as_micros() as usize / LOOP.microseconds).max(3);
                loops::measure(*way, threads, load, loops, Duration::ZERO)
            }
        }
    }
}

impl Candidate {
    /// Returns whether it holds a limited number of items; `None` if it is no queue.
    pub(crate) fn bounded(&self) -> Option<bool> {
        match &self.kind {
            Measurable::Queue(row, _) => Some(row.bounded),
            Measurable::Counter(_) | Measurable::Barrier(_) | Measurable::Loop(_) => None,
        }
    }

    /// Makes one short run that samples the latency of calls, apart from those that measure the
    /// throughput. Returns [`None`] for entrants other than queues.
    pub(crate) fn latency(
        &self,
        bench: &mut Bench,
        threads: usize,
        time: Duration,
    ) -> Result<Option<Latency>, Error> {
        let Measurable::Queue(row, mix) = &self.kind else { return Ok(None) };
        let times = Times { warm_up: Duration::ZERO, measure: time / LATENCY_SHARE };
        queues::latency(row, *mix, threads, times, &bench.pinning)
    }
}

/// Ratio of the time of a throughput run to that of a latency run.
const LATENCY_SHARE: u32 = 4;

/// Returns all needs.
pub(crate) fn all() -> Vec<Asked> {
    vec![numbers(), meeting(), exchange(), handover(), jobs(), loops()]
}

/// Returns the entrant of this name for the need of that name.
pub(crate) fn find<'a>(needs: &'a [Asked], need: &str, entrant: &str) -> Option<&'a Candidate> {
    let need = needs.iter().find(|asked| asked.name == need)?;
    need.entrants.iter().find(|candidate| candidate.name == entrant)
}

fn numbers() -> Asked {
    let mut entrants = vec![Candidate::new(
        peers::reference().about.name,
        "AtomicU64::fetch_add",
        Whose::Peer,
        Measurable::Counter(peers::reference()),
    )];
    entrants.extend(methods::<Native>().into_iter().map(|method| {
        let name = method.about.name;
        let (whose, code) = match name {
            "counter" => (Whose::Ours, "throng::Counter".to_owned()),
            _ => (Whose::Method, format!("throng::structures::counter, {name}")),
        };
        Candidate::new(name, code, whose, Measurable::Counter(method))
    }));
    Asked {
        name: "numbers",
        title: "Numbers that no other thread gets",
        workload: "Every thread takes numbers from one shared counter, one after the other, as fast as it \
                   can: ids, sequence numbers, tickets. Each of 0, 1, 2, ... must come exactly once.",
        unit: Unit::MillionPerSecond,
        usual: "fetch_add",
        entrants,
    }
}

fn meeting() -> Asked {
    let entrants = barrier_rows::all().into_iter().map(|row| {
        let whose = whose(row.origin);
        Candidate::new(row.name, row.code.clone(), whose, Measurable::Barrier(row))
    });
    Asked {
        name: "meeting",
        title: "Threads that wait for each other",
        workload: "All threads meet, round after round, with nothing in between: the steps of a \
                   simulation. No thread may leave a round before all have entered it.",
        unit: Unit::NanosecondsARound,
        usual: barrier_rows::REFERENCE,
        entrants: entrants.collect(),
    }
}

fn exchange() -> Asked {
    Asked {
        name: "exchange",
        title: "A queue that all threads put into and take from, in order",
        workload: "Every thread pushes an item and pops one, in turn, as fast as it can. What one thread \
                   has pushed must come out in its order, each item once.",
        unit: Unit::MillionPerSecond,
        usual: queue_rows::REFERENCE,
        entrants: queues_for(Mix::Pairs, |row| row.in_order),
    }
}

fn handover() -> Asked {
    Asked {
        name: "handover",
        title: "Producers on one side, consumers on the other, in order",
        workload: "Half of the threads push, the others pop, as fast as they can. What one thread has \
                   pushed must come out in its order, each item once.",
        unit: Unit::MillionPerSecond,
        usual: "crossbeam-bounded",
        entrants: queues_for(Mix::Even, |row| row.in_order),
    }
}

fn jobs() -> Asked {
    // The `try` forms are no other choice here than the queue itself.
    let is_wanted = |row: &QueueRow| !row.bounded && row.origin != Origin::OursTried;
    Asked {
        name: "jobs",
        title: "Jobs in any order",
        workload: "Every thread puts a job in and takes one out, in turn, as fast as it can: jobs that \
                   make jobs. Each job must come out once, in whatever order.",
        unit: Unit::MillionPerSecond,
        usual: "seg-queue",
        entrants: queues_for(Mix::Pairs, is_wanted),
    }
}

fn loops() -> Asked {
    let entrants = Way::ALL.into_iter().map(|way| {
        let (whose, code) = match way {
            Way::ForEachIndex => (Whose::Ours, "throng::for_each_index"),
            Way::Indices => (Whose::Method, "throng::loops::Indices"),
            Way::Rayon => (Whose::Peer, "rayon, into_par_iter"),
            Way::RayonSingle => (Whose::Peer, "rayon, with_max_len(1)"),
            Way::Static => (Whose::Peer, "std::thread::scope, equal parts"),
            Way::FetchAdd => (Whose::Peer, "std::thread::scope, fetch_add"),
        };
        Candidate::new(way.name(), code, whose, Measurable::Loop(way))
    });
    Asked {
        name: "loop",
        title: "A loop shared out among threads",
        workload: "A thousand iterations that take a millisecond together on one thread; a few take up to \
                   a hundred times as long as most. Every index must be done once. (These threads are not \
                   pinned.)",
        unit: Unit::MicrosecondsALoop,
        usual: Way::Rayon.name(),
        entrants: entrants.collect(),
    }
}

/// Returns the queues that are wanted, in a mix.
fn queues_for(mix: Mix, is_wanted: impl Fn(&QueueRow) -> bool) -> Vec<Candidate> {
    let rows = queue_rows::all().into_iter().filter(|row| row.origin != Origin::Nothing);
    rows.filter(is_wanted)
        .map(|row| {
            let whose = whose(row.origin);
            Candidate::new(row.name, row.code, whose, Measurable::Queue(row, mix))
        })
        .collect()
}

fn whose(origin: Origin) -> Whose {
    match origin {
        Origin::Ours => Whose::Ours,
        Origin::OursTried | Origin::Method => Whose::Method,
        Origin::Peer | Origin::Nothing => Whose::Peer,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_need_has_its_usual_and_one_of_ours_and_each_name_once() {
        for need in all() {
            let names: HashSet<&str> = need.entrants.iter().map(|entrant| entrant.name).collect();
            assert_eq!(names.len(), need.entrants.len(), "{}", need.name);
            assert!(names.contains(need.usual), "{}", need.name);
            let whose = |whose| need.entrants.iter().filter(|e| e.whose == whose).count();
            assert!(whose(Whose::Ours) >= 1 && whose(Whose::Peer) >= 1, "{}", need.name);
        }
    }

    #[test]
    fn every_queue_can_be_written_down() {
        for row in queue_rows::all() {
            let is_path = row.code.contains([':', '<']);
            assert!(is_path || row.origin == Origin::Nothing, "{}", row.name);
        }
    }

    #[test]
    fn every_kind_can_be_measured() {
        let mut bench = Bench::new();
        let short = Duration::from_millis(100);
        for need in all() {
            let usual = need.entrants.iter().find(|entrant| entrant.name == need.usual).unwrap();
            assert!(usual.suits(2));
            let found = usual.measure(&mut bench, 2, short).unwrap();
            assert!(found > 0.0 && found.is_finite(), "{}: {found}", need.name);
        }
    }
}
