//! Judges which differences between two surveys are changes and which are noise.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::bench::ranks::{Duel, threshold};
use crate::bench::stats::Stats;
use crate::survey::document::{Cell, Entrant, Need, Survey, Unit, Whose};

/// Probability of any false alarm in a comparison of two reports that differ by noise alone.
const LEVEL: f64 = 0.05;
/// Largest probability of a cell's own order of runs, before it is combined with its neighbours.
const CELL_LEVEL: f64 = 0.05;
/// Smallest number of peers' cells from which the drift of the machine is estimated.
const FEWEST_PEER_CELLS: usize = 5;
/// A change must exceed the median change of the peers by this factor. (Were their changes normal,
/// 1 in 23 would be larger.)
const TIMES_THE_USUAL: f64 = 3.0;

/// The judgement of one cell of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better than before, beyond noise.
    Faster,
    /// Worse than before, beyond noise.
    Slower,
    /// No change that the runs can show.
    Unchanged,
    /// It looks changed, but there are too few runs to tell.
    Unclear,
}

impl Verdict {
    /// Returns whether the cell certainly changed.
    pub const fn is_change(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}

/// One cell that both reports have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The need.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// The origin of the entrant.
    pub whose: Whose,
    /// Number of threads.
    pub threads: usize,
    /// Unit of the numbers.
    pub unit: Unit,
    /// The median before.
    pub old: f64,
    /// The median now.
    pub new: f64,
    /// Ratio of now to before; above 1 is better, whatever the unit.
    pub times: f64,
    /// `times` divided by the drift of the machine.
    pub beside_drift: f64,
    /// The judgement.
    pub verdict: Verdict,
}

/// The change of the machine itself, estimated by the peers, which are the same in both.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// Median ratio of the peers, now to before.
    pub times: f64,
    /// Number of cells.
    pub cells: usize,
    /// Median difference of the peers from the drift, in percent.
    pub usual_percent: f64,
}

/// A cell for which only one report has a number above 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lone {
    /// The need.
    pub need: String,
    /// The entrant.
    pub entrant: String,
    /// Number of threads.
    pub threads: usize,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// The change of the machine; `None` where there are not enough peers to tell.
    pub drift: Option<Drift>,
    /// Changes below this many percent beside the drift do not count. It is the percentage asked
    /// for, or more where the peers differ by more.
    pub margin_percent: f64,
    /// All cells that both have, in the order of the new report.
    pub changes: Vec<Change>,
    /// Cells that only the old report has.
    pub only_old: Vec<Lone>,
    /// Cells that only the new report has.
    pub only_new: Vec<Lone>,
}

impl Judged {
    /// Returns the number of cells with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.changes.iter().filter(|change| change.verdict == verdict).count()
    }

    /// Returns the number of this library's structures that got slower on some number of threads.
    pub fn slower_of_ours(&self) -> usize {
        let slower = self.changes.iter().filter(|change| change.verdict == Verdict::Slower);
        let ours = slower.filter(|change| change.whose != Whose::Peer);
        ours.map(|change| (&change.need, &change.entrant)).collect::<BTreeSet<_>>().len()
    }
}

/// The cells of one entrant that both reports have, by number of threads.
struct Row<'a> {
    need: &'a Need,
    entrant: &'a Entrant,
    pairs: Vec<(&'a Cell, &'a Cell)>,
}

impl Row<'_> {
    fn times(&self) -> impl Iterator<Item = f64> + '_ {
        let unit = self.need.unit;
        self.pairs.iter().map(move |(old, new)| unit.times_as_good(new.median, old.median))
    }

    /// Returns the rank test of each cell's runs, with the drift divided out.
    fn duels(&self, drift: f64) -> Vec<Duel> {
        let goodness = |run: &f64| self.need.unit.times_as_good(*run, 1.0);
        let duel = |(old, new): &(&Cell, &Cell)| {
            let before: Vec<f64> = old.runs.iter().map(goodness).collect();
            let now: Vec<f64> = new.runs.iter().map(|run| goodness(run) / drift).collect();
            Duel::of(&before, &now)
        };
        self.pairs.iter().map(duel).collect()
    }
}

/// Compares two surveys. Changes below `least_percent` do not count.
pub fn judge(old: &Survey, new: &Survey, least_percent: f64) -> Judged {
    let rows = rows(old, new);
    let drift = drift(&rows);
    let drift_times = drift.map_or(1.0, |drift| drift.times);
    let usual_percent = drift.map_or(0.0, |drift| drift.usual_percent);
    let margin_percent =
        least_percent.max(percent((1.0 + usual_percent / 100.0).powf(TIMES_THE_USUAL)));

    let duels: Vec<Vec<Duel>> = rows.iter().map(|row| row.duels(drift_times)).collect();
    let stretches: Vec<Vec<Stretch>> = duels.iter().map(|row| stretches(row)).collect();
    let smallest: Vec<f64> = stretches.iter().flatten().map(|stretch| stretch.smallest).collect();
    let threshold = threshold(LEVEL, &smallest);

    let mut changes = Vec::new();
    for ((row, duels), stretches) in rows.iter().zip(&duels).zip(&stretches) {
        for (place, ((old, new), times)) in row.pairs.iter().zip(row.times()).enumerate() {
            let beside_drift = times / drift_times;
            let clear = |chance: fn(&Stretch) -> f64| {
                stretches.iter().any(|stretch| stretch.has(place) && chance(stretch) <= threshold)
            };
            changes.push(Change {
                need: row.need.name.clone(),
                entrant: row.entrant.name.clone(),
                whose: row.entrant.whose,
                threads: new.threads,
                unit: row.need.unit,
                old: old.median,
                new: new.median,
                times,
                beside_drift,
                verdict: verdict(beside_drift, margin_percent, &duels[place], clear),
            });
        }
    }
    let only_old = lone(old, new);
    let only_new = lone(new, old);
    Judged { drift, margin_percent, changes, only_old, only_new }
}

/// Judges a cell. `clear` tells whether it is in a stretch in which chance is ruled out.
fn verdict(
    beside_drift: f64,
    margin_percent: f64,
    duel: &Duel,
    clear: impl Fn(fn(&Stretch) -> f64) -> bool,
) -> Verdict {
    if percent(beside_drift.max(1.0 / beside_drift)) <= margin_percent {
        return Verdict::Unchanged;
    }
    let (own, is_clear, changed) = if beside_drift > 1.0 {
        (duel.chance_of_better(), clear(|stretch| stretch.better), Verdict::Faster)
    } else {
        (duel.chance_of_worse(), clear(|stretch| stretch.worse), Verdict::Slower)
    };
    // With one or two runs no order of them is that unlikely. Then the least likely one suffices.
    match (own <= CELL_LEVEL.max(duel.smallest_chance()), is_clear) {
        (true, true) => changed,
        (true, false) => Verdict::Unclear,
        (false, _) => Verdict::Unchanged,
    }
}

/// Neighbouring numbers of threads of one entrant, combined.
struct Stretch {
    first: usize,
    last: usize,
    /// The two-sided probability that they are this much better, or worse, by chance.
    better: f64,
    worse: f64,
    /// The smallest that either probability can be.
    smallest: f64,
}

impl Stretch {
    fn has(&self, place: usize) -> bool {
        (self.first..=self.last).contains(&place)
    }
}

/// Returns all stretches of a row.
fn stretches(row: &[Duel]) -> Vec<Stretch> {
    let mut all = Vec::new();
    for first in 0..row.len() {
        let mut together = Duel::none();
        for (last, duel) in row.iter().enumerate().skip(first) {
            together = together.and(duel);
            all.push(Stretch {
                first,
                last,
                better: 2.0 * together.chance_of_better(),
                worse: 2.0 * together.chance_of_worse(),
                smallest: 2.0 * together.smallest_chance(),
            });
        }
    }
    all
}

/// Estimates the machine's drift from the peers.
fn drift(rows: &[Row<'_>]) -> Option<Drift> {
    let peers = rows.iter().filter(|row| row.entrant.whose == Whose::Peer);
    let times: Vec<f64> = peers.flat_map(Row::times).collect();
    if times.len() < FEWEST_PEER_CELLS {
        return None;
    }
    let drift = Stats::of(times.iter().copied())?.median;
    let beside = times.iter().map(|times| (times / drift).max(drift / times));
    let usual_percent = percent(Stats::of(beside)?.median);
    Some(Drift { times: drift, cells: times.len(), usual_percent })
}

/// Converts a ratio to a change in percent.
fn percent(times: f64) -> f64 {
    100.0 * (times - 1.0)
}

fn rows<'a>(old: &'a Survey, new: &'a Survey) -> Vec<Row<'a>> {
    let mut rows = Vec::new();
    for need in &new.needs {
        for entrant in &need.entrants {
            let cells = entrant.cells.iter().filter(|cell| is_sound(cell));
            let pair = |new| Some((same(old, need, entrant, new)?, new));
            let mut pairs: Vec<_> = cells.filter_map(pair).collect();
            pairs.sort_by_key(|(_, new)| new.threads);
            rows.push(Row { need, entrant, pairs });
        }
    }
    rows
}

/// Returns the same cell of another survey.
fn same<'a>(survey: &'a Survey, need: &Need, entrant: &Entrant, cell: &Cell) -> Option<&'a Cell> {
    // Another unit is another measurement.
    let is_same = |other: &&Need| other.name == need.name && other.unit == need.unit;
    let found = survey.needs.iter().find(is_same)?.entrant(&entrant.name)?.on(cell.threads);
    found.filter(|cell| is_sound(cell))
}

/// Returns whether the numbers are valid times or rates, which a file may violate.
fn is_sound(cell: &Cell) -> bool {
    // On a busy machine a run may complete nothing at all.
    let is_run = |run: &f64| run.is_finite() && *run >= 0.0;
    cell.median.is_finite() && cell.median > 0.0 && cell.runs.iter().all(is_run)
}

/// Returns the cells that `this` survey has and `that` does not.
fn lone(this: &Survey, that: &Survey) -> Vec<Lone> {
    let mut all = Vec::new();
    for need in &this.needs {
        for entrant in &need.entrants {
            for cell in entrant.cells.iter().filter(|cell| is_sound(cell)) {
                if same(that, need, entrant, cell).is_none() {
                    let (need, entrant) = (need.name.clone(), entrant.name.clone());
                    all.push(Lone { need, entrant, threads: cell.threads });
                }
            }
        }
    }
    all
}
