//! GV93 Figure 9: cache faults of 30 000 rounds on the KSR-1.

use super::*;

const PROCESSORS: [usize; 10] = [8, 16, 32, 48, 64, 96, 128, 160, 192, 256];
const PROCESSORS_SMOKE: [usize; 2] = [4, 9];
/// The paper's number of rounds. Counts are scaled to it.
const ROUNDS: f64 = 30_000.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-9",
    title: "cache faults on the KSR-1, of 30 000 rounds",
    paper: "GV93 Figure 9",
    shows: "Where the last arrival goes on, no processor looks twice and fewer lines move.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let in_step = Setting::on(lab.preset("ksr1"));
    let apart = Setting { work: WORK, ..in_step.clone() };
    let mut panels = Vec::new();
    let mut claims = Vec::new();
    for (setting, title, mark) in [
        (&in_step, "as in the paper".to_owned(), ""),
        (
            &apart,
            format!("0 to {WORK} cycles of work before each round"),
            "(ours, with work between rounds) ",
        ),
    ] {
        let rows = by_members(lab, FIGURE.id, &CONTENDERS, setting, processors)?;
        let curves: Vec<Curve> =
            rows.iter().map(|row| row.curve(|m| ROUNDS * m.misses_a_round)).collect();
        for dynamic in [&COMBINING, &DYNAMIC] {
            claims.push(fewer(lab, &curves, dynamic).because(why(&rows)).marked(mark));
        }
        let y = Axis::new("cache faults of 30 000 rounds", Scale::Log10);
        panels.push(Panel::new(processors_axis(), y, curves).titled(title));
    }
    Ok(Findings { setup: in_step.in_words(lab), panels, claims })
}

/// Judges that a barrier in which the last arrival goes on faults less than all with fixed roles.
fn fewer(lab: &Lab, curves: &[Curve], dynamic: &Contender) -> Claim {
    let claim = Claim::new(
        format!("{} faults less than all with fixed roles", dynamic.label),
        "faults / the fewest of dissemination, tournament, MCS tree and static f-way < 1 at every P",
    );
    let fixed = [&DISSEMINATION, &TOURNAMENT, &MCS, &STATIC].map(|fixed| named(curves, fixed));
    let own = named(curves, dynamic);
    let ratios = own.points.iter().filter_map(|point| {
        over_best(own, fixed, point.x).map(|(ratio, name)| (ratio, name, point.x))
    });
    let ratios: Vec<(f64, &str, f64)> = ratios.collect();
    let Some((ratio, name, x)) = ratios.iter().max_by(|a, b| a.0.total_cmp(&b.0)).copied() else {
        return claim;
    };
    let won = ratios.iter().filter(|(ratio, ..)| *ratio < 1.0).count();
    let measured =
        format!("at worst {ratio:.2} times {name} (P = {x}); fewer at {won} of {} P", ratios.len());
    claim.judged(measured, lab.judge(ratio < 1.0))
}

fn why(rows: &[BarrierRow]) -> String {
    let arrival = |contender: &Contender| {
        let last = row(rows, contender).cells.last();
        last.map_or_else(String::new, |(x, _, measured)| {
            format!("{} {:.0} (P = {x})", contender.label, measured.arrival_misses_a_round)
        })
    };
    format!(
        "faults of arrival in a round: {}, {}, {}, {}. The word that tells all takes one of every \
         processor in each. Where several come to a node at the same time, a parent that waits is \
         told once, when its line is back, and not after each child; and in the dynamic f-way tree \
         several find the others there, each with faults of its own",
        arrival(&COMBINING),
        arrival(&DYNAMIC),
        arrival(&MCS),
        arrival(&STATIC)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn it_must_have_fewer_everywhere() {
        let lab = Lab::new(false, 1, 1);
        let curves = |mcs: f64| {
            [
                curve("dissemination", &[(8.0, 90.0)]),
                curve("tournament", &[(8.0, 80.0)]),
                curve("MCS tree", &[(8.0, mcs)]),
                curve("static f-way", &[(8.0, 70.0)]),
                curve("combining tree", &[(8.0, 60.0)]),
            ]
        };
        assert_eq!(fewer(&lab, &curves(61.0), &COMBINING).holds, Some(true));
        assert_eq!(fewer(&lab, &curves(50.0), &COMBINING).holds, Some(false));
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 4));
    }
}
