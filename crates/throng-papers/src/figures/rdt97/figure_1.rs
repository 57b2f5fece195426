//! RDT97 section 1.1: a queue lock, a deep tree and the reactive tree under low and under high
//! load.
//!
//! The paper's introduction gives the results without the numbers of processors. Here they are 1
//! and 256: 256 is the most that the paper measures, and 1 agrees with its 652 operations of a
//! queue lock under low load.

use super::*;

const EXPERIMENT: Experiment = Experiment {
    figure: "RDT97-1",
    processors: &[1, 256],
    depths: &[0, MAX_DEPTH],
    work: 0,
    ..TO_256
};
/// Range of ratios that counts as "a factor of 10" (section 1.1).
const TEN: std::ops::RangeInclusive<f64> = 5.0..=20.0;
/// Smallest part of the winner's throughput at which the reactive tree is near it. In the paper it
/// has 243 of 652 under low and 3932 of 5010 under high load.
const NEAR: f64 = 1.0 / 3.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "low and high load",
    paper: "RDT97 section 1.1",
    shows: "A lock is far ahead for one processor, a deep tree for many; RDT is near both.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = EXPERIMENT.compare(lab)?;
    let [lock, tree] = &compared.fixed[..] else { unreachable!("there are two depths") };
    let claims = vec![
        wins(lab, "low load: the queue lock", First, lock, tree).because(LOW),
        wins(lab, "high load: the deep tree", Last, tree, lock).because(HIGH),
        is_near(lab, "low load: RDT near the queue lock", First, &compared.reactive, lock)
            .because(compared.why_not_nearer()),
        is_near(lab, "high load: RDT near the deep tree", Last, &compared.reactive, tree)
            .because(compared.why_not_nearer()),
    ];
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![Panel::new(
            Axis::new("processors", Scale::Log2),
            Axis::new("throughput (values per million cycles)", Scale::Log10),
            compared.all(),
        )],
        claims,
    })
}

const LOW: &str = "one caller finds every line of a lock or a tree in its own cache, so that both cost \
    what their steps cost";
const HIGH: &str = "the paper's queue lock hands out nearly as much in a crowd as alone; here it slows \
    down, since a lock that is passed on costs several transfers of lines between processors, and \
    one that nobody else wants costs none";

/// An end of the curves.
#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}
use End::{First, Last};

impl End {
    fn of(self, curve: &Curve) -> Option<f64> {
        let point = match self {
            First => curve.points.first(),
            Last => curve.points.last(),
        };
        point.map(|point| point.y)
    }
}

fn wins(lab: &Lab, text: &str, end: End, winner: &Curve, loser: &Curve) -> Claim {
    let claim = Claim::new(
        format!("{text} wins by about 10 times"),
        format!("{} / {} from {} to {}", winner.name, loser.name, TEN.start(), TEN.end()),
    );
    let (Some(more), Some(less)) = (end.of(winner), end.of(loser)) else { return claim };
    let measured = format!("{:.1} times: {} against {}", more / less, short(more), short(less));
    claim.judged(measured, lab.judge(TEN.contains(&(more / less))))
}

fn is_near(lab: &Lab, text: &str, end: End, reactive: &Curve, winner: &Curve) -> Claim {
    let claim = Claim::new(text, format!("at least {NEAR:.2} times {}", winner.name));
    let (Some(reactive), Some(best)) = (end.of(reactive), end.of(winner)) else { return claim };
    let measured =
        format!("{:.2} times: {} against {}", reactive / best, short(reactive), short(best));
    claim.judged(measured, lab.judge(reactive >= NEAR * best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_papers_numbers_hold() {
        let lab = Lab::new(false, 1, 1);
        let lock = curve("queue lock", &[(1.0, 652.0), (256.0, 595.0)]);
        let tree = curve("depth 5", &[(1.0, 46.0), (256.0, 5010.0)]);
        let reactive = curve(RDT, &[(1.0, 243.0), (256.0, 3932.0)]);
        assert_eq!(wins(&lab, "low", First, &lock, &tree).holds, Some(true));
        assert_eq!(wins(&lab, "high", Last, &tree, &lock).holds, Some(true));
        assert_eq!(is_near(&lab, "low", First, &reactive, &lock).holds, Some(true));
        assert_eq!(is_near(&lab, "high", Last, &reactive, &tree).holds, Some(true));
        assert_eq!(wins(&lab, "wrong", First, &tree, &lock).holds, Some(false));
        assert_eq!(is_near(&lab, "wrong", Last, &lock, &tree).holds, Some(false));
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels[0].series.len(), 3);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
