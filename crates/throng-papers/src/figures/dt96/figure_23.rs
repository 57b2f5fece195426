//! DT96 Figure 23: one crossbar that connects all nodes, work 0.

use super::compared::{ABOUT, Compared, each_level_adds, findings_of, more_scalable};
use super::messages::{SMALL, setting};
use super::*;
use crate::figures::networks::{self, Better, NetworkRow, mean_lead, named};
use crate::workloads::messages::{Network, Structure};

/// "With the diffracting tree leading in throughput by about 35%."
const LEADS: f64 = 1.35;
/// Largest ratio of best to worst throughput for "All three methods have roughly similar
/// performance".
const SIMILAR: f64 = 2.0;
/// "The ratio of latencies is very close to 17:10."
const MESSAGES: [f64; 2] = [17.0, 10.0];
/// Largest relative distance from the ratio of messages. The paper's own latencies, 48 and 33
/// cycles, are 14 % from it.
const CLOSE: f64 = 0.15;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "DT96-23",
    title: "counters of messages on a crossbar",
    paper: "DT96 Figure 23",
    shows: "Where messages are fast, all three are similar and the diffracting tree leads.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    findings_of(lab, FIGURE.id, Network::Crossbar, |compared| {
        let most = compared.size.most;
        let setting = setting(lab, FIGURE.id, Network::Crossbar, 0, &compared.size);
        let two = setting.measure(lab, &of_the_ratio(compared))?;
        Ok(vec![
            similar(lab, compared).because(compared.told()),
            leads_by_about(lab, compared).because(compared.told()),
            by_messages(lab, &two).because(networks::told(&two, SMALL)),
            each_level_adds(lab, named(&compared.latencies, "CTree"), most)
                .because(compared.told()),
            more_scalable(lab, &compared.latencies, most).because(compared.told()),
            compared.network_is_congested(lab),
            compared.characteristic_curve(lab),
        ])
    })
}

/// Returns the counting network of width 32 and the best tree of width 16, or the widest there are
/// in a small test.
fn of_the_ratio(compared: &Compared) -> [Structure; 2] {
    let of_width = |all: &[(Structure, f64)], width: usize| {
        let mut wide = all.iter().filter(|one| one.0.width() <= Some(width));
        wide.next_back().expect("narrow ones come first").0.clone()
    };
    [of_width(&compared.best.cnets, 32), of_width(&compared.best.dtrees, 16)]
}

fn similar(lab: &Lab, compared: &Compared) -> Claim {
    let claim = Claim::new(
        "all three are comparable",
        format!("best throughput / worst at most {SIMILAR} at P = {}", compared.size.most),
    );
    let at_most: Vec<(f64, &str)> = (compared.throughputs.iter())
        .filter_map(|curve| Some((curve.at(compared.size.most)?, curve.name.as_str())))
        .collect();
    let best = at_most.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let worst = at_most.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(best), Some(worst)) = (best, worst) else { return claim };
    let ratio = best.0 / worst.0;
    claim.judged(format!("{} {ratio:.2} times {}", best.1, worst.1), lab.judge(ratio <= SIMILAR))
}

fn leads_by_about(lab: &Lab, compared: &Compared) -> Claim {
    let (least, most) = (LEADS / ABOUT, LEADS * ABOUT);
    let claim = Claim::new(
        "DTree leads by about 35 % in throughput",
        format!(
            "throughput / that of the best other from {least:.2} to {most:.2}, mean over P from {} on",
            compared.size.many
        ),
    );
    let leads = compared.leads(Better::High, "DTree");
    if leads.is_empty() {
        return claim;
    }
    let mean = mean_lead(&leads);
    let each: Vec<String> = leads
        .iter()
        .map(|lead| format!("{:.2} times {} at P = {}", lead.times, lead.rival, lead.x))
        .collect();
    claim.judged(
        format!("{mean:.2}: {}", each.join(", ")),
        lab.judge((least..=most).contains(&mean)),
    )
}

fn by_messages(lab: &Lab, two: &[NetworkRow]) -> Claim {
    let [network, tree] = MESSAGES;
    let expected = network / tree;
    let claim = Claim::new(
        format!(
            "latency of CNet[32] : DTree[16] at P = {SMALL} as their messages, {network} : {tree}"
        ),
        format!("within {:.0} % of {expected} (the paper's: 48 : 33 = 1.45)", 100.0 * CLOSE),
    );
    let latency = |row: &NetworkRow| row.curve(networks::latency).at(SMALL);
    let (Some(network), Some(tree)) = (latency(&two[0]), latency(&two[1])) else { return claim };
    let ratio = network / tree;
    claim.judged(
        format!("{} : {} cycles = {ratio:.2}", short(network), short(tree)),
        lab.judge((ratio / expected - 1.0).abs() <= CLOSE),
    )
}
