//! Results of a counting run.

use hdrhistogram::Histogram;
use throng_sim::{End, MemoryReport, Note, Notes};

use super::CountingRun;

/// Values in a window, for which latencies are summed up (SS98 Figures 8 and 12).
pub const WINDOW_VALUES: usize = 1000;

/// Significant digits of the histogram of latencies.
const HISTOGRAM_DIGITS: u8 = 3;

/// A number handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    /// The processor that got it.
    pub(super) processor: usize,
    /// The number.
    pub(super) value: u64,
    /// When the call began, in cycles.
    pub(super) start: u64,
    /// When the call returned, in cycles.
    pub(super) end: u64,
    /// How many numbers had been handed out when the call began.
    pub(super) before: u64,
}

impl Delivery {
    fn latency_cycles(&self) -> u64 {
        self.end - self.start
    }
}

/// The latencies of [`WINDOW_VALUES`] values, in the order of their delivery.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// When the last of them was delivered.
    pub end_cycle: u64,
    /// Their mean latency.
    pub latency_cycles_mean: f64,
    /// Their longest latency.
    pub latency_cycles_max: u64,
}

/// The results of a counting run.
///
/// The measurement begins when the warm-up values are delivered. It ends when the first processor
/// stops: up to then all processors are counting, and what stragglers do afterwards does not count.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Values delivered in a million cycles.
    pub throughput_per_million_cycles: f64,
    /// Cycles from call to return, of all calls that returned during the measurement.
    pub latency: Histogram<u64>,
    /// Mean latency.
    pub latency_cycles_mean: f64,
    /// Longest latency.
    pub latency_cycles_max: u64,
    /// When the measurement began.
    pub begin_cycle: u64,
    /// When it ended: at the delivery of the last value that counts.
    pub end_cycle: u64,
    /// Longest wait of a call that was not served: up to the end of the measurement or, if it never
    /// returned, up to the end of the run. It is not among the latencies. Calls of halted
    /// processors do not count.
    pub unserved_cycles_max: u64,
    /// Processors that hang: their calls never returned though they were not halted.
    pub hanging: Vec<usize>,
    /// Whether a processor got the number at which all stop, or a larger one.
    pub reached: bool,
    /// Latencies of each 1000 values, from the beginning of the run to the end of the measurement.
    pub windows: Vec<Window>,
    /// Number of values of each processor in the whole run.
    pub per_processor: Vec<u64>,
    /// Number of values handed out and checked, those after the measurement included.
    pub handed_out: u64,
    /// Cycles of the whole run.
    pub cycles: u64,
    /// Accesses to shared memory in the whole run.
    pub accesses: u64,
    /// Steps of all processors in the whole run: accesses, pauses, looks at the clock.
    pub steps: u64,
    /// Hash of all accesses. Equal runs have equal hashes.
    pub trace_hash: u64,
    /// The memory's report.
    pub memory: MemoryReport,
    /// The notes of the algorithm.
    pub notes: Notes,
    /// The processors that were halted.
    pub halted: Vec<usize>,
    /// Number of processors that did not finish, because they or others were halted.
    pub unfinished: usize,
    /// How the run ended.
    pub end: End,
}

impl Measured {
    /// Computes what follows from the deliveries alone.
    pub(super) fn of(deliveries: &[Delivery], run: &CountingRun) -> Self {
        let first_spare = deliveries.iter().position(|delivery| delivery.value >= run.values);
        let before_stop = &deliveries[..first_spare.unwrap_or(deliveries.len())];
        let warm = (run.warm_up as usize).min(before_stop.len());
        let (warm_up, counted) = before_stop.split_at(warm);

        let mut latency = histogram();
        for delivery in counted {
            // The histogram resizes itself, and simulated time always fits.
            latency.record(delivery.latency_cycles()).expect("the histogram grows");
        }
        let mut per_processor = vec![0; run.processors];
        for delivery in deliveries {
            per_processor[delivery.processor] += 1;
        }
        let begin = warm_up.last().map_or(0, |delivery| delivery.end);
        let end = before_stop.last().map_or(0, |delivery| delivery.end);
        Measured {
            throughput_per_million_cycles: per_million(counted.len(), end - begin),
            latency,
            latency_cycles_mean: mean(counted),
            latency_cycles_max: longest(counted),
            begin_cycle: begin,
            end_cycle: end,
            hanging: Vec::new(),
            reached: first_spare.is_some(),
            unserved_cycles_max: unserved(deliveries, end),
            windows: before_stop.chunks_exact(WINDOW_VALUES).map(window).collect(),
            per_processor,
            handed_out: deliveries.len() as u64,
            cycles: end,
            accesses: 0,
            steps: 0,
            trace_hash: 0,
            memory: MemoryReport::default(),
            notes: Notes::default(),
            halted: Vec::new(),
            unfinished: 0,
            end: End::Finished,
        }
    }

    /// Adds the calls that never returned, of processors that were not halted: the processor, and
    /// when the call began.
    pub(super) fn add_hanging(&mut self, calls: impl Iterator<Item = (usize, u64)>) {
        for (processor, start) in calls {
            self.hanging.push(processor);
            let waited = self.cycles.saturating_sub(start);
            self.unserved_cycles_max = self.unserved_cycles_max.max(waited);
        }
    }

    /// Returns the number of values that count.
    pub fn counted(&self) -> u64 {
        self.latency.len()
    }

    /// Returns the mean depth of the leaves that served calls during the measurement, or NaN where
    /// the counter is not a tree.
    pub fn depth_mean(&self) -> f64 {
        let stretches = self.notes.over_time("depth");
        let measured =
            stretches.iter().filter(|s| s.start_cycle >= self.begin_cycle && s.count > 0);
        let (calls, sum) = measured.fold((0, 0.0), |(calls, sum), stretch| {
            (calls + stretch.count, sum + stretch.mean * stretch.count as f64)
        });
        sum / calls as f64
    }

    /// Returns the tokens that left a level of a diffracting tree in pairs, for each that passed a
    /// toggle (DT96 section 3.3.1 "diffraction rate"). Level 0 is the root. `None` where no token
    /// passed a toggle.
    pub fn diffraction_rate(&self, level: u32) -> Option<f64> {
        let toggled = self.toggled(level);
        let diffracted = self.passed(level).saturating_sub(toggled);
        (toggled > 0).then(|| diffracted as f64 / toggled as f64)
    }

    /// Returns the number of tokens that passed a toggle on this level of a tree.
    pub fn toggled(&self, level: u32) -> u64 {
        (1_usize << level..2 << level).map(|node| self.notes.count("toggled", node)).sum()
    }

    /// Returns the number of tokens that were served below this level of a tree. In a tree that
    /// changes, a token may be counted more than once.
    pub fn passed(&self, level: u32) -> u64 {
        let deeper = |note: &Note| note.counts.iter().skip(level as usize + 1).sum();
        self.notes.get("depth").map_or(0, deeper)
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new(HISTOGRAM_DIGITS).expect("from 0 to 5 digits are allowed")
}

fn per_million(values: usize, cycles: u64) -> f64 {
    if cycles == 0 { 0.0 } else { values as f64 * 1e6 / cycles as f64 }
}

fn mean(deliveries: &[Delivery]) -> f64 {
    let sum: u64 = deliveries.iter().map(Delivery::latency_cycles).sum();
    if deliveries.is_empty() { 0.0 } else { sum as f64 / deliveries.len() as f64 }
}

fn longest(deliveries: &[Delivery]) -> u64 {
    deliveries.iter().map(Delivery::latency_cycles).max().unwrap_or(0)
}

fn window(deliveries: &[Delivery]) -> Window {
    Window {
        end_cycle: deliveries.last().map_or(0, |delivery| delivery.end),
        latency_cycles_mean: mean(deliveries),
        latency_cycles_max: longest(deliveries),
    }
}

/// Returns how long the oldest call had been waiting at `time`.
fn unserved(deliveries: &[Delivery], time: u64) -> u64 {
    let waiting = deliveries.iter().filter(|d| d.start <= time && d.end > time);
    waiting.map(|d| time - d.start).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::CounterChoice;
    use super::*;
    use throng_sim::MachineSpec;

    #[test]
    fn what_comes_before_the_warm_up_or_after_the_first_stop_does_not_count() {
        let counter = CounterChoice::named("hardware", None).unwrap();
        let run = CountingRun {
            processors: 2,
            values: 4,
            warm_up: 1,
            ..CountingRun::new(counter, MachineSpec::ideal(10))
        };
        let delivery =
            |processor, value, start, end| Delivery { processor, value, start, end, before: 0 };
        let deliveries = [
            delivery(0, 0, 0, 1000),
            delivery(0, 1, 1000, 1010),
            delivery(0, 2, 1010, 1030),
            delivery(0, 4, 1030, 1040),
            delivery(1, 3, 5, 5000),
            delivery(1, 5, 5000, 5001),
        ];
        let measured = Measured::of(&deliveries, &run);
        assert_eq!(measured.throughput_per_million_cycles, 2e6 / 30.0);
        assert_eq!((measured.latency_cycles_mean, measured.latency_cycles_max), (15.0, 20));
        assert_eq!((measured.latency.len(), measured.latency.max()), (2, 20));
        assert_eq!(measured.unserved_cycles_max, 1025);
        assert_eq!((measured.begin_cycle, measured.end_cycle), (1000, 1030));
        assert!(measured.reached);
        assert!(!Measured::of(&deliveries[..3], &run).reached);
        assert_eq!(measured.per_processor, [4, 2]);
        assert_eq!(measured.handed_out, 6);
    }

    #[test]
    fn the_histogram_has_long_latencies_too() {
        let counter = CounterChoice::named("hardware", None).unwrap();
        let run = CountingRun::new(counter, MachineSpec::ideal(10));
        let run = CountingRun { warm_up: 0, ..run };
        let delivery = |value, end| Delivery { processor: 0, value, start: 0, end, before: 0 };
        let measured = Measured::of(&[delivery(0, 5), delivery(1, 9_000_000_000)], &run);
        let longest = measured.latency.value_at_quantile(1.0) as f64;
        assert!((longest / 9e9 - 1.0).abs() < 1e-3, "{longest}");
        assert_eq!(measured.latency.value_at_quantile(0.0), 5);
    }

    #[test]
    fn nothing_delivered_gives_no_nonsense() {
        let counter = CounterChoice::named("hardware", None).unwrap();
        let measured = Measured::of(&[], &CountingRun::new(counter, MachineSpec::ideal(10)));
        assert_eq!(measured.throughput_per_million_cycles, 0.0);
        assert_eq!(measured.latency_cycles_mean, 0.0);
        assert!(measured.windows.is_empty() && measured.diffraction_rate(0).is_none());
    }

    #[test]
    fn windows_and_diffraction_rates_come_from_real_runs() {
        let counter = CounterChoice::named("diffracting-toggle", Some(4)).unwrap();
        let run = CountingRun {
            processors: 8,
            values: 3000,
            ..CountingRun::new(counter, MachineSpec::ideal(10))
        };
        let measured = run.measure().unwrap();
        // The first processor to stop may stop a little before 3000 values are delivered.
        assert!((2..=3).contains(&measured.windows.len()));
        for window in &measured.windows {
            assert!(window.latency_cycles_mean <= window.latency_cycles_max as f64);
        }
        for level in 0..2 {
            assert_eq!(measured.diffraction_rate(level), Some(0.0), "there is no prism");
        }
        assert_eq!(measured.depth_mean(), 2.0);
        assert_eq!(measured.diffraction_rate(2), None, "there is no such level");
    }
}
