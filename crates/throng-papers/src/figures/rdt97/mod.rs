//! Della-Libera and Shavit, *Reactive Diffracting Trees* (1997), section 5: reactive trees against
//! queue locks and fixed trees.
//!
//! They run the index distribution benchmark (section 5.2). Measurement begins after a long start,
//! in which the reactive tree adapts its shape. As in the paper (section 1.1), fixed trees have
//! counters under queue locks at their leaves; depth 0 is a queue lock alone. Trees whose leaves
//! are one `fetch_add` each are shown as ours.

pub mod figure_1;
pub mod figure_10;
pub mod figure_11;
pub mod figure_12;
pub mod figure_13;
pub mod figure_5_6;
pub mod figure_7_8_9;
mod job_pools;

use throng::structures::counter::reactive::Policy;

use super::claim::Claim;
use super::curve::{Curve, Point, composite};
use super::lab::{Lab, Row};
use super::{Figure, Findings, Panel, processors_axis, throughput_axis};
use crate::chart::{Axis, Look, Scale};
use crate::error::Error;
use crate::numbers::short;
use crate::workloads::measured::Measured;
use crate::workloads::reactive::{self, Behaviour};
use crate::workloads::{CounterChoice, CountingRun};

/// The thresholds for Alewife itself (section 5.2.1).
const ON_ALEWIFE: Policy = Policy::PAPER;
/// The thresholds for the simulated machine (section 5.2.2).
const ON_PROTEUS: Policy = Policy::PAPER.fold_below(200).unfold_above(800).run(25);

/// Largest depth of the reactive tree: that of the deepest tree the paper measured.
const MAX_DEPTH: u32 = 5;
const RDT: &str = "RDT";

/// Numbers handed out in a run.
const VALUES: u64 = 16_000;
const VALUES_SMOKE: u64 = 400;
/// Numbers handed out before the measurement begins. Growing from one counter to 32 takes 31
/// changes, of up to 80 calls in a row each.
const WARM_UP: u64 = 8_000;
const WARM_UP_SMOKE: u64 = 100;
/// Runs of each kind, from different seeds.
const REPETITIONS: u64 = 2;

/// Largest ratio of a measured mean factor to the paper's at which they agree.
const ABOUT: f64 = 1.25;

const PROCESSORS_SMOKE: [usize; 3] = [1, 4, 8];

/// The benchmark of one or several figures.
struct Experiment {
    figure: &'static str,
    /// Processors of the machine.
    nodes: usize,
    processors: &'static [usize],
    /// The depths of the fixed trees; 0 is a queue lock.
    depths: &'static [u32],
    policy: Policy,
    work: u32,
}

/// The experiment of Figures 7 to 10, with depths between their extremes.
const TO_256: Experiment = Experiment {
    figure: "",
    nodes: 256,
    processors: &[1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256],
    depths: &[0, 1, 2, 3, 4, 5],
    policy: ON_PROTEUS,
    work: 0,
};

/// The results of an experiment, as throughput.
struct Compared {
    rows: Vec<Row>,
    /// The fixed locks and trees, in the order of their depths.
    fixed: Vec<Curve>,
    reactive: Curve,
    /// Trees whose leaves are one `fetch_add` each, in the order of their depths from 1 on.
    ours: Vec<Curve>,
}

impl Experiment {
    /// Returns the runs of one counter, one for each number of processors.
    fn runs(
        &self,
        lab: &Lab,
        label: String,
        counter: &CounterChoice,
    ) -> (String, Vec<(f64, CountingRun)>) {
        let run = |&processors: &usize| {
            let run = CountingRun {
                processors,
                nodes: Some(self.nodes),
                values: lab.pick(VALUES, VALUES_SMOKE),
                warm_up: lab.pick(WARM_UP, WARM_UP_SMOKE),
                work: self.work,
                ..CountingRun::new(counter.clone(), lab.alewife())
            };
            (processors as f64, run)
        };
        (label, lab.pick(self.processors, &PROCESSORS_SMOKE[..]).iter().map(run).collect())
    }

    fn compare(&self, lab: &Lab) -> Result<Compared, Error> {
        let depths = lab.pick(self.depths, &self.depths[..2]);
        let fixed = depths.iter().map(|&depth| self.runs(lab, label(depth), &fixed(depth)));
        let reactive = reactive::tree(MAX_DEPTH, Behaviour::Changing(self.policy));
        let reactive = self.runs(lab, RDT.to_owned(), &reactive);
        let ours = depths.iter().filter(|&&depth| depth > 0);
        let ours = ours.map(|&depth| self.runs(lab, label(depth), &with_fetch_add(depth)));
        let all = fixed.chain([reactive]).chain(ours).collect();
        let rows = lab.sweep(self.figure, REPETITIONS, all)?;
        let curves: Vec<Curve> = rows.iter().map(|row| row.curve(throughput)).collect();
        let (fixed, others) = curves.split_at(depths.len());
        Ok(Compared {
            fixed: fixed.to_vec(),
            reactive: others[0].clone(),
            ours: others[1..].to_vec(),
            rows,
        })
    }

    /// Describes the circumstances in a line.
    fn setup(&self, lab: &Lab) -> String {
        format!(
            "alewife of {} processors, work {}, policy {}, {} values of which {} are ignored, {} \
             from seed {}",
            self.nodes,
            self.work,
            Behaviour::Changing(self.policy),
            lab.pick(VALUES, VALUES_SMOKE),
            lab.pick(WARM_UP, WARM_UP_SMOKE),
            lab.runs_in_words(REPETITIONS),
            lab.seed
        )
    }
}

impl Compared {
    fn row(&self, name: &str) -> &Row {
        self.rows.iter().find(|row| row.name == name).expect("every curve has a row")
    }

    /// Returns the curves of the fixed trees and the reactive one.
    fn all(&self) -> Vec<Curve> {
        self.fixed.iter().chain([&self.reactive]).cloned().collect()
    }

    /// Returns the best and the worst of the fixed trees at each point, and the reactive tree.
    fn composites(&self) -> Vec<Curve> {
        let dashed = |name, pick: fn(f64, f64) -> f64| Curve {
            look: Look::Dashed,
            ..composite(name, &self.fixed, pick)
        };
        let best = dashed("optimal composite", f64::max);
        vec![best, self.reactive.clone(), dashed("worst-case composite", f64::min)]
    }

    /// Returns the mean depth of the counters that served calls, by the number of processors.
    fn depth(&self) -> Curve {
        self.row(RDT).curve(Measured::depth_mean)
    }

    /// Judges that the reactive tree is on the average within `papers` of the best fixed lock or
    /// tree.
    fn is_near_the_best(&self, lab: &Lab, papers: f64) -> Claim {
        let text = "RDT within a small factor of the best queue lock or tree";
        mean_factor(lab, text, papers, &self.reactive, &self.fixed).because(self.why_not_nearer())
    }

    /// Judges the same against trees whose leaves are one `fetch_add` each.
    fn is_near_ours(&self, lab: &Lab, papers: f64) -> Claim {
        let text = "(ours, not the paper's) the same, trees with one fetch_add at each leaf";
        let rivals: Vec<Curve> = self.fixed.iter().take(1).chain(&self.ours).cloned().collect();
        mean_factor(lab, text, papers, &self.reactive, &rivals).because(
            "the paper's trees take a queue lock at the leaf, as RDT does, which stops the three \
             counters of a change by it and measures the crowd with it; a leaf that is one fetch_add \
             needs one transfer of a line where the lock needs several",
        )
    }

    fn why_not_nearer(&self) -> String {
        let worst = factors(&self.reactive, &self.fixed).into_iter().max_by(by_factor);
        let Some((factor, name, x)) = worst else { return String::new() };
        format!(
            "the farthest is {factor:.2} at P = {x}, where {name} is best and the mean depth of RDT \
             is {:.1}; processors waited at: {}",
            self.depth().at(x).unwrap_or(f64::NAN),
            self.row(RDT).hottest(x)
        )
    }
}

fn label(depth: u32) -> String {
    if depth == 0 { "queue lock".to_owned() } else { format!("depth {depth}") }
}

/// Returns a fixed tree with counters under queue locks at its leaves.
fn fixed(depth: u32) -> CounterChoice {
    match depth {
        0 => CounterChoice::named("locked-mcs", None).expect("a method of the library"),
        _ => reactive::tree(depth, Behaviour::Fixed),
    }
}

/// Returns a fixed tree with one `fetch_add` at each leaf.
fn with_fetch_add(depth: u32) -> CounterChoice {
    CounterChoice::named("diffracting", Some(1 << depth)).expect("a method of the library")
}

fn throughput(run: &Measured) -> f64 {
    run.throughput_per_million_cycles
}

/// The ratio of the best rival to the reactive tree, the rival's name, and the number of
/// processors.
type Factor<'a> = (f64, &'a str, f64);

fn by_factor(a: &Factor<'_>, b: &Factor<'_>) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0)
}

fn factors<'a>(reactive: &Curve, rivals: &'a [Curve]) -> Vec<Factor<'a>> {
    let best_at = |x: f64| {
        let at_x = rivals.iter().filter_map(|curve| Some((curve.at(x)?, curve.name.as_str())));
        at_x.max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let factor = |point: &Point| {
        let (best, name) = best_at(point.x)?;
        Some((best / point.y, name, point.x))
    };
    reactive.points.iter().filter_map(factor).collect()
}

fn mean_factor(lab: &Lab, text: &str, papers: f64, reactive: &Curve, rivals: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("{text} (paper: {papers} on the average)"),
        format!("mean of best / RDT over all P at most {ABOUT} times the paper's {papers}"),
    );
    let factors = factors(reactive, rivals);
    let Some(&(worst, name, x)) = factors.iter().max_by(|a, b| by_factor(a, b)) else {
        return claim;
    };
    let mean = factors.iter().map(|factor| factor.0).sum::<f64>() / factors.len() as f64;
    let measured = format!("{mean:.2}; at worst {worst:.2}, by {name} (P = {x})");
    claim.judged(measured, lab.judge(mean <= ABOUT * papers))
}

fn panel(title: &str, y: Axis, series: Vec<Curve>) -> Panel {
    Panel::new(processors_axis(), y, series).titled(title)
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn composites_and_factors_are_of_the_best_at_each_x() {
        let lock = curve("lock", &[(1.0, 10.0), (32.0, 4.0)]);
        let tree = curve("tree", &[(1.0, 1.0), (32.0, 40.0)]);
        let reactive = curve(RDT, &[(1.0, 5.0), (32.0, 40.0)]);
        let fixed = [lock, tree];
        assert_eq!(composite("best", &fixed, f64::max).at(32.0), Some(40.0));
        assert_eq!(composite("worst", &fixed, f64::min).at(1.0), Some(1.0));
        assert_eq!(factors(&reactive, &fixed), [(2.0, "lock", 1.0), (1.0, "tree", 32.0)]);
        let lab = Lab::new(false, 1, 1);
        let claim = mean_factor(&lab, "near", 1.3, &reactive, &fixed);
        assert_eq!(claim.measured, "1.50; at worst 2.00, by lock (P = 1)");
        assert_eq!(claim.holds, Some(true), "up to 1.625");
        assert_eq!(mean_factor(&lab, "near", 1.1, &reactive, &fixed).holds, Some(false));
        assert_eq!(mean_factor(&lab, "near", 1.1, &reactive, &[]).holds, None);
    }
}
