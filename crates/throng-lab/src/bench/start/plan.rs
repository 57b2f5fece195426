//! The arguments of `throng bench start`, resolved and checked.

use super::cases::{self, Case};
use crate::bench::json::JsonTarget;
use crate::bench::queues::plan::chosen;
use crate::cli::StartArguments;
use crate::error::Error;
use crate::output::OutputFile;
use crate::plan::optional;

const MAX_REPETITIONS: usize = 100_000;

/// What `throng bench start` will do.
#[derive(Debug)]
pub struct StartPlan {
    /// What is measured.
    pub cases: Vec<Case>,
    /// In how many processes each.
    pub repetitions: usize,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
    /// Where they go as CSV.
    pub(crate) csv: Option<OutputFile>,
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
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        let csv = typed.csv.clone().map(|path| OutputFile::open("--csv", path)).transpose()?;
        Ok(StartPlan { cases, repetitions, json, csv })
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
        let mut command = crate::cli::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let start = bench.find_subcommand_mut("start").unwrap();
        let help = start.render_long_help().to_string();
        let words: Vec<&str> = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).collect();
        for case in cases::all() {
            assert!(words.contains(&case.structure), "{} is not in: {help}", case.structure);
        }
    }
}
