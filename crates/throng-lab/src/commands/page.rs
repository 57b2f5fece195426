//! `throng page`: the page of a survey that was written as JSON.

use std::path::{Path, PathBuf};

use clap::Args;
use throng_papers::arguments::not_allowed;
use throng_papers::output;

use crate::error::Error;
use crate::page::{figures, html};
use crate::survey::read::read;

/// Arguments of `throng page`.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// What `throng bench --json` has written
    #[arg(value_name = "REPORT.json")]
    pub report: std::path::PathBuf,

    /// Where the page goes [default: beside the report, with the ending .html]
    #[arg(long, value_name = "FILE")]
    pub html: Option<std::path::PathBuf>,

    /// Show the figures of the papers of this folder on the page [default: none]
    #[arg(long, value_name = "DIR")]
    pub figures: Option<std::path::PathBuf>,
}

/// Makes the page.
///
/// # Errors
/// When the file is not a survey, or the page cannot be written.
pub fn run(typed: &PageArguments) -> Result<(), Error> {
    let survey = read(&typed.report)?;
    let figures = match &typed.figures {
        Some(folder) => figures(folder)?,
        None => Vec::new(),
    };
    let to = typed.html.clone().unwrap_or_else(|| beside(&typed.report));
    if to == typed.report {
        return Err(not_allowed(
            "--html",
            to.display().to_string(),
            "another file than the report",
        )
        .into());
    }
    output::write_file(&to, &html(&survey, &figures))?;
    Ok(output::print(&format!("{}\n", to.display()))?)
}

/// Returns the path of the page beside its report.
fn beside(report: &Path) -> PathBuf {
    report.with_extension("html")
}
