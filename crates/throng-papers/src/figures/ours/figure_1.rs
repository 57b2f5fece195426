//! The default counter against all others on a current server, from 1 processor to 1024.
//!
//! Simulated processors that only count fall into step with each other. Some shapes are then a
//! third faster, and every seed gives the same run. So the best counters are also measured with up
//! to 16 cycles of work after each number, a quarter of a line's transfer from the nearest
//! neighbour.

use super::*;
use crate::figures::{Figure, Findings};
use crate::workloads::reactive::{self, Behaviour};
use throng::structures::counter::reactive::Policy as HandTuned;

const IN_STEP: Experiment = Experiment {
    figure: "THRONG-1",
    work: 0,
    machine: |_| server(),
    nodes: None,
    processors: &[1, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    values: 30_000,
    warm_up: 30_000,
    repetitions: 1,
};

const OUT_OF_STEP: Experiment = Experiment { work: 16, repetitions: 3, ..IN_STEP };

/// Smallest part of the best throughput that counts as near the best, and the numbers of processors
/// between which that is judged.
const NEAR: f64 = 0.9;
const NEAR_FROM: f64 = 16.0;
const NEAR_TO: f64 = 384.0;
/// Smallest ratio to one word's throughput, and the number of processors from which on it is
/// judged.
const MORE: f64 = 3.0;
const CROWD: f64 = 192.0;

/// The reason why it is not near the best without work.
const IN_STEP_WHY: &str = "a core makes three additions in a row before it gives the line of one word away, if there \
    is nothing between them; so from 4 to 48 processors one word is best, and Counter goes over to groups there. Why its \
    measurements favour groups is open";

/// The figure.
pub const FIGURE: Figure = Figure {
    id: IN_STEP.figure,
    title: "the default counter against everything, on a server of today",
    paper: "throng, ours",
    shows: "Without tuning, Counter is near the best of all others, each of them tuned for every P.",
    find,
};

/// All counters except those under one lock.
const CONTENDERS: [Contender; 10] = [
    THE_DEFAULT,
    HARDWARE,
    Contender { name: "gathering", settings: |_| widths("gathering", &[2, 4, 8, 16, 32, 64]) },
    Contender { name: "funnel", settings: |_| one("funnel") },
    Contender { name: "combining tree", settings: |_| one("combining-tree") },
    Contender {
        name: "counting network",
        settings: |_| widths("counting-network", &[4, 16, 32, 64]),
    },
    Contender { name: "diffracting tree", settings: |_| widths("diffracting", &[8, 64]) },
    REACTIVE,
    SELF_TUNING,
    SELF_TUNING_PRISM,
];

/// The first `BEST` contenders are the best somewhere, or near it.
const BEST: usize = 6;

pub(super) const REACTIVE: Contender = Contender { name: RDT, settings: reactive_trees };

pub(super) fn server() -> MachineSpec {
    MachineSpec::preset("server").expect("it comes with the simulator")
}

/// Returns reactive trees with the thresholds that their paper has for Alewife and for its
/// simulator, in cycles. Those of ST07 are microseconds, in which this machine serves a whole
/// queue.
fn reactive_trees(processors: usize) -> Vec<CounterChoice> {
    let simulated = HandTuned::PAPER.fold_below(200).unfold_above(800).run(25);
    let tree = |policy| reactive::tree(processors.ilog2(), Behaviour::Changing(policy));
    [HandTuned::PAPER, simulated].map(tree).to_vec()
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let in_step = IN_STEP.rows(lab, &CONTENDERS)?;
    let out_of_step = OUT_OF_STEP.rows(lab, &CONTENDERS[..BEST])?;
    let mark = format!("(work {}) ", OUT_OF_STEP.work);
    let with_work = claims(lab, &curves(&out_of_step, throughput));
    let [near, beats] = claims(lab, &curves(&in_step, throughput));
    let claims = [near.because(IN_STEP_WHY), beats]
        .into_iter()
        .chain(with_work.map(|claim| claim.marked(&mark)))
        .collect();
    Ok(Findings {
        setup: format!(
            "{}; and: work {}, {}",
            IN_STEP.setup(lab),
            OUT_OF_STEP.work,
            runs_in_words(lab, OUT_OF_STEP.repetitions)
        ),
        panels: [panels(&in_step, IN_STEP.work), panels(&out_of_step, OUT_OF_STEP.work)].concat(),
        claims,
    })
}

fn curves(rows: &[Best], number: fn(&Measured) -> f64) -> Vec<Curve> {
    rows.iter().map(|row| row.curve(number)).collect()
}

fn panels(rows: &[Best], work: u32) -> Vec<Panel> {
    let throughputs = curves(rows, throughput);
    let latency_axis = || Axis::new("latency (cycles)", Scale::Log10);
    let times = Axis::new("times", Scale::Linear);
    let titled = |what: &str| format!("work {work}: {what}");
    let compared = Compared::of(&throughputs);
    let over = vec![
        ratio_curve("over the best of all others", &compared.best),
        ratio_curve("over fetch_add", &compared.one_word),
    ];
    vec![
        panel(&titled("Counter over others"), times, over),
        panel(&titled("latency, median"), latency_axis(), curves(rows, median)),
        panel(&titled("latency, 99 of 100"), latency_axis(), curves(rows, late)),
        panel(&titled("throughput"), throughput_axis(), throughputs),
    ]
}

fn median(run: &Measured) -> f64 {
    run.latency.value_at_quantile(0.5) as f64
}

fn late(run: &Measured) -> f64 {
    run.latency.value_at_quantile(0.99) as f64
}

/// Ratios of the default to the best of all others, and to one word.
struct Compared<'a> {
    best: Vec<Ratio<'a>>,
    one_word: Vec<Ratio<'a>>,
}

impl<'a> Compared<'a> {
    fn of(curves: &'a [Curve]) -> Self {
        let counter = find_curve(curves, COUNTER);
        let others: Vec<&Curve> = curves.iter().filter(|curve| curve.name != COUNTER).collect();
        let everywhere = |rivals: &[&'a Curve]| ratios(counter, rivals, 0.0, f64::INFINITY);
        Compared {
            best: everywhere(&others),
            one_word: everywhere(&[find_curve(curves, FETCH_ADD)]),
        }
    }
}

fn claims(lab: &Lab, curves: &[Curve]) -> [Claim; 2] {
    let Compared { best, one_word } = Compared::of(curves);
    [near_the_best(lab, &best), beats_one_word(lab, &one_word)]
}

fn near_the_best(lab: &Lab, ratios: &[Ratio<'_>]) -> Claim {
    let claim = Claim::new(
        format!("from {NEAR_FROM} to {NEAR_TO} processors Counter is near the best of all others"),
        format!("at least {NEAR} times the best, chosen with hindsight, at every P"),
    );
    at_least(lab, claim, NEAR, &from_to(ratios, NEAR_FROM, NEAR_TO))
}

fn beats_one_word(lab: &Lab, ratios: &[Ratio<'_>]) -> Claim {
    let claim = Claim::new(
        format!("in a crowd Counter is at least {MORE} times as fast as one word"),
        format!("Counter / fetch_add at least {MORE} at every P from {CROWD} on"),
    );
    at_least(lab, claim, MORE, &from_to(ratios, CROWD, f64::INFINITY))
}

fn from_to<'a>(ratios: &[Ratio<'a>], least: f64, most: f64) -> Vec<Ratio<'a>> {
    ratios.iter().copied().filter(|ratio| (least..=most).contains(&ratio.x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn only_the_stated_numbers_of_processors_count() {
        let lab = Lab::new(false, 1, 1);
        let judged = |counter: &[(f64, f64)]| {
            let word = curve(FETCH_ADD, &[(1.0, 9.0), (16.0, 9.0), (192.0, 9.0), (1024.0, 9.0)]);
            let tree = curve("tree", &[(1.0, 1.0), (16.0, 9.0), (192.0, 30.0), (1024.0, 99.0)]);
            claims(&lab, &[curve(COUNTER, counter), word, tree]).map(|claim| claim.holds)
        };
        let good = judged(&[(1.0, 1.0), (16.0, 9.0), (192.0, 28.0), (1024.0, 50.0)]);
        assert_eq!(good, [Some(true), Some(true)]);
        let bad = judged(&[(1.0, 9.0), (16.0, 8.0), (192.0, 28.0), (1024.0, 20.0)]);
        assert_eq!(bad, [Some(false), Some(false)]);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (8, 4));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        assert_eq!(findings.panels[3].series.len(), CONTENDERS.len());
    }
}
