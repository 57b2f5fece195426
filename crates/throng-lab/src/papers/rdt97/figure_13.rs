//! RDT97 Figure 13: 10 queens. Jobs that make jobs: a board with queens in its first rows makes one for
//! each place in the next row that no queen attacks.
//!
//! There are 35 539 jobs and 724 solutions, and every run is checked for both. The paper does not say
//! what a job takes; here each place and queen takes 5 cycles to compare, a load and a few instructions.
//! The array has an element for every job: a job that waits for room while it makes others would be
//! waited for by all.

use super::job_pools::{RSU, contenders, is_near, panel};
use super::*;
use crate::papers::Figure;
use crate::papers::pools::Setting;
use crate::simulated::jobs::Workload;

const SIDE: u32 = 10;
const SIDE_SMOKE: u32 = 5;
const COMPARISON_CYCLES: u32 = 5;
const ELEMENTS: usize = 36_000;
const ELEMENTS_SMOKE: usize = 64;
const REPETITIONS: u64 = 2;
const PROCESSORS: [usize; 11] = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256];

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "RDT97-13",
    title: "10 queens",
    paper: "RDT97 Figure 13",
    shows: "Jobs that make jobs, from few to many: RDT keeps close to RSU.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let side = lab.pick(SIDE, SIDE_SMOKE);
    let setting = Setting {
        figure: FIGURE.id,
        workload: Workload::Queens { side, comparison_cycles: COMPARISON_CYCLES },
        nodes: TO_256.nodes,
        processors: lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]),
        repetitions: REPETITIONS,
    };
    let elements = lab.pick(ELEMENTS, ELEMENTS_SMOKE);
    let rows = setting.measure(lab, &contenders(elements))?;
    let all = (1.0, 256.0);
    let claims = vec![is_near(lab, "RDT close to RSU over all loads", &rows, RSU, all, true)];
    let setup = format!(
        "{}, {side} queens, {COMPARISON_CYCLES} cycles to compare a place with a queen, {elements} \
         elements, policy {}; how processors learn that all is done takes no time",
        setting.in_words(lab),
        Behaviour::Changing(ON_PROTEUS)
    );
    Ok(Findings { setup, panels: vec![panel(&rows)], claims })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels[0].series.len(), 4);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
