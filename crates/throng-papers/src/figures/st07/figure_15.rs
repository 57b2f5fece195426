//! ST07 Figure 15: 4 and 28 processors in turn. Compares the values handed out in all with those
//! under a constant load.

use std::rc::Rc;

use super::*;
use crate::workloads::surge::Phase;

/// Length of a phase, 1.28 ms. In the paper it is 0.1 s, "every 25 intervals" (of 4 ms, then, not
/// 400 us as elsewhere), of which ST takes 9 to adjust. Here ST takes about 0.46 ms (ST07-14), and
/// a phase lasts 25 / 9 times that.
const PHASE_CYCLES: u64 = 320_000;
const PHASE_CYCLES_SMOKE: u64 = 20_000;
/// Changes of load, to more or to fewer.
const PHASES: u64 = 10;
/// Intervals in a phase.
const INTERVALS: u64 = 10;
const REPETITIONS: u64 = 3;
/// The paper's factors.
const PAPERS: [(&str, f64); 2] = [(ST, 15.3), (ST_P, 2.4)];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "ST07-15",
    title: "4 and 28 processors in turn",
    paper: "ST07 Figure 15",
    shows: "The more often the load changes, the more a tree gains that adjusts at once.",
    find,
};

/// Values in a million cycles, under constant and changing load.
#[derive(Clone, Copy, Debug)]
struct Rates {
    /// Under a constant load.
    constant: f64,
    /// Under a changing load.
    changing: f64,
    /// Under a changing load, while the processors are few, and while they are many.
    few: f64,
    many: f64,
}

impl Rates {
    fn of(constant: &[Rc<Surge>], changing: &[Rc<Surge>]) -> Self {
        Rates {
            constant: rate(constant, |_| true),
            changing: rate(changing, |_| true),
            few: rate(changing, |processors| processors == FEW),
            many: rate(changing, |processors| processors != FEW),
        }
    }

    /// Divides these rates by those of another tree.
    fn over(&self, other: &Rates) -> Self {
        Rates {
            constant: self.constant / other.constant,
            changing: self.changing / other.changing,
            few: self.few / other.few,
            many: self.many / other.many,
        }
    }
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let constant = all_surges(lab, FIGURE.id, REPETITIONS, |counter| run(lab, counter, false))?;
    let changing = all_surges(lab, FIGURE.id, REPETITIONS, |counter| run(lab, counter, true))?;
    let all = constant.iter().zip(&changing);
    let rates =
        all.map(|(constant, changing)| Rates::of(&constant.cells[0].1, &changing.cells[0].1));
    let rates: Vec<(&'static str, Rates)> =
        contenders().map(|(name, _)| name).into_iter().zip(rates).collect();
    let claims_of = |(name, papers): (&'static str, f64)| {
        let times = times_rdt(&rates, name);
        let about = by_about(lab, name, papers, times.changing, "while the load changes");
        let about = about.because(format!("{}; {ADJUSTS}", in_parts(&times)));
        [beats(lab, name, papers, &times), about, gains(lab, name, &times)]
    };
    let claims = PAPERS.into_iter().flat_map(claims_of).collect();
    let times = |name: &'static str| {
        let times = times_rdt(&rates, name);
        let points = [(0.0, times.constant), (1.0, times.changing)];
        Curve::measured(name, points.map(|(x, y)| Point::exact(x, y)).to_vec())
    };
    let interval = phase_cycles(lab) / INTERVALS;
    let throughput = |runs: &Surges| {
        over_ms(runs, 0, interval, |interval| interval.throughput_per_million_cycles)
    };
    let (x, y) = (Axis::new("0: constant load, 1: changing load", Scale::Linear), "times RDT");
    let time = Axis::new("time (ms)", Scale::Linear);
    let values = Axis::new("values per million cycles", Scale::Linear);
    Ok(Findings {
        setup: format!(
            "origin2000 of {MACHINE} processors, {FEW} and {} of them in turn, {} ms each (paper: 100 \
             ms; as many times what ST takes to adjust), {PHASES} phases; constant: {} throughout; RDT policy {}, {} from seed {}",
            many(lab),
            ms(phase_cycles(lab) as f64),
            many(lab),
            Behaviour::Changing(BY_HAND),
            lab.runs_in_words(REPETITIONS),
            lab.seed
        ),
        panels: vec![
            Panel::new(x, Axis::new(y, Scale::Linear), [ST, ST_P, COUNTED].map(times).to_vec())
                .titled("throughput over that of RDT"),
            Panel::new(time, values, changing.iter().map(throughput).collect())
                .titled("throughput while the load changes"),
        ],
        claims,
    })
}

fn many(lab: &Lab) -> usize {
    lab.pick(MANY, MANY_SMOKE)
}

fn phase_cycles(lab: &Lab) -> u64 {
    lab.pick(PHASE_CYCLES, PHASE_CYCLES_SMOKE)
}

fn run(lab: &Lab, counter: CounterChoice, changes: bool) -> SurgeRun {
    let cycles = phase_cycles(lab);
    let load = |i: u64| if changes && i.is_multiple_of(2) { FEW } else { many(lab) };
    let phases = (0..PHASES).map(|i| Phase::new(i * cycles, load(i))).collect();
    SurgeRun::new(counter, origin2000(), phases, cycles / INTERVALS, PHASES * cycles)
}

/// Returns the values in a million cycles while the number of processors satisfies `is_such`.
/// Leaves out the first two phases, in which the trees adapt their shape.
fn rate(surges: &[Rc<Surge>], is_such: impl Fn(usize) -> bool) -> f64 {
    let settled = |surge: &Rc<Surge>| surge.intervals[2 * INTERVALS as usize..].to_vec();
    let rates: Vec<f64> = (surges.iter().flat_map(settled))
        .filter(|interval| is_such(interval.processors))
        .map(|interval| interval.throughput_per_million_cycles)
        .collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}

fn times_rdt(rates: &[(&'static str, Rates)], name: &str) -> Rates {
    of(rates, name).over(of(rates, RDT))
}

fn beats(lab: &Lab, name: &'static str, papers: f64, times: &Rates) -> Claim {
    Claim::new(
        format!("{name} hands out more than RDT (paper: {papers} times)"),
        format!("{name} / RDT above {} while the load changes", 1.0 + NOISE),
    )
    .judged(format!("{:.2} times", times.changing), lab.judge(times.changing > 1.0 + NOISE))
    .because(format!("{}; {SAME_PRISMS}", in_parts(times)))
}

fn gains(lab: &Lab, name: &'static str, times: &Rates) -> Claim {
    Claim::new(
        format!("the gain of {name} is larger than under constant load"),
        format!("{name} / RDT larger by a factor above {} while the load changes", 1.0 + NOISE),
    )
    .judged(
        format!("{:.2} against {:.2} times", times.changing, times.constant),
        lab.judge(times.changing > (1.0 + NOISE) * times.constant),
    )
    .because(format!("{}; {ADJUSTS}", in_parts(times)))
}

const SAME_PRISMS: &str = "prisms are what both have, and a tree that has grown deep for the many stays \
                           so for the few";
const ADJUSTS: &str = "the simulated RDT adjusts within a small part of a phase (ST07-14), in the \
                       paper it takes 12 000 intervals where a phase lasts 25";

fn in_parts(times: &Rates) -> String {
    format!("{:.2} times while {FEW} are there and {:.2} while {MANY} are", times.few, times.many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_compared_with_the_hand_tuned_tree() {
        let lab = Lab::new(false, 1, 1);
        let rates = |constant, changing| Rates { constant, changing, few: 10.0, many: 20.0 };
        let rates = [(ST, rates(30.0, 40.0)), (ST_P, rates(20.0, 5.0)), (RDT, rates(10.0, 10.0))];
        let times = times_rdt(&rates, ST);
        assert_eq!((times.constant, times.changing, times.few), (3.0, 4.0, 1.0));
        assert_eq!(beats(&lab, ST, 15.3, &times).holds, Some(true));
        assert_eq!(gains(&lab, ST, &times).holds, Some(true));
        let close = Rates { constant: 1.0, changing: 1.04, ..times };
        assert_eq!(
            [beats(&lab, ST, 15.3, &close).holds, gains(&lab, ST, &close).holds],
            [Some(false), Some(false)]
        );
        let times = times_rdt(&rates, ST_P);
        assert_eq!(beats(&lab, ST_P, 2.4, &times).holds, Some(false));
        assert_eq!(gains(&lab, ST_P, &times).measured, "0.50 against 2.00 times");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 6));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
