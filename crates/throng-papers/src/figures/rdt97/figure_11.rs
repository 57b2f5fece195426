//! RDT97 Figure 11: latency, depth and throughput over time, with a jump from 32 to 256 processors.

use super::*;
use crate::figures::curve::highest;
use crate::figures::surges::{Surges, over_time, surges};
use crate::workloads::surge::{Interval, Phase, SurgeRun};

/// "The system constant for the number of consecutive timings was set at 10" (section 5.3).
const POLICY: Policy = ON_PROTEUS.run(10);
const FEW: usize = 32;
const FEW_SMOKE: usize = 4;
const MANY: usize = 256;
const MANY_SMOKE: usize = 16;
const INTERVAL_CYCLES: u64 = 25_000;
const INTERVAL_CYCLES_SMOKE: u64 = 2_500;
/// Intervals in which the tree adapts its shape; the paper says "a fixed amount of time".
const SETTLING: u64 = 12;
/// Intervals shown before the surge; as many as in the paper.
const BEFORE: u64 = 4;
const AFTER: u64 = 16;
/// Number of last intervals that give the final latency.
const SETTLED: usize = 4;
/// Largest excess over the final latency, as a part of it, that counts as settled.
const NOISE: f64 = 0.1;
const REPETITIONS: u64 = 3;

/// Largest difference between depths that agree. Depths are averages over counters on several
/// levels; the paper gives whole numbers.
const DEPTH_OFF: f64 = 0.75;
const DEPTH_BEFORE: f64 = 3.0;
const DEPTH_AFTER: f64 = 5.0;
/// "About 25 equivalent passes through the tree". The claim allows twice that.
const PASSES: f64 = 25.0;
const PASSES_MOST: f64 = 2.0 * PASSES;
/// Smallest rise of throughput at the surge. In the paper it goes from 340 operations in an
/// interval to 1500.
const MORE: f64 = 3.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "RDT97-11",
    title: "from 32 to 256 processors at once",
    paper: "RDT97 Figure 11",
    shows: "Latency jumps at the surge and falls again as the tree grows.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let contenders = [
        (RDT, reactive::tree(MAX_DEPTH, Behaviour::Changing(POLICY))),
        ("depth 3", fixed(3)),
        ("depth 5", fixed(5)),
    ];
    let runs = contenders.map(|(name, counter)| (name, run(lab, counter))).to_vec();
    let all = surges(lab, FIGURE.id, REPETITIONS, runs)?;
    let reactive = |number| curve(lab, &all[0], number);
    let claims = vec![
        depth_grows(lab, &reactive(depth))
            .because(why_not_as_deep(&reactive(depth), &reactive(throughput))),
        latency_spikes(lab, &reactive(latency)),
        latency_settles(lab, &reactive(latency)),
        throughput_rises(lab, &reactive(throughput)),
    ];
    let curves =
        |number: fn(&Interval) -> f64| all.iter().map(|runs| curve(lab, runs, number)).collect();
    let panel = |title: &str, y: &str, scale, series| {
        Panel::new(Axis::new("cycles since the surge", Scale::Linear), Axis::new(y, scale), series)
            .titled(title)
    };
    let shape = vec![reactive(depth)];
    Ok(Findings {
        setup: format!(
            "alewife, {} processors, {} from cycle 0 on, policy {}, intervals of {} cycles, {} from \
             seed {}",
            lab.pick(FEW, FEW_SMOKE),
            lab.pick(MANY, MANY_SMOKE),
            Behaviour::Changing(POLICY),
            lab.pick(INTERVAL_CYCLES, INTERVAL_CYCLES_SMOKE),
            lab.runs_in_words(REPETITIONS),
            lab.seed
        ),
        panels: vec![
            panel("latency", "latency (cycles)", Scale::Log10, curves(latency)),
            panel("the shape it takes", "mean depth", Scale::Linear, shape),
            panel("throughput", "values per million cycles", Scale::Linear, curves(throughput)),
        ],
        claims,
    })
}

fn run(lab: &Lab, counter: CounterChoice) -> SurgeRun {
    let interval = lab.pick(INTERVAL_CYCLES, INTERVAL_CYCLES_SMOKE);
    let surge = (SETTLING + BEFORE) * interval;
    let phases = vec![
        Phase::new(0, lab.pick(FEW, FEW_SMOKE)),
        Phase::new(surge, lab.pick(MANY, MANY_SMOKE)),
    ];
    let end = surge + AFTER * interval;
    SurgeRun::new(counter, lab.alewife(), phases, interval, end)
}

fn latency(interval: &Interval) -> f64 {
    interval.latency_cycles_mean
}

fn depth(interval: &Interval) -> f64 {
    interval.depth_mean
}

fn throughput(interval: &Interval) -> f64 {
    interval.throughput_per_million_cycles
}

/// Returns the curve of `number` over time since the surge, without the intervals in which the tree
/// adapts its shape.
fn curve(lab: &Lab, runs: &Surges, number: fn(&Interval) -> f64) -> Curve {
    let interval = lab.pick(INTERVAL_CYCLES, INTERVAL_CYCLES_SMOKE);
    let all = over_time(runs, (SETTLING + BEFORE) * interval, interval, number);
    Curve { points: all.between(-((BEFORE * interval) as f64), f64::INFINITY), ..all }
}

/// Returns the means before the surge and at the end.
fn ends(curve: &Curve) -> Option<(f64, f64)> {
    let mean = |points: &[Point]| {
        let sum: f64 = points.iter().map(|point| point.y).sum();
        (!points.is_empty()).then(|| sum / points.len() as f64)
    };
    let before = curve.between(f64::NEG_INFINITY, 0.0);
    let last = curve.points.len().saturating_sub(SETTLED);
    Some((mean(&before)?, mean(&curve.points[last..])?))
}

fn depth_grows(lab: &Lab, depth: &Curve) -> Claim {
    let claim = Claim::new(
        "the tree grows from depth 3 to depth 5",
        format!(
            "mean depth within {DEPTH_OFF} of {DEPTH_BEFORE} before, of {DEPTH_AFTER} at the end"
        ),
    );
    let Some((before, after)) = ends(depth) else { return claim };
    let near = |depth: f64, papers: f64| (depth - papers).abs() <= DEPTH_OFF;
    let holds = near(before, DEPTH_BEFORE) && near(after, DEPTH_AFTER);
    claim.judged(format!("from {before:.1} to {after:.1}"), lab.judge(holds))
}

/// Returns the reason why the tree is not as deep as the paper's: the length of queue that makes a
/// counter unfold before the surge.
fn why_not_as_deep(depth: &Curve, throughput: &Curve) -> String {
    let before = |curve| ends(curve).map_or(f64::NAN, |(before, _)| before);
    let leaves = before(depth).exp2();
    let turn = leaves * 1e6 / before(throughput);
    format!(
        "a counter unfolds where {} calls in a row wait more than {} cycles for its lock. Before the \
         surge there are about {leaves:.0} and each hands out a value every {} cycles: every one of \
         those calls would have to find {:.0} others there",
        POLICY.run,
        POLICY.unfold_above,
        short(turn),
        (POLICY.unfold_above as f64 / turn).ceil()
    )
}

fn latency_spikes(lab: &Lab, latency: &Curve) -> Claim {
    let claim = Claim::new(
        "latency leaps up at the surge",
        "the highest after the surge above both what it was before and what it is at the end",
    );
    let after = latency.between(0.0, f64::INFINITY);
    let (Some((before, end)), Some(peak)) = (ends(latency), highest(&after)) else { return claim };
    let measured =
        format!("from {} to {} cycles, {} at the end", short(before), short(peak.y), short(end));
    claim.judged(measured, lab.judge(peak.y > before && peak.y > (1.0 + NOISE) * end))
}

fn latency_settles(lab: &Lab, latency: &Curve) -> Claim {
    let claim = Claim::new(
        format!("it settles in about {PASSES} passes through the tree"),
        format!(
            "from some interval on at most {:.0} % above its end, and that after at most \
             {PASSES_MOST} times the final latency",
            100.0 * NOISE
        ),
    );
    let Some((_, end)) = ends(latency) else { return claim };
    let after = latency.between(0.0, f64::INFINITY);
    let above = after.iter().rposition(|point| point.y > (1.0 + NOISE) * end);
    // Settling ends with the last interval above the bound.
    let length = after.get(1).map_or(0.0, |second| second.x - after[0].x);
    let cycles = above.map_or(0.0, |i| after[i].x + length / 2.0);
    let passes = cycles / end;
    let measured = format!("after {} cycles, {passes:.0} passes", short(cycles));
    claim.judged(measured, lab.judge(passes <= PASSES_MOST))
}

fn throughput_rises(lab: &Lab, throughput: &Curve) -> Claim {
    let claim = Claim::new(
        "throughput rises to more than 3 times what it was",
        format!("at the end more than {MORE} times that before the surge"),
    );
    let Some((before, after)) = ends(throughput) else { return claim };
    let measured =
        format!("{:.1} times: from {} to {}", after / before, short(before), short(after));
    claim.judged(measured, lab.judge(after > MORE * before))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn over_time(before: f64, peak: f64, end: f64) -> Curve {
        let ys = [before, before, peak, (peak + end) / 2.0, end, end, end, end];
        let points: Vec<(f64, f64)> =
            (0..).zip(ys).map(|(i, y)| (100.0 * (f64::from(i) - 1.5), y)).collect();
        curve(RDT, &points)
    }

    #[test]
    fn a_leap_and_its_end_are_found() {
        let lab = Lab::new(false, 1, 1);
        let latency = over_time(10.0, 50.0, 20.0);
        assert_eq!(ends(&latency), Some((10.0, 20.0)));
        assert_eq!(latency_spikes(&lab, &latency).holds, Some(true));
        assert_eq!(latency_settles(&lab, &latency).measured, "after 200 cycles, 10 passes");
        assert_eq!(latency_settles(&lab, &latency).holds, Some(true));
        assert_eq!(latency_spikes(&lab, &over_time(10.0, 15.0, 20.0)).holds, Some(false));
        let slow = over_time(1.0, 5.0, 2.0);
        assert_eq!(latency_settles(&lab, &slow).holds, Some(false), "100 passes");
        assert_eq!(throughput_rises(&lab, &over_time(10.0, 15.0, 35.0)).holds, Some(true));
        assert_eq!(throughput_rises(&lab, &latency).holds, Some(false));
        assert_eq!(depth_grows(&lab, &over_time(3.2, 3.0, 4.5)).holds, Some(true));
        assert_eq!(depth_grows(&lab, &over_time(3.2, 3.0, 4.0)).holds, Some(false));
        assert_eq!(depth_grows(&lab, &curve("nothing", &[])).holds, None);
        let why = why_not_as_deep(&over_time(2.0, 2.0, 5.0), &over_time(1e4, 1e4, 5e4));
        assert!(why.contains("about 4 and each hands out a value every 400 cycles"), "{why}");
        assert!(why.contains("to find 2 others"), "{why}");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 3);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        assert_eq!(findings.panels[0].series[0].points.len() as u64, BEFORE + AFTER);
    }
}
