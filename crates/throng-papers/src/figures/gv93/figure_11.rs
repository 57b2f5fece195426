//! GV93 Figure 11: the time of a round on the Sequent Symmetry, a bus.

use super::*;

const PROCESSORS: [usize; 13] = [1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 19, 20];
const PROCESSORS_SMOKE: [usize; 2] = [2, 5];
/// The smallest number of processors at which the paper calls the central barrier the best.
const TWO: f64 = 2.0;
const FEW: f64 = 16.0;
/// The smallest number of processors at which trees have several nodes.
const SEVERAL: f64 = 8.0;
const MOST: f64 = 20.0;
/// Largest ratio to the best that counts as competitive.
const COMPETITIVE: f64 = 1.1;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-11",
    title: "the time of a round on the Sequent Symmetry",
    paper: "GV93 Figure 11",
    shows: "On a bus one word is as good as a tree, for a while.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let setting = Setting::on(lab.preset("sequent"));
    let contenders: Vec<Contender> = CONTENDERS.into_iter().chain([STATIC_COUNTED]).collect();
    let rows = by_members(lab, FIGURE.id, &contenders, &setting, processors)?;
    let curves: Vec<Curve> = rows.iter().map(|row| row.curve(cycles)).collect();
    let claims = vec![
        central_is_competitive(lab, &curves, &[&DYNAMIC]).because(format!(
            "a node of the combining tree is one fetch-and-add here, where the paper's takes a lock; \
             {}; {}",
            order(&curves, FEW),
            times_on_the_bus(&rows, FEW)
        )),
        central_is_competitive(lab, &curves, &[&DYNAMIC, &COMBINING])
            .because(order(&curves, FEW))
            .marked("(ours, without the combining tree) "),
        static_is_the_best_tree(lab, &curves, &STATIC).because(format!(
            "{WHY_STATIC}; {}; {}",
            order(&curves, MOST),
            times_on_the_bus(&rows, MOST)
        )),
        static_is_the_best_tree(lab, &curves, &STATIC_COUNTED)
            .because(order(&curves, MOST))
            .marked("(ours, flags that count) "),
    ];
    let shown = curves.into_iter().map(|curve| {
        // The paper leaves out the dynamic barrier, which it expects to gain nothing on a bus.
        let is_ours = [&DYNAMIC, &STATIC_COUNTED].iter().any(|ours| curve.name == ours.label);
        if is_ours { curve.ours() } else { curve }
    });
    let panel = Panel::new(processors_axis(), cycles_axis(), shown.collect());
    Ok(Findings { setup: setting.in_words(lab), panels: vec![panel], claims })
}

const WHY_STATIC: &str = "its flags are words here, so that a parent clears them one by one, where \
    the paper writes one word; and each node takes the bus once more for it";

/// Describes how often a round takes the bus.
fn times_on_the_bus(rows: &[BarrierRow], x: f64) -> String {
    let one = |row: &BarrierRow| {
        row.at(x).map(|measured| format!("{} {:.0}", row.name, measured.messages_a_round))
    };
    let all: Vec<String> = rows.iter().filter_map(one).collect();
    format!("times that a round takes the bus: {}", all.join(", "))
}

fn central_is_competitive(lab: &Lab, curves: &[Curve], without: &[&Contender]) -> Claim {
    let claim = Claim::new(
        "the central barrier is competitive up to 16 to 18 processors",
        format!("time / best other at most {COMPETITIVE} at every P from {TWO} to {FEW}"),
    );
    let central = named(curves, &CENTRAL);
    let is_out = |curve: &Curve| {
        let ours = curve.name == STATIC_COUNTED.label;
        ours || without.iter().any(|contender| curve.name == contender.label)
    };
    let others: Vec<&Curve> = curves.iter().filter(|curve| !is_out(curve)).collect();
    let Some((ratio, name, x)) = worst_ratio(central, &others, TWO, FEW) else { return claim };
    let most = over_best(central, others.iter().copied(), MOST)
        .map(|(ratio, name)| format!("; {ratio:.2} times {name} (P = {MOST})"))
        .unwrap_or_default();
    let from_three = worst_ratio(central, &others, TWO + 1.0, FEW)
        .map(|(ratio, name, x)| format!("; from 3 on at worst {ratio:.2} times {name} (P = {x})"))
        .unwrap_or_default();
    let measured = format!("at worst {ratio:.2} times {name} (P = {x}){from_three}{most}");
    claim.judged(measured, lab.judge(ratio <= COMPETITIVE))
}

fn static_is_the_best_tree(lab: &Lab, curves: &[Curve], fway: &Contender) -> Claim {
    let claim = Claim::new(
        "static f-way is the fastest of the trees",
        format!(
            "time / best of combining tree, tournament and MCS tree at most 1 at every P from \
             {SEVERAL} to {MOST}"
        ),
    );
    let trees = [&COMBINING, &TOURNAMENT, &MCS].map(|tree| named(curves, tree));
    let Some((ratio, name, x)) = worst_ratio(named(curves, fway), &trees, SEVERAL, MOST) else {
        return claim;
    };
    claim.judged(format!("at worst {ratio:.2} times {name} (P = {x})"), lab.judge(ratio <= 1.0))
}

/// Returns the point between `least` and `most` where a curve is worst relative to the best of the
/// others.
fn worst_ratio<'a>(
    curve: &Curve,
    others: &[&'a Curve],
    least: f64,
    most: f64,
) -> Option<(f64, &'a str, f64)> {
    let points = curve.between(least, most).into_iter();
    let ratio = |x: f64| over_best(curve, others.iter().copied(), x).map(|(r, name)| (r, name, x));
    points.filter_map(|point| ratio(point.x)).max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_worst_place_counts() {
        let own = curve("own", &[(8.0, 10.0), (16.0, 30.0), (20.0, 90.0)]);
        let other = curve("other", &[(8.0, 10.0), (16.0, 20.0), (20.0, 10.0)]);
        assert_eq!(worst_ratio(&own, &[&other], 2.0, 16.0), Some((1.5, "other", 16.0)));
        assert_eq!(worst_ratio(&own, &[&own], 2.0, 16.0), None);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels[0].series.len(), findings.claims.len()), (8, 4));
        assert!(findings.panels[0].series.iter().any(|c| c.name == "(ours) dynamic f-way"));
    }
}
