//! The results of a simulation.

use std::fmt;

use throng::machine::Place;

use crate::notes::Notes;
use crate::report::MemoryReport;
use crate::trace::Access;

/// The end of a simulation and all its measurements.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome<S, R> {
    /// The result of the body on each processor; `None` if the processor was halted or did not
    /// finish.
    pub results: Vec<Option<R>>,
    /// How it ended.
    pub end: End,
    /// The processors halted by [`Faults`](crate::Faults), smallest id first.
    pub halted: Vec<usize>,
    /// The time of the last event, in cycles.
    pub cycles: u64,
    /// The number of accesses to shared memory that took effect.
    pub accesses: u64,
    /// The number of steps that were counted towards the [step
    /// limit](crate::Simulation::step_limit).
    pub steps: u64,
    /// A hash of all accesses: time, processor, word, operation and values of each, in the order in
    /// which they were simulated.
    pub trace_hash: u64,
    /// All accesses in the order of time, if [recorded](crate::Simulation::record_trace).
    pub trace: Option<Vec<Access>>,
    /// For each access of `trace`, the time when it was issued. The access has cost the time from then on.
    pub issued: Option<Vec<u64>>,
    /// For each word and cell, in the order of creation, the place of its line.
    pub places: Vec<Place>,
    /// The counts of the memory.
    pub memory: MemoryReport,
    /// The [notes](throng::machine::Cpu::note) of the algorithms.
    pub notes: Notes,
    /// The structure that the setup made.
    pub shared: S,
}

/// How a simulation ended.
///
/// It is displayed as a sentence that says which processor waits for which word:
///
/// ```
/// use std::sync::atomic::Ordering::Acquire;
/// use throng::machine::{Line, Place, Word};
/// use throng_sim::{Sim, Simulation};
///
/// let outcome = Simulation::new().processors(2).run(
///     || Line::word::<Sim>(0, Place::named("flag")),
///     |flag, cpu| flag.wait_while(cpu, Acquire, |v| v == 0),
/// )?;
/// assert_eq!(
///     outcome.end.to_string(),
///     "stuck, 2 processors wait: processor 0 for flag (word 0), processor 1 for flag (word 0)",
/// );
/// # Ok::<(), throng_sim::SimError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Every processor that was not halted has finished.
    Finished,
    /// All processors that have not finished and were not halted wait for words that no processor
    /// will write.
    Stuck {
        /// The waiting processors, smallest id first.
        waiting: Vec<Waiting>,
    },
    /// The step limit was reached first: it was too low, or no processor made progress.
    StepLimit {
        /// The limit.
        limit: u64,
        /// The number of processors that had neither finished nor been halted.
        unfinished: usize,
    },
    /// Simulated time, which has 48 bits, ran out first.
    TimeLimit {
        /// The number of processors that had neither finished nor been halted.
        unfinished: usize,
    },
}

/// A processor that waits for a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The processor.
    pub processor: usize,
    /// The word for which it waits, numbered in the order of creation.
    pub word: u32,
    /// The place of that word.
    pub place: Place,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waiting { processor, word, place } = self;
        write!(f, "processor {processor} for {place} (word {word})")
    }
}

/// The largest number of processors that are listed. More are counted.
const LISTED: usize = 16;

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Finished => f.write_str("finished"),
            End::Stuck { waiting } => {
                let count = waiting.len();
                let wait = if count == 1 { "waits" } else { "wait" };
                write!(f, "stuck, {count} {} {wait}: ", plural(count))?;
                for (i, one) in waiting.iter().take(LISTED).enumerate() {
                    write!(f, "{}{one}", if i == 0 { "" } else { ", " })?;
                }
                if count > LISTED {
                    write!(f, " and {} more", count - LISTED)?;
                }
                Ok(())
            }
            End::TimeLimit { unfinished } => write!(
                f,
                "stopped at the end of simulated time, 2^48 cycles, with {unfinished} {} unfinished",
                plural(*unfinished)
            ),
            End::StepLimit { limit, unfinished } => write!(
                f,
                "stopped at the limit of {limit} steps with {unfinished} {} unfinished",
                plural(*unfinished)
            ),
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "processor" } else { "processors" }
}
