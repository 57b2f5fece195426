//! `throng compare`: what got faster or slower between two surveys.

use crate::cli::CompareArguments;
use crate::error::Error;

/// Compares two surveys.
///
/// # Errors
/// When something got slower, or a file is none of a survey.
pub fn compare(_typed: &CompareArguments) -> Result<(), Error> {
    Ok(())
}
