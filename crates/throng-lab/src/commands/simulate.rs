//! `throng simulate`: a counter or a barrier on a simulated machine.

pub mod barriers;

use clap::Args;
use throng::structures::counter::methods;
use throng::structures::counter::reactive::Policy;
use throng_papers::arguments::{number, optional, unknown_name};
use throng_papers::error::Error;
use throng_papers::machines::Machine;
use throng_papers::output;
use throng_papers::workloads::reactive::{self, Behaviour};
use throng_papers::workloads::{
    CounterChoice, CountingRun, Tuning, options, self_tuning, trees, usual_step_limit,
};
use throng_sim::{Faults, Sim};

use crate::bench::counters::plan::MAX_DEPTH;
use crate::simulate::barrier::{self, BarrierPlan};
use crate::simulate::{SimulatePlan, simulate};
use barriers::MeetingArguments;

const DEFAULT_METHOD: &str = "diffracting";
const DEFAULT_MACHINE: &str = "alewife";
const DEFAULT_VALUES: usize = 20_000;
/// Most processors that the simulator builds.
const MAX_PROCESSORS: usize = 1 << 16;
/// Most values: every value is kept until all are checked.
const MAX_VALUES: usize = 10_000_000;
const MAX_WORK_CYCLES: usize = 1_000_000;
const MAX_SPIN: usize = 1_000_000;
const MAX_BACKOFF_CYCLES: usize = 100_000_000;
const MAX_STEPS: usize = 1 << 40;
/// Values handed out before latencies are measured; at most a tenth of all.
const WARM_UP: u64 = 100;

/// Arguments of `throng simulate`.
#[derive(Debug, Default, Args)]
pub struct SimulateArguments {
    /// The counter. `throng list` shows the names [default: diffracting]
    #[arg(value_name = "METHOD")]
    pub method: Option<String>,

    /// The machine: a name that `throng machines` shows, or a TOML file [default: alewife]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,

    /// How many processors take values, or meet [default: as many as the machine has]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub processors: Option<String>,

    /// How many processors the machine has, where that is more: those that take values are spread
    /// over it
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub nodes: Option<String>,

    /// A processor stops when it has got this number or a larger one [default: 20000]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub values: Option<String>,

    /// After each value, or before each round, a processor is busy with something else for 0 to this
    /// many cycles, at random [default: 0]
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// Decides everything that is random [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,

    /// Width of a counter that has one: leaves of a tree, wires of a network [default: the counter
    /// chooses for the number of processors]
    #[arg(long, value_name = "N", allow_negative_numbers = true, group = "leaves")]
    pub width: Option<String>,

    /// How many times a processor looks for a partner, at most, where it does [default: 128]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub spin: Option<String>,

    /// How long a processor idles between two looks at a lock, at most, where it does [default:
    /// 1024]
    #[arg(long, value_name = "CYCLES", allow_negative_numbers = true)]
    pub backoff: Option<String>,

    /// Sizes of the prisms of a diffracting tree, or of a reactive one with `--policy`, from the root
    /// down, such as 8,4,2: one for each level [default: as in the counter's paper]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, group = "leaves",
          conflicts_with_all = ["width", "spin", "backoff"])]
    pub prisms: Option<String>,

    /// When a reactive tree of at most `--width` leaves changes: FOLD,UNFOLD,RUN. It shrinks where
    /// RUN calls in a row wait less than FOLD cycles for a lock, and grows where they wait more than
    /// UNFOLD. `fixed`: it is as wide as it can be, and stays so [default: 150,800,80]. Of a self-tuning tree:
    /// `threat,P`, `printed,P` or `census,P`, for P processors [default: threat, for as many as there are]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true, requires = "leaves",
          conflicts_with_all = ["spin", "backoff"])]
    pub policy: Option<String>,

    /// What goes wrong; may be repeated. Parts, separated by `;`:
    /// `delay 1 in ACCESSES up to CYCLES`,
    /// `stall PROCESSOR at ACCESS for CYCLES`,
    /// `stall any COUNT within ACCESSES up to CYCLES`,
    /// `preempt PROCESSOR from CYCLE for CYCLES`,
    /// `preempt all every CYCLES for CYCLES`,
    /// `halt PROCESSOR before ACCESS`,
    /// `halt PROCESSOR after ACCESS`,
    /// `halt any COUNT within ACCESSES`,
    /// `slow PROCESSOR by FACTOR`
    #[arg(long = "fault", value_name = "SCRIPT")]
    pub faults: Vec<String>,

    /// Break the run off after this many steps of all processors together [default: 100 million, and
    /// 2000 for each value, or 20000 for each round of a processor]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<String>,

    /// Print JSON, and nothing else
    #[arg(long)]
    pub json: bool,

    /// Write the report to this folder, as text and JSON, and its numbers as CSV, with charts
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,

    /// The barrier, and its shape.
    #[command(flatten)]
    pub meeting: MeetingArguments,
}

/// Runs it and reports.
///
/// # Errors
/// When a value is not allowed, the structure fails its check, the machine cannot be simulated, or the report not be
/// written.
pub fn run(typed: &SimulateArguments) -> Result<(), Error> {
    match &typed.meeting.barrier {
        Some(method) => barrier::simulate(&BarrierPlan::resolve(method, typed)?),
        None => simulate(&SimulatePlan::resolve(typed)?),
    }
}

impl SimulatePlan {
    /// Resolves what was typed.
    ///
    /// # Errors
    /// When a value is not allowed, a name unknown, a shape or a fault impossible, a machine's file
    /// wrong, or the folder cannot be made.
    pub fn resolve(typed: &SimulateArguments) -> Result<Self, Error> {
        let width = optional("--width", typed.width.as_deref(), 1..=1 << MAX_DEPTH)?;
        let spin = optional("--spin", typed.spin.as_deref(), 1..=MAX_SPIN)?;
        let backoff = optional("--backoff", typed.backoff.as_deref(), 1..=MAX_BACKOFF_CYCLES)?;
        let tuning =
            Tuning { width, spin: spin.map(|n| n as u32), backoff: backoff.map(|n| n as u32) };
        let method = typed.method.as_deref().unwrap_or(DEFAULT_METHOD);
        let counter = match (&typed.prisms, &typed.policy) {
            (Some(sizes), Some(list)) => find_reactive(method, sizes, list)?,
            (Some(list), None) => find_tree(method, list)?,
            (None, Some(list)) => find_changing(method, width.unwrap_or(1), list)?,
            (None, None) => find_counter(method, tuning)?,
        };
        let machine = Machine::find(typed.machine.as_deref().unwrap_or(DEFAULT_MACHINE))?;
        let processors = optional("--processors", typed.processors.as_deref(), 1..=MAX_PROCESSORS)?
            .unwrap_or(machine.spec.processors);
        let nodes = optional("--nodes", typed.nodes.as_deref(), processors..=MAX_PROCESSORS)?;
        let values = optional("--values", typed.values.as_deref(), 1..=MAX_VALUES)?
            .unwrap_or(DEFAULT_VALUES) as u64;
        let work = optional("--work", typed.work.as_deref(), 0..=MAX_WORK_CYCLES)?.unwrap_or(0);
        let seed = typed.seed.as_deref().map_or(Ok(0), parse_seed)?;
        let steps = optional("--steps", typed.steps.as_deref(), 1..=MAX_STEPS)?;
        let faults = parse_faults(&typed.faults, processors)?;
        counter.build(processors)?;
        // Last, so that only a plan that is otherwise right makes a folder.
        if let Some(path) = &typed.out {
            output::make_folder(path)?;
        }
        let run = CountingRun {
            machine_argument: machine.argument,
            processors,
            nodes,
            values,
            warm_up: WARM_UP.min(values / 10),
            work: work as u32,
            seed,
            faults,
            step_limit: steps.map_or(usual_step_limit(values), |steps| steps as u64),
            ..CountingRun::new(counter, machine.spec)
        };
        Ok(SimulatePlan { run, width, json: typed.json, out: typed.out.clone() })
    }
}

fn find_counter(name: &str, tuning: Tuning) -> Result<CounterChoice, Error> {
    let counter = CounterChoice::tuned(name, tuning).ok_or_else(|| {
        let known: Vec<&str> = methods::<Sim>().iter().map(|method| method.about.name).collect();
        unknown_name("METHOD", name, "counter", known, "`throng list` shows all")
    })?;
    refuse_without_effect(name, tuning)?;
    Ok(counter)
}

/// Refuses an option that changes nothing about this method.
fn refuse_without_effect(method: &str, typed: Tuning) -> Result<(), Error> {
    let taken = options::taken(method).of(typed);
    let number = |number: Option<u32>| number.map(|number| number as usize);
    for (option, what, typed, taken) in [
        ("--width", "width", typed.width, taken.width),
        ("--spin", "search for partners", number(typed.spin), number(taken.spin)),
        ("--backoff", "lock with backoff", number(typed.backoff), number(taken.backoff)),
    ] {
        if let (Some(value), None) = (typed, taken) {
            let allowed = format!("left out: {method} has no {what}");
            return Err(Error::Value { option, value: value.to_string(), allowed });
        }
    }
    Ok(())
}

/// Returns the tree with prisms of these sizes.
fn find_tree(name: &str, list: &str) -> Result<CounterChoice, Error> {
    find_counter(name, Tuning::default())?;
    trees::tree(name, &prism_sizes(list)?).ok_or_else(|| Error::Value {
        option: "--prisms",
        value: list.to_owned(),
        allowed: format!("left out: {name} has no prisms"),
    })
}

fn prism_sizes(list: &str) -> Result<Vec<usize>, Error> {
    let allowed = format!("whole numbers from 1 to {}, separated by commas", 1 << MAX_DEPTH);
    let size = |item| number("--prisms", item, 1..=1 << MAX_DEPTH, &allowed);
    list.split(',').map(size).collect()
}

/// Returns the tree with prisms of these sizes and with this policy.
fn find_reactive(name: &str, sizes: &str, list: &str) -> Result<CounterChoice, Error> {
    if name != reactive::NAME {
        let allowed = format!("without --policy, or for {}", reactive::NAME);
        return Err(Error::Value { option: "--prisms", value: sizes.to_owned(), allowed });
    }
    Ok(reactive::with_prisms(&prism_sizes(sizes)?, parse_behaviour(list)?))
}

/// Returns the tree of this width with this policy.
fn find_changing(name: &str, width: usize, list: &str) -> Result<CounterChoice, Error> {
    // An impossible width is refused here.
    find_counter(name, Tuning { width: Some(width), ..Tuning::default() })?.build(1)?;
    let wrong =
        |allowed: String| Error::Value { option: "--policy", value: list.to_owned(), allowed };
    if self_tuning::is_one(name) {
        let tree = |tuned| self_tuning::tree(name, width.ilog2(), tuned);
        let found = self_tuning::Tuned::parse(list).and_then(tree);
        return found.ok_or_else(|| wrong(self_tuning::ALLOWED.to_owned()));
    }
    if name != reactive::NAME {
        return Err(wrong(format!("left out: {name} never changes its shape")));
    }
    Ok(reactive::tree(width.ilog2(), parse_behaviour(list)?))
}

fn parse_behaviour(list: &str) -> Result<Behaviour, Error> {
    behaviour(list).ok_or_else(|| Error::Value {
        option: "--policy",
        value: list.to_owned(),
        allowed: "fixed, or three whole numbers separated by commas, such as 150,800,80".to_owned(),
    })
}

fn behaviour(list: &str) -> Option<Behaviour> {
    if list.trim() == Behaviour::Fixed.to_string() {
        return Some(Behaviour::Fixed);
    }
    let numbers = list.split(',').map(|item| item.trim().parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    let &[fold_below, unfold_above, run] = numbers.as_slice() else { return None };
    let run = u32::try_from(run).ok()?;
    Some(Behaviour::Changing(
        Policy::PAPER.fold_below(fold_below).unfold_above(unfold_above).run(run),
    ))
}

fn parse_seed(typed: &str) -> Result<u64, Error> {
    let allowed = "a whole number from 0 to 2^64 - 1";
    number("--seed", typed, 0..=usize::MAX, allowed).map(|seed| seed as u64)
}

/// Joins all scripts. Each must be possible on this number of processors.
fn parse_faults(scripts: &[String], processors: usize) -> Result<Faults, Error> {
    let mut all = Faults::none();
    for script in scripts {
        let faults: Faults =
            script.parse().map_err(|error| Error::Faults { why: format!("{error}") })?;
        faults.check(processors).map_err(|error| Error::Faults { why: error.to_string() })?;
        all = all.and(faults);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(options: &[(&str, &str)]) -> SimulateArguments {
        let mut typed = SimulateArguments::default();
        for &(name, value) in options {
            let value = value.to_owned();
            match name {
                "method" => typed.method = Some(value),
                "machine" => typed.machine = Some(value),
                "processors" => typed.processors = Some(value),
                "values" => typed.values = Some(value),
                "work" => typed.work = Some(value),
                "seed" => typed.seed = Some(value),
                "nodes" => typed.nodes = Some(value),
                "width" => typed.width = Some(value),
                "prisms" => typed.prisms = Some(value),
                "policy" => typed.policy = Some(value),
                "spin" => typed.spin = Some(value),
                "backoff" => typed.backoff = Some(value),
                "steps" => typed.steps = Some(value),
                "fault" => typed.faults.push(value),
                other => panic!("{other}"),
            }
        }
        typed
    }

    fn message(options: &[(&str, &str)]) -> String {
        SimulatePlan::resolve(&typed(options)).unwrap_err().to_string()
    }

    #[test]
    fn without_arguments_it_is_a_tree_on_alewife() {
        let run = SimulatePlan::resolve(&typed(&[])).unwrap().run;
        assert_eq!(
            run.replay_command(),
            "throng simulate diffracting --machine alewife --processors 256 --values 20000 \
             --work 0 --seed 0"
        );
    }

    #[test]
    fn every_number_is_checked() {
        for (option, wrong, allowed) in [
            ("processors", "0", "a whole number from 1 to 65536"),
            ("processors", "70000", "a whole number from 1 to 65536"),
            ("values", "0", "a whole number from 1 to 10000000"),
            ("values", "1e9", "a whole number from 1 to 10000000"),
            ("work", "-1", "a whole number from 0 to 1000000"),
            ("seed", "x", "a whole number from 0 to 2^64 - 1"),
            ("seed", "18446744073709551616", "a whole number from 0 to 2^64 - 1"),
            ("width", "0", "a whole number from 1 to 65536"),
            ("spin", "0", "a whole number from 1 to 1000000"),
            ("backoff", "1ms", "a whole number from 1 to 100000000"),
            ("steps", "0", "a whole number from 1 to 1099511627776"),
        ] {
            assert_eq!(
                message(&[(option, wrong)]),
                format!("--{option} {wrong}: must be {allowed}")
            );
        }
    }

    #[test]
    fn names_shapes_and_faults_are_checked() {
        let unknown = message(&[("method", "hardwear")]);
        assert!(unknown.starts_with("METHOD hardwear: no such counter; did you mean hardware"));
        assert!(message(&[("machine", "alewive")]).contains("did you mean alewife?"));
        assert_eq!(
            message(&[("width", "6")]),
            "diffracting: width 6: must be a power of two from 1 to 65536"
        );
        assert_eq!(
            message(&[("fault", "slow 1 by 2"), ("fault", "halt 5 before 1"), ("processors", "5")]),
            "--fault: faults: processor 5: must be from 0 to 4"
        );
        assert_eq!(
            message(&[("fault", "slow 1")]),
            "--fault: fault \"slow 1\": write \"slow PROCESSOR by FACTOR\""
        );
    }

    #[test]
    fn an_option_without_effect_is_refused() {
        for (method, option, what) in [
            ("hardware", "width", "width"),
            ("locked-mcs", "width", "width"),
            ("combining-tree", "spin", "search for partners"),
            ("diffracting", "backoff", "lock with backoff"),
        ] {
            assert_eq!(
                message(&[("method", method), (option, "8")]),
                format!("--{option} 8: must be left out: {method} has no {what}")
            );
        }
        assert!(SimulatePlan::resolve(&typed(&[("spin", "8"), ("width", "4")])).is_ok());
    }

    #[test]
    fn a_policy_is_for_reactive_trees_and_is_in_the_command() {
        let command = |policy| {
            let options = [("method", "reactive"), ("width", "8"), ("policy", policy)];
            SimulatePlan::resolve(&typed(&options)).map(|plan| plan.run.replay_command())
        };
        for policy in ["200,800,25", "fixed"] {
            let start = format!("throng simulate reactive --width 8 --policy {policy} --machine");
            assert!(command(policy).unwrap().starts_with(&start));
        }
        for policy in ["1,2", "1,2,3,4", "a,b,c", "1,2,-3", "1,2,5000000000"] {
            assert_eq!(
                command(policy).unwrap_err().to_string(),
                format!(
                    "--policy {policy}: must be fixed, or three whole numbers separated by commas, \
                     such as 150,800,80"
                )
            );
        }
        assert_eq!(
            message(&[("policy", "fixed"), ("width", "4")]),
            "--policy fixed: must be left out: diffracting never changes its shape"
        );
        let census = [("method", "self-tuning"), ("policy", "census,9"), ("width", "8")];
        let command = SimulatePlan::resolve(&typed(&census)).unwrap().run.replay_command();
        assert!(command.starts_with("throng simulate self-tuning --width 8 --policy census,9 "));
        let fixed = [("method", "self-tuning-prism"), ("policy", "fixed"), ("width", "8")];
        assert!(
            message(&fixed)
                .starts_with("--policy fixed: must be threat, printed or census, a comma")
        );
        let prisms = [("method", "reactive"), ("policy", "fixed"), ("prisms", "4,2,1")];
        let command = SimulatePlan::resolve(&typed(&prisms)).unwrap().run.replay_command();
        assert!(command.starts_with("throng simulate reactive --prisms 4,2,1 --policy fixed "));
        let other = [("method", "self-tuning"), ("policy", "threat,9"), ("prisms", "4,2,1")];
        assert_eq!(message(&other), "--prisms 4,2,1: must be without --policy, or for reactive");
        let wide = [("method", "reactive"), ("policy", "fixed"), ("width", "6")];
        assert!(message(&wide).contains("width 6: must be a power of two"));
    }

    #[test]
    fn all_faults_apply_and_are_in_the_command() {
        let options = [("fault", "slow 1 by 2"), ("fault", "halt 2 before 3; slow 0 by 9")];
        let run = SimulatePlan::resolve(&typed(&options)).unwrap().run;
        let command = run.replay_command();
        assert!(command.ends_with(" --fault 'slow 1 by 2; halt 2 before 3; slow 0 by 9'"));
    }
}
