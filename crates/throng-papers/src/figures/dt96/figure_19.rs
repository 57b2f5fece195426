//! DT96 Figure 19: a mesh whose switches pass one message at a time, work 0.

use super::compared::{Compared, findings_of};
use super::*;
use crate::figures::networks::{Better, ahead};
use crate::workloads::messages::{MessagesMeasured, Network};

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-19",
    title: "counters of messages on a mesh with single-wire switches",
    paper: "DT96 Figure 19",
    shows: "Where bandwidth is low and neighbours are near, combining is best: it sends the fewest messages.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    findings_of(lab, FIGURE.id, Network::MeshSingleWire, |compared| {
        Ok(vec![
            compared
                .best_latency(lab, "CTree is the best: latency", "CTree", 1.0)
                .because(not_yet(compared)),
            compared
                .best_throughput(lab, "CTree is the best: throughput", "CTree", 1.0)
                .because(not_yet(compared)),
            sends_least(lab, compared),
            compared.network_is_congested(lab),
            compared.characteristic_curve(lab),
        ])
    })
}

/// Says why the combining tree does not lead everywhere, and where it does.
fn not_yet(compared: &Compared) -> String {
    let at_most = compared.leads(Better::High, "CTree").pop();
    let at_most = at_most.map_or(String::new(), |lead| {
        format!(": {:.2} times the throughput of {} at P = {}", lead.times, lead.rival, lead.x)
    });
    compared.why(&format!(
        "a combining tree is as slow as its way up and down is long, and its switches are idle; the \
         others are faster until switches are full, which they are with most clients{at_most}"
    ))
}

/// Judges "The tree thus sends relatively few messages per index delivered" (section 4.3.3).
fn sends_least(lab: &Lab, Compared { rows, size, .. }: &Compared) -> Claim {
    let (many, most) = (size.many, size.most);
    let claim = Claim::new(
        "CTree sends relatively few messages for each number",
        format!("fewer than the others at every P from {many} to {most}"),
    );
    let sent: Vec<Curve> =
        rows.iter().map(|row| row.curve(MessagesMeasured::messages_a_number)).collect();
    let leads = size.leads(Better::Low, &sent, "CTree");
    let counts: Vec<String> = (sent.iter())
        .filter_map(|curve| Some(format!("{} {:.1}", curve.name, curve.at(most)?)))
        .collect();
    let judged = ahead(lab, claim, 1.0, &leads);
    Claim { measured: format!("{} messages at P = {most}", counts.join(", ")), ..judged }
}
