//! SS98 Figure 12: the original and the new balancer in a long run: average and longest latency of
//! each 1000 values.

use std::rc::Rc;

use super::{ADAPTIVE, NEW, ORIGINAL, tree};
use crate::chart::{Axis, Look, Scale};
use crate::error::Error;
use crate::papers::claim::Claim;
use crate::papers::curve::{Curve, Point};
use crate::papers::draw::short;
use crate::papers::lab::Lab;
use crate::papers::{Figure, Findings, Panel};
use crate::simulated::CountingRun;
use crate::simulated::measured::{Measured, WINDOW_VALUES, Window};

/// The paper does not say which tree and how many processors: these are the tree of Figure 9 and
/// the most processors of DT96.
const DEPTH: u32 = 5;
const CELLS: usize = 32;
const TOGETHER: usize = 256;
const TOGETHER_SMOKE: usize = 16;
const VALUES: u64 = 200_000;
const VALUES_SMOKE: u64 = 4000;
/// Windows before this are the start of the run (the paper's first 2000 values).
const SKIPPED_WINDOWS: usize = 2;

/// Longest latencies of the last part of a run that are more than so many times those of the first
/// have grown.
const GROWN: f64 = 2.0;
/// The parts of a run that are compared, first against last.
const PARTS: usize = 4;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "SS98-12",
    title: "average and longest latency in a long run",
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
    let measured = lab.measure(FIGURE.id, &contenders.iter().map(run).collect::<Vec<_>>())?;
    let series = (contenders.iter().zip(&measured))
        .flat_map(|((name, _), run)| [averages(name, run), longest(name, run)])
        .collect();
    let [original, adaptive, new] = &measured[..] else { unreachable!("three contenders") };
    let claims = vec![
        grows(lab, "original's", original),
        grows(lab, "original's (adaptive spin)", adaptive),
        stays_bounded(lab, new),
        new_is_better(lab, original, new),
    ];
    Ok(Findings {
        setup: format!(
            "alewife, depth {DEPTH}, L = {CELLS}, {processors} processors, one run from seed {}",
            lab.seed
        ),
        panels: vec![Panel::new(
            Axis::new("values delivered", Scale::Linear),
            Axis::new("latency (cycles)", Scale::Log10),
            series,
        )],
        claims,
    })
}

fn windows(run: &Measured) -> &[Window] {
    &run.windows[SKIPPED_WINDOWS.min(run.windows.len())..]
}

fn by_window(name: String, run: &Measured, number: impl Fn(&Window) -> f64) -> Curve {
    let x = |i: usize| ((SKIPPED_WINDOWS + i + 1) * WINDOW_VALUES) as f64;
    let points = windows(run).iter().enumerate().map(|(i, w)| Point::exact(x(i), number(w)));
    Curve { look: Look::Line, ..Curve::measured(name, points.collect()) }
}

fn averages(name: &str, run: &Measured) -> Curve {
    by_window(format!("{name}: average"), run, |window| window.latency_cycles_mean)
}

fn longest(name: &str, run: &Measured) -> Curve {
    by_window(format!("{name}: longest"), run, |window| window.latency_cycles_max as f64)
}

/// The longest latency in the first and in the last part of a run. A call that was still waiting
/// at the end counts in the last.
fn first_and_last(windows: &[Window], unserved: u64) -> Option<(f64, f64)> {
    let part = windows.len().div_ceil(PARTS);
    let most = |windows: &[Window]| windows.iter().map(|w| w.latency_cycles_max).max();
    let first = most(windows.get(..part)?)?;
    let last = most(windows.get(windows.len() - part..)?)?;
    Some((first as f64, last.max(unserved) as f64))
}

fn grows(lab: &Lab, whose: &str, run: &Rc<Measured>) -> Claim {
    let claim = Claim::new(
        format!("the {whose} longest latency grows with the length of the run"),
        format!("last quarter of the run more than {GROWN} times the first"),
    );
    judge(claim, run, |growth| lab.judge(growth > GROWN))
}

fn stays_bounded(lab: &Lab, run: &Rc<Measured>) -> Claim {
    let claim = Claim::new(
        "the new one's stays bounded",
        format!("last quarter of the run at most {GROWN} times the first"),
    );
    judge(claim, run, |growth| lab.judge(growth <= GROWN))
}

fn judge(claim: Claim, run: &Measured, judge: impl FnOnce(f64) -> Option<bool>) -> Claim {
    let Some((first, last)) = first_and_last(windows(run), run.unserved_cycles_max) else {
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

fn new_is_better(lab: &Lab, original: &Rc<Measured>, new: &Rc<Measured>) -> Claim {
    let claim = Claim::new(
        "the longest latency is far shorter with the new balancer",
        "at most half of the original's, over the whole run",
    );
    let most = |run: &Measured| run.latency_cycles_max.max(run.unserved_cycles_max) as f64;
    let (original, new) = (most(original), most(new));
    let measured = format!("{} against {} cycles", short(new), short(original));
    claim.judged(measured, lab.judge(2.0 * new <= original))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(longest: u64) -> Window {
        Window { end_cycle: 0, latency_cycles_mean: 1.0, latency_cycles_max: longest }
    }

    #[test]
    fn the_first_part_is_compared_with_the_last_and_with_those_still_waiting() {
        let steady: Vec<Window> = [5, 6, 7, 6, 5, 6, 7, 5].into_iter().map(window).collect();
        assert_eq!(first_and_last(&steady, 0), Some((6.0, 7.0)));
        assert_eq!(first_and_last(&steady, 90), Some((6.0, 90.0)));
        let growing: Vec<Window> = (1..=8).map(|n| window(10 * n)).collect();
        assert_eq!(first_and_last(&growing, 0), Some((20.0, 80.0)));
        assert_eq!(first_and_last(&[], 5), None);
        assert_eq!(first_and_last(&[window(3)], 0), Some((3.0, 3.0)));
    }
}
