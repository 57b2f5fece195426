//! `throng bench`: what to use on this machine, and whether it is worth it.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | the arguments, resolved and checked |
//! | `needs` | what somebody may need, and all that can be measured for it |
//! | `run` | all runs, in turns |
//! | `stop` | Ctrl-C |
//! | `verdict`, `advice` | what to use, and that in plain words |
//! | [`document`] | what was found, as data |
//! | [`read`] | the same, read back from its file |
//! | `text` | the same for a terminal; [`page`] is for a browser |
//! | [`table`] | the table of a survey as Markdown |

mod advice;
mod day;
pub mod document;
pub(crate) mod needs;
mod plan;
pub mod read;
mod run;
#[cfg(test)]
pub(crate) mod sample;
pub(crate) mod stop;
pub mod table;
mod text;
pub(crate) mod verdict;

use std::time::Instant;

use throng::topology::Topology;

use crate::bench::setup::{Pinning, Setup};
use crate::calibrate::{self, Calibration, Validation};
use crate::cli::SurveyArguments;
use crate::csv::csv;
use crate::error::Error;
use crate::{output, page};
use document::{Layout, Need, Pace, Survey};
use needs::Bench;
use plan::SurveyPlan;
use stop::Stop;

/// Measures this machine and says what to use on it.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn survey(typed: &SurveyArguments) -> Result<(), Error> {
    let plan = SurveyPlan::resolve(typed)?;
    let survey = look(&plan)?;
    publish(plan, &survey)
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

/// Some of what was measured, simulated on a machine that is made from the calibration alone; and what that
/// machine would do with more cores.
fn simulated(calibration: &Calibration, needs: &[Need]) -> Result<Validation, Error> {
    let progress = output::progress_bar(0);
    progress.set_message("simulating the same");
    let asked = calibrate::ask(needs, crate::plan::cores());
    let rows = calibrate::validate(calibration, &asked, &progress)?;
    progress.reset();
    progress.set_message("simulating more cores");
    let prospects = calibrate::prospects(calibration, &progress)?;
    progress.finish_and_clear();
    Ok(Validation { rows, prospects })
}

/// What the JSON of a survey calls itself.
pub(crate) const BENCHMARK: &str = "survey";

/// Who shares a cache with whom here.
fn layout(pinning: &Pinning) -> Layout {
    let here = Topology::here();
    let mut cores = pinning.cores();
    cores.sort_by_key(|&core| here.place(core));
    Layout { processors: here.processors(), groups: here.groups().to_vec(), cores }
}

/// Prints the text, and writes the files. Where the JSON goes to standard output, the text goes to standard
/// error.
fn publish(plan: SurveyPlan, survey: &Survey) -> Result<(), Error> {
    let mut text = text::text(survey);
    plan.html.write(&page::html(survey, &plan.figures))?;
    text.push_str(&format!("\nThe page with all of it: {}\n", plan.html.path.display()));
    if let Some(file) = &plan.csv {
        file.write(&numbers(survey))?;
    }
    match plan.json {
        Some(target) if target.is_stdout() => {
            output::say(&text);
            target.write(survey)
        }
        Some(target) => {
            target.write(survey)?;
            output::print(&text)
        }
        None => output::print(&text),
    }
}

/// Every single run as CSV.
fn numbers(survey: &Survey) -> String {
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
