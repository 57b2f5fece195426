//! The arguments of `throng bench heat`, resolved and checked.

use super::plate::{LEAST_SIZE, Steps};
use crate::bench::barriers::plan::threads_that_meet;
use crate::bench::json::JsonTarget;
use crate::cli::HeatArguments;
use crate::error::Error;
use crate::plan::{numbers, optional};

const MAX_SIZE: usize = 16_384;
const MAX_STEPS: usize = 10_000_000;
const MAX_REPETITIONS: usize = 1000;

/// What `throng bench heat` will do.
#[derive(Debug)]
pub struct HeatPlan {
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// Cells on a side: ascending, each once.
    pub sizes: Vec<usize>,
    /// Steps of a run, where that was said.
    steps: Option<usize>,
    quick: bool,
    /// How often each is measured.
    pub repetitions: usize,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
}

impl HeatPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a plate has too few rows or the file is not writable.
    pub fn resolve(typed: &HeatArguments) -> Result<Self, Error> {
        let sizes = match &typed.sizes {
            Some(list) => numbers("--sizes", list, LEAST_SIZE..=MAX_SIZE)?,
            None => vec![64, 256, 1024],
        };
        // A band has a row at least.
        let most_threads = sizes.first().map_or(1, |least| least - 2);
        let threads = match &typed.threads {
            Some(list) => numbers("--threads", list, 1..=most_threads)?,
            None => threads_that_meet().into_iter().filter(|&n| n <= most_threads).collect(),
        };
        let steps = optional("--steps", typed.steps.as_deref(), 1..=MAX_STEPS)?;
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(if typed.quick { 5 } else { 9 });
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(HeatPlan { threads, sizes, steps, quick: typed.quick, repetitions, json })
    }

    /// The steps of a run on a plate of this size: about as many cells whatever the size.
    #[must_use]
    pub fn steps(&self, size: usize) -> Steps {
        let usual = ((1 << 28) / (size * size)).clamp(256, 4096);
        let measured = self.steps.unwrap_or(if self.quick { usual / 4 } else { usual });
        Steps { warm_up: measured.div_ceil(8), measured }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_plates_have_no_row_for_many_threads() {
        let typed = HeatArguments {
            sizes: Some("16,8".to_owned()),
            threads: Some("7".to_owned()),
            ..HeatArguments::default()
        };
        assert_eq!(
            HeatPlan::resolve(&typed).unwrap_err().to_string(),
            "--threads 7: must be whole numbers from 1 to 6, separated by commas"
        );
    }

    #[test]
    fn larger_plates_have_fewer_steps() {
        let plan = HeatPlan::resolve(&HeatArguments::default()).unwrap();
        let steps = plan.sizes.iter().map(|&size| plan.steps(size).measured);
        assert_eq!(steps.collect::<Vec<_>>(), [4096, 4096, 256]);
    }
}
