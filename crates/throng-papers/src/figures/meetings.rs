//! Common parts of figures about barriers: settings, runs and curves.

use std::rc::Rc;

use throng_sim::MachineSpec;

use super::curve::{Curve, Point};
use super::lab::Lab;
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::workloads::barrier::{BarrierChoice, BarrierMeasured, BarrierRun, BarrierTuning};

/// A barrier of a figure: its name there, our method, its shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contender {
    pub(super) label: &'static str,
    pub(super) method: &'static str,
    pub(super) tuning: BarrierTuning,
}

impl Contender {
    /// Returns a barrier shaped as in GV93 on the KSR-1.
    pub(super) const fn new(label: &'static str, method: &'static str) -> Self {
        let tuning = BarrierTuning { fan_in: None, flags: None, wake_up: None, reinit: None };
        Contender { label, method, tuning }
    }

    pub(super) fn barrier(&self) -> BarrierChoice {
        BarrierChoice::named(self.method, self.tuning).expect("a method of the library")
    }
}

/// The machine, the number of rounds, and the work between them.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) machine: MachineSpec,
    pub(super) rounds: u64,
    pub(super) warm_up: u64,
    pub(super) work: u32,
}

impl Setting {
    /// Returns the setting of GV93: no work between rounds.
    pub(super) fn on(machine: MachineSpec) -> Self {
        let usual = BarrierRun::new(Contender::new("", "central").barrier(), machine);
        Setting { machine: usual.machine, rounds: usual.rounds, warm_up: usual.warm_up, work: 0 }
    }

    pub(super) fn run(&self, lab: &Lab, barrier: BarrierChoice, members: usize) -> BarrierRun {
        BarrierRun {
            members,
            rounds: lab.pick(self.rounds, ROUNDS_SMOKE),
            warm_up: lab.pick(self.warm_up, WARM_UP_SMOKE),
            work: self.work,
            seed: lab.seed,
            ..BarrierRun::new(barrier, self.machine.clone())
        }
    }

    /// Describes the circumstances in a line.
    pub(super) fn in_words(&self, lab: &Lab) -> String {
        let work = match self.work {
            0 => "nothing to do between rounds".to_owned(),
            work => format!("0 to {work} cycles of work before each round"),
        };
        format!(
            "{}, {work}, mean of {} rounds after {} that are not counted, seed {}",
            self.machine.name,
            lab.pick(self.rounds, ROUNDS_SMOKE),
            lab.pick(self.warm_up, WARM_UP_SMOKE),
            lab.seed
        )
    }
}

const ROUNDS_SMOKE: u64 = 5;
const WARM_UP_SMOKE: u64 = 2;

/// The runs of one curve, by x.
#[derive(Clone, Debug)]
pub(super) struct BarrierRow {
    pub(super) name: String,
    pub(super) cells: Vec<(f64, BarrierRun, Rc<BarrierMeasured>)>,
}

/// Measures all rows. Each is a name, and its runs by x.
pub(super) fn measure_rows(
    lab: &Lab,
    figure: &str,
    rows: Vec<(String, Vec<(f64, BarrierRun)>)>,
) -> Result<Vec<BarrierRow>, Error> {
    let all: Vec<BarrierRun> =
        rows.iter().flat_map(|(_, runs)| runs).map(|(_, run)| run.clone()).collect();
    let mut measured = lab.measure(figure, &all)?.into_iter();
    let row = |(name, runs): (String, Vec<(f64, BarrierRun)>)| BarrierRow {
        name,
        cells: runs.into_iter().zip(measured.by_ref()).map(|((x, run), m)| (x, run, m)).collect(),
    };
    Ok(rows.into_iter().map(row).collect())
}

/// Measures a row for each contender, by the number of members.
pub(super) fn by_members(
    lab: &Lab,
    figure: &str,
    contenders: &[Contender],
    setting: &Setting,
    members: &[usize],
) -> Result<Vec<BarrierRow>, Error> {
    let runs = |contender: &Contender| {
        let run = |&p: &usize| (p as f64, setting.run(lab, contender.barrier(), p));
        (contender.label.to_owned(), members.iter().map(run).collect())
    };
    measure_rows(lab, figure, contenders.iter().map(runs).collect())
}

impl BarrierRow {
    /// Returns the curve of `number`, taken from each run.
    pub(super) fn curve(&self, number: impl Fn(&BarrierMeasured) -> f64) -> Curve {
        let points = self.cells.iter().map(|(x, _, m)| Point::exact(*x, number(m))).collect();
        let command = self.cells.last().map(|(_, run, _)| run.replay_command());
        Curve { command, ..Curve::measured(self.name.clone(), points) }
    }

    /// Returns what was measured at `x`.
    pub(super) fn at(&self, x: f64) -> Option<&BarrierMeasured> {
        self.cells.iter().find(|cell| cell.0 == x).map(|cell| &*cell.2)
    }
}

/// Returns the row of this contender.
pub(super) fn row<'a>(rows: &'a [BarrierRow], contender: &Contender) -> &'a BarrierRow {
    rows.iter().find(|row| row.name == contender.label).expect("every contender has a row")
}

/// Returns the curve of this contender.
pub(super) fn named<'a>(curves: &'a [Curve], contender: &Contender) -> &'a Curve {
    curves.iter().find(|curve| curve.name == contender.label).expect("every contender has a curve")
}

/// Returns the ratio of a curve to the lowest of the others at `x`, and the name of that one.
pub(super) fn over_best<'a>(
    curve: &Curve,
    others: impl IntoIterator<Item = &'a Curve>,
    x: f64,
) -> Option<(f64, &'a str)> {
    let others = others.into_iter().filter(|other| other.name != curve.name);
    let best = others.filter_map(|other| Some((other.at(x)?, other.name.as_str())));
    let (best, name) = best.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((curve.at(x)? / best, name))
}

pub(super) fn cycles(run: &BarrierMeasured) -> f64 {
    run.cycles_a_round
}

pub(super) fn cycles_axis() -> Axis {
    Axis::new("cycles a round", Scale::Log10)
}

pub(super) fn processors_axis() -> Axis {
    Axis::new("processors", Scale::Log2)
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn the_best_other_is_the_lowest() {
        let curves = [
            curve("a", &[(8.0, 30.0)]),
            curve("b", &[(8.0, 20.0)]),
            curve("c", &[(8.0, 10.0), (9.0, 1.0)]),
        ];
        assert_eq!(over_best(&curves[0], &curves, 8.0), Some((3.0, "c")));
        assert_eq!(over_best(&curves[2], &curves, 8.0), Some((0.5, "b")));
        assert_eq!(over_best(&curves[2], &curves, 9.0), None);
    }

    #[test]
    fn rows_keep_their_order_and_name_their_commands() {
        let lab = Lab::new(true, 1, 2);
        let contenders = [Contender::new("a", "central"), Contender::new("b", "dissemination")];
        let setting = Setting::on(MachineSpec::ideal(10));
        let rows = by_members(&lab, "x", &contenders, &setting, &[2, 5]).unwrap();
        assert_eq!(row(&rows, &contenders[1]).at(5.0).unwrap().round.critical_path, 3);
        let curve = rows[0].curve(cycles);
        let command = curve.command.unwrap();
        assert!(command.starts_with("throng simulate --barrier central "), "{command}");
    }
}
