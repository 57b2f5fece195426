//! `throng simulate --barrier`: runs one barrier on a simulated machine, checks every round, and
//! reports its cost.

use std::time::Instant;

use serde::Serialize;
use throng_papers::error::Error;
use throng_papers::numbers::{counted, grouped, short};
use throng_papers::output;
use throng_papers::table::{Align::Left, Align::Right, aligned};
use throng_papers::workloads::barrier::{BarrierMeasured, BarrierRun};
use throng_sim::MachineSpec;

/// Number of lines shown.
const HOTTEST: usize = 10;

/// The resolved arguments of `throng simulate --barrier`.
#[derive(Debug)]
pub struct BarrierPlan {
    /// The run.
    pub run: BarrierRun,
    /// Whether to print JSON.
    pub json: bool,
}

/// Runs it and reports.
///
/// # Errors
/// When the barrier fails its check, the machine cannot be simulated, or the report not be written.
pub fn simulate(plan: &BarrierPlan) -> Result<(), Error> {
    let start = Instant::now();
    let measured = plan.run.measure()?;
    let report = Report::new(&plan.run, &measured, start.elapsed().as_secs_f64());
    output::print(&if plan.json { output::json(&report) } else { text(&report) })
}

/// The report of a run, in the order of the JSON document.
#[derive(Clone, Debug, Serialize)]
struct Report {
    /// The version of the program.
    throng: &'static str,
    /// The command that repeats the run.
    command: String,
    /// The barrier.
    barrier: &'static str,
    /// The options for its shape.
    options: String,
    machine: MachineSpec,
    machine_in_words: String,
    processors: usize,
    rounds: u64,
    work: u32,
    seed: u64,
    faults: String,
    check: String,
    cycles_a_round: f64,
    nanoseconds_a_round: f64,
    a_round: ARound,
    /// The largest numbers of processors that write one word, and one line, in a round.
    writers_a_word: usize,
    writers_a_line: usize,
    /// The longest chain of words in a round.
    critical_path: u64,
    /// Cache lines of the barrier.
    lines: usize,
    /// The lines at which processors waited longest, the worst first.
    hottest: Vec<HotLine>,
    /// Of the whole run, as all fields that follow.
    cycles: u64,
    accesses: u64,
    steps: u64,
    trace_hash: String,
    seconds: f64,
}

/// The means of a round.
#[derive(Clone, Copy, Debug, Serialize)]
struct ARound {
    accesses: f64,
    misses: f64,
    /// Misses on words other than those that announce the end of the round.
    misses_of_arrival: f64,
    invalidations: f64,
    messages: f64,
    waited_cycles: f64,
}

/// A line, and its traffic in a round.
#[derive(Clone, Debug, Serialize)]
struct HotLine {
    line: String,
    waited_cycles: f64,
    misses: f64,
    invalidations: f64,
}

impl Report {
    fn new(run: &BarrierRun, measured: &BarrierMeasured, seconds: f64) -> Self {
        let a_round = |count: u64| count as f64 / measured.rounds.max(1) as f64;
        let hottest =
            measured.memory.hottest(HOTTEST).into_iter().map(|(place, traffic)| HotLine {
                line: place.to_string(),
                waited_cycles: a_round(traffic.waited_cycles),
                misses: a_round(traffic.misses),
                invalidations: a_round(traffic.invalidations),
            });
        let rounds = run.warm_up.max(1) + run.rounds;
        Report {
            throng: env!("CARGO_PKG_VERSION"),
            command: run.replay_command(),
            barrier: run.barrier.method,
            options: run.barrier.options.clone(),
            machine: MachineSpec { processors: run.members, ..run.machine.clone() },
            machine_in_words: run.machine_in_words(),
            processors: run.members,
            rounds: run.rounds,
            work: run.work,
            seed: run.seed,
            faults: run.faults.to_string(),
            check: format!(
                "no member left any of {} before all had entered",
                counted(rounds, "round")
            ),
            cycles_a_round: measured.cycles_a_round,
            nanoseconds_a_round: run.machine.nanoseconds(1) * measured.cycles_a_round,
            a_round: ARound {
                accesses: measured.accesses_a_round,
                misses: measured.misses_a_round,
                misses_of_arrival: measured.arrival_misses_a_round,
                invalidations: measured.invalidations_a_round,
                messages: measured.messages_a_round,
                waited_cycles: measured.waited_cycles_a_round,
            },
            writers_a_word: measured.round.writers_a_word,
            writers_a_line: measured.round.writers_a_line,
            critical_path: measured.round.critical_path,
            lines: measured.lines,
            hottest: hottest.collect(),
            cycles: measured.cycles,
            accesses: measured.accesses,
            steps: measured.steps,
            trace_hash: format!("{:016x}", measured.trace_hash),
            seconds,
        }
    }
}

/// Formats the report for the terminal.
fn text(report: &Report) -> String {
    let options = match report.options.as_str() {
        "" => String::new(),
        options => format!(" ({options})"),
    };
    let machine = &report.machine;
    let facts = [
        ("machine", format!("{}, {} MHz", machine.about, machine.clock_mhz)),
        ("faults", report.faults.clone()),
        ("checked", report.check.clone()),
        (
            "a round",
            format!(
                "{} cycles ({} us), mean of {}",
                short(report.cycles_a_round),
                short(report.nanoseconds_a_round / 1000.0),
                counted(report.rounds, "round")
            ),
        ),
    ];
    let facts = facts.map(|(name, fact)| vec![format!("  {name}"), fact]);
    format!(
        "barrier {}{options} on {} with {}, seed {}\n\n{}\nIn a round, of all processors\n{}\n{}{}",
        report.barrier,
        report.machine_in_words,
        counted(report.processors as u64, "processor"),
        report.seed,
        aligned(&facts, &[Left; 2]),
        counts(report),
        hottest(report),
        tail(report),
    )
}

fn counts(report: &Report) -> String {
    let ARound { accesses, misses, misses_of_arrival, invalidations, messages, waited_cycles } =
        report.a_round;
    let row = |name: &str, number: String| vec![format!("  {name}"), number];
    let rows = [
        row("accesses", short(accesses)),
        row("misses (cache faults, transactions)", short(misses)),
        row("  of these to arrive, not to wait for the end", short(misses_of_arrival)),
        row("copies invalidated", short(invalidations)),
        row("messages", short(messages)),
        row("cycles waited in queues", short(waited_cycles)),
        row("longest chain of words", grouped(report.critical_path)),
        row("most writers of a word", grouped(report.writers_a_word as u64)),
        row("most writers of a line", grouped(report.writers_a_line as u64)),
        row("lines of the barrier", grouped(report.lines as u64)),
    ];
    aligned(&rows, &[Left, Right])
}

fn hottest(report: &Report) -> String {
    if report.hottest.is_empty() {
        return String::new();
    }
    let head = ["  line", "waited", "misses", "copies taken"].map(str::to_owned).to_vec();
    let row = |line: &HotLine| {
        vec![
            format!("  {}", line.line),
            short(line.waited_cycles),
            short(line.misses),
            short(line.invalidations),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(head).chain(report.hottest.iter().map(row)).collect();
    format!(
        "Hottest lines, by the cycles that processors waited there in a round\n{}\n",
        aligned(&rows, &[Left, Right, Right, Right])
    )
}

fn tail(report: &Report) -> String {
    format!(
        "trace {}; simulated in {:.2} s\nagain: {}\n",
        report.trace_hash, report.seconds, report.command
    )
}
