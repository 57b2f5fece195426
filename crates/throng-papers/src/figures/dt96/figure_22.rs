//! DT96 Figure 22: a butterfly, work 0.

use super::compared::{BY_FAR, each_level_adds, findings_of, more_scalable};
use super::*;
use crate::figures::networks::named;
use crate::workloads::messages::Network;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-22",
    title: "counters of messages on a butterfly",
    paper: "DT96 Figure 22",
    shows: "Where all distances are equal and messages are slow, the shallowest structure wins.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    findings_of(lab, FIGURE.id, Network::Butterfly, |compared| {
        let most = compared.size.most;
        Ok(vec![
            compared.best_throughput(lab, "DTree clearly the best: throughput", "DTree", BY_FAR),
            compared.best_latency(lab, "DTree clearly the best: latency", "DTree", BY_FAR),
            each_level_adds(lab, named(&compared.latencies, "CTree"), most)
                .because(compared.told()),
            more_scalable(lab, &compared.latencies, most).because(compared.told()),
            compared.network_is_congested(lab),
            compared.characteristic_curve(lab),
        ])
    })
}
