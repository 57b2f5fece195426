//! `throng table`: the table of a survey as Markdown.

use crate::cli::TableArguments;
use crate::error::Error;

/// Prints the table of a survey.
///
/// # Errors
/// When the file is none of a survey, or standard output cannot be written.
pub fn print(_typed: &TableArguments) -> Result<(), Error> {
    Ok(())
}
