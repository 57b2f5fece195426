//! DT96 Figure 21: a mesh whose switches are crossbars, work 0.

use super::compared::findings_of;
use super::messages::Size;
use super::*;
use crate::figures::networks::{Better, ahead};
use crate::workloads::messages::Network;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-21",
    title: "counters of messages on a mesh with crossbar switches",
    paper: "DT96 Figure 21",
    shows: "With more bandwidth the smaller depth of the diffracting tree pays off.",
    find,
};

const COMBINING_IS_DEEPER: &str = "a number of the combining tree takes 2 log2 P messages one after \
    another, more than the best counting network is deep, and those near the root go far; it is the one \
    that is worst";

fn find(lab: &Lab) -> Result<Findings, Error> {
    findings_of(lab, FIGURE.id, Network::MeshCrossbar, |compared| {
        Ok(vec![
            compared.best_throughput(lab, "DTree is the best: throughput", "DTree", 1.0),
            compared.best_latency(lab, "DTree is the best: latency", "DTree", 1.0),
            network_worst(lab, &compared.size, &compared.throughputs)
                .because(compared.why(COMBINING_IS_DEEPER)),
            compared.network_is_congested(lab),
            compared.characteristic_curve(lab),
        ])
    })
}

/// Judges "Counting networks .. are the least desirable data structure" (section 4.3.3).
fn network_worst(lab: &Lab, size: &Size, throughputs: &[Curve]) -> Claim {
    let claim = Claim::new(
        "CNet is the worst",
        format!(
            "throughput of the worst other / that of CNet more than 1 at every P from {} to {}",
            size.many, size.most
        ),
    );
    // `Better::Low`: the claim is that CNet has the lowest throughput.
    ahead(lab, claim, 1.0, &size.leads(Better::Low, throughputs, "CNet"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;
    use crate::figures::dt96::messages::USUAL;

    #[test]
    fn the_worst_hands_out_least() {
        let lab = Lab::new(false, 1, 1);
        let judged = |network: f64| {
            let one = |name: &str, y: f64| curve(name, &[(128.0, 50.0 + y), (256.0, y)]);
            let curves = [one("CTree", 20.0), one("CNet[32]", network), one("DTree[16]", 40.0)];
            network_worst(&lab, &USUAL, &curves)
        };
        assert_eq!(judged(10.0).holds, Some(true));
        assert_eq!(judged(30.0).holds, Some(false));
        assert_eq!(judged(30.0).measured, "at least 0.67 times CTree (P = 256); not at 2 of 2 P");
    }
}
