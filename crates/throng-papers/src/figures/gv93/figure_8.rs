//! GV93 Figure 8: the time of a round on the KSR-1, by the number of processors.

use super::*;

/// Numbers of processors, dense around the size of a ring, 32.
const PROCESSORS: [usize; 24] = [
    1, 2, 4, 8, 12, 16, 20, 24, 28, 30, 31, 32, 33, 34, 36, 40, 48, 64, 96, 128, 160, 192, 224, 256,
];
const PROCESSORS_SMOKE: [usize; 3] = [2, 9, 33];
/// Numbers of processors, on several rings, at which the order is judged.
const MANY: [f64; 5] = [64.0, 96.0, 128.0, 192.0, 256.0];
/// The number of processors that fills a ring, and the first beyond it.
const RING: f64 = 32.0;
const NEXT: f64 = 33.0;
/// Smallest factor between neighbouring points that counts as a jump.
const JUMP: f64 = 1.5;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-8",
    title: "the time of a round on the KSR-1",
    paper: "GV93 Figure 8",
    shows: "Trees that keep neighbours together win; messages between rings cost from 33 on.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let in_step = Setting::on(lab.preset("ksr1"));
    let rows = by_members(lab, FIGURE.id, &CONTENDERS, &in_step, processors)?;
    let curves: Vec<Curve> = rows.iter().map(|row| row.curve(cycles)).collect();
    let ours = by_members(lab, FIGURE.id, &[STATIC_COUNTED], &in_step, processors)?;
    let apart = Setting { work: WORK, ..in_step.clone() };
    let rows_apart = by_members(lab, FIGURE.id, &CONTENDERS, &apart, processors)?;
    let curves_apart: Vec<Curve> =
        rows_apart.iter().map(|row| row.curve(|m| m.last_in_last_out_cycles)).collect();
    let mut claims = orders(lab, &curves, &rows);
    claims.push(jump(lab, &curves));
    claims.extend(
        orders(lab, &curves_apart, &rows_apart)
            .into_iter()
            .map(|claim| claim.marked("(ours, with work between rounds) ")),
    );
    let with_ours = curves.into_iter().chain(ours.iter().map(|row| row.curve(cycles).ours()));
    Ok(Findings {
        setup: in_step.in_words(lab),
        panels: vec![
            Panel::new(processors_axis(), cycles_axis(), with_ours.collect())
                .titled("as in the paper"),
            Panel::new(processors_axis(), cycles_axis(), curves_apart).titled(format!(
                "0 to {WORK} cycles of work before each round; from the last arrival to the last \
                     leaving"
            )),
        ],
        claims,
    })
}

/// Judges what the paper says about the order.
fn orders(lab: &Lab, curves: &[Curve], rows: &[BarrierRow]) -> Vec<Claim> {
    let others = [&TOURNAMENT, &MCS, &DISSEMINATION, &COMBINING, &CENTRAL];
    let others: Vec<&Curve> = others.map(|contender| named(curves, contender)).to_vec();
    let dynamic = named(curves, &DYNAMIC);
    let all: Vec<&Curve> = curves.iter().collect();
    vec![
        below(lab, "dynamic f-way is the fastest of all", dynamic, &all).because(why_dynamic(rows)),
        below(lab, "static f-way is ahead of the five older ones", named(curves, &STATIC), &others)
            .because(format!("{}; {WHY_STATIC}", order(curves, 256.0))),
        below(
            lab,
            "tournament beats the MCS tree",
            named(curves, &TOURNAMENT),
            &[named(curves, &MCS)],
        )
        .because(why_tournament(rows)),
    ]
}

/// Judges that `curve` is below all others at each of the [`MANY`] numbers of processors.
fn below(lab: &Lab, text: &str, curve: &Curve, others: &[&Curve]) -> Claim {
    let claim =
        Claim::new(text, format!("{} / best other < 1 at P = 64, 96, 128, 192, 256", curve.name));
    let at = |&x: &f64| over_best(curve, others.iter().copied(), x).map(|(r, name)| (r, name, x));
    let ratios: Vec<(f64, &str, f64)> = MANY.iter().filter_map(at).collect();
    let Some((ratio, name, x)) = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0)).copied() else {
        return claim;
    };
    let won = ratios.iter().filter(|(ratio, ..)| *ratio < 1.0).count();
    let measured =
        format!("at worst {ratio:.2} times {name} (P = {x}); ahead at {won} of {} P", ratios.len());
    claim.judged(measured, lab.judge(ratio < 1.0))
}

fn why_dynamic(rows: &[BarrierRow]) -> String {
    let Some(dynamic) = row(rows, &DYNAMIC).at(256.0) else { return String::new() };
    let (writers, misses) = (dynamic.round.writers_a_word, dynamic.arrival_misses_a_round);
    if writers == 1 {
        return WHY_DYNAMIC_ALONE.to_owned();
    }
    format!(
        "who comes to a node at the same time as others finds all their flags when it looks, so \
         several want to go on, up to {writers} of them to one flag of the tree, where there should \
         be one; all but the first turn back there (in the paper's code they do not, and it takes \
         three times as long), but a round takes {misses:.0} misses to arrive (P = 256), where one \
         who goes on a node would take about 300. In the simulated machine a processor's look at a \
         line that others are waiting to write stands in line behind them; on a real one it may \
         still have the line"
    )
}

const WHY_DYNAMIC_ALONE: &str = "its fan-ins, chosen as in Figure 5, are large: 8 at the leaves, who \
    stand in line for their node, and at P = 96 then 6, which no ring of 32 holds";

/// With far messages as fast as near ones, static f-way (fan-in 4, flags that count) is faster than
/// the MCS tree: 3636 against 3774 cycles at P = 256.
const WHY_STATIC: &str = "the four children of a node of the MCS tree are neighbours: their line \
    comes to their ring once, is passed on there, and goes back once; near the root all are on one \
    ring. Those who meet near the root of the f-way tree come each from another ring, and the line \
    crosses for each of them. Clearing the flags takes the line once more at each node on the way to \
    the root. And a counter of the combining tree is one fetch-and-add here, where the paper's KSR-1 \
    takes a lock. (All this is inferred from the counts, not proved.)";

fn why_tournament(rows: &[BarrierRow]) -> String {
    let at = |contender| row(rows, contender).at(256.0);
    let (Some(pairs), Some(mcs)) = (at(&TOURNAMENT), at(&MCS)) else { return String::new() };
    format!(
        "at P = 256 the longest chain has {} words against {}, each a write and a look one after the \
         other, three of them between rings; in the MCS tree four neighbours write to one line, \
         which crosses between rings for the first of them only",
        pairs.round.critical_path, mcs.round.critical_path
    )
}

fn jump(lab: &Lab, curves: &[Curve]) -> Claim {
    let claim = Claim::new(
        "dissemination jumps from 32 to 33 processors, where a second ring begins",
        format!(
            "time at P = {NEXT} at least {JUMP} times that at {RING}, and the largest rise of all"
        ),
    );
    let rise = |curve: &Curve| Some((curve.at(NEXT)? / curve.at(RING)?, curve.name.clone()));
    let Some((own, _)) = rise(named(curves, &DISSEMINATION)) else { return claim };
    let others = curves.iter().filter(|curve| curve.name != DISSEMINATION.label);
    let most = others.filter_map(rise).max_by(|a, b| a.0.total_cmp(&b.0));
    let Some((most, name)) = most else { return claim };
    claim
        .judged(
            format!("{own:.2} times; of the others at most {most:.2} ({name})"),
            lab.judge(own >= JUMP && own > most),
        )
        .because("others have messages between rings from 33 on, too: the word that tells all")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn who_is_behind_anywhere_is_not_the_fastest() {
        let lab = Lab::new(false, 1, 1);
        let fast = curve("dynamic f-way", &[(64.0, 10.0), (256.0, 20.0)]);
        let slow = curve("central", &[(64.0, 30.0), (256.0, 15.0)]);
        let claim = below(&lab, "x", &fast, &[&fast, &slow]);
        assert_eq!(claim.holds, Some(false));
        assert_eq!(claim.measured, "at worst 1.33 times central (P = 256); ahead at 1 of 2 P");
    }

    #[test]
    fn a_jump_is_larger_than_that_of_all_others() {
        let lab = Lab::new(false, 1, 1);
        let with = |other: f64| {
            jump(
                &lab,
                &[
                    curve("dissemination", &[(32.0, 100.0), (33.0, 200.0)]),
                    curve("central", &[(32.0, 100.0), (33.0, other)]),
                ],
            )
            .holds
        };
        assert_eq!((with(130.0), with(230.0)), (Some(true), Some(false)));
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 7));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
    }
}
