//! DT96 Figure 24: what annealing gains over random placement of roles on the mesh.

use super::compared::ABOUT;
use super::messages::{SIZES, best, larger_networks, setting, with_choice};
use super::*;
use crate::figures::networks::{self, NetworkRow, Setting, throughput};
use crate::workloads::messages::{Layout, Network};

/// "Placing them randomly on the mesh causes a drop of nearly 56% in throughput."
const PAPERS: f64 = 0.56;
/// Largest part of the combining tree's drop that counts as "much less effective".
const FAR_LESS: f64 = 0.5;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-24",
    title: "counters of messages laid out by annealing and at random",
    paper: "DT96 Figure 24",
    shows: "A combining tree needs a good layout; a diffracting tree hardly depends on it.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut setups = Vec::new();
    for size in &SIZES {
        let annealed = setting(lab, FIGURE.id, Network::MeshSingleWire, 0, size);
        let random = Setting { layout: Layout::Random, ..annealed.clone() };
        let best = best(lab, FIGURE.id, Network::MeshSingleWire, 0, size)?;
        let structures = best.structures();
        let near = annealed.measure(lab, &structures)?;
        let anywhere = random.measure(lab, &structures)?;
        let drops = drops(&near, &anywhere, size.most);
        let told = |(near, anywhere): (&NetworkRow, &NetworkRow)| {
            format!("annealed: {}. At random: {}", near.told(size.most), anywhere.told(size.most))
        };
        let why = near.iter().zip(&anywhere).map(told).collect::<Vec<_>>().join(". ");
        let claims = [
            combining_loses_half(lab, &drops),
            tree_loses_far_less(lab, &drops),
            network_is_between(lab, &drops),
        ];
        let claims = claims.map(|claim| claim.marked(size.mark).because(why.clone()));
        findings.claims.extend(claims);
        let named = |rows: &[NetworkRow], how: &str| -> Vec<Curve> {
            let name = |row: &NetworkRow| format!("{}, {how}", row.name);
            rows.iter().map(|row| Curve { name: name(row), ..row.curve(throughput) }).collect()
        };
        findings.panels.push(networks::panel(
            size.title(lab, "throughput"),
            processors_axis(),
            throughput_axis(),
            [named(&near, "annealed"), named(&anywhere, "at random")].concat(),
        ));
        let larger = larger_networks(&annealed, &structures);
        setups.push(format!("{}, {}{larger}", annealed.in_words(lab), best.in_words()));
    }
    findings.setup = format!("{}; and all laid out at random", with_choice(&setups));
    Ok(findings)
}

/// A structure's name, and the part of its throughput lost by random placement with most clients.
type Drop = (String, f64);

fn drops(near: &[NetworkRow], anywhere: &[NetworkRow], most: f64) -> Vec<Drop> {
    let drop = |(near, anywhere): (&NetworkRow, &NetworkRow)| {
        let kept = anywhere.mean(most, throughput) / near.mean(most, throughput);
        (near.name.clone(), 1.0 - kept)
    };
    near.iter().zip(anywhere).map(drop).filter(|drop| drop.1.is_finite()).collect()
}

/// Returns the drop of the first structure whose name begins with `kind`.
fn of(drops: &[Drop], kind: &str) -> Option<f64> {
    drops.iter().find(|drop| drop.0.starts_with(kind)).map(|drop| drop.1)
}

fn in_words(drops: &[Drop]) -> String {
    let words = |(name, drop): &Drop| format!("{name} {:.0} %", 100.0 * drop);
    drops.iter().map(words).collect::<Vec<_>>().join(", ")
}

fn combining_loses_half(lab: &Lab, drops: &[Drop]) -> Claim {
    let kept = 1.0 - PAPERS;
    let (least, most) = (1.0 - ABOUT * kept, 1.0 - kept / ABOUT);
    let claim = Claim::new(
        "CTree loses about half its throughput at random (paper: 56 %)",
        format!(
            "it keeps the paper's part within a factor of {ABOUT}: loses {:.0} to {:.0} % with most clients",
            100.0 * least,
            100.0 * most
        ),
    );
    let Some(drop) = of(drops, "CTree") else { return claim };
    claim.judged(format!("loses {:.0} %", 100.0 * drop), lab.judge((least..=most).contains(&drop)))
}

fn tree_loses_far_less(lab: &Lab, drops: &[Drop]) -> Claim {
    let claim = Claim::new(
        "DTree loses far less",
        format!("at most {FAR_LESS} of what CTree loses, with most clients"),
    );
    let (Some(ctree), Some(dtree)) = (of(drops, "CTree"), of(drops, "DTree")) else {
        return claim;
    };
    claim.judged(in_words(drops), lab.judge(dtree <= FAR_LESS * ctree))
}

/// Judges "While a counting network's layout can also be optimized (though to a lesser extent than
/// a combining tree), the dynamic flow patterns of diffracting trees make layout optimization much
/// less effective" (section 4.3.3).
fn network_is_between(lab: &Lab, drops: &[Drop]) -> Claim {
    let claim = Claim::new(
        "layout matters to CNet less than to CTree, and more than to DTree",
        "CTree loses more than CNet, and CNet more than DTree, with most clients",
    );
    let (Some(ctree), Some(cnet), Some(dtree)) =
        (of(drops, "CTree"), of(drops, "CNet"), of(drops, "DTree"))
    else {
        return claim;
    };
    claim.judged(in_words(drops), lab.judge(ctree > cnet && cnet > dtree))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(ctree: f64, cnet: f64, dtree: f64) -> Vec<Drop> {
        vec![
            ("CTree".to_owned(), ctree),
            ("CNet[32]".to_owned(), cnet),
            ("DTree[32]".to_owned(), dtree),
        ]
    }

    #[test]
    fn drops_are_compared() {
        let lab = Lab::new(false, 1, 1);
        let papers = three(0.56, 0.4, 0.1);
        assert_eq!(combining_loses_half(&lab, &papers).holds, Some(true));
        assert_eq!(tree_loses_far_less(&lab, &papers).holds, Some(true));
        assert_eq!(network_is_between(&lab, &papers).holds, Some(true));
        assert_eq!(in_words(&papers), "CTree 56 %, CNet[32] 40 %, DTree[32] 10 %");
        let other = three(0.3, 0.4, 0.2);
        assert_eq!(combining_loses_half(&lab, &other).holds, Some(false));
        assert_eq!(tree_loses_far_less(&lab, &other).holds, Some(false));
        assert_eq!(network_is_between(&lab, &other).holds, Some(false));
        assert_eq!(combining_loses_half(&lab, &[]).holds, None);
    }
}
