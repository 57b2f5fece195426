//! The page of a survey: one file that needs no other.

use crate::cli::PageArguments;
use crate::error::Error;
use crate::survey::document::Survey;

/// A figure of a paper that is shown on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, such as `DT96-8`.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The picture.
    pub svg: String,
    /// What the paper claims and whether it holds, a line each.
    pub claims: Vec<String>,
}

/// The page.
#[must_use]
pub fn html(_survey: &Survey, _figures: &[Figure]) -> String {
    String::new()
}

/// The figures of a folder that `throng figures` has filled.
///
/// # Errors
/// When there is no such folder, or it cannot be read.
pub fn figures(_folder: &std::path::Path) -> Result<Vec<Figure>, Error> {
    Ok(Vec::new())
}

/// Does `throng page`.
///
/// # Errors
/// When the file is none of a survey, or the page cannot be written.
pub fn make(_typed: &PageArguments) -> Result<(), Error> {
    Ok(())
}
