//! SS98 Figure 11: latency by the size of the prisms: depth 3, 64 processors, L varied.

use super::*;
use crate::figures::curve::LinearFit;

pub(super) const DEPTH: u32 = 3;
const TOGETHER: usize = 64;
const TOGETHER_SMOKE: usize = 8;
/// Prism slots on each level.
const CELLS: [usize; 15] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512];
const CELLS_SMOKE: [usize; 3] = [1, 4, 16];

/// Largest small L: each level has at most half as many slots as the tree has leaves.
const SMALL: f64 = 4.0;
/// Largest difference from -1 of an exponent that counts as 1/L.
const INVERSE: f64 = 0.35;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-11",
    title: "latency by the size of the prisms",
    paper: "SS98 Figure 11",
    shows: "Latency is about P / L with small prisms, has an optimum, then rises ever more slowly.",
    find,
};

/// Returns the number of processors.
pub(super) fn processors(lab: &Lab) -> usize {
    lab.pick(TOGETHER, TOGETHER_SMOKE)
}

/// Returns the sizes of the prisms.
pub(super) fn cells(lab: &Lab) -> &'static [usize] {
    lab.pick(&CELLS[..], &CELLS_SMOKE[..])
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let (processors, cells) = (processors(lab), cells(lab));
    let at = |&cells: &usize| (cells as f64, run(lab, tree(NEW, DEPTH, cells), processors));
    let rows = vec![("latency".to_owned(), cells.iter().map(at).collect())];
    let rows = lab.sweep(FIGURE.id, REPETITIONS, rows)?;
    let curve = rows[0].curve(latency);
    let hot = |x: f64| format!("processors waited at: {} (L = {x})", rows[0].hottest(x));
    let claims = vec![
        inverse_at_small(lab, &curve).because(hot(1.0)),
        has_optimum(lab, &curve),
        tapers_off(lab, &curve),
    ];
    Ok(Findings {
        setup: setup(lab, &format!("the new balancer, depth {DEPTH}, {processors} processors")),
        panels: vec![Panel::new(
            Axis::new("prism slots on each level (L)", Scale::Log2),
            Axis::new("latency (cycles)", Scale::Linear),
            vec![curve],
        )],
        claims,
    })
}

fn inverse_at_small(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "about P/L at small L",
        format!("latency like L^e with e = -1 +- {INVERSE} from L = 1 to {SMALL}"),
    );
    let log = |point: &Point| (point.x.ln(), point.y.ln());
    let points: Vec<(f64, f64)> = curve.between(1.0, SMALL).iter().map(log).collect();
    let Some(fit) = LinearFit::of(&points) else {
        return claim;
    };
    let exponent = fit.slope;
    let say = |x: f64| curve.at(x).map_or("-".to_owned(), short);
    let measured =
        format!("e = {exponent:.2}: {} cycles at L = 1, {} at L = {SMALL}", say(1.0), say(SMALL));
    claim.judged(measured, lab.judge((exponent + 1.0).abs() <= INVERSE))
}

fn has_optimum(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "an optimum in between",
        format!(
            "lowest latency neither at the smallest nor the largest L, both at least {:.0} % above it",
            100.0 * NOISE
        ),
    );
    let (Some(first), Some(last), Some(best)) =
        (curve.points.first(), curve.last(), curve.lowest())
    else {
        return claim;
    };
    let above = |end: f64| end > (1.0 + NOISE) * best.y;
    let measured = format!(
        "{} cycles at L = {} ({} and {} at the ends)",
        short(best.y),
        best.x,
        short(first.y),
        short(last.y)
    );
    claim.judged(measured, lab.judge(above(first.y) && above(last.y)))
}

/// Returns the rise from each point after the lowest to the next, in cycles a slot.
fn rises(curve: &Curve) -> Vec<f64> {
    let Some(best) = curve.lowest() else { return Vec::new() };
    let after = curve.between(best.x, f64::INFINITY);
    let rise = |pair: &[Point]| (pair[1].y - pair[0].y) / (pair[1].x - pair[0].x);
    after.windows(2).map(rise).collect()
}

/// Judges that the rise tapers off. The paper expects a linear rise in L first, so slopes are per
/// slot. Per doubling of L, as the chart is drawn, the rise tapers off far less; the result states
/// that too.
fn tapers_off(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "then a rise that tapers off",
        "a slot more costs less than half as much at the largest L as where it costs most",
    );
    let rises = rises(curve);
    let (Some(&last), Some(steepest)) = (rises.last(), rises.iter().copied().reduce(f64::max))
    else {
        return claim.judged("there is no rise", lab.judge(false));
    };
    let by_doubling = curve.points.windows(2).next_back().map_or(f64::NAN, |pair| {
        100.0 * (pair[1].y / pair[0].y - 1.0) / (pair[1].x / pair[0].x).log2()
    });
    let measured = format!(
        "{} cycles a slot at most, {} at the largest L, where a doubling of L still adds \
         {by_doubling:.0} %",
        short(steepest),
        short(last)
    );
    claim.judged(measured, lab.judge(steepest > 0.0 && last < 0.5 * steepest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_shape_of_the_paper_holds_and_others_do_not() {
        let lab = Lab::new(false, 1, 1);
        let papers = curve(
            "l",
            &[
                (1.0, 800.0),
                (2.0, 400.0),
                (4.0, 210.0),
                (8.0, 150.0),
                (16.0, 190.0),
                (32.0, 250.0),
                (64.0, 255.0),
            ],
        );
        let verdicts = |curve: &Curve| {
            [inverse_at_small(&lab, curve), has_optimum(&lab, curve), tapers_off(&lab, curve)]
                .map(|claim| claim.holds)
        };
        assert_eq!(verdicts(&papers), [Some(true); 3]);
        let falling = Curve::formula("l", &[1.0, 2.0, 4.0, 8.0, 16.0], |x| 100.0 - x);
        assert_eq!(verdicts(&falling), [Some(false); 3]);
        let straight = curve("l", &[(1.0, 800.0), (4.0, 100.0), (8.0, 200.0), (16.0, 300.0)]);
        assert_eq!(tapers_off(&lab, &straight).holds, Some(false));
        assert_eq!(verdicts(&curve("l", &[]))[1], None);
    }
}
