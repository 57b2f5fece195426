//! DT96 Table 2: which width is best on which network.

use super::messages::{SIZES, best, highest_of, setting};
use super::*;
use crate::figures::networks::{self, NetworkRow};
use crate::workloads::messages::{Network, Structure};

/// The paper's best widths: of the diffracting tree, and of the counting network.
const PAPERS: [(Network, usize, usize); 4] = [
    (Network::Butterfly, 8, 16),
    (Network::MeshSingleWire, 32, 32),
    (Network::Crossbar, 16, 32),
    (Network::MeshCrossbar, 16, 32),
];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-T2",
    title: "the best widths of trees and networks of balancers, by network",
    paper: "DT96 Table 2",
    shows: "Small structures win where messages are slow and distances equal; large ones elsewhere.",
    find,
};

/// Structures of several widths, and their throughput with many clients.
type Widths = Vec<(Structure, f64)>;

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut setups = Vec::new();
    for size in &SIZES {
        let mut claims = Vec::new();
        let mut widths = Vec::new();
        for (network, dtree, cnet) in PAPERS {
            let best = best(lab, FIGURE.id, network, 0, size)?;
            claims.push(is_best(lab, network, "DTree", dtree, &best.dtrees));
            claims.push(is_best(lab, network, "CNet", cnet, &best.cnets));
            widths.push((network, width(&best.dtrees), width(&best.cnets)));
            let all: Vec<Structure> =
                best.dtrees.iter().chain(&best.cnets).map(|one| one.0.clone()).collect();
            let rows = setting(lab, FIGURE.id, network, 0, size).measure(lab, &all)?;
            let curve = |(row, structure): (&NetworkRow, &Structure)| Curve {
                note: Some(structure.in_words()),
                ..row.curve(networks::throughput)
            };
            findings.panels.push(networks::panel(
                size.title(lab, &network.to_string()),
                processors_axis(),
                throughput_axis(),
                rows.iter().zip(&all).map(curve).collect(),
            ));
        }
        claims.push(small_on_butterfly(lab, &widths));
        findings.claims.extend(claims.into_iter().map(|claim| claim.marked(size.mark)));
        setups.push(setting(lab, FIGURE.id, PAPERS[0].0, 0, size).in_words(lab));
    }
    findings.setup = format!(
        "{}; and the other networks; of those tried, the prisms and waits of each tree have the lowest \
         latency over the range of P",
        setups.join("; ")
    );
    Ok(findings)
}

fn width(all: &Widths) -> usize {
    highest_of(all).0.width().unwrap_or(0)
}

fn is_best(lab: &Lab, network: Network, kind: &str, papers: usize, all: &Widths) -> Claim {
    let claim = Claim::new(
        format!("{network}: {kind}[{papers}] is the best width"),
        format!(
            "mean throughput in the two largest crowds at most {:.0} % below that of the best width",
            100.0 * NOISE
        ),
    );
    let best = highest_of(all).1;
    let each: Vec<String> = (all.iter())
        .map(|(structure, speed)| format!("{} {:.0} %", structure.name(), 100.0 * speed / best))
        .collect();
    let ours = all.iter().find(|one| one.0.width() == Some(papers));
    let holds = ours.is_some_and(|ours| ours.1 >= (1.0 - NOISE) * best);
    claim
        .judged(
            format!("{} of {} per million cycles", each.join(", "), short(best)),
            lab.judge(holds),
        )
        .because(format!(
            "{} is best here. How wide a structure must be depends on how many ask: fewer clients \
             need less room, and a narrower one has a shorter way",
            highest_of(all).0.in_words()
        ))
}

/// Judges "In equidistant, low bandwidth networks, where depth is the main concern, smaller trees
/// and networks work better" (section 4.3.3).
fn small_on_butterfly(lab: &Lab, widths: &[(Network, usize, usize)]) -> Claim {
    let claim = Claim::new(
        "smaller trees and networks are better on the butterfly than elsewhere",
        "the best widths there are at most those on any other network, and smaller than on some",
    );
    let Some(&(_, dtree, cnet)) = widths.iter().find(|one| one.0 == Network::Butterfly) else {
        return claim;
    };
    let elsewhere = || widths.iter().filter(|one| one.0 != Network::Butterfly);
    let holds = elsewhere().all(|one| dtree <= one.1 && cnet <= one.2)
        && elsewhere().any(|one| dtree < one.1)
        && elsewhere().any(|one| cnet < one.2);
    let each: Vec<String> =
        widths.iter().map(|one| format!("{} {} and {}", one.0, one.1, one.2)).collect();
    claim.judged(format!("DTree and CNet: {}", each.join(", ")), lab.judge(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_width_may_be_as_good_as_the_best() {
        let lab = Lab::new(false, 1, 1);
        let judged = |eight: f64| {
            let all = vec![
                (Structure::diffracting_tree(vec![2, 1]), 50.0),
                (Structure::diffracting_tree(vec![4, 2, 1]), eight),
                (Structure::diffracting_tree(vec![8, 4, 2, 1]), 100.0),
            ];
            is_best(&lab, Network::Butterfly, "DTree", 8, &all)
        };
        assert_eq!(judged(120.0).holds, Some(true));
        assert_eq!(judged(96.0).holds, Some(true));
        assert_eq!(judged(90.0).holds, Some(false));
        let measured = "DTree[4] 50 %, DTree[8] 90 %, DTree[16] 100 % of 100 per million cycles";
        assert_eq!(judged(90.0).measured, measured);
    }

    #[test]
    fn small_is_compared_with_elsewhere() {
        let lab = Lab::new(false, 1, 1);
        assert_eq!(small_on_butterfly(&lab, &PAPERS).holds, Some(true));
        let other = [(Network::Butterfly, 16, 16), (Network::Crossbar, 8, 32)];
        assert_eq!(small_on_butterfly(&lab, &other).holds, Some(false));
    }
}
