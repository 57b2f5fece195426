//! What is measured, and how.

use throng_papers::output::JsonTarget;
use throng_papers::output::OutputFile;

use super::cases::Case;

/// The resolved arguments of `throng bench start`.
#[derive(Debug)]
pub struct StartPlan {
    /// The cases.
    pub cases: Vec<Case>,
    /// Number of processes for each case.
    pub repetitions: usize,
    /// Where single runs are written as JSON; already open.
    pub json: Option<JsonTarget>,
    /// Where single runs are written as CSV.
    pub(crate) csv: Option<OutputFile>,
}
