//! DT96 Figure 8: throughput by the number of processors, work 0.

use super::*;
use crate::figures::curve::highest;
use crate::figures::networks::{Better, leads};

const WORK: u32 = 0;
/// Smallest number of processors with sharing: one alone finds everything in its cache.
const TOGETHER: f64 = 2.0;

/// Counters the paper did not have: networks whose toggles and counters are one `fetch_add` each,
/// and the tree without locks.
const OURS: [Contender; 3] = [
    Contender::new("CNet[32], fetch_add", "counting-network", Some(32)),
    Contender::new("CNet[64], fetch_add", "counting-network", Some(64)),
    Contender::new("DTree[32], wait-free", "diffracting-wait-free", Some(32)),
];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-8",
    title: "throughput of the paper's five counters, and of three of ours",
    paper: "DT96 Figure 8",
    shows: "Locks do not scale; of the paper's five counters the diffracting tree hands out most.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let rows = benchmark(lab, FIGURE.id, &CONTENDERS, WORK)?;
    let ours = benchmark(lab, FIGURE.id, &OURS, WORK)?;
    let without_locks = without_locks(row(&rows, &DTREE), &ours[0]);
    let mut of_paper: Vec<Curve> = rows.iter().map(|row| row.curve(throughput)).collect();
    for (curve, row) in of_paper.iter_mut().zip(&rows) {
        curve.note = favourite(row);
    }
    let ours: Vec<Curve> = ours.iter().map(|row| row.curve(throughput).ours()).collect();
    let tree = named(&of_paper, &DTREE).clone();
    let all: Vec<Curve> = of_paper.iter().chain(&ours).cloned().collect();
    let claims = vec![
        tree_is_above(lab, "DTree above the other four at high P", &of_paper).because(format!(
            "processors in the tree waited at: {} (P = {MOST})",
            row(&rows, &DTREE).hottest(MOST)
        )),
        falls(lab, named(&of_paper, &EXP_BACKOFF)),
        falls(lab, named(&of_paper, &MCS)),
        tree_is_above(
            lab,
            "(ours, not the paper's) and above counters without locks",
            &std::iter::once(tree).chain(ours).collect::<Vec<_>>(),
        )
        .because(without_locks),
    ];
    let mut findings = findings(lab, WORK, throughput_axis(), all);
    findings.panels[0].drawn_from = TOGETHER;
    Ok(Findings { claims, ..findings })
}

/// Returns the reason why a network without locks is ahead of the tree.
fn without_locks(tree: &Row, network: &Row) -> String {
    let transfers = |row: &Row| {
        let misses = row.curve(|run| run.memory.total.misses as f64 / run.handed_out as f64);
        misses.at(MOST).map_or("-".to_owned(), |misses| format!("{misses:.1}"))
    };
    format!(
        "a balancer that is one fetch_add needs one transfer of a line where the paper's takes a \
         lock: at P = {MOST} a value takes {} transfers in {}, and {} in the tree, whose tokens \
         wait for a partner besides",
        transfers(network),
        network.name,
        transfers(tree)
    )
}

/// Returns a note where one processor gets most of the values.
fn favourite(row: &Row) -> Option<String> {
    let share = row.curve(|run| {
        let most = run.per_processor.iter().max().copied().unwrap_or(0);
        100.0 * most as f64 / run.handed_out as f64
    });
    let last = share.last().filter(|last| last.x > 1.0 && last.y > 50.0)?;
    Some(format!("one processor gets {:.0} % of all values (P = {})", last.y, last.x))
}

fn tree_is_above(lab: &Lab, text: &str, curves: &[Curve]) -> Claim {
    let claim =
        Claim::new(text, format!("DTree / best other > 1 at every P from {MANY} to {MOST}"));
    let tree = named(curves, &DTREE);
    let others: Vec<&Curve> = curves.iter().filter(|curve| curve.name != tree.name).collect();
    let leads = leads(Better::High, tree, &others, MANY, MOST);
    let Some(least) = leads.into_iter().min_by(|a, b| a.times.total_cmp(&b.times)) else {
        return claim;
    };
    let measured = format!("at worst {:.2} times {} (P = {})", least.times, least.rival, least.x);
    claim.judged(measured, lab.judge(least.times > 1.0))
}

fn falls(lab: &Lab, curve: &Curve) -> Claim {
    let claim = Claim::new(
        format!("{} does not scale: throughput falls", curve.name),
        format!(
            "throughput at P = {MOST} at least {:.0} % below its best from P = {TOGETHER} on",
            100.0 * NOISE
        ),
    );
    let best = highest(&curve.between(TOGETHER, MOST));
    let (Some(best), Some(last)) = (best, curve.last()) else {
        return claim;
    };
    let measured = format!(
        "best {} at P = {}, {} at P = {}: {:.0} % of it",
        short(best.y),
        best.x,
        short(last.y),
        last.x,
        100.0 * last.y / best.y
    );
    claim.judged(measured, lab.judge(last.y < (1.0 - NOISE) * best.y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn full() -> Lab {
        Lab::new(false, 1, 1)
    }

    #[test]
    fn the_tree_must_be_above_at_every_high_number_of_processors() {
        let tree = curve("DTree[32]", &[(1.0, 1.0), (128.0, 30.0), (256.0, 40.0)]);
        let low = curve("CTree", &[(1.0, 9.0), (128.0, 20.0), (256.0, 25.0)]);
        let high = curve("MCS", &[(1.0, 9.0), (128.0, 20.0), (256.0, 50.0)]);
        let claim = tree_is_above(&full(), "above", &[tree.clone(), low.clone()]);
        assert_eq!(claim.holds, Some(true));
        assert_eq!(claim.measured, "at worst 1.50 times CTree (P = 128)");
        let claim = tree_is_above(&full(), "above", &[tree.clone(), low, high]);
        assert_eq!(claim.holds, Some(false));
        assert_eq!(claim.measured, "at worst 0.80 times MCS (P = 256)");
        assert_eq!(tree_is_above(&Lab::new(true, 1, 1), "above", &[tree]).holds, None);
    }

    #[test]
    fn a_curve_falls_when_its_end_is_below_its_best() {
        let falling = curve("MCS", &[(1.0, 100.0), (2.0, 90.0), (256.0, 60.0)]);
        assert_eq!(falls(&full(), &falling).holds, Some(true));
        let steady = curve("MCS", &[(1.0, 500.0), (2.0, 100.0), (256.0, 98.0)]);
        assert_eq!(falls(&full(), &steady).holds, Some(false));
        assert_eq!(falls(&full(), &curve("MCS", &[])).holds, None);
    }
}
