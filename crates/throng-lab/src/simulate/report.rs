//! What there is to tell about a simulated run: plain data, in the order of the JSON document.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;
use throng::counter::Consistency;
use throng::machine::Place;
use throng_sim::{End, Faults, MachineSpec, Traffic};

use super::SimulatePlan;
use crate::simulated::CountingRun;
use crate::simulated::measured::Measured;

/// So many lines are shown.
const HOTTEST: usize = 10;

/// Everything about a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of the program.
    pub throng: &'static str,
    /// The command that runs the same again.
    pub command: String,
    /// The counter.
    pub method: &'static str,
    /// The machine.
    pub machine: MachineSpec,
    /// How many processors took values.
    pub processors: usize,
    /// The number at which they stopped.
    pub values: u64,
    /// The most cycles between two values.
    pub work: u32,
    /// What decided all that was random.
    pub seed: u64,
    /// The width asked for.
    pub width: Option<usize>,
    /// What went wrong, as a script.
    pub faults: String,
    /// The same with all random stalls and halts as the seed chose them.
    pub faults_chosen: String,
    /// What was checked, in words.
    pub check: String,
    /// How many values were handed out.
    pub handed_out: u64,
    /// Whether every processor finished that was not halted.
    pub finished: bool,
    /// How the run ended, in words.
    pub end: String,
    /// The processors that were halted.
    pub halted: Vec<usize>,
    /// How many processors did not finish.
    pub unfinished: usize,
    /// How long it took.
    pub cycles: u64,
    /// How fast it was.
    pub throughput: Throughput,
    /// How long a call took, in cycles.
    pub latency_cycles: Latency,
    /// The same in nanoseconds, by the machine's clock.
    pub latency_ns: Latency,
    /// How long the call that had waited longest had waited when the measurement ended.
    pub unserved_cycles_max: u64,
    /// How many calls took how long.
    pub histogram: Vec<Bucket>,
    /// Accesses to shared memory.
    pub accesses: u64,
    /// Steps: accesses, pauses, looks at the clock.
    pub steps: u64,
    /// What the memory did.
    pub memory: Memory,
    /// The lines at which processors waited longest, the worst first.
    pub hottest: Vec<HotLine>,
    /// The levels of a diffracting tree, the root first; none for other counters.
    pub levels: Vec<Level>,
    /// The depth of a tree over time; nothing for other counters.
    pub depth: Vec<DepthStretch>,
    /// A hash of all accesses: the same run has the same.
    pub trace_hash: String,
    /// How fast the simulator was on the machine it ran on.
    pub simulator: Simulator,
}

/// How fast values were handed out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Throughput {
    /// In a million cycles.
    pub per_million_cycles: f64,
    /// In a second, by the machine's clock.
    pub per_second: f64,
}

/// How long calls took.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Latency {
    /// On average.
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

/// Calls that took about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// From so many cycles.
    pub from: u64,
    /// To so many, these included.
    pub to: u64,
    /// How many calls.
    pub count: u64,
}

/// What the memory did in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that needed others.
    pub misses: u64,
    /// Copies taken away.
    pub invalidations: u64,
    /// Messages that the network carried.
    pub messages: u64,
    /// How long misses stood in line, all together.
    pub waited_cycles: u64,
}

/// A line of memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HotLine {
    /// Its name.
    pub line: String,
    /// Accesses that the processor's own cache answered.
    pub hits: u64,
    /// Accesses that needed others.
    pub misses: u64,
    /// Copies taken away.
    pub invalidations: u64,
    /// How long misses stood in line, all together.
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
    /// Pairs leave so many tokens for each that passes a toggle (DT96); none if nobody did.
    pub diffraction_rate: Option<f64>,
}

/// The depth of a tree in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthStretch {
    /// Where it begins.
    pub start_cycle: u64,
    /// Calls that passed the tree.
    pub calls: u64,
    /// The levels that they passed, on average.
    pub depth_mean: f64,
}

/// How fast the simulator was.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulator {
    /// Time it took, checking included.
    pub seconds: f64,
    /// Simulated accesses in a second.
    pub accesses_per_second: f64,
}

impl Report {
    /// Gathers everything.
    #[must_use]
    pub fn new(plan: &SimulatePlan, measured: &Measured, elapsed: Duration) -> Self {
        let run = &plan.run;
        let cycles = Latency::of(measured);
        let total = measured.memory.total;
        let seconds = elapsed.as_secs_f64();
        Report {
            throng: env!("CARGO_PKG_VERSION"),
            command: run.replay_command(),
            method: run.counter.method,
            machine: run.machine.clone(),
            processors: run.processors,
            values: run.values,
            work: run.work,
            seed: run.seed,
            width: plan.width,
            faults: run.faults.to_string(),
            faults_chosen: chosen(&run.faults, run).to_string(),
            check: check_in_words(run, measured),
            handed_out: measured.handed_out,
            finished: measured.end == End::Finished,
            end: measured.end.to_string(),
            halted: measured.halted.clone(),
            unfinished: measured.unfinished,
            cycles: measured.cycles,
            throughput: Throughput {
                per_million_cycles: measured.throughput_per_million_cycles,
                per_second: measured.throughput_per_million_cycles
                    * f64::from(run.machine.clock_mhz),
            },
            latency_cycles: cycles,
            latency_ns: cycles.times(run.machine.nanoseconds(1)),
            unserved_cycles_max: measured.unserved_cycles_max,
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
            hottest: measured.memory.hottest(HOTTEST).iter().map(HotLine::of).collect(),
            levels: levels(measured),
            depth: depth_over_time(measured),
            trace_hash: format!("{:016x}", measured.trace_hash),
            simulator: Simulator {
                seconds,
                accesses_per_second: measured.accesses as f64 / seconds.max(1e-9),
            },
        }
    }
}

fn chosen(faults: &Faults, run: &CountingRun) -> Faults {
    faults.chosen(run.processors, run.seed)
}

/// What the run has been checked for; it would have failed otherwise.
fn check_in_words(run: &CountingRun, measured: &Measured) -> String {
    let Measured { handed_out, unfinished, .. } = *measured;
    let numbers = match (handed_out, unfinished) {
        (0, _) => "no value was handed out".to_owned(),
        (_, 0) => format!("each of 0 to {} was handed out exactly once", handed_out - 1),
        (_, unfinished) => format!(
            "{handed_out} values, no two alike and none above {}: each of the {unfinished} \
             unfinished calls may hold one",
            handed_out - 1 + unfinished as u64
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

impl Latency {
    fn of(measured: &Measured) -> Self {
        let quantile = |share| measured.latency.value_at_quantile(share) as f64;
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

/// Buckets that begin at 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, ...: from the shortest call to the
/// longest, without gaps.
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

/// Where the bucket begins that has `cycles` in it.
fn bucket_start(cycles: u64) -> u64 {
    if cycles < 2 {
        return cycles;
    }
    let power = 1 << cycles.ilog2();
    let middle = power + power / 2;
    if cycles >= middle { middle } else { power }
}

/// Where the bucket begins that comes after the one that begins at `start`.
fn next_start(start: u64) -> u64 {
    match start {
        0 => 1,
        1 => 2,
        _ if start.is_power_of_two() => start + start / 2,
        _ => (start / 3).saturating_mul(4),
    }
}

impl HotLine {
    fn of((place, traffic): &(Place, Traffic)) -> Self {
        HotLine {
            line: place.to_string(),
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
        let nodes = 1_usize << level..2 << level;
        let toggled: u64 = nodes.map(|node| measured.notes.count("toggled", node)).sum();
        Level {
            level,
            toggled,
            diffracted: measured.handed_out.saturating_sub(toggled),
            diffraction_rate: measured.diffraction_rate(level),
        }
    };
    // No tree is deeper than this.
    (0..depth.min(crate::plan::MAX_DEPTH) as u32).map(level).collect()
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
