//! Times accesses on real threads: flags that go to and fro, and chains of accesses.
//!
//! Every number is the median of batches, so that batches in which another program had the core do
//! not count. In a chain each access waits for the one before: measured is the latency of an
//! access, not the number that overlap.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use throng::machine::SplitMix64;

use crate::bench::setup::Pinning;
use crate::bench::stats::Stats;

/// A word with lines of its own: two, since some processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Alone(AtomicU64);

fn lines(count: usize) -> Vec<Alone> {
    (0..count).map(|_| Alone::default()).collect()
}

/// A timing: the median of all batches, and their spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timed {
    pub(crate) ns: f64,
    /// The spread of the batches without the smallest and the largest tenth, as a part of the
    /// median.
    pub(crate) spread: f64,
}

impl Timed {
    fn of(mut batches_ns: Vec<f64>) -> Option<Self> {
        batches_ns.sort_by(f64::total_cmp);
        let cut = batches_ns.len() / 10;
        let kept = &batches_ns[cut..batches_ns.len() - cut];
        let stats = Stats::of(kept.iter().copied())?;
        Some(Timed { ns: stats.median, spread: stats.spread().unwrap_or(0.0) })
    }
}

/// The time for one measurement, and the smallest number of batches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) time: Duration,
}

const LEAST_BATCHES: usize = 5;
const MOST_BATCHES: usize = 5000;

impl Patience {
    /// Returns whether another batch is wanted.
    fn goes_on(self, start: Instant, done: usize) -> bool {
        done < LEAST_BATCHES || (done < MOST_BATCHES && start.elapsed() < self.time)
    }
}

/// Polls the word until its value is as wanted, without pauses: their length depends on the chip,
/// and would be added to the transfer. Yields now and then, because the thread waited for may need
/// this very core.
fn look_until(word: &AtomicU64, wanted: impl Fn(u64) -> bool) -> u64 {
    const LOOKS: u32 = 1 << 14;
    let mut looks = 0_u32;
    loop {
        let value = word.load(Acquire);
        if wanted(value) {
            return value;
        }
        looks = looks.wrapping_add(1);
        if looks.is_multiple_of(LOOKS) {
            thread::yield_now();
        }
    }
}

/// The value that ends a measurement.
const STOP: u64 = u64::MAX;

/// Starts a thread on core `index` of the pinning, or returns `None` where the system refuses a
/// thread.
fn on_core<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    pinning: &'scope Pinning,
    index: usize,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<thread::ScopedJoinHandle<'scope, T>> {
    let pinned = move || {
        pinning.pin(index);
        work()
    };
    Builder::new().spawn_scoped(scope, pinned).ok()
}

/// Measures half a round trip of a flag between two cores.
pub(crate) fn transfer(
    pinning: &Pinning,
    (one, other): (usize, usize),
    patience: Patience,
) -> Option<Timed> {
    const ROUNDS: u64 = 200;
    /// The distance of a line from the cores depends on its address, so each batch has another
    /// line.
    const FLAGS: usize = 16;
    let flags = &lines(FLAGS);
    let throw = move || {
        let (start, mut batches) = (Instant::now(), Vec::new());
        let mut thrown = [0; FLAGS];
        while patience.goes_on(start, batches.len()) {
            let place = batches.len() % FLAGS;
            let (flag, last) = (&flags[place].0, &mut thrown[place]);
            let begin = Instant::now();
            for _ in 0..ROUNDS {
                flag.store(*last + 1, Release);
                *last += 2;
                look_until(flag, |value| value == *last);
            }
            batches.push(begin.elapsed().as_nanos() as f64 / (2 * ROUNDS) as f64);
            // Tells the other thread to go on to the next line.
            flag.store(STOP - 1, Release);
            look_until(flag, |value| value == *last);
        }
        let place = batches.len() % FLAGS;
        flags[place].0.store(STOP, Release);
        batches
    };
    let give_back = move || {
        let mut returned = [0; FLAGS];
        for place in (0..FLAGS).cycle() {
            let (flag, last) = (&flags[place].0, &mut returned[place]);
            loop {
                match look_until(flag, |value| value == *last + 1 || value >= STOP - 1) {
                    STOP => return,
                    value if value == STOP - 1 => {
                        flag.store(*last, Release);
                        break;
                    }
                    _ => *last += 2,
                }
                flag.store(*last, Release);
            }
        }
    };
    thread::scope(|scope| {
        let returning = on_core(scope, pinning, other, give_back)?;
        let Some(throwing) = on_core(scope, pinning, one, throw) else {
            flags[0].0.store(STOP, Release);
            return None;
        };
        let batches = throwing.join().ok()?;
        returning.join().ok()?;
        Timed::of(batches)
    })
}

/// An access of a core alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alike {
    /// Loads that hit.
    Load,
    /// Locked additions to a line that no other core has.
    LockedAdd,
    /// The instruction between two polls.
    Pause,
}

/// Measures one access of a core that is alone, on the first core.
pub(crate) fn alone(pinning: &Pinning, what: Alike, patience: Patience) -> Option<Timed> {
    const STEPS: usize = 2000;
    // Two words of one line, each with the index of the other. The next address needs no
    // arithmetic, which would be measured too.
    let circle = &[AtomicU64::new(1), AtomicU64::new(0)];
    let word = &Alone::default();
    let work = move || {
        let (start, mut batches) = (Instant::now(), Vec::new());
        let mut at = 0_usize;
        while patience.goes_on(start, batches.len()) {
            let begin = Instant::now();
            for _ in 0..STEPS {
                match what {
                    Alike::Load => at = circle[at].load(Relaxed) as usize,
                    Alike::LockedAdd => at = word.0.fetch_add(1, Relaxed) as usize,
                    Alike::Pause => spin_loop(),
                }
            }
            batches.push(begin.elapsed().as_nanos() as f64 / STEPS as f64);
        }
        black_box(at);
        batches
    };
    let batches = thread::scope(|scope| on_core(scope, pinning, 0, work)?.join().ok())?;
    Timed::of(batches)
}

/// An access that misses, by its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// A load of a line that another core has changed.
    Load,
    /// A locked addition to a line that another core has changed.
    LockedAdd,
    /// A locked addition to an own line that all other cores have copies of.
    TakeAway,
}

/// Lines passed from core to core in one batch; they fit into every first-level cache.
const LINES: usize = 64;

/// Increment of a line's change count: the low bits have the number of the next line.
const CHANGE: u64 = 1 << 32;

/// Measures an access of the first of these cores that misses because of the others.
pub(crate) fn miss(
    pinning: &Pinning,
    cores: &[usize],
    miss: Miss,
    patience: Patience,
) -> Option<Timed> {
    let (&first, others) = cores.split_first()?;
    let chain = &chain();
    let turn = &Alone::default();
    let done = &lines(others.len());
    let measure = move || {
        let (start, mut batches) = (Instant::now(), Vec::new());
        while patience.goes_on(start, batches.len()) {
            let round = batches.len() as u64 + 1;
            turn.0.store(round, Release);
            for word in done {
                look_until(&word.0, |value| value == round);
            }
            let begin = Instant::now();
            follow(chain, miss != Miss::Load);
            let took = begin.elapsed();
            let clock = Instant::now().elapsed();
            batches.push(took.saturating_sub(clock).as_nanos() as f64 / LINES as f64);
        }
        turn.0.store(STOP, Release);
        batches
    };
    let prepare = move |word: &AtomicU64| {
        for round in 1.. {
            if look_until(&turn.0, |value| value == round || value == STOP) == STOP {
                return;
            }
            follow(chain, miss != Miss::TakeAway);
            word.store(round, Release);
        }
    };
    thread::scope(|scope| {
        let mut crew = Vec::new();
        for (index, &core) in others.iter().enumerate() {
            let Some(other) = on_core(scope, pinning, core, move || prepare(&done[index].0)) else {
                turn.0.store(STOP, Release);
                return None;
            };
            crew.push(other);
        }
        let Some(measuring) = on_core(scope, pinning, first, measure) else {
            turn.0.store(STOP, Release);
            return None;
        };
        Timed::of(measuring.join().ok()?)
    })
}

/// Returns lines that lead from one to the next in one circle, in an order that no prefetcher
/// guesses.
fn chain() -> Vec<Alone> {
    let chain = lines(LINES);
    let mut order: Vec<usize> = (0..LINES).collect();
    let mut random = SplitMix64::from_state(1);
    for last in (1..LINES).rev() {
        order.swap(last, random.below(last as u64 + 1) as usize);
    }
    for (at, &line) in order.iter().enumerate() {
        chain[line].0.store(order[(at + 1) % LINES] as u64, Relaxed);
    }
    chain
}

/// Goes once around. The next line is known when the access to this one is complete.
fn follow(chain: &[Alone], changes: bool) {
    let mut at = 0;
    for _ in 0..LINES {
        let word = &chain[at % LINES].0;
        // Adding nothing would be compiled to a load.
        let found = if changes { word.fetch_add(CHANGE, Relaxed) } else { word.load(Relaxed) };
        at = (found % CHANGE) as usize;
    }
    black_box(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Patience = Patience { time: Duration::from_millis(1) };

    #[test]
    fn a_chain_leads_through_all_lines() {
        let chain = chain();
        let mut seen = [false; LINES];
        let mut at = 0;
        for _ in 0..LINES {
            assert!(!std::mem::replace(&mut seen[at], true), "line {at} comes twice");
            at = chain[at].0.load(Relaxed) as usize;
        }
        follow(&chain, true);
        assert!(chain.iter().all(|word| word.0.load(Relaxed) / CHANGE == 1));
    }

    #[test]
    fn the_middle_counts_and_the_edges_do_not_spread() {
        let mut batches = vec![10.0; 18];
        batches.extend([1.0, 1000.0]);
        assert_eq!(Timed::of(batches), Some(Timed { ns: 10.0, spread: 0.0 }));
        assert_eq!(Timed::of(Vec::new()), None);
    }

    #[test]
    fn everything_is_measured_wherever_there_are_threads() {
        let pinning = Pinning::find();
        for what in [Alike::Load, Alike::LockedAdd, Alike::Pause] {
            assert!(alone(&pinning, what, SHORT).unwrap().ns > 0.0, "{what:?}");
        }
        assert!(transfer(&pinning, (0, 1), SHORT).unwrap().ns > 0.0);
        for what in [Miss::Load, Miss::LockedAdd, Miss::TakeAway] {
            assert!(miss(&pinning, &[0, 1], what, SHORT).unwrap().ns > 0.0, "{what:?}");
            // More cores than most machines have that run this. Cores are shared then, and it must
            // end all the same.
            assert!(miss(&pinning, &[0, 1, 2], what, SHORT).unwrap().ns > 0.0, "{what:?}");
        }
    }
}
