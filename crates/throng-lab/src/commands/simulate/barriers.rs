//! `throng simulate --barrier`: the arguments of a barrier, and its plan.

use clap::Args;
use throng::structures::barrier::{Flags, Reinit, WakeUp, methods};
use throng_papers::arguments::{number, optional};
use throng_papers::error::Error;
use throng_papers::machines::Machine;
use throng_papers::names::suggestions;
use throng_papers::workloads::barrier::{
    BarrierChoice, BarrierRun, BarrierTuning, FanInChoice, ROUNDS, WARM_UP, flags_in_words,
    reinit_in_words, taken, usual_step_limit, wake_up_in_words,
};
use throng_sim::Sim;

use super::SimulateArguments;
use super::{
    DEFAULT_MACHINE, MAX_PROCESSORS, MAX_STEPS, MAX_WORK_CYCLES, parse_faults, parse_seed,
};
use crate::simulate::barrier::BarrierPlan;

const MAX_ROUNDS: usize = 1_000_000;
/// Largest fan-in of the library.
const MAX_FAN_IN: usize = 1 << 16;

/// Options of `throng simulate` for barriers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Barriers")]
pub struct MeetingArguments {
    /// A barrier instead of a counter: shaped, grouped, tally, count-and-release, central, central-locked,
    /// combining-tree, combining-tree-locked, dissemination, tournament, mcs-tree, mcs-tree-bytes, static-fway,
    /// dynamic-fway, dynamic-fway-bytes, dynamic-fway-all-go-on
    #[arg(long, value_name = "METHOD", conflicts_with_all = ["method", "nodes", "values", "width",
          "spin", "backoff", "prisms", "policy", "out"])]
    pub barrier: Option<String>,

    /// How many rounds are measured, after 20 that are not [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true, requires = "barrier")]
    pub rounds: Option<String>,

    /// How many meet at a node of a tree: a number; `fullest`, as GV93 Figure 5 chooses, up to 8; or
    /// `machine`, by the groups of the machine, up to 16 [default: what the method's authors advise]
    #[arg(
        long,
        value_name = "N|fullest|machine",
        allow_negative_numbers = true,
        requires = "barrier"
    )]
    pub fan_in: Option<String>,

    /// Where the flags of the members of a node lie: `packed` on one line, or `padded`, a line
    /// each [default: packed]
    #[arg(long, value_name = "packed|padded", requires = "barrier")]
    pub flags: Option<String>,

    /// How waiting members learn that all have arrived: by one `global` word, or down the `tree`
    /// [default: global]
    #[arg(long, value_name = "global|tree", requires = "barrier")]
    pub wake_up: Option<String>,

    /// How flags are made ready for the next round: `clear` them, or `count` rounds [default: clear]
    #[arg(long, value_name = "clear|count", requires = "barrier")]
    pub reinit: Option<String>,
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

/// Refuses an option that changes nothing about this method.
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
    if method.starts_with("mcs-tree") && !is_fixed {
        let allowed = format!("a number: {method} is the same at all nodes");
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

/// Parses one of two words.
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
