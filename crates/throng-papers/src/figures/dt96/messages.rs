//! Common parts of the figures of section 4.
//!
//! They run the index distribution benchmark on four networks, on which counters are made of
//! messages. Only messages take time; the work of a processor on a message takes none (section
//! 4.2). The paper shows three structures, and gives trees and networks of balancers the best width
//! for each network (Table 2). These figures do the same, with widths and prisms found by [`best`].

use super::*;
use crate::figures::networks::{self, Better, NetworkRow, Setting, leads, named, others};
use crate::workloads::messages::{Layout, Network, Structure};

/// "The number of processors is small (16)" (section 4.3.2).
pub(super) const SMALL: f64 = 16.0;
const CLIENTS_SMOKE: [usize; 2] = [2, 8];
const NUMBERS_SMOKE: u64 = 100;
const NODES_SMOKE: usize = 64;
const CROWDS_SMOKE: [usize; 1] = [8];

/// The size of an experiment.
///
/// The paper does not give the size of its networks. Claims are judged on 256 nodes, as in the
/// other figures. There, the counting network of width 32 has 240 balancers and 32 counters, so
/// that some node has two roles. The paper excludes that ("at most two" threads, one of them a
/// client). So that structure alone gets a larger network: the smallest square mesh, butterfly or
/// crossbar that has room.
///
/// 1024 is the smallest number that fits everything the paper says: a square for meshes, a power of
/// two for the butterfly and a node for each role. All claims are judged at that size as well, and
/// marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Nodes of the network, unless a structure needs more.
    pub(super) nodes: usize,
    /// Numbers of clients.
    pub(super) clients: &'static [usize],
    /// Numbers of clients, over the whole range, with which the best prisms and waits are chosen.
    tuned: &'static [usize],
    /// Large numbers of clients, with which the best width is chosen.
    crowds: &'static [usize],
    /// The smallest number that counts as many clients.
    pub(super) many: f64,
    /// The largest number of clients.
    pub(super) most: f64,
    /// Numbers handed out in a run.
    numbers: u64,
    /// The mark in front of its claims.
    pub(super) mark: &'static str,
}

/// The size of the other figures.
pub(super) const USUAL: Size = Size {
    nodes: 256,
    clients: &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
    tuned: &[16, 64, 128, 256],
    crowds: &[128, 256],
    many: MANY,
    most: MOST,
    numbers: 10_000,
    mark: "",
};
/// The smallest size that fits everything the paper says.
pub(super) const LARGE: Size = Size {
    nodes: 1024,
    clients: &[1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    tuned: &[16, 128, 512, 1024],
    crowds: &[512, 1024],
    many: 512.0,
    most: 1024.0,
    numbers: 20_000,
    mark: "(1024 nodes) ",
};
pub(super) const SIZES: [Size; 2] = [USUAL, LARGE];

impl Size {
    /// Returns the title of a chart of this size.
    pub(super) fn title(&self, lab: &Lab, what: &str) -> String {
        format!("{} nodes: {what}", lab.pick(self.nodes, NODES_SMOKE))
    }

    pub(super) fn in_a_crowd(&self) -> String {
        format!("at every P from {} to {}", self.many, self.most)
    }
}

const CNET_WIDTHS: [usize; 3] = [8, 16, 32];
const DTREE_WIDTHS: [usize; 4] = [4, 8, 16, 32];
/// Numbers of prism processors at the root. Each level below has half as many, at least one.
const ROOT_PRISMS: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// Waits of prisms in cycles: (initial, largest).
const DELAYS: [(u64, u64); 4] = [(1, 8), (4, 32), (16, 128), (64, 512)];

/// Returns the benchmark on a network, with roles placed by annealing.
pub(super) fn setting(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    work: u64,
    size: &Size,
) -> Setting {
    Setting {
        figure,
        network,
        nodes: Some(lab.pick(size.nodes, NODES_SMOKE)),
        layout: Layout::Annealed,
        work,
        clients: lab.pick(size.clients, &CLIENTS_SMOKE[..]),
        numbers: lab.pick(size.numbers, NUMBERS_SMOKE),
        repetitions: REPETITIONS,
    }
}

/// Returns the combining tree of all figures except 18: its nodes wait for ever.
pub(super) fn ctree() -> Structure {
    Structure::combining_tree(None)
}

/// Returns counting networks of all widths.
pub(super) fn cnets(lab: &Lab) -> Vec<Structure> {
    let widths = lab.pick(&CNET_WIDTHS[..], &CNET_WIDTHS[..1]);
    widths.iter().map(|&width| Structure::counting_network(width)).collect()
}

/// Returns diffracting trees of all widths, each with several prisms and waits, as far as the
/// network has a node for each role.
pub(super) fn dtrees(lab: &Lab, size: &Size) -> Vec<Vec<Structure>> {
    let widths = lab.pick(&DTREE_WIDTHS[..], &DTREE_WIDTHS[..2]);
    let roots = lab.pick(&ROOT_PRISMS[..], &ROOT_PRISMS[..1]);
    let delays = lab.pick(&DELAYS[..], &DELAYS[..1]);
    let trees = |&width: &usize| {
        let halving = roots.iter().map(|&root| halving(width, root));
        let mut prisms: Vec<Vec<usize>> =
            std::iter::once(of_section_3(width)).chain(halving).collect();
        prisms.dedup();
        let trees = prisms.into_iter().map(Structure::diffracting_tree);
        let trees = trees.filter(|tree| tree.plan(1, 0).len() <= size.nodes);
        trees
            .flat_map(|tree| {
                delays.iter().map(move |&(first, most)| tree.clone().with_delay(first, most))
            })
            .collect()
    };
    widths.iter().map(trees).collect()
}

/// Returns the prisms of section 3.3.1, counted from the leaves for narrower trees.
fn of_section_3(width: usize) -> Vec<usize> {
    let depth = width.ilog2() as usize;
    [8, 4, 2, 2, 1][5 - depth..].to_vec()
}

/// Returns prism sizes from the root down, each half the one above, at least 1.
fn halving(width: usize, root: usize) -> Vec<usize> {
    (0..width.ilog2()).map(|level| (root >> level).max(1)).collect()
}

/// The best structures of each kind on a network.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// The best diffracting tree of each width, narrow ones first, and its throughput with many clients.
    pub(super) dtrees: Vec<(Structure, f64)>,
    /// The counting network of each width, in the same order.
    pub(super) cnets: Vec<(Structure, f64)>,
}

impl Best {
    pub(super) fn dtree(&self) -> &Structure {
        &highest_of(&self.dtrees).0
    }

    pub(super) fn cnet(&self) -> &Structure {
        &highest_of(&self.cnets).0
    }

    /// Returns the paper's three methods.
    pub(super) fn structures(&self) -> Vec<Structure> {
        vec![ctree(), self.cnet().clone(), self.dtree().clone()]
    }

    /// Describes the choice, and what it was made from.
    pub(super) fn in_words(&self) -> String {
        self.dtree().in_words()
    }
}

pub(super) fn highest_of(all: &[(Structure, f64)]) -> &(Structure, f64) {
    all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there is one of each kind")
}

/// Finds the best of each kind on a network: "every attempt has been made to optimize the data
/// structures", and "in each benchmark, results are presented for the best width" (section 4.2).
///
/// The prisms and waits of a tree are those with the lowest geometric mean of latencies over the
/// whole range of clients, in one shorter run each. Chosen for many clients alone, prisms would
/// wait ten times as long as a few clients need. The width is that with the highest throughput with
/// many clients. Counting networks of all widths have as many nodes as the widest needs.
pub(super) fn best(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    work: u64,
    size: &Size,
) -> Result<Best, Error> {
    let crowds = Setting {
        clients: lab.pick(size.crowds, &CROWDS_SMOKE[..]),
        ..setting(lab, figure, network, work, size)
    };
    let whole_range = Setting {
        clients: lab.pick(size.tuned, &CROWDS_SMOKE[..]),
        numbers: crowds.numbers / 2,
        repetitions: 1,
        ..crowds.clone()
    };
    let of_widths = dtrees(lab, size);
    let all = of_widths.concat();
    let mut tried = whole_range.measure(lab, &all)?.into_iter().zip(all);
    let mut tuned = |trees: &Vec<Structure>| {
        let tried = tried.by_ref().take(trees.len());
        let scored = tried.map(|(row, tree)| (log_latency(&row), tree));
        scored.min_by(|a, b| a.0.total_cmp(&b.0)).expect("a tree of each width fits").1
    };
    let dtrees: Vec<Structure> = of_widths.iter().map(&mut tuned).collect();
    let speeds = |crowds: &Setting, structures: Vec<Structure>| -> Result<Vec<_>, Error> {
        let rows = crowds.measure(lab, &structures)?;
        Ok(structures.into_iter().zip(rows.iter().map(speed)).collect())
    };
    let cnets = cnets(lab);
    let needed = cnets.iter().map(|cnet| crowds.nodes_for(cnet, 1)).max();
    let cnets = speeds(&Setting { nodes: needed, ..crowds.clone() }, cnets)?;
    Ok(Best { cnets, dtrees: speeds(&crowds, dtrees)? })
}

/// Returns the logarithm of the geometric mean of latencies over all numbers of clients.
fn log_latency(row: &NetworkRow) -> f64 {
    let curve = row.curve(networks::latency);
    curve.points.iter().map(|point| point.y.ln()).sum::<f64>() / curve.points.len() as f64
}

/// Returns the mean throughput over all numbers of clients.
fn speed(row: &NetworkRow) -> f64 {
    let curve = row.curve(networks::throughput);
    curve.points.iter().map(|point| point.y).sum::<f64>() / curve.points.len() as f64
}

/// Describes the runs, and how widths were chosen.
pub(super) fn with_choice(setups: &[String]) -> String {
    format!(
        "{}; of those tried, prisms and waits have the lowest latency over the range of P, widths the \
         highest throughput in the two largest crowds",
        setups.join("; ")
    )
}

/// Returns a note on each structure that does not fit on the nodes of the others.
pub(super) fn larger_networks(setting: &Setting, structures: &[Structure]) -> String {
    let usual = setting.nodes.unwrap_or(0);
    let larger = |structure: &Structure| {
        let nodes = setting.nodes_for(structure, 1);
        let roles = structure.plan(1, 0).len();
        (nodes > usual).then(|| {
            format!(
                ", {} has {roles} roles, one a node, so its network has {nodes}",
                structure.name()
            )
        })
    };
    structures.iter().filter_map(larger).collect()
}

impl Size {
    /// Returns the leads of the curve of `kind` over the others, with many clients.
    pub(super) fn leads<'a>(
        &self,
        better: Better,
        curves: &'a [Curve],
        kind: &str,
    ) -> Vec<networks::Lead<'a>> {
        leads(better, named(curves, kind), &others(curves, kind), self.many, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prisms_are_those_of_section_3_and_such_that_halve() {
        assert_eq!(of_section_3(32), [8, 4, 2, 2, 1]);
        assert_eq!(of_section_3(4), [2, 1]);
        assert_eq!(halving(16, 4), [4, 2, 1, 1]);
        let count = |size| -> Vec<usize> {
            let all = dtrees(&Lab::new(false, 1, 1), &size);
            all.iter().map(|of_width| of_width.len() / DELAYS.len()).collect()
        };
        // For width 4, section 3 and halving from two are the same. For widths 16 and 32, the
        // largest prisms need more than 256 nodes.
        assert_eq!(count(USUAL), [6, 7, 6, 6]);
        assert_eq!(count(LARGE), [6, 7, 7, 7]);
    }
}
