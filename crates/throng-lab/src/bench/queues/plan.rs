//! The arguments of `throng bench queues`, resolved and checked.

use std::time::Duration;

use super::mixes::Mix;
use super::rows::{self, REFERENCE, Row};
use crate::bench::json::JsonTarget;
use crate::cli::QueuesArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::plan::{cores, default_threads, numbers, optional};

/// The most threads that can be measured.
pub const MAX_THREADS: usize = 1024;
const MAX_REPETITIONS: usize = 1000;
const MAX_RUN_MS: usize = 60_000;
const MAX_WORK_NS: usize = 1_000_000;
const HINT: &str = "`throng bench queues --help` names all";

/// What `throng bench queues` will do.
#[derive(Debug)]
pub struct QueuesPlan {
    /// What is measured; the first one is the reference.
    pub rows: Vec<Row>,
    /// In which mixes.
    pub mixes: Vec<Mix>,
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// How often each queue is measured in each mix on each number of threads.
    pub repetitions: usize,
    /// How long one run is measured.
    pub time: Duration,
    /// Before each push and each pop a thread has 0 to so many nanoseconds of something else to do.
    pub work_ns: u32,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
}

impl QueuesPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, nothing is left to measure or the file not writable.
    pub fn resolve(typed: &QueuesArguments) -> Result<Self, Error> {
        let threads = match &typed.threads {
            Some(list) => numbers("--threads", list, 1..=MAX_THREADS)?,
            None => {
                let all = default_threads(cores()).into_iter();
                all.filter(|&threads| threads <= MAX_THREADS).collect()
            }
        };
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
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(usual_repetitions);
        let ms = optional("--duration", typed.duration.as_deref(), 1..=MAX_RUN_MS)?;
        let work_ns =
            optional("--work", typed.work.as_deref(), 0..=MAX_WORK_NS)?.unwrap_or(0) as u32;
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        let time = Duration::from_millis(ms.unwrap_or(usual_ms) as u64);
        Ok(QueuesPlan { rows, mixes, threads, repetitions, time, work_ns, json })
    }

    /// What is measured in which mix on how many threads, once in each repetition.
    pub fn round(&self) -> impl Iterator<Item = (Mix, usize, &Row)> {
        let places = self.mixes.iter().flat_map(|&mix| self.threads.iter().map(move |&n| (mix, n)));
        let all =
            places.flat_map(|(mix, threads)| self.rows.iter().map(move |row| (mix, threads, row)));
        all.filter(|(mix, threads, row)| row.suits(*mix, *threads))
    }
}

/// The names in a list that was typed; all that are known where there is no list.
pub(in crate::bench) fn chosen<'a>(
    option: &'static str,
    typed: Option<&str>,
    kind: &'static str,
    known: &[&'a str],
    hint: &'static str,
) -> Result<Vec<&'a str>, Error> {
    let Some(list) = typed else { return Ok(known.to_vec()) };
    let find = |name: &str| {
        known.iter().copied().find(|&other| other == name).ok_or_else(|| Error::UnknownName {
            option,
            name: name.to_owned(),
            kind,
            suggestions: suggestions(name, known.iter().copied()),
            hint,
        })
    };
    list.split(',').map(|name| find(name.trim())).collect()
}

/// A mix that needs two threads and gets one would leave an empty table.
fn check_threads(mixes: &[Mix], threads: &[usize]) -> Result<(), Error> {
    let most = threads.iter().max().copied().unwrap_or(0);
    match mixes.iter().find(|mix| mix.least_threads() > most) {
        Some(mix) if mixes.iter().all(|mix| mix.least_threads() > most) => Err(Error::Value {
            option: "--threads",
            value: most.to_string(),
            allowed: format!("at least {} for the mix {}", mix.least_threads(), mix.name()),
        }),
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
        let mut command = crate::cli::Arguments::command();
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
