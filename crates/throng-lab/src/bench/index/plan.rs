//! The arguments of `throng bench loop`, resolved and checked.

use std::time::Duration;

use serde::Serialize;

use super::ways::Way;
use super::work::Shape;
use crate::bench::json::JsonTarget;
use crate::cli::LoopArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::plan::{cores, default_threads, numbers, optional};

const MAX_THREADS: usize = 1024;
const MAX_INDICES: usize = 100_000_000;
const MAX_MICROSECONDS: usize = 60_000_000;
const MAX_REPETITIONS: usize = 1000;

/// How large a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Size {
    /// How many indices.
    pub indices: usize,
    /// How long they take on one thread, all together.
    pub microseconds: usize,
}

/// What `throng bench loop` will do.
#[derive(Debug)]
pub struct LoopPlan {
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// Which indices take long.
    pub shapes: Vec<Shape>,
    /// How many indices, and how long they take.
    pub sizes: Vec<Size>,
    /// What passes between two loops.
    pub gap: Duration,
    quick: bool,
    /// How often each is measured.
    pub repetitions: usize,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
}

impl LoopPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown or the file not writable.
    pub fn resolve(typed: &LoopArguments) -> Result<Self, Error> {
        let threads = match &typed.threads {
            Some(list) => numbers("--threads", list, 1..=MAX_THREADS)?,
            None => default_threads(cores()).into_iter().filter(|&n| n <= MAX_THREADS).collect(),
        };
        let sizes = LoopPlan::sizes(typed, &[100, 10_000], &[200, 5_000])?;
        let shapes = LoopPlan::shapes(typed, &Shape::ALL)?;
        let gap = LoopPlan::gap(typed)?;
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(if typed.quick { 5 } else { 9 });
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(LoopPlan { threads, shapes, sizes, gap, quick: typed.quick, repetitions, json })
    }

    /// Returns every pair of a number of indices and a time, as typed or else the usual ones.
    pub(in crate::bench) fn sizes(
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

    /// Returns the shapes as typed, or else the usual ones.
    pub(in crate::bench) fn shapes(
        typed: &LoopArguments,
        usual: &[Shape],
    ) -> Result<Vec<Shape>, Error> {
        if typed.shapes.is_empty() { Ok(usual.to_vec()) } else { select(&typed.shapes) }
    }

    /// Returns what passes between two loops.
    pub(in crate::bench) fn gap(typed: &LoopArguments) -> Result<Duration, Error> {
        let gap = optional("--gap", typed.gap.as_deref(), 0..=MAX_MICROSECONDS)?.unwrap_or(0);
        Ok(Duration::from_micros(gap as u64))
    }

    /// What is shared out.
    pub fn loads(&self) -> impl Iterator<Item = (Shape, Size)> {
        self.sizes.iter().flat_map(|&size| self.shapes.iter().map(move |&shape| (shape, size)))
    }

    /// How many loops of this size a run has: some ten milliseconds of them.
    #[must_use]
    pub fn loops(&self, size: Size) -> usize {
        let time = if self.quick { 10_000 } else { 40_000 };
        (time / (size.microseconds + self.gap.as_micros() as usize).max(1)).clamp(3, 1000)
    }

    /// How many runs are measured in all.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.loads().count() * self.threads.len() * Way::ALL.len() * self.repetitions
    }
}

/// The shapes of these names.
fn select(names: &[String]) -> Result<Vec<Shape>, Error> {
    let all = Shape::ALL.map(Shape::name);
    if let Some(name) = names.iter().find(|name| !all.contains(&name.as_str())) {
        return Err(Error::UnknownName {
            option: "--shape",
            name: name.clone(),
            kind: "loop",
            suggestions: suggestions(name, all),
            hint: "`throng bench loop --help` names all",
        });
    }
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
