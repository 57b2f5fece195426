//! `throng watch`: a page that shows the default counter at work.

use crate::cli::WatchArguments;
use crate::error::Error;

/// Serves the page until somebody ends it.
///
/// # Errors
/// When an argument is wrong or the address cannot be listened on.
pub fn watch(_typed: &WatchArguments) -> Result<(), Error> {
    Ok(())
}
