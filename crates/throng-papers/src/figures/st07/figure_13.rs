//! ST07 Figure 13: throughput and depth under full contention, by the number of processors.

use super::*;
use crate::figures::lab::Row;
use crate::workloads::CountingRun;
use crate::workloads::measured::Measured;
use throng::structures::counter::self_tuning::policy::competitive_ratio;

const PROCESSORS: [usize; 7] = [4, 8, 12, 16, 20, 24, 28];
const PROCESSORS_SMOKE: [usize; 2] = [4, 8];
/// Numbers handed out in a run, and before the measurement begins, while the trees adapt their
/// shape.
const VALUES: u64 = 40_000;
const VALUES_SMOKE: u64 = 600;
const WARM_UP: u64 = 20_000;
const WARM_UP_SMOKE: u64 = 200;
const REPETITIONS: u64 = 3;

/// The paper's factors at 28 processors.
const PAPERS: [(&str, f64); 2] = [(ST, 10.0), (ST_P, 1.36)];
/// Trees that decide as ST07 Figure 6 is printed; the others decide by equation 14.
const AS_PRINTED: [(&str, &str); 2] = [(ST, "ST as printed"), (ST_P, "ST(P) as printed")];
/// The reactive tree with thresholds tuned here as the paper tuned its own, until it is about 3
/// deep with all processors. Like the paper's it changes all the time.
const EAGER: &str = "(ours) RDT, eager";
const EAGERLY: HandTuned = BY_HAND.unfold_above(2 * BY_HAND.fold_below);
/// ST(P) with half the leaves, which makes it about as deep as RDT.
const CAPPED: &str = "ST(P), capped";
/// The reactive tree fixed at its largest depth.
const FULL: &str = "RDT, full";

/// Largest difference between depths that are about the same.
const LEVELS: f64 = 1.0;

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "ST07-13",
    title: "self-tuning trees under full contention",
    paper: "ST07 Figure 13",
    shows: "Self-tuning trees hand out more than a tree tuned by hand, and are as deep.",
    find,
};

fn find(lab: &Lab) -> Result<Findings, Error> {
    let processors = lab.pick(&PROCESSORS[..], &PROCESSORS_SMOKE[..]);
    let most = &processors[processors.len() - 1..];
    let row = |processors: &'static [usize]| {
        move |(name, counter): (&'static str, CounterChoice)| {
            let run = |&p: &usize| (p as f64, run(lab, counter.clone(), p));
            (name.to_owned(), processors.iter().map(run).collect())
        }
    };
    let drawn = || contenders().into_iter().chain(more_contenders());
    let all = drawn().map(row(processors)).chain(at_the_most().map(row(most))).collect();
    let rows = Rows(lab.sweep(FIGURE.id, REPETITIONS, all)?);
    let curves = |number: fn(&Measured) -> f64| -> Vec<(&'static str, Curve)> {
        drawn().map(|(name, _)| (name, rows.of(name).curve(number))).collect()
    };
    let (throughputs, depths) = (curves(throughput), curves(Measured::depth_mean));
    let ratios: Vec<(&'static str, Curve)> = (throughputs.iter())
        .filter(|(name, _)| *name != RDT)
        .map(|(name, curve)| (*name, curve.over(of(&throughputs, RDT))))
        .collect();
    let claims = PAPERS.iter().zip(AS_PRINTED).flat_map(|(&(name, papers), (_, printed))| {
        let times = of(&ratios, name);
        let why = match name {
            ST_P => format!("{}; {}", rows.compared(), rows.costs(name)),
            _ => rows.costs(name),
        };
        let last = times.last().map_or(f64::NAN, |last| last.y);
        let about = by_about(lab, name, papers, last, &format!("at P = {MANY}"));
        [
            beats(lab, times, papers).because(as_printed(times, of(&ratios, printed), &why)),
            beats(lab, of(&ratios, printed), papers).because(why.clone()),
            about.because(why),
        ]
    });
    let claims = claims.chain([same_depth(lab, &depths).because(why_deeper())]).collect();
    let axis = || Axis::new("processors", Scale::Linear);
    let panel = |title: &str, y: &str, all: Vec<(&str, Curve)>| {
        Panel::new(
            axis(),
            Axis::new(y, Scale::Linear),
            all.into_iter().map(|(_, curve)| curve).collect(),
        )
        .titled(title)
    };
    Ok(Findings {
        setup: format!(
            "origin2000 of {MACHINE} processors, RDT policy {} ({EAGER}: {}), {ST} and {ST_P} decide \
             by equation 14, which Lemma 4 needs, \"as printed\" by Figure 6, work 0, {} values of \
             which {} are ignored, {} from seed {}",
            Behaviour::Changing(BY_HAND),
            Behaviour::Changing(EAGERLY),
            lab.pick(VALUES, VALUES_SMOKE),
            lab.pick(WARM_UP, WARM_UP_SMOKE),
            lab.runs_in_words(REPETITIONS),
            lab.seed
        ),
        panels: vec![
            panel("throughput over that of RDT", "times RDT", ratios),
            panel("depth", "mean depth", depths),
            panel("throughput", "values per million cycles", throughputs),
        ],
        claims,
    })
}

/// Returns the contenders that are drawn here only.
fn more_contenders() -> [(&'static str, CounterChoice); 3] {
    let [(_, st), (_, st_p)] = AS_PRINTED;
    [
        (st, toggles(Policy::Printed)),
        (st_p, with_prisms(DEEPEST, Policy::Printed)),
        (EAGER, by_hand(EAGERLY)),
    ]
}

/// Returns the contenders that are compared at the largest number of processors only.
fn at_the_most() -> impl Iterator<Item = (&'static str, CounterChoice)> {
    let full = reactive::with_prisms(&prisms(DEEPEST), Behaviour::Fixed);
    [(CAPPED, with_prisms(DEEPEST - 1, Policy::Threat)), (FULL, full)].into_iter()
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

fn throughput(run: &Measured) -> f64 {
    run.throughput_per_million_cycles
}

/// Returns how often a reactive tree grew since the beginning of the run.
fn unfolds(run: &Measured) -> f64 {
    run.notes.get("unfolded").map_or(0.0, |note| note.counts.iter().sum::<u64>() as f64)
}

/// All runs.
struct Rows(Vec<Row>);

impl Rows {
    fn of(&self, name: &str) -> &Row {
        self.0.iter().find(|row| row.name == name).expect("every contender has a row")
    }

    /// Returns a number at the largest number of processors.
    fn at_most(&self, name: &str, number: fn(&Measured) -> f64) -> f64 {
        self.of(name).curve(number).last().map_or(f64::NAN, |last| last.y)
    }

    /// Describes what a value costs a contender at the largest number of processors, and where they
    /// wait.
    fn costs(&self, name: &str) -> String {
        let misses = |run: &Measured| run.memory.total.misses as f64 / run.handed_out as f64;
        format!(
            "a value takes {name} {:.1} transfers of lines (RDT {:.1}), and processors wait at {}",
            self.at_most(name, misses),
            self.at_most(RDT, misses),
            self.of(name).hottest(MANY as f64)
        )
    }

    /// Compares ST(P) with RDT at equal depth, and counts RDT's changes, at the largest number of
    /// processors.
    fn compared(&self) -> String {
        let times = |one, other| self.at_most(one, throughput) / self.at_most(other, throughput);
        let depth = |name| self.at_most(name, Measured::depth_mean);
        format!(
            "at P = {MANY} {ST_P} is {:.1} deep and RDT {:.1}; {ST_P} with at most {} leaves, {:.1} \
             deep, hands out {:.2} times what RDT does, and {ST_P} itself {:.2} times what RDT does that \
             is kept {:.1} deep with the same prisms; RDT grows {:.0} times in a run, so changes cost \
             it little: where it grows {:.0} times ({EAGER}, {:.1} deep) {ST_P} hands out {:.2} times as \
             much",
            depth(ST_P),
            depth(RDT),
            1 << (DEEPEST - 1),
            depth(CAPPED),
            times(CAPPED, RDT),
            times(ST_P, FULL),
            depth(FULL),
            self.at_most(RDT, unfolds),
            self.at_most(EAGER, unfolds),
            depth(EAGER),
            times(ST_P, EAGER)
        )
    }
}

fn beats(lab: &Lab, ratio: &Curve, papers: f64) -> Claim {
    let claim = Claim::new(
        format!("{} hands out more than RDT (paper: {papers} times at 28)", ratio.name),
        format!("{} / RDT above {} (1 and a margin for noise) at every P", ratio.name, 1.0 + NOISE),
    );
    let (Some(last), Some(least)) = (ratio.last(), ratio.lowest()) else {
        return claim;
    };
    let measured =
        format!("least {:.2} (P = {}); {:.2} at P = {}", least.y, least.x, last.y, last.x);
    claim.judged(measured, lab.judge(least.y > 1.0 + NOISE))
}

/// Describes where decisions by equation 14 do worst, and what those of the printed figure do
/// there.
fn as_printed(times: &Curve, printed: &Curve, otherwise: &str) -> String {
    let least = times.lowest().map_or(f64::NAN, |least| least.x);
    let there = printed.at(least).unwrap_or(f64::NAN);
    format!("as printed {there:.2} at P = {least}; {otherwise}")
}

/// Describes the level from which on no load folds a leaf back.
fn why_deeper() -> String {
    let enough = MACHINE as f64 / competitive_ratio(MACHINE);
    let level = enough.log2().ceil();
    format!(
        "a leaf on level l takes itself for one of 2^l and never sees a load below that; at a load of \
         P / c = {enough:.1} or more nothing is converted back: on level {level} and below a leaf stays \
         for ever. RDT stops growing when waits at its leaves are below {} us",
        BY_HAND.unfold_above / CYCLES_A_US
    )
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
    use crate::figures::curve::tests::curve;

    #[test]
    fn ratios_and_depths_are_judged_at_the_right_places() {
        let lab = Lab::new(false, 1, 1);
        let st = curve(ST, &[(4.0, 5.0), (28.0, 90.0)]);
        let rdt = curve(RDT, &[(4.0, 10.0), (28.0, 10.0)]);
        let ratio = st.over(&rdt);
        let claim = beats(&lab, &ratio, 10.0);
        assert_eq!(claim.measured, "least 0.50 (P = 4); 9.00 at P = 28");
        assert_eq!(claim.holds, Some(false), "at every P");
        let more = curve(ST, &[(4.0, 1.06), (28.0, 9.0)]);
        assert_eq!(beats(&lab, &more, 10.0).holds, Some(true));
        assert_eq!(by_about(&lab, ST, 10.0, 9.0, "").holds, Some(true));
        assert_eq!(by_about(&lab, ST, 1.36, 9.0, "").holds, Some(false));
        assert_eq!(by_about(&lab, ST, 1.5, 1.04, "").holds, Some(false), "that is noise");
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
        let command = |name: &str| {
            let curve = findings.panels[2].series.iter().find(|curve| curve.name == name);
            curve.and_then(|curve| curve.command.clone()).unwrap()
        };
        assert!(command(COUNTED).contains("self-tuning --width 16 --policy census,30"));
        assert!(command("ST as printed").contains("self-tuning --width 16 --policy printed,30"));
        assert!(command(EAGER).contains("reactive --prisms 8,4,2,1 --policy 750,1500,10"));
    }
}
