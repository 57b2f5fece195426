//! DT96 Figure 10: latency by the number of processors, work 1000. Requests arrive far apart
//! and irregularly.

use super::*;
use crate::figures::curve::highest;

const WORK: u32 = 1000;
/// The parallel counters, which the paper's discussion of this figure is about.
const PARALLEL: [Contender; 3] = [CTREE, CNET, DTREE];
/// Largest ratio of latency with work to latency without that counts as unaffected.
const UNAFFECTED: f64 = 1.25;
/// Smallest ratio of latency at [`MOST`] to that at [`SEVERAL`] that counts as growth.
const GROWS: f64 = 1.25;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-10",
    title: "latency of five counters when requests arrive irregularly",
    paper: "DT96 Figure 10",
    shows: "Work of up to 1000 cycles between requests: it hurts combining and does not touch the tree.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = benchmark(lab, FIGURE.id, &CONTENDERS, WORK)?;
    let busy = benchmark(lab, FIGURE.id, &PARALLEL, 0)?;
    let curves = latencies(&rows, WORK);
    let busy = latencies(&busy, 0);
    let hot = |contender| format!("processors waited at: {}", row(&rows, contender).hottest(MOST));
    let claims = vec![
        unaffected(lab, &curves, &busy).because(hot(&DTREE)),
        grows(lab, named(&curves, &CNET)).because(hot(&CNET)),
        combining_hurt_most(lab, &curves, &busy).because(hot(&CTREE)),
        combining_slowest(lab, &curves, &busy).because(as_slow(row(&rows, &CNET))),
    ];
    let setup = latency_setup(lab, WORK);
    Ok(Findings { claims, setup, ..findings(lab, WORK, latency_axis(), curves) })
}

/// Returns the reason why the network is no faster than the combining tree.
fn as_slow(network: &Row) -> String {
    let misses = network.curve(|run| run.memory.total.misses as f64 / run.handed_out as f64);
    format!(
        "the network is as slow: a value passes 21 locked toggles and a locked counter, {} misses \
         at P = {MOST}. How the two compare depends on what a lock costs beside a step of the \
         combining tree; here both follow from the times of the machine",
        misses.at(MOST).map_or("-".to_owned(), short)
    )
}

fn unaffected(lab: &Lab, curves: &[Curve], busy: &[Curve]) -> Claim {
    let claim = Claim::new(
        "DTree unaffected by the variance of arrivals",
        format!(
            "latency at most {UNAFFECTED} times that without work, at every P from {SEVERAL} on"
        ),
    );
    let (tree, busy) = (named(curves, &DTREE), named(busy, &DTREE));
    let Some(worst) = highest(&tree.over(busy).between(SEVERAL, MOST)) else { return claim };
    let measured = format!("at worst {:.2} times (P = {})", worst.y, worst.x);
    claim.judged(measured, lab.judge(worst.y <= UNAFFECTED))
}

fn grows(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        "CNet grows with P",
        format!("latency at P = {MOST} more than {GROWS} times that at P = {SEVERAL}"),
    );
    let (Some(from), Some(to)) = (curve.at(SEVERAL), curve.at(MOST)) else {
        return claim;
    };
    let measured = format!("from {} to {} cycles: {:.2} times", short(from), short(to), to / from);
    claim.judged(measured, lab.judge(to > GROWS * from))
}

/// Returns, for CTree, CNet and DTree, latency with work and its ratio to that without, at the
/// largest number of processors.
fn with_most(curves: &[Curve], busy: &[Curve]) -> Option<[(f64, f64); 3]> {
    let at = |contender: &Contender| {
        let with = named(curves, contender).at(MOST)?;
        Some((with, with / named(busy, contender).at(MOST)?))
    };
    Some([at(&PARALLEL[0])?, at(&PARALLEL[1])?, at(&PARALLEL[2])?])
}

fn combining_hurt_most(lab: &Lab, curves: &[Curve], busy: &[Curve]) -> Claim {
    let claim = Claim::new(
        "CTree hurt most by the variance of arrivals",
        format!(
            "of CTree, CNet and DTree, CTree has the largest ratio of latency to that without \
             work at P = {MOST}"
        ),
    );
    let Some([ctree, cnet, dtree]) = with_most(curves, busy) else {
        return claim;
    };
    let measured =
        format!("CTree {:.2} times, CNet {:.2} times, DTree {:.2} times", ctree.1, cnet.1, dtree.1);
    claim.judged(measured, lab.judge(ctree.1 > cnet.1 && ctree.1 > dtree.1))
}

fn combining_slowest(lab: &Lab, curves: &[Curve], busy: &[Curve]) -> Claim {
    let claim = Claim::new(
        "and scales poorly",
        format!(
            "of CTree, CNet and DTree, CTree has the highest latency at P = {MOST}, by at least \
             {:.0} %",
            100.0 * NOISE
        ),
    );
    let Some([ctree, cnet, dtree]) = with_most(curves, busy) else {
        return claim;
    };
    let cycles = [("CTree", ctree), ("CNet", cnet), ("DTree", dtree)];
    let measured = cycles.map(|(name, one)| format!("{name} {} cycles", short(one.0))).join(", ");
    claim.judged(measured, lab.judge(ctree.0 > (1.0 + NOISE) * cnet.0.max(dtree.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn three(ctree: f64, cnet: f64, dtree: f64) -> Vec<Curve> {
        let one = |contender: &Contender, y| curve(contender.label, &[(16.0, 100.0), (256.0, y)]);
        vec![one(&CTREE, ctree), one(&CNET, cnet), one(&DTREE, dtree)]
    }

    #[test]
    fn claims_about_work_compare_with_and_without() {
        let lab = Lab::new(false, 1, 1);
        let busy = three(1000.0, 600.0, 300.0);
        let papers = three(2500.0, 500.0, 300.0);
        assert_eq!(unaffected(&lab, &papers, &busy).holds, Some(true));
        assert_eq!(combining_hurt_most(&lab, &papers, &busy).holds, Some(true));
        assert_eq!(combining_slowest(&lab, &papers, &busy).holds, Some(true));
        assert_eq!(grows(&lab, &papers[1]).holds, Some(true));
        let other = three(700.0, 110.0, 500.0);
        assert_eq!(unaffected(&lab, &other, &busy).holds, Some(false));
        assert_eq!(unaffected(&lab, &other, &busy).measured, "at worst 1.67 times (P = 256)");
        assert_eq!(combining_hurt_most(&lab, &other, &busy).holds, Some(false));
        assert_eq!(combining_slowest(&lab, &three(9.0, 8.0, 10.0), &busy).holds, Some(false));
        assert_eq!(grows(&lab, &other[1]).holds, Some(false));
    }
}
