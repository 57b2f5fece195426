//! `throng bench barriers`: its arguments, its plan and its run.

use std::time::Duration;

use clap::Args;
use throng_papers::arguments::{check_names, optional};

use super::neighbours::BesideArguments;
use super::{repetitions, threads};
use crate::bench::barriers::plan::{BarriersPlan, Question};
use crate::bench::barriers::rows::{self, REFERENCE, Row};
use crate::bench::harness::{self, Files};
use crate::error::Error;
use crate::threads::threads_that_meet;

/// Most threads that can be measured: the barriers of all runs are kept, so that each has another
/// address.
pub(super) const MAX_THREADS: usize = 1024;
const MAX_RUN_MS: usize = 60_000;
const MAX_ROUNDS: usize = 1_000_000_000;

/// Arguments of `throng bench barriers`.
#[derive(Debug, Default, Args)]
pub struct BarriersArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 2,4,8 [default: powers of two from 2 up to twice the
    /// cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only this barrier, and std; may be repeated [default: all]
    ///
    /// The library's: barrier (`Barrier`), team (`Barrier::team`); its methods as teams: shaped,
    /// grouped, tally, count-and-release, central, combining-tree, dissemination, tournament, mcs-tree,
    /// static-fway (flags packed), static-fway-padded (a line each), dynamic-fway; with
    /// locks or flags in bytes, as in the papers: central-locked, combining-tree-locked, mcs-tree-bytes,
    /// dynamic-fway-bytes, dynamic-fway-all-go-on. Others: std, hurdles, spin. With
    /// `--neighbours` also pthread (always measured, as std), and with `--peers` those of OpenMP as they wait
    /// by default and passively: libgomp, libgomp-passive, libomp, libomp-passive; the default then is std,
    /// pthread, barrier, team, hurdles and all of OpenMP.
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<String>,

    /// Measure what waiting costs instead: one thread comes late, and the others wait for it
    #[arg(long, conflicts_with_all = ["rounds", "neighbours"])]
    pub idle: bool,

    /// How often each barrier is measured on each number of threads [default: 9, quick: 5, idle: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds; with `--idle`, how late the last one comes [default: 40,
    /// quick: 10, idle: 100]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub milliseconds: Option<String>,

    /// Measure this number of rounds a run, however long they take [default: as many as fit into the time]
    #[arg(long, value_name = "N", conflicts_with = "neighbours", allow_negative_numbers = true)]
    pub rounds: Option<String>,

    /// With `--neighbours`: how many nanoseconds each thread works before each round, such as 0,50000
    /// [default: 0]
    #[arg(long, value_name = "LIST", requires = "neighbours", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// With `--neighbours`: also measure the barriers of OpenMP, with the programs in this folder, which
    /// `peers/run build DIR` makes
    #[arg(long, value_name = "DIR", requires = "neighbours")]
    pub peers: Option<std::path::PathBuf>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures barriers.
///
/// # Errors
/// When an argument is wrong, a barrier fails its check, or a result cannot be written.
pub fn run(typed: &BarriersArguments) -> Result<(), Error> {
    let plan = BarriersPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(&plan, Files::default().json(typed.json.as_ref())?)
}

impl BarriersPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown.
    pub fn resolve(typed: &BarriersArguments) -> Result<Self, Error> {
        let threads =
            threads(typed.threads.as_deref(), 1..=MAX_THREADS, threads_that_meet(MAX_THREADS))?;
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
        let repetitions = repetitions(typed.repetitions.as_deref(), usual)?;
        check_shapes(&rows, &threads)?;
        Ok(BarriersPlan { rows, threads, question, repetitions })
    }
}

/// Returns the reference and the rows of these names, or all rows where no name is given.
fn select(names: &[String]) -> Result<Vec<Row>, Error> {
    let all = rows::all();
    let known: Vec<&str> = all.iter().map(|row| row.name).collect();
    check_names("--method", names, "barrier", &known, "`throng bench barriers --help` names all")?;
    let is_chosen = |row: &Row| {
        row.name == REFERENCE || names.is_empty() || names.iter().any(|name| name == row.name)
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

/// Builds every barrier once, so that an impossible one is refused before anything is measured.
fn check_shapes(rows: &[Row], threads: &[usize]) -> Result<(), Error> {
    for row in rows {
        for &threads in threads {
            row.build(threads).map_err(|source| Error::shape(row.name, source))?;
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
    fn no_thread_is_measured_alone_unless_asked_for() {
        let plan = BarriersPlan::resolve(&BarriersArguments::default()).unwrap();
        assert!(plan.threads[0] >= 2);
        assert!(matches!(plan.question, Question::Rounds { rounds: None, .. }));
    }

    #[test]
    fn the_help_names_every_row() {
        use clap::CommandFactory;
        let mut command = crate::commands::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let barriers = bench.find_subcommand_mut("barriers").unwrap();
        let help = barriers.render_long_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        for row in rows::all() {
            assert!(words.contains(&row.name), "{} is not in: {help}", row.name);
        }
    }
}
