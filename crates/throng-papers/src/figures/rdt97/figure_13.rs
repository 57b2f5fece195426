//! RDT97 Figure 13: 10 queens. Jobs create jobs: a board with queens in its first rows creates one
//! for each place in the next row that no queen attacks.
//!
//! There are 35 539 jobs and 724 solutions, and every run is checked for both. The paper does not
//! say how long a job takes. Here comparing a place with a queen takes 5 cycles, a load and a few
//! instructions. The array has an element for every job. In a shorter one, a job that waits for
//! room while it creates others would block all.

use super::job_pools::{NEAR, RSU, contenders, is_near, panel, reactive_pool};
use super::*;
use crate::figures::pools::{Setting, elapsed, times};
use crate::workloads::jobs::{PoolChoice, Workload};

const SIDE: u32 = 10;
const SIDE_SMOKE: u32 = 5;
const COMPARISON_CYCLES: u32 = 5;
const ELEMENTS: usize = 36_000;
const ELEMENTS_SMOKE: usize = 64;
const REPETITIONS: u64 = 2;
const PROCESSORS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256];
/// Number of processors with which the length of a job is varied, from the chosen one to far
/// longer.
const CROWD: usize = 64;
const CROWD_SMOKE: usize = 4;
const COMPARISONS_CYCLES: [u32; 8] = [5, 10, 20, 40, 80, 160, 320, 640];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "RDT97-13",
    title: "10 queens",
    paper: "RDT97 Figure 13",
    shows: "Jobs create jobs, on few processors to many: RDT stays close to RSU.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let setting = setting(lab, COMPARISON_CYCLES, processors(lab), REPETITIONS);
    let rows = setting.measure(lab, &contenders(elements(lab)))?;
    let by_work = by_work(lab)?;
    let all = (1.0, 256.0);
    let close = is_near(lab, "RDT close to RSU over all loads", &rows, RSU, all, true);
    let claims = vec![close.and_because(near_from(&by_work))];
    let setup = format!(
        "{}, {} queens, {COMPARISON_CYCLES} cycles to compare a place with a queen, {} elements, policy \
         {}; how processors learn that all is done takes no time",
        setting.in_words(lab),
        side(lab),
        elements(lab),
        Behaviour::Changing(ON_PROTEUS)
    );
    let by_work = Panel::new(
        Axis::new("cycles to compare a place with a queen", Scale::Log2),
        Axis::new("time of RDT / time of RSU", Scale::Linear),
        vec![by_work],
    )
    .titled(format!("jobs that take longer, P = {}", lab.pick(CROWD, CROWD_SMOKE)));
    Ok(Findings { setup, panels: vec![panel(&rows), by_work], claims })
}

fn side(lab: &Lab) -> u32 {
    lab.pick(SIDE, SIDE_SMOKE)
}

fn elements(lab: &Lab) -> usize {
    lab.pick(ELEMENTS, ELEMENTS_SMOKE)
}

fn processors(lab: &Lab) -> &'static [usize] {
    lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..])
}

fn setting(
    lab: &Lab,
    comparison_cycles: u32,
    processors: &'static [usize],
    repetitions: u64,
) -> Setting {
    Setting {
        figure: FIGURE.id,
        workload: Workload::Queens { side: side(lab), comparison_cycles },
        nodes: TO_256.nodes,
        processors,
        repetitions,
    }
}

/// Measures the ratio of the two pools by the length of a job, which the paper does not give.
fn by_work(lab: &Lab) -> Result<Curve, Error> {
    let crowd: &[usize] = lab.pick(&[CROWD], &[CROWD_SMOKE]);
    let mut points = Vec::new();
    for &cycles in lab.pick(&COMPARISONS_CYCLES[..], &COMPARISONS_CYCLES[..2]) {
        let pools = [reactive_pool(elements(lab)), PoolChoice::rsu()];
        let rows = setting(lab, cycles, crowd, 1).measure(lab, &pools)?;
        let [reactive, rsu] = [0, 1].map(|i: usize| rows[i].curve(elapsed));
        let ratio = times(&reactive, &rsu, 0.0, f64::INFINITY).map_or(f64::NAN, |times| times.mean);
        points.push(Point::exact(f64::from(cycles), ratio));
    }
    Ok(Curve::measured("RDT / RSU", points))
}

/// Describes the shortest comparison from which on the two are near each other.
fn near_from(by_work: &Curve) -> String {
    let near = by_work.points.iter().find(|point| point.y <= NEAR);
    let from = match near {
        Some(point) => format!("from {} cycles a comparison on", point.x),
        None => "for no work that was tried".to_owned(),
    };
    format!("Jobs that take longer bring the two together: they are near each other {from}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels[0].series.len(), 5);
        assert_eq!(findings.panels[1].series[0].points.len(), 2);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
