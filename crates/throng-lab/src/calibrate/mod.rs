//! `throng calibrate`: how long a line takes from core to core, and a machine file from that.
//!
//! | module | what it does |
//! |---|---|
//! | `probe` | what is timed on real threads |
//! | `survey` | which pairs of cores, and how long each |
//! | `groups` | which cores are near to each other |
//! | `fit` | from times to a machine of the simulator |
//! | [`mod@validate`] | the same workloads simulated on that machine, beside what was measured |
//! | `check` | a few workloads measured for that, for those who have nothing measured yet |
//! | `text` | heat map, costs, what to type next |
//! | `target` | the machine file, which is replaced only when all went well |

mod check;
mod fit;
mod groups;
mod probe;
mod survey;
mod target;
mod text;
pub mod validate;

use serde::{Deserialize, Serialize};
use throng_sim::MachineSpec;

use crate::bench::json::JsonTarget;
use crate::bench::setup::{Pinning, Setup};
use crate::cli::CalibrateArguments;
use crate::error::Error;
use crate::output;
use fit::{Costs, Fitted};
use groups::{Groups, Times};
use target::MachineTarget;

pub use survey::measure;
pub use validate::{Asked, ask, prospects, validate};

/// What was measured of a machine.
///
/// ```
/// use throng_lab::calibrate::Calibration;
///
/// // Two cores between which a flag takes 40 ns.
/// let two = Calibration {
///     cores: vec![0, 1],
///     transfer_ns: vec![vec![0.0, 40.0], vec![40.0, 0.0]],
///     ..Calibration::default()
/// };
/// // And sixteen of the same kind:
/// let spec = two.spec(16);
/// assert_eq!((spec.processors, spec.network.kind()), (16, "uniform"));
/// ```
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Calibration {
    /// The system's numbers of the cores, in the order of rows and columns: neighbours stand together.
    pub cores: Vec<usize>,
    /// Nanoseconds that a line takes from one core to another (half a round trip of a flag), the median;
    /// on the diagonal 0.
    pub transfer_ns: Vec<Vec<f64>>,
    /// What else was measured, each with a name.
    pub costs: Vec<Cost>,
    /// The machine file made from that: TOML, as `throng simulate --machine` takes it.
    pub machine: String,
    /// How many cores are in a group of those that are near to each other, from the smallest groups to
    /// the largest: the first so many of `cores` are the first group, and so on.
    #[serde(default)]
    pub groups: Vec<usize>,
    /// How many pairs of cores were measured; the others are taken to be as those of the same distance.
    #[serde(default)]
    pub pairs: usize,
    /// How far the measurements of a pair usually lie apart, as a part of their median.
    #[serde(default)]
    pub spread: f64,
    /// What had to be assumed, and what to be careful about: sentences.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What one kind of access costs.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cost {
    /// What, in a few words.
    pub name: String,
    /// So many nanoseconds.
    pub ns: f64,
}

/// How far a simulated machine is from the real one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Validation {
    /// What was measured and simulated.
    pub rows: Vec<Compared>,
    /// What the machine would do with more cores, simulated.
    #[serde(default)]
    pub prospects: Vec<Prospect>,
}

/// The same workload, measured and simulated.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Compared {
    /// The need, by its name.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// On how many threads.
    pub threads: usize,
    /// Measured, in the unit of the need.
    pub measured: f64,
    /// Simulated, in the same unit.
    pub simulated: f64,
}

impl Compared {
    /// How many times too large the simulated number is: 1 is exact.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.simulated / self.measured
    }

    /// How many times it is off, in whatever direction: never below 1.
    #[must_use]
    pub fn off(&self) -> f64 {
        self.factor().max(1.0 / self.factor())
    }
}

/// What the machine would do with more cores.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Prospect {
    /// The need, by its name.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// On how many processors.
    pub processors: usize,
    /// Simulated, in the unit of the need.
    pub simulated: f64,
}

/// The names of costs that the machine is made from.
mod names {
    pub(super) const HIT: &str = "load that hits";
    pub(super) const LOCKED: &str = "locked add, own line";
    pub(super) const PAUSE: &str = "pause between two looks";

    /// A load, or a locked addition, that misses because of a core of this level.
    pub(super) fn miss(what: &str, level: usize, sizes: &[usize]) -> String {
        match (sizes.get(level), sizes) {
            (_, []) => format!("{what}, line changed by another core"),
            (Some(size), _) => format!("{what}, line changed in the group of {size}"),
            (None, [.., largest]) => {
                format!("{what}, line changed outside the group of {largest}")
            }
        }
    }

    pub(super) const LOAD: &str = "load";
    pub(super) const ADD: &str = "locked add";

    pub(super) fn take_away(readers: usize) -> String {
        let plural = if readers == 1 { "" } else { "s" };
        format!("locked add, own line with {readers} reader{plural}")
    }
}

impl Calibration {
    /// The machine with so many processors, made from the times alone.
    ///
    /// Where there are more processors than cores were measured, they are in more groups like those
    /// measured; on a machine without groups all are as near to each other as those measured.
    #[must_use]
    pub fn spec(&self, processors: usize) -> MachineSpec {
        self.fitted().spec(processors.max(1))
    }

    /// The machine that so many threads of a measurement have for themselves: they are kept on the first
    /// cores by the system's numbers, which need not be neighbours.
    #[must_use]
    pub fn spec_for_threads(&self, threads: usize) -> MachineSpec {
        let mut used: Vec<usize> = (0..self.cores.len()).collect();
        used.sort_by_key(|&place| self.cores[place]);
        used.truncate(threads.max(1));
        used.sort_unstable();
        let times = self.times();
        let some: Times =
            used.iter().map(|&one| used.iter().map(|&other| times[one][other]).collect()).collect();
        let groups = self.grouping().of_some(&used);
        Fitted::with(&some, &groups, self.fitted().parameters()).spec(threads.max(1))
    }

    /// The cost of this name.
    #[must_use]
    pub fn cost(&self, name: &str) -> Option<f64> {
        self.costs.iter().find(|cost| cost.name == name).map(|cost| cost.ns)
    }

    fn times(&self) -> Times {
        let time =
            |one: usize, (other, &ns): (usize, &f64)| (one != other && ns > 0.0).then_some(ns);
        let row = |(one, row): (usize, &Vec<f64>)| -> Vec<Option<f64>> {
            row.iter().enumerate().map(|pair| time(one, pair)).collect()
        };
        self.transfer_ns.iter().enumerate().map(row).collect()
    }

    fn grouping(&self) -> Groups {
        Groups::of_sizes(&self.groups, self.cores.len())
    }

    fn fitted(&self) -> Fitted {
        let (times, groups) = (self.times(), self.grouping());
        let sizes = groups.sizes();
        let typical = groups.typical(&times).into_iter().enumerate();
        let flag_and_load = typical
            .filter_map(|(level, flag)| {
                Some((flag, self.cost(&names::miss(names::LOAD, level, &sizes))?))
            })
            .collect();
        let costs =
            Costs { hit: self.cost(names::HIT), locked: self.cost(names::LOCKED), flag_and_load };
        Fitted::new(&times, &groups, &costs)
    }
}

/// What `--json` writes.
#[derive(Serialize)]
struct Document<'a> {
    throng: &'static str,
    benchmark: &'static str,
    setup: &'a Setup,
    calibration: &'a Calibration,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<&'a Validation>,
}

/// Measures this machine and writes a machine file.
///
/// # Errors
/// When a file cannot be written, or, with `--check`, a structure fails.
pub fn calibrate(typed: &CalibrateArguments) -> Result<(), Error> {
    let target = MachineTarget::find(typed.out.as_deref())?;
    target.is_not(typed.json.as_deref())?;
    // Last: only arguments that are right in all else may create a file.
    let json = typed.json.clone().map(JsonTarget::open).transpose()?;
    let pinning = Pinning::find();
    let setup = Setup::look(&pinning);
    let calibration = measure(&pinning, typed.quick);
    let checked = match typed.check {
        true => Some(check::check(&calibration, &pinning, typed.quick)?),
        false => None,
    };
    target.write(&format!("# {}\n{}", setup.in_words(), calibration.machine))?;
    let mut text = text::text(&setup, &calibration, &target.path().display().to_string());
    if let Some(checked) = &checked {
        text.push_str(&text::validation(&checked.validation, calibration.cores.len()));
        text.push_str(&text::notes(&checked.notes));
    }
    let document = Document {
        throng: env!("CARGO_PKG_VERSION"),
        benchmark: "calibration",
        setup: &setup,
        calibration: &calibration,
        validation: checked.as_ref().map(|checked| &checked.validation),
    };
    match json {
        Some(json) if json.is_stdout() => {
            output::say(&text);
            json.write(&document)
        }
        Some(json) => {
            output::print(&text)?;
            json.write(&document)
        }
        None => output::print(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_sim::spec::NetworkSpec;

    /// Cores numbered across two chiplets of four.
    fn crossed() -> Calibration {
        let ns = |one: usize, other: usize| match (one == other, one / 4 == other / 4) {
            (true, _) => 0.0,
            (false, true) => 20.0,
            (false, false) => 90.0,
        };
        Calibration {
            cores: vec![0, 2, 4, 6, 1, 3, 5, 7],
            transfer_ns: (0..8).map(|one| (0..8).map(|other| ns(one, other)).collect()).collect(),
            groups: vec![4],
            ..Calibration::default()
        }
    }

    #[test]
    fn a_measurement_on_few_threads_has_the_machine_of_their_cores() {
        let calibration = crossed();
        let message = |threads| match calibration.spec_for_threads(threads).network {
            NetworkSpec::Uniform { message_cycles } => (1, message_cycles),
            NetworkSpec::Chiplets { chiplet_nodes, socket_cycles, .. } => {
                (chiplet_nodes, socket_cycles)
            }
            other => panic!("{other:?}"),
        };
        let NetworkSpec::Chiplets { chiplet_nodes, socket_cycles, .. } =
            calibration.spec(8).network
        else {
            panic!("{:?}", calibration.spec(8).network)
        };
        assert_eq!(chiplet_nodes, 4);
        // Cores 0 and 1 are on different chiplets.
        assert_eq!(message(2), (1, socket_cycles));
        assert_eq!(message(4), (2, socket_cycles));
        assert_eq!(message(8), (4, socket_cycles));
        assert_eq!(calibration.spec_for_threads(2).processors, 2);
        assert!(calibration.spec(64).check().is_ok());
    }

    #[test]
    fn what_was_written_is_read_again() {
        let calibration = crossed();
        let text = serde_json::to_string(&calibration).unwrap();
        assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
        // Without what is new.
        let old = r#"{"cores":[0],"transfer_ns":[[0.0]],"costs":[],"machine":""}"#;
        let old: Calibration = serde_json::from_str(old).unwrap();
        assert_eq!(old.spec(4).processors, 4);
    }

    #[test]
    fn nothing_at_all_is_a_machine_too() {
        let nothing = Calibration::default();
        assert!(nothing.spec(3).check().is_ok());
        assert!(nothing.spec_for_threads(3).check().is_ok());
    }

    #[test]
    fn a_factor_tells_the_direction_and_the_distance_does_not() {
        let row = |simulated| Compared {
            need: "numbers".into(),
            entrant: "counter".into(),
            threads: 2,
            measured: 2.0,
            simulated,
        };
        assert_eq!((row(1.0).factor(), row(1.0).off()), (0.5, 2.0));
        assert_eq!((row(4.0).factor(), row(4.0).off()), (2.0, 2.0));
    }
}
