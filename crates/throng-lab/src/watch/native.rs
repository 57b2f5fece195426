//! Threads of this machine on one counter.
//!
//! Each thread counts its numbers in a slot on a line of its own, so that watching costs it
//! nothing. Idle threads are parked. At the end, sums check what was handed out: only 0, 1, 2, ..,
//! each once, has these sums.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use throng::machine::{Cpu, Native};
use throng::structures::counter::Counter;
use throng::structures::counter::Stats;

use super::state::{About, Group, Heat, Load, Snapshot, World};
use crate::bench::pace::{Pace, Worker};
use crate::error::Error;

/// Numbers a thread draws between two reports of its progress and looks at the wanted load.
const AT_ONCE: usize = 256;

/// Most threads for each core.
const THREADS_A_CORE: usize = 4;

/// Longest work between two calls, in nanoseconds.
const WORK_NS_MAX: u64 = 10_000;

const STACK_BYTES: usize = 256 << 10;

/// Threads of this machine.
#[derive(Debug)]
pub struct NativeWorld {
    about: About,
    shared: Arc<Shared>,
    crew: Mutex<Vec<JoinHandle<()>>>,
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Shared {
    counter: Counter,
    slots: Box<[Slot]>,
    /// Threads with numbers below this take numbers.
    wanted: AtomicUsize,
    work_ns: AtomicU64,
    stopping: AtomicBool,
}

/// The numbers that a thread has drawn; written by that thread only.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Slot {
    calls: AtomicU64,
    core: AtomicUsize,
    /// Sums of all its numbers and of their squares, modulo 2^64.
    sum: AtomicU64,
    squares: AtomicU64,
}

/// What the last snapshot saw.
#[derive(Debug)]
struct Last {
    at: Instant,
    calls: Vec<u64>,
}

impl NativeWorld {
    /// Starts threads for `cores` cores, of which `callers` begin at once.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn start(cores: usize, callers: usize) -> Result<Self, Error> {
        let threads = THREADS_A_CORE * cores.max(1);
        let shared = Arc::new(Shared {
            counter: Counter::new(),
            slots: (0..threads).map(|_| Slot::default()).collect(),
            wanted: AtomicUsize::new(callers.min(threads)),
            work_ns: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        });
        let world = NativeWorld {
            about: About {
                simulated: false,
                name: "this machine".to_owned(),
                about: format!("threads of this machine, which has {}", cores_in_words(cores)),
                cores,
                callers: "threads",
                callers_max: threads,
                work_ns_max: WORK_NS_MAX,
                pace_cycles_max: None,
                clock_mhz: None,
            },
            shared: Arc::clone(&shared),
            crew: Mutex::default(),
            last: Mutex::new(Last { at: Instant::now(), calls: vec![0; threads] }),
        };
        for id in 0..threads {
            let shared = Arc::clone(&shared);
            let thread = thread::Builder::new().name(format!("caller {id}"));
            let spawned = thread.stack_size(STACK_BYTES).spawn(move || shared.take_numbers(id));
            match spawned {
                Ok(handle) => lock(&world.crew).push(handle),
                Err(source) => {
                    world.dismiss();
                    return Err(Error::Spawn { threads, source });
                }
            }
        }
        Ok(world)
    }

    /// Ends all threads. Returns whether each ended without a panic.
    fn dismiss(&self) -> bool {
        self.shared.stopping.store(true, Relaxed);
        let crew = std::mem::take(&mut *lock(&self.crew));
        crew.iter().for_each(|handle| handle.thread().unpark());
        let panicked = crew.into_iter().filter_map(|handle| handle.join().err()).count();
        panicked == 0
    }
}

impl Drop for NativeWorld {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl World for NativeWorld {
    fn about(&self) -> &About {
        &self.about
    }

    fn load(&self) -> Load {
        let Shared { wanted, work_ns, .. } = &*self.shared;
        Load { callers: wanted.load(Relaxed), work_ns: work_ns.load(Relaxed), pace_cycles: 0 }
    }

    fn set_load(&self, load: Load) {
        self.shared.work_ns.store(load.work_ns, Relaxed);
        self.shared.wanted.store(load.callers, Relaxed);
        lock(&self.crew).iter().take(load.callers).for_each(|handle| handle.thread().unpark());
    }

    fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let mut last = lock(&self.last);
        let (now, stats) = (Instant::now(), shared.counter.stats());
        let calls: Vec<u64> = shared.slots.iter().map(|slot| slot.calls.load(Relaxed)).collect();
        let seconds = now.duration_since(last.at).as_secs_f64().max(1e-6);
        let rate = |(now, before): (&u64, &u64)| ((now - before) as f64 / seconds).round() as u64;
        let rates = calls.iter().zip(&last.calls).map(rate).collect();
        let at = shared.slots.iter().map(|slot| slot.core.load(Relaxed)).collect();
        *last = Last { at: now, calls };
        seen(self.load(), self.about.cores, stats, at, rates)
    }

    fn stop(&self) -> Result<(), Error> {
        let well = self.dismiss();
        let sum = |part: fn(&Slot) -> &AtomicU64| {
            self.shared.slots.iter().map(|slot| part(slot).load(Relaxed)).fold(0, u64::wrapping_add)
        };
        let drawn = sum(|slot| &slot.calls);
        let sums = [sum(|slot| &slot.sum), sum(|slot| &slot.squares)];
        let next = self.shared.counter.stats().next;
        if !well {
            return Err(Error::Watched { what: "a thread panicked".to_owned() });
        }
        if next != drawn || sums != sums_below(drawn) {
            let what = format!("{drawn} numbers were drawn, not 0 to {next} - 1 each once");
            return Err(Error::Watched { what });
        }
        Ok(())
    }
}

impl Shared {
    /// Runs the program of a thread.
    fn take_numbers(&self, id: usize) {
        let cpu = Native::cpu();
        let slot = &self.slots[id];
        let mut values = [0; AT_ONCE];
        let mut work_ns = 0;
        let mut worker = Worker::new(Pace::OneByOne { work_ns: 0 });
        while !self.stopping.load(Relaxed) {
            if id >= self.wanted.load(Relaxed) {
                thread::park();
                continue;
            }
            let wanted_ns = self.work_ns.load(Relaxed);
            if work_ns != wanted_ns {
                work_ns = wanted_ns;
                worker = Worker::new(Pace::OneByOne { work_ns: work_ns as u32 });
            }
            worker.fill(&self.counter, &cpu, &mut values);
            slot.core.store(cpu.location(), Relaxed);
            slot.add(&values);
        }
    }
}

impl Slot {
    fn add(&self, values: &[u64]) {
        let add = |word: &AtomicU64, more: u64| {
            word.store(word.load(Relaxed).wrapping_add(more), Relaxed);
        };
        add(&self.sum, values.iter().fold(0, |sum, &value| sum.wrapping_add(value)));
        let square = |sum: u64, &value: &u64| sum.wrapping_add(value.wrapping_mul(value));
        add(&self.squares, values.iter().fold(0, square));
        add(&self.calls, values.len() as u64);
    }
}

/// Returns the sums of 0, 1, .., `count` - 1 and of their squares, modulo 2^64.
fn sums_below(count: u64) -> [u64; 2] {
    let n = u128::from(count);
    let sum = n * n.saturating_sub(1) / 2;
    let odd = (2 * n).saturating_sub(1);
    // One of the two factors can be divided by 3.
    let squares =
        if sum % 3 == 0 { (sum / 3).wrapping_mul(odd) } else { sum.wrapping_mul(odd / 3) };
    [sum as u64, squares as u64]
}

/// Returns a snapshot of what is known. The length of queues is estimated: a thread that has a core
/// is either at work or in a call. Of the threads in a call at the same word, all but one wait.
fn seen(load: Load, cores: usize, stats: Stats, at: Vec<usize>, rates: Vec<u64>) -> Snapshot {
    let per_second: f64 = rates.iter().sum::<u64>() as f64;
    // Two threads on one core do not run at the same time.
    let cores_used: BTreeSet<usize> = at.iter().copied().take(load.callers).collect();
    let on_cores = cores_used.len().min(cores) as f64 / load.callers.max(1) as f64;
    // Work is uniform from 0 to this bound.
    let work_s = load.work_ns as f64 * 1e-9 / 2.0;
    let in_a_call =
        |callers: usize, rate: f64| (callers as f64 * on_cores - rate * work_s).max(0.0);
    let heights: Vec<u32> = stats.levels.heights().collect();

    // From the leaves down to the root: the visitors of each word and their rate.
    let mut below: Vec<Visitors> = (0..load.callers.min(at.len()))
        .map(|i| Visitors { at: at[i], callers: 1, rate: rates[i] as f64, asking: on_cores })
        .collect();
    let mut levels = Vec::new();
    for (depth, &height) in heights.iter().enumerate() {
        let mut groups: Vec<Visitors> = Vec::new();
        for visitor in below {
            let first = visitor.at >> height << height;
            match groups.iter_mut().find(|group| group.at == first) {
                Some(group) => {
                    group.callers += visitor.callers;
                    group.rate += visitor.rate;
                    group.asking += visitor.asking;
                }
                None => groups.push(Visitors { at: first, ..visitor }),
            }
        }
        groups.sort_by_key(|group| group.at);
        let waiting = |group: &Visitors| match depth {
            0 => in_a_call(group.callers, group.rate),
            _ => group.asking,
        };
        levels.push(groups.iter().map(|group| group.seen(waiting(group))).collect());
        // All that are in a call together are one batch, which one of them fetches.
        let batch = |group: &Visitors| waiting(group).max(1.0);
        below = groups
            .iter()
            .map(|group| Visitors { rate: group.rate / batch(group), asking: 1.0, ..*group })
            .collect();
    }
    let visits: f64 = below.iter().map(|visitors| visitors.rate).sum();
    let asking = match heights.as_slice() {
        [] => in_a_call(load.callers, per_second),
        _ => below.len() as f64,
    };
    Snapshot {
        handed_out: stats.next,
        per_second,
        groups_of: heights.iter().map(|height| 1 << height).collect(),
        changes: stats.changes,
        moves: stats.moves,
        batch: if visits > 0.0 { per_second / visits } else { 1.0 },
        root: Heat { waiting: (asking - 1.0).max(0.0), visits_per_second: visits },
        levels,
        at,
        rates,
        estimated: true,
        ..Snapshot::default()
    }
}

/// The callers that come to a word from one side.
#[derive(Clone, Copy, Debug)]
struct Visitors {
    at: usize,
    callers: usize,
    rate: f64,
    /// Number of them that can ask at a time.
    asking: f64,
}

impl Visitors {
    fn seen(&self, in_a_call: f64) -> Group {
        let waiting = (in_a_call - 1.0).max(0.0);
        let heat = Heat { waiting, visits_per_second: self.rate };
        Group { first: self.at, callers: self.callers, heat }
    }
}

fn cores_in_words(cores: usize) -> String {
    format!("{cores} core{}", if cores == 1 { "" } else { "s" })
}

/// Locks even if poisoned: a panic while one of these was locked left it consistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use throng::structures::counter::gathering::Levels;

    fn handed_out(world: &NativeWorld) -> u64 {
        world.snapshot().handed_out
    }

    /// Waits until `done` is true, which must not take long.
    fn until(what: &str, mut done: impl FnMut() -> bool) {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(20), "{what}: never");
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn numbers_are_drawn_by_those_who_are_wanted_and_each_once() {
        let world = NativeWorld::start(1, 0).unwrap();
        assert_eq!((world.about().callers_max, handed_out(&world)), (4, 0));
        world.set_load(Load { callers: 3, work_ns: 0, pace_cycles: 0 });
        assert_eq!(world.load().callers, 3);
        until("all three draw", || {
            let slots = world.shared.slots.iter();
            slots.filter(|slot| slot.calls.load(Relaxed) > 0).count() == 3
        });
        assert!(world.snapshot().per_second > 0.0);
        world.set_load(Load { callers: 0, work_ns: 0, pace_cycles: 0 });
        until("no thread draws", || {
            world.snapshot().per_second == 0.0 && {
                thread::sleep(Duration::from_millis(20));
                world.snapshot().per_second == 0.0
            }
        });
        assert_eq!(world.shared.slots[3].calls.load(Relaxed), 0, "it was never wanted");
        world.stop().unwrap();
        world.stop().unwrap();
    }

    #[test]
    fn work_between_calls_takes_effect() {
        let world = NativeWorld::start(1, 1).unwrap();
        // The best of several: other programs may use the core, too.
        let rate = || {
            let rates = (0..4).map(|_| {
                world.snapshot();
                thread::sleep(Duration::from_millis(10));
                world.snapshot().per_second
            });
            rates.fold(0.0, f64::max)
        };
        until("it is fast without", || rate() > 2e6);
        world.set_load(Load { callers: 1, work_ns: 10_000, pace_cycles: 0 });
        // 5 us on the average.
        until("work slows it down", || (1.0..1e6).contains(&rate()));
        world.stop().unwrap();
    }

    #[test]
    fn a_number_that_is_lost_or_given_twice_is_noticed() {
        for drawn in [&[0, 1, 2, 3][..], &[3, 1, 0, 2], &[], &[0]] {
            let slot = Slot::default();
            slot.add(drawn);
            let sums = [slot.sum.load(Relaxed), slot.squares.load(Relaxed)];
            assert_eq!(sums, sums_below(drawn.len() as u64), "{drawn:?}");
        }
        // The same sum, but other squares.
        let slot = Slot::default();
        slot.add(&[0, 0, 3, 3]);
        assert_eq!(slot.sum.load(Relaxed), sums_below(4)[0]);
        assert_ne!(slot.squares.load(Relaxed), sums_below(4)[1]);

        let world = NativeWorld::start(1, 0).unwrap();
        world.shared.counter.next();
        let said = world.stop().unwrap_err().to_string();
        assert!(said.contains("0 numbers were drawn, not 0 to 1 - 1"), "{said}");
    }

    #[test]
    fn sums_hold_for_large_counts() {
        let count = 3_000_000_019_u64;
        let wrapping = |n: u128| n as u64;
        let n = u128::from(count);
        let squares = wrapping((n - 1) * n * (2 * n - 1) / 6);
        assert_eq!(sums_below(count), [wrapping(n * (n - 1) / 2), squares]);
    }

    fn stats(heights: &[u32]) -> Stats {
        let counter = Counter::new();
        counter.reshape(Levels::of_heights(heights).unwrap());
        counter.stats()
    }

    #[test]
    fn on_one_word_all_calls_go_to_the_root() {
        let load = Load { callers: 2, work_ns: 0, pace_cycles: 0 };
        let seen = seen(load, 2, stats(&[]), vec![0, 1, 0, 0], vec![10, 20, 0, 0]);
        assert_eq!((seen.root.visits_per_second, seen.root.waiting, seen.batch), (30.0, 1.0, 1.0));
        assert!(seen.levels.is_empty() && seen.groups_of.is_empty() && seen.estimated);
    }

    #[test]
    fn threads_belong_to_the_group_of_their_core_and_no_working_thread_waits() {
        let load = Load { callers: 4, work_ns: 0, pace_cycles: 0 };
        let groups = seen(load, 8, stats(&[1]), vec![0, 5, 1, 7], vec![100; 4]);
        let [level] = &groups.levels[..] else { panic!("{groups:?}") };
        let first: Vec<_> = level.iter().map(|group| (group.first, group.callers)).collect();
        assert_eq!((groups.groups_of, first), (vec![2], vec![(0, 2), (4, 1), (6, 1)]));
        // The two of the first group ask together.
        assert_eq!((level[0].heat.waiting, level[1].heat.waiting), (1.0, 0.0));
        assert_eq!((groups.root.visits_per_second, groups.root.waiting), (300.0, 2.0));

        let two = seen(load, 8, stats(&[1, 2]), vec![0, 5, 1, 7], vec![100; 4]);
        let callers: Vec<Vec<usize>> = two
            .levels
            .iter()
            .map(|level| level.iter().map(|group| group.callers).collect())
            .collect();
        assert_eq!(callers, [vec![2, 1, 1], vec![2, 2]]);

        let working = Load { work_ns: 2_000_000_000, ..load };
        let idle = seen(working, 8, stats(&[]), vec![0; 4], vec![1; 4]);
        assert_eq!(idle.root.waiting, 0.0);
    }
}
