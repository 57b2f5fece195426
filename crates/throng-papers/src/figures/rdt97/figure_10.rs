//! RDT97 Figure 10: throughput on up to 256 processors, work 1000.

use super::*;

const EXPERIMENT: Experiment = Experiment { figure: "RDT97-10", work: 1000, ..TO_256 };
/// The paper's mean factor (section 5.2.2).
const PAPERS: f64 = 1.41;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "a tree that changes, when requests arrive irregularly",
    paper: "RDT97 Figure 10",
    shows: "RDT is near the best tree with up to 1000 cycles of work between requests, too.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = EXPERIMENT.compare(lab)?;
    let claims = vec![compared.is_near_the_best(lab, PAPERS), compared.is_near_ours(lab, PAPERS)];
    let depth = Axis::new("mean depth of RDT", Scale::Linear);
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![
            panel("Figure 10", throughput_axis(), compared.composites()),
            panel("all depths", throughput_axis(), compared.all()),
            panel("the shape it takes", depth, vec![compared.depth()]),
        ],
        claims,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels[0].series.len(), 3);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
