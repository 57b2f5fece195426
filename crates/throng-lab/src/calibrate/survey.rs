//! Chooses the pairs of cores to measure, and the time for each.

use std::collections::BTreeSet;
use std::time::Duration;

use throng::machine::SplitMix64;
use throng::topology::Topology;

use super::groups::{Groups, Times};
use super::probe::{self, Alike, Miss, Patience, Timed};
use super::{Calibration, Cost, names};
use crate::bench::setup::Pinning;
use crate::bench::stats::Stats;
use crate::threads;

/// Largest number of pairs measured: all pairs of 64 cores.
const MOST_PAIRS: usize = 64 * 63 / 2;

/// Largest median spread of a pair, as a part of its median. Above that, measurements say more
/// about other load than about the machine.
pub(crate) const BUSY: f64 = 0.5;

/// Measures this machine.
///
/// Takes up to 10 seconds; a `quick` one up to 3.
pub fn measure(pinning: &Pinning, quick: bool) -> Calibration {
    let numbers = match pinning.cores() {
        // Threads that are not pinned: one time stands for all pairs.
        none if none.is_empty() => (0..threads::cores()).collect(),
        numbers => numbers,
    };
    let survey = Survey { pinning, quick, topology: Topology::here() };
    survey.measure(&numbers)
}

struct Survey<'a> {
    pinning: &'a Pinning,
    quick: bool,
    topology: &'a Topology,
}

impl Survey<'_> {
    /// Measures these cores. Meanwhile they are called by their place in `numbers`, as the pinning
    /// does.
    fn measure(&self, numbers: &[usize]) -> Calibration {
        let cores = numbers.len();
        let mut spreads = Vec::new();
        let times = self.times(cores, &mut spreads);
        let pairs = spreads.len();
        let groups = Groups::find(&times, self.told(numbers));
        let sizes = groups.sizes();
        let typical = groups.typical(&times);
        let order = groups.order(cores);
        let time = |one: usize, other: usize| match times[one][other] {
            _ if one == other => 0.0,
            Some(time) => time,
            None => {
                Some(typical[groups.level(one, other)]).filter(|ns| ns.is_finite()).unwrap_or(0.0)
            }
        };
        let row = |&one: &usize| order.iter().map(|&other| time(one, other)).collect();
        let mut calibration = Calibration {
            cores: order.iter().map(|&place| numbers[place]).collect(),
            transfer_ns: order.iter().map(row).collect(),
            costs: self.costs(&times, &groups, &order),
            machine: String::new(),
            groups: sizes,
            pairs,
            spread: Stats::of(spreads.into_iter()).map_or(0.0, |stats| stats.median),
            notes: Vec::new(),
        };
        calibration.notes = self.notes(&calibration);
        calibration.machine = calibration.machine_file();
        calibration
    }

    /// Returns what the system tells about the cores of these numbers.
    fn told(&self, numbers: &[usize]) -> Groups {
        if !self.pinning.is_possible() {
            return Groups::of_sizes(&[], numbers.len());
        }
        // Their places among the cores that can be used here.
        let mut places: Vec<usize> = (0..numbers.len()).collect();
        places.sort_by_key(|&core| self.topology.place(numbers[core]));
        let mut groups = Groups::of_sizes(self.topology.groups(), numbers.len());
        for level in &mut groups.levels {
            let by_place = level.clone();
            places.iter().zip(by_place).for_each(|(&core, group)| level[core] = group);
        }
        groups
    }

    /// Measures the times between cores, and collects the spread of each pair.
    fn times(&self, cores: usize, spreads: &mut Vec<f64>) -> Times {
        let mut times: Times = vec![vec![None; cores]; cores];
        let pairs = self.pairs(cores);
        // Milliseconds: of all of them together, and of each.
        let (together, each) = if self.quick { (1500, 30) } else { (6000, 200) };
        let ms = (together as f64 / pairs.len().max(1) as f64).min(f64::from(each));
        let patience = Patience { time: Duration::from_secs_f64(ms / 1000.0) };
        for (one, other) in pairs {
            if let Some(Timed { ns, spread }) =
                probe::transfer(self.pinning, (one, other), patience)
            {
                times[one][other] = Some(ns);
                times[other][one] = Some(ns);
                spreads.push(spread);
            }
        }
        times
    }

    fn pairs(&self, cores: usize) -> Vec<(usize, usize)> {
        if self.pinning.is_possible() { chosen_pairs(cores) } else { chosen_pairs(cores.min(2)) }
    }

    fn costs(&self, times: &Times, groups: &Groups, order: &[usize]) -> Vec<Cost> {
        let ms = if self.quick { 15 } else { 60 };
        let patience = Patience { time: Duration::from_millis(ms) };
        let mut costs = Vec::new();
        let mut note = |name: String, timed: Option<Timed>| {
            costs.extend(timed.map(|Timed { ns, .. }| Cost { name, ns }));
        };
        note(names::HIT.to_owned(), probe::alone(self.pinning, Alike::Load, patience));
        note(names::LOCKED.to_owned(), probe::alone(self.pinning, Alike::LockedAdd, patience));
        note(names::PAUSE.to_owned(), probe::alone(self.pinning, Alike::Pause, patience));
        let sizes = groups.sizes();
        for (level, typical) in groups.typical(times).into_iter().enumerate() {
            let Some((one, other)) = typical_pair(times, groups, level, typical) else { continue };
            for (what, miss) in [(names::LOAD, Miss::Load), (names::ADD, Miss::LockedAdd)] {
                let name = names::miss(what, level, &sizes);
                note(name, probe::miss(self.pinning, &[one, other], miss, patience));
            }
        }
        if self.pinning.is_possible() {
            let powers = (0..).map(|power| 1 << power).take_while(|&n| n + 1 < order.len());
            for readers in powers.chain((order.len() > 1).then(|| order.len() - 1)) {
                let crowd = &order[..=readers];
                let timed = probe::miss(self.pinning, crowd, Miss::TakeAway, patience);
                note(names::take_away(readers), timed);
            }
        }
        costs
    }

    fn notes(&self, calibration: &Calibration) -> Vec<String> {
        let cores = calibration.cores.len();
        let all = cores * cores.saturating_sub(1) / 2;
        let mut notes = Vec::new();
        if cores < 2 {
            notes.push(
                "One core only: there is no other to send a line to. Lines are assumed to take as long as \
                 between neighbours of the preset `server`."
                    .to_owned(),
            );
        } else if !self.pinning.is_possible() {
            notes.push(
                "Threads cannot be pinned here: one time, between two threads wherever the system \
                 put them, stands for all pairs."
                    .to_owned(),
            );
        } else if calibration.pairs < all {
            notes.push(format!(
                "{} of {all} pairs were measured; the others are assumed to be as those of the same \
                 distance.",
                calibration.pairs
            ));
        }
        if calibration.spread > BUSY {
            notes.push(format!(
                "Measurements of a pair lie {:.0} % of their median apart: this machine was busy with other \
                 things. Measure again when it is quiet.",
                100.0 * calibration.spread
            ));
        }
        notes.extend(calibration.fitted().misfit());
        if self.topology.processors() < cores {
            notes.push(format!(
                "This program may use {} of its {cores} cores at a time: other programs may have used them in \
                 between.",
                self.topology.processors()
            ));
        }
        notes
    }
}

/// Returns all pairs. Of many cores: those whose places differ by a power of two, and some at
/// random.
fn chosen_pairs(cores: usize) -> Vec<(usize, usize)> {
    let all = (0..cores).flat_map(|one| (one + 1..cores).map(move |other| (one, other)));
    if cores * cores.saturating_sub(1) / 2 <= MOST_PAIRS {
        return all.collect();
    }
    let steps = (0..).map(|power| 1_usize << power).take_while(|&step| step < cores);
    let mut chosen: BTreeSet<(usize, usize)> = steps
        .flat_map(|step| (0..cores - step).map(move |one| (one, one + step)))
        .take(MOST_PAIRS)
        .collect();
    let mut random = SplitMix64::from_state(1);
    while chosen.len() < MOST_PAIRS {
        let (one, other) = (random.below(cores as u64), random.below(cores as u64));
        if one != other {
            chosen.insert((one.min(other) as usize, one.max(other) as usize));
        }
    }
    chosen.into_iter().collect()
}

/// Returns the pair of cores of this level whose time is nearest to the typical one.
fn typical_pair(
    times: &Times,
    groups: &Groups,
    level: usize,
    typical: f64,
) -> Option<(usize, usize)> {
    let cores = times.len();
    let all = (0..cores).flat_map(|one| (one + 1..cores).map(move |other| (one, other)));
    let far = |&(one, other): &(usize, usize)| {
        times[one][other].map_or(f64::INFINITY, |time| (time - typical).abs())
    };
    all.filter(|&(one, other)| groups.level(one, other) == level && times[one][other].is_some())
        .min_by(|a, b| far(a).total_cmp(&far(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_sim::MachineSpec;

    #[test]
    fn all_pairs_of_few_cores_and_no_more_of_many() {
        assert_eq!(chosen_pairs(1), []);
        assert_eq!(chosen_pairs(2), [(0, 1)]);
        assert_eq!(chosen_pairs(16).len(), 120);
        assert_eq!(chosen_pairs(64).len(), MOST_PAIRS);
        let many = chosen_pairs(256);
        assert_eq!(many.len(), MOST_PAIRS);
        assert!(many.iter().all(|&(one, other)| one < other && other < 256));
        assert!(many.contains(&(0, 1)) && many.contains(&(0, 128)));
    }

    #[test]
    fn this_machine_is_measured_and_its_file_is_a_machine() {
        let pinning = Pinning::find();
        let calibration = measure(&pinning, true);
        let cores = calibration.cores.len();
        assert!(cores >= 1);
        for (one, row) in calibration.transfer_ns.iter().enumerate() {
            assert_eq!(row.len(), cores);
            for (other, &ns) in row.iter().enumerate() {
                assert_eq!(ns == 0.0, one == other, "{one} to {other}: {ns} ns");
                assert_eq!(ns, calibration.transfer_ns[other][one]);
            }
        }
        let spec = MachineSpec::from_toml(&calibration.machine).unwrap();
        assert_eq!(spec, calibration.spec(cores));
        assert!(calibration.cost(names::HIT).unwrap() > 0.0);
    }

    #[test]
    fn what_the_system_tells_is_by_the_number_of_a_core() {
        let pinning = Pinning::find();
        let topology = Topology::of_groups(&[2]);
        let survey = Survey { pinning: &pinning, quick: true, topology: &topology };
        if pinning.is_possible() {
            assert_eq!(survey.told(&[1, 0, 2, 3]).levels, [[0, 0, 1, 1]]);
            assert_eq!(survey.told(&[3, 0, 2, 1]).levels, [[1, 0, 1, 0]]);
        }
    }
}
