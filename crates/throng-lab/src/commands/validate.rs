//! `throng validate`: simulated results beside measured ones, and the order of the methods.

use clap::Args;
use serde::Serialize;
use throng_papers::output::{self, JsonTarget};

use crate::bench::setup::Pinning;
use crate::calibrate::measure;
use crate::error::Error;
use crate::survey::read::read;
use crate::validate::{self, Ranked, ask_all, check, ranks};

/// Arguments of `throng validate`.
#[derive(Debug, Args)]
pub struct ValidateArguments {
    /// What `throng bench --json` has written; without it, this machine is measured now
    #[arg(value_name = "REPORT.json")]
    pub report: Option<std::path::PathBuf>,

    /// Write every number to this file as JSON; `-`, or no file, is standard output, and the table then
    /// goes to standard error
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<std::path::PathBuf>,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    /// The machine file that was simulated.
    machine: &'a str,
    places: &'a [Ranked],
}

/// Simulates what a survey has measured, on the machine made from the survey's calibration.
///
/// # Errors
/// When the file is none of a survey, it has no calibration, or a structure fails.
pub fn run(typed: &ValidateArguments) -> Result<(), Error> {
    let survey = match &typed.report {
        Some(report) => Some((report, read(report)?)),
        None => None,
    };
    let json = JsonTarget::open(typed.json.as_ref())?;
    let (calibration, rows) = match survey {
        Some((report, survey)) => {
            let Some(calibration) = survey.calibration else {
                let why =
                    "a survey without times from core to core, from which the machine is made";
                return Err(Error::Report { path: report.clone(), why: why.to_owned() });
            };
            let asked = ask_all(&survey.needs, calibration.cores.len());
            let progress = output::progress_bar(asked.len());
            let rows = validate::validate(&calibration, &asked, &progress)?;
            progress.finish_and_clear();
            (calibration, rows)
        }
        None => {
            let pinning = Pinning::find();
            let calibration = measure(&pinning, false);
            let checked = check::check(&calibration, &pinning, false)?;
            checked.notes.iter().for_each(|note| output::say(note));
            (calibration, checked.validation.rows)
        }
    };
    let places = ranks::rank(&rows);
    let document = Document {
        throng: env!("CARGO_PKG_VERSION"),
        benchmark: "validation",
        machine: &calibration.machine_file(),
        places: &places,
    };
    Ok(output::publish(&ranks::text(&places), json, &document)?)
}
