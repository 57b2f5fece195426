//! `throng bench everyday`: its arguments, its plan and its run.

use std::time::Duration;

use clap::Args;
use throng_papers::arguments::{chosen, numbers, optional};
use throng_papers::output;

use super::repetitions;
use crate::bench::everyday::beside::Beside;
use crate::bench::everyday::cases::{self, Case, Threads};
use crate::bench::everyday::contenders::{self, Contender};
use crate::bench::everyday::plan::EverydayPlan;
use crate::bench::everyday::report;
use crate::bench::everyday::select;
use crate::bench::harness::{self, Files};
use crate::bench::queues::deque;
use crate::error::Error;
use crate::threads::cores;

/// Most threads that can be measured.
const MAX_THREADS: usize = deque::MOST_THREADS;
const MAX_RUN_MS: usize = 10_000;
/// 2 097 151 jobs.
const MAX_DEPTH: usize = 20;

/// Arguments of `throng bench everyday`.
#[derive(Debug, Default, Args)]
pub struct EverydayArguments {
    /// Fewer and shorter runs: about a minute on 2 cores
    #[arg(long)]
    pub quick: bool,

    /// Measure only these cases: names, groups, or patterns such as open-1:*,burst-2,tree [default: all]
    ///
    /// The groups: single (one thread: burst-K, fill-K, full-pop-push, create-16, create-unbounded, push-pop, backlog-NM),
    /// bytes (empty, small, large), stream (one producer and one consumer), open (Poisson arrivals:
    /// open-PRODUCERS:CONSUMERS-RATE), pairs (untimed, or with 0, 100, 1000 ns of work before each call),
    /// pipeline, tree (20, 200, 2000 ns of work in each job).
    #[arg(long, value_name = "LIST")]
    pub only: Option<String>,

    /// Name all cases and everything that is measured, and stop
    #[arg(long)]
    pub list: bool,

    /// Measure only these queues and pools, such as queue,array-queue [default: all]
    #[arg(long, value_name = "LIST")]
    pub methods: Option<String>,

    /// Numbers of threads, such as 2,8; may be above the cores. Open loops and pipelines have at most the
    /// largest of them [default: 1,2,4,8,16 as far as there are cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How often each is measured [default: 5, quick: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds; an eighth of it for one thread, more for rare arrivals [default: 40,
    /// quick: 20]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Levels below the root of a tree of jobs [default: 18, fewer where that would take long]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub depth: Option<String>,

    /// Put the numbers of this file beside: what `peers/everyday` has measured with queues of C++
    #[arg(long, value_name = "FILE")]
    pub beside: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<std::path::PathBuf>,

    /// Write everyday.txt, everyday.json and everyday.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,
}

/// Measures everyday loads; with `--list`, names all cases and contenders.
///
/// # Errors
/// When an argument is wrong, a contender fails its check, or a result cannot be written.
pub fn run(typed: &EverydayArguments) -> Result<(), Error> {
    if typed.list {
        return Ok(output::print(&report::list(&all_cases(typed)?, &contenders::all()))?);
    }
    let plan = EverydayPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    let files = Files::default().folder(typed.out.as_ref())?.csv(typed.csv.as_ref())?;
    harness::run(&plan, files.json(typed.json.as_ref())?)
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
        let repetitions = repetitions(typed.repetitions.as_deref(), usual_repetitions)?;
        let ms = optional("--duration", typed.duration.as_deref(), 1..=MAX_RUN_MS)?;
        let depth = optional("--depth", typed.depth.as_deref(), 1..=MAX_DEPTH)?;
        let beside = typed.beside.as_deref().map(Beside::read).transpose()?;
        Ok(EverydayPlan {
            cases,
            contenders,
            beside,
            repetitions,
            time: Duration::from_millis(ms.unwrap_or(usual_ms) as u64),
            depth: depth.map(|depth| depth as u32),
        })
    }
}

/// Returns all cases for the typed numbers of threads, or for this machine.
fn all_cases(typed: &EverydayArguments) -> Result<Vec<Case>, Error> {
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
