//! The arguments as they were typed.
//!
//! Numbers and names stay text here: [`crate::plan`] turns them into values, so that every mistake
//! is answered in the same way, with the value and what is allowed.

mod beside;

use clap::{Args, Parser, Subcommand};

pub use beside::{BesideArguments, Part, RunArguments, StartArguments};

/// Shared counters that keep their speed as the crowd of threads grows: list them, measure them.
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
        part: Part,
    },
    /// Show every structure: how it works, what it promises, where it comes from
    List(ListArguments),
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
    Page(PageArguments),
    /// Print the table of a measurement as Markdown, from its JSON, or put it into a README
    Table(TableArguments),
    /// Tell what got faster or slower between two measurements, beyond their noise
    ///
    /// Both are files that `throng bench --json` has written. What others wrote is the control group: where it
    /// changed, the machine did, and the rest is judged beside that.
    ///
    /// Exit code: 0 if nothing of this library got slower, 3 if something did, 2 if the two cannot be compared.
    Compare(CompareArguments),
    /// Measure how long a line takes from core to core, and write a machine file for the simulator
    ///
    /// `throng simulate --machine FILE --processors N` then tells what would happen if this machine had
    /// more cores.
    Calibrate(CalibrateArguments),
    /// Watch the default counter change its shape, live, on a page of your browser
    ///
    /// Threads of this machine, or processors of a simulated one, take numbers; the page has a slider that
    /// says how many. Ends with Ctrl-C.
    Watch(WatchArguments),
    /// Advise on a diffracting tree: which depth and prism for so many processors
    ///
    /// By the steady-state model of Shavit, Upfal and Zemach (1998). Times are in steps: one try of
    /// a processor at a prism and a toggle. Prints which tree to use, the latency to expect of it,
    /// and beside it its neighbours and the fastest tree.
    Model(ModelArguments),
    /// Show the simulated machines, or the TOML file of one of them
    Machines(MachinesArguments),
    /// Run one counter or barrier on a simulated machine, check it and report what happened
    ///
    /// Every processor takes values, one after another, until so many have been handed out. With
    /// `--barrier` all processors meet instead, round after round. The same arguments give the same
    /// run, bit for bit.
    ///
    /// Exit code: 0 also when processors were halted by `--fault` and others hang for it: the
    /// report says so in its second line (JSON: `finished`, `trouble`); 1 when the counter or barrier
    /// failed its check, hangs though nobody was halted, or panicked; 2 when other arguments would
    /// help (`--steps`, `--processors`).
    Simulate(Box<SimulateArguments>),
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
        options: FigureOptions,
    },
    /// Make all figures again, or some, with a summary of all claims
    ///
    /// Writes ID.csv, ID.svg and ID.json for each, and summary.md, which has the claims of all
    /// figures whose ID.json is in the folder. Every value that a counter hands out is checked.
    ///
    /// Exit code: 0 also when claims do not hold; 1 when a run failed its check.
    #[command(after_long_help = crate::papers::plan::list())]
    Figures {
        /// Only these [default: all]
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        /// How.
        #[command(flatten)]
        options: FigureOptions,
    },
}

/// Options of `throng figure` and `throng figures`.
#[derive(Debug, Default, Args)]
pub struct FigureOptions {
    /// Everything tiny, to see that it works: a few seconds; claims are not judged
    #[arg(long)]
    pub smoke: bool,

    /// The seed of the first repetition of each run; the others follow [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,

    /// The folder for the files; it is made if it is not there [default: figures, of a small test
    /// figures-smoke]
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,

    /// Print JSON and nothing else on standard output
    #[arg(long)]
    pub json: bool,

    /// On how many threads runs are simulated; the results are the same [default: the cores]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub threads: Option<String>,
}

/// Arguments of `throng bench`.
#[derive(Clone, Debug, Default, Args)]
pub struct SurveyArguments {
    /// Fewer and shorter runs: under 30 seconds on 2 cores
    #[arg(long, conflicts_with = "full")]
    pub quick: bool,

    /// Longer and more runs, as long as they take: 6 minutes on 2 cores
    #[arg(long)]
    pub full: bool,

    /// Only these needs: numbers, meeting, exchange, handover, jobs, loop [default: all]
    #[arg(long, value_name = "LIST")]
    pub needs: Option<String>,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How often each is measured [default: 3 to 7 times, as the time allows; quick: 3 to 5; full: 11]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Where the page goes [default: throng-report.html]
    #[arg(long, value_name = "FILE")]
    pub html: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<std::path::PathBuf>,

    /// Show the figures of the papers of this folder on the page [default: figures, where it is there]
    #[arg(long, value_name = "DIR")]
    pub figures: Option<std::path::PathBuf>,
}

/// Arguments of `throng page`.
#[derive(Debug, Args)]
pub struct PageArguments {
    /// What `throng bench --json` has written
    #[arg(value_name = "REPORT.json")]
    pub report: std::path::PathBuf,

    /// Where the page goes [default: beside the report, with the ending .html]
    #[arg(long, value_name = "FILE")]
    pub html: Option<std::path::PathBuf>,

    /// Show the figures of the papers of this folder on the page [default: none]
    #[arg(long, value_name = "DIR")]
    pub figures: Option<std::path::PathBuf>,
}

/// Arguments of `throng table`.
#[derive(Debug, Args)]
pub struct TableArguments {
    /// What `throng bench --json` has written
    #[arg(value_name = "REPORT.json")]
    pub report: std::path::PathBuf,

    /// A row for each need, with what is gained, instead of a table for each
    #[arg(long)]
    pub short: bool,

    /// Put it into this file instead, between the lines `<!-- table: REPORT.json -->`, or `<!-- short table:
    /// REPORT.json -->`, with the path as seen from the file, and `<!-- end of table -->`
    #[arg(long, value_name = "FILE", conflicts_with = "short")]
    pub into: Option<std::path::PathBuf>,
}

/// Arguments of `throng compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// What `throng bench --json` has written before
    #[arg(value_name = "OLD.json")]
    pub old: std::path::PathBuf,

    /// And now
    #[arg(value_name = "NEW.json")]
    pub new: std::path::PathBuf,

    /// A change by less than so many percent is none, however quiet the machine [default: 10]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true)]
    pub least: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `throng calibrate`.
#[derive(Debug, Default, Args)]
pub struct CalibrateArguments {
    /// Shorter runs: a rougher answer in a few seconds
    #[arg(long)]
    pub quick: bool,

    /// Also measure a few counters, barriers and queues, simulate them on the machine just made, and
    /// tell how far the two are from each other
    #[arg(long)]
    pub check: bool,

    /// Where the machine file goes [default: throng-machine.toml]
    #[arg(long, value_name = "FILE")]
    pub out: Option<std::path::PathBuf>,

    /// Write every time to this file as JSON; `-` is standard output, and the table then goes to
    /// standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng watch`.
#[derive(Debug, Default, Args)]
pub struct WatchArguments {
    /// The address to listen on. Others than this machine can see the page if it is not a loopback
    /// address [default: 127.0.0.1]
    #[arg(long, value_name = "IP")]
    pub bind: Option<String>,

    /// The port [default: 7171; 0: any that is free]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub port: Option<String>,

    /// A simulated machine instead of this one: a name that `throng machines` shows, or a TOML file
    /// [default: this machine]
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,

    /// How many processors the simulated machine has [default: as many as its file says]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub processors: Option<String>,
}

/// Arguments of `throng list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
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
    Counters(CountersArguments),
    /// Measure how long a round of each barrier takes
    ///
    /// Threads meet, round after round, with nothing in between. Every barrier is measured on every
    /// number of threads, several times in turn, beside the barrier of the standard library and
    /// those of the crates `hurdles` and `spin`. While measured it is watched: a thread that is let
    /// out before another has come fails the run.
    Barriers(Box<BarriersArguments>),
    /// Measure a computation with a barrier in every step: heat that spreads over a plate
    ///
    /// The rows of a square plate are shared out among threads, which meet after every step. Beside
    /// the barriers, rayon does the same with one parallel loop a step. Every result is compared
    /// with that of one thread, bit for bit.
    Heat(HeatArguments),
    /// Measure a loop whose iterations take different times, shared out among threads
    ///
    /// The library's `for_each_index` beside the parallel loop of rayon, threads that get as many
    /// indices each, and threads that take one index after the other. The same loop is done several
    /// times in a row. It is checked that every index was done once in every loop.
    Loop(Box<LoopArguments>),
    /// Measure how many items a second go through a queue
    ///
    /// Threads push items and pop them as fast as they can, in several mixes. Every queue is measured in
    /// every mix on every number of threads, several times in turn, beside those that people use today.
    /// While measured it is watched: every item must be popped once, and those that one thread pushed
    /// in their order.
    Queues(Box<QueuesArguments>),
    /// Measure queues and pools in everyday loads, as a ratio to the best peer of the same kind
    ///
    /// One thread that drains a burst of two, a small queue that is made and dropped, items that arrive at
    /// random times, pairs with work in between, a pipeline, a tree of jobs; and how many bytes a queue takes.
    /// Every case is measured several times in turn, ours beside the queues, channels and pools of others.
    /// The main column is the ratio of ours to the best of them: bounded queues beside bounded ones, unbounded
    /// beside unbounded, unordered beside unordered. Every item is checked. Takes 3 to 5 minutes on 16 cores.
    Everyday(Box<EverydayArguments>),
    /// Measure what the first use of a structure costs in a fresh process
    ///
    /// Each structure is made and used once in many processes, ours beside those of the standard library and
    /// of crossbeam. Reports the time to construct it and the time of the first operation: of a barrier the
    /// first round of threads that have started before, of a queue or pool a push and a pop.
    Start(StartArguments),
}

/// Arguments of `throng bench everyday`.
#[derive(Debug, Default, Args)]
pub struct EverydayArguments {
    /// Fewer and shorter runs: about a minute on 2 cores
    #[arg(long)]
    pub quick: bool,

    /// Measure only these cases: names, groups, or patterns such as open-1:*,burst-2,tree [default: all]
    ///
    /// The groups: single (one thread: burst-K, fill-K, full-pop-push, create-16, create-unbounded, push-pop),
    /// bytes (empty, small, large), stream (one producer and one consumer), open (Poisson arrivals:
    /// open-PRODUCERS:CONSUMERS-RATE), pairs (untimed, or with 0, 100, 1000 ns of work before each call),
    /// pipeline, tree (20, 200, 2000 ns of work in each job).
    #[arg(long, value_name = "LIST")]
    pub only: Option<String>,

    /// Name all cases and everything that is measured, and stop
    #[arg(long)]
    pub list: bool,

    /// Measure only these queues and pools, such as queue,array-queue [default: all]
    #[arg(long, value_name = "LIST")]
    pub methods: Option<String>,

    /// Numbers of threads, such as 2,8; may be above the cores. Open loops and pipelines have at most the
    /// largest of them [default: 1,2,4,8,16 as far as there are cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How often each is measured [default: 5, quick: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds; an eighth of it for one thread, more for rare arrivals [default: 40,
    /// quick: 20]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Levels below the root of a tree of jobs [default: 18, fewer where that would take long]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub depth: Option<String>,

    /// Put the numbers of this file beside: what `peers/everyday` has measured with queues of C++
    #[arg(long, value_name = "FILE")]
    pub beside: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,

    /// Write every single measurement to this file as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<std::path::PathBuf>,

    /// Write everyday.txt, everyday.json and everyday.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,
}

/// Arguments of `throng bench queues`.
#[derive(Debug, Default, Args)]
pub struct QueuesArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only these queues, and array-queue, such as queue,flume-bounded [default: all]
    ///
    /// The library's: queue and queue-unbounded (`push` and `pop` of `Queue`), queue-try and
    /// queue-unbounded-try (`try_push` and `try_pop` until they work), channel and channel-unbounded,
    /// pool (unordered), and of the papers rsu (unordered) and job-queue (an array and two
    /// `Counter`s). Others that wait: crossbeam-bounded, crossbeam-unbounded, flume-bounded,
    /// flume-unbounded, kanal-bounded, kanal-unbounded, std-bounded, std-unbounded (one consumer).
    /// Others that are tried until they work: array-queue, seg-queue (crossbeam), concurrent-bounded,
    /// concurrent-unbounded, scq (lfqueue), lprq, faaa, mutex-deque. And nothing: no queue. Bounds
    /// are 1024 items, or 32 a thread.
    #[arg(long, value_name = "LIST")]
    pub methods: Option<String>,

    /// Measure only these mixes [default: all]
    ///
    /// pairs: every thread pushes one item and pops one, in turn. even: half of the threads push, the
    /// others pop. one-producer, one-consumer: one thread pushes or pops, the others pop or push.
    /// bursts: every thread pushes 32 items and then pops 32. large: as pairs, with items of 256
    /// bytes. empty: all look for an item, and there is none.
    ///
    /// With `--neighbours` the mixes are others. ping-pong: one item goes from one thread to another and back.
    /// stream: half of the threads push and work before each item, the others pop. The queues then are queue,
    /// queue-unbounded, pool, crossbeam-bounded and crossbeam-unbounded.
    #[arg(long, value_name = "LIST")]
    pub mixes: Option<String>,

    /// Before each push and each pop, a thread has 0 to this many nanoseconds of something else to do,
    /// at random [default: 0]. With `--neighbours`, this many nanoseconds before each push of a stream
    /// [default: 50000]
    #[arg(long, value_name = "NS", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How often each is measured [default: 5, quick: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds [default: 100, quick: 20]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub duration: Option<String>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng bench barriers`.
#[derive(Debug, Default, Args)]
pub struct BarriersArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 2,4,8 [default: powers of two from 2 up to twice the
    /// cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only this barrier, and std; may be repeated [default: all]
    ///
    /// The library's: barrier (`Barrier`), team (`Barrier::team`); its methods as teams: shaped,
    /// grouped, tally, count-and-release, central, combining-tree, dissemination, tournament, mcs-tree,
    /// static-fway (flags packed), static-fway-padded (a line each), dynamic-fway. Others: std, hurdles, spin. With
    /// `--neighbours` also pthread (always measured, as std), and with `--peers` those of OpenMP as they wait
    /// by default and passively: libgomp, libgomp-passive, libomp, libomp-passive; the default then is std,
    /// pthread, barrier, team, hurdles and all of OpenMP.
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<String>,

    /// Measure what waiting costs instead: one thread comes late, and the others wait for it
    #[arg(long, conflicts_with_all = ["rounds", "neighbours"])]
    pub idle: bool,

    /// How often each barrier is measured on each number of threads [default: 9, quick: 5, idle: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds; with `--idle`, how late the last one comes [default: 40,
    /// quick: 10, idle: 100]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub milliseconds: Option<String>,

    /// Measure so many rounds a run, however long they take [default: as many as fit into the time]
    #[arg(long, value_name = "N", conflicts_with = "neighbours", allow_negative_numbers = true)]
    pub rounds: Option<String>,

    /// With `--neighbours`: how many nanoseconds each thread works before each round, such as 0,50000
    /// [default: 0]
    #[arg(long, value_name = "LIST", requires = "neighbours", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// With `--neighbours`: also measure the barriers of OpenMP, with the programs in this folder, which
    /// `peers/run build DIR` makes
    #[arg(long, value_name = "DIR", requires = "neighbours")]
    pub peers: Option<std::path::PathBuf>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng bench heat`.
#[derive(Debug, Default, Args)]
pub struct HeatArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 2,4,8 [default: powers of two from 2 up to twice the
    /// cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How many cells the plates have on a side [default: 64,256,1024]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub sizes: Option<String>,

    /// How many steps a run has [default: by the size, 256 to 4096; quick: a quarter]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub steps: Option<String>,

    /// How often each is measured [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng bench loop`.
#[derive(Debug, Default, Args)]
pub struct LoopArguments {
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// How many indices the loops have [default: 100,10000; with `--neighbours` 1000]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub indices: Option<String>,

    /// How long all indices of a loop take together on one thread [default: 200,5000; with
    /// `--neighbours` 200,2000]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub microseconds: Option<String>,

    /// Measure only loops of this shape; may be repeated [default: all; with `--neighbours` growing]
    ///
    /// skewed: few indices, anywhere, take up to a hundred times as long as most; growing: the later
    /// the longer; mandelbrot: as rows of a picture of the Mandelbrot set.
    #[arg(long = "shape", value_name = "NAME")]
    pub shapes: Vec<String>,

    /// How long the calling thread does something else between two loops, in microseconds [default:
    /// 0]
    #[arg(long, value_name = "US", allow_negative_numbers = true)]
    pub gap: Option<String>,

    /// How often each is measured [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Beside neighbours.
    #[command(flatten)]
    pub beside: BesideArguments,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng bench counters`.
#[derive(Debug, Default, Args)]
pub struct CountersArguments {
    /// Fewer and shorter runs: about ten seconds on a small machine
    #[arg(long)]
    pub quick: bool,

    /// Numbers of threads to measure, such as 1,2,4 [default: powers of two up to twice the cores]
    #[arg(long, value_name = "LIST", allow_negative_numbers = true)]
    pub threads: Option<String>,

    /// Measure only this counter; may be repeated. `throng list` shows the names [default: all]
    #[arg(long = "method", value_name = "NAME")]
    pub methods: Vec<String>,

    /// Width of the counters that have one: leaves of a tree, wires of a network [default: each
    /// counter chooses for the number of threads]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub width: Option<String>,

    /// The same as a depth: a tree of depth D has 2^D leaves
    #[arg(long, value_name = "D", allow_negative_numbers = true, conflicts_with = "width")]
    pub depth: Option<String>,

    /// Take values one by one, each behind a dynamic dispatch, as a program would that uses one now
    /// and then [default: 64 in a row]
    #[arg(long)]
    pub one_by_one: bool,

    /// The same, and after each value a thread is busy with something else for 0 to so many
    /// nanoseconds, at random
    #[arg(long, value_name = "NS", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How often each counter is measured on each number of threads [default: 9, quick: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub repetitions: Option<String>,

    /// Time of one run in milliseconds, at most: a counter that has filled the memory for its values
    /// ends its run early [default: so that all of it takes a minute or two; quick:
    /// ten seconds]
    #[arg(long, value_name = "MS", allow_negative_numbers = true)]
    pub milliseconds: Option<String>,

    /// Write every single measurement to this file as JSON; `-` is standard output, and the table
    /// then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<std::path::PathBuf>,
}

/// Arguments of `throng machines`.
#[derive(Debug, Args)]
pub struct MachinesArguments {
    /// Print the TOML file of this machine, a start for one of your own; a file is checked and
    /// printed
    #[arg(value_name = "NAME|FILE")]
    pub name: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

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

    /// After each value, or before each round, a processor is busy with something else for 0 to so
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

    /// Break the run off after so many steps of all processors together [default: 100 million, and
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

/// Options of `throng simulate` for barriers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Barriers")]
pub struct MeetingArguments {
    /// A barrier instead of a counter: shaped, grouped, tally, count-and-release, central, combining-tree,
    /// dissemination, tournament, mcs-tree, static-fway, dynamic-fway
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

    /// Where the flags of those who meet at a node lie: `packed` on one line, or `padded`, a line
    /// each [default: packed]
    #[arg(long, value_name = "packed|padded", requires = "barrier")]
    pub flags: Option<String>,

    /// How those who wait learn that all have come: by one `global` word, or down the `tree`
    /// [default: global]
    #[arg(long, value_name = "global|tree", requires = "barrier")]
    pub wake_up: Option<String>,

    /// How flags are made ready for the next round: `clear` them, or `count` rounds [default: clear]
    #[arg(long, value_name = "clear|count", requires = "barrier")]
    pub reinit: Option<String>,
}

/// Arguments of `throng model`.
#[derive(Debug, Default, Args)]
pub struct ModelArguments {
    /// How many processors use the counter, each again and again
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub processors: String,

    /// Judge a tree of this depth, with 2^D counters [default: as the model advises]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub depth: Option<String>,

    /// Judge a tree with prisms of this width at the root [default: as the model advises]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub prism: Option<String>,

    /// How long a processor works between two numbers, in steps [default: 0]
    #[arg(long, value_name = "W", allow_negative_numbers = true)]
    pub work: Option<String>,

    /// How many times faster a counter is than a prism; below 1 it is slower [default: 1]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub counter_speed: Option<String>,

    /// Seed of the simulated Markov chain: the same seed gives the same answer [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub seed: Option<String>,

    /// Write model.svg, a chart of latency against processors, and model.csv into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<std::path::PathBuf>,

    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
