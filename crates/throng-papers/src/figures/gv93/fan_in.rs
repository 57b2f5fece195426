//! GV93 section 4: the choice of the fan-in.

use super::*;
use crate::workloads::barrier::FanInChoice;

const FAN_INS: [usize; 11] = [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16];
const FAN_INS_SMOKE: [usize; 2] = [2, 4];
const PROCESSORS: [usize; 3] = [64, 128, 256];
const PROCESSORS_SMOKE: [usize; 1] = [9];
const MACHINES: [&str; 2] = ["ksr1", "server"];
/// Largest ratio at which the better of fan-ins 3 and 4 counts as near the best.
const NEAR: f64 = 1.1;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "GV93-F",
    title: "the time of a round by fan-in",
    paper: "GV93 section 4",
    shows: "Small nodes make a deep tree, large ones contention: the best fan-in is in between.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut panels = Vec::new();
    let mut claims = Vec::new();
    let mut setups = Vec::new();
    for machine in MACHINES {
        let setting = Setting::on(lab.preset(machine));
        let rows = measure_rows(lab, FIGURE.id, rows(lab, &setting))?;
        let curves: Vec<Curve> = rows.iter().map(|row| row.curve(cycles)).collect();
        for method in [STATIC, DYNAMIC] {
            let of_method: Vec<&Curve> =
                curves.iter().filter(|curve| curve.name.starts_with(method.label)).collect();
            claims.push(near_three_or_four(lab, machine, &method, &of_method).because(why(&rows)));
        }
        setups.push(setting.in_words(lab));
        let x = Axis::new("fan-in", Scale::Linear);
        panels.push(Panel::new(x, cycles_axis(), curves).titled(machine));
    }
    Ok(Findings { setup: setups.join("; "), panels, claims })
}

type Runs = Vec<(f64, crate::workloads::barrier::BarrierRun)>;

fn rows(lab: &Lab, setting: &Setting) -> Vec<(String, Runs)> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let fan_ins = lab.pick(&FAN_INS[..], &FAN_INS_SMOKE[..]);
    let row = |method: Contender, p: usize| {
        let run = |&fan_in: &usize| {
            let mut chosen = method;
            chosen.tuning.fan_in = Some(FanInChoice::Fixed(fan_in));
            (fan_in as f64, setting.run(lab, chosen.barrier(), p))
        };
        (format!("{}, P = {p}", method.label), fan_ins.iter().map(run).collect())
    };
    [STATIC, DYNAMIC]
        .into_iter()
        .flat_map(|method| processors.iter().map(move |&p| row(method, p)))
        .collect()
}

/// Returns the best fan-in of a curve, and the ratio of the better of 3 and 4 to it.
fn best(curve: &Curve) -> Option<(Point, f64)> {
    let best = curve.lowest()?;
    let near = [3.0, 4.0].into_iter().filter_map(|x| curve.at(x)).reduce(f64::min)?;
    Some((best, near / best.y))
}

fn near_three_or_four(lab: &Lab, machine: &str, method: &Contender, curves: &[&Curve]) -> Claim {
    let claim = Claim::new(
        format!("{}: the best fan-in is near 3 or 4 ({machine})", method.label),
        format!("the better of 3 and 4 at most {NEAR} times the best of 2 to 16, at every P"),
    );
    let found: Vec<(&str, (Point, f64))> =
        curves.iter().filter_map(|curve| Some((curve.name.as_str(), best(curve)?))).collect();
    let Some(worst) = found.iter().map(|(_, (_, ratio))| *ratio).reduce(f64::max) else {
        return claim;
    };
    let words: Vec<String> = found
        .iter()
        .map(|(name, (best, ratio))| {
            let processors = name.rsplit(", ").next().unwrap_or(name);
            format!("best {} ({processors}), 3 or 4 {ratio:.2} times that", best.x)
        })
        .collect();
    claim.judged(words.join("; "), lab.judge(worst <= NEAR))
}

fn why(rows: &[BarrierRow]) -> String {
    let of = |row: &BarrierRow| {
        let ends = [2.0, 4.0, 16.0].into_iter().filter_map(|x| {
            let measured = row.at(x)?;
            Some(format!("{:.0} at f = {x}", measured.arrival_misses_a_round))
        });
        format!("{}: {}", row.name, ends.collect::<Vec<_>>().join(", "))
    };
    let largest = rows.iter().filter(|row| row.name.ends_with("256"));
    format!(
        "at P = 128 a tree of fan-in 4 has four levels, the last for two, and one of fan-in 6 has \
         three; where several want to go on at a node of the dynamic tree, they do not on levels that are \
         not there; misses of arrival in a round: \
         {}",
        largest.map(of).collect::<Vec<_>>().join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    #[test]
    fn near_the_best_is_good_enough() {
        let lab = Lab::new(false, 1, 1);
        let judged = |four: f64| {
            let curve = curve("static f-way, P = 64", &[(2.0, 300.0), (4.0, four), (8.0, 100.0)]);
            near_three_or_four(&lab, "ksr1", &STATIC, &[&curve])
        };
        assert_eq!(judged(105.0).holds, Some(true));
        let missed = judged(150.0);
        assert_eq!(missed.holds, Some(false));
        assert_eq!(missed.measured, "best 8 (P = 64), 3 or 4 1.50 times that");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (2, 4));
    }
}
