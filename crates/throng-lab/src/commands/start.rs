//! `throng bench start`: its arguments, its plan and its run.

use std::path::PathBuf;

use clap::Args;
use throng_papers::arguments::{chosen, optional};

use crate::bench::harness::{self, Files};
use crate::bench::start::cases;
use crate::bench::start::plan::StartPlan;
use crate::error::Error;

const MAX_REPETITIONS: usize = 100_000;

/// Arguments of `throng bench start`.
#[derive(Debug, Default, Args)]
pub struct StartArguments {
    /// Fewer processes
    #[arg(long)]
    pub quick: bool,

    /// Measure only these structures [default: all]
    ///
    /// barrier-2 and barrier-16 (a barrier for that many threads), queue-bounded (16 items), queue-unbounded,
    /// counter, pool.
    #[arg(long, value_name = "LIST")]
    pub only: Option<String>,

    /// In how many processes each is measured [default: 200, quick: 40]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
}

/// Measures first uses.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn run(typed: &StartArguments) -> Result<(), Error> {
    let plan = StartPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    let files = Files::default().json(typed.json.as_ref())?.csv(typed.csv.as_ref())?;
    harness::run(&plan, files)
}

impl StartPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown or a file not writable.
    pub fn resolve(typed: &StartArguments) -> Result<Self, Error> {
        const HINT: &str = "`throng bench start --help` names all";
        let mut cases = cases::all();
        let mut known: Vec<&str> = cases.iter().map(|case| case.structure).collect();
        known.dedup();
        let names = chosen("--only", typed.only.as_deref(), "structure", &known, HINT)?;
        cases.retain(|case| names.contains(&case.structure));
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(if typed.quick { 40 } else { 200 });
        Ok(StartPlan { cases, repetitions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_chosen_by_name() {
        let typed = |only: &str| StartArguments {
            only: Some(only.to_owned()),
            quick: true,
            ..StartArguments::default()
        };
        let plan = StartPlan::resolve(&typed("counter,pool")).unwrap();
        assert_eq!((plan.cases.len(), plan.repetitions), (2 + 3, 40));
        assert_eq!(
            StartPlan::resolve(&typed("barrier-3")).unwrap_err().to_string(),
            "--only barrier-3: no such structure; did you mean barrier-2 or barrier-16? (`throng bench \
             start --help` names all)"
        );
    }

    #[test]
    fn the_help_names_every_structure() {
        use clap::CommandFactory;
        let mut command = crate::commands::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let start = bench.find_subcommand_mut("start").unwrap();
        let help = start.render_long_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        for case in cases::all() {
            assert!(words.contains(&case.structure), "{} is not in: {help}", case.structure);
        }
    }
}
