//! `throng bench`: what to use on this machine, and whether it is worth it.
//!
//! | module | what it does |
//! |---|---|
//! | [`document`] | what was found, as data |
//! | [`read`] | the same, read back from its file |
//! | [`table`] | the table of a survey as Markdown |

pub mod document;
pub mod read;
pub mod table;

use crate::cli::SurveyArguments;
use crate::error::Error;

/// Measures this machine and says what to use on it.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn survey(_typed: &SurveyArguments) -> Result<(), Error> {
    Ok(())
}
