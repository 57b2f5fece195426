//! What is measured, and how.

use super::plate::Steps;

/// The resolved arguments of `throng bench heat`.
#[derive(Debug)]
pub struct HeatPlan {
    /// Numbers of threads: ascending, each once.
    pub threads: Vec<usize>,
    /// Cells on a side: ascending, each once.
    pub sizes: Vec<usize>,
    /// Steps of a run, if typed.
    pub(crate) steps: Option<usize>,
    pub(crate) quick: bool,
    /// Number of repetitions of each run.
    pub repetitions: usize,
}

impl HeatPlan {
    /// Returns the steps of a run on a plate of this size. Their product with the cells is about
    /// the same for every size.
    pub fn steps(&self, size: usize) -> Steps {
        let usual = ((1 << 28) / (size * size)).clamp(256, 4096);
        let measured = self.steps.unwrap_or(if self.quick { usual / 4 } else { usual });
        Steps { warm_up: measured.div_ceil(8), measured }
    }
}
