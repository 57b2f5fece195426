//! The job pools of section 5.4: an array and two counters, which are reactive trees or queue locks,
//! against the load balancing of Rudolph, Slivkin-Allalouf and Upfal.

use super::*;
use crate::figures::pools::{self, PoolRow, calls_a_job_cycles, elapsed, times};
use crate::workloads::jobs::PoolChoice;

pub(super) const LOCK: &str = "queue lock";
pub(super) const RSU: &str = "RSU";

/// Largest ratio of two times that are near each other. (By the paper, the reactive tree itself is
/// 1.27 to 1.56 times the best counter.)
pub(super) const NEAR: f64 = 1.5;

/// Returns the paper's pools, and ours beside them.
pub(super) fn contenders(elements: usize) -> Vec<PoolChoice> {
    let lock = PoolChoice::on_counters(LOCK, &fixed(0), elements);
    let papers = [reactive_pool(elements), lock, PoolChoice::rsu()];
    papers.into_iter().chain(ours()).collect()
}

pub(super) fn reactive_pool(elements: usize) -> PoolChoice {
    let tree = reactive::tree(MAX_DEPTH, Behaviour::Changing(ON_PROTEUS));
    PoolChoice::on_counters(RDT, &tree, elements)
}

fn ours() -> [PoolChoice; 2] {
    [PoolChoice::queue(), PoolChoice::pool()]
}

/// Returns the chart of the time until all jobs are done; our pools are marked as such.
pub(super) fn panel(rows: &[PoolRow]) -> Panel {
    let is_ours = |row: &PoolRow| ours().iter().any(|pool| pool.name == row.name);
    let curve = |row: &PoolRow| {
        let curve = row.curve(elapsed);
        if is_ours(row) { curve.ours() } else { curve }
    };
    let curves = rows.iter().map(curve).collect();
    Panel::new(processors_axis(), pools::elapsed_axis(), curves)
}

/// Judges that the reactive tree's pool takes about as long as `rival`'s, from `least` to `most`
/// processors: on the average, or at each number.
pub(super) fn is_near(
    lab: &Lab,
    text: &str,
    rows: &[PoolRow],
    rival: &str,
    (least, most): (f64, f64),
    at_each: bool,
) -> Claim {
    let how = if at_each { "at every" } else { "mean over" };
    let claim = Claim::new(
        text,
        format!("time of RDT at most {NEAR} times that of {rival}, {how} P from {least} to {most}"),
    );
    let curve = |name| pools::row(rows, name).curve(elapsed);
    judge(lab, claim, &curve(RDT), &curve(rival), (least, most), at_each).because(told(rows, rival))
}

fn judge(
    lab: &Lab,
    claim: Claim,
    reactive: &Curve,
    rival: &Curve,
    (least, most): (f64, f64),
    at_each: bool,
) -> Claim {
    let Some(ratio) = times(reactive, rival, least, most) else { return claim };
    let measured = format!(
        "{:.2} on the average; at most {:.2} (P = {})",
        ratio.mean, ratio.largest, ratio.at
    );
    let judged = if at_each { ratio.largest } else { ratio.mean };
    claim.judged(measured, lab.judge(judged <= NEAR))
}

/// Describes both pools where the reactive tree's is farthest from `rival`'s.
fn told(rows: &[PoolRow], rival: &str) -> String {
    let (reactive, rival) = (pools::row(rows, RDT), pools::row(rows, rival));
    let worst = times(&reactive.curve(elapsed), &rival.curve(elapsed), 0.0, f64::INFINITY);
    let Some(at) = worst.map(|worst| worst.at) else { return String::new() };
    format!(
        "the two calls of a job take {} cycles with RDT and {} with {}, where they are farthest \
         apart: passing a node of the tree costs several misses, finding a job in a pool few, and one's \
         own pool none. {}. {}",
        short(reactive.mean(at, calls_a_job_cycles)),
        short(rival.mean(at, calls_a_job_cycles)),
        rival.name,
        reactive.told(at),
        rival.told(at)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn near_is_judged_on_the_average_or_at_each_number() {
        let lab = Lab::new(false, 1, 1);
        let reactive = curve(RDT, &[(2.0, 100.0), (4.0, 180.0), (256.0, 900.0)]);
        let rival = curve(RSU, &[(2.0, 100.0), (4.0, 100.0), (256.0, 100.0)]);
        let judge = |most, at_each| {
            judge(&lab, Claim::new("", ""), &reactive, &rival, (2.0, most), at_each).holds
        };
        assert_eq!(judge(4.0, false), Some(true), "1.4");
        assert_eq!(judge(4.0, true), Some(false), "1.8");
        assert_eq!(judge(256.0, false), Some(false));
        assert_eq!(judge(1.0, false), None);
    }
}
