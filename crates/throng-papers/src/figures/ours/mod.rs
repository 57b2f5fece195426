//! Figures of our own: the default [`Counter`](throng::Counter) and the default
//! [`Barrier`](throng::Barrier), without tuning, against everything from the papers, tuned.
//!
//! A rival with parameters (a width, thresholds) gets the best of several *settings* at each number
//! of processors, with hindsight. So at every point a rival is at least as good as any one of these
//! settings could make it.
//!
//! One figure is about counters of messages, which have no default yet: it shows which to use on a
//! cluster.

pub mod figure_1;
pub mod figure_2;
pub mod figure_3;
pub mod figure_4;
pub mod figure_5;

use std::rc::Rc;

use throng::structures::counter::self_tuning::policy::Policy;
use throng_sim::MachineSpec;

use super::Panel;
use super::claim::Claim;
use super::curve::{Curve, Point};
use super::lab::{Lab, Row};
use crate::chart::{Axis, Scale};
use crate::error::Error;
use crate::workloads::measured::Measured;
use crate::workloads::self_tuning::{self, Tuned};
use crate::workloads::{CounterChoice, CountingRun};

const COUNTER: &str = "Counter";
const FETCH_ADD: &str = "fetch_add";
const ST: &str = "ST";
const ST_P: &str = "ST(P)";
const RDT: &str = "RDT";

/// A curve of a figure.
struct Contender {
    name: &'static str,
    /// Returns the settings for a machine of this number of processors. Their number is the same on
    /// every machine.
    settings: fn(usize) -> Vec<CounterChoice>,
}

const THE_DEFAULT: Contender = Contender { name: COUNTER, settings: |_| one("counter") };
const HARDWARE: Contender = Contender { name: FETCH_ADD, settings: |_| one("hardware") };
const SELF_TUNING: Contender = Contender { name: ST, settings: |p| tuning("self-tuning", p) };
const SELF_TUNING_PRISM: Contender =
    Contender { name: ST_P, settings: |p| tuning("self-tuning-prism", p) };

/// Returns a method in its own default setting.
fn one(method: &str) -> Vec<CounterChoice> {
    vec![named(method, None)]
}

fn named(method: &str, width: Option<usize>) -> CounterChoice {
    CounterChoice::named(method, width).expect("a method of the library")
}

fn widths(method: &str, widths: &[usize]) -> Vec<CounterChoice> {
    widths.iter().map(|&width| named(method, Some(width))).collect()
}

/// Returns self-tuning trees with at most `processors` leaves: as their paper has them, and with
/// our census, which is better with many processors.
fn tuning(method: &str, processors: usize) -> Vec<CounterChoice> {
    let tree = |policy| {
        let tuned = Tuned { policy, processors };
        self_tuning::tree(method, processors.ilog2(), tuned).expect("a method of the library")
    };
    [Policy::Threat, Policy::Census].map(tree).to_vec()
}

/// The index distribution benchmark on several numbers of processors.
struct Experiment {
    figure: &'static str,
    work: u32,
    machine: fn(&Lab) -> MachineSpec,
    /// Processors of the machine. `None`: as many as take numbers.
    nodes: Option<usize>,
    processors: &'static [usize],
    values: u64,
    /// Numbers handed out before the measurement begins, in which self-tuning counters adapt.
    warm_up: u64,
    repetitions: u64,
}

const PROCESSORS_SMOKE: [usize; 2] = [4, 16];
const VALUES_SMOKE: u64 = 600;
const WARM_UP_SMOKE: u64 = 200;

impl Experiment {
    /// Returns, for each contender, its best runs at each number of processors, by throughput.
    fn rows(&self, lab: &Lab, contenders: &[Contender]) -> Result<Vec<Best>, Error> {
        let settings: Vec<usize> =
            contenders.iter().map(|contender| (contender.settings)(1).len()).collect();
        let rows = contenders.iter().zip(&settings).flat_map(|(contender, &count)| {
            (0..count).map(|i| (contender.name.to_owned(), self.runs(lab, contender, i)))
        });
        let rows: Vec<_> = rows.collect();
        let options: Vec<Vec<String>> = (rows.iter())
            .map(|(_, runs)| runs.iter().map(|(_, run)| run.counter.options.clone()).collect())
            .collect();
        let mut swept = lab.sweep(self.figure, self.repetitions, rows)?.into_iter().zip(options);
        let best = |count: usize| Best::of(swept.by_ref().take(count).collect());
        Ok(settings.into_iter().map(best).collect())
    }

    /// Returns the runs of a contender's `i`-th setting, one for each number of processors.
    fn runs(&self, lab: &Lab, contender: &Contender, i: usize) -> Vec<(f64, CountingRun)> {
        let run = |&processors: &usize| {
            let counter = (contender.settings)(self.nodes.unwrap_or(processors)).remove(i);
            let run = CountingRun {
                processors,
                nodes: self.nodes,
                values: lab.pick(self.warm_up + self.values, VALUES_SMOKE),
                warm_up: lab.pick(self.warm_up, WARM_UP_SMOKE),
                work: self.work,
                ..CountingRun::new(counter, (self.machine)(lab))
            };
            (processors as f64, run)
        };
        lab.pick(self.processors, &PROCESSORS_SMOKE[..]).iter().map(run).collect()
    }

    fn setup(&self, lab: &Lab) -> String {
        let of = self.nodes.map_or("as many processors as take numbers".to_owned(), |nodes| {
            format!("{nodes} processors")
        });
        format!(
            "{} of {of}, work {}, {} values after {} that are ignored, {} from seed {}",
            (self.machine)(lab).name,
            self.work,
            lab.pick(self.values, VALUES_SMOKE - WARM_UP_SMOKE),
            lab.pick(self.warm_up, WARM_UP_SMOKE),
            runs_in_words(lab, self.repetitions),
            lab.seed
        )
    }
}

fn runs_in_words(lab: &Lab, repetitions: u64) -> String {
    match lab.pick(repetitions, 1) {
        1 => "1 run".to_owned(),
        several => format!("mean of {several} runs"),
    }
}

/// The best of some settings at each number of processors.
struct Best {
    row: Row,
    /// The chosen settings, where there was a choice.
    chosen: Option<String>,
}

impl Best {
    /// Picks the best of rows with the same numbers of processors. Each row comes with its options
    /// at each of them.
    fn of(settings: Vec<(Row, Vec<String>)>) -> Self {
        let speed = |runs: &[Rc<Measured>]| runs.iter().map(|run| throughput(run)).sum::<f64>();
        let best_at = |i: usize| {
            let of_all = settings
                .iter()
                .max_by(|a, b| speed(&a.0.cells[i].1).total_cmp(&speed(&b.0.cells[i].1)));
            of_all.expect("a contender has a setting")
        };
        let points = settings[0].0.cells.len();
        let cell = |i: usize| {
            let (x, runs) = &best_at(i).0.cells[i];
            (*x, runs.clone())
        };
        let choice = |i: usize| (settings[0].0.cells[i].0, best_at(i).1[i].as_str());
        let row = Row {
            name: settings[0].0.name.clone(),
            command: best_at(points - 1).0.command.clone(),
            cells: (0..points).map(cell).collect(),
        };
        let choices: Vec<(f64, &str)> = (0..points).map(choice).collect();
        Best { row, chosen: (settings.len() > 1).then(|| in_words(&choices)) }
    }

    fn curve(&self, number: fn(&Measured) -> f64) -> Curve {
        Curve { note: self.chosen.clone(), ..self.row.curve(number) }
    }
}

/// Describes which setting was best from which number of processors on.
fn in_words(choices: &[(f64, &str)]) -> String {
    let mut changes: Vec<(f64, &str)> = Vec::new();
    for &(x, options) in choices {
        if changes.last().is_none_or(|last| last.1 != options) {
            changes.push((x, options));
        }
    }
    let words: Vec<String> =
        changes.iter().map(|(x, options)| format!("from P = {x} {options}")).collect();
    format!("best settings: {}", words.join(", "))
}

fn throughput(run: &Measured) -> f64 {
    run.throughput_per_million_cycles
}

/// Returns the curve of this name.
fn find_curve<'a>(curves: &'a [Curve], name: &str) -> &'a Curve {
    curves.iter().find(|curve| curve.name == name).expect("every contender has a curve")
}

/// The ratio of a counter to the best of its rivals, that rival's name, and the number of
/// processors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ratio<'a> {
    times: f64,
    rival: &'a str,
    x: f64,
}

/// Returns the ratio at each point of `counter` from `least` to `most`.
fn ratios<'a>(counter: &Curve, rivals: &[&'a Curve], least: f64, most: f64) -> Vec<Ratio<'a>> {
    let ratio = |point: Point| {
        let at_x = rivals.iter().filter_map(|rival| Some((rival.at(point.x)?, &rival.name)));
        let (best, rival) = at_x.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Ratio { times: point.y / best, rival, x: point.x })
    };
    counter.between(least, most).into_iter().filter_map(ratio).collect()
}

/// Judges that the counter has at least `times` the throughput of the best of its rivals, at every
/// ratio.
fn at_least(lab: &Lab, claim: Claim, times: f64, ratios: &[Ratio<'_>]) -> Claim {
    let Some(worst) = ratios.iter().min_by(|a, b| a.times.total_cmp(&b.times)) else {
        return claim;
    };
    let misses = ratios.iter().filter(|ratio| ratio.times < times).count();
    let others = if misses > 1 {
        format!("; below at {misses} of {} P", ratios.len())
    } else {
        String::new()
    };
    let measured =
        format!("at worst {:.2} times {} (P = {}){others}", worst.times, worst.rival, worst.x);
    claim.judged(measured, lab.judge(worst.times >= times))
}

/// Returns ratios as a curve.
fn ratio_curve(name: &str, ratios: &[Ratio<'_>]) -> Curve {
    Curve::measured(name, ratios.iter().map(|ratio| Point::exact(ratio.x, ratio.times)).collect())
}

fn panel(title: &str, y: Axis, series: Vec<Curve>) -> Panel {
    let x = Axis::new("processors", Scale::Log2);
    Panel { title: title.to_owned(), ..Panel::new(x, y, series) }
}

fn throughput_axis() -> Axis {
    Axis::new("throughput (values per million cycles)", Scale::Linear)
}

#[cfg(test)]
mod tests {
    use super::super::curve::tests::curve;
    use super::*;

    #[test]
    fn the_best_setting_is_chosen_at_each_number_of_processors() {
        let lab = Lab::new(true, 1, 2);
        let experiment = Experiment {
            figure: "x",
            work: 0,
            machine: |_| MachineSpec::ideal(10),
            nodes: None,
            processors: &[],
            values: 0,
            warm_up: 0,
            repetitions: 1,
        };
        let both = Contender {
            name: "both",
            settings: |_| [one("hardware"), widths("diffracting", &[2])].concat(),
        };
        let rows = experiment.rows(&lab, &[HARDWARE, both]).unwrap();
        let [word, best] = [0, 1].map(|i| rows[i].curve(throughput));
        assert_eq!((word.note.as_deref(), best.note.is_some()), (None, true));
        for point in &word.points {
            assert!(best.at(point.x).unwrap() >= point.y, "at {}", point.x);
        }
    }

    #[test]
    fn settings_are_named_where_they_change() {
        let choices = [(1.0, "--width 2"), (4.0, "--width 2"), (8.0, "--width 4")];
        assert_eq!(in_words(&choices), "best settings: from P = 1 --width 2, from P = 8 --width 4");
    }

    #[test]
    fn a_counter_is_compared_with_the_best_of_its_rivals() {
        let lab = Lab::new(false, 1, 1);
        let counter = curve(COUNTER, &[(1.0, 9.0), (8.0, 8.0), (64.0, 30.0)]);
        let low = curve("low", &[(1.0, 10.0), (8.0, 5.0), (64.0, 10.0)]);
        let high = curve("high", &[(1.0, 1.0), (8.0, 10.0), (64.0, 20.0)]);
        let ratios = ratios(&counter, &[&low, &high], 1.0, 64.0);
        let rivals: Vec<&str> = ratios.iter().map(|ratio| ratio.rival).collect();
        assert_eq!(rivals, ["low", "high", "high"]);
        let judged = |times| at_least(&lab, Claim::new("", ""), times, &ratios);
        assert_eq!(judged(0.8).holds, Some(true));
        let missed = judged(0.95);
        assert_eq!(missed.holds, Some(false));
        assert_eq!(missed.measured, "at worst 0.80 times high (P = 8); below at 2 of 3 P");
        assert_eq!(at_least(&lab, Claim::new("", ""), 1.0, &[]).holds, None);
    }
}
