//! DT96 Figures 14 and 15: processors produce and consume jobs in turns, through an array and
//! two counters. Measured is the time of 2000 queue operations, with little and with much work for
//! each job.
//!
//! Section 3.3.2 does not give the length of the array. Here it has 1024 elements, more than there
//! are processors. There are never more jobs than processors, so a producer never waits for room.

use super::*;
use crate::figures::pools::{
    self, PoolRow, Setting, calls_a_job_cycles, elapsed, fastest, misses_a_job, times,
};
use crate::workloads::jobs::{JobsMeasured, PoolChoice, Workload};

/// Jobs of 2000 queue operations: each job is put in once and taken out once.
const JOBS: u64 = 1000;
const JOBS_SMOKE: u64 = 40;
const ELEMENTS: usize = 1024;
const LITTLE: u32 = 100;
const MUCH: u32 = 1000;

/// "We used a smaller diffracting tree and counting network here."
const CNET_32: Contender = Contender { label: "CNet[32]", width: Some(32), ..CNET };
const DTREE_16: Contender = Contender { label: "DTree[16]", width: Some(16), ..DTREE };
const INSIDE: [Contender; 5] = [EXP_BACKOFF, MCS, CTREE, CNET_32, DTREE_16];

/// Largest factor between a measured ratio and the paper's at which they agree.
const ABOUT: f64 = 1.25;
/// "A factor of approximately two when work is low, and is about 50% faster when work is high."
const FASTER: [(u32, f64); 2] = [(LITTLE, 2.0), (MUCH, 1.5)];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-14/15",
    title: "producers and consumers in turns, on five counters",
    paper: "DT96 Figures 14 and 15",
    shows: "A queue is as fast as the counters in it: the diffracting tree is the fastest.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut panels = Vec::new();
    let mut claims = Vec::new();
    for (work, papers) in FASTER {
        let rows = setting(lab, work).measure(lab, &contenders())?;
        let curves: Vec<Curve> = rows.iter().map(|row| row.curve(elapsed)).collect();
        claims.push(is_faster(lab, work, papers, &curves).because(why(&rows, &curves, work)));
        claims.push(network_beats_combining(lab, work, &curves).because(as_slow(&rows, work)));
        panels.push(
            Panel::new(processors_axis(), pools::elapsed_axis(), shown(curves))
                .titled(format!("work {work}")),
        );
    }
    let setup = format!(
        "{}, {} queue operations, jobs of 0 to {LITTLE} and 0 to {MUCH} cycles, {ELEMENTS} elements",
        setting(lab, LITTLE).in_words(lab),
        2 * lab.pick(JOBS, JOBS_SMOKE)
    );
    Ok(Findings { setup, panels, claims })
}

fn setting(lab: &Lab, work: u32) -> Setting {
    Setting {
        figure: FIGURE.id,
        workload: Workload::InTurns { jobs: lab.pick(JOBS, JOBS_SMOKE), work },
        nodes: MACHINE,
        processors: processors(lab),
        repetitions: REPETITIONS,
    }
}

/// Returns the paper's counters, and ours beside them.
fn contenders() -> Vec<PoolChoice> {
    let on_counters = |contender: &Contender| {
        PoolChoice::on_counters(contender.label, &contender.counter(), ELEMENTS)
    };
    INSIDE.iter().map(on_counters).chain(ours()).collect()
}

fn ours() -> [PoolChoice; 2] {
    [PoolChoice::queue(), PoolChoice::pool()]
}

/// Returns the curves, with ours marked as such.
fn shown(curves: Vec<Curve>) -> Vec<Curve> {
    let is_ours = |curve: &Curve| ours().iter().any(|pool| pool.name == curve.name);
    curves.into_iter().map(|curve| if is_ours(&curve) { curve.ours() } else { curve }).collect()
}

/// Returns the curves of the paper's methods except the diffracting tree.
fn others(curves: &[Curve]) -> impl Iterator<Item = &Curve> {
    let others = &INSIDE[..INSIDE.len() - 1];
    others.iter().map(|contender| named(curves, contender))
}

fn is_faster(lab: &Lab, work: u32, papers: f64, curves: &[Curve]) -> Claim {
    let (least, most) = (papers / ABOUT, papers * ABOUT);
    let claim = Claim::new(
        format!("work {work}: DTree about {papers} times faster than the others"),
        format!(
            "time of the fastest other / that of DTree from {least:.2} to {most:.2}, mean over P \
             from {MANY} on"
        ),
    );
    let Some(ratio) = times(&fastest(others(curves)), named(curves, &DTREE_16), MANY, MOST) else {
        return claim;
    };
    let measured = format!("{:.2}; at most {:.2} (P = {})", ratio.mean, ratio.largest, ratio.at);
    claim.judged(measured, lab.judge((least..=most).contains(&ratio.mean)))
}

fn network_beats_combining(lab: &Lab, work: u32, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("work {work}: CNet beats CTree"),
        format!(
            "time of CTree / that of CNet more than {:.2}, mean over P from {MANY} on",
            1.0 + NOISE
        ),
    );
    let (ctree, cnet) = (named(curves, &CTREE), named(curves, &CNET_32));
    let Some(ratio) = times(ctree, cnet, MANY, MOST) else { return claim };
    let measured = format!("{:.2}", ratio.mean);
    claim.judged(measured, lab.judge(ratio.mean > 1.0 + NOISE))
}

/// Returns the reason why the network is no faster than the combining tree.
fn as_slow(rows: &[PoolRow], work: u32) -> String {
    let (network, combining) = (pools::row(rows, CNET_32.label), pools::row(rows, CTREE.label));
    format!(
        "a call passes 15 locked toggles and a locked counter of the network, so that a job costs {} \
         misses, to {} of the combining tree. And calls do combine, {} for each access of the root: \
         they come close together, since two take {} cycles and a job {}. {}. {}",
        short(network.mean(MOST, misses_a_job)),
        short(combining.mean(MOST, misses_a_job)),
        short(combining.mean(MOST, calls_an_access_of_the_root)),
        short(combining.mean(MOST, calls_a_job_cycles)),
        work / 2,
        network.told(MOST),
        combining.told(MOST)
    )
}

/// Returns the mean number of calls that a combining tree merged into one access of its root.
fn calls_an_access_of_the_root(run: &JobsMeasured) -> f64 {
    let accesses = run.places.get("total").map_or(0, |root| root.accesses());
    2.0 * run.jobs as f64 / accesses as f64
}

/// Names the fastest other counter, and describes it and the tree.
fn why(rows: &[PoolRow], curves: &[Curve], work: u32) -> String {
    let at_most = |curve: &&Curve| curve.at(MOST).unwrap_or(f64::INFINITY);
    let Some(best) = others(curves).min_by(|a, b| at_most(a).total_cmp(&at_most(b))) else {
        return String::new();
    };
    let (best, tree) = (pools::row(rows, &best.name), pools::row(rows, DTREE_16.label));
    let (others, trees) =
        (best.mean(MOST, calls_a_job_cycles), tree.mean(MOST, calls_a_job_cycles));
    format!(
        "the work is short beside the calls: a job is {} cycles of work on the average, and its two \
         calls take {} with {} and {} with DTree, {:.2} times as many. {}. {}",
        work / 2,
        short(others),
        best.name,
        short(trees),
        others / trees,
        best.told(MOST),
        tree.told(MOST)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn times_at_most(y: [f64; 5]) -> Vec<Curve> {
        let one = |(contender, y): (&Contender, f64)| {
            curve(contender.label, &[(1.0, 1.0), (128.0, y), (256.0, y)])
        };
        INSIDE.iter().zip(y).map(one).collect()
    }

    #[test]
    fn claims_are_about_the_fastest_other_in_a_crowd() {
        let lab = Lab::new(false, 1, 1);
        let papers = times_at_most([900.0, 800.0, 500.0, 400.0, 200.0]);
        assert_eq!(is_faster(&lab, LITTLE, 2.0, &papers).holds, Some(true));
        assert_eq!(is_faster(&lab, MUCH, 1.5, &papers).holds, Some(false), "too much");
        assert_eq!(network_beats_combining(&lab, LITTLE, &papers).holds, Some(true));
        let lock_wins = times_at_most([900.0, 210.0, 400.0, 390.0, 200.0]);
        assert_eq!(is_faster(&lab, LITTLE, 2.0, &lock_wins).holds, Some(false));
        assert_eq!(network_beats_combining(&lab, LITTLE, &lock_wins).holds, Some(false), "noise");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 2);
        assert_eq!(findings.panels[0].series.len(), INSIDE.len() + 2);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
