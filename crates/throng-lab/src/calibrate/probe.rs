//! What is timed on real threads: flags that go to and fro, and chains of accesses.
//!
//! Every number is the median of batches, so that a batch in which somebody else had the core does
//! not count. Chains are such that each access must wait for the one before: what is measured is how
//! long an access takes, not how many are under way at once.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

use throng::machine::SplitMix64;

use crate::bench::setup::Pinning;
use crate::bench::stats::Stats;

/// A word on lines of its own: two, since some processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Alone(AtomicU64);

fn lines(count: usize) -> Vec<Alone> {
    (0..count).map(|_| Alone::default()).collect()
}

/// What was timed: the middle of all batches, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) ns: f64,
    /// The tenth part of the batches that is largest, and that which is smallest, left out: how far the
    /// others lie apart, as a part of the median.
    pub(super) spread: f64,
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

/// How long to measure one thing, and the fewest batches that make a median.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) time: Duration,
}

const LEAST_BATCHES: usize = 5;
const MOST_BATCHES: usize = 5000;

impl Patience {
    /// Whether one more batch is wanted.
    fn goes_on(self, start: Instant, done: usize) -> bool {
        done < LEAST_BATCHES || (done < MOST_BATCHES && start.elapsed() < self.time)
    }
}

/// Looks until the word is as wanted, without a pause in between: what a pause takes depends on the
/// chip, and no transfer should be rounded up to it. Lets others run now and then, because whoever is
/// waited for may be waiting for this very core.
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

/// The value that ends a game.
const STOP: u64 = u64::MAX;

/// Starts a thread on core `index` of the pinning; none where there is none to be had.
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

/// Half a round trip of a flag between two cores.
pub(super) fn transfer(
    pinning: &Pinning,
    (one, other): (usize, usize),
    patience: Patience,
) -> Option<Timed> {
    const ROUNDS: u64 = 200;
    /// How far a line is from the cores depends on its address: each batch has another one.
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
            // Tells the other to go on to the next.
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

/// What a core does alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alike {
    /// Loads that hit.
    Load,
    /// Locked additions to a line that nobody else has.
    LockedAdd,
    /// The instruction between two looks.
    Pause,
}

/// One access of a core that is alone, on the first core.
pub(super) fn alone(pinning: &Pinning, what: Alike, patience: Patience) -> Option<Timed> {
    const STEPS: usize = 2000;
    // Two words of one line, each with the place of the other: an address that is known without further
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

/// An access that misses, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// A load of a line that another core has changed.
    Load,
    /// A locked addition to a line that another core has changed.
    LockedAdd,
    /// A locked addition to an own line of which all others have copies.
    TakeAway,
}

/// Lines that are passed from core to core in one batch; they fit into every first-level cache.
const LINES: usize = 64;

/// A line holds the number of the next in its low bits, and counts changes in the others.
const CHANGE: u64 = 1 << 32;

/// An access of the first of these cores that misses, because of the others.
pub(super) fn miss(
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

/// Lines that lead from one to the next, all in one circle, in an order that no prefetcher guesses.
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

/// Goes once around; the next line is known when the access to this one is complete.
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
            // More than most machines have that run this: cores are shared, and it ends all the same.
            assert!(miss(&pinning, &[0, 1, 2], what, SHORT).unwrap().ns > 0.0, "{what:?}");
        }
    }
}
