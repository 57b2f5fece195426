//! `throng bench heat`: its arguments, its plan and its run.

use clap::Args;
use throng_papers::arguments::{numbers, optional};

use super::{repetitions, threads};
use crate::bench::harness::{self, Files};
use crate::bench::heat::plan::HeatPlan;
use crate::bench::heat::plate::LEAST_SIZE;
use crate::error::Error;
use crate::threads::threads_that_meet;

const MAX_SIZE: usize = 16_384;
const MAX_STEPS: usize = 10_000_000;

/// Arguments of `throng bench heat`.
#[derive(Debug, Default, Args)]
pub struct HeatArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 2,4,8 [default: powers of two from 2 up to twice the
    /// cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How many cells the plates have on a side [default: 64,256,1024]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub sizes: Option<String>,

    /// How many steps a run has [default: by the size, 256 to 4096; quick: a quarter]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<String>,

    /// How often each is measured [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures heat.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn run(typed: &HeatArguments) -> Result<(), Error> {
    let plan = HeatPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(&plan, Files::default().json(typed.json.as_ref())?)
}

impl HeatPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a plate has too few rows.
    pub fn resolve(typed: &HeatArguments) -> Result<Self, Error> {
        let sizes = match &typed.sizes {
            Some(list) => numbers("--sizes", list, LEAST_SIZE..=MAX_SIZE)?,
            None => vec![64, 256, 1024],
        };
        // A band has a row at least.
        let most_threads = sizes.first().map_or(1, |least| least - 2);
        let threads =
            threads(typed.threads.as_deref(), 1..=most_threads, threads_that_meet(most_threads))?;
        let steps = optional("--steps", typed.steps.as_deref(), 1..=MAX_STEPS)?;
        let repetitions =
            repetitions(typed.repetitions.as_deref(), if typed.quick { 5 } else { 9 })?;
        Ok(HeatPlan { threads, sizes, steps, quick: typed.quick, repetitions })
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
