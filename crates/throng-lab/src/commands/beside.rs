//! `throng bench barriers`, `queues` and `loop` with `--neighbours`: its arguments, its plan and its run.

use std::path::PathBuf;
use std::time::Duration;

use throng_papers::arguments::{check_names, chosen, numbers, optional};

use super::barriers::{BarriersArguments, MAX_THREADS};
use super::loops::LoopArguments;
use super::neighbours::BesideArguments;
use super::queues::QueuesArguments;
use super::{repetitions, threads};
use crate::bench::beside::contenders::{self, Contender, Role, USUAL_BARRIERS};
use crate::bench::beside::load::Load;
use crate::bench::beside::plan::{BesidePlan, Subject};
use crate::bench::beside::setting::Setting;
use crate::bench::harness::{self, Files};
use crate::bench::loops::plan::LoopPlan;
use crate::bench::loops::work::Shape;
use crate::bench::loops::work::Size;
use crate::bench::window::Times;
use crate::error::Error;
use crate::threads::threads_that_meet;

const MAX_RUN_MS: usize = 60_000;
const MAX_WORK_NS: usize = 10_000_000;
const MAX_SECONDS: usize = 24 * 60 * 60;
/// Default work of a producer before each push: twice as long as any queue here spins before it
/// sleeps.
const USUAL_WORK_NS: usize = 50_000;

/// The typed arguments that all subjects have in common.
struct Common<'a> {
    beside: &'a BesideArguments,
    quick: bool,
    threads: Option<&'a str>,
    repetitions: Option<&'a str>,
    /// The option with the length of a run, and its typed value.
    milliseconds: (&'static str, Option<&'a str>),
}

/// Measures barriers beside neighbours.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn barriers(typed: &BarriersArguments) -> Result<(), Error> {
    run(&BesidePlan::barriers(typed)?, &typed.beside, typed.json.as_ref())
}

/// Measures queues beside neighbours.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn queues(typed: &QueuesArguments) -> Result<(), Error> {
    run(&BesidePlan::queues(typed)?, &typed.beside, typed.json.as_ref())
}

/// Measures loops beside neighbours.
///
/// # Errors
/// When an argument is wrong, a structure fails its check, or a result cannot be written.
pub fn loops(typed: &LoopArguments) -> Result<(), Error> {
    run(&BesidePlan::loops(typed)?, &typed.beside, typed.json.as_ref())
}

fn run(plan: &BesidePlan, typed: &BesideArguments, json: Option<&PathBuf>) -> Result<(), Error> {
    // Last, so that only a plan that is otherwise right creates a file.
    harness::run(plan, Files::default().json(json)?.csv(typed.csv.as_ref())?)
}

impl BesidePlan {
    fn barriers(typed: &BarriersArguments) -> Result<Self, Error> {
        let works = match &typed.work {
            Some(list) => numbers("--work", list, 0..=MAX_WORK_NS)?,
            None => vec![0],
        };
        let loads = works.into_iter().map(|work| Load::Rounds { work_ns: work as u32 });
        let all = contenders::barriers(typed.peers.as_deref())?;
        let contenders = select_barriers(all, &typed.methods)?;
        let common = Common {
            beside: &typed.beside,
            quick: typed.quick,
            threads: typed.threads.as_deref(),
            repetitions: typed.repetitions.as_deref(),
            milliseconds: ("--milliseconds", typed.milliseconds.as_deref()),
        };
        BesidePlan::resolve(Subject::Barriers, loads.collect(), contenders, &common)
    }

    fn queues(typed: &QueuesArguments) -> Result<Self, Error> {
        const HINT: &str = "`throng bench queues --help` names those beside neighbours";
        let work = optional("--work", typed.work.as_deref(), 0..=MAX_WORK_NS)?;
        let stream = Load::Stream { work_ns: work.unwrap_or(USUAL_WORK_NS) as u32 };
        let mixes = [("ping-pong", Load::PingPong), ("stream", stream)];
        let names = mixes.map(|(name, _)| name);
        let names = chosen("--mixes", typed.mixes.as_deref(), "mix", &names, HINT)?;
        let is_chosen = |&(name, _): &(&str, Load)| names.contains(&name);
        let loads = mixes.into_iter().filter(is_chosen).map(|(_, load)| load).collect();
        let mut contenders = contenders::queues();
        let names: Vec<&str> = contenders.iter().map(|queue| queue.name).collect();
        let names = chosen("--methods", typed.methods.as_deref(), "queue", &names, HINT)?;
        contenders.retain(|queue| queue.role == Role::Reference || names.contains(&queue.name));
        let common = Common {
            beside: &typed.beside,
            quick: typed.quick,
            threads: typed.threads.as_deref(),
            repetitions: typed.repetitions.as_deref(),
            milliseconds: ("--duration", typed.duration.as_deref()),
        };
        BesidePlan::resolve(Subject::Queues, loads, contenders, &common)
    }

    fn loops(typed: &LoopArguments) -> Result<Self, Error> {
        let sizes = LoopPlan::sizes(typed, &[1000], &[200, 2000])?;
        let shapes = LoopPlan::shapes(typed, &[Shape::Growing])?;
        let gap = LoopPlan::gap(typed)?;
        let of_size = |size: Size| shapes.iter().map(move |&shape| Load::Loop { shape, size, gap });
        let loads = sizes.into_iter().flat_map(of_size).collect();
        let common = Common {
            beside: &typed.beside,
            quick: typed.quick,
            threads: typed.threads.as_deref(),
            repetitions: typed.repetitions.as_deref(),
            milliseconds: ("--milliseconds", None),
        };
        BesidePlan::resolve(Subject::Loops, loads, contenders::loops(), &common)
    }

    fn resolve(
        subject: Subject,
        loads: Vec<Load>,
        contenders: Vec<Contender>,
        common: &Common<'_>,
    ) -> Result<Self, Error> {
        let threads = threads(common.threads, 2..=MAX_THREADS, threads_that_meet(MAX_THREADS))?;
        let settings = Setting::list(common.beside.neighbours.as_deref().unwrap_or_default())?;
        let (usual_seconds, usual_repetitions) = if common.quick { (60, 3) } else { (300, 5) };
        let seconds = optional("--seconds", common.beside.seconds.as_deref(), 1..=MAX_SECONDS)?;
        let (option, typed) = common.milliseconds;
        let ms = optional(option, typed, 1..=MAX_RUN_MS)?;
        let mut plan = BesidePlan {
            subject,
            loads,
            threads,
            settings,
            contenders,
            repetitions: repetitions(common.repetitions, usual_repetitions)?,
            times: Times::NONE,
            budget: Duration::from_secs(seconds.unwrap_or(usual_seconds) as u64),
        };
        let measure =
            ms.map_or_else(|| plan.time_of_a_run(), |ms| Duration::from_millis(ms as u64));
        plan.times = Times { warm_up: measure / 2, measure };
        Ok(plan)
    }
}

/// Returns the references, and the barriers of these names; the usual ones and all of OpenMP where no name
/// is given.
fn select_barriers(all: Vec<Contender>, names: &[String]) -> Result<Vec<Contender>, Error> {
    const HINT: &str =
        "`throng bench barriers --help` names all; those of OpenMP need `--peers DIR`";
    let known: Vec<&str> = all.iter().map(|barrier| barrier.name).collect();
    check_names("--method", names, "barrier", &known, HINT)?;
    let is_chosen = |barrier: &Contender| match barrier.role {
        Role::Reference => true,
        _ if names.is_empty() => {
            USUAL_BARRIERS.contains(&barrier.name) || barrier.name.starts_with("lib")
        }
        _ => names.iter().any(|name| name == barrier.name),
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(neighbours: &str) -> BesideArguments {
        BesideArguments { neighbours: Some(neighbours.to_owned()), ..BesideArguments::default() }
    }

    fn barriers(neighbours: &str, threads: &str) -> BarriersArguments {
        BarriersArguments {
            threads: Some(threads.to_owned()),
            beside: beside(neighbours),
            ..BarriersArguments::default()
        }
    }

    #[test]
    fn references_are_always_measured_and_the_rest_as_typed() {
        let mut typed = barriers("0,2", "2,4");
        let names = |plan: BesidePlan| -> Vec<&str> {
            plan.contenders.iter().map(|contender| contender.name).collect()
        };
        let usual = names(BesidePlan::barriers(&typed).unwrap());
        assert_eq!(usual, ["std", "pthread", "barrier", "team", "hurdles"]);
        typed.methods = vec!["central".to_owned()];
        let plan = BesidePlan::barriers(&typed).unwrap();
        assert_eq!(plan.runs(), 2 * 2 * 3, "settings x threads x barriers");
        assert_eq!(names(plan), ["std", "pthread", "central"]);
    }

    #[test]
    fn the_time_of_a_run_follows_from_that_of_all() {
        let mut typed = barriers("0,4,8,16,32,copy", "2,4,8,16,32,64");
        let full = BesidePlan::barriers(&typed).unwrap();
        // 5 barriers without neighbours, 4 times those and the neighbours alone, twice those with a
        // copy.
        let runs = (5 + 4 * (5 + 1) + 2 * 5) * 6 * 5;
        let all = (full.times.measure.mul_f64(1.5) + Duration::from_millis(15)) * runs;
        assert!(all <= full.budget && all.as_secs_f64() > 0.99 * 300.0, "{full:?}");
        typed.beside.seconds = Some("1".to_owned());
        let hurried = BesidePlan::barriers(&typed).unwrap();
        assert_eq!(hurried.times.measure, Duration::from_millis(10), "no shorter than this");
        typed.milliseconds = Some("33".to_owned());
        let said = BesidePlan::barriers(&typed).unwrap();
        assert_eq!(said.times.measure, Duration::from_millis(33));
    }

    #[test]
    fn queues_and_loops_have_loads_of_their_own() {
        let typed = QueuesArguments {
            threads: Some("4,8".to_owned()),
            work: Some("7".to_owned()),
            methods: Some("pool".to_owned()),
            beside: beside("0"),
            ..QueuesArguments::default()
        };
        let plan = BesidePlan::queues(&typed).unwrap();
        let stream = Load::Stream { work_ns: 7 };
        let places: Vec<(Load, usize)> = plan.places().collect();
        assert_eq!(places, [(Load::PingPong, 2), (stream, 4), (stream, 8)]);
        assert_eq!(plan.contenders.len(), 1 + 2, "pool and the references");
        let typed = LoopArguments { beside: beside("0"), ..LoopArguments::default() };
        let plan = BesidePlan::loops(&typed).unwrap();
        assert_eq!(plan.loads.len(), 2, "two sizes of one shape");
    }

    #[test]
    fn mistakes_are_answered_with_what_is_allowed() {
        let message =
            |typed: &BarriersArguments| BesidePlan::barriers(typed).unwrap_err().to_string();
        let threads = barriers("0", "1");
        assert_eq!(
            message(&threads),
            "--threads 1: must be whole numbers from 2 to 1024, separated by commas"
        );
        let mut typed = barriers("0", "2");
        typed.work = Some("1s".to_owned());
        assert_eq!(
            message(&typed),
            "--work 1s: must be whole numbers from 0 to 10000000, separated by commas"
        );
        let mut typed = barriers("0", "2");
        typed.methods = vec!["libgomp".to_owned()];
        let said = message(&typed);
        assert!(said.starts_with("--method libgomp: no such barrier; did you mean "), "{said}");
        let mut typed = barriers("0", "2");
        typed.beside.seconds = Some("0".to_owned());
        assert_eq!(message(&typed), "--seconds 0: must be a whole number from 1 to 86400");
        let queues = QueuesArguments {
            mixes: Some("pairs".to_owned()),
            beside: beside("0"),
            ..QueuesArguments::default()
        };
        let said = BesidePlan::queues(&queues).unwrap_err().to_string();
        assert!(said.starts_with("--mixes pairs: no such mix; did you mean "), "{said}");
    }
}
