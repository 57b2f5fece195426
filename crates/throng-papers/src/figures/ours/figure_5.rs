//! Counters of messages on a current cluster: up to 1024 nodes on a fat tree, with a microsecond
//! within a host and ten between two.
//!
//! A structure with parameters (a width, prisms, waits) gets the best of several settings at each
//! point, with hindsight, as everywhere in this folder. One dispenser has a node of its own without
//! a client, because a client there would take more numbers than all others together. The figure
//! also shows how long barriers of all nodes take.
//!
//! # What to use on 1000 nodes
//!
//! Use one dispenser as long as all requests together fit through its port: 5 million numbers a
//! second here, or one of each node about every 200 us. Nothing is faster than one message there
//! and one back, 21 us, and its numbers are in order.
//!
//! Beyond that, use a small diffracting tree: 4 to 8 leaves with a few prisms, on one host or a
//! few. It takes 34 us where one dispenser takes 204, hands out six times the numbers, and takes 23
//! us when few nodes ask.
//!
//! Do not use a combining tree. At its best, when all nodes ask at once, it takes 130 us. Where
//! nodes work between their requests, it waits for the last of them, or it locks out late requests
//! while an earlier one goes up alone, which is worse.
//!
//! As a barrier, use a tree whose fan-in makes it two levels: 38 us, where dissemination takes 72.

use super::*;
use crate::figures::networks::{self, Better, NetworkRow, Setting, ahead, leads};
use crate::figures::{Figure, Findings};
use crate::numbers::short;
use crate::output;
use crate::workloads::messages::{Layout, MessagesMeasured, Network, Rounds, Structure};
use crate::workloads::parallel::parallel;
use throng_messages::BarrierKind;

/// Numbers of nodes. Every node has a client.
const NODES: [usize; 7] = [16, 32, 64, 128, 256, 512, 1024];
const NODES_SMOKE: [usize; 1] = [16];
const MOST: f64 = 1024.0;
/// Number of nodes from which on one dispenser is saturated.
const FULL: f64 = 256.0;
/// Upper bound of the work after each number, in nanoseconds.
const WORK: u64 = 1_000_000;
/// Upper bounds of the work in the last chart.
const WORKS: [u64; 6] = [0, 100_000, 200_000, 400_000, WORK, 4_000_000];
const WORKS_SMOKE: [u64; 1] = [WORK];
/// Numbers handed out: about a hundred for each client. At the start all ask at once and wait long;
/// with fewer numbers that would dominate.
const NUMBERS: u64 = 100_000;
const NUMBERS_SMOKE: u64 = 100;

/// Waits of a combining tree's nodes, in nanoseconds.
const WAITS: [u64; 3] = [2_000, 20_000, 200_000];
const CNET_WIDTHS: [usize; 5] = [4, 8, 16, 32, 64];
const DTREE_WIDTHS: [usize; 5] = [4, 8, 16, 32, 64];
/// Prisms at the root. Each level below has half as many.
const ROOT_PRISMS: [usize; 3] = [2, 8, 32];
/// Waits of a prism in nanoseconds: (initial, largest).
const DELAYS: [(u64, u64); 2] = [(2_000, 20_000), (10_000, 100_000)];

/// Largest ratio that counts as no real growth.
const MORE: f64 = 1.1;
/// Smallest ratio that counts as "many times".
const TWICE: f64 = 2.0;
/// Largest ratio to the best, at every point, of a safe choice.
const SAFE: f64 = 1.5;

/// Fan-ins of a barrier that is a tree.
const FAN_INS: [u32; 5] = [2, 4, 16, 32, 64];
const DISSEMINATION: &str = "dissemination";

const CENTRAL: &str = "central";
const FOR_EVER: &str = "CTree, waits for ever";
const FIXED: &str = "CTree, waits a while";
const CNET: &str = "CNet";
const DTREE: &str = "DTree";

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "THRONG-5",
    title: "counters of messages on a cluster of today",
    paper: "throng, ours",
    shows: "One dispenser is enough until its port is full; then a tree of balancers is needed.",
    find,
};

/// Returns the settings of each contender.
fn contenders(lab: &Lab) -> Vec<(&'static str, Vec<Structure>)> {
    let first_of = |all: Vec<Structure>| lab.pick(usize::MAX, 1).min(all.len());
    let few = |all: Vec<Structure>| {
        let count = first_of(all.clone());
        all.into_iter().take(count).collect::<Vec<_>>()
    };
    let mut trees = Vec::new();
    for width in DTREE_WIDTHS {
        for root in ROOT_PRISMS {
            let prisms: Vec<usize> =
                (0..width.ilog2()).map(|level| (root >> level).max(1)).collect();
            for (first, most) in DELAYS {
                trees.push(Structure::diffracting_tree(prisms.clone()).with_delay(first, most));
            }
        }
    }
    vec![
        (CENTRAL, vec![Structure::Central]),
        (FOR_EVER, vec![Structure::combining_tree(None)]),
        (FIXED, few(WAITS.map(|wait| Structure::combining_tree(Some(wait))).to_vec())),
        (CNET, few(CNET_WIDTHS.map(Structure::counting_network).to_vec())),
        (DTREE, few(trees)),
    ]
}

fn setting(lab: &Lab, clients: &'static [usize], work: u64) -> Setting {
    Setting {
        figure: FIGURE.id,
        network: Network::FatTree,
        nodes: None,
        layout: Layout::Annealed,
        work,
        clients,
        numbers: lab.pick(NUMBERS, NUMBERS_SMOKE),
        repetitions: 1,
    }
}

/// Returns whether a structure has at most one role for each node.
fn fits(structure: &Structure, nodes: usize) -> bool {
    structure.plan(nodes, 0).len() <= nodes
}

/// A contender in its best setting at each point.
struct BestRow {
    row: NetworkRow,
    chosen: Option<String>,
}

impl BestRow {
    fn curve(&self, number: fn(&MessagesMeasured) -> f64) -> Curve {
        Curve { note: self.chosen.clone(), ..self.row.curve(number) }
    }
}

/// Finds the best settings at each number of nodes, by latency.
fn by_nodes(lab: &Lab, work: u64) -> Result<Vec<BestRow>, Error> {
    let mut cells = Vec::new();
    for nodes in lab.pick(&NODES[..], &NODES_SMOKE[..]).chunks(1) {
        cells.push((nodes[0] as f64, best_at(lab, nodes, work)?));
    }
    Ok(rows(lab, cells))
}

/// Finds the best settings on the largest cluster by work, in microseconds.
fn by_work(lab: &Lab) -> Result<Vec<BestRow>, Error> {
    let nodes = lab.pick(&NODES[NODES.len() - 1..], &NODES_SMOKE[..]);
    let mut cells = Vec::new();
    for &work in lab.pick(&WORKS[..], &WORKS_SMOKE[..]) {
        cells.push((work as f64 / 1e3, best_at(lab, nodes, work)?));
    }
    Ok(rows(lab, cells))
}

/// For each contender its best runs, and their settings.
type BestCells = Vec<(Rc<MessagesMeasured>, String)>;

fn best_at(lab: &Lab, nodes: &'static [usize], work: u64) -> Result<BestCells, Error> {
    let mut contenders = contenders(lab);
    for (_, settings) in &mut contenders {
        settings.retain(|structure| fits(structure, nodes[0]));
    }
    let all: Vec<Structure> =
        contenders.iter().flat_map(|(_, settings)| settings).cloned().collect();
    let mut measured = setting(lab, nodes, work).measure(lab, &all)?.into_iter().zip(all);
    let best = |(_, settings): &(&str, Vec<Structure>)| {
        let runs = measured.by_ref().take(settings.len());
        let runs =
            runs.map(|(row, structure)| (Rc::clone(&row.cells[0].1[0]), structure.in_words()));
        let best = runs.min_by(|a, b| networks::latency(&a.0).total_cmp(&networks::latency(&b.0)));
        best.expect("every contender fits in some setting")
    };
    Ok(contenders.iter().map(best).collect())
}

fn rows(lab: &Lab, cells: Vec<(f64, BestCells)>) -> Vec<BestRow> {
    let row = |(i, (name, settings)): (usize, (&str, Vec<Structure>))| {
        let runs = cells.iter().map(|(x, best)| (*x, vec![Rc::clone(&best[i].0)])).collect();
        let choices: Vec<(f64, &str)> =
            cells.iter().map(|(x, best)| (*x, best[i].1.as_str())).collect();
        BestRow {
            row: NetworkRow { name: name.to_owned(), cells: runs },
            chosen: (settings.len() > 1).then(|| chosen(&choices)),
        }
    };
    contenders(lab).into_iter().enumerate().map(row).collect()
}

/// Describes which setting was best from which point on.
fn chosen(choices: &[(f64, &str)]) -> String {
    in_words(choices).replace("P = ", "")
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let busy = by_nodes(lab, 0)?;
    let idle = by_nodes(lab, WORK)?;
    let loads = by_work(lab)?;
    let barriers = barriers(lab)?;
    let throughputs = curves(&busy, networks::throughput);
    let (busy_us, idle_us) = (curves(&busy, latency_us), curves(&idle, latency_us));
    let told =
        |rows: &[BestRow]| rows.iter().map(|row| row.row.told(MOST)).collect::<Vec<_>>().join(". ");
    let claims = vec![
        does_not_scale(lab, find_curve(&throughputs, CENTRAL)).because(told(&busy)),
        many_roles_win(lab, &throughputs).because(told(&busy)),
        one_is_enough(lab, &idle_us).because(told(&idle)),
        safe(lab, &busy_us, &idle_us).because(format!(
            "without work: {}. With: {}",
            told(&busy),
            told(&idle)
        )),
        for_ever_is_not(lab, &idle_us).because(format!(
            "to wait a while is worse still: whoever goes up alone keeps the nodes on its way locked until \
             it is back, as in DT96-18, and hardly anything combines. Neither is for nodes that work. {}",
            told(&idle)
        )),
        broad_trees_meet_sooner(lab, &barriers).because(
            "messages to the same member wait for its port, a fifth of a microsecond each, and a member \
             of a broad tree has many",
        ),
    ];
    let nodes = || Axis::new("nodes", Scale::Log2);
    let latency = || Axis::new("latency (us)", Scale::Log10);
    let throughput = || Axis::new("throughput (numbers per millisecond)", Scale::Log10);
    let with_work = format!("0 to {} us of work after each number", WORK / 1000);
    Ok(Findings {
        setup: format!(
            "{}, and with work; a cycle is a nanosecond; each structure in the best of several settings \
             at each point",
            setting(lab, &[], 0).in_words(lab)
        ),
        panels: vec![
            networks::panel("no work", nodes(), latency(), busy_us),
            networks::panel("no work", nodes(), throughput(), throughputs),
            networks::panel(with_work.clone(), nodes(), latency(), idle_us),
            networks::panel(with_work, nodes(), throughput(), curves(&idle, networks::throughput)),
            networks::panel(
                format!("{} nodes, by work", lab.pick(MOST as usize, NODES_SMOKE[0])),
                Axis::new("most work after a number (us)", Scale::Linear),
                latency(),
                curves(&loads, latency_us),
            ),
            networks::panel(
                "barriers, no work between rounds: from the last arrival to the last leaving",
                nodes(),
                latency(),
                barriers,
            ),
        ],
        claims,
    })
}

/// Measures how long a round of each barrier takes on all nodes.
fn barriers(lab: &Lab) -> Result<Vec<Curve>, Error> {
    let trees = lab.pick(&FAN_INS[..], &FAN_INS[..1]).iter();
    let trees =
        trees.map(|&fan_in| (format!("tree, {fan_in} children"), BarrierKind::Tree { fan_in }));
    let kinds: Vec<(String, BarrierKind)> =
        std::iter::once((DISSEMINATION.to_owned(), BarrierKind::Dissemination))
            .chain(trees)
            .collect();
    let nodes = lab.pick(&NODES[..], &NODES_SMOKE[..]);
    let replay = format!("throng figure {}", FIGURE.id);
    let runs: Vec<Rounds> = (kinds.iter())
        .flat_map(|&(_, kind)| nodes.iter().map(move |&members| (kind, members)))
        .map(|(kind, members)| Rounds {
            replay: replay.clone(),
            ..Rounds::new(kind, Network::FatTree, members)
        })
        .collect();
    let progress = output::progress_bar(runs.len());
    progress.set_message(FIGURE.id);
    let measured = parallel(&runs, lab.threads, &progress, Rounds::latency_cycles_mean);
    progress.finish_and_clear();
    let mut latencies = measured.into_iter();
    let mut curve = |(name, _): (String, BarrierKind)| {
        let point = |(&members, latency): (&usize, Result<f64, Error>)| {
            Ok(Point::exact(members as f64, latency? / 1e3))
        };
        let points = nodes.iter().zip(latencies.by_ref()).map(point);
        Ok(Curve::measured(name, points.collect::<Result<_, Error>>()?))
    };
    kinds.into_iter().map(&mut curve).collect()
}

fn broad_trees_meet_sooner(lab: &Lab, barriers: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("barriers: {MOST} nodes meet sooner in a broad tree than by dissemination"),
        "latency of dissemination / that of the best tree more than 1",
    );
    let trees = barriers.iter().filter(|curve| curve.name != DISSEMINATION);
    let at = trees.filter_map(|tree| Some((tree.at(MOST)?, &tree.name)));
    let best = at.min_by(|a, b| a.0.total_cmp(&b.0));
    let dissemination = find_curve(barriers, DISSEMINATION).at(MOST);
    let (Some((best, name)), Some(other)) = (best, dissemination) else { return claim };
    let measured = format!(
        "{name}: {} us, dissemination {} us: {:.2} times",
        short(best),
        short(other),
        other / best
    );
    claim.judged(measured, lab.judge(other > best))
}

fn curves(rows: &[BestRow], number: fn(&MessagesMeasured) -> f64) -> Vec<Curve> {
    rows.iter().map(|row| row.curve(number)).collect()
}

fn latency_us(run: &MessagesMeasured) -> f64 {
    networks::latency(run) / 1e3
}

fn does_not_scale(lab: &Lab, central: &Curve) -> Claim {
    let claim = Claim::new(
        "one dispenser does not scale: its port is full",
        format!("no work: throughput on {MOST} nodes at most {MORE} times that on {FULL}"),
    );
    let (Some(full), Some(most)) = (central.at(FULL), central.at(MOST)) else { return claim };
    let measured = format!(
        "{} numbers per millisecond on {FULL} nodes, {} on {MOST}: {:.2} times",
        short(full),
        short(most),
        most / full
    );
    claim.judged(measured, lab.judge(most <= MORE * full))
}

/// Returns all curves except that of the one dispenser.
fn of_many_roles(curves: &[Curve]) -> Vec<&Curve> {
    curves.iter().filter(|curve| curve.name != CENTRAL).collect()
}

fn many_roles_win(lab: &Lab, throughputs: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!(
            "on {MOST} nodes that do nothing else, many roles hand out many times more than one"
        ),
        format!("throughput of the best of them / that of one dispenser at least {TWICE}"),
    );
    let at = |curve: &&Curve| Some((curve.at(MOST)?, curve.name.clone()));
    let best = of_many_roles(throughputs).iter().filter_map(at).max_by(|a, b| a.0.total_cmp(&b.0));
    let central = find_curve(throughputs, CENTRAL).at(MOST);
    let (Some((best, name)), Some(central)) = (best, central) else { return claim };
    let times = best / central;
    let measured = format!("{name} {times:.2} times ({} against {})", short(best), short(central));
    claim.judged(measured, lab.judge(times >= TWICE))
}

fn one_is_enough(lab: &Lab, latencies: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("on {MOST} nodes with work of 0 to {} us one dispenser is the best", WORK / 1000),
        "latency of the best other / that of one dispenser more than 1",
    );
    let central = find_curve(latencies, CENTRAL);
    let leads = leads(Better::Low, central, &of_many_roles(latencies), MOST, MOST);
    ahead(lab, claim, 1.0, &leads)
}

fn safe(lab: &Lab, busy: &[Curve], idle: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("of many roles, DTree is a safe choice on {MOST} nodes"),
        format!("with and without work, latency at most {SAFE} times the best of CTree and CNet"),
    );
    let times = |curves: &[Curve]| {
        let rivals: Vec<&Curve> =
            of_many_roles(curves).into_iter().filter(|curve| curve.name != DTREE).collect();
        let lead = leads(Better::Low, find_curve(curves, DTREE), &rivals, MOST, MOST).pop()?;
        Some((1.0 / lead.times, lead.rival.to_owned()))
    };
    let (Some(busy), Some(idle)) = (times(busy), times(idle)) else { return claim };
    let measured =
        format!("{:.2} times {} without work, {:.2} times {} with", busy.0, busy.1, idle.0, idle.1);
    claim.judged(measured, lab.judge(busy.0.max(idle.0) <= SAFE))
}

fn for_ever_is_not(lab: &Lab, idle: &[Curve]) -> Claim {
    let claim = Claim::new(
        format!("combining that waits for ever is none, where {MOST} nodes work"),
        format!("latency at least {SAFE} times that of combining that waits a while"),
    );
    let (Some(for_ever), Some(fixed)) =
        (find_curve(idle, FOR_EVER).at(MOST), find_curve(idle, FIXED).at(MOST))
    else {
        return claim;
    };
    let times = for_ever / fixed;
    let measured = format!("{times:.2} times ({} against {} us)", short(for_ever), short(fixed));
    claim.judged(measured, lab.judge(times >= SAFE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn five(at_most: [f64; 5]) -> Vec<Curve> {
        let names = [CENTRAL, FOR_EVER, FIXED, CNET, DTREE];
        let one = |(name, y): (&str, f64)| curve(name, &[(256.0, 5.0), (1024.0, y)]);
        names.into_iter().zip(at_most).map(one).collect()
    }

    #[test]
    fn claims_are_about_the_largest_cluster() {
        let lab = Lab::new(false, 1, 1);
        let throughputs = five([5.2, 7.0, 6.0, 8.0, 12.0]);
        assert_eq!(does_not_scale(&lab, &throughputs[0]).holds, Some(true));
        assert_eq!(many_roles_win(&lab, &throughputs).holds, Some(true));
        assert_eq!(many_roles_win(&lab, &five([5.2, 7.0, 6.0, 8.0, 9.0])).holds, Some(false));
        let idle = five([20.0, 600.0, 150.0, 120.0, 90.0]);
        assert_eq!(one_is_enough(&lab, &idle).holds, Some(true));
        assert_eq!(for_ever_is_not(&lab, &idle).holds, Some(true));
        assert_eq!(safe(&lab, &five([200.0, 70.0, 90.0, 180.0, 80.0]), &idle).holds, Some(true));
        let unsafe_one = safe(&lab, &five([200.0, 40.0, 90.0, 180.0, 80.0]), &idle);
        assert_eq!(unsafe_one.holds, Some(false));
        assert!(unsafe_one.measured.starts_with("2.00 times CTree, waits for ever without work"));
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (6, 6));
        assert!(findings.panels[..5].iter().all(|panel| panel.series.len() == 5));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }

    #[test]
    fn every_contender_fits_on_the_smallest_cluster_in_some_setting() {
        for lab in [Lab::new(false, 1, 1), Lab::new(true, 1, 1)] {
            for (name, settings) in contenders(&lab) {
                assert!(settings.iter().any(|one| fits(one, NODES[0])), "{name}");
            }
        }
    }
}
