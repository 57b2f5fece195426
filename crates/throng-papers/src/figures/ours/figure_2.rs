//! The default counter against the trees that change their shape, on the machine of their papers.

use super::*;
use crate::figures::{Figure, Findings};
use crate::workloads::reactive::{self, Behaviour};
use throng::structures::counter::reactive::Policy as HandTuned;

/// Processors of the machine.
const NODES: usize = 256;

const EXPERIMENT: Experiment = Experiment {
    figure: "THRONG-2",
    work: 0,
    machine: Lab::alewife,
    nodes: Some(NODES),
    processors: &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 256],
    values: 30_000,
    warm_up: 30_000,
    repetitions: 3,
};

/// Smallest ratio that counts as equally good: runs of one counter from several seeds differ by
/// more.
const AS_GOOD: f64 = 0.98;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "the default counter against trees that change, on Alewife",
    paper: "throng, ours",
    shows: "Counter is never behind the trees that change, on the machine they were made for.",
    find,
};

const CONTENDERS: [Contender; 5] =
    [THE_DEFAULT, HARDWARE, SELF_TUNING, SELF_TUNING_PRISM, REACTIVE];

pub(super) const REACTIVE: Contender = Contender { name: RDT, settings: |_| reactive_trees() };

/// Returns reactive trees of at most 32 leaves, as in RDT97 section 5.2: with the thresholds that
/// the paper found on Alewife, and those that it found on its simulator.
fn reactive_trees() -> Vec<CounterChoice> {
    let simulated = HandTuned::PAPER.fold_below(200).unfold_above(800).run(25);
    [HandTuned::PAPER, simulated]
        .map(|policy| reactive::tree(5, Behaviour::Changing(policy)))
        .to_vec()
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = EXPERIMENT.rows(lab, &CONTENDERS)?;
    let throughputs: Vec<Curve> = rows.iter().map(|row| row.curve(throughput)).collect();
    let counter = find_curve(&throughputs, COUNTER);
    let over =
        |rival: &str| ratios(counter, &[find_curve(&throughputs, rival)], 0.0, f64::INFINITY);
    let spread = spread(&throughputs);
    let claims = [ST, ST_P, RDT].map(|rival| as_good(lab, rival, &over(rival), spread)).to_vec();
    let times =
        [FETCH_ADD, ST, ST_P, RDT].map(|rival| ratio_curve(&format!("over {rival}"), &over(rival)));
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![
            panel("Counter over others", Axis::new("times", Scale::Log10), times.to_vec()),
            panel("throughput", throughput_axis(), throughputs),
        ],
        claims,
    })
}

/// Returns the largest difference between the runs of a point, relative to their mean.
fn spread(curves: &[Curve]) -> f64 {
    let points = curves.iter().flat_map(|curve| &curve.points);
    points.map(|point| (point.max - point.min) / point.y).fold(0.0, f64::max)
}

fn as_good(lab: &Lab, rival: &str, ratios: &[Ratio<'_>], spread: f64) -> Claim {
    let claim = Claim::new(
        format!("Counter is at least as good as {rival}, tuned"),
        format!(
            "Counter / {rival} at least {AS_GOOD} at every P (runs from different seeds lie up to {:.0} % \
             apart)",
            100.0 * spread
        ),
    );
    at_least(lab, claim, AS_GOOD, ratios)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn a_rival_that_is_ahead_anywhere_is_found() {
        let lab = Lab::new(false, 1, 1);
        let counter = curve(COUNTER, &[(1.0, 99.0), (256.0, 50.0)]);
        let judged = |rival: Curve| {
            as_good(&lab, RDT, &ratios(&counter, &[&rival], 0.0, f64::INFINITY), 0.01).holds
        };
        assert_eq!(judged(curve(RDT, &[(1.0, 100.0), (256.0, 20.0)])), Some(true));
        assert_eq!(judged(curve(RDT, &[(1.0, 10.0), (256.0, 52.0)])), Some(false));
    }

    #[test]
    fn runs_that_lie_apart_are_seen() {
        let noisy = Curve::measured("noisy", vec![Point::of(1.0, &[9.0, 10.0, 11.0])]);
        assert!((spread(&[curve("exact", &[(1.0, 3.0)]), noisy]) - 0.2).abs() < 1e-12);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 3));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
