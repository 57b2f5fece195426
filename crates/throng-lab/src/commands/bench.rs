//! `throng bench`: this machine, need by need, and what to use on it.

use std::path::Path;
use std::time::Instant;

use clap::Args;
use throng::topology::Topology;
use throng_papers::arguments::{chosen, not_allowed, optional};
use throng_papers::csv::csv;
use throng_papers::output::{self, JsonTarget, OutputFile};

use super::threads;
use crate::bench::setup::{Pinning, Setup};
use crate::calibrate::{self, Calibration, Validation};
use crate::error::Error;
use crate::page::{self, Figure};
use crate::stop::Stop;
use crate::survey::document::{Layout, Need, Pace, Survey};
use crate::survey::needs::{self, Asked, Bench};
use crate::survey::plan::SurveyPlan;
use crate::survey::{BENCHMARK, advice, day, run, text};
use crate::threads::{cores, default_threads};
use crate::validate;

/// Most threads that can be measured.
const MAX_THREADS: usize = 1024;
const MAX_REPETITIONS: usize = 1000;
/// The default file of the page.
const PAGE: &str = "throng-report.html";
/// The default folder of `throng figures`.
const FIGURES: &str = "figures";

/// Arguments of `throng bench`.
#[derive(Clone, Debug, Default, Args)]
pub struct SurveyArguments {
    /// Fewer and shorter runs: under 30 seconds on 2 cores
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// Longer and more runs, as long as they take: 6 minutes on 2 cores
    #[arg(long)]
    pub full: bool,

    /// Only these needs: numbers, meeting, exchange, handover, jobs, loop [default: all]
    #[arg(long, value_name = "LIST")]
    pub needs: Option<String>,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How often each is measured [default: 3 to 7 times, as the time allows; quick: 3 to 5; full: 11]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Where the page goes [default: throng-report.html]
    #[arg(long, value_name = "FILE")]
    pub html: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<std::path::PathBuf>,

    /// Show the figures of the papers of this folder on the page [default: figures, where it is there]
    #[arg(long, value_name = "DIR")]
    pub figures: Option<std::path::PathBuf>,
}

/// The resolved arguments of `throng bench`.
struct Plan {
    survey: SurveyPlan,
    figures: Vec<Figure>,
    /// Already open.
    json: Option<JsonTarget>,
    csv: Option<OutputFile>,
    html: OutputFile,
}

/// Measures this machine and recommends structures for it.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn run(typed: &SurveyArguments) -> Result<(), Error> {
    let plan = Plan::resolve(typed)?;
    let survey = look(&plan.survey)?;
    publish(plan, &survey)
}

impl Plan {
    /// Resolves what was typed.
    fn resolve(typed: &SurveyArguments) -> Result<Self, Error> {
        let pace = match (typed.quick, typed.full) {
            (true, _) => Pace::Quick,
            (false, true) => Pace::Full,
            (false, false) => Pace::Usual,
        };
        let needs = select(typed.needs.as_deref())?;
        let threads = threads(
            typed.threads.as_deref(),
            1..=MAX_THREADS,
            default_threads(cores(), MAX_THREADS),
        )?;
        check_threads(&needs, &threads)?;
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?;
        let figures = match &typed.figures {
            Some(folder) => page::figures(folder)?,
            // Figures in the default folder are an extra, and nothing is lost without them.
            None => page::figures(Path::new(FIGURES)).unwrap_or_default(),
        };
        // Last, so that only a plan that is otherwise right creates a file.
        let html = OutputFile::open("--html", typed.html.clone().unwrap_or_else(|| PAGE.into()))?;
        let csv = typed.csv.clone().map(|path| OutputFile::open("--csv", path)).transpose()?;
        let json = JsonTarget::open(typed.json.as_ref())?;
        let survey = SurveyPlan { pace, needs, threads, repetitions };
        Ok(Plan { survey, figures, json, csv, html })
    }
}

/// Returns the needs in a typed list, or all where there is no list.
fn select(typed: Option<&str>) -> Result<Vec<Asked>, Error> {
    let mut all = needs::all();
    let known: Vec<&str> = all.iter().map(|need| need.name).collect();
    let wanted = chosen("--needs", typed, "need", &known, "`throng bench --help` names all")?;
    all.retain(|need| wanted.contains(&need.name));
    Ok(all)
}

/// Refuses a need of which nothing can be measured, since its table would be empty.
fn check_threads(needs: &[Asked], threads: &[usize]) -> Result<(), Error> {
    let can = |need: &Asked| {
        need.entrants.iter().any(|entrant| threads.iter().any(|&n| entrant.suits(n)))
    };
    if needs.iter().any(can) {
        return Ok(());
    }
    Err(not_allowed(
        "--threads",
        threads.last().map(ToString::to_string).unwrap_or_default(),
        "at least 2 for these needs",
    )
    .into())
}

/// Measures all of it.
fn look(plan: &SurveyPlan) -> Result<Survey, Error> {
    let start = Instant::now();
    let stop = Stop::listen();
    let mut bench = Bench::new();
    let setup = Setup::look(&bench.pinning);
    let layout = layout(&bench.pinning);
    let calibration = calibrate::measure(&bench.pinning, plan.pace == Pace::Quick);
    let mut measured = run::measure(plan, &mut bench, &stop)?;
    for need in &mut measured.needs {
        need.advice = advice::advise(need);
    }
    let validation = match measured.complete {
        true => Some(simulated(&calibration, &measured.needs)?),
        false => None,
    };
    Ok(Survey {
        throng: env!("CARGO_PKG_VERSION").to_owned(),
        benchmark: BENCHMARK.to_owned(),
        pace: plan.pace,
        complete: measured.complete,
        seconds: start.elapsed().as_secs_f64(),
        date: day::today(),
        setup,
        layout,
        needs: measured.needs,
        calibration: Some(calibration),
        validation,
    })
}

/// Simulates some of the measured workloads on a machine made from the calibration alone, and on
/// that machine with more cores.
fn simulated(calibration: &Calibration, needs: &[Need]) -> Result<Validation, Error> {
    let progress = output::progress_bar(0);
    progress.set_message("simulating the same");
    let asked = validate::ask(needs, cores());
    let rows = validate::validate(calibration, &asked, &progress)?;
    progress.reset();
    progress.set_message("simulating more cores");
    let prospects = validate::prospects(calibration, &progress)?;
    progress.finish_and_clear();
    Ok(Validation { rows, prospects })
}

/// Returns the groups of cores that share a cache or the like.
fn layout(pinning: &Pinning) -> Layout {
    let here = Topology::here();
    let mut cores = pinning.cores();
    cores.sort_by_key(|&core| here.place(core));
    Layout { processors: here.processors(), groups: here.groups().to_vec(), cores }
}

/// Prints the text, and writes the files. If the JSON goes to standard output, the text goes to
/// standard error.
fn publish(plan: Plan, survey: &Survey) -> Result<(), Error> {
    let mut text = text::text(survey);
    plan.html.write(&page::html(survey, &plan.figures))?;
    text.push_str(&format!("\nThe page with all of it: {}\n", plan.html.path.display()));
    if let Some(file) = &plan.csv {
        file.write(&numbers_as_csv(survey))?;
    }
    Ok(output::publish(&text, plan.json, survey)?)
}

/// Every single run as CSV.
fn numbers_as_csv(survey: &Survey) -> String {
    let header = ["need", "entrant", "threads", "repetition", "value", "unit"];
    let mut rows = Vec::new();
    for need in &survey.needs {
        for entrant in &need.entrants {
            for cell in &entrant.cells {
                for (repetition, run) in cell.runs.iter().enumerate() {
                    rows.push(vec![
                        need.name.clone(),
                        entrant.name.clone(),
                        cell.threads.to_string(),
                        repetition.to_string(),
                        run.to_string(),
                        need.unit.in_words().to_owned(),
                    ]);
                }
            }
        }
    }
    csv(&header, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut command = crate::commands::Arguments::command();
        let bench = command.find_subcommand_mut("bench").unwrap();
        let help = bench.render_long_help().to_string();
        for need in needs::all() {
            assert!(help.contains(need.name), "{} is not in: {help}", need.name);
        }
    }
}
