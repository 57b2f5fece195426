//! DT96 Figure 19: a mesh whose switches pass one message at a time, work 0.

use super::messages::compare;
use super::*;
use crate::papers::Figure;
use crate::papers::claim::Claim;
use crate::papers::networks::{Better, NetworkRow, ahead, leads, named, others};
use crate::simulated::messages::{MessagesMeasured, Network};

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-19",
    title: "counters of messages on a mesh with single-wire switches",
    paper: "DT96 Figure 19",
    shows: "Where bandwidth is low and neighbours are near, combining is best: it sends least.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = compare(lab, FIGURE.id, Network::MeshSingleWire, 0)?;
    let claims = vec![
        compared.best_latency(lab, "CTree is the best: latency", "CTree", 1.0),
        compared.best_throughput(lab, "CTree is the best: throughput", "CTree", 1.0),
        sends_least(lab, &compared.rows),
        compared.network_is_congested(lab),
        compared.characteristic_curve(lab),
    ];
    Ok(Findings { panels: compared.panels(), setup: compared.setup, claims })
}

/// "The tree thus sends relatively few messages per index delivered" (section 4.3.3).
fn sends_least(lab: &Lab, rows: &[NetworkRow]) -> Claim {
    let claim = Claim::new(
        "CTree sends relatively few messages for each number",
        format!("fewer than the others at every P from {MANY} to {MOST}"),
    );
    let sent: Vec<Curve> =
        rows.iter().map(|row| row.curve(MessagesMeasured::messages_a_number)).collect();
    let leads = leads(Better::Low, named(&sent, "CTree"), &others(&sent, "CTree"), MANY, MOST);
    let counts: Vec<String> = (sent.iter())
        .filter_map(|curve| Some(format!("{} {:.1}", curve.name, curve.at(MOST)?)))
        .collect();
    let judged = ahead(lab, claim, 1.0, &leads);
    Claim { measured: format!("{} messages at P = {MOST}", counts.join(", ")), ..judged }
}
