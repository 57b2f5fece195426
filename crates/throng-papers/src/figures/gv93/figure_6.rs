//! GV93 Figure 6 and Table 1: a dynamic f-way barrier with one set of flags, which the paper
//! shows to be wrong. The figure shows that a simulated machine with stalling processors finds the
//! race.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use throng::machine::{Line, Machine, Native, Place, WayOut, Word};
use throng::structures::barrier::{Broken, Meeting};
use throng_sim::{Faults, Sim};

use super::*;
use crate::workloads::barrier::{BarrierChoice, BarrierRun, BarrierTuning, FanInChoice};
use crate::workloads::parallel::parallel;

const MEMBERS: usize = 9;
const FAN_IN: usize = 3;
const ROUNDS: u64 = 30;
/// Largest number of seeds tried.
const SEEDS: u64 = 200;
const SEEDS_SMOKE: u64 = 4;
/// Number of points drawn.
const SHOWN: usize = 20;
/// Number of seeds within which the race must appear.
const SOON: u64 = 50;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-R",
    title: "the race of the incorrect dynamic f-way barrier",
    paper: "GV93 Figure 6, Table 1",
    shows: "Processors that stall at random find the race of Figure 6, and none in what replaced it.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let seeds: Vec<u64> = (0..lab.pick(SEEDS, SEEDS_SMOKE)).map(|i| lab.seed + i).collect();
    let wrong = failures(lab, &incorrect(), &seeds)?;
    let right = failures(lab, &correct(), &seeds)?;
    let claims = vec![found(lab, &wrong), passes(lab, &right, seeds.len())];
    let curve = |name: &str, failed: &[(u64, String)]| {
        let so_far = |&seed: &u64| {
            let count = failed.iter().filter(|(other, _)| *other <= seed).count();
            Point::exact((seed - lab.seed + 1) as f64, count as f64)
        };
        // Draw about `SHOWN` of the points.
        let shown = seeds.iter().step_by(seeds.len().div_ceil(SHOWN)).chain(seeds.last());
        let mut points: Vec<Point> = shown.map(so_far).collect();
        points.dedup();
        Curve::measured(name, points)
    };
    let panel = Panel::new(
        Axis::new("seeds tried", Scale::Linear),
        Axis::new("runs that failed", Scale::Linear),
        vec![curve("Figure 6, incorrect", &wrong), curve("dynamic f-way", &right)],
    );
    Ok(Findings {
        setup: format!(
            "ksr1 of {MEMBERS} processors, fan-in {FAN_IN}, {ROUNDS} rounds a run, {}, seeds from {}",
            faults(),
            lab.seed
        ),
        panels: vec![panel],
        claims,
    })
}

/// Returns the faults: most accesses are in time, and some are very late.
fn faults() -> Faults {
    Faults::none().random_delays(10, 3000)
}

fn incorrect() -> BarrierChoice {
    BarrierChoice::custom("figure-6", "", |members, _| {
        Ok(Box::new(Incorrect::<Sim>::new(members, FAN_IN)))
    })
}

fn correct() -> BarrierChoice {
    let fan_in = Some(FanInChoice::Fixed(FAN_IN));
    let tuning = BarrierTuning { fan_in, ..BarrierTuning::default() };
    BarrierChoice::named(DYNAMIC.method, tuning).expect("a method of the library")
}

/// Returns the seeds from which a run fails, with the failure.
fn failures(
    lab: &Lab,
    barrier: &BarrierChoice,
    seeds: &[u64],
) -> Result<Vec<(u64, String)>, Error> {
    let ksr1 = lab.preset("ksr1");
    let run = |&seed: &u64| {
        let run = BarrierRun {
            members: MEMBERS,
            rounds: ROUNDS,
            seed,
            faults: faults(),
            ..BarrierRun::new(barrier.clone(), ksr1.clone())
        };
        match run.measure() {
            Ok(_) => Ok(None),
            Err(Error::SimulatedRun { what, .. }) => Ok(Some((seed, what))),
            Err(other) => Err(other),
        }
    };
    let runs = parallel(seeds, lab.threads, &indicatif::ProgressBar::hidden(), run);
    runs.into_iter().filter_map(Result::transpose).collect()
}

fn found(lab: &Lab, failed: &[(u64, String)]) -> Claim {
    let claim = Claim::new(
        "the algorithm of Figure 6 has a race",
        format!("a run fails within {SOON} seeds"),
    );
    let Some((seed, what)) = failed.first() else {
        return claim.judged("no run failed", lab.judge(false));
    };
    let tried = seed - lab.seed + 1;
    let what = what.split(" (the seed chose").next().unwrap_or(what);
    let shown: String = what.chars().take(120).collect();
    let measured = format!("{} runs failed, the first after {tried}: {shown}", failed.len());
    claim.judged(measured, lab.judge(tried <= SOON))
}

fn passes(lab: &Lab, failed: &[(u64, String)], tried: usize) -> Claim {
    let claim = Claim::new(
        "with two sets of flags, the dynamic f-way barrier has none",
        "no run fails from the same seeds",
    );
    let measured = format!("{} of {tried} runs failed", failed.len());
    claim.judged(measured, lab.judge(failed.is_empty()))
}

/// A node: one bit for each member or child still expected. The paper writes single bytes of a
/// word. Here that is a `fetch_and`, and copying the word is a store.
#[derive(Debug)]
struct Node<W> {
    so_far: Line<W>,
    /// The word with all flags set.
    expected: u64,
    /// The parent node, and this node's flag in it.
    above: Option<(usize, u64)>,
}

/// The barrier of Figure 6.
#[derive(Debug)]
struct Incorrect<M: Machine = Native> {
    nodes: Vec<Node<M::Word>>,
    /// For each member, its leaf and its flag there.
    leaves: Vec<(usize, u64)>,
    central_sense: Line<M::Word>,
}

impl<M: Machine> Incorrect<M> {
    fn new(members: usize, fan_in: usize) -> Self {
        let mut nodes: Vec<Node<M::Word>> = Vec::new();
        let leaves = (0..members).map(|member| (member / fan_in, 1 << (member % fan_in))).collect();
        let mut below = members;
        let mut first_below: Option<usize> = None;
        loop {
            let first = nodes.len();
            for i in 0..below.div_ceil(fan_in) {
                let expected = (1 << fan_in.min(below - i * fan_in)) - 1;
                let place = Place::named("arrived").index(first + i);
                nodes.push(Node {
                    so_far: Line::word::<M>(expected, place),
                    expected,
                    above: None,
                });
            }
            if let Some(first_below) = first_below {
                for i in 0..below {
                    nodes[first_below + i].above = Some((first + i / fan_in, 1 << (i % fan_in)));
                }
            }
            below = below.div_ceil(fan_in);
            if below == 1 {
                break;
            }
            first_below = Some(first);
        }
        let central_sense = Line::word::<M>(0, Place::named("bell"));
        Incorrect { nodes, leaves, central_sense }
    }
}

impl<M: Machine> Meeting<M> for Incorrect<M> {
    fn members(&self) -> usize {
        self.leaves.len()
    }

    fn meet_on(
        &self,
        cpu: &M::Cpu,
        rank: usize,
        round: u64,
        _way_out: &WayOut<'_, M>,
    ) -> Result<(), Broken> {
        let (mut at, mut flag) = self.leaves[rank];
        loop {
            let node = &self.nodes[at];
            node.so_far.fetch_and(!flag, AcqRel);
            // Several processors may find the node complete. The slowest of them ...
            if node.so_far.load(Acquire) != 0 {
                self.central_sense.wait_while(cpu, Acquire, |over| over <= round);
                return Ok(());
            }
            // ... overwrites flags that others have set for the next round.
            node.so_far.store(node.expected, Release);
            match node.above {
                Some(above) => (at, flag) = above,
                None => {
                    self.central_sense.store(round + 1, Release);
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_barrier_where_no_member_is_late() {
        let run = BarrierRun {
            members: 1,
            rounds: 4,
            ..BarrierRun::new(incorrect(), throng_sim::MachineSpec::ideal(10))
        };
        assert!(run.measure().is_ok());
        let nodes = Incorrect::<Native>::new(10, 3).nodes;
        let above: Vec<Option<(usize, u64)>> = nodes.iter().map(|node| node.above).collect();
        let up =
            [Some((4, 1)), Some((4, 2)), Some((4, 4)), Some((5, 1)), Some((6, 1)), Some((6, 2))];
        assert_eq!(above, [&up[..], &[None]].concat());
        assert_eq!(
            nodes.iter().map(|node| node.expected).collect::<Vec<_>>(),
            [7, 7, 7, 1, 7, 1, 3]
        );
    }

    #[test]
    fn the_race_is_found_and_only_there() {
        let lab = Lab::new(false, 1, 2);
        let seeds: Vec<u64> = (1..=20).collect();
        assert!(!failures(&lab, &incorrect(), &seeds).unwrap().is_empty());
        assert!(failures(&lab, &correct(), &seeds).unwrap().is_empty());
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels[0].series.len(), findings.claims.len()), (2, 2));
    }
}
