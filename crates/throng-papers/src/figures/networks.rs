//! Common parts of figures about counters made of messages: settings, runs and curves.

use std::rc::Rc;

use super::Panel;
use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::{Lab, Row};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::numbers::short;
use crate::workloads::messages::{Layout, MessagesMeasured, MessagesRun, Network, Structure};

/// An experiment on a network: the index distribution benchmark for growing numbers of clients.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) figure: &'static str,
    pub(super) network: Network,
    /// Nodes of the network, or more where a structure or its clients need them: a node has room
    /// for one role and one client. `None`: as many as clients.
    pub(super) nodes: Option<usize>,
    pub(super) layout: Layout,
    /// Upper bound of the idle time of a client after each number, in cycles; the lower bound is 0.
    pub(super) work: u64,
    pub(super) clients: &'static [usize],
    /// Numbers handed out in a run.
    pub(super) numbers: u64,
    /// Runs of each kind, from different seeds.
    pub(super) repetitions: u64,
}

/// The runs of one structure: for each number of clients, its repetitions.
#[derive(Clone, Debug)]
pub(super) struct NetworkRow {
    pub(super) name: String,
    pub(super) cells: Vec<(f64, Vec<Rc<MessagesMeasured>>)>,
}

impl Setting {
    /// Returns the number of nodes of the network for this structure.
    pub(super) fn nodes_for(&self, structure: &Structure, clients: usize) -> usize {
        let roles = structure.plan(clients, 0).len();
        self.network.nodes(self.nodes.unwrap_or(clients).max(clients).max(roles))
    }

    fn run(&self, structure: &Structure, clients: usize) -> MessagesRun {
        let central = *structure == Structure::Central;
        let least = if central { clients + 1 } else { 0 };
        let nodes = self.nodes_for(structure, clients).max(self.network.nodes(least));
        MessagesRun {
            layout: if central { Layout::Apart } else { self.layout },
            clients,
            work: self.work,
            numbers: self.numbers,
            ..MessagesRun::new(structure.clone(), self.network, nodes)
        }
    }

    /// Measures all structures.
    pub(super) fn measure(
        &self,
        lab: &Lab,
        structures: &[Structure],
    ) -> Result<Vec<NetworkRow>, Error> {
        let row = |structure: &Structure| {
            let run = |&clients: &usize| (clients as f64, self.run(structure, clients));
            (structure.name(), self.clients.iter().map(run).collect())
        };
        let rows = structures.iter().map(row).collect();
        let rows = lab.sweep(self.figure, self.repetitions, rows)?;
        Ok(rows.into_iter().map(|Row { name, cells, .. }| NetworkRow { name, cells }).collect())
    }

    /// Describes the network and the runs in a line.
    pub(super) fn in_words(&self, lab: &Lab) -> String {
        let of = self
            .nodes
            .map_or("as many nodes as clients".to_owned(), |nodes| format!("{nodes} nodes"));
        let runs = match lab.pick(self.repetitions, 1) {
            1 => "1 run".to_owned(),
            several => format!("mean of {several} runs"),
        };
        format!(
            "{} of {of}, {}, work {}, {} numbers, {runs} from seed {}",
            self.network, self.layout, self.work, self.numbers, lab.seed
        )
    }
}

impl NetworkRow {
    /// Returns the curve of `number`, taken from each run.
    pub(super) fn curve(&self, number: impl Fn(&MessagesMeasured) -> f64) -> Curve {
        let point = |(x, runs): &(f64, Vec<Rc<MessagesMeasured>>)| {
            let repetitions: Vec<f64> = runs.iter().map(|run| number(run)).collect();
            Point::of(*x, &repetitions)
        };
        Curve::measured(self.name.clone(), self.cells.iter().map(point).collect())
    }

    /// Returns the mean of `number` over the runs at `x`, or NaN where there are none.
    pub(super) fn mean(&self, x: f64, number: impl Fn(&MessagesMeasured) -> f64) -> f64 {
        self.curve(number).at(x).unwrap_or(f64::NAN)
    }

    /// Describes what a number costs at `x`, and where its messages waited, in a line.
    pub(super) fn told(&self, x: f64) -> String {
        let mean = |number: fn(&MessagesMeasured) -> f64| short(self.mean(x, number));
        let busiest = (self.cells.iter().find(|cell| cell.0 == x))
            .and_then(|cell| cell.1.first())
            .map_or(String::new(), |run| run.busiest_in_words());
        format!(
            "{} at P = {x}: {} cycles a number, {} messages that travel {} hops each and wait {} \
             cycles for wires{busiest}",
            self.name,
            mean(latency),
            mean(MessagesMeasured::messages_a_number),
            mean(MessagesMeasured::hops_a_message),
            mean(MessagesMeasured::waited_a_message),
        )
    }
}

/// Returns the mean time from a request to its answer, in cycles.
pub(super) fn latency(run: &MessagesMeasured) -> f64 {
    run.latency_cycles_mean()
}

/// Returns the numbers handed out in a million cycles.
pub(super) fn throughput(run: &MessagesMeasured) -> f64 {
    run.throughput_per_million_cycles()
}

/// Describes the rows at `x`, one sentence each.
pub(super) fn told(rows: &[NetworkRow], x: f64) -> String {
    rows.iter().map(|row| row.told(x)).collect::<Vec<_>>().join(". ")
}

/// Returns the first row whose name begins with `kind`: `DTree` finds `DTree[16]`.
pub(super) fn row<'a>(rows: &'a [NetworkRow], kind: &str) -> &'a NetworkRow {
    rows.iter().find(|row| row.name.starts_with(kind)).expect("every structure has a row")
}

/// Returns the first curve whose name begins with `kind`.
pub(super) fn named<'a>(curves: &'a [Curve], kind: &str) -> &'a Curve {
    curves.iter().find(|curve| curve.name.starts_with(kind)).expect("every structure has a curve")
}

/// Returns all curves except that of `kind`.
pub(super) fn others<'a>(curves: &'a [Curve], kind: &str) -> Vec<&'a Curve> {
    curves.iter().filter(|curve| !curve.name.starts_with(kind)).collect()
}

/// Which of two numbers is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    /// The higher number is better, as with throughput.
    High,
    /// The lower number is better, as with latency.
    Low,
}

/// The factor by which a curve is better than the best of its rivals, at a number of clients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lead<'a> {
    pub(super) times: f64,
    pub(super) rival: &'a str,
    pub(super) x: f64,
}

/// Returns the lead at each point of `curve` from `least` to `most`.
pub(super) fn leads<'a>(
    better: Better,
    curve: &Curve,
    rivals: &[&'a Curve],
    least: f64,
    most: f64,
) -> Vec<Lead<'a>> {
    let times = |own: f64, others: f64| match better {
        Better::High => own / others,
        Better::Low => others / own,
    };
    let lead = |point: Point| {
        let of_rival = |rival: &&'a Curve| {
            Some(Lead { times: times(point.y, rival.at(point.x)?), rival: &rival.name, x: point.x })
        };
        rivals.iter().filter_map(of_rival).min_by(|a, b| a.times.total_cmp(&b.times))
    };
    curve.between(least, most).into_iter().filter_map(lead).collect()
}

/// Judges that each lead is at least `times`. With `times` 1, each must be more than 1.
pub(super) fn ahead(lab: &Lab, claim: Claim, times: f64, leads: &[Lead<'_>]) -> Claim {
    let Some(least) = leads.iter().min_by(|a, b| a.times.total_cmp(&b.times)) else {
        return claim;
    };
    let is_ahead =
        |lead: &Lead<'_>| if times > 1.0 { lead.times >= times } else { lead.times > 1.0 };
    let misses = leads.iter().filter(|lead| !is_ahead(lead)).count();
    let missed = match misses {
        0 => String::new(),
        _ => format!("; not at {misses} of {} P", leads.len()),
    };
    let measured =
        format!("at least {:.2} times {} (P = {}){missed}", least.times, least.rival, least.x);
    claim.judged(measured, lab.judge(misses == 0))
}

/// Returns the mean of the leads, or NaN where there are none.
pub(super) fn mean_lead(leads: &[Lead<'_>]) -> f64 {
    leads.iter().map(|lead| lead.times).sum::<f64>() / leads.len() as f64
}

pub(super) fn latency_axis(scale: Scale) -> Axis {
    Axis::new("latency (cycles)", scale)
}

/// Returns a chart with a title.
pub(super) fn panel(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Curve>) -> Panel {
    Panel::new(x, y, series).titled(title)
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn a_lead_is_over_the_best_of_the_rivals() {
        let curves = [
            curve("DTree[8]", &[(64.0, 10.0), (128.0, 20.0), (256.0, 30.0)]),
            curve("CTree", &[(64.0, 30.0), (128.0, 30.0), (256.0, 60.0)]),
            curve("CNet[32]", &[(64.0, 50.0), (128.0, 90.0), (256.0, 40.0)]),
        ];
        let low =
            leads(Better::Low, named(&curves, "DTree"), &others(&curves, "DTree"), 128.0, 256.0);
        assert_eq!(low.iter().map(|lead| lead.times).collect::<Vec<_>>(), [1.5, 40.0 / 30.0]);
        assert_eq!(low.iter().map(|lead| lead.rival).collect::<Vec<_>>(), ["CTree", "CNet[32]"]);
        let high =
            leads(Better::High, named(&curves, "CNet"), &others(&curves, "CNet"), 0.0, 999.0);
        assert_eq!(high.iter().map(|lead| lead.x).collect::<Vec<_>>(), [64.0, 128.0, 256.0]);
        assert!((high[2].times - 40.0 / 60.0).abs() < 1e-12);
    }

    #[test]
    fn who_is_ahead_is_ahead_everywhere() {
        let lab = Lab::new(false, 1, 1);
        let lead = |times, x| Lead { times, rival: "CNet[32]", x };
        let judged = |times, leads: &[Lead<'_>]| ahead(&lab, Claim::new("", ""), times, leads);
        let both = [lead(1.6, 128.0), lead(1.4, 256.0)];
        assert_eq!(judged(1.0, &both).holds, Some(true));
        assert_eq!(judged(1.0, &both).measured, "at least 1.40 times CNet[32] (P = 256)");
        let missed = judged(1.5, &both);
        assert_eq!(missed.holds, Some(false));
        assert_eq!(missed.measured, "at least 1.40 times CNet[32] (P = 256); not at 1 of 2 P");
        assert_eq!(judged(1.0, &[lead(1.0, 128.0)]).holds, Some(false), "as good is not ahead");
        assert_eq!(judged(1.0, &[]).holds, None);
        assert_eq!(mean_lead(&both), 1.5);
    }
}
