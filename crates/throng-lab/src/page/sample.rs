//! Invented surveys for tests: of small and large machines, and odd ones.

use crate::bench::latency::Latency;
use crate::bench::setup::Setup;
use crate::calibrate::{Calibration, Compared, Cost, Prospect, Validation};
use crate::survey::document::{Advice, Cell, Entrant, Gain, Layout, Need, Survey, Unit, Whose};
use crate::survey::sample;

/// A fixed sequence of numbers, random enough to look measured.
struct Dice(u64);

impl Dice {
    /// Draws a number between -1 and 1.
    fn throw(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    }
}

/// An entrant's result on one thread, and its change with each doubling.
struct Made(&'static str, &'static str, Whose, f64, f64);

/// Returns a survey of a machine with this number of processors, with everything that a survey may
/// have.
pub(crate) fn survey(processors: usize) -> Survey {
    let groups: Vec<usize> = [2, 8, 64].into_iter().filter(|&size| size < processors).collect();
    let needs = needs(processors);
    let validation = validation(&needs, processors);
    Survey {
        seconds: 161.8,
        setup: Setup {
            processor: "Imaginary(R) Loom 4100".to_owned(),
            cores: processors,
            pinned: true,
            flag_ns: (processors > 1).then_some(61.25),
        },
        layout: Layout { processors, groups, cores: (0..processors).collect() },
        calibration: Some(calibration(processors)),
        validation: Some(validation),
        ..sample::survey(needs)
    }
}

/// Returns a survey that was interrupted: a part of a need, and nothing of the machine.
pub(crate) fn incomplete() -> Survey {
    let mut survey = survey(2);
    survey.complete = false;
    survey.needs.truncate(2);
    survey.needs[1].entrants.truncate(2);
    survey.needs[1].entrants[1].cells.truncate(1);
    survey.needs[1].advice = None;
    Survey { calibration: None, validation: None, ..survey }
}

/// Returns a survey without any need.
pub(crate) fn empty() -> Survey {
    Survey { needs: Vec::new(), calibration: None, validation: None, ..survey(1) }
}

/// Returns a survey with everything that should not be in it: NaN, zeros, names that are code,
/// groups that do not divide, rows of different length.
pub(crate) fn odd() -> Survey {
    let mut survey = survey(5);
    let evil = "</script><script>alert(1)</script><!-- \"'&{{survey}}";
    survey.setup.processor = evil.to_owned();
    survey.setup.flag_ns = Some(f64::NAN);
    survey.seconds = f64::NAN;
    survey.date = evil.to_owned();
    survey.layout = Layout { processors: 5, groups: vec![0, 2, 3, 7], cores: vec![4] };
    let need = &mut survey.needs[0];
    (need.title, need.workload, need.usual) = (evil.to_owned(), evil.to_owned(), evil.to_owned());
    need.entrants[0].name = evil.to_owned();
    need.entrants[1].cells.clear();
    for (cell, number) in
        need.entrants[2].cells.iter_mut().zip([f64::NAN, 0.0, f64::INFINITY, -1.0])
    {
        (cell.median, cell.min, cell.max) = (number, number, number);
        cell.runs.clear();
    }
    need.entrants[2].cells[0].threads = 0;
    let advice = need.advice.as_mut().expect("every need of a sample has advice");
    (advice.code, advice.words) = (evil.to_owned(), evil.to_owned());
    for (gain, number) in advice.gains.iter_mut().zip([f64::NAN, 0.0, f64::INFINITY]) {
        gain.times = number;
    }
    let latency = Latency { p50_ns: f64::NAN, p99_ns: 0.0, p999_ns: f64::INFINITY, max_ns: -1.0 };
    survey.needs[2].entrants[0].cells[0].latency = Some(latency);
    survey.needs[1].entrants.clear();
    survey.needs[1].advice = None;
    for entrant in &mut survey.needs[2].entrants {
        entrant.cells.truncate(1);
    }
    let calibration = survey.calibration.as_mut().expect("a sample has a calibration");
    calibration.transfer_ns[0].truncate(2);
    calibration.transfer_ns[1][0] = f64::NAN;
    calibration.cores.clear();
    calibration.costs[0] = Cost { name: evil.to_owned(), ns: f64::NAN };
    calibration.machine = evil.to_owned();
    calibration.notes.push(evil.to_owned());
    (calibration.pairs, calibration.spread) = (0, f64::NAN);
    let validation = survey.validation.as_mut().expect("a sample has a validation");
    validation.rows[0].measured = 0.0;
    validation.rows[0].entrant = evil.to_owned();
    validation.prospects[0].need = evil.to_owned();
    survey
}

fn needs(processors: usize) -> Vec<Need> {
    use Whose::{Method, Ours, Peer};
    let all = [
        (
            "numbers",
            "Give every caller its own number",
            "All threads take numbers from one counter as fast as they can. Every number is handed out once.",
            Unit::MillionPerSecond,
            "Counter",
            vec![
                Made("Counter", "throng::Counter", Ours, 92.0, 1.02),
                Made("fetch_add", "std::sync::atomic::AtomicU64", Peer, 108.0, 0.63),
                Made("Mutex<u64>", "std::sync::Mutex<u64>", Peer, 55.0, 0.41),
                Made(
                    "MCS queue lock",
                    "throng::structures::counter::QueueLock",
                    Method,
                    40.0,
                    0.52,
                ),
                Made(
                    "combining tree",
                    "throng::structures::counter::CombiningTree",
                    Method,
                    21.0,
                    0.86,
                ),
                Made(
                    "diffracting tree",
                    "throng::structures::counter::DiffractingTree",
                    Method,
                    12.0,
                    0.95,
                ),
            ],
        ),
        (
            "meeting",
            "Let threads wait for each other",
            "All threads meet, round after round, with nothing to do in between.",
            Unit::NanosecondsARound,
            "Barrier",
            vec![
                Made("Barrier", "throng::Barrier", Ours, 42.0, 1.62),
                Made("std Barrier", "std::sync::Barrier", Peer, 260.0, 3.4),
                Made("hurdles", "hurdles::Barrier", Peer, 55.0, 1.95),
                Made("spin", "spin::Barrier", Peer, 70.0, 2.4),
                Made(
                    "static f-way tree",
                    "throng::structures::barrier::StaticFway",
                    Method,
                    60.0,
                    1.58,
                ),
            ],
        ),
        (
            "exchange",
            "Pass items on, in order",
            "Every thread pushes an item and pops one, in turn, at one queue of 1024 places.",
            Unit::MillionPerSecond,
            "Queue",
            vec![
                Made("Queue", "throng::Queue", Ours, 31.0, 0.92),
                Made("Queue, unbounded", "throng::Queue::unbounded()", Ours, 28.0, 0.9),
                Made("crossbeam channel", "crossbeam_channel::bounded", Peer, 29.0, 0.66),
                Made("flume", "flume::bounded", Peer, 17.0, 0.58),
                Made("kanal", "kanal::bounded", Peer, 22.0, 0.61),
            ],
        ),
        (
            "loop",
            "Share out a loop",
            "A loop of 10 000 steps that take different times is shared out among the threads.",
            Unit::MicrosecondsALoop,
            "rayon",
            vec![
                Made("for_each_index", "throng::for_each_index", Ours, 930.0, 0.56),
                Made("rayon", "rayon::iter::ParallelIterator", Peer, 940.0, 0.555),
                Made("equal shares", "std::thread::scope", Peer, 925.0, 0.7),
            ],
        ),
    ];
    let mut dice = Dice(processors as u64);
    all.into_iter()
        .map(|(name, title, workload, unit, pick, made)| {
            let entrants: Vec<Entrant> =
                made.into_iter().map(|one| entrant(&one, processors, &mut dice)).collect();
            let first_peer = entrants.iter().find(|entrant| entrant.whose == Peer);
            let usual = first_peer.expect("every need has a peer").name.clone();
            let mut need = Need {
                name: name.to_owned(),
                title: title.to_owned(),
                workload: workload.to_owned(),
                unit,
                usual,
                entrants,
                advice: None,
            };
            need.advice = Some(advice(&need, pick));
            need
        })
        .collect()
}

/// Returns 1, 2, 4, ... up to twice the processors.
fn threads(processors: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |threads| Some(2 * threads))
        .take_while(move |&n| n <= 2 * processors)
}

fn entrant(made: &Made, processors: usize, dice: &mut Dice) -> Entrant {
    let &Made(name, code, whose, first, growth) = made;
    let cell = |(doubling, threads): (usize, usize)| {
        let middle = first * growth.powi(doubling as i32) * (1.0 + 0.04 * dice.throw());
        let mut runs: Vec<f64> = (0..5).map(|_| middle * (1.0 + 0.05 * dice.throw())).collect();
        let in_order = runs.clone();
        runs.sort_by(f64::total_cmp);
        // A queue has latencies too.
        let latency = name.contains("Queue").then(|| {
            let p50_ns = (1e3 * threads as f64 / middle).round();
            Latency { p50_ns, p99_ns: 8.0 * p50_ns, p999_ns: 40.0 * p50_ns, max_ns: 2e6 }
        });
        Cell { threads, median: runs[2], min: runs[0], max: runs[4], runs: in_order, latency }
    };
    Entrant {
        name: name.to_owned(),
        code: code.to_owned(),
        whose,
        bounded: None,
        cells: threads(processors).enumerate().map(cell).collect(),
    }
}

fn advice(need: &Need, pick: &str) -> Advice {
    let (picked, usual) = (need.entrant(pick), need.entrant(&need.usual));
    let (picked, usual) = (picked.expect("it is there"), usual.expect("it is there"));
    let gains: Vec<Gain> = (picked.cells.iter())
        .filter_map(|cell| {
            let times = need.unit.times_as_good(cell.median, usual.on(cell.threads)?.median);
            Some(Gain { threads: cell.threads, times, beyond_noise: !(0.9..1.1).contains(&times) })
        })
        .collect();
    let most = gains.iter().map(|gain| gain.times).fold(0.0, f64::max);
    let words = format!(
        "On this machine {} is up to {most:.1} times as good as {}, and never much worse. It needs no settings.",
        picked.code, usual.code
    );
    Advice { pick: pick.to_owned(), code: picked.code.clone(), gains, words }
}

fn calibration(processors: usize) -> Calibration {
    let mut dice = Dice(7);
    let mut trip = |i: usize, j: usize| match (i / 2 == j / 2, i / 8 == j / 8, i / 64 == j / 64) {
        _ if i == j => 0.0,
        (true, ..) => 11.0 + dice.throw(),
        (_, true, _) => 48.0 + 4.0 * dice.throw(),
        (.., true) => 107.0 + 9.0 * dice.throw(),
        _ => 214.0 + 12.0 * dice.throw(),
    };
    let transfer_ns =
        (0..processors).map(|i| (0..processors).map(|j| trip(i, j)).collect()).collect();
    let cost = |name: &str, ns| Cost { name: name.to_owned(), ns };
    Calibration {
        cores: (0..processors).collect(),
        transfer_ns,
        costs: vec![
            cost("a word in the own cache", 1.21),
            cost("fetch_add in the own cache", 4.87),
            cost("a word of memory", 83.4),
        ],
        machine: "name = \"this machine\"\nprocessors = 2\n".to_owned(),
        groups: [2, 8, 64].into_iter().filter(|&size| size < processors).collect(),
        pairs: processors * (processors - 1) / 2,
        spread: 0.042,
        notes: vec![
            "Memory was not measured: its time is that of a machine of this kind.".to_owned(),
        ],
    }
}

fn validation(needs: &[Need], processors: usize) -> Validation {
    let mut dice = Dice(3);
    let mut rows = Vec::new();
    let mut prospects = Vec::new();
    for need in needs.iter().take(2) {
        for entrant in need.entrants.iter().filter(|entrant| entrant.whose != Whose::Peer) {
            for cell in &entrant.cells {
                rows.push(Compared {
                    need: need.name.clone(),
                    entrant: entrant.name.clone(),
                    threads: cell.threads,
                    measured: cell.median,
                    simulated: cell.median * (1.0 + 0.4 * dice.throw()),
                });
            }
            for larger in [4, 16, 64].map(|times| times * processors) {
                prospects.push(Prospect {
                    need: need.name.clone(),
                    entrant: entrant.name.clone(),
                    processors: larger,
                    simulated: entrant.cells[0].median * (1.0 + 0.3 * dice.throw()),
                });
            }
        }
    }
    Validation { rows, prospects }
}
