//! `throng bench queues`: its arguments, its plan and its run.

use std::time::Duration;

use clap::Args;
use throng_papers::arguments::{chosen, not_allowed, optional};

use super::neighbours::BesideArguments;
use super::{repetitions, threads};
use crate::bench::harness::{self, Files};
use crate::bench::queues::mixes::Mix;
use crate::bench::queues::plan::QueuesPlan;
use crate::bench::queues::rows::{self, REFERENCE, Row};
use crate::error::Error;
use crate::threads::{cores, default_threads};

/// Most threads that can be measured.
pub const MAX_THREADS: usize = 1024;
const MAX_RUN_MS: usize = 60_000;
const MAX_WORK_NS: usize = 1_000_000;
const HINT: &str = "`throng bench queues --help` names all";

/// Arguments of `throng bench queues`.
#[derive(Debug, Default, Args)]
pub struct QueuesArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only these queues, and array-queue, such as queue,flume-bounded [default: all]
    ///
    /// The library's: queue and queue-unbounded (`push` and `pop` of `Queue`), queue-try and
    /// queue-unbounded-try (`try_push` and `try_pop` until they work), channel and channel-unbounded,
    /// pool (unordered), and of the papers rsu (unordered) and job-queue (an array and two
    /// `Counter`s). Others that wait: crossbeam-bounded, crossbeam-unbounded, flume-bounded,
    /// flume-unbounded, kanal-bounded, kanal-unbounded, std-bounded, std-unbounded (one consumer).
    /// Others that are tried until they work: array-queue, seg-queue, crossbeam-deque, concurrent-bounded,
    /// concurrent-unbounded, scq (lfqueue), lprq, faaa, mutex-deque. And nothing: no queue. Bounds
    /// are 1024 items, or 32 a thread.
    #[arg(long, value_name = "LIST")]
    pub methods: Option<String>,

    /// Measure only these mixes [default: all]
    ///
    /// pairs: every thread pushes one item and pops one, in turn. even: half of the threads push, the
    /// others pop. one-producer, one-consumer: one thread pushes or pops, the others pop or push.
    /// bursts: every thread pushes 32 items and then pops 32. large: as pairs, with items of 256
    /// bytes. empty: all threads poll an empty queue.
    ///
    /// With `--neighbours` the mixes are others. ping-pong: one item goes from one thread to another and back.
    /// stream: half of the threads push and work before each item, the others pop. The queues then are queue,
    /// queue-unbounded, pool, crossbeam-bounded and crossbeam-unbounded.
    #[arg(long, value_name = "LIST")]
    pub mixes: Option<String>,

    /// Before each push and each pop, a thread has 0 to this many nanoseconds of something else to do,
    /// at random [default: 0]. With `--neighbours`, this many nanoseconds before each push of a stream
    /// [default: 50000]
    #[arg(long, value_name = "NS", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How often each is measured [default: 5, quick: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds [default: 100, quick: 20]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures queues.
///
/// # Errors
/// When an argument is wrong, a queue fails its check, or a result cannot be written.
pub fn run(typed: &QueuesArguments) -> Result<(), Error> {
    let plan = QueuesPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(&plan, Files::default().json(typed.json.as_ref())?)
}

impl QueuesPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, nothing is left to measure.
    pub fn resolve(typed: &QueuesArguments) -> Result<Self, Error> {
        let threads = threads(
            typed.threads.as_deref(),
            1..=MAX_THREADS,
            default_threads(cores(), MAX_THREADS),
        )?;
        let all = rows::all();
        let known: Vec<&str> = all.iter().map(|row| row.name).collect();
        let names = chosen("--methods", typed.methods.as_deref(), "queue", &known, HINT)?;
        let is_wanted = |row: &Row| row.name == REFERENCE || names.contains(&row.name);
        let rows = all.iter().copied().filter(is_wanted).collect();
        let known = Mix::ALL.map(Mix::name);
        let names = chosen("--mixes", typed.mixes.as_deref(), "mix", &known, HINT)?;
        let mixes: Vec<Mix> =
            Mix::ALL.into_iter().filter(|mix| names.contains(&mix.name())).collect();
        check_threads(&mixes, &threads)?;
        let (usual_repetitions, usual_ms) = if typed.quick { (3, 20) } else { (5, 100) };
        let repetitions = repetitions(typed.repetitions.as_deref(), usual_repetitions)?;
        let ms = optional("--duration", typed.duration.as_deref(), 1..=MAX_RUN_MS)?;
        let work_ns =
            optional("--work", typed.work.as_deref(), 0..=MAX_WORK_NS)?.unwrap_or(0) as u32;
        let time = Duration::from_millis(ms.unwrap_or(usual_ms) as u64);
        Ok(QueuesPlan { rows, mixes, threads, repetitions, time, work_ns })
    }
}

/// Refuses a mix with fewer threads than it needs, since its table would be empty.
fn check_threads(mixes: &[Mix], threads: &[usize]) -> Result<(), Error> {
    let most = threads.iter().max().copied().unwrap_or(0);
    match mixes.iter().find(|mix| mix.least_threads() > most) {
        Some(mix) if mixes.iter().all(|mix| mix.least_threads() > most) => Err(not_allowed(
            "--threads",
            most.to_string(),
            format!("at least {} for the mix {}", mix.least_threads(), mix.name()),
        )
        .into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(methods: &str, mixes: &str, threads: &str) -> QueuesArguments {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        QueuesArguments {
            methods: some(methods),
            mixes: some(mixes),
            threads: some(threads),
            ..QueuesArguments::default()
        }
    }

    #[test]
    fn the_reference_comes_first_and_rows_once() {
        let plan = QueuesPlan::resolve(&typed("queue,flume-bounded,queue", "", "2")).unwrap();
        let names: Vec<&str> = plan.rows.iter().map(|row| row.name).collect();
        assert_eq!(names, [REFERENCE, "queue", "flume-bounded"]);
        assert_eq!(plan.mixes, Mix::ALL);
        let all = QueuesPlan::resolve(&QueuesArguments::default()).unwrap();
        assert_eq!(all.rows.len(), rows::all().len());
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let plan = QueuesPlan::resolve(&typed("queue", "pairs, even", "1,2")).unwrap();
        assert_eq!(plan.mixes, [Mix::Pairs, Mix::Even]);
        assert_eq!(plan.round().count(), 2 * (2 + 1), "rows, and one place less for even");
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        for (arguments, expected) in [
            (
                typed("flum-bounded", "", ""),
                "--methods flum-bounded: no such queue; did you mean flume-bounded or \
                 flume-unbounded or std-bounded? (`throng bench queues --help` names all)",
            ),
            (
                typed("", "pears", ""),
                "--mixes pears: no such mix; did you mean pairs? (`throng bench queues --help` names \
                 all)",
            ),
            (typed("", "even", "1"), "--threads 1: must be at least 2 for the mix even"),
            (
                QueuesArguments { work: Some("2000000".to_owned()), ..typed("", "", "") },
                "--work 2000000: must be a whole number from 0 to 1000000",
            ),
        ] {
            assert_eq!(QueuesPlan::resolve(&arguments).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn the_help_names_every_row_and_mix() {
        use clap::CommandFactory;
        let mut command = crate::commands::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let queues = bench.find_subcommand_mut("queues").unwrap();
        let help = queues.render_long_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        let rows = rows::all();
        for name in rows.iter().map(|row| row.name).chain(Mix::ALL.map(Mix::name)) {
            assert!(words.contains(&name), "{name} is not in: {help}");
        }
    }
}
