//! RDT97 Figures 7, 8 and 9: throughput and latency on up to 256 processors, work 0, and the ratio
//! of the best fixed lock or tree to the reactive tree.

use super::*;

const EXPERIMENT: Experiment = Experiment { figure: "RDT97-7/8/9", work: 0, ..TO_256 };
/// The paper's mean factor (section 5.2.2).
const PAPERS: f64 = 1.56;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: EXPERIMENT.figure,
    title: "a tree that changes, on up to 256 processors",
    paper: "RDT97 Figures 7, 8 and 9",
    shows: "Trees of every depth are best somewhere; the reactive tree is near the best of them.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let compared = EXPERIMENT.compare(lab)?;
    let claims = vec![
        compared.is_near_the_best(lab, PAPERS),
        depths_follow(lab, &compared.fixed).because(
            "between two depths that are best somewhere there is one that never is, or they \
             change places more than once",
        ),
        compared.is_near_ours(lab, PAPERS),
    ];
    let ours = compared.ours.iter().map(|curve| curve.clone().ours());
    let latencies = compared.rows[..=compared.fixed.len()].iter().map(|row| row.curve(latency));
    let depth = Axis::new("mean depth of RDT", Scale::Linear);
    Ok(Findings {
        setup: EXPERIMENT.setup(lab),
        panels: vec![
            panel("Figure 7", throughput_axis(), compared.all().into_iter().chain(ours).collect()),
            panel("Figure 8", Axis::new("latency (cycles)", Scale::Log10), latencies.collect()),
            panel("Figure 9", throughput_axis(), compared.composites()),
            panel("the shape it takes", depth, vec![compared.depth()]),
        ],
        claims,
    })
}

fn latency(run: &Measured) -> f64 {
    run.latency_cycles_mean
}

/// Judges that deeper trees are best for more processors (section 1.2: "the range in which a
/// Diffracting tree of a given depth can provide optimal performance is rather limited").
fn depths_follow(lab: &Lab, fixed: &[Curve]) -> Claim {
    let claim = Claim::new(
        "each depth is best for a range of its own: the more processors, the deeper",
        "the best depth never falls as P grows, and at least four depths are best somewhere",
    );
    let best = |x: f64| {
        let at_x = fixed.iter().enumerate().filter_map(|(i, curve)| Some((i, curve.at(x)?)));
        at_x.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(i, _)| (i, x))
    };
    let points = fixed.first().map_or(&[][..], |curve| &curve.points);
    let best: Vec<(usize, f64)> = points.iter().filter_map(|point| best(point.x)).collect();
    if best.is_empty() {
        return claim;
    }
    let mut somewhere: Vec<usize> = best.iter().map(|&(i, _)| i).collect();
    somewhere.dedup();
    let grows = best.is_sorted_by_key(|&(i, _)| i);
    let say = |&(i, x): &(usize, f64)| format!("{} at {x}", fixed[i].name);
    let firsts = best.chunk_by(|a, b| a.0 == b.0).map(|same| say(&same[0]));
    let measured = format!("best from P on: {}", firsts.collect::<Vec<_>>().join(", "));
    claim.judged(measured, lab.judge(grows && somewhere.len() >= 4))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn the_best_depth_must_grow() {
        let lab = Lab::new(false, 1, 1);
        let at = |name, ys: [f64; 4]| {
            curve(name, &[(1.0, ys[0]), (2.0, ys[1]), (4.0, ys[2]), (8.0, ys[3])])
        };
        let (lock, one) = (at("lock", [9.0, 3.0, 3.0, 3.0]), at("1", [1.0, 4.0, 3.0, 3.0]));
        let (two, three) = (at("2", [1.0, 1.0, 5.0, 5.0]), at("3", [1.0, 1.0, 1.0, 6.0]));
        let claim = depths_follow(&lab, &[lock.clone(), one.clone(), two.clone(), three]);
        assert_eq!(claim.holds, Some(true));
        assert_eq!(claim.measured, "best from P on: lock at 1, 1 at 2, 2 at 4, 3 at 8");
        assert_eq!(depths_follow(&lab, &[lock.clone(), one, two]).holds, Some(false));
        assert_eq!(depths_follow(&lab, &[]).holds, None);
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 4);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
