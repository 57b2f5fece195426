//! DT96 Figure 11: the diffraction rate at the root, by the number of processors: tokens that left
//! in pairs for each that passed the toggle.

use super::*;
use crate::figures::curve::LinearFit;

const WORK: u32 = 0;
/// Smallest R squared at which points count as a line.
const STRAIGHT: f64 = 0.9;
/// Upper bound of the contention at the toggle that the line implies, 1/a.
const CONTENTION: f64 = 10.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-11",
    title: "diffraction rate at the root",
    paper: "DT96 Figure 11",
    shows: "More processors diffract more: the number waiting at the toggle stays bounded.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = benchmark(lab, FIGURE.id, &[DTREE], WORK)?;
    let curve = rows[0].curve(|run| run.diffraction_rate(0).unwrap_or(f64::NAN));
    let fit = fit(&curve);
    let xs: Vec<f64> = curve.points.iter().map(|point| point.x).collect();
    let line = fit.map(|fit| Curve::formula("linear fit", &xs, |x| fit.at(x)));
    let claims = vec![linear(lab, fit), bounded(lab, fit)];
    let y = Axis::new("diffracted / toggled", Scale::Linear);
    let series = std::iter::once(curve).chain(line).collect();
    Ok(Findings { claims, ..findings(lab, WORK, y, series) })
}

fn fit(curve: &Curve) -> Option<LinearFit> {
    let points: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
    LinearFit::of(&points)
}

fn linear(lab: &Lab, fit: Option<LinearFit>) -> Claim {
    let claim = Claim::new(
        "the diffraction rate is linear in P: a P + c",
        format!("a > 0 and R^2 at least {STRAIGHT}"),
    );
    let Some(LinearFit { slope, intercept, r_squared }) = fit else {
        return claim;
    };
    let measured = format!("{slope:.3} P {intercept:+.2}, R^2 = {r_squared:.3}");
    claim.judged(measured, lab.judge(slope > 0.0 && r_squared >= STRAIGHT))
}

fn bounded(lab: &Lab, fit: Option<LinearFit>) -> Claim {
    let claim = Claim::new(
        "contention at the root's toggle is bounded by 1/a, below 10",
        format!("1/a < {CONTENTION}"),
    );
    let Some(fit) = fit else {
        return claim;
    };
    let contention = 1.0 / fit.slope;
    let holds = fit.slope > 0.0 && contention < CONTENTION;
    claim.judged(format!("1/a = {contention:.1}"), lab.judge(holds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn a_steep_line_holds_and_a_shallow_or_bent_one_does_not() {
        let lab = Lab::new(false, 1, 1);
        let xs = [1.0, 32.0, 128.0, 256.0];
        let steep = fit(&Curve::formula("r", &xs, |x| 0.2 * x + 1.0));
        assert_eq!(
            (linear(&lab, steep).holds, bounded(&lab, steep).holds),
            (Some(true), Some(true))
        );
        assert_eq!(linear(&lab, steep).measured, "0.200 P +1.00, R^2 = 1.000");
        let shallow = fit(&Curve::formula("r", &xs, |x| 0.05 * x));
        assert_eq!(bounded(&lab, shallow).holds, Some(false));
        let bent = fit(&curve("r", &[(1.0, 0.0), (64.0, 20.0), (128.0, 4.0), (256.0, 9.0)]));
        assert_eq!(linear(&lab, bent).holds, Some(false));
        assert_eq!(bounded(&lab, None).holds, None);
    }
}
