//! The report of a simulated run: plain data, in the order of the JSON document.
//! (More than 500 lines: 240 describe the fields of that document.)

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use throng::machine::Place;
use throng::structures::counter::Consistency;
use throng_papers::numbers::{counted, grouped};
use throng_papers::workloads::CountingRun;
use throng_papers::workloads::measured::Measured;
use throng_sim::{End, Faults, MachineSpec, Traffic};

use super::SimulatePlan;

/// Number of lines shown.
const HOTTEST: usize = 10;
/// Most processors named.
const NAMED: usize = 16;
/// Smallest ratio by Little's law. Below it, the mean latency leaves out too many calls.
const LITTLE_LEAST: f64 = 0.9;

/// The report of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of the program.
    pub throng: &'static str,
    /// The command that repeats the run.
    pub command: String,
    /// The counter.
    pub method: &'static str,
    /// The machine as it was built.
    pub machine: MachineSpec,
    /// Its name, with its file where it has one.
    pub machine_in_words: String,
    /// Number of processors that took values.
    pub processors: usize,
    /// Number of processors of the machine.
    pub nodes: usize,
    /// The number at which they stopped.
    pub values: u64,
    /// Upper bound of the cycles between two values.
    pub work: u32,
    /// The seed of everything random.
    pub seed: u64,
    /// The requested width.
    pub width: Option<usize>,
    /// The injected faults, as a script.
    pub faults: String,
    /// The same with all random stalls and halts as drawn from the seed.
    pub faults_chosen: String,
    /// The checks made, in words.
    pub check: String,
    /// Number of values handed out.
    pub handed_out: u64,
    /// Whether all values were handed out, and every processor finished that was not halted.
    pub finished: bool,
    /// The reason why the run did not finish, in words.
    pub trouble: Option<String>,
    /// How the run ended, in words.
    pub end: String,
    /// The processors that were halted.
    pub halted: Vec<usize>,
    /// Number of processors that did not finish.
    pub unfinished: usize,
    /// The processors that were not halted and whose last call never returned.
    pub hanging: Vec<usize>,
    /// Cycles of the run.
    pub cycles: u64,
    /// The part of the run in which throughput and latency were measured; `None` if the run ended
    /// in its warm-up. Everything else is about the whole run.
    pub window: Option<Window>,
    /// Throughput; `None` if it was not measured.
    pub throughput: Option<Throughput>,
    /// Latency of a call in cycles; `None` if it was not measured.
    pub latency_cycles: Option<Latency>,
    /// The same in nanoseconds, by the machine's clock.
    pub latency_ns: Option<Latency>,
    /// Longest wait of a call that was not served: up to the end of the measurement or, if it never
    /// returned, up to the end of the run.
    pub unserved_cycles_max: u64,
    /// Whether the measured calls account for all processors; `None` if nothing was measured.
    pub little: Option<Little>,
    /// The distribution of values over the processors.
    pub values_per_processor: Spread,
    /// The histogram of latencies.
    pub histogram: Vec<Bucket>,
    /// Accesses to shared memory.
    pub accesses: u64,
    /// Steps: accesses, pauses, clock readings.
    pub steps: u64,
    /// The memory's totals.
    pub memory: Memory,
    /// The lines at which processors waited longest, the worst first.
    pub hottest: Vec<HotLine>,
    /// The levels of a diffracting tree, the root first; empty for other counters.
    pub levels: Vec<Level>,
    /// The depth of a tree over time; empty for other counters.
    pub depth: Vec<DepthStretch>,
    /// Hash of all accesses. Equal runs have equal hashes.
    pub trace_hash: String,
    /// The speed of the simulator on the machine it ran on.
    pub simulator: Simulator,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Window {
    /// It begins when the values before it have been handed out.
    pub from_cycle: u64,
    /// It ends with the last value before the first processor stops, or before the run hangs.
    pub to_cycle: u64,
    /// Number of values handed out in it.
    pub values: u64,
}

/// Little's law: throughput times the mean time from a call to the next is the number of
/// processors, unless the mean leaves out calls that never returned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Little {
    /// Mean number of calls in progress: throughput times mean latency.
    pub calls: f64,
    /// Mean number of processors between two calls: throughput times mean work.
    pub working: f64,
    /// Sum of both, for each processor: 1 if all are accounted for.
    pub ratio: f64,
    /// Whether that is much less than 1.
    pub too_low: bool,
}

/// The distribution of values over processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The fewest of a processor.
    pub least: u64,
    /// The median.
    pub median: u64,
    /// The most of a processor.
    pub most: u64,
}

/// Throughput of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// Values in a million cycles.
    pub per_million_cycles: f64,
    /// Values in a second, by the machine's clock.
    pub per_second: f64,
}

/// Latency of calls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// Mean.
    pub mean: f64,
    /// Half of them took no longer.
    pub p50: f64,
    /// 90 % took no longer.
    pub p90: f64,
    /// 99 % took no longer.
    pub p99: f64,
    /// 99.9 % took no longer.
    pub p99_9: f64,
    /// The longest.
    pub max: f64,
}

/// A bucket of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Smallest latency.
    pub from: u64,
    /// Largest latency, inclusive.
    pub to: u64,
    /// Number of calls.
    pub count: u64,
}

/// The memory's totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that missed it.
    pub misses: u64,
    /// Cached copies that were invalidated.
    pub invalidations: u64,
    /// Messages that the network carried.
    pub messages: u64,
    /// Cycles that misses waited in queues, summed.
    pub waited_cycles: u64,
}

/// A line of memory, or all lines of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HotLine {
    /// Its name.
    pub line: String,
    /// Number of lines of this name; the counts are their sums.
    pub lines: usize,
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that missed it.
    pub misses: u64,
    /// Cached copies that were invalidated.
    pub invalidations: u64,
    /// Cycles that misses waited in queues, summed.
    pub waited_cycles: u64,
}

/// A level of a diffracting tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// 0 is the root.
    pub level: u32,
    /// Tokens that passed a toggle.
    pub toggled: u64,
    /// Tokens that left in pairs, without passing a toggle.
    pub diffracted: u64,
    /// Tokens that leave in pairs for each that passes a toggle (DT96); `None` if no token passed
    /// one.
    pub diffraction_rate: Option<f64>,
}

/// The depth of a tree in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthStretch {
    /// Where it begins.
    pub start_cycle: u64,
    /// Calls that passed the tree.
    pub calls: u64,
    /// Mean number of levels that they passed.
    pub depth_mean: f64,
}

/// The speed of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulator {
    /// Elapsed time, checks included.
    pub seconds: f64,
    /// Simulated accesses in a second.
    pub accesses_per_second: f64,
}

impl Report {
    /// Makes the report.
    pub fn new(plan: &SimulatePlan, measured: &Measured, elapsed: Duration) -> Self {
        let run = &plan.run;
        let machine = MachineSpec { processors: run.machine_processors(), ..run.machine.clone() };
        let window = Window::of(measured);
        let cycles = window.map(|_| Latency::of(measured));
        let throughput = window.filter(|window| window.to_cycle > window.from_cycle).map(|_| {
            let per_million_cycles = measured.throughput_per_million_cycles;
            let per_second = per_million_cycles * f64::from(machine.clock_mhz);
            Throughput { per_million_cycles, per_second }
        });
        let trouble = trouble(run, measured);
        let total = measured.memory.total;
        let seconds = elapsed.as_secs_f64();
        Report {
            throng: env!("CARGO_PKG_VERSION"),
            command: run.replay_command(),
            method: run.counter.method,
            machine_in_words: run.machine_in_words(),
            processors: run.processors,
            nodes: run.machine_processors(),
            values: run.values,
            work: run.work,
            seed: run.seed,
            width: plan.width,
            faults: run.faults.to_string(),
            faults_chosen: chosen(&run.faults, run).to_string(),
            check: check_in_words(run, measured),
            handed_out: measured.handed_out,
            finished: trouble.is_none(),
            trouble,
            end: end_in_words(&measured.end),
            halted: measured.halted.clone(),
            unfinished: measured.unfinished,
            hanging: measured.hanging.clone(),
            cycles: measured.cycles,
            window,
            throughput,
            latency_cycles: cycles,
            latency_ns: cycles.map(|cycles| cycles.times(machine.nanoseconds(1))),
            unserved_cycles_max: measured.unserved_cycles_max,
            little: throughput.map(|throughput| Little::of(throughput, measured, run)),
            values_per_processor: Spread::of(&measured.per_processor),
            histogram: buckets(&measured.latency),
            accesses: measured.accesses,
            steps: measured.steps,
            memory: Memory {
                hits: total.hits,
                misses: total.misses,
                invalidations: total.invalidations,
                messages: measured.memory.messages,
                waited_cycles: total.waited_cycles,
            },
            hottest: hottest(&measured.memory.lines),
            levels: levels(measured),
            depth: depth_over_time(measured),
            trace_hash: format!("{:016x}", measured.trace_hash),
            simulator: Simulator {
                seconds,
                accesses_per_second: measured.accesses as f64 / seconds.max(1e-9),
            },
            machine,
        }
    }
}

fn chosen(faults: &Faults, run: &CountingRun) -> Faults {
    faults.chosen(run.processors, run.seed)
}

/// Returns why a run did not finish, if it did not. It must not be overlooked among the numbers.
fn trouble(run: &CountingRun, measured: &Measured) -> Option<String> {
    let got = format!(
        "{} handed out of {} asked for",
        counted(measured.handed_out, "value"),
        grouped(run.values)
    );
    let waiting = named(&measured.hanging);
    match measured.end {
        End::Stuck { .. } => {
            Some(format!("HANGS: {waiting} for ever, because others were halted; {got}"))
        }
        End::StepLimit { limit, .. } => Some(format!(
            "HANGS or is too slow: {waiting}, at the limit of {} steps; {got}",
            grouped(limit)
        )),
        End::TimeLimit { .. } => {
            Some(format!("HANGS or is too slow: {waiting}, at the end of simulated time; {got}"))
        }
        End::Finished if measured.reached => None,
        End::Finished => Some(format!("DID NOT REACH ITS VALUES: all were halted; {got}")),
    }
}

/// Names processors, as in "processor 1 waits", "3 processors (1, 2, 5) wait".
fn named(processors: &[usize]) -> String {
    let ids: Vec<String> = processors.iter().take(NAMED).map(usize::to_string).collect();
    let more = if processors.len() > NAMED { ", ..." } else { "" };
    match processors {
        [] => "no processor waits".to_owned(),
        [one] => format!("processor {one} waits"),
        many => {
            format!("{} ({}{more}) wait", counted(many.len() as u64, "processor"), ids.join(", "))
        }
    }
}

/// Describes how the run ended, with numbers in the common style.
fn end_in_words(end: &End) -> String {
    match *end {
        End::StepLimit { limit, unfinished } => format!(
            "stopped at the limit of {} with {} unfinished",
            counted(limit, "step"),
            counted(unfinished as u64, "processor")
        ),
        End::Finished | End::Stuck { .. } | End::TimeLimit { .. } => end.to_string(),
    }
}

/// Describes the checks of the run; it would have failed otherwise.
fn check_in_words(run: &CountingRun, measured: &Measured) -> String {
    let Measured { handed_out, unfinished, .. } = *measured;
    let numbers = match (handed_out, unfinished) {
        (0, _) => "no value was handed out".to_owned(),
        (_, 0) => format!("each of 0 to {} was handed out exactly once", grouped(handed_out - 1)),
        (_, unfinished) => format!(
            "{}, no two alike and none above {} ({} did not finish; each may hold one)",
            counted(handed_out, "value"),
            grouped(handed_out - 1 + unfinished as u64),
            counted(unfinished as u64, "processor")
        ),
    };
    match run.counter.consistency {
        Consistency::Linearizable => {
            format!(
                "{numbers}; no call got a smaller one than a call that was over before it began"
            )
        }
        Consistency::Quiescent => numbers,
    }
}

impl Window {
    /// Returns `None` where no value counts.
    fn of(measured: &Measured) -> Option<Self> {
        let values = measured.counted();
        let Measured { begin_cycle: from_cycle, end_cycle: to_cycle, .. } = *measured;
        (values > 0).then_some(Window { from_cycle, to_cycle, values })
    }
}

impl Little {
    fn of(throughput: Throughput, measured: &Measured, run: &CountingRun) -> Self {
        let per_cycle = throughput.per_million_cycles / 1e6;
        let calls = per_cycle * measured.latency_cycles_mean;
        let working = per_cycle * f64::from(run.work) / 2.0;
        let ratio = (calls + working) / run.processors as f64;
        Little { calls, working, ratio, too_low: ratio < LITTLE_LEAST }
    }
}

impl Spread {
    /// Returns the distribution over at least one processor.
    fn of(per_processor: &[u64]) -> Self {
        let mut sorted = per_processor.to_vec();
        sorted.sort_unstable();
        let at = |index: usize| sorted.get(index).copied().unwrap_or(0);
        let last = sorted.len().saturating_sub(1);
        Spread { least: at(0), median: at(last / 2), most: at(last) }
    }
}

impl Latency {
    fn of(measured: &Measured) -> Self {
        // A step of the histogram stands for its upper end, which may be above the longest.
        let quantile = |share| {
            measured.latency.value_at_quantile(share).min(measured.latency_cycles_max) as f64
        };
        Latency {
            mean: measured.latency_cycles_mean,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            max: measured.latency_cycles_max as f64,
        }
    }

    fn times(self, factor: f64) -> Self {
        Latency {
            mean: self.mean * factor,
            p50: self.p50 * factor,
            p90: self.p90 * factor,
            p99: self.p99 * factor,
            p99_9: self.p99_9 * factor,
            max: self.max * factor,
        }
    }
}

/// Returns buckets that begin at 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: from the shortest call to
/// the longest, without gaps.
fn buckets(latency: &Histogram<u64>) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    for recorded in latency.iter_recorded() {
        let cycles = recorded.value_iterated_to();
        while buckets.last().is_none_or(|bucket| bucket.to < cycles) {
            let from = buckets.last().map_or_else(|| bucket_start(cycles), |bucket| bucket.to + 1);
            buckets.push(Bucket { from, to: next_start(from) - 1, count: 0 });
        }
        if let Some(bucket) = buckets.last_mut() {
            bucket.count += recorded.count_at_value();
        }
    }
    buckets
}

/// Returns the beginning of the bucket with `cycles` in it.
fn bucket_start(cycles: u64) -> u64 {
    if cycles < 2 {
        return cycles;
    }
    let power = 1 << cycles.ilog2();
    let middle = power + power / 2;
    if cycles >= middle { middle } else { power }
}

/// Returns the beginning of the bucket after the one that begins at `start`.
fn next_start(start: u64) -> u64 {
    match start {
        0 => 1,
        1 => 2,
        _ if start.is_power_of_two() => start + start / 2,
        _ => (start / 3).saturating_mul(4),
    }
}

/// Returns the names at whose lines processors waited longest, the worst first. Ties go to more
/// misses. Lines of the same name (the slots of a prism) count together.
fn hottest(lines: &[(Place, Traffic)]) -> Vec<HotLine> {
    let mut by_name: BTreeMap<String, (usize, Traffic)> = BTreeMap::new();
    for (place, traffic) in lines {
        let (count, sum) = by_name.entry(place.to_string()).or_default();
        *count += 1;
        *sum += *traffic;
    }
    let missed = by_name.into_iter().filter(|(_, (_, traffic))| traffic.misses > 0);
    let mut hottest: Vec<HotLine> =
        missed.map(|(name, (count, traffic))| HotLine::of(name, count, &traffic)).collect();
    hottest.sort_by_key(|line| std::cmp::Reverse((line.waited_cycles, line.misses)));
    hottest.truncate(HOTTEST);
    hottest
}

impl HotLine {
    fn of(line: String, lines: usize, traffic: &Traffic) -> Self {
        HotLine {
            line,
            lines,
            hits: traffic.hits,
            misses: traffic.misses,
            invalidations: traffic.invalidations,
            waited_cycles: traffic.waited_cycles,
        }
    }
}

fn levels(measured: &Measured) -> Vec<Level> {
    let depth = measured.notes.get("depth").map_or(0, |note| note.counts.len().saturating_sub(1));
    let level = |level: u32| {
        let toggled = measured.toggled(level);
        Level {
            level,
            toggled,
            diffracted: measured.passed(level).saturating_sub(toggled),
            diffraction_rate: measured.diffraction_rate(level),
        }
    };
    // No tree is deeper than this.
    (0..depth.min(crate::bench::counters::plan::MAX_DEPTH) as u32).map(level).collect()
}

fn depth_over_time(measured: &Measured) -> Vec<DepthStretch> {
    let stretches = measured.notes.over_time("depth").into_iter();
    stretches
        .filter(|stretch| stretch.count > 0)
        .map(|stretch| DepthStretch {
            start_cycle: stretch.start_cycle,
            calls: stretch.count,
            depth_mean: stretch.mean,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_papers::workloads::CounterChoice;

    #[test]
    fn percentiles_are_never_above_the_longest() {
        let counter = CounterChoice::named("hardware", None).unwrap();
        let run = CountingRun::new(counter, MachineSpec::ideal(10));
        let mut measured = run.measure().unwrap();
        measured.latency.reset();
        measured.latency.record(1_000_001).unwrap();
        measured.latency_cycles_max = 1_000_001;
        assert!(measured.latency.value_at_quantile(0.5) > 1_000_001, "its step is wider");
        let latency = Latency::of(&measured);
        assert_eq!((latency.p50, latency.p99_9), (1_000_001.0, 1_000_001.0));
    }

    #[test]
    fn lines_of_one_name_count_together() {
        let mut traffic = Traffic::default();
        (traffic.misses, traffic.waited_cycles) = (1, 4);
        let slot = (Place::named("prism").index(1), traffic);
        let mut leaf = (Place::named("leaf").index(0), traffic);
        leaf.1.waited_cycles = 7;
        let idle = (Place::named("leaf").index(1), Traffic::default());
        let hottest = hottest(&[slot, leaf, slot, idle]);
        let shown: Vec<_> =
            hottest.iter().map(|h| (&h.line[..], h.lines, h.misses, h.waited_cycles)).collect();
        assert_eq!(shown, [("prism[1]", 2, 2, 8), ("leaf[0]", 1, 1, 7)]);
    }

    #[test]
    fn the_spread_is_least_middle_and_most() {
        assert_eq!(Spread::of(&[7, 0, 3]), Spread { least: 0, median: 3, most: 7 });
        assert_eq!(Spread::of(&[5]), Spread { least: 5, median: 5, most: 5 });
    }

    #[test]
    fn those_who_wait_are_named() {
        assert_eq!(named(&[]), "no processor waits");
        assert_eq!(named(&[4]), "processor 4 waits");
        assert_eq!(named(&[4, 5]), "2 processors (4, 5) wait");
        let many: Vec<usize> = (0..17).collect();
        assert!(named(&many).ends_with("14, 15, ...) wait"), "{}", named(&many));
    }

    #[test]
    fn buckets_leave_no_gap_and_lose_no_call() {
        let mut latency = Histogram::new(3).unwrap();
        for cycles in [0, 1, 2, 5, 5, 7, 700, 1_000_000] {
            latency.record(cycles).unwrap();
        }
        let buckets = buckets(&latency);
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 8);
        assert_eq!(buckets[0], Bucket { from: 0, to: 0, count: 1 });
        assert!(buckets.contains(&Bucket { from: 4, to: 5, count: 2 }), "{buckets:?}");
        assert!(buckets.contains(&Bucket { from: 512, to: 767, count: 1 }), "{buckets:?}");
        for pair in buckets.windows(2) {
            assert_eq!(pair[0].to + 1, pair[1].from);
        }
        assert!(super::buckets(&Histogram::new(3).unwrap()).is_empty());
    }

    #[test]
    fn every_number_is_in_its_bucket() {
        for cycles in (0..5000).chain([u64::MAX / 4]) {
            let start = bucket_start(cycles);
            assert!(start <= cycles && cycles < next_start(start), "{cycles}");
            assert_eq!(bucket_start(next_start(start)), next_start(start));
        }
    }
}
