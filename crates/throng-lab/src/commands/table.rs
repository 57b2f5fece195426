//! `throng table`: the table of a survey as Markdown.

use clap::Args;
use throng_papers::output;

use crate::error::Error;
use crate::survey::read::read;
use crate::table::{Form, into};

/// Arguments of `throng table`.
#[derive(Debug, Args)]
pub struct TableArguments {
    /// What `throng bench --json` has written
    #[arg(value_name = "REPORT.json")]
    pub report: std::path::PathBuf,

    /// A row for each need, with what is gained, instead of a table for each
    #[arg(long)]
    pub short: bool,

    /// Put it into this file instead, between the lines `<!-- table: REPORT.json -->`, or `<!-- short table:
    /// REPORT.json -->`, with the path as seen from the file, and `<!-- end of table -->`
    #[arg(long, value_name = "FILE", conflicts_with = "short")]
    pub into: Option<std::path::PathBuf>,
}

/// Prints the table of a survey, or puts it into a file.
///
/// # Errors
/// When the file is none of a survey, the other file has no place for it, or something cannot be written.
pub fn run(typed: &TableArguments) -> Result<(), Error> {
    match &typed.into {
        Some(file) => into::replace(&typed.report, file),
        None => {
            let form = if typed.short { Form::Short } else { Form::Whole };
            Ok(output::print(&form.of(&read(&typed.report)?))?)
        }
    }
}
