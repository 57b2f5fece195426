//! DT96 Figure 12: trees of several widths, by the number of processors.

use super::*;
use crate::workloads::trees;

const WORK: u32 = 0;
const WIDTHS: [usize; 5] = [4, 8, 16, 32, 64];
const WIDTHS_SMOKE: [usize; 2] = [4, 8];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-12",
    title: "throughput of trees of several widths",
    paper: "DT96 Figure 12",
    shows: "Too narrow and too wide both lose; the wider the tree, the wider the range it is for.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let of_paper = trees(lab, |width| {
        CounterChoice::named(DTREE.method, Some(width)).expect("a method of the library")
    })?;
    let halving = trees(lab, |width| {
        trees::tree(DTREE.method, &halving(width)).expect("a tree of the library")
    })?;
    let range = "the range in which a width is best grows with the width";
    let claims = vec![
        narrow_loses(lab, &of_paper),
        wide_loses(lab, &of_paper),
        ranges_grow(lab, range, &of_paper).because(PRISMS),
        ranges_grow(lab, &format!("(other prisms) {range}"), &halving),
    ];
    let panel = |title: &str, series| {
        Panel::new(processors_axis(), throughput_axis(), series).titled(title)
    };
    Ok(Findings {
        setup: setup(lab, WORK),
        panels: vec![
            panel("prisms as in a tree of width 32, counted from the leaves", of_paper),
            panel("prisms that halve from a quarter of the width at the root", halving),
        ],
        claims,
    })
}

const PRISMS: &str = "the paper gives prism sizes for width 32 only. Counted from the leaves, as \
    here, trees of width 4 and 8 both have two slots at the root, which is what runs out, so that \
    width 8 is never worth its extra level. With prisms that halve from a quarter of the width at \
    the root, see the next claim";

/// Returns prism sizes from the root down: a quarter of the width, then half at each level, at
/// least 1.
fn halving(width: usize) -> Vec<usize> {
    (0..width.ilog2()).map(|level| ((width / 4) >> level).max(1)).collect()
}

/// Measures the throughput of trees of all widths.
fn trees(lab: &Lab, counter: impl Fn(usize) -> CounterChoice) -> Result<Vec<Curve>, Error> {
    let widths = lab.pick(&WIDTHS[..], &WIDTHS_SMOKE[..]);
    let row = |&width: &usize| {
        runs(lab, &format!("DTree[{width}]"), &counter(width), processors(lab), WORK)
    };
    let rows = lab.sweep(FIGURE.id, REPETITIONS, widths.iter().map(row).collect())?;
    Ok(rows.iter().map(|row| row.curve(throughput)).collect())
}

/// Returns the index of the best curve at `x`, and its value.
fn best_at(curves: &[Curve], x: f64) -> Option<(usize, f64)> {
    let at_x = curves.iter().enumerate().filter_map(|(i, curve)| Some((i, curve.at(x)?)));
    at_x.max_by(|a, b| a.1.total_cmp(&b.1))
}

fn narrow_loses(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "too narrow loses",
        format!(
            "at P = {MOST} the narrowest tree is at least {:.0} % below the best",
            100.0 * NOISE
        ),
    );
    let narrowest = curves.first().and_then(|curve| curve.at(MOST));
    let (Some(narrowest), Some((best, most))) = (narrowest, best_at(curves, MOST)) else {
        return claim;
    };
    let measured =
        format!("{:.0} % of {} at P = {MOST}", 100.0 * narrowest / most, curves[best].name);
    claim.judged(measured, lab.judge(narrowest < (1.0 - NOISE) * most))
}

fn wide_loses(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "too wide loses",
        format!("at some P the widest tree is at least {:.0} % below the best", 100.0 * NOISE),
    );
    let Some(widest) = curves.last() else {
        return claim;
    };
    let share = |x: f64| {
        let (best, most) = best_at(curves, x)?;
        Some((widest.at(x)? / most, &curves[best].name, x))
    };
    let shares = widest.points.iter().filter_map(|point| share(point.x));
    let Some((share, best, x)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return claim;
    };
    let measured = format!("{:.0} % of {best} at P = {x}", 100.0 * share);
    claim.judged(measured, lab.judge(share < 1.0 - NOISE))
}

/// Returns, for each curve, the first and the last number of processors at which it is best.
fn ranges(curves: &[Curve]) -> Vec<Option<(f64, f64)>> {
    let mut ranges: Vec<Option<(f64, f64)>> = vec![None; curves.len()];
    for point in curves.first().map_or(&[][..], |curve| &curve.points) {
        if let Some((best, _)) = best_at(curves, point.x) {
            let from = ranges[best].map_or(point.x, |(from, _)| from);
            ranges[best] = Some((from, point.x));
        }
    }
    ranges
}

fn ranges_grow(lab: &Lab, text: &str, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        text,
        "of the widths that are best somewhere (at least three), each but the last has a range \
         at least as long as the one before, and they follow each other",
    );
    let ranges: Vec<(&str, f64, f64)> = (curves.iter().zip(ranges(curves)))
        .filter_map(|(curve, range)| range.map(|(from, to)| (curve.name.as_str(), from, to)))
        .collect();
    let follow = ranges.windows(2).all(|pair| pair[0].2 < pair[1].1);
    // The last range is left out: it continues beyond what was measured.
    let measured_whole = &ranges[..ranges.len().saturating_sub(1)];
    let grow = measured_whole.windows(2).all(|pair| pair[1].2 - pair[1].1 >= pair[0].2 - pair[0].1);
    let say = |&(name, from, to): &(&str, f64, f64)| format!("{name} P = {from}..{to}");
    let measured = ranges.iter().map(say).collect::<Vec<_>>().join(", ");
    claim.judged(measured, lab.judge(ranges.len() >= 3 && follow && grow))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn three(middle_at_8: f64, wide_at_1: f64) -> [Curve; 3] {
        [
            curve("w4", &[(1.0, 9.0), (2.0, 9.0), (8.0, 9.0), (64.0, 9.0), (256.0, 9.0)]),
            curve(
                "w8",
                &[(1.0, 5.0), (2.0, 10.0), (8.0, middle_at_8), (64.0, 20.0), (256.0, 15.0)],
            ),
            curve("w16", &[(1.0, wide_at_1), (2.0, 4.0), (8.0, 8.0), (64.0, 18.0), (256.0, 40.0)]),
        ]
    }

    #[test]
    fn ranges_that_follow_each_other_and_grow() {
        let lab = Lab::new(false, 1, 1);
        let papers = three(15.0, 3.0);
        assert_eq!(ranges(&papers), [Some((1.0, 1.0)), Some((2.0, 64.0)), Some((256.0, 256.0))]);
        let claim = ranges_grow(&lab, "ranges", &papers);
        assert_eq!(claim.measured, "w4 P = 1..1, w8 P = 2..64, w16 P = 256..256");
        assert_eq!(claim.holds, Some(true));
        assert_eq!(narrow_loses(&lab, &papers).measured, "22 % of w16 at P = 256");
        assert_eq!(wide_loses(&lab, &papers).holds, Some(true));
        let torn = three(5.0, 3.0);
        assert_eq!(ranges_grow(&lab, "ranges", &torn).holds, Some(false), "w4 is best again at 8");
        let only_wide = [curve("w4", &[(256.0, 1.0)]), curve("w8", &[(256.0, 2.0)])];
        assert_eq!(ranges_grow(&lab, "ranges", &only_wide).holds, Some(false));
        assert_eq!(wide_loses(&lab, &only_wide).holds, Some(false));
    }
}
