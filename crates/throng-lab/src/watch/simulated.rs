//! Processors of a simulated machine on one counter: one long simulation in a thread of its own.
//!
//! The processors read how many of them should take numbers from an ordinary word outside simulated
//! memory, at no cost. The others idle. Every few thousand cycles a processor records a sample of
//! the simulation, and waits if simulated time is ahead of the pace asked for. Every number is
//! checked when it is handed out.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use throng::machine::{Cpu, Home};
use throng::structures::counter::Counter;
use throng::structures::counter::{Counting, Stats};
use throng_papers::workloads::catching;
use throng_sim::{End, MachineSpec, MemoryReport, Sim, SimCpu, SimError, Simulation, Traffic};

use super::groups::words_of_groups;
use super::state::{About, Group, Heat, Hot, Load, PACE_CYCLES_MIN, Pace, Snapshot, World};
use crate::error::Error;

/// Longest work between two calls, in nanoseconds.
const WORK_NS_MAX: u64 = 10_000;

/// Largest pace: no machine simulates faster.
const PACE_CYCLES_MAX: u64 = 1_000_000_000;

/// Initial pace in cycles a second. A counter needs some hundred thousand cycles to find its shape,
/// which the viewer should see.
const PACE_CYCLES: u64 = 500_000;

/// Upper bound of the random pause between two calls, in cycles. Without it, all processors fall
/// into step.
const JITTER_CYCLES: usize = 16;

/// Processor i begins at i times this number of cycles.
const STAGGER_CYCLES: u32 = 5;

/// Times a second that a simulation compares simulated with real time.
const STOPS_A_SECOND: u64 = 50;

/// Times a second that an idle processor looks at the wanted load.
const LOOKS_A_SECOND: u64 = 100;

/// Most cycles between two such looks.
const STRETCH_CYCLES_MAX: u64 = 100_000;

/// Longest single wait for real time.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// Time between two samples.
const TAKE_DOWN: Duration = Duration::from_millis(80);

/// Number of the hottest words reported.
const HOTTEST: usize = 6;

/// A simulated machine.
#[derive(Debug)]
pub struct SimulatedWorld {
    about: About,
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    last: Mutex<(Taken, Snapshot)>,
}

/// State shared by the simulation and its observers.
#[derive(Debug, Default)]
struct Shared {
    /// Processors with numbers below this take numbers.
    wanted: AtomicUsize,
    work_ns: AtomicU64,
    pace_cycles: AtomicU64,
    stopping: AtomicBool,
    taken: Mutex<Option<Taken>>,
    trouble: Mutex<Option<String>>,
}

/// A sample, counted from the beginning on.
#[derive(Clone, Debug, Default)]
struct Taken {
    cycles: u64,
    /// Real time, since the beginning.
    real: Duration,
    /// Whether the simulation had to wait because it was ahead.
    waited: bool,
    calls: Vec<u64>,
    stats: Option<Stats>,
    memory: MemoryReport,
}

impl SimulatedWorld {
    /// Starts a machine with `processors` processors, of which `callers` begin at once.
    ///
    /// # Errors
    /// When the machine cannot be simulated, because the processors do not fit in memory.
    pub fn start(machine: MachineSpec, processors: usize, callers: usize) -> Result<Self, Error> {
        // Tried at once, so that an impossible machine is reported here.
        let empty = Simulation::new().machine(machine.clone()).processors(processors);
        empty
            .run(|| (), |(), _| ())
            .map_err(|source| throng_papers::error::Error::Simulation { source })?;
        let shared = Arc::new(Shared {
            wanted: AtomicUsize::new(callers.min(processors)),
            pace_cycles: AtomicU64::new(PACE_CYCLES),
            ..Shared::default()
        });
        let world = SimulatedWorld {
            about: About {
                simulated: true,
                name: machine.name.clone(),
                about: machine.about.clone(),
                cores: processors,
                callers: "processors",
                callers_max: processors,
                work_ns_max: WORK_NS_MAX,
                pace_cycles_max: Some(PACE_CYCLES_MAX),
                clock_mhz: Some(machine.clock_mhz),
            },
            shared: Arc::clone(&shared),
            thread: Mutex::default(),
            last: Mutex::default(),
        };
        let simulate = move || shared.simulate(&machine, processors);
        let spawned = thread::Builder::new().name("simulation".to_owned()).spawn(simulate);
        let handle = spawned.map_err(|source| Error::Spawn { threads: 1, source })?;
        *lock(&world.thread) = Some(handle);
        Ok(world)
    }

    fn end(&self) {
        self.shared.stopping.store(true, Relaxed);
        if let Some(handle) = lock(&self.thread).take() {
            // A panic of the simulation is reported as trouble.
            let _ = handle.join();
        }
    }

    fn trouble(&self) -> Option<String> {
        lock(&self.shared.trouble).clone()
    }
}

impl Drop for SimulatedWorld {
    fn drop(&mut self) {
        self.end();
    }
}

impl World for SimulatedWorld {
    fn about(&self) -> &About {
        &self.about
    }

    fn load(&self) -> Load {
        Load {
            callers: self.shared.wanted.load(Relaxed),
            work_ns: self.shared.work_ns.load(Relaxed),
            pace_cycles: self.shared.pace_cycles.load(Relaxed),
        }
    }

    fn set_load(&self, load: Load) {
        self.shared.work_ns.store(load.work_ns, Relaxed);
        self.shared.pace_cycles.store(load.pace_cycles.max(PACE_CYCLES_MIN), Relaxed);
        self.shared.wanted.store(load.callers, Relaxed);
    }

    /// Returns the last snapshot again if no sample was taken since, however slow the simulation
    /// is.
    fn snapshot(&self) -> Snapshot {
        let taken = lock(&self.shared.taken).take();
        let mut last = lock(&self.last);
        if let Some(taken) = taken {
            let clock_mhz = self.about.clock_mhz.unwrap_or(1);
            let snapshot = seen(&last.0, &taken, clock_mhz, self.load().callers);
            *last = (taken, snapshot);
        }
        Snapshot { trouble: self.trouble(), ..last.1.clone() }
    }

    fn stop(&self) -> Result<(), Error> {
        self.end();
        self.trouble().map_or(Ok(()), |what| Err(Error::Watched { what }))
    }
}

/// State shared by the processors outside simulated memory. Borrowed only between two accesses,
/// while no other processor runs.
struct Stage {
    counter: Counter<Sim>,
    book: RefCell<Book>,
    calls: RefCell<Vec<u64>>,
    clock: Clock,
}

/// Simulated time against real time.
struct Clock {
    began: Instant,
    /// Simulated time of the next comparison with the real clock.
    next_stop: Cell<u64>,
    last_stop: Cell<(u64, Instant)>,
    taken_down: Cell<Instant>,
    waited: Cell<bool>,
}

impl Shared {
    fn simulate(self: Arc<Self>, machine: &MachineSpec, processors: usize) {
        while !self.stopping.load(Relaxed) {
            let run = catching(|| Arc::clone(&self).run(machine, processors));
            let what = match run {
                // Simulated time ends only after months. Then it begins again.
                Ok(Ok(End::Finished | End::TimeLimit { .. })) => continue,
                Ok(Ok(end)) => end.to_string(),
                Ok(Err(error)) => error.to_string(),
                Err(panic) => panic,
            };
            *lock(&self.trouble) = Some(format!("the simulation broke down: {what}"));
            return;
        }
    }

    fn run(self: Arc<Self>, machine: &MachineSpec, processors: usize) -> Result<End, SimError> {
        let clock_mhz = u64::from(machine.clock_mhz);
        let now = Instant::now();
        let stage = move || Stage {
            counter: Counter::builder().on_machine(),
            book: RefCell::default(),
            calls: RefCell::new(vec![0; processors]),
            clock: Clock {
                began: now,
                next_stop: Cell::new(0),
                last_stop: Cell::new((0, now)),
                taken_down: Cell::new(now),
                waited: Cell::new(false),
            },
        };
        let outcome = Simulation::new()
            .machine(machine.clone())
            .processors(processors)
            .step_limit(u64::MAX)
            .run(stage, move |stage, cpu| self.take_numbers(stage, cpu, clock_mhz))?;
        Ok(outcome.end)
    }

    /// Runs the program of each processor.
    fn take_numbers(&self, stage: &Stage, cpu: &SimCpu, clock_mhz: u64) {
        let id = cpu.id();
        if id > 0 {
            cpu.pause(id as u32 * STAGGER_CYCLES);
        }
        while !self.stopping.load(Relaxed) {
            if cpu.clock() >= stage.clock.next_stop.get() {
                self.stop_for_a_look(stage, cpu);
            }
            if id >= self.wanted.load(Relaxed) {
                let idle =
                    (self.pace_cycles.load(Relaxed) / LOOKS_A_SECOND).min(STRETCH_CYCLES_MAX);
                // Not all at the same time.
                cpu.pause(idle as u32 + cpu.random_below(JITTER_CYCLES) as u32);
                continue;
            }
            let value = stage.counter.next_on(cpu);
            if let Err(wrong) = stage.book.borrow_mut().enter(value) {
                panic!("{wrong}");
            }
            stage.calls.borrow_mut()[id] += 1;
            let work = self.work_ns.load(Relaxed) * clock_mhz / 1000;
            cpu.pause(cpu.random_below(work as usize + JITTER_CYCLES) as u32 + 1);
        }
    }

    /// Takes a sample, and waits if simulated time is ahead. No simulated time passes.
    fn stop_for_a_look(&self, stage: &Stage, cpu: &SimCpu) {
        let (clock, cycles) = (&stage.clock, cpu.clock());
        let pace = self.pace_cycles.load(Relaxed).max(1);
        clock.next_stop.set(cycles + (pace / STOPS_A_SECOND).clamp(1, STRETCH_CYCLES_MAX));
        let (last_cycles, last_real) = clock.last_stop.get();
        let due = last_real + Duration::from_secs_f64((cycles - last_cycles) as f64 / pace as f64);
        let ahead = due.saturating_duration_since(Instant::now());
        if !ahead.is_zero() {
            clock.waited.set(true);
            // Bounded, because the pace may have been made slower just now.
            thread::sleep(ahead.min(WAIT_MAX));
        }
        clock.last_stop.set((cycles, Instant::now()));
        if clock.taken_down.get().elapsed() >= TAKE_DOWN {
            clock.taken_down.set(Instant::now());
            let taken = Taken {
                cycles,
                real: clock.began.elapsed(),
                waited: clock.waited.take(),
                calls: stage.calls.borrow().clone(),
                stats: Some(cpu.aside(|| stage.counter.stats())),
                memory: cpu.memory_so_far(),
            };
            *lock(&self.taken) = Some(taken);
        }
    }
}

/// The numbers handed out so far: each may come once, and none may be left out for long.
#[derive(Debug, Default)]
struct Book {
    /// All numbers below this one have come.
    below: u64,
    /// Numbers above `below` that came early.
    early: BTreeSet<u64>,
}

/// More calls at a time than processors there can be.
const MOST_EARLY: usize = 1 << 17;

impl Book {
    fn enter(&mut self, value: u64) -> Result<(), String> {
        if value < self.below || !self.early.insert(value) {
            return Err(format!("the counter handed out {value} twice"));
        }
        while self.early.remove(&self.below) {
            self.below += 1;
        }
        if self.early.len() > MOST_EARLY {
            return Err(format!("the counter left out {}", self.below));
        }
        Ok(())
    }
}

/// Computes what happened from `before` to `now`.
fn seen(before: &Taken, now: &Taken, clock_mhz: u32, callers: usize) -> Snapshot {
    // A simulation that began again has another beginning.
    let nothing = Taken::default();
    let before = if before.cycles < now.cycles { before } else { &nothing };
    let cycles = (now.cycles - before.cycles).max(1) as f64;
    let per_second = |count: u64| count as f64 / cycles * f64::from(clock_mhz) * 1e6;
    let taken_before = |id: usize| before.calls.get(id).copied().unwrap_or(0);
    let calls = now.calls.iter().enumerate().map(|(id, calls)| calls - taken_before(id));
    let rates: Vec<u64> = calls.clone().map(|calls| per_second(calls).round() as u64).collect();
    let drawn: u64 = calls.sum();
    let memory = now.memory.since(&before.memory);
    let heat = |traffic: Traffic| Heat {
        // A wait counts as a whole from its beginning. When many processors have just come, the
        // mean could exceed their number.
        waiting: (traffic.waited_cycles as f64 / cycles).min(callers as f64),
        visits_per_second: per_second(traffic.accesses()),
    };
    let root = memory.lines.iter().find(|(place, _)| place.name == "root");
    let root = root.map_or(Traffic::default(), |&(_, traffic)| traffic);
    let heights: Vec<u32> = now.stats.map_or(Vec::new(), |stats| stats.levels.heights().collect());
    let levels = heights.iter().map(|&height| {
        let words = words_of_groups(&memory, &heights, height, rates.len());
        let group = |(first, traffic)| Group {
            first,
            callers: callers.saturating_sub(first).min(1 << height),
            heat: heat(traffic),
        };
        words.into_iter().map(group).filter(|group| group.callers > 0).collect()
    });
    let us = |cycles: f64| cycles / f64::from(clock_mhz);
    let real = (now.real.saturating_sub(before.real)).as_secs_f64().max(1e-6);
    Snapshot {
        handed_out: now.calls.iter().sum(),
        per_second: per_second(drawn),
        per_million_cycles: Some(drawn as f64 / cycles * 1e6),
        changes: now.stats.map_or(0, |stats| stats.changes),
        moves: now.stats.map_or(0, |stats| stats.moves),
        batch: drawn as f64 / root.accesses().max(1) as f64,
        root: heat(root),
        levels: levels.collect(),
        groups_of: heights.iter().map(|height| 1 << height).collect(),
        at: (0..rates.len()).collect(),
        rates,
        hottest: hottest(&memory)
            .map(|(name, traffic)| Hot { name, heat: heat(traffic) })
            .collect(),
        estimated: false,
        pace: Some(Pace {
            simulated_us: us(now.cycles as f64),
            simulated_us_per_second: us(cycles) / real,
            held_up: !now.waited,
        }),
        trouble: None,
    }
}

/// Returns the words at which most time was lost, with names that tell their places.
fn hottest(memory: &MemoryReport) -> impl Iterator<Item = (String, Traffic)> {
    memory.hottest(HOTTEST).into_iter().map(|(place, traffic)| {
        let name = match place.home {
            Home::Near(id) => format!("{place} near processor {id}"),
            Home::Anywhere => place.to_string(),
        };
        (name, traffic)
    })
}

/// Locks even if poisoned: a panic while one of these was locked left it consistent.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> MachineSpec {
        MachineSpec::preset("server").unwrap()
    }

    fn fast(callers: usize) -> Load {
        Load { callers, work_ns: 0, pace_cycles: PACE_CYCLES_MAX }
    }

    /// Takes snapshots until one is as wanted, which must not take long.
    fn until(world: &SimulatedWorld, what: &str, wanted: impl Fn(&Snapshot) -> bool) -> Snapshot {
        let start = Instant::now();
        loop {
            let snapshot = world.snapshot();
            assert_eq!(snapshot.trouble, None);
            if wanted(&snapshot) {
                return snapshot;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{what}: never; {snapshot:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn it_grows_in_a_crowd_and_shrinks_when_the_crowd_has_gone() {
        let world = SimulatedWorld::start(server(), 64, 2).unwrap();
        world.set_load(fast(64));
        let crowd = until(&world, "groups", |seen| seen.moves > 0 && !seen.groups_of.is_empty());
        let inside: usize = crowd.levels[0].iter().map(|group| group.callers).sum();
        assert_eq!((inside, crowd.at.len(), crowd.estimated), (64, 64, false));
        assert!(crowd.per_second > 1e6 && crowd.per_million_cycles.unwrap() > 1000.0);
        assert!(!crowd.hottest.is_empty());
        until(&world, "as fast as it can", |seen| seen.pace.is_some_and(|pace| pace.held_up));

        world.set_load(fast(2));
        until(&world, "one word", |seen| {
            seen.groups_of.is_empty() && seen.rates.iter().filter(|&&rate| rate > 0).count() == 2
        });
        world.stop().unwrap();
    }

    #[test]
    fn it_goes_no_faster_than_asked_for_and_stops_when_told() {
        let world = SimulatedWorld::start(MachineSpec::ideal(10), 4, 4).unwrap();
        world.set_load(Load { callers: 4, work_ns: 0, pace_cycles: 100_000 });
        until(&world, "the new pace", |seen| seen.handed_out > 0);
        let pace = until(&world, "a pace", |seen| seen.pace.is_some_and(|pace| !pace.held_up));
        let clock = f64::from(world.about().clock_mhz.unwrap());
        let cycles = pace.pace.unwrap().simulated_us_per_second * clock;
        assert!(cycles < 600_000.0, "{cycles} cycles a second");
        let start = Instant::now();
        world.stop().unwrap();
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(lock(&world.thread).is_none());
    }

    #[test]
    fn numbers_that_come_twice_or_not_at_all_are_noticed() {
        let mut book = Book::default();
        for value in [1, 0, 3, 2] {
            book.enter(value).unwrap();
        }
        assert_eq!((book.below, book.early.len()), (4, 0));
        assert_eq!(book.enter(2).unwrap_err(), "the counter handed out 2 twice");
        book.enter(6).unwrap();
        assert!(book.enter(6).is_err());
        let late = (7..).try_for_each(|value| book.enter(value));
        assert_eq!(late.unwrap_err(), "the counter left out 4");
    }

    #[test]
    fn too_many_processors_are_refused_at_once() {
        assert!(SimulatedWorld::start(server(), 1 << 20, 1).is_err());
    }
}
