//! Section 4 of the paper: what its figures have in common.
//!
//! The index distribution benchmark once more, on four networks on which counters are made of
//! messages. Time is what messages take; what a processor does with one takes none (section 4.2).
//! The paper shows three structures, trees and networks of balancers in the width that is best on a
//! network (Table 2); so do these figures, with widths and prisms found by [`best`].

use super::*;
use crate::numbers::short;
use crate::papers::claim::Claim;
use crate::papers::networks::{self, Better, NetworkRow, Setting, ahead, leads, named, others};
use crate::simulated::messages::{Layout, Network, Structure};

/// "The number of processors is small (16)" (section 4.3.2).
pub(super) const SMALL: f64 = 16.0;
const CLIENTS_SMOKE: [usize; 2] = [2, 8];
const NUMBERS_SMOKE: u64 = 100;
const NODES_SMOKE: usize = 64;
const CROWDS_SMOKE: [usize; 1] = [8];

/// How large an experiment is.
///
/// The paper does not say how many processors its networks had. As many as the other figures have, 256,
/// is what the claims are judged on. But then its counting network of width 32, 240 balancers and 32
/// counters, had two roles on a node, which it excludes ("at most two" threads, one of them a client).
/// Here that structure alone has a larger network: the smallest square mesh, butterfly or crossbar on
/// which it fits. The smallest number that suits all it says, a square for meshes, a power of two for
/// the butterfly and a node for every role, is 1024. So everything is judged there as well, and marked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    /// Nodes of the network, unless a structure needs more.
    pub(super) nodes: usize,
    /// Numbers of clients.
    pub(super) clients: &'static [usize],
    /// What is best is decided in a crowd: with so many clients.
    pub(super) crowds: &'static [usize],
    /// From here on there are many clients.
    pub(super) many: f64,
    /// The most of them.
    pub(super) most: f64,
    /// Numbers handed out in a run.
    numbers: u64,
    /// In front of claims.
    pub(super) mark: &'static str,
}

/// As in the other figures.
pub(super) const USUAL: Size = Size {
    nodes: 256,
    clients: &[1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256],
    crowds: &[128, 256],
    many: MANY,
    most: MOST,
    numbers: 10_000,
    mark: "",
};
/// The smallest that suits all that the paper says.
pub(super) const LARGE: Size = Size {
    nodes: 1024,
    clients: &[1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024],
    crowds: &[512, 1024],
    many: 512.0,
    most: 1024.0,
    numbers: 20_000,
    mark: "(1024 nodes) ",
};
pub(super) const SIZES: [Size; 2] = [USUAL, LARGE];

impl Size {
    /// The name of a chart of this size.
    pub(super) fn title(&self, lab: &Lab, what: &str) -> String {
        format!("{} nodes: {what}", lab.pick(self.nodes, NODES_SMOKE))
    }

    fn from_many(&self) -> String {
        format!("at every P from {} to {}", self.many, self.most)
    }
}

/// "By far the best", "substantially": the paper calls a lead of 35 % "roughly similar".
pub(super) const BY_FAR: f64 = 1.5;
/// A latency that is more than so many times another has risen; as in Figure 10.
pub(super) const RISES: f64 = 1.25;
/// A ratio that is at most so many times larger or smaller than the paper's is about the paper's; as
/// in Figures 14 and 15.
pub(super) const ABOUT: f64 = 1.25;

const CNET_WIDTHS: [usize; 3] = [8, 16, 32];
const DTREE_WIDTHS: [usize; 4] = [4, 8, 16, 32];
/// Prism processors at the root; half as many at each level below, at least one.
const ROOT_PRISMS: [usize; 6] = [2, 4, 8, 16, 32, 64];
/// How long prisms wait, at first and at most.
const DELAYS: [(u64, u64); 4] = [(1, 8), (4, 32), (16, 128), (64, 512)];

/// The benchmark on a network, laid out as well as may be.
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

/// The combining tree of all figures but 18: its nodes wait for ever.
pub(super) fn ctree() -> Structure {
    Structure::combining_tree(None)
}

/// Counting networks of all widths.
pub(super) fn cnets(lab: &Lab) -> Vec<Structure> {
    let widths = lab.pick(&CNET_WIDTHS[..], &CNET_WIDTHS[..1]);
    widths.iter().map(|&width| Structure::counting_network(width)).collect()
}

/// Diffracting trees of all widths, each with several prisms and waits; those that have a node for each
/// role.
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

/// The prisms of section 3.3.1, counted from the leaves where a tree is narrower.
fn of_section_3(width: usize) -> Vec<usize> {
    let depth = width.ilog2() as usize;
    [8, 4, 2, 2, 1][5 - depth..].to_vec()
}

/// Prisms from the root down, each half as large as the one above, at least one.
fn halving(width: usize, root: usize) -> Vec<usize> {
    (0..width.ilog2()).map(|level| (root >> level).max(1)).collect()
}

/// The best of each kind on a network.
#[derive(Clone, Debug)]
pub(super) struct Best {
    /// The best diffracting tree of each width, narrow ones first, and its throughput in a crowd.
    pub(super) dtrees: Vec<(Structure, f64)>,
    /// Counting networks in the same way.
    pub(super) cnets: Vec<(Structure, f64)>,
}

impl Best {
    pub(super) fn dtree(&self) -> &Structure {
        &highest_of(&self.dtrees).0
    }

    pub(super) fn cnet(&self) -> &Structure {
        &highest_of(&self.cnets).0
    }

    /// The paper's three methods.
    pub(super) fn structures(&self) -> Vec<Structure> {
        vec![ctree(), self.cnet().clone(), self.dtree().clone()]
    }

    /// What was chosen, and from what.
    pub(super) fn in_words(&self) -> String {
        self.dtree().in_words()
    }
}

pub(super) fn highest_of(all: &[(Structure, f64)]) -> &(Structure, f64) {
    all.iter().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there is one of each kind")
}

/// Finds the best of each kind on a network: by the mean throughput in crowds, without work, in one
/// run each. Counting networks of all widths have as many nodes as the widest needs.
pub(super) fn best(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    size: &Size,
) -> Result<Best, Error> {
    let setting = Setting {
        clients: lab.pick(size.crowds, &CROWDS_SMOKE[..]),
        repetitions: 1,
        ..setting(lab, figure, network, 0, size)
    };
    let speeds =
        |setting: &Setting, structures: &[Structure]| -> Result<Vec<(Structure, f64)>, Error> {
            let rows = setting.measure(lab, structures)?;
            Ok(structures.iter().cloned().zip(rows.iter().map(speed)).collect())
        };
    let cnets = cnets(lab);
    let needed = cnets.iter().map(|cnet| setting.nodes_for(cnet, 1)).max();
    let cnets = speeds(&Setting { nodes: needed, ..setting.clone() }, &cnets)?;
    let dtrees = dtrees(lab, size);
    let mut scored = speeds(&setting, &dtrees.concat())?.into_iter();
    let best_of_width = |trees: &Vec<Structure>| {
        let of_width: Vec<_> = scored.by_ref().take(trees.len()).collect();
        highest_of(&of_width).clone()
    };
    Ok(Best { cnets, dtrees: dtrees.iter().map(best_of_width).collect() })
}

/// The mean throughput over all numbers of clients.
fn speed(row: &NetworkRow) -> f64 {
    let curve = row.curve(networks::throughput);
    curve.points.iter().map(|point| point.y).sum::<f64>() / curve.points.len() as f64
}

/// The paper's three methods on a network.
pub(super) struct Compared {
    pub(super) size: Size,
    pub(super) best: Best,
    pub(super) rows: Vec<NetworkRow>,
    pub(super) latencies: Vec<Curve>,
    pub(super) throughputs: Vec<Curve>,
    setup: String,
}

/// Measures the paper's three methods on a network, in their best widths.
pub(super) fn compare(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    work: u64,
    size: &Size,
) -> Result<Compared, Error> {
    let best = best(lab, figure, network, size)?;
    let setting = setting(lab, figure, network, work, size);
    let rows = setting.measure(lab, &best.structures())?;
    let larger = larger_networks(&setting, &best.structures());
    Ok(Compared {
        size: *size,
        latencies: rows.iter().map(|row| row.curve(networks::latency)).collect(),
        throughputs: rows.iter().map(|row| row.curve(networks::throughput)).collect(),
        rows,
        setup: format!("{}, {}{larger}", setting.in_words(lab), best.in_words()),
        best,
    })
}

/// The comparison in both sizes: charts and claims of each.
pub(super) fn findings_of(
    lab: &Lab,
    figure: &'static str,
    network: Network,
    claims: impl Fn(&Compared) -> Result<Vec<Claim>, Error>,
) -> Result<Findings, Error> {
    let mut all = Findings { setup: String::new(), panels: Vec::new(), claims: Vec::new() };
    let mut setups = Vec::new();
    for size in &SIZES {
        let compared = compare(lab, figure, network, 0, size)?;
        all.claims.extend(claims(&compared)?.into_iter().map(|claim| claim.marked(size.mark)));
        all.panels.extend(compared.panels(lab));
        setups.push(compared.setup);
    }
    all.setup = with_choice(&setups);
    Ok(all)
}

/// What was run, and how widths were chosen.
pub(super) fn with_choice(setups: &[String]) -> String {
    format!(
        "{}; widths, prisms and waits are those with the highest throughput in the two largest crowds of \
         work 0",
        setups.join("; ")
    )
}

/// Says so where a structure does not fit on the nodes of the others.
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

impl Compared {
    pub(super) fn setup(&self) -> &str {
        &self.setup
    }

    /// What the three did in the largest crowd, for who asks why.
    pub(super) fn told(&self) -> String {
        networks::told(&self.rows, self.size.most)
    }

    /// Latency, which the paper shows, and throughput, which it talks about.
    pub(super) fn panels(&self, lab: &Lab) -> Vec<Panel> {
        vec![
            networks::panel(
                self.size.title(lab, "latency"),
                networks::clients_axis(),
                networks::latency_axis(Scale::Linear),
                self.latencies.clone(),
            ),
            networks::panel(
                self.size.title(lab, "throughput"),
                networks::clients_axis(),
                networks::throughput_axis(),
                self.throughputs.clone(),
            ),
        ]
    }

    /// That a kind has the best throughput in a crowd, by so many times.
    pub(super) fn best_throughput(&self, lab: &Lab, text: &str, kind: &str, times: f64) -> Claim {
        let ratio = format!("throughput of {kind} / that of the best other");
        let leads = self.leads(Better::High, kind);
        let claim = Claim::new(text, self.expected_lead(&ratio, times));
        ahead(lab, claim, times, &leads).because(self.told())
    }

    /// That a kind has the lowest latency in a crowd, by so many times.
    pub(super) fn best_latency(&self, lab: &Lab, text: &str, kind: &str, times: f64) -> Claim {
        let ratio = format!("latency of the best other / that of {kind}");
        let leads = self.leads(Better::Low, kind);
        let claim = Claim::new(text, self.expected_lead(&ratio, times));
        ahead(lab, claim, times, &leads).because(self.told())
    }

    fn expected_lead(&self, ratio: &str, times: f64) -> String {
        let bound =
            if times > 1.0 { format!("at least {times}") } else { "more than 1".to_owned() };
        format!("{ratio} {bound} {}", self.size.from_many())
    }

    /// The leads of a kind in a crowd.
    pub(super) fn leads(&self, better: Better, kind: &str) -> Vec<networks::Lead<'_>> {
        let curves = match better {
            Better::High => &self.throughputs,
            Better::Low => &self.latencies,
        };
        self.size.leads(better, curves, kind)
    }

    /// "In a counting network, when the load is high there is congestion at the balancers, causing a
    /// rise in latency" (section 4.3.2, of Figures 19, 21, 22 and 23).
    pub(super) fn network_is_congested(&self, lab: &Lab) -> Claim {
        let text = "CNet: congestion at the balancers raises latency";
        rises(lab, text, named(&self.latencies, "CNet"), self.size.most)
            .because(networks::row(&self.rows, "CNet").told(self.size.most))
    }

    /// "This gives diffracting trees the characteristic latency curve which appears in all the
    /// architectures we tested" (section 4.3.2).
    pub(super) fn characteristic_curve(&self, lab: &Lab) -> Claim {
        let tree = networks::row(&self.rows, "DTree");
        characteristic(lab, named(&self.latencies, "DTree"), self.size.most).because(format!(
            "{}. {}",
            tree.told(SMALL),
            tree.told(self.size.most)
        ))
    }
}

impl Size {
    /// The leads of the curve of a kind over the others, in a crowd.
    pub(super) fn leads<'a>(
        &self,
        better: Better,
        curves: &'a [Curve],
        kind: &str,
    ) -> Vec<networks::Lead<'a>> {
        leads(better, named(curves, kind), &others(curves, kind), self.many, self.most)
    }
}

/// That latency is clearly higher in a crowd than with few.
pub(super) fn rises(lab: &Lab, text: &str, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        text,
        format!("latency at P = {most} more than {RISES} times that at P = {SMALL}"),
    );
    let (Some(from), Some(to)) = (curve.at(SMALL), curve.at(MOST)) else { return claim };
    let measured = format!("from {} to {} cycles: {:.2} times", short(from), short(to), to / from);
    claim.judged(measured, lab.judge(to > RISES * from))
}

/// "A slight increase in concurrency leads to congestion at the toggle bit, causing a rise in latency,
/// then after a further increase diffractions begin to occur and latency falls again."
fn characteristic(lab: &Lab, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        "DTree has its characteristic curve: latency rises, then falls as tokens diffract",
        format!(
            "some latency is more than {:.0} % above that at P = 1, and a later one more than {:.0} % \
             below it",
            100.0 * NOISE,
            100.0 * NOISE
        ),
    );
    let Some(first) = curve.points.first() else { return claim };
    let found = curve.peak_and_valley(NOISE).filter(|(peak, _)| peak.y > (1.0 + NOISE) * first.y);
    let measured = match found {
        Some((peak, valley)) => format!(
            "from {} cycles alone up to {} at P = {}, down to {} at P = {}",
            short(first.y),
            short(peak.y),
            peak.x,
            short(valley.y),
            valley.x
        ),
        None => format!(
            "no rise and fall: {} cycles alone, {} at P = {SMALL}, {} at P = {most}",
            short(first.y),
            curve.at(SMALL).map_or("-".to_owned(), short),
            curve.at(most).map_or("-".to_owned(), short)
        ),
    };
    claim.judged(measured, lab.judge(found.is_some()))
}

/// "Combining trees handle concurrency by increasing depth, which adds latency with each new level
/// (e.g. Figures 22 and 23)" (section 4.3.2).
pub(super) fn each_level_adds(lab: &Lab, curve: &Curve, most: f64) -> Claim {
    let claim = Claim::new(
        "CTree: each new level adds latency",
        format!("latency higher at each doubling of P from 2 to {most}"),
    );
    let doublings: Vec<(f64, f64)> = (1..=most.log2() as i32)
        .filter_map(|level| Some((2f64.powi(level), curve.at(2f64.powi(level))?)))
        .collect();
    if doublings.len() < 2 {
        return claim;
    }
    let steps: Vec<(f64, f64)> =
        doublings.windows(2).map(|pair| (pair[1].0, pair[1].1 - pair[0].1)).collect();
    let falls: Vec<String> =
        steps.iter().filter(|step| step.1 <= 0.0).map(|step| format!("P = {}", step.0)).collect();
    let mean = steps.iter().map(|step| step.1).sum::<f64>() / steps.len() as f64;
    let measured = format!(
        "{} cycles for each doubling on the average{}",
        short(mean),
        if falls.is_empty() { String::new() } else { format!("; none at {}", falls.join(", ")) }
    );
    claim.judged(measured, lab.judge(falls.is_empty()))
}

/// "Diffracting trees are more scalable: a single diffracting tree can often handle a wide range of
/// concurrency levels with little or no performance penalty" (section 4.3.2).
pub(super) fn more_scalable(lab: &Lab, curves: &[Curve], most: f64) -> Claim {
    let claim = Claim::new(
        "DTree is more scalable than CTree",
        format!(
            "latency of DTree grows by a smaller factor from P = {SMALL} to {most} than that of CTree"
        ),
    );
    let factor = |kind: &str| {
        let curve = named(curves, kind);
        Some(curve.at(most)? / curve.at(SMALL)?)
    };
    let (Some(dtree), Some(ctree)) = (factor("DTree"), factor("CTree")) else { return claim };
    claim
        .judged(format!("DTree {dtree:.2} times, CTree {ctree:.2} times"), lab.judge(dtree < ctree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::curve::tests::curve;

    #[test]
    fn prisms_are_those_of_section_3_and_such_that_halve() {
        assert_eq!(of_section_3(32), [8, 4, 2, 2, 1]);
        assert_eq!(of_section_3(4), [2, 1]);
        assert_eq!(halving(16, 4), [4, 2, 1, 1]);
        let count = |size| -> Vec<usize> {
            let all = dtrees(&Lab::new(false, 1, 1), &size);
            all.iter().map(|of_width| of_width.len() / DELAYS.len()).collect()
        };
        // Of width 4, section 3 and halving from two are the same; of width 32, the largest prisms need
        // more than 256 nodes.
        assert_eq!(count(USUAL), [6, 7, 7, 6]);
        assert_eq!(count(LARGE), [6, 7, 7, 7]);
    }

    #[test]
    fn a_rise_and_a_fall_are_needed() {
        let lab = Lab::new(false, 1, 1);
        let judged =
            |points: &[(f64, f64)]| characteristic(&lab, &curve("DTree[8]", points), 128.0).holds;
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 33.0)]), Some(true));
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 39.0)]), Some(false), "noise");
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 31.0), (128.0, 20.0)]), Some(false), "no rise");
        assert_eq!(judged(&[(1.0, 30.0), (16.0, 40.0), (128.0, 60.0)]), Some(false));
    }

    #[test]
    fn claims_about_growth() {
        let lab = Lab::new(false, 1, 1);
        let slow = curve("CTree", &[(2.0, 9.0), (16.0, 10.0), (256.0, 12.0)]);
        let fast = curve("DTree[8]", &[(2.0, 9.0), (16.0, 10.0), (256.0, 13.0)]);
        assert_eq!(rises(&lab, "", &slow, MOST).holds, Some(false));
        assert_eq!(rises(&lab, "", &fast, MOST).holds, Some(true));
        assert_eq!(each_level_adds(&lab, &slow, MOST).holds, Some(true));
        let flat = curve("CTree", &[(2.0, 9.0), (4.0, 12.0), (8.0, 12.0)]);
        assert_eq!(
            each_level_adds(&lab, &flat, MOST).measured,
            "1.50 cycles for each doubling on the average; none at P = 8"
        );
        assert_eq!(more_scalable(&lab, &[slow, fast], MOST).holds, Some(false));
    }
}
