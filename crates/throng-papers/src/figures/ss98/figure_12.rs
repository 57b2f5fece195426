//! SS98 Figure 12: the original and the new balancer in a long run. After each 1000 values the
//! figure shows their average latency, and the longest wait of any processor so far.
//!
//! A call that starves may not return before the end of the run. So the longest wait is also looked
//! for among calls in progress.

use std::rc::Rc;

use super::*;
use crate::chart::Look;
use crate::workloads::measured::{WINDOW_VALUES, Window};

/// Depth of the tree of Figure 9. The paper gives neither the tree nor the number of processors;
/// the latter is the most of DT96.
const DEPTH: u32 = 5;
const CELLS: usize = 32;
const TOGETHER: usize = 256;
const TOGETHER_SMOKE: usize = 16;
const VALUES: u64 = 200_000;
const VALUES_SMOKE: u64 = 4000;
/// Windows left out as the start of the run (the paper's first 2000 values).
const SKIPPED_WINDOWS: usize = 2;

/// Smallest ratio of the longest wait to that of the first part of the run that counts as growth.
const GROWN: f64 = 2.0;
/// Parts of a run, of which the first is compared.
const PARTS: usize = 4;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-12",
    title: "average and longest wait in a long run",
    paper: "SS98 Figure 12",
    shows: "The original balancer lets some processors starve; the new one does not.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(TOGETHER, TOGETHER_SMOKE);
    let contenders = [
        ("original", tree(ORIGINAL, DEPTH, CELLS)),
        ("original, adaptive", tree(ADAPTIVE, DEPTH, CELLS)),
        ("new", tree(NEW, DEPTH, CELLS)),
    ];
    let run = |(_, counter): &(&str, _)| CountingRun {
        processors,
        values: lab.pick(VALUES, VALUES_SMOKE),
        warm_up: (SKIPPED_WINDOWS * WINDOW_VALUES) as u64,
        seed: lab.seed,
        ..CountingRun::new(Clone::clone(counter), lab.alewife())
    };
    let runs: Vec<CountingRun> = contenders.iter().map(run).collect();
    let measured = lab.measure(FIGURE.id, &runs)?;
    let curves = |points: fn(&Measured) -> Vec<Point>| -> Vec<Curve> {
        let curve =
            |((name, _), (measured, run)): (&(&str, _), (&Rc<Measured>, &CountingRun))| Curve {
                look: Look::Line,
                command: Some(run.replay_command()),
                ..Curve::measured(*name, points(measured))
            };
        contenders.iter().zip(measured.iter().zip(&runs)).map(curve).collect()
    };
    let (averages, longest) = (curves(averages), curves(longest_so_far));
    let judged = |i: usize| (&longest[i], &*measured[i]);
    let claims = vec![
        grows(lab, "original's", judged(0)),
        grows(lab, "original's (adaptive spin)", judged(1)),
        stays_bounded(lab, judged(2)),
        new_is_better(lab, &longest[0], &longest[2]),
    ];
    let panel = |title: &str, y: &str, series| {
        Panel::new(Axis::new("values delivered", Scale::Linear), Axis::new(y, Scale::Log10), series)
            .titled(title)
    };
    Ok(Findings {
        setup: format!(
            "alewife, depth {DEPTH}, L = {CELLS}, {processors} processors, one run from seed {}",
            lab.seed
        ),
        panels: vec![
            panel(
                "the longest wait until then, calls in progress included",
                "longest wait (cycles)",
                longest,
            ),
            panel(
                "the average of each 1000 values, of calls that returned",
                "average latency (cycles)",
                averages,
            ),
        ],
        claims,
    })
}

/// Returns how many values were delivered at the end of the `i`-th window that counts.
fn delivered(i: usize) -> f64 {
    ((SKIPPED_WINDOWS + i + 1) * WINDOW_VALUES) as f64
}

fn windows(run: &Measured) -> &[Window] {
    &run.windows[SKIPPED_WINDOWS.min(run.windows.len())..]
}

fn averages(run: &Measured) -> Vec<Point> {
    let point =
        |(i, window): (usize, &Window)| Point::exact(delivered(i), window.latency_cycles_mean);
    windows(run).iter().enumerate().map(point).collect()
}

/// Returns the longest wait up to the end of each window, and up to the end of the measurement.
fn longest_so_far(run: &Measured) -> Vec<Point> {
    let values = (SKIPPED_WINDOWS * WINDOW_VALUES) as f64 + run.latency.len() as f64;
    let begin = SKIPPED_WINDOWS.checked_sub(1).and_then(|i| run.windows.get(i));
    let begin = begin.map_or(0, |window| window.end_cycle);
    let cycles = run.latency.len() as f64 * 1e6 / run.throughput_per_million_cycles;
    let unserved = (begin + cycles.round() as u64, run.unserved_cycles_max);
    let waits = waits(windows(run), unserved);
    let last = waits
        .iter()
        .copied()
        .max()
        .map(|most| Point::exact(values, most.max(run.unserved_cycles_max) as f64));
    let points = waits.iter().enumerate().map(|(i, &wait)| Point::exact(delivered(i), wait as f64));
    points.chain(last).collect()
}

/// Returns the longest wait at the end of each window. A call that returned later had by then
/// waited its whole wait, less the time from the end of the window to its return. The same holds
/// for a call in progress at the end of the measurement. `unserved` is that end, and how long the
/// oldest call in progress had waited by then.
fn waits(windows: &[Window], unserved: (u64, u64)) -> Vec<u64> {
    let until = |i: usize| {
        let now = windows[i].end_cycle;
        let over = windows[..=i].iter().map(|window| window.latency_cycles_max);
        let later = windows[i..].iter().map(|w| (w.end_cycle, w.latency_cycles_max));
        let in_progress =
            later.chain([unserved]).map(|(end, wait)| wait.saturating_sub(end.saturating_sub(now)));
        over.chain(in_progress).max().unwrap_or(0)
    };
    (0..windows.len()).map(until).collect()
}

/// Returns the longest wait in the first part of a run, and in all of it.
fn first_and_last(longest: &Curve) -> Option<(f64, f64)> {
    let part = longest.points.len().div_ceil(PARTS);
    let first = longest.points.get(part.checked_sub(1)?)?;
    Some((first.y, longest.last()?.y))
}

fn grows(lab: &Lab, whose: &str, longest: (&Curve, &Measured)) -> Claim {
    let claim = Claim::new(
        format!("the {whose} longest wait grows with the length of the run"),
        format!("at the end more than {GROWN} times that of the first quarter of the run"),
    );
    judge(claim, longest, |growth| lab.judge(growth > GROWN))
}

fn stays_bounded(lab: &Lab, longest: (&Curve, &Measured)) -> Claim {
    let claim = Claim::new(
        "the new one's stays bounded",
        format!("at the end at most {GROWN} times that of the first quarter of the run"),
    );
    judge(claim, longest, |growth| lab.judge(growth <= GROWN))
}

fn judge(
    claim: Claim,
    (longest, run): (&Curve, &Measured),
    judge: impl FnOnce(f64) -> Option<bool>,
) -> Claim {
    let Some((first, last)) = first_and_last(longest) else {
        return claim;
    };
    let fewest = run.per_processor.iter().min().copied().unwrap_or(0);
    let most = run.per_processor.iter().max().copied().unwrap_or(0);
    let measured = format!(
        "from {} to {} cycles: {:.2} times; processors got {fewest} to {most} values each",
        short(first),
        short(last),
        last / first
    );
    claim.judged(measured, judge(last / first))
}

fn new_is_better(lab: &Lab, original: &Curve, new: &Curve) -> Claim {
    let claim = Claim::new(
        "the longest wait is far shorter with the new balancer",
        "at most half of the original's, over the whole run",
    );
    let (Some(original), Some(new)) = (original.last(), new.last()) else {
        return claim;
    };
    let measured = format!("{} against {} cycles", short(new.y), short(original.y));
    claim.judged(measured, lab.judge(2.0 * new.y <= original.y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn windows(longest: &[u64]) -> Vec<Window> {
        let window = |(i, &longest): (u64, &u64)| Window {
            end_cycle: 100 * (i + 1),
            latency_cycles_mean: 1.0,
            latency_cycles_max: longest,
        };
        (0..).zip(longest).map(window).collect()
    }

    #[test]
    fn the_longest_wait_never_falls_and_counts_calls_in_progress() {
        assert_eq!(waits(&windows(&[5, 9, 7, 6]), (400, 0)), [5, 9, 9, 9]);
        // A call of 250 cycles that returns at 400 has waited 150 at 300 and 50 at 200.
        assert_eq!(waits(&windows(&[5, 9, 7, 250]), (400, 0)), [5, 50, 150, 250]);
        // A call in progress at the end, 450, that has waited 390 by then.
        assert_eq!(waits(&windows(&[5, 9, 7, 6]), (450, 390)), [40, 140, 240, 340]);
        assert_eq!(waits(&[], (0, 3)), [0; 0]);
    }

    #[test]
    fn the_first_part_is_compared_with_the_whole() {
        let lab = Lab::new(false, 1, 1);
        let steady = Curve::formula("s", &[1.0, 2.0, 3.0, 4.0, 5.0], |_| 7.0);
        let growing = Curve::formula("g", &[1.0, 2.0, 3.0, 4.0, 5.0], |x| 10.0 * x);
        assert_eq!(first_and_last(&growing), Some((20.0, 50.0)));
        assert_eq!(first_and_last(&curve("nothing", &[])), None);
        assert_eq!(new_is_better(&lab, &growing, &steady).holds, Some(true));
        assert_eq!(new_is_better(&lab, &steady, &growing).holds, Some(false));
    }

    #[test]
    fn what_is_judged_is_what_is_drawn() {
        let lab = Lab::new(true, 1, 1);
        let findings = find(&lab).unwrap();
        for curve in &findings.panels[0].series {
            assert!(curve.points.is_sorted_by(|a, b| a.x <= b.x && a.y <= b.y), "{curve:?}");
            assert!(curve.command.is_some());
        }
        let drawn = short(findings.panels[0].series[0].last().unwrap().y);
        let measured = &findings.claims[0].measured;
        assert!(measured.contains(&format!("to {drawn} cycles")), "{measured}");
    }
}
