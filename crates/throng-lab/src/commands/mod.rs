//! The commands: a file each, with its arguments, its plan and its run.
//!
//! Numbers and names stay text in the arguments. A plan has them as values, so that every mistake is answered in the same
//! way, with the value and what is allowed, before anything is measured.

pub mod barriers;
pub mod bench;
pub mod beside;
pub mod calibrate;
pub mod compare;
pub mod counters;
pub mod everyday;
pub mod figures;
pub mod heat;
pub mod list;
pub mod loops;
pub mod machines;
pub mod model;
pub mod neighbours;
pub mod page;
pub mod part;
pub mod picture;
pub mod queues;
pub mod simulate;
pub mod start;
pub mod table;
pub mod validate;
pub mod watch;

use std::ops::RangeInclusive;

use clap::{Parser, Subcommand};
use throng_papers::arguments::{numbers, optional};
use throng_papers::output;

use crate::error::Error;
use bench::SurveyArguments;

/// Measures counters, barriers, queues, pools and loops, on this machine and on simulated ones.
///
/// Without a command, measures this machine (as `throng bench`) and recommends what to use on it.
///
/// Exit code: 0 if all went well, 1 if a structure failed its check, 2 if an argument is wrong, asks
/// for more than this system gives or for too few steps, or if an output cannot be written.
#[derive(Debug, Parser)]
#[command(name = "throng", version, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// One part of a benchmark, in a process of its own: what `throng bench` starts by itself
    #[command(hide = true)]
    Part {
        /// Which part.
        #[command(subcommand)]
        part: part::Part,
    },
    /// Show every structure: how it works, what it promises, where it comes from
    List(list::ListArguments),
    /// Measure this machine, recommend what to use on it, and write a page that shows why
    ///
    /// Counters, barriers, queues and pools, ours and those that people use today, on 1 thread to twice
    /// the cores; every result is checked. Takes up to 3 minutes. Ctrl-C ends it early, with a report of
    /// what was measured so far. With the name of one kind, measures that kind alone, more closely.
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Bench {
        /// One kind alone.
        #[command(subcommand)]
        target: Option<BenchTarget>,
        /// All of them.
        #[command(flatten)]
        survey: SurveyArguments,
    },
    /// Make the page of a measurement again, from its JSON
    Page(page::PageArguments),
    /// Print the table of a measurement as Markdown, from its JSON, or put it into a README
    Table(table::TableArguments),
    /// Draw throughput and 99th percentile side by side, as an SVG file, from the CSV of `throng bench everyday`
    Picture(picture::PictureArguments),
    /// Tell what got faster or slower between two measurements, beyond their noise
    ///
    /// Both are files that `throng bench --json` has written. Structures of other libraries are the control
    /// group: where their times changed, the machine did, and the rest is judged relative to that.
    ///
    /// Exit code: 0 if nothing of this library got slower, 3 if something did, 2 if the two cannot be compared.
    Compare(compare::CompareArguments),
    /// Measure how long a line takes from core to core, and write a machine file for the simulator
    ///
    /// `throng simulate --machine FILE --processors N` then tells what would happen if this machine had
    /// more cores.
    Calibrate(calibrate::CalibrateArguments),
    /// Simulate what `throng bench` has measured, and tell how far the two are apart
    ///
    /// The simulated machine is made from the measured times from core to core, never from a throughput. For
    /// each need and number of threads: the median and the worst factor, Spearman's rank correlation over the
    /// methods, and the pairs of methods whose order is inverted.
    Validate(validate::ValidateArguments),
    /// Watch the default counter change its shape, live, or any structure step by step, in your browser
    ///
    /// Threads of this machine, or processors of a simulated one, take numbers; the page has a slider for
    /// their number. Ends with Ctrl-C.
    ///
    /// With `--counter NAME` or `--barrier NAME` the page shows that structure instead, step by step: its words
    /// with their values, and the processors at them. It has a player, and the address of each step leads back
    /// to it. `--svg FILE` writes one step as a picture.
    Watch(watch::WatchArguments),
    /// Advise on a diffracting tree: which depth and prism for a number of processors
    ///
    /// By the steady-state model of Shavit, Upfal and Zemach (1998). Times are in steps: one try of
    /// a processor at a prism and a toggle. Prints which tree to use, the latency to expect of it,
    /// and beside it its neighbours and the fastest tree.
    Model(model::ModelArguments),
    /// Show the simulated machines, or the TOML file of one of them
    Machines(machines::MachinesArguments),
    /// Run one counter or barrier on a simulated machine, check it and report what happened
    ///
    /// Every processor takes values, one after another, until `--values` have been handed out. With
    /// `--barrier` all processors meet instead, round after round. The same arguments give the same
    /// run, bit for bit.
    ///
    /// Exit code: 0 also when processors were halted by `--fault` and others hang for it: the
    /// report says so in its second line (JSON: `finished`, `trouble`); 1 when the counter or barrier
    /// failed its check, hangs though no processor was halted, or panicked; 2 when other arguments would
    /// help (`--steps`, `--processors`).
    Simulate(Box<simulate::SimulateArguments>),
    /// Make a figure of a paper again: simulate its workload, draw it, judge what the paper claims
    ///
    /// Writes ID.csv, ID.svg and ID.json, and prints the numbers and the claims. Every value that a
    /// counter hands out is checked. `throng figures --help` lists the figures.
    ///
    /// Exit code: 0 also when a claim does not hold; 1 when a run failed its check.
    Figure {
        /// The figure, such as DT96-8 or SS98-9
        #[arg(value_name = "ID")]
        id: String,
        /// How.
        #[command(flatten)]
        options: figures::FigureOptions,
    },
    /// Make all figures again, or some, with a summary of all claims
    ///
    /// Writes ID.csv, ID.svg and ID.json for each, and summary.md, which has the claims of all
    /// figures whose ID.json is in the folder. Every value that a counter hands out is checked.
    ///
    /// Exit code: 0 also when claims do not hold; 1 when a run failed its check.
    #[command(after_long_help = throng_papers::figures::list())]
    Figures {
        /// Only these [default: all]
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// How.
        #[command(flatten)]
        options: figures::FigureOptions,
    },
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum BenchTarget {
    /// Measure how many values a second each counter hands out
    ///
    /// Threads take values from one shared counter as fast as they can. Every counter is measured
    /// on every number of threads, several times in turn, beside the plain atomic `fetch_add` of
    /// the standard library. All values are kept and checked: each of 0, 1, 2, ... must have been
    /// handed out exactly once.
    Counters(counters::CountersArguments),
    /// Measure how long a round of each barrier takes
    ///
    /// Threads meet, round after round, with nothing in between. Every barrier is measured on every
    /// number of threads, several times in turn, beside the barrier of the standard library and
    /// those of the crates `hurdles` and `spin`. While measured it is watched: a thread that is let
    /// out before another has come fails the run.
    Barriers(Box<barriers::BarriersArguments>),
    /// Measure a computation with a barrier in every step: heat that spreads over a plate
    ///
    /// The rows of a square plate are shared out among threads, which meet after every step. Beside
    /// the barriers, rayon does the same with one parallel loop a step. Every result is compared
    /// with that of one thread, bit for bit.
    Heat(heat::HeatArguments),
    /// Measure a loop whose iterations take different times, shared out among threads
    ///
    /// The library's `for_each_index` beside the parallel loop of rayon, threads that get as many
    /// indices each, and threads that take one index after the other. The same loop is done several
    /// times in a row. It is checked that every index was done once in every loop.
    Loop(Box<loops::LoopArguments>),
    /// Measure how many items a second go through a queue
    ///
    /// Threads push items and pop them as fast as they can, in several mixes. Every queue is measured in
    /// every mix on every number of threads, several times in turn, beside those that people use today.
    /// While measured it is watched: every item must be popped once, and those that one thread pushed
    /// in their order.
    Queues(Box<queues::QueuesArguments>),
    /// Measure queues and pools in everyday loads, as a ratio to the best peer of the same kind
    ///
    /// One thread that drains a burst of two, a small queue that is made and dropped, items that arrive at
    /// random times, pairs with work in between, a pipeline, a tree of jobs; and how many bytes a queue takes.
    /// Every case is measured several times in turn, ours beside the queues, channels and pools of others.
    /// The main column is the ratio of ours to the best of them: bounded queues beside bounded ones, unbounded
    /// beside unbounded, unordered beside unordered. Every item is checked. Takes 3 to 5 minutes on 16 cores.
    Everyday(Box<everyday::EverydayArguments>),
    /// Measure what the first use of a structure costs in a fresh process
    ///
    /// Each structure is made and used once in many processes, ours beside those of the standard library and
    /// of crossbeam. Reports the time to construct it and the time of the first operation: of a barrier the
    /// first round of threads that have started before, of a queue or pool a push and a pop.
    Start(start::StartArguments),
}

/// Does what the arguments ask for.
///
/// # Errors
/// When an argument is wrong, a result cannot be written, or a structure fails its check.
pub fn run(arguments: Arguments) -> Result<(), Error> {
    let Some(command) = arguments.command else { return run_without_arguments() };
    match command {
        Command::Bench { target: None, survey } => bench::run(&survey),
        Command::Bench { target: Some(target), .. } => match target {
            BenchTarget::Counters(typed) => counters::run(&typed),
            BenchTarget::Barriers(typed) if typed.beside.neighbours.is_some() => {
                beside::barriers(&typed)
            }
            BenchTarget::Barriers(typed) => barriers::run(&typed),
            BenchTarget::Heat(typed) => heat::run(&typed),
            BenchTarget::Loop(typed) if typed.beside.neighbours.is_some() => beside::loops(&typed),
            BenchTarget::Loop(typed) => loops::run(&typed),
            BenchTarget::Queues(typed) if typed.beside.neighbours.is_some() => {
                beside::queues(&typed)
            }
            BenchTarget::Queues(typed) => queues::run(&typed),
            BenchTarget::Everyday(typed) => everyday::run(&typed),
            BenchTarget::Start(typed) => start::run(&typed),
        },
        Command::Part { part } => part::run(&part),
        Command::List(typed) => list::run(&typed),
        Command::Page(typed) => page::run(&typed),
        Command::Table(typed) => table::run(&typed),
        Command::Picture(typed) => picture::run(&typed),
        Command::Compare(typed) => compare::run(&typed),
        Command::Calibrate(typed) => calibrate::run(&typed),
        Command::Validate(typed) => validate::run(&typed),
        Command::Watch(typed) => watch::run(&typed),
        Command::Model(typed) => Ok(model::run(&typed)?),
        Command::Machines(typed) => machines::run(&typed),
        Command::Simulate(typed) => Ok(simulate::run(&typed)?),
        Command::Figure { id, options } => Ok(figures::run_one(&id, &options)?),
        Command::Figures { ids, options } => Ok(figures::run(&ids, &options)?),
    }
}

/// Does what `cargo run --release` does.
fn run_without_arguments() -> Result<(), Error> {
    bench::run(&SurveyArguments::default())?;
    Ok(output::print(MORE)?)
}

/// Most repetitions of a run.
const MAX_REPETITIONS: usize = 1000;

/// Returns the typed number of repetitions, or the usual one.
fn repetitions(typed: Option<&str>, usual: usize) -> Result<usize, Error> {
    Ok(optional("--repetitions", typed, 1..=MAX_REPETITIONS)?.unwrap_or(usual))
}

/// Returns the typed numbers of threads: ascending, each once; or the usual ones.
fn threads(
    typed: Option<&str>,
    range: RangeInclusive<usize>,
    usual: Vec<usize>,
) -> Result<Vec<usize>, Error> {
    typed.map_or(Ok(usual), |list| Ok(numbers("--threads", list, range)?))
}

const MORE: &str = "
More:
  throng watch                   the default counter changing its shape, live, in your browser
  throng watch --counter reactive  any counter or barrier, step by step
  throng calibrate               how far cores are apart; what if there were 8 times as many?
  throng validate REPORT         the simulator beside what was measured: factors, and the order of methods
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
  throng model --processors 64   which diffracting tree for 64 processors
(through cargo: `cargo run --release -- list` and so on)
";
