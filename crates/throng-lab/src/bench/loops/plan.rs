//! What is measured, and how.

use std::time::Duration;

use super::work::{Shape, Size};

/// The resolved arguments of `throng bench loop`.
#[derive(Debug)]
pub struct LoopPlan {
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// Which indices take long.
    pub shapes: Vec<Shape>,
    /// Numbers of indices, and their times.
    pub sizes: Vec<Size>,
    /// The time between two loops.
    pub gap: Duration,
    pub(crate) quick: bool,
    /// Number of repetitions of each run.
    pub repetitions: usize,
}

impl LoopPlan {
    /// What is shared out.
    pub fn loads(&self) -> impl Iterator<Item = (Shape, Size)> {
        self.sizes.iter().flat_map(|&size| self.shapes.iter().map(move |&shape| (shape, size)))
    }

    /// Returns the number of loops of this size in a run: some ten milliseconds of them.
    pub fn loops(&self, size: Size) -> usize {
        let time = if self.quick { 10_000 } else { 40_000 };
        (time / (size.microseconds + self.gap.as_micros() as usize).max(1)).clamp(3, 1000)
    }
}
