//! DT96 Figure 21: a mesh whose switches are crossbars, work 0.

use super::messages::compare;
use super::*;
use crate::papers::Figure;
use crate::papers::claim::Claim;
use crate::papers::networks::{Better, ahead, leads, named, others};
use crate::simulated::messages::Network;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-21",
    title: "counters of messages on a mesh with crossbar switches",
    paper: "DT96 Figure 21",
    shows: "With more bandwidth the lower depth of the diffracting tree counts.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = compare(lab, FIGURE.id, Network::MeshCrossbar, 0)?;
    let claims = vec![
        compared.best_throughput(lab, "DTree is the best: throughput", "DTree", 1.0),
        compared.best_latency(lab, "DTree is the best: latency", "DTree", 1.0),
        network_worst(lab, &compared.throughputs).because(compared.told()),
        compared.network_is_congested(lab),
        compared.characteristic_curve(lab),
    ];
    Ok(Findings { panels: compared.panels(), setup: compared.setup, claims })
}

/// "Counting networks .. are the least desirable data structure" (section 4.3.3).
fn network_worst(lab: &Lab, throughputs: &[Curve]) -> Claim {
    let claim = Claim::new(
        "CNet is the worst",
        format!(
            "throughput of the worst other / that of CNet more than 1 at every P from {MANY} to {MOST}"
        ),
    );
    // From behind: who is lowest leads.
    let (network, others) = (named(throughputs, "CNet"), others(throughputs, "CNet"));
    ahead(lab, claim, 1.0, &leads(Better::Low, network, &others, MANY, MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::curve::tests::curve;

    #[test]
    fn the_worst_hands_out_least() {
        let lab = Lab::new(false, 1, 1);
        let judged = |network: f64| {
            let one = |name: &str, y: f64| curve(name, &[(128.0, 50.0 + y), (256.0, y)]);
            let curves = [one("CTree", 20.0), one("CNet[32]", network), one("DTree[16]", 40.0)];
            network_worst(&lab, &curves)
        };
        assert_eq!(judged(10.0).holds, Some(true));
        assert_eq!(judged(30.0).holds, Some(false));
        assert_eq!(judged(30.0).measured, "at least 0.67 times CTree (P = 256); not at 2 of 2 P");
    }
}
