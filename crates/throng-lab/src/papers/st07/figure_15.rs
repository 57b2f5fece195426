//! ST07 Figure 15: 4 and 28 processors in turn: how much is handed out in all, against the same tree
//! under a constant load.

use super::*;
use crate::chart::{Axis, Scale};
use crate::papers::claim::Claim;
use crate::papers::{Figure, Findings, Panel};
use crate::simulated::surge::Phase;

/// How long each load lasts: 0.1 s in the paper, 4 ms here. The simulated trees settle so much sooner
/// (ST07-14) that they still have time to.
const PHASE_CYCLES: u64 = 1_000_000;
const PHASE_CYCLES_SMOKE: u64 = 20_000;
/// Changes of load, to more or to fewer.
const PHASES: u64 = 8;
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

/// Values in a million cycles, under a constant load and under one that changes.
type Rates = (f64, f64);

fn find(lab: &Lab) -> Result<Findings, Error> {
    let constant = surges(lab, FIGURE.id, REPETITIONS, |counter| run(lab, counter, false))?;
    let changing = surges(lab, FIGURE.id, REPETITIONS, |counter| run(lab, counter, true))?;
    let rates: Vec<(&'static str, Rates)> = (constant.iter().zip(&changing))
        .map(|((name, constant), (_, changing))| (*name, (rate(constant), rate(changing))))
        .collect();
    let claims = PAPERS
        .into_iter()
        .flat_map(|(name, papers)| [beats(lab, name, papers, &rates), gains(lab, name, &rates)])
        .collect();
    let times = |name: &'static str| {
        let (steady, change) = times_rdt(&rates, name);
        Curve::measured(name, vec![Point::exact(0.0, steady), Point::exact(1.0, change)])
    };
    let throughput = |(name, runs): &(&'static str, Vec<Surge>)| {
        over_time(name, runs, 0, |interval| interval.throughput_per_million_cycles)
    };
    let (x, y) = (Axis::new("0: constant load, 1: changing load", Scale::Linear), "times RDT");
    let time = Axis::new("time (ms)", Scale::Linear);
    let values = Axis::new("values per million cycles", Scale::Linear);
    Ok(Findings {
        setup: format!(
            "origin2000, {FEW} and {} processors in turn, {} ms each, {PHASES} phases; constant: {} \
             throughout; RDT policy {}, {} from seed {}",
            many(lab),
            ms(phase_cycles(lab) as f64),
            many(lab),
            Behaviour::Changing(BY_HAND),
            lab.pick(format!("mean of {REPETITIONS} runs"), "1 run".to_owned()),
            lab.seed
        ),
        panels: vec![
            Panel {
                title: "throughput over that of RDT".to_owned(),
                ..Panel::new(
                    x,
                    Axis::new(y, Scale::Linear),
                    [ST, ST_P, COUNTED].map(times).to_vec(),
                )
            },
            Panel {
                title: "throughput while the load changes".to_owned(),
                ..Panel::new(time, values, changing.iter().map(throughput).collect())
            },
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

/// Values in a million cycles after the first two phases, in which the trees find their shape.
fn rate(surges: &[Surge]) -> f64 {
    let measured = surges.iter().flat_map(|surge| {
        surge.intervals.iter().skip(2 * INTERVALS as usize).map(|i| i.throughput_per_million_cycles)
    });
    let rates: Vec<f64> = measured.collect();
    rates.iter().sum::<f64>() / rates.len() as f64
}

fn times_rdt(rates: &[(&'static str, Rates)], name: &str) -> Rates {
    let ((steady, change), (rdt_steady, rdt_change)) = (of(rates, name), of(rates, RDT));
    (steady / rdt_steady, change / rdt_change)
}

fn beats(lab: &Lab, name: &'static str, papers: f64, rates: &[(&'static str, Rates)]) -> Claim {
    let (_, change) = times_rdt(rates, name);
    Claim::new(
        format!("{name} hands out more than RDT (paper: {papers} times)"),
        format!("{name} / RDT above 1 while the load changes"),
    )
    .judged(format!("{change:.2} times"), lab.judge(change > 1.0))
    .because(
        "a token of ST(P) pays for its traces, its leaf's lock and the leaf's decisions besides the \
         prisms, which are what RDT has, too",
    )
}

fn gains(lab: &Lab, name: &'static str, rates: &[(&'static str, Rates)]) -> Claim {
    let (steady, change) = times_rdt(rates, name);
    Claim::new(
        format!("the gain of {name} is larger than under constant load"),
        format!("{name} / RDT larger while the load changes"),
    )
    .judged(format!("{change:.2} against {steady:.2} times"), lab.judge(change > steady))
    .because(
        "half of the time only 4 processors are there, where RDT is ahead; and the simulated RDT \
         adjusts within a phase, so it loses little by being slow",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_compared_with_the_hand_tuned_tree() {
        let lab = Lab::new(false, 1, 1);
        let rates = [(ST, (30.0, 40.0)), (ST_P, (20.0, 5.0)), (RDT, (10.0, 10.0))];
        assert_eq!(times_rdt(&rates, ST), (3.0, 4.0));
        assert_eq!(beats(&lab, ST, 15.3, &rates).holds, Some(true));
        assert_eq!(gains(&lab, ST, &rates).holds, Some(true));
        assert_eq!(beats(&lab, ST_P, 2.4, &rates).holds, Some(false));
        assert_eq!(gains(&lab, ST_P, &rates).measured, "0.50 against 2.00 times");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 4));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
