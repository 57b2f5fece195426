//! The machine of the measurement: its cores, and its speed at the moment.

use std::fmt::Write as _;
use std::fs;
use std::hint::spin_loop;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

use core_affinity::CoreId;
use serde::{Deserialize, Serialize};
use throng::machine::{Line, Native, NativeWord, Place, Word};
use throng_papers::numbers::counted;

use crate::threads;

/// The machine, as printed with every result.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Setup {
    /// Model of the processor.
    pub processor: String,
    /// Number of threads that can run at once.
    pub cores: usize,
    /// Whether each thread is pinned to one core.
    pub pinned: bool,
    /// Nanoseconds that a flag takes from one core to another; `None` where there is only one core.
    pub flag_ns: Option<f64>,
}

impl Setup {
    /// Examines the machine, which takes some milliseconds.
    pub fn look(pinning: &Pinning) -> Self {
        let cores = threads::cores();
        Setup {
            processor: processor_model(),
            cores,
            pinned: pinning.is_possible(),
            flag_ns: (cores > 1).then(|| flag_ns(pinning)),
        }
    }

    /// Describes the machine, for the line above a table.
    pub fn in_words(&self) -> String {
        let mut line = format!(
            "{}, {}, threads {}pinned",
            self.processor,
            counted(self.cores as u64, "processor"),
            if self.pinned { "" } else { "not " },
        );
        if let Some(flag_ns) = self.flag_ns {
            let _ = write!(line, ", core to core {flag_ns:.0} ns");
        }
        line
    }
}

/// Returns the name of the processor, or the architecture where the system does not tell more.
fn processor_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map(|(_, model)| model.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|model| !model.is_empty())
        .unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}

/// The core of each thread of a measurement.
#[derive(Clone, Debug)]
pub struct Pinning {
    /// The cores this process may use; empty where threads cannot be pinned.
    cores: Vec<CoreId>,
}

impl Pinning {
    /// Finds out whether threads can be pinned here, and to which cores.
    pub fn find() -> Self {
        let cores = core_affinity::get_core_ids().unwrap_or_default();
        // Tried on a thread of its own, so that the calling one stays unpinned.
        let first = cores.first().copied();
        let works = thread::spawn(move || first.is_some_and(core_affinity::set_for_current))
            .join()
            .unwrap_or(false);
        Pinning { cores: if works { cores } else { Vec::new() } }
    }

    /// Returns a pinning that leaves threads where the system puts them.
    pub const fn none() -> Self {
        Pinning { cores: Vec::new() }
    }

    /// Returns the system's numbers of the cores, in the order of [`pin`](Pinning::pin), or nothing
    /// where threads cannot be pinned.
    pub(crate) fn cores(&self) -> Vec<usize> {
        self.cores.iter().map(|core| core.id).collect()
    }

    /// Returns whether threads can be pinned here.
    pub fn is_possible(&self) -> bool {
        !self.cores.is_empty()
    }

    /// Pins the calling thread, the `index`-th of its crew, to one core.
    pub fn pin(&self, index: usize) {
        if let Some(&core) = self.cores.get(index % self.cores.len().max(1)) {
            // A failure leaves the thread unpinned: a slower run, not a wrong one.
            core_affinity::set_for_current(core);
        }
    }
}

const ROUNDS_A_BATCH: u64 = 500;
const BATCHES: usize = 21;
/// Time enough for all batches on a quiet machine; a busy one gets a rougher number.
const FLAG_TIME: Duration = Duration::from_millis(50);

/// Measures the time of a flag from one core to another: half a round trip, the median of some
/// batches.
fn flag_ns(pinning: &Pinning) -> f64 {
    let flag = Line::word::<Native>(0, Place::named("flag"));
    thread::scope(|scope| {
        scope.spawn(|| {
            pinning.pin(1);
            return_flag(&flag);
        });
        // Not on the calling thread, which must stay unpinned.
        let measuring = scope.spawn(|| {
            pinning.pin(0);
            let batches = time_batches(&flag);
            flag.store(STOP, Release);
            batches
        });
        let mut batches_ns = measuring.join().unwrap_or_default();
        batches_ns.sort_by(f64::total_cmp);
        batches_ns.get(batches_ns.len() / 2).copied().unwrap_or(0.0)
    })
}

/// The value of the flag that ends the measurement. Odd values are requests, even ones answers.
const STOP: u64 = u64::MAX - 1;

fn return_flag(flag: &NativeWord) {
    let mut expected = 1;
    loop {
        let value = await_flag(flag, |value| value == expected || value == STOP);
        if value == STOP {
            return;
        }
        flag.store(expected + 1, Release);
        expected += 2;
    }
}

fn time_batches(flag: &NativeWord) -> Vec<f64> {
    let start = Instant::now();
    let mut batches_ns = Vec::with_capacity(BATCHES);
    let mut thrown = 1;
    while batches_ns.len() < BATCHES && (batches_ns.is_empty() || start.elapsed() < FLAG_TIME) {
        let batch_start = Instant::now();
        for _ in 0..ROUNDS_A_BATCH {
            flag.store(thrown, Release);
            await_flag(flag, |value| value == thrown + 1);
            thrown += 2;
        }
        let one_way = 2.0 * ROUNDS_A_BATCH as f64;
        batches_ns.push(batch_start.elapsed().as_nanos() as f64 / one_way);
    }
    batches_ns
}

/// Spins until the flag is as wanted. Yields now and then, because the partner may be waiting for
/// this very core.
fn await_flag(flag: &NativeWord, wanted: impl Fn(u64) -> bool) -> u64 {
    let mut polls = 0_u32;
    loop {
        let value = flag.load(Acquire);
        if wanted(value) {
            return value;
        }
        polls = polls.wrapping_add(1);
        if polls.is_multiple_of(4096) {
            thread::yield_now();
        } else {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_a_name_and_a_pulse() {
        let setup = Setup::look(&Pinning::find());
        assert!(!setup.processor.is_empty());
        assert!(setup.cores >= 1);
        assert!(setup.flag_ns.is_none_or(|ns| ns > 0.0));
    }

    #[test]
    fn without_pinning_everything_still_runs() {
        let pinning = Pinning { cores: Vec::new() };
        pinning.pin(3);
        assert!(!pinning.is_possible());
        assert!(flag_ns(&pinning) > 0.0);
    }
}
