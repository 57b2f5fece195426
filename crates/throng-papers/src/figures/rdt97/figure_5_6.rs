//! RDT97 Figures 5 and 6: throughput on up to 32 processors, and the ratio of the best fixed lock
//! or tree to the reactive tree.

use super::*;

const EXPERIMENT: Experiment = Experiment {
    figure: "RDT97-5/6",
    nodes: 32,
    processors: &[1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32],
    depths: &[0, 1, 2, 3],
    policy: ON_ALEWIFE,
    work: 0,
};
/// The paper's mean factor (section 5.2.1).
const PAPERS: f64 = 1.27;
/// Largest ratio of the best to the reactive tree, at every number of processors.
const SMALL: f64 = 2.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "a tree that changes, on up to 32 processors",
    paper: "RDT97 Figures 5 and 6",
    shows: "The reactive tree is near the best lock or tree at every number of processors.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = EXPERIMENT.compare(lab)?;
    let claims = vec![
        compared.is_near_the_best(lab, PAPERS),
        is_never_far(lab, &compared.reactive, &compared.fixed).because(compared.why_not_nearer()),
        beats_all_somewhere(lab, &compared.reactive, &compared.fixed),
        compared.is_near_ours(lab, PAPERS),
    ];
    let ours = compared.ours.iter().map(|curve| curve.clone().ours());
    let depth = Axis::new("mean depth of RDT", Scale::Linear);
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![
            panel("Figure 5", throughput_axis(), compared.all().into_iter().chain(ours).collect()),
            panel("Figure 6", throughput_axis(), compared.composites()),
            panel("the shape it takes", depth, vec![compared.depth()]),
        ],
        claims,
    })
}

fn is_never_far(lab: &Lab, reactive: &Curve, fixed: &[Curve]) -> Claim {
    let claim = Claim::new(
        "and that at every number of processors",
        format!("best / RDT at most {SMALL} at every P"),
    );
    let Some((worst, name, x)) = factors(reactive, fixed).into_iter().max_by(by_factor) else {
        return claim;
    };
    claim.judged(format!("at worst {worst:.2}, by {name} (P = {x})"), lab.judge(worst <= SMALL))
}

fn beats_all_somewhere(lab: &Lab, reactive: &Curve, fixed: &[Curve]) -> Claim {
    let claim =
        Claim::new("for some P RDT beats all of them", "best / RDT below 1 at some P".to_owned());
    let Some((best, name, x)) = factors(reactive, fixed).into_iter().min_by(by_factor) else {
        return claim;
    };
    let measured = format!("at best {:.2} times {name} (P = {x})", 1.0 / best);
    claim.judged(measured, lab.judge(best < 1.0)).because(
        "memory is spread evenly over this machine, so all leaves are about equally busy, and it \
         becomes a regular tree: no better than one that stays so. It is behind that one because \
         its prisms are made for the deepest tree, and fewer meet in them while it is small",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_worst_and_the_best_place_decide() {
        let lab = Lab::new(false, 1, 1);
        let fixed = [curve("lock", &[(1.0, 10.0), (32.0, 30.0)])];
        let near = curve(RDT, &[(1.0, 6.0), (32.0, 33.0)]);
        assert_eq!(is_never_far(&lab, &near, &fixed).holds, Some(true));
        assert_eq!(beats_all_somewhere(&lab, &near, &fixed).holds, Some(true));
        let claim = beats_all_somewhere(&lab, &near, &fixed);
        assert_eq!(claim.measured, "at best 1.10 times lock (P = 32)");
        let far = curve(RDT, &[(1.0, 4.0), (32.0, 30.0)]);
        assert_eq!(is_never_far(&lab, &far, &fixed).holds, Some(false));
        assert_eq!(beats_all_somewhere(&lab, &far, &fixed).holds, Some(false));
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 3);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        let reactive = findings.panels[0].series.iter().find(|curve| curve.name == RDT).unwrap();
        assert!(reactive.command.as_ref().unwrap().contains("--policy 150,800,80"));
    }
}
