//! The arguments of `throng bench barriers`, resolved and checked.

use std::time::Duration;

use super::rows::{self, REFERENCE, Row};
use crate::bench::json::JsonTarget;
use crate::cli::BarriersArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::plan::{cores, default_threads, numbers, optional};

/// The most threads that can be measured: the barriers of all runs are kept, so that each has
/// another address.
pub const MAX_THREADS: usize = 1024;
const MAX_REPETITIONS: usize = 1000;
const MAX_RUN_MS: usize = 60_000;
const MAX_ROUNDS: usize = 1_000_000_000;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// How long a round takes.
    Rounds {
        /// How long one run is measured.
        time: Duration,
        /// Or how many rounds.
        rounds: Option<u64>,
    },
    /// What it costs to wait for one that is late.
    Idle {
        /// So late.
        late: Duration,
    },
}

/// What `throng bench barriers` will do.
#[derive(Debug)]
pub struct BarriersPlan {
    /// What is measured; the first one is the reference.
    pub rows: Vec<Row>,
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// What is asked.
    pub question: Question,
    /// How often each barrier is measured on each number of threads.
    pub repetitions: usize,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
}

impl BarriersPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown or the file not writable.
    pub fn resolve(typed: &BarriersArguments) -> Result<Self, Error> {
        let threads = match &typed.threads {
            Some(list) => numbers("--threads", list, 1..=MAX_THREADS)?,
            None => threads_that_meet(),
        };
        let rows = select(&typed.methods)?;
        let ms = optional("--milliseconds", typed.milliseconds.as_deref(), 1..=MAX_RUN_MS)?;
        let rounds = optional("--rounds", typed.rounds.as_deref(), 1..=MAX_ROUNDS)?;
        let question = if typed.idle {
            Question::Idle { late: Duration::from_millis(ms.unwrap_or(100) as u64) }
        } else {
            let ms = ms.unwrap_or(if typed.quick { 10 } else { 40 });
            Question::Rounds {
                time: Duration::from_millis(ms as u64),
                rounds: rounds.map(|rounds| rounds as u64),
            }
        };
        let usual = match (typed.idle, typed.quick) {
            (true, _) => 3,
            (false, true) => 5,
            (false, false) => 9,
        };
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(usual);
        check_shapes(&rows, &threads)?;
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(BarriersPlan { rows, threads, question, repetitions, json })
    }

    /// What is measured on how many threads, once in each repetition.
    pub fn round(&self) -> impl Iterator<Item = (&Row, usize)> {
        let cores = cores();
        let all =
            self.threads.iter().flat_map(|&threads| self.rows.iter().map(move |r| (r, threads)));
        all.filter(move |(row, threads)| row.suits(*threads, cores))
    }
}

/// Powers of two up to twice the cores, the cores and twice the cores; from two on, since one never
/// waits.
pub(in crate::bench) fn threads_that_meet() -> Vec<usize> {
    let all = default_threads(cores());
    all.into_iter().filter(|&threads| (2..=MAX_THREADS).contains(&threads)).collect()
}

/// The reference and the rows of these names; all rows where no name is given.
fn select(names: &[String]) -> Result<Vec<Row>, Error> {
    let all = rows::all();
    for name in names {
        if !all.iter().any(|row| row.name == name) {
            return Err(Error::UnknownName {
                option: "--method",
                name: name.clone(),
                kind: "barrier",
                suggestions: suggestions(name, all.iter().map(|row| row.name)),
                hint: "`throng bench barriers --help` names all",
            });
        }
    }
    let is_chosen = |row: &Row| {
        row.name == REFERENCE || names.is_empty() || names.iter().any(|name| name == row.name)
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Builds every barrier once, so that what cannot be built shows before anything is measured.
fn check_shapes(rows: &[Row], threads: &[usize]) -> Result<(), Error> {
    for row in rows {
        for &threads in threads {
            row.build(threads).map_err(|source| Error::Shape { method: row.name, source })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn methods(names: &[&str]) -> BarriersArguments {
        BarriersArguments {
            methods: names.iter().map(|&name| name.to_owned()).collect(),
            ..BarriersArguments::default()
        }
    }

    #[test]
    fn the_reference_comes_first_and_rows_once() {
        let chosen = BarriersPlan::resolve(&methods(&["team", "team", "spin"])).unwrap().rows;
        let names: Vec<&str> = chosen.iter().map(|row| row.name).collect();
        assert_eq!(names, [REFERENCE, "team", "spin"]);
        let all = BarriersPlan::resolve(&methods(&[])).unwrap().rows;
        assert_eq!(all.len(), rows::all().len());
    }

    #[test]
    fn unknown_names_are_answered_with_near_ones() {
        let error = BarriersPlan::resolve(&methods(&["disemination"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--method disemination: no such barrier; did you mean dissemination? \
             (`throng bench barriers --help` names all)"
        );
    }

    #[test]
    fn nobody_is_measured_alone_unless_asked_for() {
        let plan = BarriersPlan::resolve(&BarriersArguments::default()).unwrap();
        assert!(plan.threads[0] >= 2);
        assert!(matches!(plan.question, Question::Rounds { rounds: None, .. }));
    }

    #[test]
    fn the_help_names_every_row() {
        use clap::CommandFactory;
        let mut command = crate::cli::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let barriers = bench.find_subcommand_mut("barriers").unwrap();
        let help = barriers.render_long_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        for row in rows::all() {
            assert!(words.contains(&row.name), "{} is not in: {help}", row.name);
        }
    }
}
