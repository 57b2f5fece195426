//! The arguments of `throng bench`, resolved and checked.

use std::path::Path;
use std::time::Duration;

use super::document::Pace;
use super::needs::{self, Asked};
use crate::bench::json::JsonTarget;
use crate::cli::SurveyArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::output::OutputFile;
use crate::page::{self, Figure};
use crate::plan::{cores, default_threads, numbers, optional};

/// The most threads that can be measured.
const MAX_THREADS: usize = 1024;
const MAX_REPETITIONS: usize = 1000;
/// Where the page goes if nothing else is said.
const PAGE: &str = "throng-report.html";
/// Where `throng figures` puts its figures if nothing else is said.
const FIGURES: &str = "figures";

/// What `throng bench` will do.
pub(super) struct SurveyPlan {
    pub(super) pace: Pace,
    pub(super) needs: Vec<Asked>,
    pub(super) threads: Vec<usize>,
    /// How often each is measured, if that was said.
    pub(super) repetitions: Option<usize>,
    pub(super) figures: Vec<Figure>,
    /// Already open.
    pub(super) json: Option<JsonTarget>,
    pub(super) csv: Option<OutputFile>,
    pub(super) html: OutputFile,
}

impl SurveyPlan {
    /// Resolves what was typed.
    pub(super) fn resolve(typed: &SurveyArguments) -> Result<Self, Error> {
        let pace = match (typed.quick, typed.full) {
            (true, _) => Pace::Quick,
            (false, true) => Pace::Full,
            (false, false) => Pace::Usual,
        };
        let needs = select(typed.needs.as_deref())?;
        let threads = match &typed.threads {
            Some(list) => numbers("--threads", list, 1..=MAX_THREADS)?,
            None => {
                let all = default_threads(cores()).into_iter();
                all.filter(|&threads| threads <= MAX_THREADS).collect()
            }
        };
        check_threads(&needs, &threads)?;
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?;
        let figures = match &typed.figures {
            Some(folder) => page::figures(folder)?,
            // Those that happen to be there are an extra: nothing is lost without them.
            None => page::figures(Path::new(FIGURES)).unwrap_or_default(),
        };
        // Last: only a plan that is right in all else may create a file.
        let html = OutputFile::open("--html", typed.html.clone().unwrap_or_else(|| PAGE.into()))?;
        let csv = typed.csv.clone().map(|path| OutputFile::open("--csv", path)).transpose()?;
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(SurveyPlan { pace, needs, threads, repetitions, figures, json, csv, html })
    }

    /// How long and how often each is measured, of so many runs in a repetition.
    pub(super) fn effort(&self, runs: usize) -> Effort {
        let usual = Effort::of(self.pace, runs);
        match self.repetitions {
            None => usual,
            Some(wanted) => Effort { least_repetitions: wanted, most_repetitions: wanted, ..usual },
        }
    }

    /// What is measured on how many threads, once in each repetition: numbers of a need and of one of its
    /// entrants.
    pub(super) fn round(&self) -> Vec<(usize, usize, usize)> {
        let mut places = Vec::new();
        for (need, asked) in self.needs.iter().enumerate() {
            for &threads in &self.threads {
                for (entrant, candidate) in asked.entrants.iter().enumerate() {
                    if candidate.suits(threads) {
                        places.push((need, entrant, threads));
                    }
                }
            }
        }
        places
    }
}

/// How long and how often each is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// No more repetitions than these.
    pub(super) most_repetitions: usize,
    /// And no fewer, however long they take, unless somebody ends it.
    pub(super) least_repetitions: usize,
    /// No repetition is begun that would probably not be over by then.
    pub(super) budget: Duration,
    /// Of one run, without warming up.
    pub(super) run: Duration,
}

impl Effort {
    /// For so many runs in a repetition.
    pub(super) fn of(pace: Pace, runs: usize) -> Self {
        // Warming up, starting threads, checking.
        const ASIDE_MS: u64 = 12;
        let (least, most, budget, run_ms) = match pace {
            Pace::Quick => (3, 5, 20, 5..=20),
            Pace::Usual => (3, 7, 140, 15..=80),
            Pace::Full => (11, 11, u64::MAX / 2000, 100..=100),
        };
        let usual_repetitions = (least + most) / 2;
        let a_run = budget.saturating_mul(1000) / (runs.max(1) * usual_repetitions) as u64;
        let ms = (a_run.saturating_sub(ASIDE_MS) * 4 / 5).clamp(*run_ms.start(), *run_ms.end());
        Effort {
            most_repetitions: most,
            least_repetitions: least,
            budget: Duration::from_secs(budget),
            run: Duration::from_millis(ms),
        }
    }
}

/// The needs in a list that was typed; all where there is no list.
fn select(typed: Option<&str>) -> Result<Vec<Asked>, Error> {
    let mut all = needs::all();
    let Some(list) = typed else { return Ok(all) };
    let known: Vec<&str> = all.iter().map(|need| need.name).collect();
    let mut wanted = Vec::new();
    for name in list.split(',').map(str::trim) {
        if !known.contains(&name) {
            return Err(Error::UnknownName {
                option: "--needs",
                name: name.to_owned(),
                kind: "need",
                suggestions: suggestions(name, known.iter().copied()),
                hint: "`throng bench --help` names all",
            });
        }
        wanted.push(name.to_owned());
    }
    all.retain(|need| wanted.iter().any(|name| name == need.name));
    Ok(all)
}

/// A need of which nothing can be measured would leave an empty table.
fn check_threads(needs: &[Asked], threads: &[usize]) -> Result<(), Error> {
    let can = |need: &Asked| {
        need.entrants.iter().any(|entrant| threads.iter().any(|&n| entrant.suits(n)))
    };
    if needs.iter().any(can) {
        return Ok(());
    }
    Err(Error::Value {
        option: "--threads",
        value: threads.last().map(ToString::to_string).unwrap_or_default(),
        allowed: "at least 2 for these needs".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_fit_their_budgets() {
        for (pace, seconds) in [(Pace::Quick, 20), (Pace::Usual, 140)] {
            for runs in [10, 100, 250, 600] {
                let effort = Effort::of(pace, runs);
                assert_eq!(effort.budget.as_secs(), seconds);
                let least = effort.run * (effort.least_repetitions * runs) as u32;
                // Where even the shortest runs are too many, the budget is exceeded.
                assert!(least < effort.budget || runs == 600, "{pace:?}, {runs}: {least:?}");
            }
        }
        let full = Effort::of(Pace::Full, 600);
        assert_eq!((full.least_repetitions, full.run.as_millis()), (11, 100));
    }

    #[test]
    fn needs_are_chosen_by_name() {
        let names =
            |typed| -> Vec<&str> { select(typed).unwrap().iter().map(|need| need.name).collect() };
        assert_eq!(names(Some("jobs, numbers")), ["numbers", "jobs"]);
        assert_eq!(names(None).len(), needs::all().len());
        let Err(error) = select(Some("number")) else { panic!("there is no such need") };
        assert_eq!(
            error.to_string(),
            "--needs number: no such need; did you mean numbers? (`throng bench --help` names all)"
        );
    }

    #[test]
    fn the_help_names_every_need() {
        use clap::CommandFactory;
        let mut command = crate::cli::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let help = bench.render_long_help().to_string();
        for need in needs::all() {
            assert!(help.contains(need.name), "{} is not in: {help}", need.name);
        }
    }
}
