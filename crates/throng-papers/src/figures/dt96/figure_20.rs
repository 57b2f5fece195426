//! DT96 Figure 20: the mesh of Figure 19 with work between requests, which makes them
//! irregular.

use super::compared::{BY_FAR, Compared, compare};
use super::messages::{SIZES, SMALL, Size, with_choice};
use super::*;
use crate::figures::curve::lowest;
use crate::figures::networks::{self, Better, named};
use crate::workloads::messages::Network;

const WORK: u64 = 500;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-20",
    title: "counters of messages on a mesh with single-wire switches, requests irregular",
    paper: "DT96 Figure 20",
    shows: "Combining waits for late requests; trees and networks of balancers do not.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut setups = Vec::new();
    for size in &SIZES {
        let compared = compare(lab, FIGURE.id, Network::MeshSingleWire, WORK, size)?;
        let busy = compare(lab, FIGURE.id, Network::MeshSingleWire, 0, size)?;
        let (with, without) = (&compared.latencies, &busy.latencies);
        let why = format!("with work: {}. Without: {}", compared.told(), busy.told());
        let claims = [
            jumps(lab, size, with, without),
            least_robust(lab, size, with, without),
            tree_below(lab, &compared),
            network_rises_more_slowly(lab, size, with, without),
        ];
        let claims = claims.map(|claim| claim.marked(size.mark).because(why.clone()));
        findings.claims.extend(claims);
        findings.panels.extend(compared.panels(lab));
        findings.panels.push(networks::panel(
            size.title(lab, "latency with work / latency without, each in its best width"),
            processors_axis(),
            Axis::new("times", Scale::Linear),
            ratios(with, without),
        ));
        setups.push(compared.setup().to_owned());
    }
    findings.setup = with_choice(&setups);
    Ok(findings)
}

/// Returns the ratio of latency with work to latency without.
fn ratios(with: &[Curve], without: &[Curve]) -> Vec<Curve> {
    with.iter().zip(without).map(|(with, without)| with.over(without)).collect()
}

/// Judges "The need to wait for latecoming processors causes a significant rise in latency"
/// (section 4.3.2).
fn jumps(lab: &Lab, size: &Size, with: &[Curve], without: &[Curve]) -> Claim {
    let claim = Claim::new(
        "CTree: latency jumps",
        format!(
            "at least {BY_FAR} times that without work, at every P from {} to {}",
            size.many, size.most
        ),
    );
    let ratios = ratios(with, without);
    let crowd = named(&ratios, "CTree").between(size.many, size.most);
    let Some(least) = lowest(&crowd) else { return claim };
    claim.judged(
        format!("at least {:.2} times (P = {})", least.y, least.x),
        lab.judge(least.y >= BY_FAR),
    )
}

/// Judges "Combining trees proved to be the least robust of the counting methods we studied."
fn least_robust(lab: &Lab, size: &Size, with: &[Curve], without: &[Curve]) -> Claim {
    let claim = Claim::new(
        "DTree and CNet are more robust",
        format!(
            "the ratio of latency to that without work is largest for CTree at P = {}",
            size.most
        ),
    );
    let ratios = ratios(with, without);
    let at = |kind: &str| named(&ratios, kind).at(size.most);
    let (Some(ctree), Some(cnet), Some(dtree)) = (at("CTree"), at("CNet"), at("DTree")) else {
        return claim;
    };
    let measured = format!("CTree {ctree:.2} times, CNet {cnet:.2} times, DTree {dtree:.2} times");
    claim.judged(measured, lab.judge(ctree > cnet && ctree > dtree))
}

/// Judges that the diffracting tree has a lower latency than the combining tree where requests are
/// irregular.
fn tree_below(lab: &Lab, compared: &Compared) -> Claim {
    let size = &compared.size;
    let claim = Claim::new(
        "DTree has a lower latency than CTree",
        format!(
            "latency of CTree / that of DTree more than 1 at every P from {} to {}",
            size.many, size.most
        ),
    );
    let (tree, combining) =
        (named(&compared.latencies, "DTree"), named(&compared.latencies, "CTree"));
    let leads = networks::leads(Better::Low, tree, &[combining], size.many, size.most);
    networks::ahead(lab, claim, 1.0, &leads)
}

/// Judges "For counting networks lower load leads to less contention, latency still rises as
/// concurrency increases, albeit more slowly" (section 4.3.2).
fn network_rises_more_slowly(lab: &Lab, size: &Size, with: &[Curve], without: &[Curve]) -> Claim {
    let claim = Claim::new(
        "CNet: latency still rises with P, but more slowly",
        format!(
            "latency at P = {} more than {} times that at P = {SMALL}, and fewer times than \
             without work",
            size.most,
            1.0 + NOISE
        ),
    );
    let factor = |curves: &[Curve]| {
        let curve = named(curves, "CNet");
        Some(curve.at(size.most)? / curve.at(SMALL)?)
    };
    let (Some(slow), Some(fast)) = (factor(with), factor(without)) else { return claim };
    let measured = format!("{slow:.2} times; {fast:.2} times without work");
    claim.judged(measured, lab.judge(slow > 1.0 + NOISE && slow < fast))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;
    use crate::figures::dt96::messages::USUAL;

    fn three(ctree: f64, cnet: f64, dtree: f64) -> Vec<Curve> {
        let one = |name: &str, y| curve(name, &[(16.0, 100.0), (256.0, y)]);
        vec![one("CTree", ctree), one("CNet[32]", cnet), one("DTree[32]", dtree)]
    }

    #[test]
    fn latency_is_compared_with_and_without_work() {
        let lab = Lab::new(false, 1, 1);
        let (with, without) = (three(900.0, 150.0, 200.0), three(300.0, 400.0, 350.0));
        assert_eq!(jumps(&lab, &USUAL, &with, &without).holds, Some(true));
        assert_eq!(jumps(&lab, &USUAL, &with, &without).measured, "at least 3.00 times (P = 256)");
        assert_eq!(least_robust(&lab, &USUAL, &with, &without).holds, Some(true));
        assert_eq!(network_rises_more_slowly(&lab, &USUAL, &with, &without).holds, Some(true));
        let flat = three(400.0, 103.0, 700.0);
        assert_eq!(jumps(&lab, &USUAL, &flat, &without).holds, Some(false));
        assert_eq!(least_robust(&lab, &USUAL, &flat, &without).holds, Some(false));
        assert_eq!(network_rises_more_slowly(&lab, &USUAL, &flat, &without).holds, Some(false));
    }
}
