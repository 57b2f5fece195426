//! The arguments resolved and checked: what will be measured, and how.
//!
//! Everything that can be wrong with the arguments is found here, before the first measurement.

use std::iter;
use std::ops::RangeInclusive;
use std::thread::available_parallelism;
use std::time::Duration;

use throng::counter::{Registered, Shape, methods};
use throng::machine::Native;

use crate::bench::json::JsonTarget;
use crate::bench::pace::Pace as Taking;
use crate::cli::CountersArguments;
use crate::error::Error;
use crate::names::suggestions;
use crate::peers;

/// The most threads that can be measured: each finds room for some thousand values.
pub const MAX_THREADS: usize = 4096;
/// The deepest tree of the library.
pub(crate) const MAX_DEPTH: usize = 16;
const MAX_REPETITIONS: usize = 1000;
const MAX_RUN_MS: usize = 60_000;
const MAX_WORK_NS: usize = 1_000_000;

/// What `throng bench counters` will do.
#[derive(Debug)]
pub struct CountersPlan {
    /// What is measured; the first one is the reference.
    pub methods: Vec<Registered<Native>>,
    /// On how many threads: ascending, each once.
    pub threads: Vec<usize>,
    /// The width asked for.
    pub width: Option<usize>,
    /// How threads take their values.
    pub pace: Taking,
    /// How often each method is measured on each number of threads.
    pub repetitions: usize,
    /// How long one run is measured.
    pub run_time: Duration,
    /// Where the single measurements go; already open.
    pub json: Option<JsonTarget>,
}

impl CountersPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, a shape impossible or the file not writable.
    pub fn resolve(typed: &CountersArguments) -> Result<Self, Error> {
        let threads = match &typed.threads {
            Some(list) => parse_threads(list)?,
            None => default_threads(cores()),
        };
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
        let repetitions =
            optional("--repetitions", typed.repetitions.as_deref(), 1..=MAX_REPETITIONS)?
                .unwrap_or(pace.repetitions);
        let run_ms = optional("--milliseconds", typed.milliseconds.as_deref(), 1..=MAX_RUN_MS)?
            .unwrap_or_else(|| pace.run_ms(methods.len() * threads.len() * repetitions));
        // Last: only a plan that is right in all else may create a file.
        let json = typed.json.clone().map(JsonTarget::open).transpose()?;
        Ok(CountersPlan {
            methods,
            threads,
            width,
            pace: taking,
            repetitions,
            run_time: Duration::from_millis(run_ms as u64),
            json,
        })
    }

    /// The shape of the counters for so many threads.
    #[must_use]
    pub fn shape(&self, threads: usize) -> Shape {
        shape(threads, self.width)
    }

    /// How long the threads run before the measurement begins.
    #[must_use]
    pub fn warm_up_time(&self) -> Duration {
        self.run_time / 4
    }

    /// How many runs are measured in all.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.methods.len() * self.threads.len() * self.repetitions
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

/// How many threads can run at once.
pub(crate) fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn shape(threads: usize, width: Option<usize>) -> Shape {
    Shape { width, ..Shape::for_processors(threads) }
}

/// Powers of two up to twice the cores, the cores, and twice the cores.
pub(crate) fn default_threads(cores: usize) -> Vec<usize> {
    let most = (2 * cores).min(MAX_THREADS);
    let powers = (0..).map(|k| 1 << k).take_while(|&n| n < most);
    ascending_once(powers.chain([cores.min(most), most]).collect())
}

fn parse_threads(list: &str) -> Result<Vec<usize>, Error> {
    numbers("--threads", list, 1..=MAX_THREADS)
}

/// The numbers in a list that was typed: ascending, each once.
pub(crate) fn numbers(
    option: &'static str,
    list: &str,
    range: RangeInclusive<usize>,
) -> Result<Vec<usize>, Error> {
    let allowed =
        format!("whole numbers from {} to {}, separated by commas", range.start(), range.end());
    let counts = list
        .split(',')
        .map(|item| number(option, item, range.clone(), &allowed))
        .collect::<Result<_, _>>()?;
    Ok(ascending_once(counts))
}

fn ascending_once(mut counts: Vec<usize>) -> Vec<usize> {
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The number that an option has, where it was given.
pub(crate) fn optional(
    option: &'static str,
    typed: Option<&str>,
    range: RangeInclusive<usize>,
) -> Result<Option<usize>, Error> {
    let allowed = format!("a whole number from {} to {}", range.start(), range.end());
    typed.map(|text| number(option, text, range, &allowed)).transpose()
}

/// The number that was typed for an option.
pub(crate) fn number(
    option: &'static str,
    typed: &str,
    range: RangeInclusive<usize>,
    allowed: &str,
) -> Result<usize, Error> {
    match typed.trim().parse() {
        Ok(value) if range.contains(&value) => Ok(value),
        _ => Err(Error::Value { option, value: typed.to_owned(), allowed: allowed.to_owned() }),
    }
}

/// The reference and the methods of these names; all methods where no name is given.
fn select_methods(names: &[String]) -> Result<Vec<Registered<Native>>, Error> {
    let all = methods::<Native>();
    let reference = peers::reference();
    let known: Vec<&str> =
        iter::once(&reference).chain(&all).map(|method| method.about.name).collect();
    for name in names {
        if !known.contains(&name.as_str()) {
            return Err(unknown_method("--method", name, &known));
        }
    }
    let chosen = all
        .into_iter()
        .filter(|m| names.is_empty() || names.iter().any(|name| name == m.about.name));
    Ok(iter::once(reference).chain(chosen).collect())
}

/// There is no counter of this name.
pub(crate) fn unknown_method(option: &'static str, name: &str, known: &[&str]) -> Error {
    Error::UnknownName {
        option,
        name: name.to_owned(),
        kind: "counter",
        suggestions: suggestions(name, known.iter().copied()),
        hint: "`throng list` shows all",
    }
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
                .map_err(|source| Error::Shape { method: method.about.name, source })?;
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
        assert_eq!(parse_threads("4, 1,2,4").unwrap(), [1, 2, 4]);
        assert_eq!(parse_threads("4096").unwrap(), [4096]);
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
    fn default_threads_include_the_cores_and_twice_the_cores() {
        assert_eq!(default_threads(1), [1, 2]);
        assert_eq!(default_threads(2), [1, 2, 4]);
        assert_eq!(default_threads(6), [1, 2, 4, 6, 8, 12]);
        assert_eq!(*default_threads(5000).last().unwrap(), MAX_THREADS);
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
