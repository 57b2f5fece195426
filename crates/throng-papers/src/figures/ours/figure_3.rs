//! Alternates between 4 processors and all, three times, and measures how long each counter takes
//! to find its shape, and whether it keeps it.

use super::*;
use crate::chart::Look;
use crate::figures::{Figure, Findings};
use crate::workloads::parallel::parallel;
use crate::workloads::surge::{Interval, Phase, Surge, SurgeRun};

const FEW: usize = 4;
/// Phases: few, many, few, .. and few at the end.
const PHASES: u64 = 7;
/// Both are powers of two, so that the stretches of time in which notes are counted lie within
/// phases.
const PHASE_CYCLES: u64 = 1 << 22;
const PHASE_CYCLES_SMOKE: u64 = 1 << 15;
/// Intervals in a phase.
const INTERVALS: u64 = 32;
/// Upper bound of the work after each number, in cycles. Without work all processors that count
/// fall into step, and every seed gives the same run.
const WORK: u32 = 16;
const REPETITIONS: u64 = 2;

/// Smallest part of the throughput possible with that number of processors at which a counter has
/// settled. All but a few of the intervals that follow must reach it, too.
const NEAR: f64 = 0.9;
const ALL_BUT_FEW: f64 = 0.9;
/// Parts of a phase, of which the last gives the possible throughput.
const PARTS: usize = 3;
/// Largest mean number of trials of other shapes in half a phase that counts as rare.
const RARE: f64 = 2.0;

/// Reasons why claims do not hold.
const SETTLING_WHY: &str = "a tree that stays deep for the few has nothing to do when the many come, \
    and so is as fast as it can be at once; Counter, which is one word for the few, has to find its \
    groups again";
const FOR_GOOD_WHY: &str = "a tree that does not react has settled at once, at whatever it hands out then; \
    and Counter, which tries other shapes after every change, is not settled for good until the last \
    trial that cost a tenth of an interval";
const MOVES_WHY: &str = "trials in the second half of a phase found a shape that was faster then";

/// The figure.
pub const FIGURE: Figure = Figure {
    id: "THRONG-3",
    title: "from 4 processors to all and back, three times",
    paper: "throng, ours",
    shows: "Counter finds its shape soon after every change of the load, and then keeps it.",
    find,
};

/// A machine on which processors come and go.
struct Scene {
    machine: fn(&Lab) -> MachineSpec,
    name: &'static str,
    many: usize,
    /// The counters, each in the setting in which it hands out most.
    contenders: [Contender; 4],
}

const SCENES: [Scene; 2] = [
    Scene {
        machine: |_| figure_1::server(),
        name: "server",
        many: 192,
        contenders: [THE_DEFAULT, SELF_TUNING, SELF_TUNING_PRISM, figure_1::REACTIVE],
    },
    Scene {
        machine: Lab::alewife,
        name: "alewife",
        many: 256,
        contenders: [THE_DEFAULT, SELF_TUNING, SELF_TUNING_PRISM, figure_2::REACTIVE],
    },
];
const MANY_SMOKE: usize = 16;

/// One counter on one machine, from several seeds.
struct Runs {
    name: &'static str,
    surges: Vec<Surge>,
    /// The best setting, where there was a choice.
    chosen: Option<String>,
}

fn find(lab: &Lab) -> Result<Findings, Error> {
    let mut findings = Findings { setup: setup(lab), panels: Vec::new(), claims: Vec::new() };
    for scene in &SCENES {
        let all = scene.measure(lab)?;
        findings.panels.extend(scene.panels(lab, &all));
        findings.claims.extend(scene.claims(lab, &all));
    }
    Ok(findings)
}

fn setup(lab: &Lab) -> String {
    let machines: Vec<String> = (SCENES.iter())
        .map(|scene| format!("{} of {} processors", scene.name, scene.many(lab)))
        .collect();
    format!(
        "{}; {FEW} and all of them in turn, {} cycles each, {PHASES} phases; work {WORK}, intervals of {} \
         cycles, {} from seed {}",
        machines.join(", "),
        phase_cycles(lab),
        interval_cycles(lab),
        runs_in_words(lab, REPETITIONS),
        lab.seed
    )
}

fn phase_cycles(lab: &Lab) -> u64 {
    lab.pick(PHASE_CYCLES, PHASE_CYCLES_SMOKE)
}

fn interval_cycles(lab: &Lab) -> u64 {
    phase_cycles(lab) / INTERVALS
}

impl Scene {
    fn many(&self, lab: &Lab) -> usize {
        lab.pick(self.many, MANY_SMOKE)
    }

    fn measure(&self, lab: &Lab) -> Result<Vec<Runs>, Error> {
        let seeds = lab.seed..lab.seed + lab.pick(REPETITIONS, 1);
        let settings: Vec<(&'static str, CounterChoice)> = (self.contenders.iter())
            .flat_map(|one| (one.settings)(self.many(lab)).into_iter().map(|s| (one.name, s)))
            .collect();
        let jobs: Vec<SurgeRun> = (settings.iter())
            .flat_map(|(_, counter)| seeds.clone().map(|seed| self.run(lab, counter.clone(), seed)))
            .collect();
        let progress = crate::output::progress_bar(jobs.len());
        progress.set_message(FIGURE.id);
        let mut surges = parallel(&jobs, lab.threads, &progress, SurgeRun::measure).into_iter();
        progress.finish_and_clear();
        let mut best: Vec<Runs> = Vec::new();
        for (name, counter) in settings {
            let surges = surges.by_ref().take(seeds.clone().count()).collect::<Result<_, _>>()?;
            keep_better(&mut best, Runs { name, surges, chosen: None }, &counter.options);
        }
        Ok(best)
    }

    fn run(&self, lab: &Lab, counter: CounterChoice, seed: u64) -> SurgeRun {
        let cycles = phase_cycles(lab);
        let load = |i: u64| if i.is_multiple_of(2) { FEW } else { self.many(lab) };
        let phases = (0..PHASES).map(|i| Phase::new(i * cycles, load(i))).collect();
        let replay = format!("throng figure {} --seed {seed}", FIGURE.id);
        let machine = (self.machine)(lab);
        let run = SurgeRun::new(counter, machine, phases, interval_cycles(lab), PHASES * cycles);
        SurgeRun { seed, replay, work: WORK, ..run }
    }

    fn panels(&self, lab: &Lab, all: &[Runs]) -> Vec<Panel> {
        let time = || Axis::new("time (million cycles)", Scale::Linear);
        let panel = |title: &str, x: Axis, y: &str, series: Vec<Curve>| Panel {
            title: format!("{} of {}: {title}", self.name, self.many(lab)),
            ..Panel::new(x, Axis::new(y, Scale::Linear), series)
        };
        let curves = |number: fn(&Interval) -> f64| -> Vec<Curve> {
            let line = |runs: &Runs| Curve { look: Look::Line, ..runs.over_time(lab, number) };
            all.iter().map(line).collect()
        };
        let changes = Axis::new("change of the load: up, down, up, down, up, down", Scale::Linear);
        let settling = all.iter().map(|runs| runs.settling(lab)).collect();
        vec![
            panel("throughput", time(), "values per million cycles", curves(throughput)),
            panel("depth", time(), "mean depth", curves(|interval| interval.depth_mean)),
            panel("time to settle", changes, "thousand cycles", settling),
        ]
    }

    fn claims(&self, lab: &Lab, all: &[Runs]) -> Vec<Claim> {
        let of = |name: &str| all.iter().find(|runs| runs.name == name).expect("a contender");
        let (counter, rival) = (of(COUNTER), of(ST_P));
        let mark = |claim: Claim| claim.marked(&format!("({}) ", self.name));
        let (mine, theirs) = (counter.settling(lab), rival.settling(lab));
        let for_good = [counter, rival].map(|runs| runs.settling_for_good(lab));
        let others: Vec<Curve> = all.iter().skip(1).map(|runs| runs.whole_phases(lab)).collect();
        vec![
            mark(settles_sooner(lab, "more", 1, &mine, &theirs)),
            mark(settles_sooner(lab, "less", 2, &mine, &theirs)),
            mark(settles_for_good(lab, "more", 1, &for_good)),
            mark(settles_for_good(lab, "less", 2, &for_good)),
            mark(stays(lab, &counter.surges)),
            mark(hands_out_more(lab, &counter.whole_phases(lab), &others)),
        ]
    }
}

fn throughput(interval: &Interval) -> f64 {
    interval.throughput_per_million_cycles
}

/// Adds runs. If the last ones are of the same contender, keeps the better of the two.
fn keep_better(best: &mut Vec<Runs>, runs: Runs, options: &str) {
    match best.last_mut().filter(|last| last.name == runs.name) {
        None if options.is_empty() => best.push(runs),
        None => best.push(Runs { chosen: Some(format!("best setting: {options}")), ..runs }),
        Some(last) if runs.handed_out() > last.handed_out() => {
            *last = Runs { chosen: Some(format!("best setting: {options}")), ..runs };
        }
        Some(_) => {}
    }
}

impl Runs {
    fn handed_out(&self) -> u64 {
        self.surges.iter().map(|surge| surge.handed_out).sum()
    }

    /// Returns `number` over time, in million cycles: the mean of all runs, at the middle of each
    /// interval.
    fn over_time(&self, lab: &Lab, number: fn(&Interval) -> f64) -> Curve {
        let point = |i: u64| {
            let at_i = self.surges.iter().filter_map(|surge| surge.intervals.get(i as usize));
            let numbers: Vec<f64> = at_i.map(number).collect();
            Point::of((i as f64 + 0.5) * interval_cycles(lab) as f64 / 1e6, &numbers)
        };
        let points = (0..PHASES * INTERVALS).map(point).collect();
        Curve { note: self.chosen.clone(), ..Curve::measured(self.name, points) }
    }

    /// Returns the settling time after each change of the load, in thousand cycles. The first phase
    /// is no change.
    fn settling(&self, lab: &Lab) -> Curve {
        let over_time = self.over_time(lab, throughput);
        let phases: Vec<&[Point]> = over_time.points.chunks_exact(INTERVALS as usize).collect();
        let can_do = |first: usize| phases.iter().skip(first).step_by(2).map(|phase| end(phase));
        // With few processors: its throughput before the first phase with many.
        let few = can_do(0).next().unwrap_or(0.0);
        let many = can_do(1).fold(0.0, f64::max);
        let thousands = interval_cycles(lab) as f64 / 1e3;
        let point = |i: usize| {
            let can_do = if i.is_multiple_of(2) { few } else { many };
            Point::exact(i as f64, settled_after(phases[i], can_do) as f64 * thousands)
        };
        Curve::measured(self.name, (1..phases.len()).map(point).collect())
    }

    /// Returns the settling times by this figure's first criterion: near the throughput at the end
    /// of the phase, for good.
    fn settling_for_good(&self, lab: &Lab) -> Curve {
        let over_time = self.over_time(lab, throughput);
        let phases = over_time.points.chunks_exact(INTERVALS as usize).skip(1);
        let thousands = interval_cycles(lab) as f64 / 1e3;
        let point = |(i, phase): (u32, &[Point])| {
            let last_far = phase.iter().rposition(|point| point.y < NEAR * end(phase));
            Point::exact(f64::from(i), last_far.map_or(0.0, |i| (i + 1) as f64 * thousands))
        };
        Curve::measured(self.name, (1..).zip(phases).map(point).collect())
    }

    /// Returns the throughput of each whole phase except the first, which has no change.
    fn whole_phases(&self, lab: &Lab) -> Curve {
        let over_time = self.over_time(lab, throughput);
        let phases = over_time.points.chunks_exact(INTERVALS as usize).skip(1);
        let point = |(i, phase): (u32, &[Point])| Point::exact(f64::from(i), mean(phase));
        Curve::measured(self.name, (1..).zip(phases).map(point).collect())
    }
}

/// Returns the throughput at the end of a phase.
fn end(phase: &[Point]) -> f64 {
    mean(&phase[phase.len() - phase.len() / PARTS..])
}

/// Returns the number of intervals after which the throughput is near `can_do`, and stays near in
/// all but a few of the intervals that follow. Returns the number of all intervals where it never
/// is.
fn settled_after(phase: &[Point], can_do: f64) -> usize {
    let is_near = |point: &Point| point.y >= NEAR * can_do;
    let has_settled = |i: &usize| {
        let near = phase[*i..].iter().filter(|point| is_near(point)).count();
        is_near(&phase[*i]) && near as f64 >= ALL_BUT_FEW * (phase.len() - i) as f64
    };
    (0..phase.len()).find(has_settled).unwrap_or(phase.len())
}

fn mean(points: &[Point]) -> f64 {
    points.iter().map(|point| point.y).sum::<f64>() / points.len() as f64
}

/// Judges settling by this figure's first criterion. By it, a tree that does not react settles at
/// once, and a short trial unsettles Counter. The other criterion was made after that had been
/// seen.
fn settles_for_good(lab: &Lab, load: &str, first: usize, [mine, theirs]: &[Curve; 2]) -> Claim {
    let claim = settles_sooner(lab, load, first, mine, theirs);
    let expected = format!(
        "throughput for good at least {NEAR} of its own mean at the end of the phase, sooner"
    );
    Claim { expected, ..claim }.marked("(by its own end) ").because(FOR_GOOD_WHY)
}

/// Judges settling after every second change of the load, from `first` on.
fn settles_sooner(lab: &Lab, load: &str, first: usize, mine: &Curve, theirs: &Curve) -> Claim {
    let pairs: Vec<(f64, f64)> = (mine.points.iter().zip(&theirs.points))
        .skip(first - 1)
        .step_by(2)
        .map(|(one, other)| (one.y, other.y))
        .collect();
    let list = |ys: Vec<f64>| ys.iter().map(|y| format!("{y:.0}")).collect::<Vec<_>>().join(", ");
    let measured = format!(
        "after {} thousand cycles, {} after {}",
        list(pairs.iter().map(|pair| pair.0).collect()),
        theirs.name,
        list(pairs.iter().map(|pair| pair.1).collect())
    );
    Claim::new(
        format!("each time the load is {load}, {COUNTER} settles sooner than {}", theirs.name),
        format!(
            "throughput at least {NEAR} of what it can do with so many (with few: before the first \
             crowd), in that interval and {:.0} % of the rest of the phase, sooner; the whole phase \
             where it never is",
            100.0 * ALL_BUT_FEW
        ),
    )
    .judged(measured, lab.judge(pairs.iter().all(|(one, other)| one < other)))
    .because(SETTLING_WHY)
}

/// Judges the throughput of every phase, settling included. Unlike settling times, it shows a
/// counter that does not react at all.
fn hands_out_more(lab: &Lab, counter: &Curve, others: &[Curve]) -> Claim {
    let claim = Claim::new(
        "in every phase Counter hands out more than the trees, settling included",
        "Counter / best of ST, ST(P), RDT above 1 in each phase after the first",
    );
    let ratios = ratios(counter, &others.iter().collect::<Vec<_>>(), 0.0, f64::INFINITY);
    let Some(worst) = ratios.iter().min_by(|a, b| a.times.total_cmp(&b.times)) else {
        return claim;
    };
    let measured =
        format!("at worst {:.2} times {} (change {})", worst.times, worst.rival, worst.x);
    claim.judged(measured, lab.judge(worst.times > 1.0))
}

/// Returns how often `what` was noted in the second halves of all phases, in all runs together.
fn noted_late(lab: &Lab, surges: &[Surge], what: &str) -> u64 {
    let late = |cycle: u64| cycle % phase_cycles(lab) >= phase_cycles(lab) / 2;
    let stretches = surges.iter().flat_map(|surge| surge.notes.over_time(what));
    stretches.filter(|stretch| late(stretch.start_cycle)).map(|stretch| stretch.count).sum()
}

fn stays(lab: &Lab, surges: &[Surge]) -> Claim {
    let halves = PHASES * surges.len() as u64;
    let (changes, moves) =
        (noted_late(lab, surges, "changed to"), noted_late(lab, surges, "moved home to"));
    // A trial that fails changes the shape twice; a trial that succeeds is a move.
    let trials = changes.saturating_sub(moves) as f64 / 2.0;
    let measured = format!(
        "{moves} moves and {trials} trials in {halves} half phases of {} million cycles",
        phase_cycles(lab) as f64 / 2e6
    );
    let rare = trials <= RARE * halves as f64;
    Claim::new(
        format!("under a steady load {COUNTER} keeps its shape"),
        format!(
            "in the second half of every phase home does not move, and at most {RARE} trials of other \
             shapes in one on the average"
        ),
    )
    .judged(measured, lab.judge(moves == 0 && rare))
    .because(MOVES_WHY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::curve::tests::curve;

    fn phase(ys: &[f64]) -> Vec<Point> {
        ys.iter().map(|&y| Point::exact(0.0, y)).collect()
    }

    #[test]
    fn a_counter_has_settled_when_it_stays_near_its_end() {
        let after = |ys: &[f64]| settled_after(&phase(ys), 10.0);
        assert_eq!(after(&[1.0, 5.0, 9.5, 10.0, 10.0, 10.0]), 2);
        assert_eq!(after(&[10.0, 10.0, 8.0, 10.0, 10.0, 10.0]), 3, "one of six is not few");
        assert_eq!(after(&[10.0; 9].iter().chain(&[1.0, 10.0]).copied().collect::<Vec<_>>()), 0);
        assert_eq!(after(&[5.0, 5.0, 5.0]), 3, "it never does");
    }

    #[test]
    fn ups_and_downs_are_judged_apart() {
        let lab = Lab::new(false, 1, 1);
        let mine = curve(COUNTER, &[(1.0, 5.0), (2.0, 9.0), (3.0, 6.0), (4.0, 1.0)]);
        let theirs = curve(ST_P, &[(1.0, 7.0), (2.0, 8.0), (3.0, 8.0), (4.0, 8.0)]);
        let up = settles_sooner(&lab, "more", 1, &mine, &theirs);
        assert_eq!(up.measured, "after 5, 6 thousand cycles, ST(P) after 7, 8");
        assert_eq!(up.holds, Some(true));
        assert_eq!(settles_sooner(&lab, "less", 2, &mine, &theirs).holds, Some(false));
        assert_eq!(hands_out_more(&lab, &theirs, &[mine]).holds, Some(false), "8 of 9");
    }

    #[test]
    fn a_small_one_can_be_made() {
        let findings = find(&Lab::new(true, 1, 2)).unwrap();
        assert_eq!((findings.panels.len(), findings.claims.len()), (6, 12));
        assert!(findings.claims.iter().all(|claim| claim.holds.is_none()), "too small to judge");
        let points = findings.panels[0].series[0].points.len() as u64;
        assert_eq!(points, PHASES * INTERVALS);
    }
}
