//! ST07 Figure 13: throughput and depth under full contention, by the number of processors.

use super::*;
use crate::chart::{Axis, Scale};
use crate::papers::claim::Claim;
use crate::papers::lab::Row;
use crate::papers::{Figure, Findings, Panel};
use crate::simulated::CountingRun;
use crate::simulated::measured::Measured;

const PROCESSORS: [usize; 7] = [4, 8, 12, 16, 20, 24, 28];
const PROCESSORS_SMOKE: [usize; 2] = [4, 8];
/// Numbers handed out in a run, and before the measurement begins: the trees find their shape.
const VALUES: u64 = 40_000;
const VALUES_SMOKE: u64 = 600;
const WARM_UP: u64 = 20_000;
const WARM_UP_SMOKE: u64 = 200;
const REPETITIONS: u64 = 3;

/// The paper's factors at 28 processors.
const PAPERS: [(&str, f64); 2] = [(ST, 10.0), (ST_P, 1.36)];
/// A factor that is off by no more than this is about the paper's.
const ABOUT: f64 = 2.0;
/// Differences smaller than this part are noise.
const NOISE: f64 = 0.05;
/// Depths that differ by no more than this are about the same.
const LEVELS: f64 = 1.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "ST07-13",
    title: "self-tuning trees under full contention",
    paper: "ST07 Figure 13",
    shows: "Trees that tune themselves hand out more than one tuned by hand, and are as deep.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let row = |(name, counter): (&str, CounterChoice)| {
        let run = |&p: &usize| (p as f64, run(lab, counter.clone(), p));
        (name.to_owned(), processors.iter().map(run).collect())
    };
    let rows = lab.sweep(FIGURE.id, REPETITIONS, contenders().into_iter().map(row).collect())?;
    let names = contenders().map(|(name, _)| name);
    let curves = |number: fn(&Measured) -> f64| -> Vec<(&'static str, Curve)> {
        names.iter().copied().zip(rows.iter().map(|row| row.curve(number))).collect()
    };
    let (throughputs, depths) = (curves(|run| run.throughput_per_million_cycles), curves(depth));
    let ratios: Vec<Curve> = names
        .iter()
        .filter(|&&name| name != RDT)
        .map(|name| ratio(name, of(&throughputs, name), of(&throughputs, RDT)))
        .collect();
    let costs = |name: &str| format!("{}; {}", costs(&rows, name), costs(&rows, RDT));
    let mut claims: Vec<Claim> = Vec::new();
    for (ratio, (name, papers)) in ratios.iter().zip(PAPERS) {
        claims.push(beats(lab, ratio, papers).because(costs(name)));
        claims.push(by_about(lab, ratio, papers).because(costs(name)));
    }
    claims.push(same_depth(lab, &depths).because(
        "the decisions of ST07 as printed only know loads of 2^level and more, so once a leaf is on \
         level 4 nothing lets it come back; RDT stops growing when waits at its leaves are below 10 us",
    ));
    let axis = || Axis::new("processors", Scale::Linear);
    let panel = |title: &str, y: &str, series: Vec<Curve>| Panel {
        title: title.to_owned(),
        ..Panel::new(axis(), Axis::new(y, Scale::Linear), series)
    };
    let plain = |all: Vec<(&str, Curve)>| all.into_iter().map(|(_, curve)| curve).collect();
    Ok(Findings {
        setup: format!(
            "origin2000 of {MACHINE} processors, RDT policy {}, work 0, {} values \
             of which {} are ignored, {} from seed {}",
            Behaviour::Changing(BY_HAND),
            lab.pick(VALUES, VALUES_SMOKE),
            lab.pick(WARM_UP, WARM_UP_SMOKE),
            lab.pick(format!("mean of {REPETITIONS} runs"), "1 run".to_owned()),
            lab.seed
        ),
        panels: vec![
            panel("throughput over that of RDT", "times RDT", ratios),
            panel("depth", "mean depth", plain(depths)),
            panel("throughput", "values per million cycles", plain(throughputs)),
        ],
        claims,
    })
}

fn run(lab: &Lab, counter: CounterChoice, processors: usize) -> CountingRun {
    CountingRun {
        processors,
        nodes: Some(MACHINE),
        values: lab.pick(VALUES, VALUES_SMOKE),
        warm_up: lab.pick(WARM_UP, WARM_UP_SMOKE),
        ..CountingRun::new(counter, origin2000())
    }
}

/// The mean depth of the leaves that served calls since the measurement began.
fn depth(run: &Measured) -> f64 {
    let stretches = run.notes.over_time("depth");
    let measured = stretches.iter().filter(|s| s.start_cycle >= run.begin_cycle && s.count > 0);
    let (calls, sum) = measured.fold((0, 0.0), |(calls, sum), stretch| {
        (calls + stretch.count, sum + stretch.mean * stretch.count as f64)
    });
    sum / calls as f64
}

fn ratio(name: &str, one: &Curve, other: &Curve) -> Curve {
    let point = |point: &Point| Some(Point::exact(point.x, point.y / other.at(point.x)?));
    Curve::measured(name, one.points.iter().filter_map(point).collect())
}

/// What a value costs a contender when its processors are most, and where these wait.
fn costs(rows: &[Row], name: &str) -> String {
    let row = rows.iter().find(|row| row.name == name).expect("every contender has a row");
    let misses = row.curve(|run| run.memory.total.misses as f64 / run.handed_out as f64);
    format!(
        "a value takes {name} {:.1} transfers of lines, and processors wait at {}",
        misses.last().map_or(f64::NAN, |last| last.y),
        row.hottest(MANY as f64)
    )
}

fn beats(lab: &Lab, ratio: &Curve, papers: f64) -> Claim {
    let claim = Claim::new(
        format!("{} hands out more than RDT (paper: {papers} times at 28)", ratio.name),
        format!("{} / RDT above {} at P = {MANY}", ratio.name, 1.0 + NOISE),
    );
    let (Some(last), Some(least)) = (ratio.last(), ratio.lowest()) else {
        return claim;
    };
    let measured = format!("{:.2} times; least {:.2} (P = {})", last.y, least.y, least.x);
    claim.judged(measured, lab.judge(last.y > 1.0 + NOISE))
}

fn by_about(lab: &Lab, ratio: &Curve, papers: f64) -> Claim {
    let claim = Claim::new(
        format!("{} by about {papers} times", ratio.name),
        format!("above 1 and within a factor of {ABOUT} of {papers} at P = {MANY}"),
    );
    let Some(last) = ratio.last() else {
        return claim;
    };
    let holds = last.y > 1.0 && (papers / ABOUT..=papers * ABOUT).contains(&last.y);
    claim.judged(format!("{:.2} times", last.y), lab.judge(holds))
}

fn same_depth(lab: &Lab, depths: &[(&'static str, Curve)]) -> Claim {
    let claim = Claim::new(
        "all choose about the same depth",
        format!("ST and ST(P) within {LEVELS} of the mean depth of RDT at every P"),
    );
    let off = |name: &'static str| {
        let by_hand = of(depths, RDT);
        let off = |point: &Point| Some((point.y - by_hand.at(point.x)?, name, *point));
        of(depths, name).points.iter().filter_map(off).collect::<Vec<_>>()
    };
    let all = [ST, ST_P].into_iter().flat_map(off);
    let farthest = all.max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    let Some((difference, name, point)) = farthest else {
        return claim;
    };
    let at_most: Vec<String> = (depths.iter())
        .filter_map(|(name, curve)| Some(format!("{name} {:.1}", curve.last()?.y)))
        .collect();
    let measured = format!(
        "farthest: {name} {:.1} against {:.1} (P = {}); at the largest P {}",
        point.y,
        point.y - difference,
        point.x,
        at_most.join(", ")
    );
    claim.judged(measured, lab.judge(difference.abs() <= LEVELS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::curve::tests::curve;

    #[test]
    fn ratios_and_depths_are_judged_at_the_right_places() {
        let lab = Lab::new(false, 1, 1);
        let st = curve(ST, &[(4.0, 5.0), (28.0, 90.0)]);
        let rdt = curve(RDT, &[(4.0, 10.0), (28.0, 10.0)]);
        let ratio = ratio(ST, &st, &rdt);
        let claim = beats(&lab, &ratio, 10.0);
        assert_eq!(claim.measured, "9.00 times; least 0.50 (P = 4)");
        assert_eq!((claim.holds, by_about(&lab, &ratio, 10.0).holds), (Some(true), Some(true)));
        assert_eq!(by_about(&lab, &ratio, 1.36).holds, Some(false));
        let depths = |deep: f64| {
            let flat = |name, y| (name, curve(name, &[(4.0, 0.0), (28.0, y)]));
            [flat(ST, deep), flat(ST_P, 2.5), flat(RDT, 3.0)]
        };
        assert_eq!(same_depth(&lab, &depths(3.9)).holds, Some(true));
        let claim = same_depth(&lab, &depths(4.5));
        assert_eq!(claim.holds, Some(false));
        assert!(claim.measured.starts_with("farthest: ST 4.5 against 3.0 (P = 28)"), "{claim:?}");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!(findings.panels.len(), 3);
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        let census = findings.panels[2].series.last().unwrap();
        assert!(
            census.command.as_ref().unwrap().contains("self-tuning --width 16 --policy census,30")
        );
    }
}
