//! The laboratory of [`throng`]: it lists the structures of the library and measures them, on the
//! machine it runs on and on simulated ones, checking every result while it does.
//!
//! The binary goes through three steps, one module each:
//!
//! 1. [`cli`]: the arguments as they were typed;
//! 2. [`plan`]: the arguments resolved and checked, before anything is measured;
//! 3. [`mod@survey`] (with its [`page`]), [`list`], [`mod@bench`], [`mod@calibrate`], [`machines`],
//!    [`mod@simulate`], [`mod@watch`], [`mod@compare`], [`papers`] and [`model`]: doing it.
//!
//! ```
//! use clap::Parser;
//! use throng_lab::cli::Arguments;
//!
//! let typed = Arguments::try_parse_from(["throng", "list"]).unwrap();
//! throng_lab::run(typed).unwrap();
//! ```

pub mod bench;
pub mod calibrate;
pub mod chart;
pub mod cli;
pub mod compare;
pub mod csv;
pub mod error;
pub mod heap;
pub mod list;
pub mod machines;
pub mod model;
pub mod names;
pub mod numbers;
pub mod output;
pub mod page;
pub mod papers;
pub mod peers;
pub mod plan;
pub mod simulate;
pub mod simulated;
pub mod survey;
pub mod table;
pub mod watch;

use cli::{Arguments, BenchTarget, Command, SurveyArguments};
use error::Error;
use papers::plan::FiguresPlan;

/// Does what the arguments ask for.
///
/// # Errors
/// When an argument is wrong, a result cannot be written, or a structure fails its check.
pub fn run(arguments: Arguments) -> Result<(), Error> {
    match arguments.command {
        None => run_without_arguments(),
        Some(Command::Bench { target: None, survey: typed }) => survey::survey(&typed),
        Some(Command::Page(typed)) => page::make(&typed),
        Some(Command::Table(typed)) => survey::table::print(&typed),
        Some(Command::Compare(typed)) => compare::compare(&typed),
        Some(Command::Calibrate(typed)) => calibrate::calibrate(&typed),
        Some(Command::Watch(typed)) => watch::watch(&typed),
        Some(Command::Part { part }) => bench::beside::part::part(&part),
        Some(Command::List(typed)) => output::print(&list::render(typed.json)),
        Some(Command::Bench { target: Some(target), .. }) => measure_one_kind(&target),
        Some(Command::Figure { id, options }) => papers::run(&FiguresPlan::one(&id, &options)?),
        Some(Command::Figures { ids, options }) => papers::run(&FiguresPlan::many(&ids, &options)?),
        Some(Command::Machines(typed)) => machines::show(&typed),
        Some(Command::Simulate(typed)) => match &typed.meeting.barrier {
            Some(method) => simulate::barrier::simulate(&simulate::barrier::BarrierPlan::resolve(
                method, &typed,
            )?),
            None => simulate::simulate(&simulate::SimulatePlan::resolve(&typed)?),
        },
        Some(Command::Model(typed)) => {
            model::report::answer(&model::plan::ModelPlan::resolve(&typed)?)
        }
    }
}

/// Measures one kind of structure: beside neighbours, if that is asked for.
fn measure_one_kind(target: &BenchTarget) -> Result<(), Error> {
    use bench::beside::{beside, plan::BesidePlan};
    match target {
        BenchTarget::Counters(typed) => bench::counters(plan::CountersPlan::resolve(typed)?),
        BenchTarget::Barriers(typed) if typed.beside.neighbours.is_some() => {
            beside(BesidePlan::barriers(typed)?)
        }
        BenchTarget::Barriers(typed) => {
            bench::barriers::barriers(bench::barriers::plan::BarriersPlan::resolve(typed)?)
        }
        BenchTarget::Heat(typed) => bench::heat::heat(bench::heat::plan::HeatPlan::resolve(typed)?),
        BenchTarget::Loop(typed) if typed.beside.neighbours.is_some() => {
            beside(BesidePlan::loops(typed)?)
        }
        BenchTarget::Loop(typed) => {
            bench::index::loops(bench::index::plan::LoopPlan::resolve(typed)?)
        }
        BenchTarget::Queues(typed) if typed.beside.neighbours.is_some() => {
            beside(BesidePlan::queues(typed)?)
        }
        BenchTarget::Queues(typed) => {
            bench::queues::queues(bench::queues::plan::QueuesPlan::resolve(typed)?)
        }
        BenchTarget::Everyday(typed) => bench::everyday::everyday(typed),
        BenchTarget::Start(typed) => {
            bench::start::start(bench::start::plan::StartPlan::resolve(typed)?)
        }
    }
}

/// What somebody sees who has just typed `cargo run --release`.
fn run_without_arguments() -> Result<(), Error> {
    survey::survey(&SurveyArguments::default())?;
    output::print(MORE)
}

const MORE: &str = "
More:
  throng watch                   the default counter changing its shape, live, in your browser
  throng calibrate               how far cores are apart; what if there were 8 times as many?
  throng compare OLD NEW         what got faster or slower between two `throng bench --json`
  throng list                    what each of these is, what it promises and where it comes from
  throng bench counters          counters alone, more closely
  throng bench barriers          how long threads take to meet, by barrier
  throng bench heat              a computation with a barrier in every step
  throng bench loop              a loop whose iterations take different times
  throng bench queues            how many items a second go through a queue
  throng bench start             what the first use of each costs in a fresh process
  throng bench everyday          queues and pools in everyday loads, beside the best of others
  throng figures                 the figures of the papers made again, on a simulated machine
  throng bench counters --help   choose methods, threads and width; write the numbers as JSON
  throng simulate                a counter on a simulated machine of 256 processors
  throng machines                the machines that can be simulated
  throng model --processors 64   which diffracting tree for so many processors
(through cargo: `cargo run --release -- list` and so on)
";
