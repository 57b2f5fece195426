//! `throng calibrate`: measures how long a line takes from core to core, and makes a machine file
//! from that.
//!
//! | module | what it does |
//! |---|---|
//! | `probe` | the accesses timed on real threads |
//! | `survey` | which pairs of cores, and how long each |
//! | `groups` | finds groups of near cores |
//! | `fit` | makes a machine of the simulator from times |
//! | [`crate::validate`] | the same workloads simulated on that machine, beside what was measured |
//! | `text` | heat map, costs, what to type next |
//! | `target` | the machine file, which is replaced only when all went well |

mod fit;
mod groups;
pub(crate) mod probe;
pub(crate) mod survey;
pub(crate) mod target;
pub(crate) mod text;

use serde::{Deserialize, Serialize};
use throng_sim::MachineSpec;

use crate::bench::setup::Setup;
use fit::{Costs, Fitted};
use groups::{Groups, Times};

pub use survey::measure;

/// The measured times of a machine.
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
    /// The system's numbers of the cores, in the order of rows and columns. Neighbours stand
    /// together.
    pub cores: Vec<usize>,
    /// Median nanoseconds that a line takes from one core to another (half a round trip of a flag);
    /// 0 on the diagonal.
    pub transfer_ns: Vec<Vec<f64>>,
    /// Costs of other accesses, each with a name.
    pub costs: Vec<Cost>,
    /// The machine file made from that: TOML, as `throng simulate --machine` takes it.
    pub machine: String,
    /// Sizes of the groups of near cores, from the smallest groups to the largest. The first
    /// `groups[0]` of `cores` are the first group, and so on.
    #[serde(default)]
    pub groups: Vec<usize>,
    /// Number of pairs of cores measured; the others are assumed to be as those of the same
    /// distance.
    #[serde(default)]
    pub pairs: usize,
    /// Median spread of the measurements of a pair, as a part of their median.
    #[serde(default)]
    pub spread: f64,
    /// Assumptions and warnings, as sentences.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// The cost of one kind of access.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Cost {
    /// The kind, in a few words.
    pub name: String,
    /// Nanoseconds.
    pub ns: f64,
}

/// The differences of a simulated machine from the real one.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Validation {
    /// The workloads measured and simulated.
    pub rows: Vec<Compared>,
    /// Simulated results of the machine with more cores.
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
    /// Number of threads.
    pub threads: usize,
    /// Measured, in the unit of the need.
    pub measured: f64,
    /// Simulated, in the same unit.
    pub simulated: f64,
}

impl Compared {
    /// Returns the ratio of simulated to measured; 1 is exact.
    pub fn factor(&self) -> f64 {
        self.simulated / self.measured
    }

    /// Returns the factor by which the simulated number is off, in either direction; never below 1.
    pub fn off(&self) -> f64 {
        self.factor().max(1.0 / self.factor())
    }
}

/// A simulated result of the machine with more cores.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Prospect {
    /// The need, by its name.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// Number of processors.
    pub processors: usize,
    /// Simulated, in the unit of the need.
    pub simulated: f64,
}

/// The names of costs that the machine is made from.
mod names {
    pub(crate) const HIT: &str = "load that hits";
    pub(crate) const LOCKED: &str = "locked add, own line";
    pub(crate) const PAUSE: &str = "pause between two looks";

    /// Returns the name of a load, or a locked addition, that misses because of a core of this
    /// level.
    pub(crate) fn miss(what: &str, level: usize, sizes: &[usize]) -> String {
        match (sizes.get(level), sizes) {
            (_, []) => format!("{what}, line changed by another core"),
            (Some(size), _) => format!("{what}, line changed in the group of {size}"),
            (None, [.., largest]) => {
                format!("{what}, line changed outside the group of {largest}")
            }
        }
    }

    pub(crate) const LOAD: &str = "load";
    pub(crate) const ADD: &str = "locked add";

    pub(crate) fn take_away(readers: usize) -> String {
        let plural = if readers == 1 { "" } else { "s" };
        format!("locked add, own line with {readers} reader{plural}")
    }
}

impl Calibration {
    /// Returns the machine with `processors` processors, made from the times alone.
    ///
    /// With more processors than cores were measured, there are more groups like those measured.
    /// Without groups, all are as near to each other as those measured.
    pub fn spec(&self, processors: usize) -> MachineSpec {
        self.fitted().spec(processors.max(1))
    }

    /// Returns the machine that `threads` threads of a measurement have for themselves. They are
    /// pinned to the first cores by the system's numbers, which need not be neighbours.
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

    /// Returns the machine file made from the times, as this version of the library makes it.
    pub(crate) fn machine_file(&self) -> String {
        self.fitted().toml()
    }

    /// Returns the cost of this name.
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

/// The output of `--json`.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    pub(crate) throng: &'static str,
    pub(crate) benchmark: &'static str,
    pub(crate) setup: &'a Setup,
    pub(crate) calibration: &'a Calibration,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) validation: Option<&'a Validation>,
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
        // Without newer fields.
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
