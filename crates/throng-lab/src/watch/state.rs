//! The requested load of a world, and snapshots of its counter.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Map, Value};
use throng_papers::numbers::grouped;

use crate::error::Error;

/// A place where a counter is at work: threads of this machine, or a simulated machine.
pub trait World: Send + Sync {
    /// Describes the world and the limits of its load.
    fn about(&self) -> &About;

    /// Returns the load that was last set.
    fn load(&self) -> Load;

    /// Sets another load, which must be one that [`About::check`] allows. Returns at once.
    fn set_load(&self, load: Load);

    /// Returns what happened since the last snapshot.
    fn snapshot(&self) -> Snapshot;

    /// Ends the world, and checks what was handed out.
    ///
    /// # Errors
    /// When the counter miscounted, or the world broke down.
    fn stop(&self) -> Result<(), Error>;
}

/// A world's description and its limits.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Whether it is simulated.
    pub simulated: bool,
    /// Its name.
    pub name: String,
    /// A description in a line.
    pub about: String,
    /// Number of cores.
    pub cores: usize,
    /// What takes numbers: "threads" or "processors".
    pub callers: &'static str,
    /// Most callers.
    pub callers_max: usize,
    /// Longest work between two calls, in nanoseconds.
    pub work_ns_max: u64,
    /// Largest pace of a simulation, in cycles for each real second.
    pub pace_cycles_max: Option<u64>,
    /// The clock of a simulated machine.
    pub clock_mhz: Option<u32>,
}

/// The slowest pace: a cycle every tenth of a millisecond.
pub const PACE_CYCLES_MIN: u64 = 10_000;

/// The load that the viewer asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// Number of threads or processors that take numbers.
    pub callers: usize,
    /// Upper bound of a caller's work after each number, in nanoseconds; the lower bound is 0.
    pub work_ns: u64,
    /// Most simulated cycles in a second; unused on a real machine.
    pub pace_cycles: u64,
}

impl About {
    /// Parses the load from `body`, the JSON of a request. What it does not name stays as in
    /// `present`.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn check(&self, present: Load, body: &[u8]) -> Result<Load, String> {
        let value: Value = serde_json::from_slice(body)
            .map_err(|error| format!("The load must be JSON, and this is none: {error}."))?;
        let Value::Object(object) = value else {
            return Err(format!("The load must be a JSON object, {}.", self.such_as()));
        };
        if object.is_empty() {
            return Err(format!("The load is empty; it must say something, {}.", self.such_as()));
        }
        let mut load = present;
        for name in object.keys() {
            match name.as_str() {
                name if name == self.callers => {
                    load.callers = whole(&object, name, 0..=self.callers_max as u64)? as usize;
                }
                "work_ns" => load.work_ns = whole(&object, name, 0..=self.work_ns_max)?,
                "pace_cycles" if self.pace_cycles_max.is_some() => {
                    let most = self.pace_cycles_max.unwrap_or(PACE_CYCLES_MIN);
                    load.pace_cycles = whole(&object, name, PACE_CYCLES_MIN..=most)?;
                }
                other => {
                    let (other, such_as) = (shortened(other), self.such_as());
                    return Err(format!("A load has no {other:?}; it is {such_as}."));
                }
            }
        }
        Ok(load)
    }

    fn such_as(&self) -> String {
        format!("such as {{\"{}\": {}, \"work_ns\": 0}}", self.callers, self.callers_max.min(4))
    }
}

/// Shortens what a client sent to what a sentence can hold.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn whole(
    object: &Map<String, Value>,
    name: &str,
    range: RangeInclusive<u64>,
) -> Result<u64, String> {
    match object.get(name).and_then(Value::as_u64) {
        Some(number) if range.contains(&number) => Ok(number),
        _ => Err(format!(
            "{name} must be a whole number from {} to {}.",
            grouped(*range.start()),
            grouped(*range.end())
        )),
    }
}

/// The activity of a counter between two moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Numbers handed out so far.
    pub handed_out: u64,
    /// Numbers a second: of simulated time, where it is simulated.
    pub per_second: f64,
    /// Numbers in a million cycles of a simulated machine.
    pub per_million_cycles: Option<f64>,
    /// The sizes of the groups that a call passes, smallest first. Empty: one word.
    pub groups_of: Vec<usize>,
    /// Number of changes of the counter's shape so far, trials included.
    pub changes: u64,
    /// Number of changes to a shape that was better and stayed.
    pub moves: u64,
    /// Mean numbers fetched by one visit to the root.
    pub batch: f64,
    /// The word that all numbers come from.
    pub root: Heat,
    /// The groups with callers, for each size of `groups_of`.
    pub levels: Vec<Vec<Group>>,
    /// The core of each caller.
    pub at: Vec<usize>,
    /// Numbers a second of each caller.
    pub rates: Vec<u64>,
    /// The words at which most time is lost.
    pub hottest: Vec<Hot>,
    /// Whether visits and waiting are estimated, not counted.
    pub estimated: bool,
    /// The pace of the simulation.
    pub pace: Option<Pace>,
    /// The error that ended it.
    pub trouble: Option<String>,
}

/// The contention at a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Heat {
    /// Mean number of callers that wait there.
    pub waiting: f64,
    /// Visits a second.
    pub visits_per_second: f64,
}

/// A group of callers that gathers requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The first location that belongs to it.
    pub first: usize,
    /// Number of callers in it.
    pub callers: usize,
    /// The contention at its word.
    pub heat: Heat,
}

/// A hot word.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hot {
    /// Its name.
    pub name: String,
    /// Its contention.
    pub heat: Heat,
}

/// The pace of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pace {
    /// Simulated time so far, in microseconds.
    pub simulated_us: f64,
    /// Simulated time in a real second, in microseconds.
    pub simulated_us_per_second: f64,
    /// Whether this is less than asked for, because this machine is too slow.
    pub held_up: bool,
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::watch) fn about(simulated: bool) -> About {
        About {
            simulated,
            name: "test".to_owned(),
            about: "a machine for tests".to_owned(),
            cores: 2,
            callers: if simulated { "processors" } else { "threads" },
            callers_max: 8,
            work_ns_max: 10_000,
            pace_cycles_max: simulated.then_some(1_000_000),
            clock_mhz: simulated.then_some(1000),
        }
    }

    pub(in crate::watch) const LOAD: Load = Load { callers: 2, work_ns: 50, pace_cycles: 20_000 };

    #[test]
    fn a_load_changes_what_it_names() {
        let check = |body: &str| about(false).check(LOAD, body.as_bytes());
        assert_eq!(check(r#"{"threads": 8}"#), Ok(Load { callers: 8, ..LOAD }));
        assert_eq!(check(r#"{"threads": 0, "work_ns": 10000}"#), {
            Ok(Load { callers: 0, work_ns: 10_000, ..LOAD })
        });
        let simulated = about(true).check(LOAD, br#"{"processors":1,"pace_cycles":1000000}"#);
        assert_eq!(simulated, Ok(Load { callers: 1, pace_cycles: 1_000_000, ..LOAD }));
    }

    #[test]
    fn what_is_no_load_is_refused_with_a_sentence() {
        for (body, says) in [
            ("", "must be JSON"),
            ("{\"threads\": 4", "must be JSON"),
            ("\u{fffd}[[[[", "must be JSON"),
            ("4", "must be a JSON object, such as {\"threads\": 4, \"work_ns\": 0}."),
            ("[4]", "must be a JSON object"),
            ("null", "must be a JSON object"),
            ("{}", "it must say something"),
            (r#"{"threads": 9}"#, "threads must be a whole number from 0 to 8."),
            (r#"{"threads": -1}"#, "threads must be"),
            (r#"{"threads": 1.5}"#, "threads must be"),
            (r#"{"threads": 1e99}"#, "threads must be"),
            (r#"{"threads": "4"}"#, "threads must be"),
            (r#"{"threads": null}"#, "threads must be"),
            (
                r#"{"threads": 4, "work_ns": 10001}"#,
                "work_ns must be a whole number from 0 to 10 000.",
            ),
            (r#"{"processors": 4}"#, "A load has no \"processors\""),
            (r#"{"pace_cycles": 20000}"#, "A load has no \"pace_cycles\""),
        ] {
            let said = about(false).check(LOAD, body.as_bytes()).unwrap_err();
            assert!(said.contains(says) && said.ends_with('.'), "{body}: {said}");
        }
        let deep = "[".repeat(100_000);
        assert!(about(false).check(LOAD, deep.as_bytes()).is_err());
        assert!(about(false).check(LOAD, &[0xff, 0xfe]).is_err());
        assert!(about(true).check(LOAD, br#"{"threads": 4}"#).is_err());
        assert!(about(true).check(LOAD, br#"{"pace_cycles": 1}"#).is_err());
    }
}
