use throng::machine::SplitMix64;

use super::judge::{Change, Drift};
use super::*;
use crate::survey::document::{Entrant, Unit, Whose};
use crate::survey::sample::{entrant, need, survey};

const THREADS: [usize; 5] = [1, 2, 4, 8, 16];

/// A noisy machine.
struct Noise {
    random: SplitMix64,
    /// The standard deviation, as a part of the value.
    part: f64,
    /// One run in this many takes up to three times as long.
    hiccup_every: Option<u64>,
}

impl Noise {
    fn new(seed: u64, part: f64) -> Self {
        Noise { random: SplitMix64::from_state(seed), part, hiccup_every: None }
    }

    fn uniform(&mut self) -> f64 {
        self.random.below(1 << 32) as f64 / f64::from(u32::MAX)
    }

    /// Returns the noisy time of a run of this time.
    fn run(&mut self, value: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        let hiccup = match self.hiccup_every {
            Some(every) if self.random.below(every) == 0 => 1.0 + 2.0 * self.uniform(),
            _ => 1.0,
        };
        value * (self.part * normal).exp() * hiccup
    }
}

/// The factor by which a structure is slower than before, on a number of threads.
type Worse<'a> = &'a dyn Fn(&str, usize) -> f64;

/// 60 structures on 5 numbers of threads, 300 cells: half of them peers, a few ours, the others methods; times
/// and rates.
fn large(runs: usize, noise: &mut Noise, worse: Worse<'_>) -> Survey {
    let needs = (0..6).map(|number| {
        let unit = if number % 2 == 0 { Unit::NanosecondsARound } else { Unit::MillionPerSecond };
        let entrants = (0..10).map(|entrant| {
            let (name, whose) = match entrant {
                0 => ("ours".to_owned(), Whose::Ours),
                1..5 => (format!("method-{entrant}"), Whose::Method),
                _ => (format!("peer-{entrant}"), Whose::Peer),
            };
            one(&name, whose, unit, runs, noise, worse)
        });
        need(&format!("need-{number}"), unit, entrants.collect())
    });
    survey(needs.collect())
}

fn one(
    name: &str,
    whose: Whose,
    unit: Unit,
    runs: usize,
    noise: &mut Noise,
    worse: Worse<'_>,
) -> Entrant {
    let cells = THREADS.map(|threads| {
        let ns = 100.0 * threads as f64 * worse(name, threads);
        let run = |noise: &mut Noise| {
            let ns = noise.run(ns);
            if unit.more_is_better() { 1000.0 / ns } else { ns }
        };
        (threads, (0..runs).map(|_| run(noise)).collect())
    });
    entrant(name, whose, &cells)
}

const SAME: Worse<'static> = &|_, _| 1.0;

fn found(judged: &Judged, verdict: Verdict) -> Vec<&Change> {
    judged.changes.iter().filter(|change| change.verdict == verdict).collect()
}

#[test]
fn reports_of_the_same_program_do_not_differ() {
    const COMPARISONS: u64 = 100;
    for (runs, part, hiccup_every) in
        [(3, 0.05, None), (5, 0.05, None), (5, 0.2, Some(10)), (9, 0.1, Some(20))]
    {
        let mut alarms = 0;
        for seed in 0..COMPARISONS {
            let mut noise = Noise { hiccup_every, ..Noise::new(seed, part) };
            let old = large(runs, &mut noise, SAME);
            let new = large(runs, &mut noise, SAME);
            let judged = judge(&old, &new, LEAST_PERCENT);
            assert_eq!(judged.changes.len(), 300);
            alarms += u64::from(judged.changes.iter().any(|change| change.verdict.is_change()));
        }
        assert!(alarms * 20 < COMPARISONS, "{runs} runs, noise {part}: {alarms} false alarms");
    }
}

#[test]
fn without_a_least_change_the_ranks_alone_keep_false_alarms_rare() {
    // Without peers they set no margin either.
    const COMPARISONS: u64 = 100;
    let mut alarms = 0;
    for seed in 0..COMPARISONS {
        let mut noise = Noise::new(seed, 0.3);
        let mut pair = [large(5, &mut noise, SAME), large(5, &mut noise, SAME)];
        for entrant in
            pair.iter_mut().flat_map(|survey| &mut survey.needs).flat_map(|need| &mut need.entrants)
        {
            entrant.whose = Whose::Method;
        }
        let judged = judge(&pair[0], &pair[1], 0.0);
        assert_eq!((judged.drift, judged.margin_percent), (None, 0.0));
        alarms += u64::from(judged.changes.iter().any(|change| change.verdict.is_change()));
    }
    assert!(alarms * 20 < COMPARISONS, "{alarms} false alarms");
}

#[test]
fn one_structure_that_is_30_percent_slower_is_found() {
    for runs in [5, 7, 9] {
        for seed in 0..20 {
            let mut noise = Noise::new(seed, 0.05);
            let old = large(runs, &mut noise, SAME);
            let slower = |name: &str, _| if name == "method-3" { 1.3 } else { 1.0 };
            let mut new = large(runs, &mut noise, &slower);
            // A change in one need only.
            let (changed, same) = new.needs.split_at_mut(1);
            let place = old.needs[0].entrants.iter().position(|e| e.name == "method-3").unwrap();
            for (need, old) in same.iter_mut().zip(&old.needs[1..]) {
                need.entrants[place] = old.entrants[place].clone();
            }
            assert_eq!(changed[0].name, "need-0");
            let judged = judge(&old, &new, LEAST_PERCENT);
            let slower = found(&judged, Verdict::Slower);
            assert!(slower.len() >= 4, "{runs} runs, seed {seed}: {slower:?}");
            assert!(slower.iter().all(|c| (&*c.need, &*c.entrant) == ("need-0", "method-3")));
            assert_eq!(judged.slower_of_ours(), 1);
            assert!(slower.iter().all(|change| (0.6..0.95).contains(&change.beside_drift)));
        }
    }
}

#[test]
fn with_three_runs_a_change_on_all_threads_is_found_and_one_on_two_is_unclear() {
    let mut noise = Noise::new(1, 0.05);
    let old = large(3, &mut noise, SAME);
    let everywhere = |name: &str, _| if name == "ours" { 1.5 } else { 1.0 };
    let judged = judge(&old, &large(3, &mut noise, &everywhere), LEAST_PERCENT);
    assert_eq!(judged.slower_of_ours(), 6);

    let crowded = |name: &str, threads| if name == "ours" && threads > 4 { 2.0 } else { 1.0 };
    let judged = judge(&old, &large(3, &mut noise, &crowded), LEAST_PERCENT);
    // Where noise makes a third number of threads look slower as well, it is taken for a change.
    assert!(judged.slower_of_ours() <= 2);
    let unclear = found(&judged, Verdict::Unclear);
    assert!(unclear.iter().filter(|change| change.entrant == "ours").count() >= 8);
}

#[test]
fn with_five_runs_two_neighbours_are_enough_and_with_nine_one() {
    for (runs, above) in [(5, 4), (9, 8)] {
        let mut noise = Noise::new(7, 0.05);
        let old = large(runs, &mut noise, SAME);
        let crowded =
            |name: &str, threads| if name == "ours" && threads > above { 2.0 } else { 1.0 };
        let judged = judge(&old, &large(runs, &mut noise, &crowded), LEAST_PERCENT);
        assert_eq!(judged.slower_of_ours(), 6, "{runs} runs");
        assert!(found(&judged, Verdict::Slower).iter().all(|change| change.threads > above));
    }
}

#[test]
fn a_machine_that_is_slower_as_a_whole_is_no_change_of_ours() {
    let mut noise = Noise::new(3, 0.05);
    let old = large(5, &mut noise, SAME);
    let new = large(5, &mut noise, &|_, _| 2.0);
    let comparison = Comparison::of(&old, &new, LEAST_PERCENT);
    let drift = comparison.judged.drift.unwrap();
    assert_eq!(drift.cells, 150);
    assert!((0.47..0.53).contains(&drift.times), "{drift:?}");
    assert_eq!((comparison.counts.faster, comparison.counts.slower), (0, 0));
    let text = text::text(&comparison);
    assert!(text.contains("The peers changed together: the machine is slower or busier"), "{text}");
    assert!(text.contains("Nothing got faster or slower"), "{text}");

    let all_but_ours = |name: &str, _| if name == "ours" { 1.0 } else { 2.0 };
    let judged = judge(&old, &large(5, &mut noise, &all_but_ours), LEAST_PERCENT);
    let faster = found(&judged, Verdict::Faster);
    assert!(faster.len() >= 28 && faster.iter().all(|change| change.entrant == "ours"));
}

#[test]
fn peers_that_get_slower_are_told_and_no_failure() {
    let mut noise = Noise::new(4, 0.05);
    let old = large(5, &mut noise, SAME);
    let new = large(5, &mut noise, &|name, _| if name == "peer-7" { 1.5 } else { 1.0 });
    let comparison = Comparison::of(&old, &new, LEAST_PERCENT);
    assert!(comparison.counts.slower >= 28);
    assert_eq!(comparison.slower_structures, 0);
    assert!(text::text(&comparison).contains("peer-7 (peer)"));
}

#[test]
fn where_peers_differ_by_much_so_may_ours() {
    // Every structure keeps its own error through all runs of a report, which no test of runs can
    // see.
    let lucky = |seed: u64, ours: f64| {
        let mut noise = Noise::new(seed, 0.02);
        let mut luck = Noise::new(seed + 100, 0.2);
        let mut survey = large(9, &mut noise, SAME);
        for entrant in survey.needs.iter_mut().flat_map(|need| &mut need.entrants) {
            let times = luck.run(if entrant.whose == Whose::Peer { 1.0 } else { ours });
            for cell in &mut entrant.cells {
                cell.median *= times;
                cell.runs.iter_mut().for_each(|run| *run *= times);
            }
        }
        survey
    };
    let judged = judge(&lucky(1, 1.0), &lucky(2, 1.0), LEAST_PERCENT);
    let Drift { usual_percent, .. } = judged.drift.unwrap();
    assert!(usual_percent > 10.0 && judged.margin_percent > 3.0 * usual_percent);
    let changed = judged.changes.iter().filter(|change| change.verdict.is_change()).count();
    assert!(changed < 30, "{changed} of 300");
}

#[test]
fn a_report_is_as_good_as_itself() {
    let survey = large(5, &mut Noise::new(5, 0.1), SAME);
    let comparison = Comparison::of(&survey, &survey, 0.0);
    let Counts { unchanged, only_old, only_new, .. } = comparison.counts;
    assert_eq!((unchanged, only_old, only_new), (300, 0, 0));
    assert_eq!(comparison.warnings, [""; 0]);
}

#[test]
fn what_only_one_has_and_what_is_no_number_is_left_out() {
    let runs = |value: f64| vec![(1, vec![value; 5]), (2, vec![value; 5])];
    let unit = Unit::MillionPerSecond;
    let old = survey(vec![need(
        "numbers",
        unit,
        vec![entrant("a", Whose::Ours, &runs(1.0)), entrant("gone", Whose::Method, &runs(1.0))],
    )]);
    let mut new = survey(vec![
        need("numbers", unit, vec![entrant("a", Whose::Ours, &runs(1.0))]),
        need("loop", Unit::MicrosecondsALoop, vec![entrant("b", Whose::Ours, &runs(1.0))]),
    ]);
    new.needs[0].entrants[0].cells[1].median = 0.0;
    let judged = judge(&old, &new, LEAST_PERCENT);
    assert_eq!(judged.changes.len(), 1);
    let names = |lone: &[judge::Lone]| -> Vec<String> {
        lone.iter().map(|lone| format!("{} {}", lone.entrant, lone.threads)).collect()
    };
    assert_eq!(names(&judged.only_old), ["a 2", "gone 1", "gone 2"]);
    assert_eq!(names(&judged.only_new), ["b 1", "b 2"]);

    // Another unit is another measurement.
    new.needs[0].unit = Unit::NanosecondsARound;
    assert!(judge(&old, &new, LEAST_PERCENT).changes.is_empty());
}

#[test]
fn other_machines_paces_and_early_ends_are_warned_of() {
    let old = survey(Vec::new());
    let mut new = survey(Vec::new());
    new.setup.flag_ns = Some(80.0);
    assert_eq!(warnings(&old, &new), [""; 0], "how long a flag takes is noise");
    new.setup.cores = 8;
    new.pace = Pace::Full;
    new.complete = false;
    let said = warnings(&old, &new);
    assert_eq!(said.len(), 3);
    assert!(said[0].contains("not of the same machine"));
    assert!(said[1].contains("`usual`") && said[1].contains("`full`"));
    assert!(said[2].contains("The new one was ended early"));
}
