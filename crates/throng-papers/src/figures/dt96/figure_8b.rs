//! DT96 Figure 8, a closer look at the tree: throughput holds to about 224 processors and drops
//! toward 256.

use std::fmt::Write as _;

use super::*;
use crate::chart::Mark;

const WORK: u32 = 0;
/// Numbers beyond the paper's 256, which show where the drop comes if it is not there.
const BEYOND: [usize; 5] = [288, 320, 384, 448, 512];
/// The number of processors to which the paper's tree held its throughput.
const HOLDS_TO: f64 = 224.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-8b",
    title: "throughput of a tree of width 32, to 512 processors",
    paper: "DT96 Figure 8",
    shows: "Throughput holds to about 224 processors, then drops: a wider tree is needed.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let beyond = lab.pick(&BEYOND[..], &[]);
    let all: Vec<usize> = processors(lab).iter().chain(beyond).copied().collect();
    let runs = runs(lab, DTREE.label, &DTREE.counter(), &all, WORK);
    let rows = lab.sweep(FIGURE.id, REPETITIONS, vec![runs])?;
    let curve = rows[0].curve(throughput);
    let claims = vec![
        holds_to(lab, &curve),
        drops_after(lab, &curve).because(why_not(&curve, &rows[0].hottest(MOST))),
    ];
    let mut findings = findings(lab, WORK, throughput_axis(), vec![curve]);
    findings.panels[0].marks = vec![Mark::new(HOLDS_TO, "224")];
    Ok(Findings { claims, ..findings })
}

/// Returns the reason why there is no drop before 256.
fn why_not(curve: &Curve, hottest: &str) -> String {
    let (Some(best), Some(last)) = (curve.highest(), curve.last()) else {
        return String::new();
    };
    format!(
        "it comes later: best {} at P = {}, {} at P = {}. Processors waited at: {hottest} \
         (P = {MOST}): the slots of the root's prism are what runs out. Here they serve requests \
         in the order of arrival, so throughput levels off; in the coherence protocol of the \
         paper's simulator, requests that met were aborted and tried again (DT96 section 3.3.1)",
        short(best.y),
        best.x,
        short(last.y),
        last.x
    )
}

/// Judges that fewer processors did not have a higher throughput. Mentions dips on the way, which
/// the paper does not discuss.
fn holds_to(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "DTree[32] holds its throughput to about 224 processors",
        format!("throughput at P = {HOLDS_TO} at least 90 % of its best up to there"),
    );
    let up_to_there = curve.between(1.0, HOLDS_TO);
    let best = super::super::curve::highest(&up_to_there);
    let (Some(best), Some(there)) = (best, curve.at(HOLDS_TO)) else {
        return claim;
    };
    let mut measured = format!(
        "best {} at P = {}, {} at P = {HOLDS_TO}: {:.0} %",
        short(best.y),
        best.x,
        short(there),
        100.0 * there / best.y
    );
    if let Some(dip) = deepest_dip(&up_to_there) {
        let _ = write!(measured, "; on the way a dip of {:.0} % (P = {})", 100.0 * dip.y, dip.x);
    }
    claim.judged(measured, lab.judge(there >= 0.9 * best.y))
}

/// Returns the deepest dip: its number of processors, and its depth relative to the best throughput
/// of fewer processors.
fn deepest_dip(points: &[Point]) -> Option<Point> {
    let mut best = 0.0_f64;
    let below = points.iter().map(|point| {
        best = best.max(point.y);
        Point::exact(point.x, 1.0 - point.y / best)
    });
    below.filter(|dip| dip.y > 0.0).max_by(|a, b| a.y.total_cmp(&b.y))
}

fn drops_after(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "and drops toward 256",
        format!("throughput at P = {MOST} at least {:.0} % below P = {HOLDS_TO}", 100.0 * NOISE),
    );
    let (Some(there), Some(last)) = (curve.at(HOLDS_TO), curve.at(MOST)) else {
        return claim;
    };
    let measured =
        format!("from {} to {}: {:+.1} %", short(there), short(last), 100.0 * (last / there - 1.0));
    claim.judged(measured, lab.judge(last < (1.0 - NOISE) * there))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn a_plateau_with_a_drop_at_its_end() {
        let lab = Lab::new(false, 1, 1);
        let papers = curve("t", &[(64.0, 80.0), (192.0, 100.0), (224.0, 97.0), (256.0, 80.0)]);
        assert_eq!(holds_to(&lab, &papers).holds, Some(true));
        assert_eq!(drops_after(&lab, &papers).holds, Some(true));
        assert_eq!(drops_after(&lab, &papers).measured, "from 97 to 80: -17.5 %");
        let rising = curve("t", &[(64.0, 80.0), (192.0, 90.0), (224.0, 97.0), (256.0, 120.0)]);
        assert_eq!(drops_after(&lab, &rising).holds, Some(false));
        let early = curve("t", &[(64.0, 200.0), (224.0, 97.0), (256.0, 80.0)]);
        assert_eq!(holds_to(&lab, &early).holds, Some(false));
        let dip = curve("t", &[(1.0, 5.0), (2.0, 4.0), (64.0, 80.0), (128.0, 60.0), (224.0, 97.0)]);
        assert_eq!(
            holds_to(&lab, &dip).measured,
            "best 97 at P = 224, 97 at P = 224: 100 %; on the way a dip of 25 % (P = 128)"
        );
        assert_eq!(holds_to(&lab, &curve("t", &[(1.0, 1.0)])).holds, None);
    }
}
