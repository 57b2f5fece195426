//! DT96 Figure 18: how long a node of a combining tree waits for its second request.

use super::compared::BY_FAR;
use super::messages::{SIZES, setting};
use super::*;
use crate::figures::networks::{
    self, Better, Lead, NetworkRow, ahead, latency, latency_axis, leads,
};
use crate::workloads::messages::{Network, Structure};

const WORK: u64 = 500;
/// The waits in cycles; `None` waits for ever.
const WAITS: [Option<u64>; 3] = [None, Some(16), Some(256)];
/// The paper's large numbers: "When the number of processors is larger than 64."
const LARGE: f64 = 64.0;
/// "When work = 0, simulation using more than four processors justify indefinite waiting."
const FOUR: f64 = 4.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-18",
    title: "how long the nodes of a combining tree of messages wait",
    paper: "DT96 Figure 18",
    shows: "A request that goes on alone locks out later ones: a node does better to wait.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut setups = Vec::new();
    let trees = WAITS.map(Structure::combining_tree);
    for size in &SIZES {
        let with_work = setting(lab, FIGURE.id, Network::MeshSingleWire, WORK, size);
        let without = setting(lab, FIGURE.id, Network::MeshSingleWire, 0, size);
        let rows = with_work.measure(lab, &trees)?;
        let busy = without.measure(lab, &trees)?;
        let claims = [
            by_far_the_best(lab, &latencies(&rows)).because(networks::told(&rows, size.most)),
            justified_without_work(lab, &latencies(&busy)).because(networks::told(&busy, 8.0)),
        ];
        findings.claims.extend(claims.map(|claim| claim.marked(size.mark)));
        let panel = |work: u64, rows: &[NetworkRow]| {
            let title = size.title(lab, &format!("work {work}"));
            networks::panel(title, processors_axis(), latency_axis(Scale::Log10), latencies(rows))
        };
        findings.panels.extend([panel(WORK, &rows), panel(0, &busy)]);
        setups.push(with_work.in_words(lab));
    }
    findings.setup = format!("{}; and all with work 0", setups.join("; "));
    Ok(findings)
}

/// Returns the latency curves, in the order of [`WAITS`].
fn latencies(rows: &[NetworkRow]) -> Vec<Curve> {
    let name = |wait: Option<u64>| match wait {
        None => "waits for ever".to_owned(),
        Some(cycles) => format!("waits {cycles} cycles"),
    };
    rows.iter()
        .zip(WAITS)
        .map(|(row, wait)| Curve { name: name(wait), ..row.curve(latency) })
        .collect()
}

/// Returns the lead of waiting for ever over the other waits, at every P above `above`.
fn for_ever(curves: &[Curve], above: f64) -> Vec<Lead<'_>> {
    let others: Vec<&Curve> = curves[1..].iter().collect();
    leads(Better::Low, &curves[0], &others, above + 1.0, f64::INFINITY)
}

fn by_far_the_best(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("above {LARGE} processors waiting for ever is by far the best"),
        format!(
            "latency of the better other / that of waiting for ever at least {BY_FAR}, at every P above {LARGE}"
        ),
    );
    ahead(lab, claim, BY_FAR, &for_ever(curves, LARGE))
}

fn justified_without_work(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "without work more than four processors justify waiting for ever",
        format!(
            "work 0: latency at most {:.0} % above that of the better other, at every P above {FOUR}",
            100.0 * NOISE
        ),
    );
    let leads = for_ever(curves, FOUR);
    let Some(least) = leads.iter().min_by(|a, b| a.times.total_cmp(&b.times)) else {
        return claim;
    };
    let measured = format!(
        "at worst {:.2} times that of `{}` (P = {})",
        1.0 / least.times,
        least.rival,
        least.x
    );
    claim.judged(measured, lab.judge(1.0 / least.times <= 1.0 + NOISE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn three(at_96: [f64; 3]) -> Vec<Curve> {
        let one = |y: f64| curve("waits", &[(4.0, 9.0), (8.0, 10.0), (96.0, y)]);
        at_96.map(one).to_vec()
    }

    #[test]
    fn waiting_for_ever_is_compared_with_the_better_other() {
        let lab = Lab::new(false, 1, 1);
        assert_eq!(by_far_the_best(&lab, &three([100.0, 300.0, 160.0])).holds, Some(true));
        assert_eq!(by_far_the_best(&lab, &three([100.0, 300.0, 140.0])).holds, Some(false));
        assert_eq!(justified_without_work(&lab, &three([104.0, 100.0, 140.0])).holds, Some(true));
        let worse = justified_without_work(&lab, &three([120.0, 100.0, 140.0]));
        assert_eq!(worse.holds, Some(false));
        assert_eq!(worse.measured, "at worst 1.20 times that of `waits` (P = 96)");
    }
}
