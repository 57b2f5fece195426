//! RDT97 Figure 12: sparse jobs. Half of the processors produce jobs, one at a time, and wait until
//! each is consumed; the other half consume them.
//!
//! A consumer signals the producer by a word in the producer's memory. The paper gives no work for
//! a job, so there is none. It does not give the length of the array either: 1024 elements here, so
//! that no producer waits for room.

use super::job_pools::{LOCK, RSU, contenders, is_near, panel};
use super::*;
use crate::figures::pools::Setting;
use crate::workloads::jobs::Workload;

const JOBS: u64 = 2560;
const JOBS_SMOKE: u64 = 40;
const ELEMENTS: usize = 1024;
const REPETITIONS: u64 = 3;
const PROCESSORS: [usize; 12] = [2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 256];
const PROCESSORS_SMOKE: [usize; 3] = [2, 4, 8];
/// Numbers of processors for low and high load, which the paper does not define: the ends of its
/// range.
const LOW: (f64, f64) = (2.0, 16.0);
const HIGH: (f64, f64) = (128.0, 256.0);

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "RDT97-12",
    title: "sparse producers and consumers",
    paper: "RDT97 Figure 12",
    shows: "With sparse jobs RDT is near the queue lock at low load and near RSU at high load.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let setting = Setting {
        figure: FIGURE.id,
        workload: Workload::Sparse { jobs: lab.pick(JOBS, JOBS_SMOKE) },
        nodes: TO_256.nodes,
        processors: lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]),
        repetitions: REPETITIONS,
    };
    let rows = setting.measure(lab, &contenders(ELEMENTS))?;
    let claims = vec![
        is_near(lab, "RDT near the queue lock at low load", &rows, LOCK, LOW, false),
        is_near(lab, "RDT near RSU at high load", &rows, RSU, HIGH, false),
    ];
    let setup = format!(
        "{}, half produce and half consume, {} jobs without work, {ELEMENTS} elements, policy {}",
        setting.in_words(lab),
        lab.pick(JOBS, JOBS_SMOKE),
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
        assert_eq!(findings.panels[0].series.len(), 5);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
