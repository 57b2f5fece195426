//! Threads that help: they are kept between two loops, since to start one takes as long as a short
//! loop.
//!
//! # The way of a call
//! [`together`] looks through the list of all workers for as many idle ones as it needs, or makes new ones
//! whose threads have yet to be started. It puts a job into the slot of each, *rings* for two of them and
//! goes to work. To ring is to start the thread, or to wake it. Each worker that comes rings for two others
//! before it goes to work, so that k of them are there in log k steps:
//!
//! ```text
//!              caller
//!            /        \
//!        worker 0    worker 1
//!        /     \      /    \
//!       2       3    4      5
//! ```
//!
//! When the caller's own work is done it takes back every job that nobody has begun: a worker that has
//! not come by then, since it is far from being scheduled, is not waited for. It waits for the others.
//!
//! A worker whose job is done writes nothing but words of its own: all end at the same time, and would stand
//! in line for anything else. One that has been idle for [`IDLE`] leaves.
//!
//! # Why nobody waits for ever
//! The caller waits only for workers that have begun its job. Those do their share of the indices, and
//! in doing so may call [`together`] themselves; but a worker has one job at a time and takes no other
//! while it waits. So who waits for whom is a tree, by nesting, and its leaves wait for nobody.

use std::cell::Cell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crate::machine::{
    BusyCores, Cpu, Line, Native, NativeWord, Patience, Place, Watch, WayOut, Word,
};
use crate::topology::Topology;

/// A worker that nobody has called for so long leaves. To start another one then costs nothing beside
/// this time.
const IDLE: Duration = Duration::from_secs(1);

/// All workers of the program.
static CREW: Mutex<Vec<Arc<Worker>>> = Mutex::new(Vec::new());

/// Whether other threads want the cores of all workers and their callers.
static BUSY: BusyCores = BusyCores::new();

/// One thread, or one that may be started.
struct Worker {
    /// How often somebody has rung.
    bell: Line<NativeWord>,
    /// The ticket of the last job that is done.
    done: Line<NativeWord>,
    slot: Mutex<Slot>,
    /// Whether it works for somebody, or is about to.
    is_engaged: AtomicBool,
    /// Whether there is a thread.
    is_started: AtomicBool,
    /// Whether it is to be taken off the list.
    has_left: AtomicBool,
}

struct Slot {
    job: Option<Job>,
    /// How many jobs were put here.
    tickets: u64,
}

/// What a worker has to do.
#[derive(Clone, Copy)]
struct Job {
    /// Lives until the caller has taken the job back or seen that it is done; called with `seat`.
    work: &'static (dyn Fn(usize) + Sync),
    /// Which place in the tree this is; the caller's is 0.
    seat: usize,
    ticket: u64,
    patience: Patience,
}

thread_local! {
    /// Whether this thread is at work for somebody in [`together`].
    static IS_AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on the calling thread and, while that has not returned, on up to `helpers` others, each
/// of them once. Returns when all have. `work` must not panic on other threads: that would be lost.
pub(super) fn together(helpers: usize, work: &(dyn Fn() + Sync)) {
    let patience = Patience::for_threads(helpers.saturating_add(1));
    let workers = engage(helpers);
    let part = |seat: usize| {
        for child in workers.iter().skip(2 * seat).take(2) {
            child.ring();
        }
        let _at_work = AtWork::begin();
        work();
    };
    let engaged = Engaged::new(&workers, &part, patience);
    part(0);
    drop(engaged);
}

/// Marks the thread as being at work.
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

/// Engages so many workers: those of the list that are idle, and new ones.
///
/// The list is looked through from its beginning, so that the same ones are busy again, and may be still awake.
fn engage(helpers: usize) -> Vec<Arc<Worker>> {
    let mut crew = lock(&CREW);
    let idle = crew.iter().filter(|worker| worker.engage()).take(helpers);
    let mut workers: Vec<_> = idle.cloned().collect();
    let mut missing = helpers - workers.len();
    if IS_AT_WORK.get() {
        // In a loop within a loop all cores may be busy already: more threads would make it slower.
        missing = missing.min(Topology::here().processors().saturating_sub(crew.len() + 1));
    }
    let known = crew.len();
    crew.extend((0..missing).map(|_| Arc::new(Worker::engaged())));
    workers.extend_from_slice(&crew[known..]);
    workers
}

/// Workers that have a job. When it goes, none of them has, or ever looks at it again.
struct Engaged<'a> {
    workers: &'a [Arc<Worker>],
    /// One for each.
    tickets: Vec<u64>,
    patience: Patience,
}

impl<'a> Engaged<'a> {
    /// Puts the job into their slots. Nobody is rung for.
    fn new(
        workers: &'a [Arc<Worker>],
        work: &'a (dyn Fn(usize) + Sync),
        patience: Patience,
    ) -> Self {
        // SAFETY: only the lifetime changes. The reference is kept in slots and by workers that have
        // taken it out of theirs. `drop`, which runs before 'a ends, empties the slots and waits until
        // those workers have signalled `done`, after which they use it no more. This value is local to
        // `together`, which does not forget it.
        let work: &'static (dyn Fn(usize) + Sync) = unsafe {
            mem::transmute::<&'a (dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work)
        };
        let mut engaged = Engaged { workers, tickets: Vec::with_capacity(workers.len()), patience };
        // From the last to the first: who has its job, and so may ring, has those after it provided with theirs.
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
        let mut late = Vec::new();
        let mut begun = Vec::new();
        for (worker, &ticket) in self.workers.iter().zip(&self.tickets) {
            let is_back = lock(&worker.slot).take_back(ticket);
            if is_back { &mut late } else { &mut begun }.push((worker, ticket));
        }
        let way_out =
            WayOut { patience: self.patience, watch: Watch::Cores(&BUSY), ..WayOut::none() };
        for (worker, ticket) in begun {
            // Later ones may be done, too: a worker that is idle again is free for others.
            worker.done.sleep_while(&Native::cpu(), Acquire, &way_out, |done| done < ticket);
        }
        // Now nobody rings any more: who is not started never will be.
        let mut is_any_gone = false;
        for (worker, _) in late {
            if worker.is_started.load(Relaxed) {
                worker.is_engaged.store(false, Release);
            } else {
                worker.has_left.store(true, Relaxed);
                is_any_gone = true;
            }
        }
        if is_any_gone {
            forget_gone(&mut lock(&CREW));
        }
    }
}

impl Slot {
    /// Empties the slot if this job is still there.
    fn take_back(&mut self, ticket: u64) -> bool {
        let is_there = self.job.is_some_and(|job| job.ticket == ticket);
        if is_there {
            self.job = None;
        }
        is_there
    }
}

impl Worker {
    /// A new one, without a thread.
    fn engaged() -> Self {
        let word = |name| Line::word::<Native>(0, Place::named(name));
        Worker {
            bell: word("bell"),
            done: word("done"),
            slot: Mutex::new(Slot { job: None, tickets: 0 }),
            is_engaged: AtomicBool::new(true),
            is_started: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
        }
    }

    /// Engages the worker, if nobody has.
    fn engage(&self) -> bool {
        !self.is_engaged.load(Relaxed) && !self.is_engaged.swap(true, Acquire)
    }

    /// Starts or wakes the thread. Where none can be had, the job stays in its slot.
    fn ring(self: &Arc<Self>) {
        if self.is_started.load(Relaxed) {
            self.bell.fetch_add(1, SeqCst);
            self.bell.wake();
        } else {
            // Before: the thread may be done, idle again and engaged by others before `spawn` returns.
            self.is_started.store(true, Relaxed);
            let worker = Arc::clone(self);
            let thread = Builder::new().name("throng".to_owned()).spawn(move || worker.serve());
            if thread.is_err() {
                self.is_started.store(false, Relaxed);
            }
        }
    }

    /// The life of a worker.
    fn serve(self: &Arc<Self>) {
        let cpu = Native::cpu();
        let (mut heard, mut patience) = (0, Patience::default());
        loop {
            // The bell was heard before this look, so a job that comes after it rings again.
            let job = lock(&self.slot).job.take();
            if let Some(job) = job {
                patience = job.patience;
                self.do_job(job);
                continue;
            }
            let deadline = Some(cpu.clock().saturating_add(IDLE.as_nanos() as u64));
            let way_out =
                WayOut { deadline, patience, watch: Watch::Cores(&BUSY), ..WayOut::none() };
            match self.bell.sleep_while(&cpu, Acquire, &way_out, |rings| rings == heard) {
                Some(rings) => heard = rings,
                None if self.leaves() => return,
                None => {}
            }
        }
    }

    fn do_job(self: &Arc<Self>, job: Job) {
        let Job { work, seat, ticket, .. } = job;
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(seat))) {
            // Dropping it could panic again, and then the caller would wait for ever.
            mem::forget(payload);
        }
        // Idle first: the caller's next loop is to find it so, and not start another thread.
        self.is_engaged.store(false, Release);
        self.done.signal(ticket);
    }

    /// Takes the worker off the list; false where somebody has engaged it, who will ring.
    fn leaves(self: &Arc<Self>) -> bool {
        let mut crew = lock(&CREW);
        let is_idle = self.engage();
        if is_idle {
            self.has_left.store(true, Relaxed);
            forget_gone(&mut crew);
        }
        is_idle
    }
}

/// Takes those off the list who have left, or never came.
fn forget_gone(crew: &mut Vec<Arc<Worker>>) {
    crew.retain(|worker| !worker.has_left.load(Relaxed));
}

/// Who panics while it holds one of these locks, for want of memory, leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;
    use std::time::Instant;

    /// Waits for what is sure to happen, unless something is broken.
    fn wait_until(happened: impl Fn() -> bool) {
        let start = Instant::now();
        while !happened() {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not happen");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// How many workers there are, and how many of them are idle.
    fn crew() -> (usize, usize) {
        let crew = lock(&CREW);
        (crew.len(), crew.iter().filter(|worker| !worker.is_engaged.load(Relaxed)).count())
    }

    /// One test, since there is one crew: nobody else may call it away.
    #[test]
    fn workers_come_are_kept_and_leave() {
        let come = AtomicUsize::new(0);
        let meet = || {
            come.fetch_add(1, SeqCst);
            wait_until(|| come.load(SeqCst).is_multiple_of(6));
        };
        for round in 1..=20 {
            together(5, &meet);
            assert_eq!(come.load(SeqCst), 6 * round, "each of six does it once");
            assert_eq!(crew(), (5, 5), "the same five in every round");
        }

        // A caller that unwinds waits for those who have begun.
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let caller = thread::current().id();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            together(3, &|| {
                if thread::current().id() == caller {
                    wait_until(|| begun.load(SeqCst) > 0);
                    panic!("the caller gives up");
                }
                begun.fetch_add(1, SeqCst);
                thread::sleep(Duration::from_millis(30));
                ended.fetch_add(1, SeqCst);
            });
        }));
        assert!(outcome.is_err());
        assert_eq!(begun.load(SeqCst), ended.load(SeqCst));
        assert!(!IS_AT_WORK.get());

        // A worker survives what it should not be given, and is not waited for for ever.
        together(2, &|| {
            if thread::current().id() != caller {
                panic!("nobody hears this");
            }
        });
        assert_eq!(crew(), (5, 5));

        // In a loop within a loop, no more threads than cores.
        let cores = Topology::here().processors();
        together(0, &|| together(5 + cores, &|| {}));
        assert!(crew().0 <= 5_usize.max(cores));

        wait_until(|| crew().0 == 0);
        come.store(0, SeqCst);
        together(5, &meet);
        assert_eq!(come.load(SeqCst), 6, "others come in their place");
    }

    #[test]
    fn a_job_is_taken_back_by_its_ticket() {
        let job = Job { work: &|_| {}, seat: 1, ticket: 7, patience: Patience::default() };
        let mut slot = Slot { job: Some(job), tickets: 7 };
        assert!(!slot.take_back(6), "that of another call");
        assert!(slot.take_back(7) && !slot.take_back(7));
    }
}
