//! The model of SS98 section 3 against the simulated machine: are the peak and the optimum of
//! latency where the Markov chain has them?
//!
//! The model counts steps and the machine cycles, so only places are compared, not heights. Both
//! curves are drawn relative to their own value at one place, where the chain has its peak (over P)
//! or its optimum (over L). A place is read from points a factor of about 1.3 apart, so it is known
//! to within that factor at best.

use super::*;
use super::{figure_9_10, figure_11};
use crate::chart::Mark;
use crate::model::markov::{Length, measure};
use crate::model::{Setting, Tree};
use crate::workloads::parallel::parallel;

/// Largest factor between places that agree.
const AGREE: f64 = 2.0;
/// Moves and tries of processors in a simulation of the chain.
const EFFORT: usize = 1_000_000;
const EFFORT_SMOKE: usize = 5000;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-V",
    title: "latency by the model and on the simulated machine",
    paper: "SS98 section 4",
    shows: "The Markov chain predicts the peak over P and the optimum over L.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut panels = Vec::new();
    let mut claims = Vec::new();
    let chains = figure_9_10::DEPTHS.map(|depth| over_processors(lab, depth));
    for (mark, nodes) in figure_9_10::MACHINES {
        let rows = figure_9_10::rows(lab, FIGURE.id, nodes)?;
        for ((depth, row), chain) in figure_9_10::DEPTHS.into_iter().zip(&rows).zip(&chains) {
            let (machine, why) = (row.curve(latency), figure_9_10::no_hill(row, depth, nodes));
            let peak = same_peak(lab, &machine, chain, depth).because(why);
            let valley = same_valley(lab, &machine, chain, depth)
                .because(figure_9_10::no_valley(row, depth, nodes));
            claims.extend([peak.marked(mark), valley.marked(mark)]);
            let title = format!("{mark}depth {depth}, L = {}", 1 << depth);
            let peak = chain.peak_and_valley(NOISE).map(|(peak, _)| peak.x);
            let unit = ("the chain's peak", peak);
            panels.push(panel(title, "processors", unit, machine, chain.clone()));
        }
    }
    let [machine, chain] = over_cells(lab)?;
    claims.push(same_optimum(lab, &machine, &chain));
    let title = format!("depth {}, {} processors", figure_11::DEPTH, figure_11::processors(lab));
    let unit = ("the chain's optimum", chain.lowest().map(|point| point.x));
    panels.push(panel(title, "prism slots on each level (L)", unit, machine, chain));
    Ok(Findings { setup: setup(lab, "the new balancer, and the Markov chain"), panels, claims })
}

/// Returns the latency of the chain by the number of processors.
fn over_processors(lab: &Lab, depth: u32) -> Curve {
    let setting = |&p: &usize| (p as f64, Setting::of_paper(Tree::of_depth(depth), p));
    chain(lab, figure_9_10::processors(lab).iter().map(setting).collect())
}

/// Returns latency by the size of the prisms: of the machine and of the chain.
fn over_cells(lab: &Lab) -> Result<[Curve; 2], Error> {
    let (cells, processors) = (figure_11::cells(lab), figure_11::processors(lab));
    let at = |&l: &usize| (l as f64, run(lab, tree(NEW, figure_11::DEPTH, l), processors));
    let rows = vec![("machine".to_owned(), cells.iter().map(at).collect())];
    let machine = lab.sweep(FIGURE.id, REPETITIONS, rows)?[0].curve(latency);
    let setting = |&prism: &usize| {
        let tree = Tree { depth: figure_11::DEPTH, prism };
        (prism as f64, Setting::of_paper(tree, processors))
    };
    Ok([machine, chain(lab, cells.iter().map(setting).collect())])
}

/// Returns the latency of the chain in steps.
fn chain(lab: &Lab, settings: Vec<(f64, Setting)>) -> Curve {
    let (effort, seed) = (lab.pick(EFFORT, EFFORT_SMOKE), lab.seed);
    let progress = indicatif::ProgressBar::hidden();
    let points = parallel(&settings, lab.threads, &progress, |(x, setting)| {
        let measured = measure(setting, Length::of_effort(setting, effort), seed);
        Point::exact(*x, measured.latency.mean)
    });
    Curve::measured("Markov chain", points)
}

/// Returns a chart in which both curves are 1 at one place.
fn panel(
    title: String,
    x: &str,
    (unit, place): (&str, Option<f64>),
    machine: Curve,
    chain: Curve,
) -> Panel {
    let machine = Curve { name: "simulated machine".to_owned(), ..machine };
    let marks = place.map(|place| Mark::new(place, format!("{unit}: both are 1")));
    let series = [machine, chain].map(|curve| in_units_of(curve, place)).to_vec();
    let y = Axis::new(format!("latency (its value at {unit} is 1)"), Scale::Linear);
    Panel {
        title,
        marks: marks.into_iter().collect(),
        ..Panel::new(Axis::new(x, Scale::Log2), y, series)
    }
}

/// Divides a curve by its value at `place`, or by its last value where there is no such place.
fn in_units_of(mut curve: Curve, place: Option<f64>) -> Curve {
    let there = place.and_then(|x| curve.at(x)).or(curve.last().map(|point| point.y));
    for point in &mut curve.points {
        let in_units = |y: f64| y / there.unwrap_or(1.0);
        *point = Point {
            x: point.x,
            y: in_units(point.y),
            min: in_units(point.min),
            max: in_units(point.max),
        };
    }
    curve
}

fn agree(a: f64, b: f64) -> bool {
    (a / b).max(b / a) <= AGREE
}

/// Judges whether two places agree. Either of them may not exist.
fn judge(lab: &Lab, claim: Claim, what: &str, machine: Option<f64>, chain: Option<f64>) -> Claim {
    let say = |place: Option<f64>| place.map_or("none".to_owned(), |x| format!("{what} = {x}"));
    let measured = format!("machine: {}, chain: {}", say(machine), say(chain));
    let holds = machine.zip(chain).is_some_and(|(machine, chain)| agree(machine, chain));
    claim.judged(measured, lab.judge(holds))
}

fn same_peak(lab: &Lab, machine: &Curve, chain: &Curve, depth: u32) -> Claim {
    let claim = Claim::new(
        format!("d = {depth}: the peak of latency is where the model puts it"),
        format!(
            "both have one (a fall of more than {:.0} % after it), at most a factor of {AGREE} apart",
            100.0 * NOISE
        ),
    );
    let peak = |curve: &Curve| curve.peak_and_valley(NOISE).map(|(peak, _)| peak.x);
    judge(lab, claim, "P", peak(machine), peak(chain))
}

fn same_valley(lab: &Lab, machine: &Curve, chain: &Curve, depth: u32) -> Claim {
    let claim = Claim::new(
        format!("d = {depth}: and so is the optimum after it"),
        format!("both have one, at most a factor of {AGREE} apart"),
    );
    let valley = |curve: &Curve| curve.peak_and_valley(NOISE).map(|(_, valley)| valley.x);
    judge(lab, claim, "P", valley(machine), valley(chain))
}

fn same_optimum(lab: &Lab, machine: &Curve, chain: &Curve) -> Claim {
    let claim = Claim::new(
        "the optimum over L is where the model puts it",
        format!("at most a factor of {AGREE} apart"),
    );
    let lowest = |curve: &Curve| curve.lowest().map(|point| point.x);
    judge(lab, claim, "L", lowest(machine), lowest(chain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn places_are_compared_and_heights_are_not() {
        let lab = Lab::new(false, 1, 1);
        let machine = curve("m", &[(1.0, 10.0), (32.0, 90.0), (128.0, 40.0), (256.0, 60.0)]);
        let chain = curve("c", &[(1.0, 1.0), (48.0, 3.0), (160.0, 2.0), (256.0, 2.5)]);
        assert_eq!(same_peak(&lab, &machine, &chain, 5).holds, Some(true));
        assert_eq!(same_valley(&lab, &machine, &chain, 5).holds, Some(true));
        let late = curve("c", &[(1.0, 1.0), (128.0, 3.0), (256.0, 2.0)]);
        let claim = same_peak(&lab, &machine, &late, 5);
        assert_eq!(
            (claim.holds, &*claim.measured),
            (Some(false), "machine: P = 32, chain: P = 128")
        );
        let rise = Curve::formula("r", &[1.0, 8.0, 64.0], |x| x);
        let claim = same_peak(&lab, &machine, &rise, 5);
        assert_eq!((claim.holds, &*claim.measured), (Some(false), "machine: P = 32, chain: none"));
        assert_eq!(same_optimum(&lab, &machine, &chain).holds, Some(true), "both at 1");
        assert_eq!(in_units_of(machine.clone(), Some(128.0)).at(128.0), Some(1.0));
        assert_eq!(in_units_of(machine.clone(), Some(128.0)).at(32.0), Some(2.25));
        assert_eq!(in_units_of(machine, None).at(256.0), Some(1.0));
    }
}
