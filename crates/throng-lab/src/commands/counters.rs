//! `throng bench counters`: its arguments, its plan and its run.

use std::iter;
use std::ops::RangeInclusive;
use std::time::Duration;

use clap::Args;
use throng::machine::Native;
use throng::structures::counter::{Registered, methods};
use throng_papers::arguments::{check_names, optional};

use super::{repetitions, threads};
use crate::bench::counters::plan::{CountersPlan, MAX_DEPTH, shape};
use crate::bench::harness::{self, Files};
use crate::bench::pace::Pace as Taking;
use crate::error::Error;
use crate::peers;
use crate::threads::{MAX_THREADS, cores, default_threads};

const MAX_RUN_MS: usize = 60_000;
const MAX_WORK_NS: usize = 1_000_000;

/// Arguments of `throng bench counters`.
#[derive(Debug, Default, Args)]
pub struct CountersArguments {
    /// Fewer and shorter runs: about ten seconds on a small machine
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only this counter; may be repeated. `throng list` shows the names [default: all]
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<String>,

    /// Width of the counters that have one: leaves of a tree, wires of a network [default: each
    /// counter chooses for the number of threads]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub width: Option<String>,

    /// The same as a depth: a tree of depth D has 2^D leaves
    #[arg(long, value_name = "D", allow_negative_numbers = true, conflicts_with = "width")]
    pub depth: Option<String>,

    /// Take values one by one, each behind a dynamic dispatch, as a program would that uses one now
    /// and then [default: 64 in a row]
    #[arg(long)]
    pub one_by_one: bool,

    /// The same, and after each value a thread is busy with something else for 0 to this many
    /// nanoseconds, at random
    #[arg(long, value_name = "NS", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How often each counter is measured on each number of threads [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds, at most: a counter that has filled the memory for its values
    /// ends its run early [default: so that all of it takes a minute or two; quick:
    /// ten seconds]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub milliseconds: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Measures counters.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn run(typed: &CountersArguments) -> Result<(), Error> {
    let plan = CountersPlan::resolve(typed)?;
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(&plan, Files::default().json(typed.json.as_ref())?)
}

impl CountersPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, a shape impossible.
    pub fn resolve(typed: &CountersArguments) -> Result<Self, Error> {
        let threads = threads(
            typed.threads.as_deref(),
            1..=MAX_THREADS,
            default_threads(cores(), MAX_THREADS),
        )?;
        let methods = select_methods(&typed.methods)?;
        let width = optional("--width", typed.width.as_deref(), 1..=1 << MAX_DEPTH)?;
        let depth = optional("--depth", typed.depth.as_deref(), 0..=MAX_DEPTH)?;
        let width = width.or(depth.map(|depth| 1 << depth));
        check_shapes(&methods, &threads, width)?;
        let work = optional("--work", typed.work.as_deref(), 0..=MAX_WORK_NS)?;
        let taking = match work {
            Some(work_ns) => Taking::OneByOne { work_ns: work_ns as u32 },
            None if typed.one_by_one => Taking::OneByOne { work_ns: 0 },
            None => Taking::InARow,
        };
        let pace = Pace::of(typed.quick);
        let repetitions = repetitions(typed.repetitions.as_deref(), pace.repetitions)?;
        let run_ms = optional("--milliseconds", typed.milliseconds.as_deref(), 1..=MAX_RUN_MS)?
            .unwrap_or_else(|| pace.run_ms(methods.len() * threads.len() * repetitions));
        Ok(CountersPlan {
            methods,
            threads,
            width,
            pace: taking,
            repetitions,
            run_time: Duration::from_millis(run_ms as u64),
        })
    }
}

/// How much time a measurement may take where the arguments do not say.
struct Pace {
    repetitions: usize,
    /// Of all runs together, without warming up and checking, which take about as long again.
    budget_ms: usize,
    /// Of one run. The fastest counters fill the memory sooner, which ends the run.
    run_ms: RangeInclusive<usize>,
}

impl Pace {
    const fn of(quick: bool) -> Self {
        if quick {
            Pace { repetitions: 5, budget_ms: 6_000, run_ms: 10..=40 }
        } else {
            Pace { repetitions: 9, budget_ms: 50_000, run_ms: 40..=120 }
        }
    }

    fn run_ms(&self, runs: usize) -> usize {
        (self.budget_ms / runs.max(1)).clamp(*self.run_ms.start(), *self.run_ms.end())
    }
}

/// The reference and the methods of these names; all methods where no name is given.
fn select_methods(names: &[String]) -> Result<Vec<Registered<Native>>, Error> {
    let all = methods::<Native>();
    let reference = peers::reference();
    let known: Vec<&str> =
        iter::once(&reference).chain(&all).map(|method| method.about.name).collect();
    check_names("--method", names, "counter", &known, "`throng list` shows all")?;
    let chosen = all
        .into_iter()
        .filter(|m| names.is_empty() || names.iter().any(|name| name == m.about.name));
    Ok(iter::once(reference).chain(chosen).collect())
}

/// Builds every counter once, so that an impossible shape shows before anything is measured.
fn check_shapes(
    methods: &[Registered<Native>],
    threads: &[usize],
    width: Option<usize>,
) -> Result<(), Error> {
    for method in methods {
        for &threads in threads {
            method
                .build(&shape(threads, width))
                .map_err(|source| Error::shape(method.about.name, source))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(typed: CountersArguments) -> String {
        CountersPlan::resolve(&typed).unwrap_err().to_string()
    }

    fn threads(list: &str) -> CountersArguments {
        CountersArguments { threads: Some(list.to_owned()), ..CountersArguments::default() }
    }

    #[test]
    fn thread_counts_are_sorted_and_each_taken_once() {
        let resolved = |list| CountersPlan::resolve(&threads(list)).unwrap().threads;
        assert_eq!(resolved("4, 1,2,4"), [1, 2, 4]);
        assert_eq!(resolved("64"), [64]);
    }

    #[test]
    fn wrong_thread_counts_are_named_with_what_is_allowed() {
        let allowed = "must be whole numbers from 1 to 4096, separated by commas";
        for (typed, shown) in [
            ("0", "0"),
            ("100000", "100000"),
            ("abc", "abc"),
            ("1,x,2", "x"),
            ("-3", "-3"),
            ("", "\"\""),
            ("1,,2", "\"\""),
            ("99999999999999999999999", "99999999999999999999999"),
        ] {
            assert_eq!(message(threads(typed)), format!("--threads {shown}: {allowed}"));
        }
    }

    #[test]
    fn the_reference_comes_first_and_methods_once() {
        let names = |typed: &[&str]| -> Vec<&str> {
            let typed: Vec<String> = typed.iter().map(|&name| name.to_owned()).collect();
            let chosen = select_methods(&typed).unwrap();
            chosen.iter().map(|m| m.about.name).collect()
        };
        assert_eq!(names(&["hardware", "hardware"]), ["fetch_add", "hardware"]);
        assert_eq!(names(&["fetch_add"]), ["fetch_add"]);
        assert_eq!(names(&[]).len(), 1 + methods::<Native>().len());
    }

    #[test]
    fn a_depth_is_a_width() {
        let of_depth = |depth: &str| CountersArguments {
            depth: Some(depth.to_owned()),
            ..CountersArguments::default()
        };
        assert_eq!(CountersPlan::resolve(&of_depth("3")).unwrap().width, Some(8));
        assert_eq!(message(of_depth("60")), "--depth 60: must be a whole number from 0 to 16");
        assert_eq!(
            message(of_depth("14")),
            "counting-network: width 16384: must be a power of two from 1 to 4096"
        );
    }

    #[test]
    fn other_numbers_are_checked_too() {
        let typed =
            CountersArguments { repetitions: Some("0".to_owned()), ..CountersArguments::default() };
        assert_eq!(message(typed), "--repetitions 0: must be a whole number from 1 to 1000");
        let typed = CountersArguments {
            milliseconds: Some("1h".to_owned()),
            ..CountersArguments::default()
        };
        assert_eq!(message(typed), "--milliseconds 1h: must be a whole number from 1 to 60000");
    }

    #[test]
    fn the_time_of_a_run_shrinks_with_their_number_within_limits() {
        let quick = Pace::of(true);
        assert_eq!(quick.run_ms(1), 40);
        assert_eq!(quick.run_ms(210), 28);
        assert_eq!(quick.run_ms(100_000), 10);
    }
}
