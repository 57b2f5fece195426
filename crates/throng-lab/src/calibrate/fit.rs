//! Makes a machine of the simulator from measured times.
//! (More than 500 lines, of which 200 are tests on invented machines.)
//!
//! # What a time is made of
//! In the simulator (`throng-sim/src/memory/README.md`, the row `server`) a miss takes
//!
//! ```text
//! R = miss_cycles + 2 * way + holder_cycles,
//! ```
//!
//! whether it fetches a line or invalidates copies. A flag's transfer from core to core has *two*
//! misses: the store, which invalidates the reader's copy, and the reader's next load. The reader
//! asks as soon as its copy is gone, one way after the store. Its request waits at the writer until
//! the store is complete, and the writer's own look for the answer, since that follows at once. Then
//! the line goes one way back. So half a round trip of a flag is
//!
//! ```text
//! T = miss_cycles + 3 * way + 2 * holder_cycles + hit_cycles   if miss_cycles <= holder_cycles.
//! ```
//!
//! `T` is kept exactly, for every distance. `miss_cycles` is that of the preset `server`, rounded so
//! that the shortest way is a whole number; `holder_cycles`, one number for all distances, follows
//! from `R`, but is no less than in the preset. A load then takes from half to two thirds of `T`.
//! Processors of one node have no way; there the holder takes all of the time.

use std::fmt::Write as _;

use throng_papers::numbers::{counted, short};
use throng_sim::MachineSpec;
use throng_sim::spec::{CoherenceSpec, NetworkSpec, ProcessorSpec};

use super::groups::{Groups, Times};

/// The clock: a cycle is a third of a nanosecond, as on the preset `server`. The processor's own
/// clock is not known here and does not matter, since all times are measured in nanoseconds.
const CLOCK_MHZ: u32 = 3000;

/// Parameters that are not measured, from the preset `server`, which has the same clock and names
/// its sources.
const HIT: u64 = 4;
const LOCKED_HIT: u64 = 18;
const MISS: u64 = 3;
const HOLDER: u64 = 6;
const NEAR_WAY: u64 = 30;
const PORT: u64 = 4;
const HOLD: u64 = 3;
const MEMORY: u64 = 360;

/// Smallest factor between a simulated and a measured load that is reported.
const MISFIT: f64 = 1.15;

/// Chiplets on a socket where no second socket was seen: more than any simulation has.
const ANY_NUMBER: usize = 1024;

/// Costs of a core alone or with one other, in nanoseconds, where measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Costs {
    /// A load that hits.
    pub(super) hit: Option<f64>,
    /// A locked addition to a line of the core's own.
    pub(super) locked: Option<f64>,
    /// For some distances: half a round trip of a flag, and a load of a line that the other core
    /// has changed.
    pub(super) flag_and_load: Vec<(f64, f64)>,
}

/// The parameters that are the same for all distances, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    hit: u64,
    locked: u64,
    miss: u64,
    holder: u64,
}

/// A machine made from times.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    parameters: Parameters,
    /// See [`Costs`]; empty where only the parameters are known.
    flag_and_load: Vec<(f64, f64)>,
    sizes: Vec<usize>,
    cores: usize,
    /// For each level half a round trip of a flag, in nanoseconds; NaN where none was measured.
    flag_ns: Vec<f64>,
    /// For each level the cycles of a message.
    ways: Vec<u64>,
}

/// Converts nanoseconds to cycles.
fn cycles(ns: f64) -> u64 {
    (ns * f64::from(CLOCK_MHZ) / 1000.0).round().max(0.0) as u64
}

fn nanoseconds(cycles: u64) -> f64 {
    cycles as f64 * 1000.0 / f64::from(CLOCK_MHZ)
}

impl Parameters {
    /// Computes the parameters from what was measured. `flag_ns` are the times of the levels;
    /// `has_nodes` tells whether the first of them is that of processors of one node.
    fn new(costs: &Costs, flag_ns: &[f64], has_nodes: bool) -> Self {
        let hit = costs.hit.map_or(HIT, cycles).max(1);
        let known = flag_ns.iter().copied().filter(|ns| ns.is_finite());
        let least = known.map(|ns| cycles(ns).saturating_sub(hit)).min();
        // From T and R: holder = 2 (T - hit) - 3 R + miss. The smallest, since it is one number for
        // all.
        let holder = |&(flag, load): &(f64, f64)| {
            (2 * cycles(flag).saturating_sub(hit) + MISS).saturating_sub(3 * cycles(load))
        };
        let holder = costs.flag_and_load.iter().map(holder).min().unwrap_or(HOLDER).max(HOLDER);
        let (mut miss, mut holder) = match least {
            // Processors of one node have no way: T = miss + 2 holder.
            Some(least) if has_nodes => (MISS.min(least / 3), (least - MISS.min(least / 3)) / 2),
            Some(least) => {
                let miss = MISS.min(least / 3);
                (miss, holder.min((least - miss) / 2))
            }
            None => (MISS, HOLDER),
        };
        // Rounded so that the shortest way is a whole number.
        match least.map(|least| least - miss - 2 * holder) {
            Some(rest) if has_nodes => miss += rest,
            Some(rest) if rest % 3 == 2 => holder += 1,
            Some(rest) => miss += rest % 3,
            None => {}
        }
        Parameters { hit, locked: costs.locked.map_or(LOCKED_HIT, cycles).max(1), miss, holder }
    }

    /// Returns the cycles of a message between cores with this half round trip of a flag.
    fn way(&self, flag_ns: f64) -> u64 {
        if !flag_ns.is_finite() {
            return NEAR_WAY;
        }
        // To the nearest.
        (cycles(flag_ns).saturating_sub(self.miss + 2 * self.holder + self.hit) + 1) / 3
    }

    /// Returns the cycles of half a round trip of a flag, and of a load of a changed line, over
    /// this way.
    fn flag_and_load(&self, way: u64) -> (u64, u64) {
        let Parameters { miss, holder, hit, .. } = self;
        (miss + 3 * way + 2 * holder + hit, miss + 2 * way + holder)
    }
}

impl Fitted {
    /// Fits a machine to cores in these groups, with these times between them.
    pub(super) fn new(times: &Times, groups: &Groups, costs: &Costs) -> Self {
        let flag_ns = groups.typical(times);
        let parameters = Parameters::new(costs, &flag_ns, has_nodes(groups));
        let flag_and_load = costs.flag_and_load.clone();
        Fitted { flag_and_load, ..Self::with(times, groups, parameters) }
    }

    /// Fits a machine to some of the cores, with these parameters.
    pub(super) fn with(times: &Times, groups: &Groups, parameters: Parameters) -> Self {
        let flag_ns = groups.typical(times);
        let ways = flag_ns.iter().map(|&ns| parameters.way(ns)).collect();
        let (sizes, cores) = (groups.sizes(), times.len());
        Fitted { parameters, flag_and_load: Vec::new(), sizes, cores, flag_ns, ways }
    }

    /// Returns a sentence about what the simulator cannot express, if there is something: a load of
    /// a changed line takes another part of a flag's transfer here than in the simulator.
    pub(super) fn misfit(&self) -> Option<String> {
        let off = |&(flag, load): &(f64, f64)| {
            let simulated = nanoseconds(self.parameters.flag_and_load(self.parameters.way(flag)).1);
            (load / simulated, load, simulated)
        };
        let (_, load, simulated) = self
            .flag_and_load
            .iter()
            .map(off)
            .filter(|(ratio, ..)| ratio.max(1.0 / ratio) > MISFIT)
            .max_by(|a, b| a.0.max(1.0 / a.0).total_cmp(&b.0.max(1.0 / b.0)))?;
        Some(format!(
            "A load of a changed line takes {} ns here, and {} ns on the machine made from the times: the \
             simulator knows no other part of a flag's way, which it keeps.",
            short(load),
            short(simulated)
        ))
    }

    pub(super) fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// Returns the machine with `processors` processors.
    ///
    /// With more processors than were measured, there are more groups like those measured. After
    /// one level of groups, all further groups are as far apart as those seen. Without groups, all
    /// processors are as near to each other as those seen.
    pub(super) fn spec(&self, processors: usize) -> MachineSpec {
        let Parameters { hit, locked, miss, holder } = self.parameters;
        MachineSpec {
            name: "measured".to_owned(),
            about: self.about(),
            processors,
            clock_mhz: CLOCK_MHZ,
            processor: ProcessorSpec {
                hit_cycles: hit,
                rmw_hit_cycles: Some(locked),
                instruction_cycles: 0,
                miss_cycles: miss,
                fill_cycles: 0,
                per_node: if self.sizes.len() > 2 { self.sizes[0] } else { 1 },
            },
            network: self.network(),
            coherence: CoherenceSpec::Nearest {
                holder_cycles: holder,
                memory_cycles: MEMORY,
                hold_accesses: HOLD,
            },
        }
    }

    fn network(&self) -> NetworkSpec {
        let chiplets = |sizes: [usize; 3], ways: [u64; 3]| NetworkSpec::Chiplets {
            chiplet_nodes: (sizes[1] / sizes[0]).max(1),
            socket_chiplets: sizes[2].div_ceil(sizes[1]),
            chiplet_cycles: ways[0],
            socket_cycles: ways[1],
            far_cycles: ways[2],
            port_cycles: PORT,
        };
        match (&self.sizes[..], &self.ways[..]) {
            (&[chiplet], &[near, far]) => {
                chiplets([1, chiplet, chiplet * ANY_NUMBER], [near, far, far])
            }
            (&[chiplet, socket], &[near, middle, far]) => {
                chiplets([1, chiplet, socket], [near, middle, far])
            }
            (&[node, chiplet, socket], &[_, near, middle, far]) => {
                chiplets([node, chiplet, socket], [near, middle, far])
            }
            (_, ways) => {
                NetworkSpec::Uniform { message_cycles: ways.first().copied().unwrap_or(0) }
            }
        }
    }

    fn about(&self) -> String {
        let cores = counted(self.cores as u64, "core");
        match &self.sizes[..] {
            [] => format!("{cores}, as throng calibrate measured them"),
            sizes => format!("{cores} in {}, as throng calibrate measured them", in_groups(sizes)),
        }
    }

    /// Returns the machine as a file, which says where each number comes from.
    pub(super) fn toml(&self) -> String {
        let spec = self.spec(self.cores);
        let ProcessorSpec { hit_cycles, miss_cycles, per_node, .. } = spec.processor;
        let Parameters { locked, holder, .. } = self.parameters;
        let mut text = String::from(HEAD);
        let (name, about) = (&spec.name, &spec.about);
        let _ = write!(
            text,
            "name = \"{name}\"
about = \"{about}\"
processors = {}
clock_mhz = {CLOCK_MHZ}           # by choice: a cycle is a third of a nanosecond

[processor]
hit_cycles = {hit_cycles}              # measured: a load that hits
rmw_hit_cycles = {locked}         # measured: a locked addition to the own line
miss_cycles = {miss_cycles}             # not measured apart: as on the preset server
",
            self.cores
        );
        if per_node > 1 {
            let _ = writeln!(
                text,
                "per_node = {per_node}             # measured: the nearest, {}",
                self.sum(0)
            );
        }
        let _ = writeln!(text, "\n[network]\nkind = \"{}\"", spec.network.kind());
        match spec.network {
            NetworkSpec::Chiplets {
                chiplet_nodes,
                socket_chiplets,
                chiplet_cycles,
                socket_cycles,
                far_cycles,
                port_cycles,
            } => {
                let (first, last) = (usize::from(per_node > 1), self.ways.len() - 1);
                let (sockets, far) = if self.sizes.len() == 1 {
                    (" # no second socket was seen: others are as far", "assumed: as socket_cycles")
                } else {
                    ("", "")
                };
                let far = if far.is_empty() { self.sum(last) } else { far.to_owned() };
                let _ = write!(
                    text,
                    "chiplet_nodes = {chiplet_nodes}
socket_chiplets = {socket_chiplets}{sockets}
chiplet_cycles = {chiplet_cycles}         # {}
socket_cycles = {socket_cycles}         # {}
far_cycles = {far_cycles}            # {far}
port_cycles = {port_cycles}            # not measured: as on the preset server
",
                    self.sum(first),
                    self.sum(first + 1),
                );
            }
            NetworkSpec::Uniform { message_cycles } => {
                let _ =
                    writeln!(text, "message_cycles = {message_cycles}         # {}", self.sum(0));
            }
            _ => unreachable!("no other networks are made"),
        }
        let holder_from = if per_node > 1 {
            "measured, see per_node"
        } else {
            "2 * flag - 3 * load, or as on the preset server"
        };
        let _ = write!(
            text,
            "
[coherence]
kind = \"nearest\"
holder_cycles = {holder}          # {holder_from}; the ways above are what remains
memory_cycles = {MEMORY}        # not measured: 120 ns, as on the preset server
hold_accesses = {HOLD}          # not measured: as on the preset server
"
        );
        text
    }

    /// Describes the parts of half a round trip of a flag between cores of this level.
    fn sum(&self, level: usize) -> String {
        let Parameters { miss, holder, hit, .. } = self.parameters;
        // Processors of one node have no way, in any case.
        let way = if level == 0 && self.sizes.len() > 2 { 0 } else { self.ways[level] };
        let sum = nanoseconds(self.parameters.flag_and_load(way).0);
        let sum = format!("{miss} + 3 * {way} + 2 * {holder} + {hit} cycles = {} ns", short(sum));
        let measured = self.flag_ns[level];
        if measured.is_finite() {
            format!("{sum}; measured: flag {} ns", short(measured))
        } else {
            format!("{sum}; not measured: as on the preset server")
        }
    }
}

/// Formats sizes as in "groups of 8", "groups of 8 and 96".
pub(super) fn in_groups(sizes: &[usize]) -> String {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    format!("groups of {}", sizes.join(" and "))
}

fn has_nodes(groups: &Groups) -> bool {
    groups.levels.len() > 2
}

const HEAD: &str = "\
# This machine as `throng calibrate` measured it, for `throng simulate --machine`.
#
# Half a round trip of a flag is a store that takes the other's copy away, and then a load that
# misses: miss_cycles + 3 * way + 2 * holder_cycles + hit_cycles, where a way is one of [network].
# With more processors than were measured, there are more groups like those measured.

";

#[cfg(test)]
mod tests {
    use super::super::groups::tests::matrix;
    use super::*;
    use std::sync::atomic::Ordering::Acquire;
    use throng::machine::{Cpu, Line, Place, Word};
    use throng_sim::{Sim, Simulation};

    fn costs(flag_and_load: &[(f64, f64)]) -> Costs {
        Costs { hit: Some(1.2), locked: Some(5.0), flag_and_load: flag_and_load.to_vec() }
    }

    fn fitted(times: &Times, flag_and_load: &[(f64, f64)]) -> Fitted {
        let groups = Groups::find(times, Groups::none());
        Fitted::new(times, &groups, &costs(flag_and_load))
    }

    /// Returns half a round trip of a flag between two processors of the simulated machine: the
    /// simulator in place of the real one.
    fn simulated_flag_ns(spec: &MachineSpec, one: usize, other: usize) -> f64 {
        const ROUNDS: u64 = 100;
        let run = |rounds: u64| {
            let outcome = Simulation::new()
                .machine(spec.clone())
                .processors(spec.processors)
                .run(
                    || Line::word::<Sim>(0, Place::named("flag")),
                    move |flag, cpu| {
                        for round in 0..rounds {
                            if cpu.id() == one {
                                flag.store(2 * round + 1, Acquire);
                                flag.wait_while(cpu, Acquire, |value| value != 2 * round + 2);
                            } else if cpu.id() == other {
                                flag.wait_while(cpu, Acquire, |value| value != 2 * round + 1);
                                flag.store(2 * round + 2, Acquire);
                            }
                        }
                    },
                )
                .unwrap();
            outcome.cycles
        };
        let cycles = run(2 * ROUNDS) - run(ROUNDS);
        spec.nanoseconds(cycles) / (2 * ROUNDS) as f64
    }

    /// Returns the time of a load of a line that another processor of the simulated machine has
    /// changed.
    fn simulated_load_ns(spec: &MachineSpec, one: usize, other: usize) -> f64 {
        let outcome = Simulation::new()
            .machine(spec.clone())
            .processors(spec.processors)
            .run(
                || Line::word::<Sim>(0, Place::named("line")),
                move |line, cpu| {
                    if cpu.id() == one {
                        line.fetch_add(1, Acquire);
                    } else if cpu.id() == other {
                        cpu.pause(1_000_000);
                        let start = cpu.clock();
                        line.load(Acquire);
                        return cpu.clock() - start;
                    }
                    0
                },
            )
            .unwrap();
        spec.nanoseconds(outcome.results[other].unwrap())
    }

    fn assert_near(found: f64, expected: f64, percent: f64, what: &str) {
        let off = 100.0 * (found / expected - 1.0).abs();
        assert!(off <= percent, "{what}: {found} instead of {expected}, {off:.1} % off");
    }

    /// Checks matrix, machine file and simulated flag for equal times, for every pair of the
    /// matrix.
    fn assert_round_trip(times: &Times, machine: &Fitted) {
        let spec = MachineSpec::from_toml(&machine.toml()).unwrap();
        assert_eq!(spec, machine.spec(times.len()), "the file is the machine");
        for (one, row) in times.iter().enumerate() {
            for (other, time) in row.iter().enumerate() {
                if let Some(time) = *time {
                    // 2 % of noise are in the matrix; rounding costs a cycle or two.
                    let found = simulated_flag_ns(&spec, one, other);
                    assert_near(found, time, 2.5 + 70.0 / time, &format!("{one} to {other}"));
                }
            }
        }
    }

    #[test]
    fn two_cores_are_a_flat_machine_on_which_a_flag_takes_what_was_measured() {
        for ns in [5.0, 23.0, 33.3, 120.0, 517.0] {
            let times = matrix(2, &[], &[ns]);
            let machine = fitted(&times, &[(ns, 0.55 * ns)]);
            assert_eq!(machine.spec(2).network.kind(), "uniform");
            assert_round_trip(&times, &machine);
        }
    }

    #[test]
    fn two_chiplets_of_eight() {
        let times = matrix(16, &[8], &[25.0, 110.0]);
        let machine = fitted(&times, &[(25.0, 14.0), (110.0, 60.0)]);
        let NetworkSpec::Chiplets { chiplet_nodes, .. } = machine.spec(16).network else {
            panic!("{:?}", machine.spec(16).network);
        };
        assert_eq!(chiplet_nodes, 8);
        assert_round_trip(&times, &machine);
        // Eight times as many cores have the same distances.
        let large = machine.spec(128);
        assert_near(simulated_flag_ns(&large, 0, 7), 25.0, 4.0, "within a chiplet");
        assert_near(simulated_flag_ns(&large, 0, 127), 110.0, 4.0, "to the last");
    }

    #[test]
    fn two_sockets_of_two_chiplets() {
        let times = matrix(16, &[4, 8], &[22.0, 95.0, 190.0]);
        let machine = fitted(&times, &[(22.0, 12.0)]);
        let NetworkSpec::Chiplets { chiplet_nodes, socket_chiplets, .. } = machine.spec(16).network
        else {
            panic!("{:?}", machine.spec(16).network);
        };
        assert_eq!((chiplet_nodes, socket_chiplets), (4, 2));
        assert_round_trip(&times, &machine);
    }

    #[test]
    fn threads_of_one_core_on_chiplets_on_sockets() {
        let times = matrix(16, &[2, 4, 8], &[7.0, 22.0, 95.0, 190.0]);
        let machine = fitted(&times, &[(7.0, 4.0), (22.0, 12.0)]);
        assert_eq!(machine.spec(16).processor.per_node, 2);
        assert_round_trip(&times, &machine);
    }

    #[test]
    fn a_single_load_takes_what_was_measured() {
        // The machine can express R between T / 2 and 0.6 T.
        for (flag, load) in [(40.0, 20.0), (40.0, 22.0), (100.0, 58.0)] {
            let machine = fitted(&matrix(2, &[], &[flag]), &[(flag, load)]);
            assert_near(simulated_load_ns(&machine.spec(2), 0, 1), load, 4.0, "a load");
        }
        // Less than half: nothing is faster than half of a flag's transfer.
        let machine = fitted(&matrix(2, &[], &[40.0]), &[(40.0, 10.0)]);
        assert_near(simulated_load_ns(&machine.spec(2), 0, 1), 20.0, 4.0, "half");
        assert_near(simulated_flag_ns(&machine.spec(2), 0, 1), 40.0, 4.0, "the flag all the same");
    }

    #[test]
    fn a_load_that_the_simulator_cannot_express_is_told_with_what_it_makes_of_it() {
        let times = matrix(2, &[], &[40.0]);
        assert_eq!(fitted(&times, &[(40.0, 22.0)]).misfit(), None);
        for load in [10.0, 35.0] {
            let machine = fitted(&times, &[(40.0, load)]);
            let simulated = simulated_load_ns(&machine.spec(2), 0, 1);
            let said = machine.misfit().unwrap();
            let expected = format!("takes {} ns here, and {} ns", short(load), short(simulated));
            assert!(said.contains(&expected), "{said} instead of {expected}");
        }
    }

    #[test]
    fn own_lines_cost_what_was_measured() {
        let machine = fitted(&matrix(2, &[], &[30.0]), &[]);
        let spec = machine.spec(2);
        assert_eq!((spec.processor.hit_cycles, spec.processor.rmw_hit_cycles), (4, Some(15)));
        let none = Fitted::new(&matrix(2, &[], &[30.0]), &Groups::none(), &Costs::default());
        let server = MachineSpec::preset("server").unwrap();
        let ProcessorSpec { hit_cycles, rmw_hit_cycles, .. } = none.spec(2).processor;
        assert_eq!(
            (hit_cycles, rmw_hit_cycles),
            (server.processor.hit_cycles, server.processor.rmw_hit_cycles)
        );
    }

    #[test]
    fn one_core_is_taken_to_have_neighbours_like_those_of_the_preset() {
        let machine = fitted(&matrix(1, &[], &[0.0]), &[]);
        let spec = MachineSpec::from_toml(&machine.toml()).unwrap();
        assert!(machine.toml().contains("not measured: as on the preset server"));
        let server = MachineSpec::preset("server").unwrap();
        let eight = |spec: &MachineSpec| MachineSpec { processors: 8, ..spec.clone() };
        let (here, there) =
            (simulated_flag_ns(&eight(&spec), 0, 1), simulated_flag_ns(&eight(&server), 0, 1));
        assert_near(here, there, 1.0, "a flag");
    }

    #[test]
    fn the_preset_has_what_is_taken_from_it() {
        let server = MachineSpec::preset("server").unwrap();
        assert_eq!(server.clock_mhz, CLOCK_MHZ);
        assert_eq!(server.processor.miss_cycles, MISS);
        let memory = CoherenceSpec::Nearest {
            holder_cycles: HOLDER,
            memory_cycles: MEMORY,
            hold_accesses: HOLD,
        };
        assert_eq!(server.coherence, memory);
        let NetworkSpec::Chiplets { chiplet_cycles, port_cycles, .. } = server.network else {
            panic!("{:?}", server.network);
        };
        assert_eq!((chiplet_cycles, port_cycles), (NEAR_WAY, PORT));
    }

    #[test]
    fn the_file_names_its_numbers() {
        let times = matrix(16, &[8], &[25.0, 110.0]);
        let text = fitted(&times, &[(25.0, 14.0)]).toml();
        for word in ["hit_cycles", "rmw_hit_cycles", "chiplet_cycles", "socket_cycles"] {
            let line = text.lines().find(|line| line.starts_with(word)).unwrap();
            assert!(line.contains("measured"), "{line}");
        }
        assert!(text.contains("16 cores in groups of 8"), "{text}");
    }
}
