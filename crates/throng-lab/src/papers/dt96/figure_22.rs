//! DT96 Figure 22: a butterfly, work 0.

use super::messages::{BY_FAR, compare, each_level_adds, more_scalable};
use super::*;
use crate::papers::Figure;
use crate::papers::networks::named;
use crate::simulated::messages::Network;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-22",
    title: "counters of messages on a butterfly",
    paper: "DT96 Figure 22",
    shows: "Where all are equally far and a message is dear, the lowest structure wins.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = compare(lab, FIGURE.id, Network::Butterfly, 0)?;
    let claims = vec![
        compared.best_throughput(lab, "DTree clearly the best: throughput", "DTree", BY_FAR),
        compared.best_latency(lab, "DTree clearly the best: latency", "DTree", BY_FAR),
        each_level_adds(lab, named(&compared.latencies, "CTree")).because(compared.told()),
        more_scalable(lab, &compared.latencies).because(compared.told()),
        compared.network_is_congested(lab),
        compared.characteristic_curve(lab),
    ];
    Ok(Findings { panels: compared.panels(), setup: compared.setup, claims })
}
