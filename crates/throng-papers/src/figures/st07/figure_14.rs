//! ST07 Figure 14: a jump from 4 processors to 28, and the time until the trees have the depth for
//! it.

use super::*;
use crate::chart::{Axis, Look, Scale};
use crate::workloads::surge::Phase;

/// Cycles of an interval. The paper samples every 400 us (100 000 cycles), in which the simulated
/// trees would all settle within a few intervals.
const INTERVAL_CYCLES: u64 = 10_000;
/// Intervals before the surge, in which the trees adapt their shape; and after it.
const BEFORE: u64 = 60;
const BEFORE_SMOKE: u64 = 6;
const AFTER: u64 = 300;
const AFTER_SMOKE: u64 = 14;
/// Intervals before the surge that are drawn.
const SHOWN: u64 = 25;
const REPETITIONS: u64 = 5;
/// The paper's order, and the number of its intervals until each had settled.
const PAPERS: [(&str, u64); 3] = [(ST, 9), (ST_P, 362), (RDT, 12_770)];
/// Smallest part of the final depth at which a tree counts as settled.
const NEAR: f64 = 0.9;
/// Number of intervals averaged for the calls just after the surge.
const FIRST: usize = 5;
/// Parts of the run, of which the last gives the final depth.
const PARTS: usize = 4;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "ST07-14",
    title: "from 4 to 28 processors at once",
    paper: "ST07 Figure 14",
    shows: "The self-tuning trees reach the right depth sooner than the one tuned by hand.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let runs = all_surges(lab, FIGURE.id, REPETITIONS, |counter| run(lab, counter))?;
    let surge_cycle = lab.pick(BEFORE, BEFORE_SMOKE) * INTERVAL_CYCLES;
    let curve = |number: fn(&Interval) -> f64| -> Vec<(&'static str, Curve)> {
        let curve = |runs: &Surges| over_ms(runs, surge_cycle, INTERVAL_CYCLES, number);
        contenders().map(|(name, _)| name).into_iter().zip(runs.iter().map(curve)).collect()
    };
    let (depths, throughputs) = (
        curve(|interval| interval.depth_mean),
        curve(|interval| interval.throughput_per_million_cycles),
    );
    let latencies = curve(|interval| interval.latency_cycles_mean);
    let why = why_at_once(of(&latencies, RDT));
    let claims = [0, 1].map(|i| sooner(lab, &depths, i).because(why.clone())).to_vec();
    let drawn_from = -ms((SHOWN * INTERVAL_CYCLES) as f64);
    let panel = |title: &str, y: &str, curves: Vec<(&str, Curve)>| Panel {
        title: title.to_owned(),
        drawn_from,
        ..Panel::new(
            Axis::new("time since the surge (ms)", Scale::Linear),
            Axis::new(y, Scale::Linear),
            curves.into_iter().map(|(_, curve)| Curve { look: Look::Line, ..curve }).collect(),
        )
    };
    Ok(Findings {
        setup: format!(
            "origin2000 of {MACHINE} processors, {FEW} of them, {} from 0 ms on, RDT policy {}, \
             intervals of {INTERVAL_CYCLES} cycles, {} from seed {}",
            lab.pick(MANY, MANY_SMOKE),
            Behaviour::Changing(BY_HAND),
            lab.runs_in_words(REPETITIONS),
            lab.seed
        ),
        panels: vec![
            panel("depth", "mean depth", depths),
            panel("throughput", "values per million cycles", throughputs),
        ],
        claims,
    })
}

fn run(lab: &Lab, counter: CounterChoice) -> SurgeRun {
    let surge = lab.pick(BEFORE, BEFORE_SMOKE) * INTERVAL_CYCLES;
    let end = surge + lab.pick(AFTER, AFTER_SMOKE) * INTERVAL_CYCLES;
    let phases = vec![Phase::new(0, FEW), Phase::new(surge, lab.pick(MANY, MANY_SMOKE))];
    SurgeRun::new(counter, origin2000(), phases, INTERVAL_CYCLES, end)
}

/// Returns the final depth, and the time in ms from the surge until the depth is near it.
fn settled(depth: &Curve) -> Option<(f64, f64)> {
    let after = depth.between(0.0, f64::INFINITY);
    let last = &after[after.len() - after.len() / PARTS..];
    let end = last.iter().map(|point| point.y).sum::<f64>() / last.len() as f64;
    let reached = after.iter().find(|point| point.y >= NEAR * end)?;
    (end > 0.0).then_some((end, reached.x))
}

/// Judges that the `i`-th tree of the paper's order settles before the one after it.
fn sooner(lab: &Lab, depths: &[(&'static str, Curve)], i: usize) -> Claim {
    let [(first, firsts), (then, thens)] = [PAPERS[i], PAPERS[i + 1]];
    let claim = Claim::new(
        format!("{first} settles before {then} (paper: {firsts} and {thens} intervals of 400 us)"),
        format!(
            "depth at least {NEAR} of where it ends (mean of the last quarter) sooner with {first}"
        ),
    );
    let ends = [first, then].map(|name| settled(of(depths, name)));
    let [Some((one_depth, one)), Some((other_depth, other))] = ends else {
        return claim;
    };
    let measured = format!(
        "{first} after {one:.2} ms (depth {one_depth:.1}), {then} after {other:.2} ms (depth \
         {other_depth:.1})"
    );
    claim.judged(measured, lab.judge(one < other))
}

/// Describes what RDT's calls took just after the surge, and at the end.
fn why_at_once(latency: &Curve) -> String {
    let after = latency.between(0.0, f64::INFINITY);
    let us = |points: &[Point]| {
        let sum: f64 = points.iter().map(|point| point.y).sum();
        sum / points.len() as f64 / CYCLES_A_US as f64
    };
    format!(
        "RDT grows where {} calls in a row have waited for longer than {} us for a lock. Here its calls, \
         of which that is a part, take {:.1} us on the average in the first {} ms after the surge, and \
         {:.1} us in the last quarter: so it is done at once. In the paper it took 5 s: there, it \
         seems, most waited less",
        BY_HAND.run,
        BY_HAND.unfold_above / CYCLES_A_US,
        us(&after[..FIRST.min(after.len())]),
        ms((FIRST as u64 * INTERVAL_CYCLES) as f64),
        us(&after[after.len() - after.len() / PARTS..])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn a_tree_has_settled_when_it_is_near_its_end() {
        let rising = |name: &'static str, at: f64| {
            let points: Vec<(f64, f64)> =
                (-4..16).map(f64::from).map(|x| (x, if x < at { 0.0 } else { 3.0 })).collect();
            (name, curve(name, &points))
        };
        assert_eq!(settled(&rising(ST, 2.0).1), Some((3.0, 2.0)));
        assert_eq!(settled(&rising(ST, 99.0).1), None, "it never was a tree");
        let lab = Lab::new(false, 1, 1);
        let all = [rising(ST, 2.0), rising(ST_P, 5.0), rising(RDT, 4.0)];
        assert_eq!([0, 1].map(|i| sooner(&lab, &all, i).holds), [Some(true), Some(false)]);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 2);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        let points = findings.panels[0].series[0].points.len() as u64;
        assert_eq!(points, BEFORE_SMOKE + AFTER_SMOKE);
    }
}
