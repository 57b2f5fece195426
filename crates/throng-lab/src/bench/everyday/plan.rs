//! The arguments of `throng bench everyday`, resolved and checked.

use std::path::PathBuf;
use std::time::Duration;

use super::beside::Beside;
use super::cases::{self, Case, Threads};
use super::contenders::{self, Contender, Kind};
use super::groups::Group;
use super::{deque, select};
use crate::bench::json::JsonTarget;
use crate::bench::queues::plan::chosen;
use crate::bench::window::Times;
use crate::cli::EverydayArguments;
use crate::error::Error;
use crate::output::{self, OutputFile};
use crate::plan::{cores, numbers, optional};

/// The most threads that can be measured.
const MAX_THREADS: usize = deque::MOST_THREADS;
const MAX_REPETITIONS: usize = 1000;
const MAX_RUN_MS: usize = 10_000;
/// 2 097 151 jobs.
const MAX_DEPTH: usize = 20;

/// What `throng bench everyday` will do.
#[derive(Debug)]
pub struct EverydayPlan {
    /// The cases.
    pub cases: Vec<Case>,
    /// What is measured in them.
    pub contenders: Vec<Contender>,
    /// Numbers of other programs, to stand beside.
    pub beside: Option<Beside>,
    /// How often each contender is measured in each case.
    pub repetitions: usize,
    /// How long one run is measured.
    pub time: Duration,
    /// How deep trees of jobs are; [`None`]: as deep as the time allows.
    pub depth: Option<u32>,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
    /// The same as CSV.
    pub(super) csv: Option<OutputFile>,
    /// A folder for the table and all numbers.
    pub out: Option<PathBuf>,
}

/// A row of the summary: a contender, or one that another program has measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// What it promises.
    pub kind: Kind,
    /// Whether it is of this library.
    pub is_ours: bool,
}

impl Row {
    /// The row of a contender.
    #[must_use]
    pub fn of(contender: &Contender) -> Self {
        let Contender { name, kind, is_ours, .. } = *contender;
        Row { name: name.to_owned(), kind, is_ours }
    }
}

impl EverydayPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, a file not readable or an output not writable.
    pub fn resolve(typed: &EverydayArguments) -> Result<Self, Error> {
        let cases = select::only(all_cases(typed)?, typed.only.as_deref())?;
        let all = contenders::all();
        let known: Vec<&str> = all.iter().map(|contender| contender.name).collect();
        let hint = "`throng bench everyday --list` names all";
        let names = chosen("--methods", typed.methods.as_deref(), "queue", &known, hint)?;
        let contenders: Vec<Contender> =
            all.into_iter().filter(|contender| names.contains(&contender.name)).collect();
        let (usual_repetitions, usual_ms) = if typed.quick { (3, 20) } else { (5, 40) };
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(usual_repetitions);
        let ms = optional("--duration", typed.duration.as_deref(), 1..=MAX_RUN_MS)?;
        let depth = optional("--depth", typed.depth.as_deref(), 1..=MAX_DEPTH)?;
        let beside = typed.beside.as_deref().map(Beside::read).transpose()?;
        // Last: only a plan that is right in all else may create a file.
        if let Some(folder) = &typed.out {
            output::make_folder(folder)?;
        }
        let csv = typed.csv.clone().map(|path| OutputFile::open("--csv", path)).transpose()?;
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(EverydayPlan {
            cases,
            contenders,
            beside,
            repetitions,
            time: Duration::from_millis(ms.unwrap_or(usual_ms) as u64),
            depth: depth.map(|depth| depth as u32),
            json,
            csv,
            out: typed.out.clone(),
        })
    }

    /// Returns what is measured, once in each repetition: all contenders of a case in turn.
    pub fn round(&self) -> impl Iterator<Item = (&Case, &Contender)> {
        let all = |case| self.contenders.iter().map(move |contender| (case, contender));
        self.cases.iter().flat_map(all).filter(|(case, contender)| contender.suits(case))
    }

    /// Returns the rows of the summary.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let beside = self.beside.iter().flat_map(|beside| beside.rows.iter().cloned());
        self.contenders.iter().map(Row::of).chain(beside).collect()
    }

    /// Returns how long a run of this case is measured.
    #[must_use]
    pub fn times(&self, case: &Case) -> Times {
        match case.group {
            // Nothing disturbs one thread but the machine: short runs are enough.
            Group::Single => Times { warm_up: Duration::ZERO, measure: self.time / 8 },
            _ => Times { warm_up: self.time / 4, measure: self.time },
        }
    }
}

/// Returns all cases for the threads that were typed, or for this machine.
pub(super) fn all_cases(typed: &EverydayArguments) -> Result<Vec<Case>, Error> {
    let threads = match &typed.threads {
        Some(list) => Threads::exactly(numbers("--threads", list, 1..=MAX_THREADS)?),
        None => Threads::for_cores(cores()),
    };
    Ok(cases::all(&threads))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(only: &str, methods: &str, threads: &str) -> EverydayArguments {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        EverydayArguments {
            only: some(only),
            methods: some(methods),
            threads: some(threads),
            ..EverydayArguments::default()
        }
    }

    #[test]
    fn cases_and_contenders_that_do_not_suit_are_left_out() {
        let plan = EverydayPlan::resolve(&typed("pairs-0", "queue,std-bounded", "1,2")).unwrap();
        let places: Vec<(usize, &str)> =
            plan.round().map(|(case, contender)| (case.threads, contender.name)).collect();
        assert_eq!(places, [(1, "queue"), (1, "std-bounded"), (2, "queue")]);
        assert_eq!(plan.rows().len(), 2);
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        let depth = EverydayArguments { depth: Some("99".to_owned()), ..typed("", "", "") };
        for (arguments, expected) in [
            (
                typed("", "", "0"),
                "--threads 0: must be whole numbers from 1 to 256, separated by commas",
            ),
            (
                typed("", "poll", ""),
                "--methods poll: no such queue; did you mean pool? (`throng bench everyday --list` \
                 names all)",
            ),
            (depth, "--depth 99: must be a whole number from 1 to 20"),
        ] {
            assert_eq!(EverydayPlan::resolve(&arguments).unwrap_err().to_string(), expected);
        }
    }
}
