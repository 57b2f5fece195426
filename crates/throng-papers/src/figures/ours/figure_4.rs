//! The default barrier against the seven of GV93, each in its best shape, on a current server and
//! on the KSR-1.

use throng::structures::barrier::{Flags, Reinit, WakeUp};

use super::*;
use crate::figures::meetings::{
    BarrierRow, Contender as Barrier, Setting, cycles, cycles_axis, measure_rows, processors_axis,
};
use crate::figures::{Figure, Findings};
use crate::workloads::barrier::{BarrierMeasured, BarrierTuning, FanInChoice, taken};

const SERVER: [usize; 8] = [16, 32, 64, 96, 128, 192, 256, 384];
const KSR1: [usize; 7] = [16, 32, 33, 64, 128, 192, 256];
const SMOKE: [usize; 1] = [9];
/// Machines and numbers of members at which the claim is judged.
const JUDGED: [(&str, &[f64]); 2] = [("server", &[192.0, 384.0]), ("ksr1", &[256.0])];
/// Largest ratio to the best that counts as near it.
const NEAR: f64 = 1.1;
/// Rounds in a run; few, since there are many shapes.
const ROUNDS: u64 = 60;
const WARM_UP: u64 = 10;
/// Largest work before each round in cycles, where processors should not come in step.
const WORK: u32 = 1000;

const THE_BARRIER: Barrier = Barrier::new("Barrier (shaped)", "shaped");
const RIVALS: [Barrier; 7] = [
    Barrier::new("central", "central"),
    Barrier::new("combining tree", "combining-tree"),
    Barrier::new("dissemination", "dissemination"),
    Barrier::new("tournament", "tournament"),
    Barrier::new("MCS tree", "mcs-tree"),
    Barrier::new("static f-way", "static-fway"),
    Barrier::new("dynamic f-way", "dynamic-fway"),
];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "THRONG-4",
    title: "the default barrier against all others, each in its best shape",
    paper: "throng, ours",
    shows: "Without tuning, Barrier is near the best of all others, each of them tuned for every P.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut panels = Vec::new();
    let mut claims = Vec::new();
    let mut setups = Vec::new();
    for (machine, judged_at) in JUDGED {
        let in_step =
            Setting { rounds: ROUNDS, warm_up: WARM_UP, ..Setting::on(lab.preset(machine)) };
        let apart = Setting { work: WORK, ..in_step.clone() };
        let title = format!("{machine}, nothing to do between rounds");
        let best = best_shapes(lab, &in_step, cycles)?;
        claims.extend(judged_at.iter().map(|&x| near(lab, machine, &best, x)));
        let curves = best.into_iter().map(|best| best.curve).collect();
        panels.push(Panel { title, ..Panel::new(processors_axis(), cycles_axis(), curves) });
        let best = best_shapes(lab, &apart, |m| m.last_in_last_out_cycles)?;
        let mark = "(with work between rounds) ";
        claims.extend(judged_at.iter().map(|&x| near(lab, machine, &best, x).marked(mark)));
        let curves = best.into_iter().map(|best| best.curve).collect();
        let title = format!(
            "{machine}, 0 to {WORK} cycles of work before each round; from the last arrival to the \
             last leaving"
        );
        panels.push(Panel { title, ..Panel::new(processors_axis(), cycles_axis(), curves) });
        setups.push(in_step.in_words(lab));
    }
    Ok(Findings { setup: setups.join("; "), panels, claims })
}

/// A barrier in its best shape at each number of members.
struct BestShape {
    curve: Curve,
    /// The measurement at each point of the curve.
    measured: Vec<Rc<BarrierMeasured>>,
}

impl BestShape {
    /// Describes what a round took at `x`.
    fn counts(&self, x: f64) -> String {
        let points = self.curve.points.iter().zip(&self.measured);
        let at_x = points.filter(|(point, _)| point.x == x).map(|(_, measured)| {
            format!(
                "{} takes {:.0} misses to arrive, {} words one after another, in {} lines",
                self.curve.name,
                measured.arrival_misses_a_round,
                measured.round.critical_path,
                measured.lines
            )
        });
        at_x.collect::<Vec<_>>().join("")
    }
}

/// Measures the default, and each rival in its best shape at each number of members.
fn best_shapes(
    lab: &Lab,
    setting: &Setting,
    number: fn(&BarrierMeasured) -> f64,
) -> Result<Vec<BestShape>, Error> {
    let members: &[usize] = match setting.machine.name.as_str() {
        "server" => &SERVER,
        _ => &KSR1,
    };
    let members = lab.pick(members, &SMOKE[..]);
    let contenders = std::iter::once(THE_BARRIER).chain(RIVALS);
    let contenders: Vec<(Barrier, Vec<Barrier>)> =
        contenders.map(|contender| (contender, shapes(lab, contender))).collect();
    let rows = contenders.iter().flat_map(|(_, shapes)| shapes).map(|shape| {
        let run = |&p: &usize| (p as f64, setting.run(lab, shape.barrier(), p));
        (shape.label.to_owned(), members.iter().map(run).collect())
    });
    let mut measured = measure_rows(lab, FIGURE.id, rows.collect())?.into_iter();
    let mut best = |(_, shapes): &(Barrier, Vec<Barrier>)| {
        best_of(&measured.by_ref().take(shapes.len()).collect::<Vec<_>>(), number)
    };
    Ok(contenders.iter().map(&mut best).collect())
}

/// Returns the method in all shapes that differ.
fn shapes(lab: &Lab, contender: Barrier) -> Vec<Barrier> {
    let takes = taken(contender.method);
    let fixed = lab.pick(&[2, 3, 4, 8, 16][..], &[4][..]).iter().map(|&f| FanInChoice::Fixed(f));
    let by_level = [FanInChoice::Fullest, FanInChoice::Machine];
    // A tree with members at every node has a single fan-in.
    let by_level = by_level.into_iter().filter(|_| contender.method != "mcs-tree");
    let fan_ins = options(takes.fan_in, fixed.chain(by_level).collect());
    let flags = options(takes.flags, vec![Flags::Packed, Flags::Padded]);
    let wake_ups = options(takes.wake_up, vec![WakeUp::Global, WakeUp::Tree]);
    let reinits = options(takes.reinit, vec![Reinit::Clear, Reinit::Count]);
    let mut shapes = Vec::new();
    for &fan_in in &fan_ins {
        for &flags in &flags {
            for &wake_up in &wake_ups {
                for &reinit in &reinits {
                    let tuning = BarrierTuning { fan_in, flags, wake_up, reinit };
                    shapes.push(Barrier { tuning, ..contender });
                }
            }
        }
    }
    shapes
}

/// Returns all values of an option, or one `None` where the method does not take it.
fn options<T>(is_taken: bool, values: Vec<T>) -> Vec<Option<T>> {
    if is_taken { values.into_iter().map(Some).collect() } else { vec![None] }
}

/// Returns the lowest of rows with the same numbers of members. The note names their shapes.
fn best_of(rows: &[BarrierRow], number: fn(&BarrierMeasured) -> f64) -> BestShape {
    let points = rows[0].cells.len();
    let best_at = |i: usize| {
        let all = rows.iter().map(|row| &row.cells[i]);
        all.min_by(|a, b| number(&a.2).total_cmp(&number(&b.2))).expect("there is a shape")
    };
    let point = |i: usize| Point::exact(best_at(i).0, number(&best_at(i).2));
    let choices: Vec<(f64, &str)> =
        (0..points).map(|i| (best_at(i).0, best_at(i).1.barrier.options.as_str())).collect();
    let curve = Curve {
        command: points.checked_sub(1).map(|last| best_at(last).1.replay_command()),
        note: (rows.len() > 1).then(|| in_words(&choices)),
        ..Curve::measured(rows[0].name.clone(), (0..points).map(point).collect())
    };
    BestShape { curve, measured: (0..points).map(|i| Rc::clone(&best_at(i).2)).collect() }
}

fn near(lab: &Lab, machine: &str, all: &[BestShape], x: f64) -> Claim {
    let claim = Claim::new(
        format!("Barrier is near the best of all others in their best shapes ({machine}, P = {x})"),
        format!("time at most {NEAR} times that of the best"),
    );
    let is_ours = |best: &&BestShape| best.curve.name == THE_BARRIER.label;
    let rivals = all.iter().filter(|best| !is_ours(best));
    let at_x = rivals.filter_map(|rival| Some((rival.curve.at(x)?, rival)));
    let Some((best, rival)) = at_x.min_by(|a, b| a.0.total_cmp(&b.0)) else { return claim };
    let Some(ours) = all.iter().find(is_ours) else { return claim };
    let Some(own) = ours.curve.at(x) else { return claim };
    let name = &rival.curve.name;
    claim
        .judged(
            format!("{:.2} times {name} ({own:.0} against {best:.0} cycles)", own / best),
            lab.judge(own <= NEAR * best),
        )
        .because(format!(
            "a round of {}; of {}. A simulated processor waits for each look before the next",
            ours.counts(x),
            rival.counts(x)
        ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn near_is_judged_against_the_best() {
        let lab = Lab::new(false, 1, 1);
        let judged = |own: f64| {
            let best = [
                curve(THE_BARRIER.label, &[(192.0, own)]),
                curve("central", &[(192.0, 900.0)]),
                curve("dissemination", &[(192.0, 100.0)]),
            ]
            .map(|curve| BestShape { curve, measured: Vec::new() });
            near(&lab, "server", &best, 192.0)
        };
        assert_eq!(judged(109.0).holds, Some(true));
        let missed = judged(150.0);
        assert_eq!(missed.holds, Some(false));
        assert_eq!(missed.measured, "1.50 times dissemination (150 against 100 cycles)");
    }

    #[test]
    fn every_shape_that_makes_a_difference_is_tried() {
        let lab = Lab::new(false, 1, 1);
        let count = |i: usize| shapes(&lab, RIVALS[i]).len();
        assert_eq!([0, 1, 2, 3, 4, 5, 6].map(count), [1, 14, 2, 2, 20, 56, 28]);
        assert_eq!(shapes(&lab, THE_BARRIER).len(), 1);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (4, 6));
        assert!(findings.panels.iter().all(|panel| panel.series.len() == 8));
    }
}
