//! What is measured, and how.

use super::cases::Case;

/// The resolved arguments of `throng bench start`.
#[derive(Debug)]
pub struct StartPlan {
    /// The cases.
    pub cases: Vec<Case>,
    /// Number of processes for each case.
    pub repetitions: usize,
}
