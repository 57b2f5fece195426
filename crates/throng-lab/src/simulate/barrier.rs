//! `throng simulate --barrier`: one barrier on a simulated machine, every round checked, and what it
//! cost.

use std::time::Instant;

use serde::Serialize;
use throng::barrier::{Flags, Reinit, WakeUp, methods};
use throng_sim::{MachineSpec, Sim};

use super::{
    DEFAULT_MACHINE, MAX_PROCESSORS, MAX_STEPS, MAX_WORK_CYCLES, parse_faults, parse_seed,
};
use crate::cli::{MeetingArguments, SimulateArguments};
use crate::error::Error;
use crate::machines::Machine;
use crate::names::suggestions;
use crate::numbers::{counted, grouped, short};
use crate::output;
use crate::plan::{number, optional};
use crate::simulated::barrier::{
    BarrierChoice, BarrierMeasured, BarrierRun, BarrierTuning, FanInChoice, ROUNDS, WARM_UP,
    flags_in_words, reinit_in_words, taken, usual_step_limit, wake_up_in_words,
};
use crate::table::{Align::Left, Align::Right, aligned};

const MAX_ROUNDS: usize = 1_000_000;
/// The largest fan-in of the library.
const MAX_FAN_IN: usize = 1 << 16;
/// So many lines are shown.
const HOTTEST: usize = 10;

/// What `throng simulate --barrier` will do.
#[derive(Debug)]
pub struct BarrierPlan {
    /// The run.
    pub run: BarrierRun,
    /// Whether to print JSON.
    pub json: bool,
}

impl BarrierPlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, a shape or a fault impossible, or a machine's
    /// file wrong.
    pub fn resolve(method: &str, typed: &SimulateArguments) -> Result<Self, Error> {
        let barrier = find_barrier(method, tuning(&typed.meeting)?)?;
        let machine = Machine::find(typed.machine.as_deref().unwrap_or(DEFAULT_MACHINE))?;
        let members = optional("--processors", typed.processors.as_deref(), 1..=MAX_PROCESSORS)?
            .unwrap_or(machine.spec.processors);
        let rounds = optional("--rounds", typed.meeting.rounds.as_deref(), 1..=MAX_ROUNDS)?
            .map_or(ROUNDS, |rounds| rounds as u64);
        let work = optional("--work", typed.work.as_deref(), 0..=MAX_WORK_CYCLES)?.unwrap_or(0);
        let seed = typed.seed.as_deref().map_or(Ok(0), parse_seed)?;
        let steps = optional("--steps", typed.steps.as_deref(), 1..=MAX_STEPS)?;
        let faults = parse_faults(&typed.faults, members)?;
        barrier.build(members, &machine.spec)?;
        let usual = usual_step_limit(members, rounds + WARM_UP);
        let run = BarrierRun {
            machine_argument: machine.argument,
            members,
            rounds,
            work: work as u32,
            seed,
            faults,
            step_limit: steps.map_or(usual, |steps| steps as u64),
            ..BarrierRun::new(barrier, machine.spec)
        };
        Ok(BarrierPlan { run, json: typed.json })
    }
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

fn find_barrier(name: &str, tuning: BarrierTuning) -> Result<BarrierChoice, Error> {
    let barrier = BarrierChoice::named(name, tuning).ok_or_else(|| Error::UnknownName {
        option: "--barrier",
        name: name.to_owned(),
        kind: "barrier",
        suggestions: suggestions(name, methods::<Sim>().iter().map(|method| method.about.name)),
        hint: "`throng simulate --help` shows all",
    })?;
    refuse_without_effect(name, tuning)?;
    Ok(barrier)
}

/// An error for an option that changes nothing about this method.
fn refuse_without_effect(method: &str, typed: BarrierTuning) -> Result<(), Error> {
    let taken = taken(method);
    let fan_in = typed.fan_in.map(|fan_in| fan_in.to_string());
    let word = |word: Option<&str>| word.map(str::to_owned);
    for (option, what, typed, is_taken) in [
        ("--fan-in", "has no fan-in to choose", fan_in, taken.fan_in),
        ("--flags", "has no flags to place", word(typed.flags.map(flags_in_words)), taken.flags),
        (
            "--wake-up",
            "has one way to wake up only",
            word(typed.wake_up.map(wake_up_in_words)),
            taken.wake_up,
        ),
        (
            "--reinit",
            "has one way to begin anew only",
            word(typed.reinit.map(reinit_in_words)),
            taken.reinit,
        ),
    ] {
        if let (Some(value), false) = (typed, is_taken) {
            let allowed = format!("left out: {method} {what}");
            return Err(Error::Value { option, value, allowed });
        }
    }
    let is_fixed = matches!(typed.fan_in, None | Some(FanInChoice::Fixed(_)));
    if method == "mcs-tree" && !is_fixed {
        let allowed = "a number: mcs-tree is the same at all nodes".to_owned();
        let value = typed.fan_in.map(|fan_in| fan_in.to_string()).unwrap_or_default();
        return Err(Error::Value { option: "--fan-in", value, allowed });
    }
    Ok(())
}

fn tuning(typed: &MeetingArguments) -> Result<BarrierTuning, Error> {
    Ok(BarrierTuning {
        fan_in: typed.fan_in.as_deref().map(fan_in).transpose()?,
        flags: one_of(
            "--flags",
            typed.flags.as_deref(),
            &[Flags::Packed, Flags::Padded],
            flags_in_words,
        )?,
        wake_up: one_of(
            "--wake-up",
            typed.wake_up.as_deref(),
            &[WakeUp::Global, WakeUp::Tree],
            wake_up_in_words,
        )?,
        reinit: one_of(
            "--reinit",
            typed.reinit.as_deref(),
            &[Reinit::Clear, Reinit::Count],
            reinit_in_words,
        )?,
    })
}

fn fan_in(typed: &str) -> Result<FanInChoice, Error> {
    match typed.trim() {
        "fullest" => Ok(FanInChoice::Fullest),
        "machine" => Ok(FanInChoice::Machine),
        _ => {
            let allowed = format!("a whole number from 2 to {MAX_FAN_IN}, fullest or machine");
            number("--fan-in", typed, 2..=MAX_FAN_IN, &allowed).map(FanInChoice::Fixed)
        }
    }
}

/// The one of two that was typed.
fn one_of<T: Copy>(
    option: &'static str,
    typed: Option<&str>,
    both: &[T; 2],
    in_words: fn(T) -> &'static str,
) -> Result<Option<T>, Error> {
    let Some(typed) = typed else { return Ok(None) };
    let found = both.iter().copied().find(|&one| in_words(one) == typed.trim());
    let allowed = || both.map(in_words).join(" or ");
    found.map(Some).ok_or_else(|| Error::Value {
        option,
        value: typed.to_owned(),
        allowed: allowed(),
    })
}

/// Everything about a run, in the order of the JSON document.
#[derive(Clone, Debug, Serialize)]
struct Report {
    /// The version of the program.
    throng: &'static str,
    /// The command that runs the same again.
    command: String,
    /// The barrier.
    barrier: &'static str,
    /// What was said about its shape.
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
    /// The most processors that write one word, or one line, in a round.
    writers_a_word: usize,
    writers_a_line: usize,
    /// The longest chain of words in a round.
    critical_path: u64,
    /// Lines that the barrier is made of.
    lines: usize,
    /// The lines at which processors waited longest, the worst first.
    hottest: Vec<HotLine>,
    /// Of the whole run, as all that follows.
    cycles: u64,
    accesses: u64,
    steps: u64,
    trace_hash: String,
    seconds: f64,
}

/// What a round takes, in the mean.
#[derive(Clone, Copy, Debug, Serialize)]
struct ARound {
    accesses: f64,
    misses: f64,
    /// Those that are not on a word that tells that the round is over.
    misses_of_arrival: f64,
    invalidations: f64,
    messages: f64,
    waited_cycles: f64,
}

/// A line, and what happened there in a round.
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
                "nobody left any of {} before all had entered",
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

/// The report as a person reads it.
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
        row("copies taken away", short(invalidations)),
        row("messages", short(messages)),
        row("cycles waited in line", short(waited_cycles)),
        row("longest chain of words", grouped(report.critical_path)),
        row("most writers of a word", grouped(report.writers_a_word as u64)),
        row("most writers of a line", grouped(report.writers_a_line as u64)),
        row("lines that it is made of", grouped(report.lines as u64)),
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
        "Hottest lines, by the cycles that processors stood in line there in a round\n{}\n",
        aligned(&rows, &[Left, Right, Right, Right])
    )
}

fn tail(report: &Report) -> String {
    format!(
        "trace {}; simulated in {:.2} s\nagain: {}\n",
        report.trace_hash, report.seconds, report.command
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(method: &str, options: &[(&str, &str)]) -> String {
        let mut typed = SimulateArguments::default();
        for &(name, value) in options {
            let value = Some(value.to_owned());
            match name {
                "fan-in" => typed.meeting.fan_in = value,
                "flags" => typed.meeting.flags = value,
                "wake-up" => typed.meeting.wake_up = value,
                "reinit" => typed.meeting.reinit = value,
                "rounds" => typed.meeting.rounds = value,
                other => panic!("{other}"),
            }
        }
        BarrierPlan::resolve(method, &typed).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        for (method, options, said) in [
            ("centrel", &[][..], "--barrier centrel: no such barrier; did you mean central"),
            (
                "static-fway",
                &[("fan-in", "1")],
                "--fan-in 1: must be a whole number from 2 to 65536, fullest or machine",
            ),
            ("static-fway", &[("flags", "loose")], "--flags loose: must be packed or padded"),
            ("static-fway", &[("wake-up", "")], "--wake-up \"\": must be global or tree"),
            ("static-fway", &[("rounds", "0")], "--rounds 0: must be a whole number from 1 to"),
            (
                "central",
                &[("fan-in", "4")],
                "--fan-in 4: must be left out: central has no fan-in to choose",
            ),
            (
                "dynamic-fway",
                &[("reinit", "clear")],
                "--reinit clear: must be left out: dynamic-fway has one way to begin anew only",
            ),
            ("mcs-tree", &[("fan-in", "machine")], "--fan-in machine: must be a number: mcs-tree"),
        ] {
            let message = message(method, options);
            assert!(message.starts_with(said), "{message}");
        }
    }
}
