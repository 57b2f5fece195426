//! GV93 Figure 10: the time of a round on the BBN TC2000. The paper shows it without comment.
//! So this figure only reports, and its one claim is what section 2.3 quotes from other authors.

use super::*;
use throng::structures::barrier::WakeUp;

const PROCESSORS: [usize; 13] = [1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 42];
const PROCESSORS_SMOKE: [usize; 2] = [2, 5];
const MOST: f64 = 42.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-10",
    title: "the time of a round on the BBN TC2000",
    paper: "GV93 Figure 10",
    shows: "Without caches each processor must wait on a local word: one shared word is a hot spot.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let setting = Setting::on(lab.preset("tc2000"));
    let global = by_members(lab, FIGURE.id, &CONTENDERS, &setting, processors)?;
    let with_trees: Vec<Contender> = CONTENDERS.into_iter().filter_map(woken_by_tree).collect();
    let tree = by_members(lab, FIGURE.id, &with_trees, &setting, processors)?;
    let curves =
        |rows: &[BarrierRow]| -> Vec<Curve> { rows.iter().map(|row| row.curve(cycles)).collect() };
    let (global_curves, tree_curves) = (curves(&global), curves(&tree));
    let claims = vec![
        dissemination_is_best(lab, &global_curves).because(order(&global_curves, MOST)),
        dissemination_is_best(lab, &tree_curves)
            .because(order(&tree_curves, MOST))
            .marked("(ours, trees that wake up by a tree) "),
    ];
    let panel =
        |title: &str, curves| Panel::new(processors_axis(), cycles_axis(), curves).titled(title);
    Ok(Findings {
        setup: setting.in_words(lab),
        panels: vec![
            panel("one word tells all", global_curves),
            panel("trees wake up by a tree", tree_curves),
        ],
        claims,
    })
}

/// Returns the barrier with wake-up down its tree, or `None` if it has no tree. Dissemination needs
/// no wake-up and stays as it is.
fn woken_by_tree(mut contender: Contender) -> Option<Contender> {
    if contender.method == "central" {
        return None;
    }
    if contender.method != "dissemination" {
        contender.tuning.wake_up = Some(WakeUp::Tree);
    }
    Some(contender)
}

fn dissemination_is_best(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "dissemination is the fastest where nothing shared is cached (section 2.3, after \
         Mellor-Crummey and Scott)",
        format!("time / best other < 1 at P = {MOST}"),
    );
    let Some((ratio, name)) = over_best(named(curves, &DISSEMINATION), curves, MOST) else {
        return claim;
    };
    claim.judged(format!("{ratio:.2} times {name}"), lab.judge(ratio < 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        let series: Vec<usize> = findings.panels.iter().map(|panel| panel.series.len()).collect();
        assert_eq!((series, findings.claims.len()), (vec![7, 6], 2));
    }
}
