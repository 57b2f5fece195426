//! The default counter against every other on a server of today, from 1 processor to 1024.

use super::*;
use crate::papers::{Figure, Findings};
use crate::simulated::reactive::{self, Behaviour};
use throng::counter::reactive::Policy as HandTuned;

const EXPERIMENT: Experiment = Experiment {
    figure: "THRONG-1",
    machine: |_| server(),
    nodes: None,
    processors: &[1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    values: 30_000,
    warm_up: 30_000,
    repetitions: 2,
};

/// Near the best is at least so many times the best, from and to so many processors.
const NEAR: f64 = 0.9;
const NEAR_FROM: f64 = 16.0;
const NEAR_TO: f64 = 384.0;
/// In a crowd of so many it has at least so many times what one word has.
const MORE: f64 = 3.0;
const CROWD: f64 = 192.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "the default counter against everything, on a server of today",
    paper: "throng, ours",
    shows: "Without tuning, Counter is near the best of all others, each tuned for every P.",
    find,
};

/// All but those under one lock.
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
    Contender { name: "diffracting tree", settings: |_| widths("diffracting", &[4, 16, 64]) },
    Contender { name: RDT, settings: reactive_trees },
    SELF_TUNING,
    SELF_TUNING_PRISM,
];

pub(super) fn server() -> MachineSpec {
    MachineSpec::preset("server").expect("it comes with the simulator")
}

/// With the thresholds that its paper has for Alewife and for its simulator, in cycles: those of ST07
/// are microseconds, in which this machine serves a whole queue.
fn reactive_trees(processors: usize) -> Vec<CounterChoice> {
    let simulated = HandTuned { fold_below: 200, unfold_above: 800, run: 25 };
    let tree = |policy| reactive::tree(processors.ilog2(), Behaviour::Changing(policy));
    [HandTuned::PAPER, simulated].map(tree).to_vec()
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = EXPERIMENT.rows(lab, &CONTENDERS)?;
    let curves = |number| rows.iter().map(|row| row.curve(number)).collect::<Vec<Curve>>();
    let throughputs = curves(throughput);
    let counter = find_curve(&throughputs, COUNTER);
    let others: Vec<&Curve> = throughputs.iter().filter(|curve| curve.name != COUNTER).collect();
    let word = [find_curve(&throughputs, FETCH_ADD)];
    let claims = vec![
        near_the_best(lab, &ratios(counter, &others, NEAR_FROM, NEAR_TO)),
        beats_one_word(lab, &ratios(counter, &word, CROWD, f64::INFINITY)),
    ];
    let over = vec![
        ratio_curve("over the best of all others", &ratios(counter, &others, 0.0, f64::INFINITY)),
        ratio_curve("over fetch_add", &ratios(counter, &word, 0.0, f64::INFINITY)),
    ];
    let latency_axis = || Axis::new("latency (cycles)", Scale::Log10);
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![
            panel("Counter over others", Axis::new("times", Scale::Linear), over),
            panel("latency, median", latency_axis(), curves(median)),
            panel("latency, 99 of 100", latency_axis(), curves(late)),
            panel("throughput", throughput_axis(), throughputs),
        ],
        claims,
    })
}

fn median(run: &Measured) -> f64 {
    run.latency.value_at_quantile(0.5) as f64
}

fn late(run: &Measured) -> f64 {
    run.latency.value_at_quantile(0.99) as f64
}

fn near_the_best(lab: &Lab, ratios: &[Ratio<'_>]) -> Claim {
    let claim = Claim::new(
        format!("from {NEAR_FROM} to {NEAR_TO} processors Counter is near the best of all others"),
        format!("at least {NEAR} times the best, chosen with hindsight, at every P"),
    );
    at_least(lab, claim, NEAR, ratios)
}

fn beats_one_word(lab: &Lab, ratios: &[Ratio<'_>]) -> Claim {
    let claim = Claim::new(
        format!("in a crowd Counter is at least {MORE} times as fast as one word"),
        format!("Counter / fetch_add at least {MORE} at every P from {CROWD} on"),
    );
    at_least(lab, claim, MORE, ratios)
}
