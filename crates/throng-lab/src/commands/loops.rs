//! `throng bench loop`: its arguments, its plan and its run.

use std::time::Duration;

use clap::Args;
use throng_papers::arguments::{check_names, numbers, optional};

use super::neighbours::BesideArguments;
use super::{repetitions, threads};
use crate::bench::harness::{self, Files};
use crate::bench::loops::plan::LoopPlan;
use crate::bench::loops::work::Shape;
use crate::bench::loops::work::Size;
use crate::error::Error;
use crate::threads::{cores, default_threads};

const MAX_THREADS: usize = 1024;
const MAX_INDICES: usize = 100_000_000;
const MAX_MICROSECONDS: usize = 60_000_000;

/// Arguments of `throng bench loop`.
#[derive(Debug, Default, Args)]
pub struct LoopArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How many indices the loops have [default: 100,10000; with `--neighbours` 1000]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub indices: Option<String>,

    /// How long all indices of a loop take together on one thread [default: 200,5000; with
    /// `--neighbours` 200,2000]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub microseconds: Option<String>,

    /// Measure only loops of this shape; may be repeated [default: all; with `--neighbours` growing]
    ///
    /// skewed: few indices, anywhere, take up to a hundred times as long as most; growing: the later
    /// the longer; mandelbrot: as rows of a picture of the Mandelbrot set.
    #[arg(long = "shape", value_name = "NAME")]
    pub shapes: Vec<String>,

    /// How long the calling thread does something else between two loops, in microseconds [default:
    /// 0]
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    pub gap: Option<String>,

    /// How often each is measured [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures loops.
///
/// # Errors
/// When an argument is wrong, a loop fails its check, or a result cannot be written.
pub fn run(typed: &LoopArguments) -> Result<(), Error> {
    let plan = LoopPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(&plan, Files::default().json(typed.json.as_ref())?)
}

impl LoopPlan {
    /// Resolves the typed arguments.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown.
    pub fn resolve(typed: &LoopArguments) -> Result<Self, Error> {
        let threads = threads(
            typed.threads.as_deref(),
            1..=MAX_THREADS,
            default_threads(cores(), MAX_THREADS),
        )?;
        let sizes = LoopPlan::sizes(typed, &[100, 10_000], &[200, 5_000])?;
        let shapes = LoopPlan::shapes(typed, &Shape::ALL)?;
        let gap = LoopPlan::gap(typed)?;
        let repetitions =
            repetitions(typed.repetitions.as_deref(), if typed.quick { 5 } else { 9 })?;
        Ok(LoopPlan { threads, shapes, sizes, gap, quick: typed.quick, repetitions })
    }

    /// Returns every pair of a number of indices and a time, as typed or the default ones.
    pub(super) fn sizes(
        typed: &LoopArguments,
        usual_indices: &[usize],
        usual_microseconds: &[usize],
    ) -> Result<Vec<Size>, Error> {
        let indices = match &typed.indices {
            Some(list) => numbers("--indices", list, 1..=MAX_INDICES)?,
            None => usual_indices.to_vec(),
        };
        let times = match &typed.microseconds {
            Some(list) => numbers("--microseconds", list, 1..=MAX_MICROSECONDS)?,
            None => usual_microseconds.to_vec(),
        };
        let of_time = |&microseconds: &usize| {
            indices.iter().map(move |&indices| Size { indices, microseconds })
        };
        Ok(times.iter().flat_map(of_time).collect())
    }

    /// Returns the shapes as typed or the default ones.
    pub(super) fn shapes(typed: &LoopArguments, usual: &[Shape]) -> Result<Vec<Shape>, Error> {
        if typed.shapes.is_empty() { Ok(usual.to_vec()) } else { select(&typed.shapes) }
    }

    /// Returns the time between two loops.
    pub(super) fn gap(typed: &LoopArguments) -> Result<Duration, Error> {
        let gap = optional("--gap", typed.gap.as_deref(), 0..=MAX_MICROSECONDS)?.unwrap_or(0);
        Ok(Duration::from_micros(gap as u64))
    }
}

/// Returns the shapes of these names.
fn select(names: &[String]) -> Result<Vec<Shape>, Error> {
    let known = Shape::ALL.map(Shape::name);
    check_names("--shape", names, "loop", &known, "`throng bench loop --help` names all")?;
    let is_chosen = |shape: &Shape| names.iter().any(|name| name == shape.name());
    Ok(Shape::ALL.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_goes_with_every_shape() {
        let typed = LoopArguments {
            indices: Some("10,20".to_owned()),
            microseconds: Some("5".to_owned()),
            shapes: vec!["skewed".to_owned(), "growing".to_owned(), "skewed".to_owned()],
            ..LoopArguments::default()
        };
        let plan = LoopPlan::resolve(&typed).unwrap();
        let loads: Vec<(&str, usize)> =
            plan.loads().map(|(shape, size)| (shape.name(), size.indices)).collect();
        assert_eq!(loads, [("skewed", 10), ("growing", 10), ("skewed", 20), ("growing", 20)]);
    }

    #[test]
    fn unknown_shapes_are_answered_with_near_ones() {
        let typed = LoopArguments { shapes: vec!["skew".to_owned()], ..LoopArguments::default() };
        assert_eq!(
            LoopPlan::resolve(&typed).unwrap_err().to_string(),
            "--shape skew: no such loop; did you mean skewed? (`throng bench loop --help` names all)"
        );
    }
}
