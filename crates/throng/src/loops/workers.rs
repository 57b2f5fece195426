//! Helper threads. They are kept between loops, since starting one takes as long as a short loop.
//!
//! # A call
//! [`Workers::together`] looks through the list of workers for the number of idle ones that it
//! needs, and adds new workers, whose threads are not started yet, for the rest. It puts a job into
//! the slot of each, *rings* for two of them and begins to work. Ringing starts the thread, or
//! wakes it. Each worker that arrives rings for two others before it begins to work, so that k of
//! them arrive in log k steps. No thread is rung for when no work is left:
//!
//! ```text
//!              caller
//!            /        \
//!        worker 0    worker 1
//!        /     \      /    \
//!       2       3    4      5
//! ```
//!
//! When the caller's own work is done, it takes back every job that no worker has begun. A worker
//! that has not arrived by then is not waited for, since it is far from being scheduled. The caller
//! waits for the others.
//!
//! A worker whose job is done writes only words of its own. All workers end at the same time, and
//! would contend for any other word. A worker of the program that has been idle for [`IDLE`]
//! leaves; those of a [`Crew`](super::Crew) stay until it is dropped.
//!
//! # After a fork
//! The child has none of these threads, and another thread of the parent may have held any of the
//! locks. So the threads and all memory shared with them are a [`Team`], which holds the number of
//! [forks](fork) before it. A call in the child finds the team out of date and makes a new one. The
//! old one stays in memory, untouched.
//!
//! # Why no call waits for ever
//! The caller waits only for workers that have begun its job. Those do their share of the indices,
//! and may call [`Workers::together`] themselves while they do. But a worker has one job at a time
//! and takes no other while it waits. So the waits form a tree, by nesting, and its leaves do not
//! wait.

use std::cell::Cell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::start::{Start, Thread};
use crate::machine::{
    BusyCores, Cpu, Line, Native, NativeWord, Patience, Place, Watch, WayOut, Word, fork,
};
use crate::published::Published;
use crate::topology::Topology;

/// The time after which an idle worker leaves. Starting another thread costs almost nothing
/// compared with this.
const IDLE: Duration = Duration::from_secs(1);

/// The largest number of threads of the program, or of a crew, unless [`MOST_FOR_A_CORE`] for each
/// core is more. More threads do not make a loop faster, and each takes a stack and an entry in the
/// system's tables.
const MOST: usize = 256;
const MOST_FOR_A_CORE: usize = 16;

/// Returns `threads`, or the largest number of threads allowed if that is less.
pub(super) fn capped(threads: usize) -> usize {
    if threads <= MOST {
        return threads;
    }
    threads.min(Topology::here().processors().saturating_mul(MOST_FOR_A_CORE).max(MOST))
}

/// The workers of the program, for the loops that are functions.
static OF_PROGRAM: Published<Arc<Workers>> = Published::new();

/// A set of workers, and how to start them.
pub(super) struct Workers {
    /// `None` for the workers of the program.
    settings: Option<Settings>,
    /// The workers of this process.
    team: Published<Team>,
}

/// The workers of one process.
struct Team {
    /// The number of [forks](fork::count) before this team was made.
    forks: u64,
    list: Mutex<Vec<Arc<Worker>>>,
    /// Measures whether other threads want the cores of the workers and their callers.
    busy: BusyCores,
    /// Whether all workers must leave.
    is_over: AtomicBool,
}

/// The settings for the workers of one crew.
pub(super) struct Settings {
    /// The largest number of workers.
    pub(super) most: usize,
    pub(super) thread_name: String,
    pub(super) stack_size: Option<usize>,
    /// Called on each thread with its number. The first worker's is 1, since the caller is number
    /// 0.
    pub(super) on_start: Option<Box<dyn Fn(usize) + Send + Sync>>,
}

/// A thread, or a place for one that has not been started.
struct Worker {
    /// The number of rings so far.
    bell: Line<NativeWord>,
    /// The ticket of the last job that is done.
    done: Line<NativeWord>,
    slot: Mutex<Slot>,
    /// Whether it has a job, or is about to get one.
    is_engaged: AtomicBool,
    /// Whether it has a thread.
    is_started: AtomicBool,
    /// The thread, if a caller will wait for its end.
    thread: Mutex<Option<Thread>>,
    /// Its number among the workers of a crew, from 1 on.
    number: usize,
    /// Whether it is to be removed from the list.
    has_left: AtomicBool,
}

struct Slot {
    job: Option<Job>,
    /// The number of jobs put here so far.
    tickets: u64,
}

/// A job of a worker.
#[derive(Clone, Copy)]
struct Job {
    /// Called with `seat`. Lives until the caller has taken the job back or seen that it is done.
    work: &'static (dyn Fn(usize) + Sync),
    /// The place of the worker in the tree; the caller's is 0.
    seat: usize,
    ticket: u64,
    patience: Patience,
}

thread_local! {
    /// Whether this thread runs work of [`Workers::together`].
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Marks the thread as working until it is dropped.
struct AtWork {
    before: bool,
}

impl AtWork {
    fn begin() -> Self {
        AtWork { before: IS_AT_WORK.replace(true) }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        IS_AT_WORK.set(self.before);
    }
}

impl Team {
    fn new() -> Self {
        Team {
            forks: fork::count(),
            list: Mutex::new(Vec::new()),
            busy: BusyCores::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Returns whether its threads are of this process.
    fn is_here(&self) -> bool {
        self.forks == fork::count()
    }

    /// Removes workers from the list that have left, or whose threads were never started.
    fn forget_gone(&self) {
        lock(&self.list).retain(|worker| !worker.has_left.load(Relaxed));
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if !self.is_here() {
            // A handle of a thread that does not exist here names memory that may be in use for
            // another thread. It must not be dropped.
            let list = self.list.get_mut().unwrap_or_else(PoisonError::into_inner);
            mem::forget(mem::take(list));
        }
    }
}

impl Workers {
    /// Returns the workers of the program.
    pub(super) fn of_program() -> &'static Arc<Self> {
        OF_PROGRAM.get_or_make(|| Arc::new(Workers::new(None)))
    }

    /// Returns an empty set of workers.
    pub(super) fn new(settings: Option<Settings>) -> Self {
        Workers { settings, team: Published::new() }
    }

    /// Returns the workers of this process.
    fn team(&self) -> &Team {
        self.team.get_or_renew(Team::is_here, Team::new)
    }

    /// Runs `work` on the calling thread and, while that has not returned, on up to `helpers` other
    /// threads, once on each. Returns when all have returned. No thread is started or woken once
    /// `has_more` returns false. `work` must not panic on other threads: the panic would be lost.
    ///
    /// # Panics
    /// In a child that `work` has forked: the work that other threads had begun is done in the
    /// parent only.
    pub(super) fn together(
        self: &Arc<Self>,
        helpers: usize,
        has_more: &(dyn Fn() -> bool + Sync),
        work: &(dyn Fn() + Sync),
    ) {
        let patience = Patience::for_threads(helpers.saturating_add(1));
        let team = self.team();
        let workers = self.engage(team, helpers);
        let part = |seat: usize| {
            for child in workers.iter().skip(2 * seat).take(2) {
                if has_more() {
                    child.ring(self);
                }
            }
            let _at_work = AtWork::begin();
            work();
        };
        let engaged = Engaged::new(self, team, &workers, &part, patience);
        part(0);
        drop(engaged);
        assert!(
            workers.is_empty() || team.is_here(),
            "the process was forked within a loop: the child does not have the loop's other threads"
        );
    }

    /// Engages `helpers` workers: idle ones of the list, and new ones.
    ///
    /// The search begins at the start of the list, so that the same workers are used again, and may
    /// still be awake.
    fn engage(&self, team: &Team, helpers: usize) -> Vec<Arc<Worker>> {
        let mut list = lock(&team.list);
        let idle = list.iter().filter(|worker| worker.engage()).take(helpers);
        let mut workers: Vec<_> = idle.cloned().collect();
        let known = list.len();
        let mut missing = helpers - workers.len();
        if let Some(settings) = &self.settings {
            missing = missing.min(settings.most.saturating_sub(known));
        } else if IS_AT_WORK.get() {
            // In a loop within a loop all cores may be busy already: more threads would make it
            // slower.
            missing = missing.min(Topology::here().processors().saturating_sub(known + 1));
        } else {
            // The limit is shared by all threads that call.
            missing = missing.min(capped(known.saturating_add(missing)).saturating_sub(known));
        }
        list.extend((1..=missing).map(|number| Arc::new(Worker::engaged(known + number))));
        workers.extend_from_slice(&list[known..]);
        workers
    }

    fn thread_name(&self) -> &str {
        self.settings.as_ref().map_or("throng", |settings| &settings.thread_name)
    }

    /// Ends all threads and waits until they have ended. No caller may be in [`Workers::together`],
    /// now or later.
    pub(super) fn end(&self) {
        let Some(team) = self.team.get().filter(|team| team.is_here()) else { return };
        team.is_over.store(true, Relaxed);
        let workers = mem::take(&mut *lock(&team.list));
        for worker in workers.iter().filter(|worker| worker.is_started.load(Relaxed)) {
            worker.call();
        }
        for worker in workers {
            if let Some(thread) = lock(&worker.thread).take() {
                thread.join();
            }
        }
    }
}

/// Workers that have a job. After it is dropped, no worker has the job or reads it again.
struct Engaged<'a> {
    crew: &'a Workers,
    team: &'a Team,
    workers: &'a [Arc<Worker>],
    /// The ticket of each worker's job.
    tickets: Vec<u64>,
    patience: Patience,
}

impl<'a> Engaged<'a> {
    /// Puts the job into the slots of the workers, without ringing.
    fn new(
        crew: &'a Workers,
        team: &'a Team,
        workers: &'a [Arc<Worker>],
        work: &'a (dyn Fn(usize) + Sync),
        patience: Patience,
    ) -> Self {
        // SAFETY: only the lifetime changes. The reference is kept in slots and by workers that have
        // taken it out of theirs. `drop`, which runs before 'a ends, empties the slots and waits until
        // those workers have signalled `done`, after which they use it no more. In a child of a fork those workers do
        // not exist. This value is local to `together`, which does not forget it.
        let work: &'static (dyn Fn(usize) + Sync) = unsafe {
            mem::transmute::<&'a (dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work)
        };
        let tickets = Vec::with_capacity(workers.len());
        let mut engaged = Engaged { crew, team, workers, tickets, patience };
        // From the last to the first: a worker that has its job may ring for later workers, so
        // those must have their jobs by then.
        for (number, worker) in workers.iter().enumerate().rev() {
            let mut slot = lock(&worker.slot);
            slot.tickets += 1;
            let ticket = slot.tickets;
            slot.job = Some(Job { work, seat: number + 1, ticket, patience });
            engaged.tickets.push(ticket);
        }
        engaged.tickets.reverse();
        engaged
    }
}

impl Drop for Engaged<'_> {
    fn drop(&mut self) {
        if !self.team.is_here() {
            // The threads do not exist in this process, and their locks may be held for ever.
            return;
        }
        let mut late = Vec::new();
        let mut begun = Vec::new();
        for (worker, &ticket) in self.workers.iter().zip(&self.tickets) {
            let is_back = lock(&worker.slot).take_back(ticket);
            if is_back { &mut late } else { &mut begun }.push((worker, ticket));
        }
        let watch = Watch::Cores(&self.team.busy);
        let way_out = WayOut { patience: self.patience, watch, ..WayOut::none() };
        for (worker, ticket) in begun {
            // A later ticket may be done, too: a worker that is idle again can be engaged by other
            // callers.
            worker.done.sleep_while(&Native::cpu(), Acquire, &way_out, |done| done < ticket);
        }
        // No worker rings any more, so a thread that is not started now will not be.
        let mut is_any_gone = false;
        for (worker, _) in late {
            if worker.is_started.load(Relaxed) || self.crew.settings.is_some() {
                worker.is_engaged.store(false, Release);
            } else {
                worker.has_left.store(true, Relaxed);
                is_any_gone = true;
            }
        }
        if is_any_gone {
            self.team.forget_gone();
        }
    }
}

impl Slot {
    /// Empties the slot if the job with this ticket is still there. Returns whether it was.
    fn take_back(&mut self, ticket: u64) -> bool {
        let is_there = self.job.is_some_and(|job| job.ticket == ticket);
        if is_there {
            self.job = None;
        }
        is_there
    }
}

impl Worker {
    /// Returns a new, engaged worker without a thread.
    fn engaged(number: usize) -> Self {
        let word = |name| Line::word::<Native>(0, Place::named(name));
        Worker {
            bell: word("bell"),
            done: word("done"),
            slot: Mutex::new(Slot { job: None, tickets: 0 }),
            is_engaged: AtomicBool::new(true),
            is_started: AtomicBool::new(false),
            thread: Mutex::new(None),
            number,
            has_left: AtomicBool::new(false),
        }
    }

    /// Engages the worker if it is idle. Returns whether it was.
    fn engage(&self) -> bool {
        !self.is_engaged.load(Relaxed) && !self.is_engaged.swap(true, Acquire)
    }

    /// Starts or wakes the thread. If no thread can be started, the job stays in its slot.
    fn ring(self: &Arc<Self>, crew: &Arc<Workers>) {
        if self.is_started.load(Relaxed) {
            return self.call();
        }
        if lock(&self.slot).job.is_none() {
            // The caller has taken it back, so a thread would find nothing to do.
            return;
        }
        // Before the start: the thread may be done, idle again and engaged by other callers before
        // `start` returns.
        self.is_started.store(true, Relaxed);
        // Held until the thread exists, so that the end of the crew finds it.
        let mut handle = lock(&self.thread);
        let stack_size = crew.settings.as_ref().and_then(|settings| settings.stack_size);
        let start = Start { name: crew.thread_name(), stack_size };
        let (worker, its_crew) = (Arc::clone(self), Arc::clone(crew));
        match start.start(move || worker.serve(&its_crew, its_crew.team())) {
            Ok(thread) if crew.settings.is_some() => *handle = Some(thread),
            Ok(_) => {}
            Err(_) => self.is_started.store(false, Relaxed),
        }
    }

    /// Wakes the thread.
    fn call(&self) {
        self.bell.fetch_add(1, SeqCst);
        self.bell.wake();
    }

    /// Runs the loop of a worker's thread, which does jobs until it leaves.
    fn serve(self: &Arc<Self>, crew: &Workers, team: &Team) {
        if let Some(on_start) =
            crew.settings.as_ref().and_then(|settings| settings.on_start.as_ref())
            && let Err(payload) = catch_unwind(AssertUnwindSafe(|| on_start(self.number)))
        {
            // The message has been printed. Dropping the payload could panic again.
            mem::forget(payload);
        }
        let cpu = Native::cpu();
        let (mut heard, mut patience) = (0, Patience::default());
        loop {
            // The bell was read before this look, so a job that comes after it rings again.
            let job = lock(&self.slot).job.take();
            if let Some(job) = job {
                patience = job.patience;
                self.do_job(job);
                if team.is_here() {
                    continue;
                }
                // The job has forked, and this is the child, which does not have the caller.
                return;
            }
            if team.is_over.load(Relaxed) {
                return;
            }
            let idle = crew.settings.is_none().then_some(IDLE.as_nanos() as u64);
            let deadline = idle.map(|idle| cpu.clock().saturating_add(idle));
            let watch = Watch::Cores(&team.busy);
            let way_out = WayOut { deadline, patience, watch, ..WayOut::none() };
            match self.bell.sleep_while(&cpu, Acquire, &way_out, |rings| rings == heard) {
                Some(rings) => heard = rings,
                None if self.leaves(team) => return,
                None => {}
            }
        }
    }

    fn do_job(self: &Arc<Self>, job: Job) {
        let Job { work, seat, ticket, .. } = job;
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(seat))) {
            // Dropping the payload could panic again, and then the caller would wait for ever.
            mem::forget(payload);
        }
        // Idle first: the caller's next loop must find it idle, and not start another thread.
        self.is_engaged.store(false, Release);
        self.done.signal(ticket);
    }

    /// Removes the worker from the list. Returns false if a caller has engaged it, which will ring.
    fn leaves(self: &Arc<Self>, team: &Team) -> bool {
        let mut list = lock(&team.list);
        let is_idle = self.engage();
        if is_idle {
            list.retain(|worker| !Arc::ptr_eq(worker, self));
        }
        is_idle
    }
}

/// Locks `mutex`. A panic under one of these locks, for want of memory, leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
